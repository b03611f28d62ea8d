"""How a law is tried: with as many cases as `WIRECALL_LAW_CASES` allows, and as long as each takes."""

import os

from hypothesis import settings


def law(share: int) -> settings:
    """One of so many cases; a law whose cases are dear gets fewer."""
    cases = int(os.environ.get("WIRECALL_LAW_CASES", "1000"))
    return settings(max_examples=max(100, cases // share), deadline=None)


LAW = law(10)
