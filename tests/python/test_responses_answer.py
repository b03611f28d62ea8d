"""Answers of the Responses API: whole and streamed they become the same, and what is not ours stays."""

from typing import Any

import pytest

from responses_peers import (
    BAD,
    GOOD,
    REQUEST,
    accumulate,
    interleaved,
    kinds,
    leaving_out,
    message,
    native_call,
    output_text,
    plain,
    read_stream,
    read_whole,
    response,
    search,
    streamed,
)
from wirecall._apis.exchange import Exchange
from wirecall._apis.responses.api import api as responses
from wirecall._text.notices import Notice
from wirecall._text.options import Options
from wirecall._text.parts import ToolCallError

Json = dict[str, Any]


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


def test_a_message_without_calls_stays_beside_one_with_a_call() -> None:
    words = message("Just words.", phase="commentary")
    whole, _ = read_whole([response(words, message(GOOD, id="msg_2"))], Options())
    assert [item["type"] for item in whole["output"]] == ["message", "function_call"]
    assert whole["output"][0] is words


@pytest.mark.parametrize("empty", [message(), message(""), message("", "")])
def test_an_empty_message_stays_as_empty(empty: Json) -> None:
    given_answer = response(empty)
    assert read_whole([given_answer], Options())[0]["output"] == [empty]
    sent, _ = read_stream([streamed(given_answer)], Options())
    assert accumulate(sent) == sent[-1]["response"]["output"]
    assert [item["id"] for item in accumulate(sent)] == ["msg_1"]


def test_messages_of_one_id_become_messages_of_several() -> None:
    given_answer = response(message(f"A {GOOD} B"), message("C"), message("D"))
    for output in (
        read_whole([given_answer], Options())[0]["output"],
        accumulate(read_stream([streamed(given_answer)], Options())[0]),
    ):
        spoken = [item for item in output if item["type"] == "message"]
        assert [item["id"] for item in spoken] == ["msg_1", "msg_1_2", "msg_1_3", "msg_1_4"]


def test_a_retry_goes_on_in_the_same_stream() -> None:
    first = response(message(f"Look. {BAD}"), id="resp_1")
    second = response(message(f"Again. {GOOD}", id="msg_2"), id="resp_2")
    heard: list[Notice] = []
    events, exchange = read_stream([streamed(first), streamed(second)], Options(on_event=heard.append))
    spoken, call = accumulate(events)
    assert (spoken["id"], spoken["content"][0]["text"]) == ("msg_1", "Look. \n\nAgain. ")
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


def test_a_retry_that_brings_nothing_leaves_nothing_open() -> None:
    first = streamed(response(message(f"Look. {BAD}")))
    for second in (streamed(response(id="resp_2")), []):
        sent, _ = read_stream([first, second], Options())
        (only,) = accumulate(sent)
        assert (only["status"], only["content"][0]["text"]) == ("completed", "Look. ")


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
        assert exchange.state is not None
        assert exchange.state.attempt == 0
        assert [item["type"] for item in whole["output"]] == [item["type"] for item in output]
        assert "but the call could not be read." in str(whole["output"])


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
    assert only["content"][0]["text"] == "Look. "


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
    output = [message("<call>f x=1 ", status=item_status)]
    if followed:
        # Then it was over before whatever happened to the answer.
        output.append({"type": "reasoning", "id": "rs_1", "summary": []})
        read = item_status == "completed"
    given_answer = response(*output, status=status, incomplete_details={"reason": reason})
    whole, _ = read_whole([given_answer], Options(on_error="text"))
    assert whole["output"][0]["type"] == ("function_call" if read else "message")


@pytest.mark.parametrize(
    ("behind", "about", "read"),
    [
        ("response.search.searching", 0, True),
        ("response.output_item.done", 0, True),
        ("response.output_text.done", 1, False),
        ("response.output_item.done", 1, False),
    ],
)
def test_what_comes_behind_a_message_from_another_item_says_that_it_was_not_cut_off(
    behind: str, about: int, read: bool
) -> None:
    cut_off = response(
        search(),
        message("<call>f x=1 "),
        status="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    )
    *events, last = streamed(cut_off)
    of_search = [event for event in events if event.get("output_index") == 0]
    late = next(event for event in events if (event["type"], event.get("output_index")) == (behind, about))
    given_events = [*(event for event in events if event not in of_search[1:]), late, last]
    sent, _ = read_stream([given_events], Options(on_error="text"))
    assert sent[-1]["response"]["output"][1]["type"] == ("function_call" if read else "message")


def test_items_that_are_no_messages_may_end_late() -> None:
    whole = response(search(), message(f"Look. {GOOD} Done."), search("ws_2"), message("End.", id="msg_2"))
    events = interleaved(streamed(whole), [100, 0, 3])
    assert kinds(events)[-4:] == ["search.searching", "output_item.done", "output_item.done", "completed"]
    sent, _ = read_stream([events], Options())
    read = accumulate(sent, in_turn=False)
    assert plain(read) == plain(read_whole([whole], Options())[0]["output"])
    assert sent[-1]["response"]["output"] == read


@pytest.mark.parametrize("behind", [output_text("Done."), {"type": "refusal", "refusal": "I will not."}])
def test_a_part_ends_where_the_next_one_begins(behind: Json) -> None:
    # The answer was cut off, but not in its first part.
    given_answer = response(message("<call>f x=1 ", behind), status="incomplete")
    whole, _ = read_whole([given_answer], Options())
    call, rest = whole["output"]
    assert (call["name"], call["arguments"]) == ("f", '{"x":1}')
    assert rest["content"] == [behind]


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
    assert not stream.should_retry
    (only,) = accumulate(sent)
    assert only["status"] == "incomplete"
    assert only["content"][0]["text"] == "Look. "
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


def test_nothing_is_told_behind_the_end_of_a_stream() -> None:
    heard: list[Notice] = []
    stream = Exchange(responses, REQUEST, Options(stream_arguments=True, on_event=heard.append)).stream()
    text = '<call>f x={"a":1,,}</call> <call>g x=1'
    for event in streamed(response(message(text)), (len(text),))[:-4]:
        stream.feed(event)
    assert stream.ended
    before = len(heard)
    assert stream.end() == []
    assert heard[before:] == []


def test_the_error_event() -> None:
    assert responses.stream_error(ValueError("no")) == {
        "type": "error",
        "code": "server_error",
        "message": "no",
        "param": None,
        "sequence_number": 0,
    }
    with pytest.raises(ToolCallError) as info:
        read_whole([response(message(BAD))], Options(on_error="raise"))
    assert info.value.error is not None
    assert responses.stream_error(info.value)["code"] == info.value.error.kind
    with pytest.raises(ToolCallError):
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


@pytest.mark.parametrize("late", [False, True])
def test_an_annotation_that_comes_behind_the_call_is_lost(late: bool) -> None:
    cited = {"type": "url_citation", "start_index": 0, "end_index": 4, "url": "u", "title": "t"}
    text = f"See. {GOOD}"
    events = streamed(response(message(output_text(text, annotations=[cited]))), (5, 3, len(text)))
    begins, ends = (at for at, event in enumerate(events) if event.get("delta") in ("<ca", text[8:]))
    (annotation,) = (event for event in events if "annotation" in event)
    # As providers do: after the text that it is about.
    events.insert(ends + 1 if late else begins + 1, annotation)
    events.remove(annotation)
    sent, _ = read_stream([events], Options())
    first, _ = accumulate(sent)
    assert first["content"][0]["annotations"] == ([] if late else [cited])


def test_unknown_events_pass_with_a_new_number() -> None:
    events = streamed(response(message(GOOD)))
    unknown = [{"type": "response.new", "sequence_number": 90}, {"type": "keepalive", "sequence_number": 91}]
    sent, _ = read_stream([[*events[:-1], *unknown, events[-1]]], Options())
    passed = [{**event, "sequence_number": 0} for event in sent]
    assert [event for event in passed if event["type"] in ("response.new", "keepalive")] == [
        {**event, "sequence_number": 0} for event in unknown
    ]
    assert [event["sequence_number"] for event in sent] == list(range(len(sent)))


def with_logprobs(*tokens: str) -> Json:
    return output_text("".join(tokens), logprobs=[{"token": token, "logprob": -1.0} for token in tokens])


@pytest.mark.parametrize("kept", [("output_item.done",), ("output_item.added", "output_text.delta"), ()])
def test_servers_that_leave_events_out(kept: tuple[str, ...]) -> None:
    whole = response(message(with_logprobs("Look. ", GOOD, " Done.")), native_call())
    sent, _ = read_stream([leaving_out(streamed(whole), kept)], Options())
    deltas = "output_text.delta" in kept
    output = accumulate(sent, all_deltas=deltas)
    assert sent[-1]["response"]["output"] == output
    assert plain(output) == plain(read_whole([whole], Options())[0]["output"])


def test_each_logprob_comes_with_one_delta() -> None:
    tokens = ("a ", "<", " b", " <call>f", " x=1</call>", " c", " d")
    whole = response(message(with_logprobs(*tokens)))
    sent, _ = read_stream([streamed(whole, tuple(map(len, tokens)))], Options())
    deltas = [event for event in sent if event["type"] == "response.output_text.delta"]
    assert [event["delta"] for event in deltas] == ["a ", "< b", " ", " c", " d"]
    carried = [[one["token"] for one in event["logprobs"]] for event in deltas]
    assert carried == [["a "], ["<", " b"], [" <call>f"], [" x=1</call>", " c"], [" d"]]


def test_a_text_without_logprobs_gets_none() -> None:
    part = {"type": "output_text", "text": f"Look. {GOOD} Done.", "annotations": []}
    sent, _ = read_stream([streamed(response(message(part)))], Options())
    begun = [event["part"] for event in sent if event["type"] == "response.content_part.added"]
    ended = [item["content"][0] for item in accumulate(sent) if item["type"] == "message"]
    assert len(begun) == len(ended) == 2
    assert all("logprobs" not in one for one in [*begun, *ended])
