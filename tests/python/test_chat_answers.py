"""Whole chat answers: calls in exactly the shape that clients expect, and all else as it came."""

from typing import Any

import pytest

from chat_support import (
    BAD,
    GET,
    GOOD,
    OTHER,
    SEARCH,
    SET,
    ULM,
    USER,
    Json,
    accumulated,
    asking,
    body,
    chunks,
    exchange,
    streamed,
    whole,
)
from wirecall import ToolCallError
from wirecall._apis.values import sum_usage


def test_a_call() -> None:
    found = whole(GOOD, refusal=None, reasoning_content="hm")
    [call] = found["message"].pop("tool_calls")
    assert found["message"] == {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "reasoning_content": "hm",
    }
    assert found["finish_reason"] == "tool_calls"
    assert call == {"id": call["id"], "type": "function", "function": ULM}
    assert call["id"].startswith("call_")


def test_whole_answers_do_not_know_of_streamed_arguments() -> None:
    found = whole(GOOD, options={"stream_arguments": True})
    assert found["message"]["tool_calls"][0]["function"] == ULM
    assert exchange(stream_arguments=True).whole(body('<call>get city="Ulm" =</call>')) is None


def test_text_stays_beside_calls() -> None:
    assert whole(f"A {GOOD} B")["message"]["content"] == "A  B"
    assert whole(f"A {GOOD}", options={"strip_preamble": True})["message"]["content"] is None


@pytest.mark.parametrize("content", ["Hello", "", " ", None, [{"type": "text", "text": "Hello"}], [{"x": 1}]])
def test_an_answer_without_calls_is_the_same_object(content: Any) -> None:
    given = body(content)
    assert exchange().whole(given) is given


@pytest.mark.parametrize(
    "given", [{"error": {"message": "x"}}, {"choices": []}, {"choices": None}, {"choices": ["x"]}]
)
def test_what_is_no_answer_is_the_same_object(given: Json) -> None:
    assert exchange().whole(given) is given


@pytest.mark.parametrize(
    ("reason", "mapped"),
    [
        ("stop", "tool_calls"),
        ("function_call", "tool_calls"),
        ("tool_calls", "tool_calls"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("odd", "odd"),
        (None, None),
    ],
)
def test_finish_reasons(reason: Any, mapped: Any) -> None:
    assert whole(GOOD, reason=reason)["finish_reason"] == mapped
    assert accumulated(streamed(chunks([GOOD], reason)))[0]["reason"] == mapped
    assert whole("Hello", reason=reason)["finish_reason"] == reason


@pytest.mark.parametrize("reason", ["length", "content_filter", None])
def test_a_call_that_is_cut_off_leaves_nothing(reason: Any) -> None:
    found = whole("<call>get city=U", reason=reason)
    assert "tool_calls" not in found["message"]
    assert found["message"]["content"] == ""
    assert found["finish_reason"] == reason
    shown = whole("<call>get city=U", reason=reason, options={"on_error": "text"})
    assert shown["message"]["content"].startswith('<tool-error name="get">')


def test_lists_of_content() -> None:
    thinking = {"type": "thinking", "thinking": "hm"}
    parts = [thinking, {"type": "text", "text": "A <call>get ci"}, {"type": "text", "text": "ty=Ulm</call> "}]
    message = whole(parts)["message"]
    assert message["content"] == [thinking, {"type": "text", "text": "A "}]
    assert message["content"][0] is thinking
    assert message["tool_calls"][0]["function"] == ULM


def test_native_calls_pass_and_count() -> None:
    native = {"id": "n", "type": "function", "function": {"name": "get", "arguments": "{}"}}
    message = whole(f"{GOOD}{BAD}", tool_calls=[native], options={"emit_raw_on_error": True})["message"]
    assert [call["function"] for call in message["tool_calls"]] == [ULM, native["function"]]
    assert message["content"] == BAD
    required = asking(tools=[GET, SEARCH], tool_choice="required")
    given = body("Hello", reason="tool_calls", tool_calls=[native])
    assert exchange(required).whole(given) is given


def test_legacy_answers() -> None:
    request = {"messages": [USER], "functions": [GET["function"], SET["function"]]}
    found = whole(GOOD + OTHER, request=request, options={"emit_raw_on_error": True})
    assert found["finish_reason"] == "function_call"
    assert found["message"] == {"role": "assistant", "content": OTHER, "function_call": ULM}
    made = streamed(chunks(list(GOOD)), request=request)
    deltas = [event["choices"][0]["delta"] for event in made]
    assert deltas[-3:] == [
        {"function_call": {"name": "get", "arguments": ""}},
        {"function_call": {"arguments": ULM["arguments"]}},
        {},
    ]
    assert made[-1]["choices"][0]["finish_reason"] == "function_call"


def test_asked_again() -> None:
    one = exchange()
    sent = one.request
    assert one.whole({**body(f"Hm. {BAD}"), "usage": {"total_tokens": 2}}) is None
    assert one.request["messages"][:-2] == sent["messages"]
    words, answer = one.request["messages"][-2:]
    assert words == {"role": "assistant", "content": f"Hm. {BAD}"}
    assert answer["role"] == "user"
    assert answer["content"].startswith('<tool-error name="get">')
    found = one.whole({**body(GOOD), "usage": {"total_tokens": 5}})
    assert found is not None
    assert found["usage"] == {"total_tokens": 7}
    assert found["choices"][0]["message"]["content"] == "Hm. "
    assert found["choices"][0]["message"]["tool_calls"][0]["function"] == ULM


def test_no_usage_is_invented() -> None:
    one = exchange()
    assert one.whole(body(BAD)) is None
    found = one.whole(body(GOOD))
    assert found is not None
    assert "usage" not in found


def test_call_failed() -> None:
    with pytest.raises(ToolCallError):
        whole(BAD, options={"on_error": "raise"})
    with pytest.raises(ToolCallError):
        streamed(chunks([BAD]), on_error="raise")
    required = asking(tool_choice="required")
    with pytest.raises(ToolCallError):
        whole("Hello", request=required, options={"on_missing_call": "raise"})
    with pytest.raises(ToolCallError):
        streamed(chunks(["Hello"]), request=required, on_missing_call="raise")


def test_none_reads_nothing() -> None:
    request = asking(tool_choice="none")
    given = body(GOOD)
    assert exchange(request).whole(given) is given
    events = chunks([GOOD])
    assert all(made is event for made, event in zip(streamed(events, request=request), events, strict=True))


def test_summed() -> None:
    one = {"a": 1, "b": {"c": 2, "d": None}, "e": True, "f": "x", "g": None, "l": [1]}
    two = {"a": 2.5, "b": {"c": 3, "d": 1}, "e": False, "f": None, "h": {"i": 1}, "l": [2]}
    found = {"a": 3.5, "b": {"c": 5, "d": 1}, "e": False, "f": "x", "g": None, "h": {"i": 1}, "l": [1, 2]}
    assert sum_usage([None, one, "odd", two]) == found
    assert one == {"a": 1, "b": {"c": 2, "d": None}, "e": True, "f": "x", "g": None, "l": [1]}
    assert sum_usage([]) == {}
