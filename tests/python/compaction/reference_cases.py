"""The executed cases of the reference implementation, which are next to this repository."""

import json
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parents[4] / "shared" / "cases" / "compaction_cases.jsonl"

Case = dict[str, Any]


def cases() -> list[Case]:
    """All of them; [] where they are not."""
    if not CASES.is_file():
        return []
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def case(id: str) -> Case:
    found = [one for one in cases() if one["id"] == id]
    if not found:
        pytest.skip("the reference's cases are not here")
    return found[0]
