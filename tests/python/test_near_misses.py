"""Each near miss of a kind of body is read in each format of the kind, or the reason why not is listed."""

from __future__ import annotations

import pytest

from near_misses import KINDS, NOT_READ, TOOLS, Case, cases, is_read
from wirecall import Toolset


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.format}: {case.miss}")
def test_a_near_miss_is_read_or_listed(case: Case) -> None:
    assert is_read(case) == ((case.format, case.miss) not in NOT_READ)


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.format}: {case.miss}")
def test_in_strict_mode_nothing_is_repaired(case: Case) -> None:
    tools = Toolset(TOOLS, protocol=case.format, strict=True)
    message = tools.parse(case.text, truncated=False, in_reasoning=False)
    assert not any(call.repairs for call in message.calls)


def test_what_is_listed_is_tried() -> None:
    assert set(NOT_READ) <= {(case.format, case.miss) for case in cases()}
    assert {case.miss for case in cases()} == {miss.name for kind in KINDS.values() for miss in kind}
