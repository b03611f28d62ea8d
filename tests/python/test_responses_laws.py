"""Answers of the Responses API, generated: whole and streamed they become the same."""

import copy
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from law import LAW
from responses_peers import (
    BAD,
    GOOD,
    REQUEST,
    accumulate,
    cut,
    interleaved,
    leaving_out,
    message,
    native_call,
    output_text,
    plain,
    read_stream,
    read_whole,
    response,
    streamed,
)
from wirecall._apis.exchange import Exchange
from wirecall._apis.responses.api import api as responses
from wirecall._text.options import Options

Json = dict[str, Any]

FRAGMENTS = st.sampled_from(
    [
        "Let me look. ",
        " ",
        "\n",
        "a < b",
        "<cal",
        GOOD,
        "<call>g x=1</call>",
        "<call>f x=</call>",
        BAD,
        "<call>nothing x=1</call>",
        "<call>f x=1",
        "</call>",
        "<tool-result name=f>",
        "<think>",
        "</think>",
        "\U0001f600",
    ]
)
TEXTS = st.lists(FRAGMENTS, max_size=5).map("".join)
REFUSAL = {"type": "refusal", "refusal": "I will not."}
SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=4).map(tuple)


@st.composite
def text_parts(draw: st.DrawFn) -> Json:
    """A text part, with the logprobs of its tokens (or without, or with none) and annotations."""
    part = output_text(draw(TEXTS))
    tokens = enumerate(cut(part["text"], itertools.cycle(draw(SIZES))))
    given_logprobs = draw(st.sampled_from(["all", "none", "left out"]))
    if given_logprobs == "all":
        part["logprobs"] = [{"token": token, "logprob": -number} for number, token in tokens]
    elif given_logprobs == "left out":
        del part["logprobs"]
    places = draw(st.lists(st.integers(0, len(part["text"])), max_size=2))
    part["annotations"] = [
        draw(
            st.sampled_from(
                [
                    {"type": "url_citation", "start_index": 0, "end_index": place, "url": "u", "title": "t"},
                    {"type": "file_citation", "index": place, "file_id": "file_1"},
                    {"type": "file_path", "file_id": "file_1"},
                ]
            )
        )
        for place in places
    ]
    return part


PARTS = st.one_of(text_parts(), text_parts(), st.just(REFUSAL))


@st.composite
def items(draw: st.DrawFn, attempt: int) -> list[Json]:
    written = []
    for number in range(draw(st.integers(0, 4))):
        id = f"{attempt}_{number}"
        kind = draw(
            st.sampled_from(["message", "message", "message", "reasoning", "search", "function_call"])
        )
        if kind == "message":
            parts = draw(st.lists(PARTS, min_size=1, max_size=2))
            status = draw(st.sampled_from(["completed", "completed", "incomplete"]))
            # Some servers give every message the same id.
            same = draw(st.integers(0, 9)) == 0
            written.append(message(*parts, id="msg_1" if same else f"msg_{id}", status=status))
        elif kind == "function_call":
            written.append(native_call(f"fc_{id}"))
        else:
            summary = [{"type": "summary_text", "text": "<call>f x=1</call>"}]
            written.append({"type": kind, "id": f"x_{id}", "status": "completed", "summary": summary})
    return written


@st.composite
def answer(draw: st.DrawFn, attempt: int) -> Json:
    status = draw(st.sampled_from(["completed"] * 4 + ["incomplete", "failed"]))
    details = {"reason": draw(st.sampled_from(["max_output_tokens", "content_filter"]))}
    more = {"incomplete_details": details if status == "incomplete" else None}
    return response(*draw(items(attempt)), id=f"resp_{attempt}", status=status, **more)


OPTIONS = st.builds(
    Options,
    on_error=st.sampled_from(["retry", "text", "native"]),
    on_missing_call=st.sampled_from(["retry", "pass"]),
    max_retries=st.integers(0, 2),
    strip_preamble=st.booleans(),
    emit_raw_on_error=st.booleans(),
)
CHOICES = st.sampled_from(
    [
        {},
        {},
        {"tool_choice": "required"},
        {"tool_choice": {"type": "function", "name": "g"}},
        {"tool_choice": "none"},
        {"parallel_tool_calls": False},
    ]
)
# What a server tells of its messages: all, or less.
TOLD = st.sampled_from([None, None, ("output_item.done",), ()])


@pytest.mark.laws
@LAW
@given(
    st.tuples(answer(0), answer(1), answer(2)),
    OPTIONS,
    CHOICES,
    SIZES,
    TOLD,
    st.lists(st.integers(0, 9), min_size=1, max_size=3),
)
def test_whole_and_streamed_are_the_same(
    answers: tuple[Json, ...],
    options: Options,
    choice: Json,
    sizes: tuple[int, ...],
    told: tuple[str, ...] | None,
    delays: list[int],
) -> None:
    request = {**REQUEST, **choice}
    streams = [streamed(one, sizes) for one in answers]
    if told is not None:
        streams = [leaving_out(events, told) for events in streams]
    else:
        streams = [interleaved(events, delays) for events in streams]
    before = copy.deepcopy((answers, streams, request))

    whole, exchange = read_whole(list(answers), options, request)
    events, other = read_stream(streams, options, request)

    assert (answers, streams, request) == before, "nothing is changed"
    last = events[-1]["response"]
    output = accumulate(events, in_turn=not any(delays), all_deltas=told is None)
    assert last["output"] == output
    assert plain(output) == plain(whole["output"])
    assert exchange.request == other.request
    for key in ("id", "status", "usage", "incomplete_details"):
        assert last[key] == whole[key]
    assert whole["id"] == "resp_0"
    assert whole["status"] == answers[exchange.state.attempt]["status"]  # type: ignore[union-attr]
    assert [event["type"] for event in events].count("response.created") == 1
    marked = {
        item["id"]
        for one in answers
        for item in one["output"]
        if any("<" in part.get("text", "") for part in item.get("content", []))
    }
    given_texts = [part for one in answers for item in one["output"] for part in item.get("content", [])]
    for item in output:
        parts = item.get("content", [])
        # Of a message with nothing but what began as a call, nothing can be shown: it stays, and is empty.
        is_empty = item["id"] in marked and not any(part.get("text") for part in parts)
        for part in parts:
            assert part.get("text") or part in given_texts or is_empty, "no other empty texts"


@pytest.mark.laws
@LAW
@given(answer(0), SIZES)
def test_what_is_not_ours_stays_the_same_object(given_answer: Json, sizes: tuple[int, ...]) -> None:
    options = Options(on_error="text")
    whole, _ = read_whole([given_answer], options)
    kept = [item for item in given_answer["output"] if item["type"] != "message"]
    ours = [item for item in whole["output"] if any(item is one for one in kept)]
    assert len(ours) == len(kept)
    for item in given_answer["output"]:
        if item["type"] == "message" and not any("<" in part.get("text", "") for part in item["content"]):
            full = [part for part in item["content"] if part.get("text", "x")]
            if full == item["content"] and item["id"] != "msg_1":
                assert any(item is one for one in whole["output"])


@pytest.mark.laws
@LAW
@given(TEXTS, SIZES)
def test_fragments_of_arguments_join_to_the_whole_call(text: str, sizes: tuple[int, ...]) -> None:
    options = Options(stream_arguments=True, on_error="text")
    answers = [response(message(text))]
    events, _ = read_stream([streamed(one, sizes) for one in answers], options)
    whole, _ = read_whole(answers, options)
    if events[-1]["type"] == "error":
        opened = [event["item"] for event in events if event["type"] == "response.output_item.added"]
        closed = [event["item"]["id"] for event in events if event["type"] == "response.output_item.done"]
        assert opened[-1]["type"] == "function_call"
        assert opened[-1]["id"] not in closed, "never a closed call"
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
    else:
        assert plain(accumulate(events)) == plain(whole["output"])


def content(read: Json | None) -> list[Any]:
    """What an answer says and calls, wherever one item ends and the next begins."""
    found: list[Any] = []
    for item in read["output"] if read is not None else ():
        if item["type"] == "function_call":
            found.append((item["name"], item["arguments"]))
        found += [part.get("text", part) for part in item.get("content", [])]
    return [one for one in found if one != ""]


@pytest.mark.laws
@LAW
@given(st.lists(PARTS, min_size=1, max_size=4), OPTIONS, CHOICES)
def test_the_parts_of_a_message_are_read_as_messages_are(
    parts: list[Json], options: Options, choice: Json
) -> None:
    apart = [message(part, id=f"msg_{number}") for number, part in enumerate(parts)]
    first, second = (Exchange(responses, {**REQUEST, **choice}, options) for _ in range(2))
    assert content(first.whole(response(message(*parts)))) == content(second.whole(response(*apart)))
    assert first.request == second.request
