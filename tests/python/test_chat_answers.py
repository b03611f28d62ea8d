"""Chat answers, whole and streamed: the same parts, in exactly the shapes that clients expect."""

import copy
import os
import random
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import generate
from test_chat import GET, SEARCH, SET, USER, asking
from wirecall import CallFailed, Options
from wirecall.dialects.base import summed
from wirecall.dialects.chat import chat
from wirecall.exchange import Exchange

LAW = settings(max_examples=max(100, int(os.environ.get("WIRECALL_LAW_CASES", "1000")) // 10), deadline=None)
Json = dict[str, Any]
GOOD, OTHER, BAD = "<call>get city=Ulm</call>", "<call>set city=Bonn</call>", "<call>get city</call>"
ULM = {"name": "get", "arguments": '{"city":"Ulm"}'}
BASE = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def exchange(request: Json | None = None, **options: Any) -> Exchange:
    return Exchange(chat, request or asking(), Options(**options))


def body(*contents: Any, reason: str = "stop", **more: Any) -> Json:
    choices = [
        {"index": at, "message": {"role": "assistant", "content": content, **more}, "finish_reason": reason}
        for at, content in enumerate(contents)
    ]
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}


def chunk(delta: Json, reason: str | None = None, *, index: int = 0, **more: Any) -> Json:
    return {**BASE, "choices": [{"index": index, "delta": delta, "finish_reason": reason}], **more}


def chunks(texts: Iterable[str], reason: str = "stop", *, index: int = 0) -> list[Json]:
    return [
        chunk({"role": "assistant", "content": ""}, index=index),
        *[chunk({"content": text}, index=index) for text in texts],
        chunk({}, reason, index=index),
    ]


def whole(
    content: Any, *, request: Json | None = None, reason: str = "stop", options: Any = (), **more: Any
) -> Json:
    """The one choice of an answer that is not asked for again."""
    given = body(content, reason=reason, **more)
    before = copy.deepcopy(given)
    found = exchange(request, **dict(options)).whole(given)
    assert given == before
    assert found is not None
    return found["choices"][0]


def streamed(events: Iterable[Json], *, request: Json | None = None, **options: Any) -> list[Json]:
    stream = exchange(request, **options).stream()
    made = []
    for event in events:
        before = copy.deepcopy(event)
        out = stream.feed(event)
        assert event == before
        made += [event] if out is None else out
    made += stream.end()
    assert not stream.asks_again
    return made


def accumulated(events: Iterable[Json]) -> dict[int, Json]:
    """What a client makes of chunks; it refuses what clients trip over."""
    found: dict[int, Json] = {}
    for event in events:
        for choice in event["choices"]:
            state = found.setdefault(
                choice["index"], {"content": "", "calls": [], "reason": None, "reasoning": ""}
            )
            assert state["reason"] is None, "a delta behind the finish reason"
            delta = choice["delta"]
            state["content"] += delta.get("content") or ""
            state["reasoning"] += delta.get("reasoning_content") or ""
            for call in delta.get("tool_calls", ()):
                function = call["function"]
                if call["index"] == len(state["calls"]):
                    assert call.keys() == {"index", "id", "type", "function"}
                    assert call["type"] == "function"
                    assert function.keys() == {"name", "arguments"}
                    assert function["arguments"] == ""
                    state["calls"].append([function["name"], "", call["id"]])
                else:
                    assert call.keys() == {"index", "function"}
                    assert function.keys() == {"arguments"}
                    assert call["index"] == len(state["calls"]) - 1
                    state["calls"][-1][1] += function["arguments"]
            state["reason"] = choice["finish_reason"]
    return found


# --- laws

ANSWER_OPTIONS = st.fixed_dictionaries(
    {
        "on_error": st.sampled_from(["retry", "text", "native"]),
        "max_retries": st.sampled_from([0, 1, 2]),
        "strip_preamble": st.booleans(),
        "emit_raw_on_error": st.booleans(),
        "strict": st.booleans(),
    }
)
REASON = st.sampled_from(["stop", "stop", "stop", "length", "content_filter"])


def answers(seed: int) -> tuple[list[Json], list[str]]:
    """Tools, and what a model that is asked again and again says."""
    rng = random.Random(seed)
    tools = generate.toolset(rng)
    texts = [generate.message(rng, tools).encode("utf-8", "replace").decode() for _ in range(3)]
    if rng.random() < 0.3:
        texts[0] = "Let me see. " + BAD + " So."
    listed = [
        {"type": "function", "function": {"name": name, "parameters": of}} for name, of in tools.items()
    ]
    return listed or [GET], texts


@pytest.mark.laws
@LAW
@given(st.integers(0, 2**32), ANSWER_OPTIONS, REASON, st.sampled_from(["auto", "required"]), st.booleans())
def test_whole_and_streamed_are_the_same(
    seed: int, options: Any, reason: str, choice: str, parallel: bool
) -> None:
    tools, texts = answers(seed)
    request = asking(tools=tools, tool_choice=choice, parallel_tool_calls=parallel)
    rng = random.Random(seed)

    once = exchange(request, **options)
    found = None
    for attempt, text in enumerate(texts):
        given = body(text, reason=reason, reasoning_content=f"hm{attempt}.")
        given["usage"] = {"total_tokens": 3 + attempt, "details": {"cached": 1}}
        found = once.whole(given)
        if found is not None:
            break
    assert found is not None
    message = found["choices"][0]["message"]

    again = exchange(request, **options)
    stream = again.stream()
    events: list[Json] = []
    for attempt, text in enumerate(texts):
        size = rng.choice((1, 2, 5, 100_000))
        given_events = chunks([text[at : at + size] for at in range(0, len(text), size)], reason)
        given_events.insert(1, chunk({"reasoning_content": f"hm{attempt}."}))
        usage = {"total_tokens": 3 + attempt, "details": {"cached": 1}}
        given_events.append({**BASE, "id": f"c{attempt}", "choices": [], "usage": usage})
        for event in given_events:
            event = {**event, "id": f"c{attempt}"}
            out = stream.feed(event)
            events += [event] if out is None else out
        events += stream.end()
        if not stream.asks_again:
            break
        again.ask_again()

    assert again.request == once.request
    [read] = accumulated(events).values()
    calls = [
        [call["function"]["name"], call["function"]["arguments"]] for call in message.get("tool_calls") or ()
    ]
    assert [call[:2] for call in read["calls"]] == calls
    assert read["content"] == (message["content"] or "")
    assert read["reason"] == found["choices"][0]["finish_reason"]
    assert read["reasoning"] == message["reasoning_content"]
    assert events[-1]["usage"] == found["usage"]
    assert {event["id"] for event in events} == {"c0"}
    assert sum("role" in choice["delta"] for event in events for choice in event["choices"]) == 1
    assert not stream.holds


@pytest.mark.laws
@LAW
@given(st.integers(0, 2**32), ANSWER_OPTIONS)
def test_several_choices_are_read_each_on_its_own(seed: int, options: Any) -> None:
    tools, texts = answers(seed)
    request = asking(tools=tools, n=3, tool_choice="required", parallel_tool_calls=False)
    rng = random.Random(seed)
    alone = []
    for text in texts:
        single = exchange({**request, "n": 2}, **options).whole(body(text))
        assert single is not None
        alone.append(single["choices"][0])
    found = exchange(request, **options).whole(body(*texts))
    assert found is not None

    def said(choice: Json) -> Any:
        calls = [call["function"] for call in choice["message"].get("tool_calls") or ()]
        return choice["message"]["content"], calls, choice["finish_reason"]

    assert [said(choice) for choice in found["choices"]] == [said(choice) for choice in alone]
    queues = [chunks(list(text), index=index) for index, text in enumerate(texts)]
    mixed = []
    while any(queues):
        mixed.append(rng.choice([queue for queue in queues if queue]).pop(0))
    for index, state in accumulated(streamed(mixed, request=request, **options)).items():
        content, calls, reason = said(alone[index])
        assert state["content"] == (content or "")
        assert state["reason"] == reason
        assert [call[:2] for call in state["calls"]] == [[call["name"], call["arguments"]] for call in calls]


@pytest.mark.laws
@LAW
@given(st.integers(0, 2**32))
def test_streamed_arguments_are_those_of_whole_calls(seed: int) -> None:
    tools, texts = answers(seed)
    events = chunks(list(texts[0]))
    request = asking(tools=tools)
    made = streamed(events, request=request, stream_arguments=True, on_error="text")
    plain = streamed(events, request=request, on_error="text")
    broken = [event for event in made if "error" in event]
    if broken:
        assert made[-1:] == broken
        assert all(choice["finish_reason"] is None for event in made[:-1] for choice in event["choices"])
    else:
        [one], [two] = accumulated(made).values(), accumulated(plain).values()
        assert (one["content"], one["reason"]) == (two["content"], two["reason"])
        assert [call[:2] for call in one["calls"]] == [call[:2] for call in two["calls"]]


# --- whole


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
def test_a_call_that_is_cut_off_is_shown_as_such(reason: Any) -> None:
    found = whole("<call>get city=U", reason=reason)
    assert "tool_calls" not in found["message"]
    assert found["message"]["content"].startswith('<tool-error name="get">')
    assert found["finish_reason"] == reason


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
    with pytest.raises(CallFailed):
        whole(BAD, options={"on_error": "raise"})
    with pytest.raises(CallFailed):
        streamed(chunks([BAD]), on_error="raise")
    required = asking(tool_choice="required")
    with pytest.raises(CallFailed):
        whole("Hello", request=required, options={"on_missing_call": "raise"})
    with pytest.raises(CallFailed):
        streamed(chunks(["Hello"]), request=required, on_missing_call="raise")


def test_none_reads_nothing() -> None:
    request = asking(tool_choice="none")
    given = body(GOOD)
    assert exchange(request).whole(given) is given
    events = chunks([GOOD])
    assert all(made is event for made, event in zip(streamed(events, request=request), events, strict=True))


# --- streamed


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
    assert not stream.asks_again


def test_a_stream_that_asks_again_goes_on() -> None:
    one = exchange()
    stream = one.stream()
    assert stream.feed(chunk({"role": "assistant", "content": "Hm. "})) is None
    assert stream.feed(chunk({"content": f"{BAD} And so on"})) == []
    assert stream.holds
    assert stream.feed(chunk({}, "stop")) == []
    assert stream.asks_again
    assert stream.feed({**BASE, "choices": [], "usage": {"total_tokens": 2, "details": {"cached": 1}}}) == []
    assert stream.end() == []
    one.ask_again()
    assert not stream.asks_again
    second = {**BASE, "id": "other", "created": 2}
    assert (
        stream.feed({**second, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
        == []
    )
    made = stream.feed({**second, "choices": [{"index": 0, "delta": {"content": "Sorry. " + GOOD}}]})
    assert made is not None
    assert [event["id"] for event in made] == ["c"] * 3
    assert made[0]["choices"][0]["delta"] == {"content": "Sorry. "}
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
    assert stream.asks_again


def test_a_stream_that_ends_early() -> None:
    made = streamed([chunk({"role": "assistant", "content": ""}), chunk({"content": "A <call>get city=U"})])
    [state] = accumulated(made).values()
    assert state["content"].startswith('A <tool-error name="get">')
    assert state["calls"] == []
    assert state["reason"] is None


@pytest.mark.parametrize("text", ["A <call>get city=U", f"A {BAD} so"])
def test_what_is_held_goes_out_in_front_of_the_providers_error(text: str) -> None:
    error = {"error": {"message": "Overloaded"}}
    made = streamed([chunk({"content": text}), error, chunk({"content": "x"})])
    assert made[-1] is error
    [state] = accumulated(made[:-1]).values()
    assert state["content"].startswith('A <tool-error name="get">')
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
    assert not stream.asks_again
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


def test_what_comes_behind_the_finish_reason_passes() -> None:
    events = [chunk({"content": GOOD}), chunk({}, "stop"), chunk({"content": GOOD}), chunk({}, "stop")]
    made = streamed(events)
    assert made[-2] is events[2]
    assert made[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_summed() -> None:
    one = {"a": 1, "b": {"c": 2, "d": None}, "e": True, "f": "x", "g": None, "l": [1]}
    two = {"a": 2.5, "b": {"c": 3, "d": 1}, "e": False, "f": None, "h": {"i": 1}, "l": [2]}
    found = {"a": 3.5, "b": {"c": 5, "d": 1}, "e": False, "f": "x", "g": None, "h": {"i": 1}, "l": [1, 2]}
    assert summed([None, one, "odd", two]) == found
    assert one == {"a": 1, "b": {"c": 2, "d": None}, "e": True, "f": "x", "g": None, "l": [1]}
    assert summed([]) == {}


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
