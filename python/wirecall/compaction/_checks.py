"""Checks of arguments; the errors say what was expected."""

import math


def check_summarize(given: object) -> None:
    """Raises if this cannot be called for a summary."""
    if not callable(given):
        raise TypeError(
            f"summarize must be callable, not {type(given).__name__}: to use a client, pass "
            "wirecall.compaction.summarizer(client, model=…)"
        )


def at_least(name: str, given: object, least: int) -> None:
    """Raises if this is not an int, or less than `least`."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"{name} must be an int, not {type(given).__name__}")
    if given < least:
        raise ValueError(f"{name} is {given}; it must be at least {least}")


def whole_turns(given: object) -> float:
    """The number rounded down, at least 0; may be infinite."""
    if not isinstance(given, (int, float)) or math.isnan(given):
        raise ValueError(f"keep_recent_turns is {given!r}; it must be a number of turns, such as 10")
    return given if math.isinf(given) and given > 0 else max(0, math.floor(max(given, 0)))


def above_zero(name: str, given: object) -> None:
    """Raises if this is not a number above 0."""
    if not isinstance(given, (int, float)) or isinstance(given, bool) or not given > 0:
        raise ValueError(f"{name} is {given!r}; it must be a number above 0")
