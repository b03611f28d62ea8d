"""How many of its cases a law tries, and which: a sample with a fixed seed, or all of them.

Laws of the clients have a finite number of cases: cuts of one stream, variants of its events. `make laws`
sets `WIRECALL_LAW_EACH`, which is more than any of them has, and `WIRECALL_LAW_SEED`.
"""

import os
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

SEED = int(os.environ.get("WIRECALL_LAW_SEED", "0"))


def sample(cases: Sequence[T], few: int, name: str) -> list[T]:
    """The cases that are tried: `few` of them, or `WIRECALL_LAW_EACH`.

    Args:
        name: Laws with different names get different samples.
    """
    wanted = min(int(os.environ.get("WIRECALL_LAW_EACH", few)), len(cases))
    # On a line of its own, for `make laws`.
    print(f"\ncases: {wanted}")
    return random.Random(f"{SEED} {name}").sample(cases, wanted)
