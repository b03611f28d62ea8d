"""Answers of the Responses API: whole and streamed they become the same, and what is not ours stays."""

import copy
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from responses_peers import accumulate, message, native_call, output_text, response, streamed
from wirecall.answer import CallFailed
from wirecall.dialects.responses import responses
from wirecall.exchange import Exchange
from wirecall.options import Notice, Options

Json = dict[str, Any]

LAW = settings(max_examples=max(100, int(os.environ.get("WIRECALL_LAW_CASES", "1000")) // 10), deadline=None)
TOOLS = [
    {"type": "function", "name": name, "parameters": {"type": "object", "properties": {"x": {}}}}
    for name in ("f", "g")
]
REQUEST: Json = {"model": "m", "input": "hi", "tools": TOOLS}
GOOD = '<call>f x="a b"</call>'
BAD = "<call>f [object Object]</call>"

# A host -------------------------------------------------------------------------------------------


def plain(output: list[Json]) -> list[Json]:
    """Without the random ids of our calls, which must differ."""
    calls = [item for item in output if item["type"] == "function_call"]
    ids = [item["id"] for item in calls] + [item["call_id"] for item in calls]
    assert len(set(ids)) == len(ids)
    return [
        {**item, "id": None, "call_id": None} if item["type"] == "function_call" else item for item in output
    ]


def read_whole(answers: list[Json], options: Options, request: Json = REQUEST) -> tuple[Json, Exchange]:
    exchange = Exchange(responses, request, options)
    for answer in answers:
        if (read := exchange.whole(answer)) is not None:
            return dict(read), exchange
    raise AssertionError("asked again once too often")


def read_stream(
    answers: list[list[Json]], options: Options, request: Json = REQUEST
) -> tuple[list[Json], Exchange]:
    exchange = Exchange(responses, request, options)
    stream = exchange.stream()
    sent: list[Json] = []
    for answer in answers:
        for event in answer:
            read = stream.feed(event)
            sent += [event] if read is None else read
        sent += stream.end()
        if not stream.asks_again:
            assert stream.ended or not stream.holds
            return sent, exchange
        exchange.ask_again()
    raise AssertionError("asked again once too often")


# Laws ---------------------------------------------------------------------------------------------

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
PARTS = st.one_of(TEXTS.map(output_text), TEXTS.map(output_text), st.just(REFUSAL))


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
SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=4).map(tuple)


@pytest.mark.laws
@LAW
@given(st.tuples(answer(0), answer(1), answer(2)), OPTIONS, CHOICES, SIZES)
def test_whole_and_streamed_are_the_same(
    answers: tuple[Json, ...], options: Options, choice: Json, sizes: tuple[int, ...]
) -> None:
    request = {**REQUEST, **choice}
    streams = [streamed(one, sizes) for one in answers]
    before = copy.deepcopy((answers, streams, request))

    whole, exchange = read_whole(list(answers), options, request)
    events, other = read_stream(streams, options, request)

    assert (answers, streams, request) == before, "nothing is changed"
    last = events[-1]["response"]
    output = accumulate(events)
    assert last["output"] == output
    assert plain(output) == plain(whole["output"])
    assert exchange.request == other.request
    for key in ("id", "status", "usage", "incomplete_details"):
        assert last[key] == whole[key]
    assert whole["id"] == "resp_0"
    assert whole["status"] == answers[exchange.turn.attempt]["status"]  # type: ignore[union-attr]
    assert [event["type"] for event in events].count("response.created") == 1
    spoken = [part for item in output for part in item.get("content", [])]
    given_texts = [part for one in answers for item in one["output"] for part in item.get("content", [])]
    for part in spoken:
        assert part.get("text") or part in given_texts, "no empty texts but those of the model"


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


# Examples -----------------------------------------------------------------------------------------


def kinds(events: list[Json]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]


def test_a_call_in_a_message() -> None:
    text = f"Look. {GOOD}\nDone."
    whole, _ = read_whole([response(message(text, phase="commentary"))], Options())
    first, call, second = whole["output"]
    assert (first["id"], first["content"][0]["text"], first["phase"]) == ("msg_1", "Look. ", "commentary")
    assert (second["id"], second["content"][0]["text"]) == ("msg_1_2", "\nDone.")
    assert call == {
        "type": "function_call",
        "id": "fc_" + call["call_id"].removeprefix("call_"),
        "call_id": call["call_id"],
        "name": "f",
        "arguments": '{"x":"a b"}',
        "status": "completed",
    }
    assert len(call["call_id"]) == len("call_") + 24

    events, _ = read_stream([streamed(response(message(f"Look. {GOOD}")), (100,))], Options())
    assert kinds(events) == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert (events[8]["item"]["arguments"], events[8]["item"]["status"]) == ("", "in_progress")


def test_text_without_calls_passes_as_it_came() -> None:
    whole = response(message("Just words."))
    assert read_whole([whole], Options())[0]["output"][0] is whole["output"][0]
    stream = Exchange(responses, REQUEST, Options()).stream()
    sent = []
    for event in streamed(whole):
        read = stream.feed(event)
        if event["type"] == "response.created" or event.get("delta") == "rds.":
            assert read is None, "the very event"
        sent += [event] if read is None else read
    assert sent == streamed(whole)


def test_a_retry_goes_on_in_the_same_stream() -> None:
    first = response(message(f"Look. {BAD}"), id="resp_1")
    second = response(message(f"Again. {GOOD}", id="msg_2"), id="resp_2")
    heard: list[Notice] = []
    events, exchange = read_stream([streamed(first), streamed(second)], Options(on_event=heard.append))
    spoken, call = accumulate(events)
    assert (spoken["id"], spoken["content"][0]["text"]) == ("msg_1", "Look. Again. ")
    assert call["name"] == "f"
    # "saved" comes only where tiktoken's vocabulary is.
    assert [notice.kind for notice in heard if notice.kind != "saved"] == ["error", "retry"]
    last = events[-1]["response"]
    assert last["id"] == "resp_1"
    assert last["usage"] == {
        "input_tokens": 20,
        "output_tokens": 6,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    user, words, told = exchange.request["input"]
    assert user == {"role": "user", "content": "hi"}
    assert words == {"role": "assistant", "content": f"Look. {BAD}"}
    assert told["role"] == "user"
    assert told["content"].startswith('<tool-error name="f">')


def test_reasoning_of_the_second_answer_closes_the_first_message() -> None:
    first = response(message(f"Look. {BAD}"))
    thought = {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "x"}
    second = response(thought, message(GOOD, id="msg_2"), id="resp_2")
    events, _ = read_stream([streamed(first), streamed(second)], Options())
    assert [item["type"] for item in accumulate(events)] == ["message", "reasoning", "function_call"]


@pytest.mark.parametrize("beside", [native_call(), {**native_call(), "type": "custom_tool_call"}])
def test_nothing_is_asked_again_beside_a_native_call(beside: Json) -> None:
    for output in ([beside, message(BAD)], [message(BAD), beside]):
        whole, exchange = read_whole([response(*output)], Options())
        assert exchange.turn is not None
        assert exchange.turn.attempt == 0
        assert [item["type"] for item in whole["output"]] == [item["type"] for item in output]
        assert "<tool-error" in str(whole["output"])


def test_a_call_cut_off_is_none() -> None:
    cut_off = response(
        message("Look. <call>f x=1", status="incomplete"),
        status="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    )
    whole, _ = read_whole([cut_off], Options())
    assert (whole["status"], whole["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    (only,) = whole["output"]
    assert only["status"] == "incomplete"
    assert "<tool-error" in only["content"][0]["text"]


@pytest.mark.parametrize(
    ("item_status", "status", "reason", "read"),
    [
        ("completed", "completed", None, True),
        ("incomplete", "completed", None, False),
        ("completed", "incomplete", "max_output_tokens", False),
        ("completed", "incomplete", "content_filter", False),
        ("completed", "failed", None, False),
    ],
)
@pytest.mark.parametrize("followed", [False, True])
def test_a_last_call_without_its_end_is_read_only_if_nothing_was_cut_off(
    item_status: str, status: str, reason: str | None, read: bool, followed: bool
) -> None:
    output = [message("<call>f x=1", status=item_status)]
    if followed:
        # Then it was over before whatever happened to the answer.
        output.append({"type": "reasoning", "id": "rs_1", "summary": []})
        read = item_status == "completed"
    given_answer = response(*output, status=status, incomplete_details={"reason": reason})
    whole, _ = read_whole([given_answer], Options(on_error="text"))
    assert whole["output"][0]["type"] == ("function_call" if read else "message")


def test_a_refusal_is_not_asked_again() -> None:
    refusal = {"type": "refusal", "refusal": "I will not."}
    request = {**REQUEST, "tool_choice": "required"}
    answers = [response(message(refusal))]
    whole, _ = read_whole(answers, Options(), request)
    assert whole == answers[0]
    events, _ = read_stream([streamed(one) for one in answers], Options(), request)
    assert accumulate(events) == answers[0]["output"]


def test_a_stream_that_breaks_off() -> None:
    exchange = Exchange(responses, REQUEST, Options())
    stream = exchange.stream()
    events = streamed(response(message("Look. <call>f x=1</call>")))
    sent: list[Json] = []
    for event in events[:7]:
        read = stream.feed(event)
        sent += [event] if read is None else read
    assert stream.holds
    sent += stream.end()
    assert not stream.asks_again
    (only,) = accumulate(sent)
    assert only["status"] == "incomplete"
    assert only["content"][0]["text"].startswith("Look. <tool-error")
    assert stream.end() == []


@pytest.mark.parametrize("kind", ["error", "response.failed"])
def test_errors_of_the_provider_pass(kind: str) -> None:
    events = streamed(response(message("Look. ")))[:6]
    failure: Json = {"type": kind, "sequence_number": 6, "code": "server_error", "message": "over"}
    if kind != "error":
        failure["response"] = response(status="failed", error={"code": "server_error", "message": "over"})
    sent, _ = read_stream([[*events, failure]], Options())
    assert sent[-1]["message"] == "over"
    (only,) = accumulate(sent)
    assert only["status"] == "incomplete"
    if kind != "error":
        assert sent[-1]["response"]["error"] == failure["response"]["error"]
        assert sent[-1]["response"]["output"] == [only]


def test_an_error_of_the_provider_says_more_than_the_call_that_it_cut_off() -> None:
    events = streamed(response(message("Look. <call>f x=ab cd")))[:-4]
    failure: Json = {"type": "error", "sequence_number": 9, "code": "server_error", "message": "over"}
    sent, _ = read_stream([[*events, failure]], Options(on_error="raise"))
    assert sent[-1]["message"] == "over"


def test_a_call_that_fails_after_its_first_fragment_ends_the_stream() -> None:
    text = '<call>f x={"a":1,,}</call> more'
    exchange = Exchange(responses, REQUEST, Options(stream_arguments=True, strict=True))
    stream = exchange.stream()
    sent: list[Json] = []
    for event in streamed(response(message(text)), (3,)):
        read = stream.feed(event)
        sent += [event] if read is None else read
    assert stream.ended
    error = sent[-1]
    assert set(error) == {"type", "code", "message", "param", "sequence_number"}
    assert (error["type"], error["param"]) == ("error", None)
    assert stream.end() == []
    # Read as a whole, nothing was sent, so the model is asked again.
    exchange = Exchange(responses, REQUEST, Options(stream_arguments=True, strict=True))
    assert exchange.whole(response(message(text))) is None


def test_the_error_event() -> None:
    assert responses.error(ValueError("no")) == {
        "type": "error",
        "code": "server_error",
        "message": "no",
        "param": None,
        "sequence_number": 0,
    }
    with pytest.raises(CallFailed) as info:
        read_whole([response(message(BAD))], Options(on_error="raise"))
    assert info.value.error is not None
    assert responses.error(info.value)["code"] == info.value.error.kind
    with pytest.raises(CallFailed):
        read_stream([streamed(response(message(BAD)))], Options(on_error="raise"))


def test_annotations_and_logprobs_fit_in_front_of_the_first_call() -> None:
    def cites(start: int, end: int) -> Json:
        return {"type": "url_citation", "start_index": start, "end_index": end, "url": "u", "title": "t"}

    tokens = [
        {"token": token, "logprob": -1.0} for token in ("See ", "this. ", "<call>f", " x=1</call>", " End.")
    ]
    text = "".join(token["token"] for token in tokens)
    fitting = [cites(0, 4), cites(5, 10), {"type": "file_path"}]
    part = output_text(text, annotations=[*fitting, cites(5, 11), cites(26, 29)], logprobs=tokens)
    whole, _ = read_whole([response(message(part))], Options())
    first, _, second = whole["output"]
    assert first["content"][0]["annotations"] == fitting
    assert first["content"][0]["logprobs"] == tokens[:2]
    assert (second["content"][0]["annotations"], second["content"][0]["logprobs"]) == ([], [])

    unsplit = message(output_text("See this.", annotations=[cites(0, 4)], logprobs=tokens[:1]))
    events, _ = read_stream([streamed(response(unsplit))], Options())
    assert accumulate(events) == [unsplit]
    assert "output_text.annotation.added" in kinds(events)


def test_unknown_events_pass_with_a_new_number() -> None:
    events = streamed(response(message(GOOD)))
    unknown = [{"type": "response.new", "sequence_number": 90}, {"type": "keepalive", "sequence_number": 91}]
    sent, _ = read_stream([[*events[:-1], *unknown, events[-1]]], Options())
    passed = [{**event, "sequence_number": 0} for event in sent]
    assert [event for event in passed if event["type"] in ("response.new", "keepalive")] == [
        {**event, "sequence_number": 0} for event in unknown
    ]
    assert [event["sequence_number"] for event in sent] == list(range(len(sent)))


@pytest.mark.parametrize("kept", [("output_item.done",), ("output_item.added", "output_text.delta"), ()])
def test_servers_that_leave_events_out(kept: tuple[str, ...]) -> None:
    whole = response(message(f"Look. {GOOD} Done."), native_call())
    events = [
        event
        for event in streamed(whole)
        if event["type"].removeprefix("response.") in (*kept, "created", "completed")
        or (kept and event.get("output_index") == 1)
    ]
    sent, _ = read_stream([events], Options())
    assert sent[-1]["response"]["output"] == accumulate(sent)
    assert plain(accumulate(sent)) == plain(read_whole([whole], Options())[0]["output"])
