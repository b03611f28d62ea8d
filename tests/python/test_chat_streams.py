"""Streamed chat answers: calls in exactly the shapes that clients expect, and all else as it came."""

from typing import Any

import pytest

from chat_support import (
    BAD,
    BASE,
    GOOD,
    ULM,
    Json,
    accumulated,
    asking,
    body,
    chunk,
    chunks,
    exchange,
    streamed,
)


def test_the_shapes_of_a_streamed_call() -> None:
    usage = {**BASE, "choices": [], "usage": {"total_tokens": 3}}
    made = streamed([*chunks(["Hi", "<call>get city=", "Ulm</call>", "<call>set</call>"], "stop"), usage])
    deltas = [event["choices"][0]["delta"] for event in made[:-1]]
    first, second = deltas[2]["tool_calls"][0]["id"], deltas[4]["tool_calls"][0]["id"]
    assert deltas == [
        {"role": "assistant", "content": ""},
        {"content": "Hi"},
        {
            "tool_calls": [
                {"index": 0, "id": first, "type": "function", "function": {"name": "get", "arguments": ""}}
            ]
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": ULM["arguments"]}}]},
        {
            "tool_calls": [
                {"index": 1, "id": second, "type": "function", "function": {"name": "set", "arguments": ""}}
            ]
        },
        {"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]},
        {},
    ]
    assert first != second
    assert [event["choices"][0]["finish_reason"] for event in made[:-1]] == [None] * 6 + ["tool_calls"]
    assert all({key: event[key] for key in BASE} == BASE for event in made)
    assert made[-1] is usage


def test_events_without_calls_are_the_same_objects() -> None:
    events = [
        chunk({"role": "assistant", "content": "", "refusal": None}),
        {**BASE, "choices": [], "prompt_filter_results": []},
        chunk({"reasoning_content": "hm"}),
        *[chunk({"content": text}) for text in ("Hello", " ", "world, a > b")],
        {"error": {"message": "x"}},
        chunk({}, "stop"),
        {**BASE, "choices": [], "usage": {"total_tokens": 3}},
    ]
    made = streamed(events)
    assert len(made) == len(events)
    assert all(new is old for new, old in zip(made, events, strict=True))


def test_a_call_goes_out_at_its_end() -> None:
    stream = exchange().stream()
    assert stream.feed(chunk({"content": "A <call>get city="})) == [chunk({"content": "A "})]
    assert stream.feed(chunk({"content": "Ulm"})) == []
    assert stream.holds
    made = stream.feed(chunk({"content": "</call>"}))
    assert made is not None
    assert len(made) == 2
    assert not stream.holds


def test_what_else_a_chunk_says_passes_once() -> None:
    logprobs = {"content": [{"token": "x"}]}
    event = chunk(
        {"content": f"A{GOOD}", "role": "assistant", "reasoning_content": "hm"}, usage={"total_tokens": 1}
    )
    event["choices"][0]["logprobs"] = logprobs
    held = chunk({"content": "<call>"})
    held["choices"][0]["logprobs"] = logprobs
    made = streamed([event, held, chunk({}, "stop")])
    choices = [event["choices"][0] for event in made]
    assert choices[0]["delta"] == {"content": "A", "role": "assistant", "reasoning_content": "hm"}
    assert [choice.get("logprobs") for choice in choices] == [logprobs, None, None, logprobs, None, None]
    assert choices[3]["delta"] == {}
    assert [event.get("usage") for event in made] == [None, None, {"total_tokens": 1}, None, None, None]


def test_the_chunk_that_finishes_may_have_content() -> None:
    for text, reason in ((GOOD, "tool_calls"), ("Hello", "stop"), ("<call> is a tag", "stop")):
        [state] = accumulated(streamed([chunk({"content": text}, "stop")])).values()
        assert state["reason"] == reason
        assert state["content"] == ("" if reason == "tool_calls" else text)


def test_lists_of_content_in_a_stream() -> None:
    thinking = {"type": "thinking", "thinking": "hm"}
    texts = [{"type": "text", "text": "A <call>get ci"}, {"type": "text", "text": "ty=Ulm</call>"}]
    made = streamed([chunk({"content": [thinking, *texts]}), chunk({}, "stop")])
    deltas = [event["choices"][0]["delta"] for event in made]
    assert deltas[:2] == [{"content": [thinking]}, {"content": "A "}]
    assert made[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_native_calls_in_a_stream_are_renumbered() -> None:
    native = [
        {"index": 0, "id": "n", "type": "function", "function": {"name": "get", "arguments": ""}},
        {"index": 0, "function": {"arguments": "{}"}},
        {"index": 1, "id": "o", "type": "function", "function": {"name": "set", "arguments": ""}},
        {"index": 1, "function": {"arguments": "{}"}},
    ]
    events = [
        chunk({"content": GOOD}),
        *[chunk({"tool_calls": [call]}) for call in native],
        chunk({}, "tool_calls"),
    ]
    [state] = accumulated(streamed(events)).values()
    assert [call[:2] for call in state["calls"]] == [["get", ULM["arguments"]], ["get", "{}"], ["set", "{}"]]


def test_a_native_call_lets_go_what_was_held() -> None:
    native = {"index": 0, "id": "n", "type": "function", "function": {"name": "get", "arguments": ""}}
    stream = exchange(emit_raw_on_error=True).stream()
    assert stream.feed(chunk({"content": BAD + "and"})) == []
    assert stream.holds
    made = stream.feed(chunk({"tool_calls": [native]}))
    assert made is not None
    assert [event["choices"][0]["delta"].get("content") for event in made] == [BAD, "and", None]
    stream.feed(chunk({}, "tool_calls"))
    assert not stream.should_retry


def test_a_stream_that_asks_again_goes_on() -> None:
    one = exchange()
    stream = one.stream()
    assert stream.feed(chunk({"role": "assistant", "content": "Hm. "})) is None
    assert stream.feed(chunk({"content": f"{BAD} And so on"})) == []
    assert stream.holds
    assert stream.feed(chunk({}, "stop")) == []
    assert stream.should_retry
    assert stream.feed({**BASE, "choices": [], "usage": {"total_tokens": 2, "details": {"cached": 1}}}) == []
    assert stream.end() == []
    one.retry()
    assert not stream.should_retry
    second = {**BASE, "id": "other", "created": 2}
    assert (
        stream.feed({**second, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
        == []
    )
    made = stream.feed({**second, "choices": [{"index": 0, "delta": {"content": "Sorry. " + GOOD}}]})
    assert made is not None
    assert [event["id"] for event in made] == ["c"] * 3
    assert made[0]["choices"][0]["delta"] == {"content": "\n\nSorry. "}
    finish = stream.feed({**second, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    assert finish is not None
    assert finish[0]["choices"][0]["finish_reason"] == "tool_calls"
    usage = stream.feed({**second, "choices": [], "usage": {"total_tokens": 5, "details": {"cached": 2}}})
    assert usage == [{**BASE, "choices": [], "usage": {"total_tokens": 7, "details": {"cached": 3}}}]
    assert stream.end() == []


def test_the_role_does_not_wait_for_what_is_held() -> None:
    one = exchange()
    stream = one.stream()
    made = stream.feed(chunk({"role": "assistant", "content": BAD}))
    assert made == [chunk({"role": "assistant"})]
    stream.feed(chunk({}, "stop"))
    assert stream.should_retry


def test_a_stream_that_ends_early() -> None:
    made = streamed([chunk({"role": "assistant", "content": ""}), chunk({"content": "A <call>get city=U"})])
    [state] = accumulated(made).values()
    assert state["content"] == "A "
    assert state["calls"] == []
    assert state["reason"] is None


@pytest.mark.parametrize("text", ["A <call>get city=U", f"A {BAD} so"])
def test_what_is_held_goes_out_in_front_of_the_providers_error(text: str) -> None:
    error = {"error": {"message": "Overloaded"}}
    made = streamed([chunk({"content": text}), error, chunk({"content": "x"})])
    assert made[-1] is error
    [state] = accumulated(made[:-1]).values()
    unread = "\n\nThe assistant tried to call a tool, but the call could not be read. so"
    assert state["content"] == "A " + (unread if text.endswith("so") else "")
    assert streamed([chunk({"content": "A <call>get city=U"}), error], on_error="raise")[-1] is error


@pytest.mark.parametrize("failing", [False, True])
def test_a_refusal_is_not_asked_for_the_missing_call(failing: bool) -> None:
    request = asking(tool_choice="required")
    options = {"on_missing_call": "raise" if failing else "retry"}
    given = body(None, refusal="No.")
    assert exchange(request, **options).whole(given) == given
    events = [chunk({"role": "assistant", "refusal": "No"}), chunk({"refusal": "."}), chunk({}, "stop")]
    assert streamed(events, request=request, **options) == events


def test_a_call_that_breaks_ends_the_stream() -> None:
    one = exchange(stream_arguments=True)
    stream = one.stream()
    made = stream.feed(chunk({"content": 'A <call>get city="New Yo'}))
    assert made is not None
    last = stream.feed(chunk({}, "length"))
    assert last is not None
    assert last[-1]["error"]["code"] == "incomplete_call"
    assert last[-1]["error"]["message"]
    assert stream.ended
    assert not stream.should_retry
    assert stream.feed(chunk({"content": "x"})) == []
    assert stream.end() == []


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"choices": None},
        {"choices": ["x"]},
        {"choices": [{}]},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": "x", "content": 7}}]},
    ],
)
def test_odd_events_pass(event: Json) -> None:
    assert streamed([event, event])[0] is event


@pytest.mark.parametrize(
    ("second", "last"), [(None, "tool_calls"), ("stop", "tool_calls"), ("length", "length")]
)
def test_content_after_the_finish_reason_is_read(second: str | None, last: str) -> None:
    """A call there is a call, text is text, and a finish reason that the call invalidates is corrected."""
    events = [chunk({"content": "Hi"}), chunk({}, "stop"), chunk({"content": f" there {GOOD}"})]
    made = streamed([*events, *([chunk({}, second)] if second else [])])
    reasons = [reason for one in made if (reason := one["choices"][0]["finish_reason"])]
    assert reasons == ["stop", last]
    for one in made:
        one["choices"][0] = {**one["choices"][0], "finish_reason": None}
    [state] = accumulated(made).values()
    assert state["content"] == "Hi there "
    assert [tuple(call[:2]) for call in state["calls"]] == [tuple(ULM.values())]


def test_text_after_the_finish_reason_passes() -> None:
    events = [chunk({"content": GOOD}), chunk({}, "stop"), chunk({"content": "Bye"}), chunk({}, "stop")]
    made = streamed(events)
    assert made[-2] is events[2]
    assert made[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_a_bad_call_after_the_finish_reason_is_never_retried() -> None:
    stream = exchange().stream()
    made = [
        stream.feed(one) for one in (chunk({"content": "Hi"}), chunk({}, "stop"), chunk({"content": BAD}))
    ]
    assert made[:2] == [None, None]
    last = [*(made[2] or ()), *stream.end()]
    assert not stream.should_retry
    assert "could not be read" in last[-1]["choices"][0]["delta"]["content"]


@pytest.mark.parametrize("index", [[], {}, None, "0", 1.5])
def test_places_that_no_server_should_send(index: Any) -> None:
    begun = {"index": index, "id": "n", "type": "function", "function": {"name": "get", "arguments": ""}}
    fragment = {"index": index, "function": {"arguments": ULM["arguments"]}}
    events = [chunk({"tool_calls": [begun]}), chunk({"tool_calls": [fragment]}), chunk({}, "tool_calls")]
    [state] = accumulated(streamed(events)).values()
    assert [tuple(made[:2]) for made in state["calls"]] == [tuple(ULM.values())]
    strange = {**BASE, "choices": [{"index": index, "delta": {"content": "Hello"}, "finish_reason": None}]}
    made = streamed([strange, *chunks([GOOD])])
    assert made[0] is strange
    assert accumulated(made[1:])[0]["calls"]
