"""Names of test cases that are the same in every process, as pytest-xdist needs them."""

import re

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def stable_id(value: object) -> str:
    """The value's `repr` without addresses in memory."""
    return ADDRESS.sub("", repr(value))
