"""Other spellings of a format, which are only read: the vectors whose ids begin with `spelling`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wirecall import Toolset

VECTORS = Path(__file__).parents[1] / "vectors"
Case = dict[str, Any]


def spellings() -> list[tuple[str, Case]]:
    lines = [
        (file.parent.name, json.loads(line))
        for file in sorted(VECTORS.glob("*/calls.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    return [
        (protocol, case)
        for protocol, case in lines
        if case["id"].startswith("spelling") and not case["options"]["strict"]
    ]


EACH = pytest.mark.parametrize(
    ("protocol", "case"), spellings(), ids=[f"{protocol}: {case['id']}" for protocol, case in spellings()]
)


def test_there_are_spellings_of_several_formats() -> None:
    assert len({protocol for protocol, _ in spellings()}) >= 5


@EACH
def test_untrusted_text_in_another_spelling_is_no_call(protocol: str, case: Case) -> None:
    tools = Toolset(case["tools"], protocol=protocol)
    message = tools.parse(tools.neutralise(case["text"]), truncated=False, in_reasoning=False)
    assert (message.calls, message.errors) == ((), ())
    result = tools.encode_result("now", case["text"])
    assert not tools.parse(result, truncated=False, in_reasoning=False).calls


@EACH
def test_another_spelling_is_text_in_strict_mode_and_after_a_usual_call(protocol: str, case: Case) -> None:
    strict = Toolset(case["tools"], protocol=protocol, strict=True)
    assert not strict.parse(case["text"], truncated=False, in_reasoning=False).calls
    tools = Toolset(case["tools"], protocol=protocol)
    text = tools.encode("now", {}) + case["text"]
    message = tools.parse(text, truncated=False, in_reasoning=False)
    assert [call.name for call in message.calls] == ["now"]


@EACH
def test_a_mention_of_another_spelling_is_text(protocol: str, case: Case) -> None:
    tools = Toolset(case["tools"], protocol=protocol)
    opener = case["expected"][0]["framing"].strip()
    text = f"The model wrote {opener} and then nothing."
    message = tools.parse(text, truncated=False, in_reasoning=False)
    assert (message.text, message.calls, message.errors) == (text, (), ())
