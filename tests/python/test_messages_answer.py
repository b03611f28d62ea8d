"""Answers of the Messages API: laws over generated ones, whole and streamed, and what is laid down."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messages_support import (
    LAW,
    Heard,
    Json,
    assistant,
    events_of,
    folded,
    hear,
    message,
    request,
    text,
    use,
    user,
)
from wirecall._apis.exchange import Exchange
from wirecall._apis.messages.api import api
from wirecall._text.options import Options
from wirecall._text.parts import ToolCallError

PIECES = [
    "Let me look. ",
    "so",
    " ",
    "\n\n",
    "a < b",
    "<call>search query=cats</call>",
    '<call>search query="a \\"b\\" </call>" limit=3</call>',
    "<call>note</call>",
    "<call>search limit=x y=</call>",
    "<call>unknown a=1</call>",
    '<call>search query="open',
    '<call>search query="open"',
    "<call>search query=open ",
    "<call>{]</call>",
    "<call",
    "<tool-result name=search>made up</tool-result>",
    "<think>hm <call>note</call></think>",
]
ANSWER_TEXT = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
CITATION = {"type": "char_location", "cited_text": "c", "document_index": 0}
BLOCKS = st.one_of(
    ANSWER_TEXT.map(text),
    ANSWER_TEXT.map(lambda said: text(said, citations=[CITATION, CITATION])),
    st.just({"type": "thinking", "thinking": "hm", "signature": "s"}),
    st.just({"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}),
    st.just({"type": "unheard_of", "value": [1]}),
)
STOPS = st.sampled_from(
    [("end_turn", None)] * 4
    + [("stop_sequence", "<tool-result"), ("stop_sequence", "END"), ("max_tokens", None), ("refusal", None)]
    + [("pause_turn", None), ("model_context_window_exceeded", None), ("tool_use", None)]
)


@st.composite
def bodies(draw: st.DrawFn) -> Json:
    blocks = draw(st.lists(BLOCKS, max_size=4))
    if draw(st.integers(0, 4)) == 0:
        blocks.insert(draw(st.integers(0, len(blocks))), use("native", "search", {"query": "n"}))
    usage = {"input_tokens": draw(st.integers(0, 9)), "output_tokens": draw(st.integers(0, 9))}
    return message(blocks, *draw(STOPS), usage=usage)


OPTIONS = st.fixed_dictionaries(
    {
        "on_error": st.sampled_from(["retry", "retry", "text", "native", "raise"]),
        "on_missing_call": st.sampled_from(["retry", "pass", "raise"]),
        "max_retries": st.integers(0, 2),
        "strip_preamble": st.booleans(),
        "emit_raw_on_error": st.booleans(),
    }
)
CHOICES = st.sampled_from(
    [
        {"type": "auto"},
        {"type": "auto", "disable_parallel_tool_use": True},
        {"type": "any"},
        {"type": "tool", "name": "note"},
        {"type": "none"},
    ]
)


@LAW
@given(st.lists(bodies(), min_size=1, max_size=3), st.integers(1, 40), CHOICES, OPTIONS)
def test_whole_and_streamed_are_the_same(answers: list[Json], size: int, choice: Json, options: Json) -> None:
    given = request(tool_choice=choice)
    whole = hear(given, answers, None, **options)
    streamed = hear(given, answers, size, **options)
    if whole.message and streamed.message:
        # Only the last of several whole answers has an id of its own to give.
        assert whole.message["usage"] == streamed.message["usage"]
    assert streamed.comparable() == whole.comparable()


@LAW
@given(st.lists(bodies(), min_size=1, max_size=3), OPTIONS)
def test_an_answer_is_valid_and_loses_nothing_that_is_not_known(answers: list[Json], options: Json) -> None:
    heard = hear(request(), answers, None, **options)
    if heard.message is None:
        assert options["on_error"] == "raise"
        return
    asked = len(heard.requests)
    played = [answers[min(attempt, len(answers) - 1)] for attempt in range(asked + 1)]
    last, content = played[-1], heard.message["content"]
    for block in last["content"]:
        if block["type"] != "text":
            assert any(block is one for one in content)
    for key in ("input_tokens", "output_tokens"):
        assert heard.message["usage"][key] == sum(body["usage"][key] for body in played)
    calls = [block for block in content if block["type"] == "tool_use"]
    for block in content:
        assert block.get("text") != ""
    for call in calls:
        assert isinstance(call["input"], dict)
    ours = last["stop_sequence"] == "<tool-result"
    if last["stop_reason"] == "end_turn" or ours:
        assert heard.message["stop_reason"] == ("tool_use" if calls else "end_turn")
        assert heard.message["stop_sequence"] is None
    else:
        assert heard.message["stop_reason"] == last["stop_reason"]
        assert heard.message["stop_sequence"] == last["stop_sequence"]
        assert played.index(last) == asked or last["stop_reason"] == "tool_use" or len(answers) <= asked
    for new in heard.requests:
        roles = [turn["role"] for turn in new["messages"]]
        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
        assert roles[-1] == "user"
        assert all(turn["content"].strip() for turn in new["messages"])


@LAW
@given(bodies(), st.integers(1, 40))
def test_fragments_add_up_to_the_calls_that_are_sent_whole(answer: Json, size: int) -> None:
    given, options = request(), {"on_error": "text"}
    exchange = Exchange(api, given, Options(stream_arguments=True, on_error="text"))
    stream, out = exchange.stream(), []
    for event in events_of(answer, size):
        sent = stream.feed(event)
        out += [event] if sent is None else sent
    out += stream.end()
    if stream.ended:
        assert out[-1]["type"] == "error"
        assert out[-1]["error"]["type"] == "api_error"
        starts = [event["index"] for event in out if event["type"] == "content_block_start"]
        stops = [event["index"] for event in out if event["type"] == "content_block_stop"]
        assert starts[-1] not in stops, "a call that failed was closed"
    else:
        heard = Heard(folded(out), None, [], [])
        plain, *_ = hear(given, [answer], None, **options).comparable()
        assert heard.comparable()[0] == plain
    whole = Exchange(api, given, Options(stream_arguments=True, on_error="text")).whole(answer)
    assert (
        Heard(dict(whole or {}), None, [], []).comparable()[0]
        == hear(given, [answer], None, **options).comparable()[0]
    )


@LAW
@given(bodies(), st.integers(1, 40), st.data())
def test_a_dropped_stream_ends_without_a_half_call(answer: Json, size: int, data: st.DataObject) -> None:
    events = events_of(answer, size)[:-2]
    events = events[: data.draw(st.integers(0, len(events)))]
    stream, out = Exchange(api, request(), Options()).stream(), []
    for event in events:
        sent = stream.feed(event)
        out += [event] if sent is None else sent
    out += stream.end()
    assert not stream.should_retry
    assert not stream.holds
    assert stream.end() == []
    opened = [
        e["content_block"]["id"]
        for e in out
        if e["type"] == "content_block_start" and "id" in e["content_block"]
    ]
    ours = {id for id in opened if id.startswith("toolu_")}
    indexes = {e["index"] for e in out if e["type"] == "content_block_stop"}
    for event in out:
        if event["type"] == "content_block_start" and event["content_block"].get("id") in ours:
            assert event["index"] in indexes


ODD_EVENTS: list[Any] = [
    {"type": kind, "index": index, key: value}
    for kind in (
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "x",
    )
    for index in (None, 0, 1, "0", [])
    for key in ("delta", "content_block", "message")
    for value in (
        None,
        [],
        {},
        {"type": "text", "text": "<call>"},
        {"type": "text_delta", "text": 3},
        {"type": "text_delta", "text": "a"},
    )
] + [{}, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": 3}]


@LAW
@given(st.lists(st.sampled_from(ODD_EVENTS), max_size=12))
def test_odd_events_are_read_on(events: list[Json]) -> None:
    before = copy.deepcopy(events)
    stream = Exchange(api, request(), Options()).stream()
    for event in events:
        sent = stream.feed(event)
        assert sent is None or all(isinstance(one, dict) for one in sent)
    stream.end()
    assert events == before


# What is laid down.


def test_an_answer_without_calls_passes_as_it_is() -> None:
    answer = message([{"type": "thinking", "thinking": "hm", "signature": "s"}, text("Hello there")])
    stream = Exchange(api, request(), Options()).stream()
    changed = [event for event in events_of(answer, 4) if stream.feed(event) is not None]
    # The text's first chunk opens it, and its end is known late.
    kinds = [event["type"] for event in changed]
    assert kinds == ["content_block_start", "content_block_delta", "content_block_stop", "message_delta"]
    whole = Exchange(api, request(), Options()).whole(answer)
    assert whole == answer
    assert whole["content"][1] is answer["content"][1]


def test_a_split_block_keeps_its_citations_with_its_first_text() -> None:
    answer = message([text("One <call>note</call> two", citations=[CITATION])])
    for size in (None, 3):
        heard = hear(request(), [answer], size).message
        assert heard is not None
        assert [block.get("citations") for block in heard["content"]] == [[CITATION], None, None]


def test_a_bad_call_is_asked_for_again_behind_its_own_words() -> None:
    bad = message([text("Look: <call>search limit=</call>")], usage={"input_tokens": 3, "output_tokens": 4})
    good = message([text("<call>search query=a</call>")], usage={"input_tokens": 5, "output_tokens": 6})
    for size in (None, 1, 50):
        heard = hear(request(), [bad, good], size, validate="error")
        (asked,) = heard.requests
        assert asked["messages"][1] == assistant("Look: <call>search limit=</call>")
        assert asked["messages"][2]["content"].startswith('<tool-error name="search">')
        assert heard.message is not None
        assert [block["type"] for block in heard.message["content"]] == ["text", "tool_use"]
        assert heard.message["usage"] == {"input_tokens": 8, "output_tokens": 10}


@pytest.mark.parametrize(
    ("last", "words", "expected"),
    [
        (assistant("I think"), " so", [assistant("I think so"), user("!")]),
        (assistant([text("I think")]), " so", [assistant([text("I think so")]), user("!")]),
        (assistant([use("n", "bash")]), "so", [assistant([use("n", "bash"), text("so")]), user("!")]),
        (assistant("I think"), "", [assistant("I think"), user("!")]),
        (user("Hi"), "so", [user("Hi"), assistant("so"), user("!")]),
        (user("Hi"), " \n", [user("Hi\n\n!")]),
        (user([text("Hi")]), "", [user([text("Hi"), text("!")])]),
    ],
)
def test_asking_again_keeps_roles_alternating(last: Json, words: str, expected: list[Json]) -> None:
    given = {"messages": [last]}
    before = copy.deepcopy(given)
    assert api.retry_request(given, words, "!") == {"messages": expected}
    assert given == before


CUT = '<call>search query="a"'
STOPPED = [
    ("max_tokens", None),
    ("stop_sequence", "END"),
    ("refusal", None),
]


@pytest.mark.parametrize("size", [None, 4])
def test_a_call_that_may_be_cut_off_is_never_a_call(size: int | None) -> None:
    def kinds(content: list[Json], *stop: Any) -> list[str]:
        heard = hear(request(), [message(content, *stop)], size, on_error="text").message
        assert heard is not None
        return [block["type"] for block in heard["content"]]

    # Where our own stop sequence ended the answer, nothing is missing.
    assert kinds([text(CUT)], "end_turn") == ["tool_use"]
    assert kinds([text(CUT)], "stop_sequence", "<tool-result") == ["tool_use"]
    for stop in STOPPED:
        assert kinds([text(CUT)], *stop) == ["text"]
    other = {"type": "unheard_of"}
    assert kinds([text(CUT), other], "end_turn") == ["text", "unheard_of"]
    stream = Exchange(api, request(), Options(on_error="text")).stream()
    out = [one for event in events_of(message([text(CUT)]), 3)[:-2] for one in stream.feed(event) or ()]
    blocks = [event["content_block"]["type"] for event in out + stream.end() if "content_block" in event]
    assert blocks == ["text"]


@pytest.mark.parametrize("size", [None, 4])
@pytest.mark.parametrize("stop", [("end_turn", None), *STOPPED])
def test_only_what_ended_by_itself_is_asked_for_again(stop: Any, size: int | None) -> None:
    heard = hear(request(), [message([text("<call>nope</call>")], *stop), message([text("Hi")])], size)
    assert len(heard.requests) == (stop in (("end_turn", None), ("stop_sequence", "<tool-result")))


def test_a_block_may_begin_with_text() -> None:
    stream = Exchange(api, request(), Options()).stream()
    begun = {"type": "content_block_start", "index": 0, "content_block": text("Hello")}
    assert stream.feed(begun) == [
        {**begun, "content_block": text("")},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
    ]


def test_a_native_call_lets_go_of_what_was_held() -> None:
    stream = Exchange(api, request(), Options()).stream()
    for event in events_of(message([text("<call>nope</call>")]), 4)[:-2]:
        stream.feed(event)
    assert stream.holds
    sent = stream.feed({"type": "content_block_start", "index": 1, "content_block": use("n", "bash")})
    assert sent is not None
    assert [event["type"] for event in sent][-2:] == ["content_block_stop", "content_block_start"]
    assert not stream.holds


def test_a_failure_is_held_and_comments_may_keep_the_line() -> None:
    stream = Exchange(api, request(), Options()).stream()
    bad = message([text("Hi <call>nope</call>"), {"type": "thinking", "thinking": "x", "signature": ""}])
    *events, end, _ = events_of(bad, 100)
    for event in events:
        stream.feed(event)
    assert stream.holds
    # The text that was sent is closed; what came after the failure is dropped.
    assert stream.feed(end) == [{"type": "content_block_stop", "index": 0}]
    assert stream.should_retry
    assert not stream.holds
    assert stream.feed({"type": "ping"}) is None
    assert stream.feed({"type": "message_stop"}) == []


def test_an_error_of_the_provider_passes_and_ends() -> None:
    stream = Exchange(api, request(), Options()).stream()
    for event in events_of(message([text("<call>search [a]</call>")]), 3)[:-3]:
        stream.feed(event)
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "later"}}
    out = stream.feed(error)
    assert out is not None
    assert out[-1] is error
    assert [event["type"] for event in out[:-1]] == [
        f"content_block_{step}" for step in ("start", "delta", "stop")
    ]
    assert out[1]["delta"]["text"] == "The assistant tried to call a tool, but the call could not be read."
    assert stream.ended
    assert stream.end() == []


def test_an_error_of_the_provider_says_more_than_the_call_that_it_cut_off() -> None:
    stream = Exchange(api, request(), Options(on_error="raise")).stream()
    for event in events_of(message([text("<call>search query=a b")]), 3)[:-3]:
        stream.feed(event)
    assert stream.feed({"type": "error", "error": {"type": "overloaded_error"}}) is None
    assert stream.ended


def test_an_empty_second_answer_is_not_asked_for_for_ever() -> None:
    exchange = Exchange(api, request(), Options())
    stream = exchange.stream()
    for event in events_of(message([text("<call>nope</call>")]), 3):
        stream.feed(event)
    assert stream.end() == []
    assert stream.should_retry
    exchange.retry()
    stream.end()
    assert not stream.should_retry


@pytest.mark.parametrize("size", [None, 5])
def test_a_native_failure_is_an_object(size: int | None) -> None:
    heard = hear(request(), [message([text("<call>{]</call>")])], size, on_error="native").message
    assert heard is not None
    (call,) = heard["content"]
    assert call["input"] == {"arguments": "<call>{]</call>"}


def test_numbers_that_python_cannot_hold_stay_text() -> None:
    digits = "9" * 5000
    answer = message([text(f'<call>note {{"text": "t", "n": {digits}, "f": 1e999}}</call>')])
    heard = hear(request(), [answer], None).message
    assert heard is not None
    assert heard["content"][0]["input"] == {"text": "t", "n": digits, "f": "1e999"}


def test_usage_adds_up_in_all_its_parts() -> None:
    usage = {"input_tokens": 1, "output_tokens": 2, "service_tier": "standard", "iterations": [{"a": 1}]}
    usage |= {"cache_creation": {"ephemeral_5m_input_tokens": 4}, "server_tool_use": None}
    bad, good = (message([text(said)], usage=usage) for said in ("<call>nope</call>", "fine"))
    for size in (None, 4):
        heard = hear(request(), [bad, good], size).message
        assert heard is not None
        assert heard["usage"] == {
            "input_tokens": 2,
            "output_tokens": 4,
            "service_tier": "standard",
            "iterations": [{"a": 1}, {"a": 1}],
            "cache_creation": {"ephemeral_5m_input_tokens": 8},
            "server_tool_use": None,
        }


def test_an_error_event_has_the_shape_of_the_api() -> None:
    assert api.stream_error(ToolCallError("no")) == {
        "type": "error",
        "error": {"type": "api_error", "message": "no"},
    }
