"""How a law is tried: how many cases it gets, and from which seed.

A law gets a share of `WIRECALL_LAW_CASES`, by how long its cases take: few in `make test`, many in
`make check`. They are always the same ones, so that no run fails by chance. `make laws` sets
`WIRECALL_LAW_EACH`, how many each law gets, and `WIRECALL_LAW_SEED`.
"""

import os
import random

import pytest
from hypothesis import is_hypothesis_test, settings

SEED = int(os.environ.get("WIRECALL_LAW_SEED", "0"))


def count(default: int, share: int = 1) -> int:
    """How many cases: one of so many of those that all laws get; a law whose cases are dear gets fewer."""
    each = os.environ.get("WIRECALL_LAW_EACH")
    return int(each) if each else int(os.environ.get("WIRECALL_LAW_CASES", default)) // share


def seeded(number: int) -> random.Random:
    """The random numbers of the test with this number."""
    return random.Random(SEED * 1000 + number)


def examples(share: int) -> int:
    """How many cases Hypothesis tries: for no law fewer than a twentieth of those that all laws get."""
    return max(1, count(2000, min(share, 20)))


# Hypothesis tries always the same cases, and none of an earlier run, unless there is a seed.
settings.register_profile(
    "wirecall",
    derandomize="WIRECALL_LAW_SEED" not in os.environ,
    database=None,
    deadline=None,
    max_examples=examples(20),
)
settings.load_profile("wirecall")


def law(share: int) -> settings:
    """Settings of Hypothesis for such a law."""
    return settings(max_examples=examples(share), deadline=None)


LAW = law(10)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A hook for each `conftest.py`: what Hypothesis tries is a law, whether it says so or not."""
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.laws)
