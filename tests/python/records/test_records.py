"""The record of an exchange: what was sent, what came back, what was read in it, and when."""

import json
import logging
from typing import Any

import httpx2
import pytest
from hosts import BAD, CALL, HOSTS, PATHS, STREAMS, Broken, Host
from server import Answer, Failure, Usage

import wirecall
from wirecall import Record
from wirecall._clients import sse
from wirecall._text.record import Where
from wirecall._text.recorder import Recorder

every = pytest.mark.parametrize("host", HOSTS, ids=str)
streamed = pytest.mark.parametrize("host", STREAMS, ids=str)


def recorded(host: Host, script: Any, body: Any = None, **options: Any) -> Record:
    found: list[Record] = []
    host.ask(script, body, on_record=found.append, **options)
    [record] = found
    return record


@every
def test_what_was_asked_and_what_came_out(host: Host) -> None:
    record = recorded(host, [Answer(f"Look. {CALL}", usage=Usage(3, 5))], record_content=True)
    assert (record.api, record.method, record.path) == (host.api, "POST", PATHS[host.api])
    assert (record.model, record.stream, record.protocol, record.tools) == ("m", host.stream, "wire", ("go",))
    assert (record.outcome, record.error) == ("calls", None)
    [attempt] = record.attempts
    assert (attempt.reason, attempt.status) == ("first", 200)
    assert [event.kind for event in attempt.events] == ["text", "call_start", "call"]
    text, _, call = attempt.events
    assert (text.start, text.end, text.content) == (0, 6, "Look. ")
    assert (call.tool, call.start, call.end, call.content) == ("go", 6, 6 + len(CALL), '{"to":"Graz"}')
    assert attempt.request is not None
    assert "Where to?" in attempt.request
    assert "tools" not in json.loads(attempt.request)
    assert attempt.answer is not None
    assert "Look." in attempt.answer
    assert len(attempt.answer.encode()) == attempt.answer_length
    assert record.output is not None
    assert "call_" in record.output or "toolu_" in record.output
    assert 5 in record.usage.values()
    assert record.usage == attempt.usage


@every
def test_times_are_in_order(host: Host) -> None:
    record = recorded(host, [Answer(BAD), Answer(CALL)])
    times: list[float] = []
    for attempt in record.attempts:
        assert attempt.first_byte is not None
        assert attempt.end is not None
        within = [attempt.first_byte, *(event.time for event in attempt.events)]
        times += [attempt.sent, *within]
        assert times[-1] <= record.duration
        assert attempt.end <= record.duration
    assert times == sorted(times)
    assert record.started.utcoffset() is not None


@every
def test_each_attempt_is_there(host: Host) -> None:
    script = [Answer(BAD, usage=Usage(1, 10)), Answer(CALL, usage=Usage(100, 1000))]
    record = recorded(host, script, record_content=True)
    first, second = record.attempts
    assert (first.reason, second.reason, record.outcome) == ("first", "retry", "calls")
    assert [event.kind for event in first.events if event.kind != "call_start"] == ["error"]
    assert (first.events[-1].error, first.events[-1].content) == ("malformed_call", BAD)
    assert len(second.messages) > len(first.messages)
    # The same messages have the same hashes: what was added is seen at once.
    assert second.messages[: len(first.messages)] == first.messages
    assert 1010 in record.usage.values()


@every
def test_without_content_there_are_lengths_and_kinds(host: Host) -> None:
    record = recorded(host, [Answer(f"So {BAD}"), Answer(CALL)])
    for attempt in record.attempts:
        assert (attempt.request, attempt.answer) == (None, None)
        assert attempt.request_length > 0
        assert attempt.answer_length > 0
        assert [event.content for event in attempt.events] == [None] * len(attempt.events)
    [user] = [one for one in record.attempts[0].messages if one.role == "user"]
    assert (user.kinds, user.length) == (("text",), len("Where to?"))
    assert record.output is None


@every
@pytest.mark.parametrize(
    ("script", "options", "outcome", "error"),
    [
        ([Answer("Hi.")], {}, "text", None),
        ([Answer(BAD)], {"max_retries": 0}, "bad_call", "malformed_call"),
        ([Answer(BAD)], {"on_error": "raise"}, "bad_call", "malformed_call"),
        ([Answer(CALL)], {"native_when": lambda _: True}, "passed", None),
        ([Failure(429, "Slow down.")], {}, "http_error", None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_outcomes(host: Host, script: Any, options: Any, outcome: str, error: str | None) -> None:
    found: list[Record] = []
    try:
        host.ask(script, on_record=found.append, **options)
    except wirecall.ToolCallError:
        assert options == {"on_error": "raise"}
    [record] = found
    assert (record.outcome, record.error) == (outcome, error)
    assert record.attempts[-1].status == (429 if outcome == "http_error" else 200)


@every
def test_a_request_that_is_not_sent(host: Host) -> None:
    body = host.body() | {"tool_choice": {"type": "tool", "name": "no", "function": {"name": "no"}}}
    if host.api == "responses":
        body["tool_choice"] = {"type": "function", "name": "no"}
    elif host.api == "chat":
        body["tool_choice"]["type"] = "function"
    record = recorded(host, [], body)
    assert (record.outcome, record.error, record.attempts) == ("refused", "UnsupportedRequestError", ())


@every
def test_a_request_without_tools_is_recorded_and_passes(host: Host) -> None:
    body = host.body()
    del body["tools"]
    record = recorded(host, [Answer("Hi.", usage=Usage(3, 5))], body, record_content=True)
    assert (record.outcome, record.tools) == ("passed", ())
    assert 5 in record.usage.values()
    assert record.attempts[0].answer == record.output


@streamed
def test_a_stream_that_is_closed(host: Host) -> None:
    record = recorded(host, [Answer("All the words of a long answer.")], reads=1)
    assert record.outcome == "closed"


def texts(stream: bytes) -> str:
    """All that an application reads as text."""
    said = ""
    for line in stream.splitlines():
        data = sse.load(line.removeprefix(b"data: ")) or {}
        delta = data.get("delta")
        if isinstance(delta, dict):
            said += delta.get("text", "")
        elif data.get("type") == "response.output_text.delta":
            said += str(delta)
        for choice in data.get("choices", ()):
            said += choice["delta"].get("content") or ""
    return said


SAID = ["Look. <call>go to=Graz</call> Done.", "<call>go to=x</call>", f"{BAD} Sorry.", "a < b <"]


@streamed
@pytest.mark.parametrize("options", [{}, {"stream_arguments": True}, {"on_error": "text"}], ids=str)
@pytest.mark.parametrize("said", SAID)
def test_a_connection_that_breaks(host: Host, said: str, options: Any) -> None:
    """Wherever it breaks, what was read is a beginning of what is read of the whole: no half of a call."""
    whole = texts(host.ask([Answer(said)] * 2, **options))
    assert "<call" not in whole or options == {"on_error": "text"}
    for number in range(100):
        found: list[Record] = []
        pieces: list[bytes] = []
        broken = True
        try:
            host.ask([Broken(Answer(said), number)] * 2, pieces=pieces, on_record=found.append, **options)
            broken = False
        except httpx2.ReadError:
            assert [(one.outcome, one.error) for one in found] == [("broken", "ReadError")]
        text = texts(b"".join(pieces))
        assert whole.startswith(text)
        if not broken:
            break
    assert text == whole
    assert 5 < number < 100


@every
def test_a_callback_that_fails_changes_nothing(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    def fails(record: Record) -> None:
        raise ValueError("a secret")

    with caplog.at_level(logging.WARNING, "wirecall"):
        assert b"Graz" in host.ask([Answer(CALL)], on_record=fails)
    assert caplog.messages == ["on_record raised ValueError"]


@every
def test_debug_logs_the_line_of_the_record(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "wirecall"):
        record = recorded(host, [Answer(BAD), Answer(CALL)], debug=True, record_content=True)
    [line] = [one.getMessage() for one in caplog.records if one.levelno == logging.DEBUG]
    assert line == str(record)
    start = f"POST {PATHS[host.api]} model=m; calls; tools called: go; 2 attempts; "
    assert line.startswith(start)
    with caplog.at_level(logging.INFO, "wirecall"):
        caplog.clear()
        host.ask([Answer(CALL)], debug=False)
    assert caplog.messages == []


def test_texts_in_a_row_are_one_event() -> None:
    record = recorded(STREAMS[0], [Answer("All the words of a long answer.")], record_content=True)
    [text] = record.attempts[0].events
    assert (text.start, text.end, text.content) == (0, 31, "All the words of a long answer.")


def test_each_text_of_an_answer_has_its_number() -> None:
    host = Host("messages", False, True)
    record = recorded(host, [Answer([f"One {CALL}", f"Two {CALL}"])])
    assert [event.text for event in record.attempts[0].events if event.kind == "call"] == [0, 1]


@pytest.mark.parametrize("stream", [False, True])
def test_hooks_record_too(stream: bool) -> None:
    found: list[Record] = []
    tools = wirecall.compact_tools(on_record=found.append, record_content=True)
    request = Host("chat", False, stream).body()

    def whole(_: Any) -> Any:
        message = {"role": "assistant", "content": CALL}
        return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {"total": 3}}

    def chunks(_: Any) -> Any:
        yield {"choices": [{"index": 0, "delta": {"content": CALL}, "finish_reason": None}]}
        yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"total": 3}}

    if stream:
        list(tools.wrap_stream(chunks, request))
    else:
        tools.wrap_generate(whole, request)
    [record] = found
    assert (record.method, record.path, record.outcome) == (None, None, "calls")
    assert record.attempts[0].status is None
    assert record.usage == {"total": 3}
    assert record.output is not None
    assert '"tool_calls"' in record.output


def test_hooks_record_a_source_that_fails() -> None:
    found: list[Record] = []
    tools = wirecall.compact_tools(on_record=found.append)
    request = Host("chat", False, True).body()

    def chunks(_: Any) -> Any:
        yield {"choices": [{"index": 0, "delta": {"content": "Hi <call>go"}, "finish_reason": None}]}
        raise ConnectionError("gone")

    def refuses(_: Any) -> Any:
        raise ConnectionError("gone")

    for source in (chunks, refuses):
        with pytest.raises(ConnectionError):
            list(tools.wrap_stream(source, request))
    assert [(one.outcome, one.error) for one in found] == [
        ("broken", "ConnectionError"),
        ("failed", "ConnectionError"),
    ]


def test_a_key_that_the_model_quotes_in_pieces_is_not_in_the_text() -> None:
    records: list[Record] = []
    where = Where.of("POST", "https://host/v1", {"Authorization": "Bearer sk-secret-0123456789"})
    recorder = Recorder(records.append, content=True, logs=False, api="chat", request={}, where=where)
    recorder.begin_attempt({"messages": []}, b"{}", [], "first")
    at = 0
    for piece in ("Your key is sk-sec", "ret-01234", "56789, is it?"):
        recorder.add_text(0, at, piece)
        at += len(piece)
    recorder.add_event("call", None, "go sk-secret-0123456789")
    recorder.finish("passed", None, {})
    text, call = records[0].attempts[0].events
    assert "sk-secret" not in f"{text.content} {call.content}"
    assert text.content is not None
    assert (text.start, text.end) == (0, at)
