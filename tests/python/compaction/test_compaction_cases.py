"""What the reference implementation was seen to do with stored lists."""

import copy
from typing import Any

import pytest
from reference_cases import Case, cases

from wirecall.compaction import compact_messages, plan_compaction, summarize_messages

FORMATS = {"openai": "chat", "anthropic": "messages"}


def load(*operations: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in cases() if case["op"] in operations]


class Answers:
    """A summariser that says what a case wants, and remembers what it was asked."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[list[dict[str, str]]] = []

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.asked.append(messages)
        return self.answer


@pytest.mark.parametrize("case", load("plan"))
def test_plan(case: Case) -> None:
    messages, expected = case["messages"], case["expected"]
    before = copy.deepcopy(messages)
    plan = plan_compaction(
        messages, keep_recent_turns=case["options"]["keepRecentTurns"], format=FORMATS[case["format"]]
    )
    assert plan.system == [messages[at] for at in expected.get("system", ())]
    assert same(plan.to_summarize, [messages[at] for at in expected["to_summarize"]])
    if "to_keep" in expected:
        assert same(plan.to_keep, [messages[at] for at in expected["to_keep"]])
        assert not [repair for repair in plan.repairs if repair.kind == "missing_result"]
    else:
        wanted = [one if isinstance(one, dict) else messages[one] for one in expected["to_keep_reference"]]
        assert [one["role"] for one in plan.to_keep] == [one["role"] for one in wanted]
        for found, one in zip(plan.to_keep, wanted, strict=True):
            if any(one is given for given in messages):
                assert found is one
            else:
                assert found["tool_call_id"] == one["tool_call_id"]
                assert one["name"] in found["content"]
    assert messages == before


@pytest.mark.parametrize("case", load("compact"))
def test_compact(case: Case) -> None:
    messages, expected = case["messages"], case["expected"]
    summarize = Answers(case["summarizer_returns"])
    result = compact_messages(messages, summarize, keep_recent_turns=case["options"]["keepRecentTurns"])
    assert len(summarize.asked) == expected["summarizer_calls"]
    assert (result is messages) == expected["same_object"]
    for found, one in zip(result, expected.get("result", result), strict=True):
        if isinstance(one, int):
            assert found is messages[one]
        elif "contains" in one:
            assert found["role"] == one["role"]
            assert all(text in found["content"] for text in one["contains"])


@pytest.mark.parametrize("case", load("summarize"))
def test_summarize(case: Case) -> None:
    options, expected = case["options"], case["expected"]
    summarize = Answers(case["summarizer_returns"])
    summary = summarize_messages(
        case["messages"],
        summarize,
        tool_result_stub_threshold=options.get("toolResultStubThreshold"),
        instructions=options.get("customCompressionInstructions"),
    )
    assert summary == expected["result"]
    [asked] = summarize.asked
    assert asked[:-1] == expected["sent"]
    assert asked[-1]["role"] == expected["last_sent"]["role"]
    assert all(text in asked[-1]["content"] for text in expected["last_sent"]["contains"])


# The round trip of the cases, whose format is not one of ours, in our formats.
ROUND_TRIPS: dict[str, list[Any]] = {
    "chat": [
        {"role": "system", "content": "sys"},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "final",
            "reasoning_content": "exact reasoning bytes",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "foo", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "ok", "provider_options": {"cache": {"x": 1}}},
    ],
    "responses": [
        {"role": "system", "content": "sys"},
        {"role": "user", "content": "hi"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "exact reasoning bytes"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "final", "annotations": []}],
        },
        {"type": "function_call", "call_id": "c1", "name": "foo", "arguments": "{}"},
        {"type": "mcp_approval_request", "id": "a1", "name": "foo", "arguments": "{}", "server_label": "s"},
        {"type": "mcp_approval_response", "approval_request_id": "a1", "approve": True},
        {"type": "function_call_output", "call_id": "c1", "output": "ok", "provider_options": {"x": 1}},
    ],
    "messages": [
        {"role": "system", "content": "sys"},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "exact reasoning bytes", "signature": "s=="},
                {"type": "text", "text": "final"},
                {"type": "tool_use", "id": "c1", "name": "foo", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": "ok",
                    "cache_control": {"type": "ephemeral"},
                }
            ],
        },
    ],
}


@pytest.mark.parametrize("format", ROUND_TRIPS)
@pytest.mark.parametrize("keep", [1, 2, 9])
def test_round_trip(format: str, keep: int) -> None:
    messages = ROUND_TRIPS[format]
    before = copy.deepcopy(messages)
    plan = plan_compaction(messages, keep_recent_turns=keep)
    assert plan.format == format
    assert plan.repairs == ()
    assert same([*plan.system, *plan.to_summarize, *plan.to_keep], messages)
    assert len(plan.to_summarize) == (keep == 1)
    assert messages == before


def same(found: list[Any], wanted: list[Any]) -> bool:
    return len(found) == len(wanted) and all(one is other for one, other in zip(found, wanted, strict=True))
