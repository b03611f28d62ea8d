"""The codec alone, over an API that is as small as one can be: bytes in, bytes out."""

import json
import logging
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standin import TOOL, open_sync, stand_ins
from wirecall import ToolError
from wirecall._apis.base import UnsupportedRequestError
from wirecall._clients import sse
from wirecall._clients.byte_exchange import ByteExchange
from wirecall._clients.codec import Codec
from wirecall._text.options import Options

URL = "https://api.example.com/v1/chat/completions"
CALL = "<call>go to=Graz</call>"
BAD = "<call>go [object Object]</call>"
CALLED = {"call": "go", "arguments": '{"to":"Graz"}'}
DONE = b"data: [DONE]\n\n"


def codec(**options: Any) -> Codec:
    return Codec(Options(**options), stand_ins())


def opened(body: dict[str, Any] | None = None, **options: Any) -> ByteExchange:
    request = {"tools": [TOOL], "say": ["Hi"], **(body or {})}
    exchange = open_sync(codec(**options), URL, {}, json.dumps(request).encode())
    assert exchange is not None
    return exchange


def event(**data: object) -> bytes:
    return sse.format_event(data)


def answer(*texts: str, stop: str | None = "stop") -> bytes:
    stopped = event(stop=stop) if stop is not None else b""
    return b"".join(event(text=text) for text in texts) + stopped + DONE


def play(exchange: ByteExchange, *answers: list[bytes]) -> bytes:
    """Plays answers, one for each time the model is asked; comments are left out."""
    out = b""
    for number, chunks in enumerate(answers):
        out += b"".join(exchange.chunk(chunk) for chunk in chunks)
        out += exchange.end()
        assert exchange.should_retry == (number + 1 < len(answers))
    return out.replace(sse.KEEP_ALIVE, b"")


def read(stream: bytes) -> list[dict[str, Any]]:
    """The JSON of the events, texts side by side joined."""
    parser = sse.Parser()
    out: list[dict[str, Any]] = []
    for one in parser.feed(stream) + parser.finish():
        value = sse.load(one.data or b"")
        if value is None:
            continue
        if out and "said" in value and "said" in out[-1]:
            out[-1] = {"said": out[-1]["said"] + value["said"]}
        else:
            out.append(value)
    return out


# Requests ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "reads"),
    [
        (URL, True),
        ("/chat/completions", True),
        ("https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1", True),
        ("https://api.openai.com/v1/responses", True),
        ("https://api.openai.com/v1/responses/", True),
        ("https://api.openai.com/v1/responses/input_tokens", False),
        ("https://api.anthropic.com/v1/messages?beta=true", True),
        ("https://api.anthropic.com/v1/messages/count_tokens", False),
        ("https://api.openai.com/v1/responses/resp_1", None),
        ("https://api.openai.com/v1/responses/resp_1/cancel", None),
        ("https://api.anthropic.com/v1/messages/batches", None),
        ("https://api.openai.com/v1/embeddings", None),
        ("https://api.openai.com/v1/completions", None),
        ("https://api.openai.com/v1/files?x=/chat/completions", None),
    ],
)
def test_the_path_chooses(url: str, reads: bool | None) -> None:
    body = json.dumps({"tools": [TOOL]}).encode()
    exchange = open_sync(codec(), url, {}, body)
    assert codec().serves(url) == (reads is not None)
    assert (exchange.reads if exchange else None) == reads
    assert open_sync(codec(), url, {}, body, method="GET") is None
    assert not codec().serves(url, "GET")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'"tools"', b"\xff", json.dumps({"say": ["no tools"]}).encode(), b"[" * 100_000],
)
def test_what_needs_no_rewriting_is_left_alone(body: bytes) -> None:
    assert open_sync(codec(), URL, {}, body) is None


def test_a_request_is_rewritten() -> None:
    request = json.loads(opened({"say": ["Grüße"]}).request)
    assert "tools" not in request
    assert request["say"][1:] == ["Grüße"]
    assert "go to?" in request["say"][0]


def test_a_signed_body_is_refused_only_where_it_would_change() -> None:
    headers = {"Authorization": "AWS4-HMAC-SHA256 Credential=x"}
    assert open_sync(codec(), URL, headers, b'{"say":[]}') is None
    with pytest.raises(UnsupportedRequestError, match="signed"):
        open_sync(codec(), URL, headers, json.dumps({"tools": [TOOL]}).encode())


def test_overrides_are_of_one_request_and_stay_here() -> None:
    one = codec(on_error="text")
    body = {"tools": [TOOL], "wirecall": {"on_error": "retry", "manual_header": "Only today:"}}
    changed = open_sync(one, URL, {}, json.dumps(body).encode())
    plain = open_sync(one, URL, {}, json.dumps({"tools": [TOOL]}).encode())
    assert changed is not None
    assert plain is not None
    assert "wirecall" not in json.loads(changed.request)
    assert b"Only today:" in changed.request
    assert b"Only today:" not in plain.request
    assert changed.whole(json.dumps({"text": BAD, "stop": "stop"}).encode()) is None
    assert plain.whole(json.dumps({"text": BAD, "stop": "stop"}).encode()) is not None


def test_overrides_leave_an_untouched_request_too() -> None:
    exchange = open_sync(codec(), URL, {}, b'{"say":["x"],"wirecall":{}}')
    assert exchange is not None
    assert (exchange.request, exchange.reads) == (b'{"say":["x"]}', False)


@pytest.mark.parametrize(
    ("overrides", "error"),
    [
        (1, TypeError),
        ({"on_eror": "text"}, TypeError),
        ({"on_error": "maybe"}, ValueError),
        (None, TypeError),
    ],
)
def test_wrong_overrides_are_errors(overrides: object, error: type[Exception]) -> None:
    body = json.dumps({"tools": [TOOL], "wirecall": overrides}).encode()
    with pytest.raises(error):
        open_sync(codec(), URL, {}, body)


def test_a_wrong_tool_is_an_error() -> None:
    with pytest.raises(ToolError):
        open_sync(codec(), URL, {}, b'{"tools":[{"name":"go","input_schema":{"type":7}}]}')


@pytest.mark.parametrize("url", [URL, "https://api.anthropic.com/v1/messages"])
def test_a_refusal_has_the_shape_of_its_api(url: str) -> None:
    with pytest.raises(UnsupportedRequestError) as raised:
        open_sync(codec(), url, {}, b'{"tools":[],"held_by_server":1}')
    status, body = codec().reply(url, raised.value)
    assert status == 400
    given = json.loads(body)
    assert given["error"]["message"] == "The server holds the history."
    assert given["error"]["type"] == "invalid_request_error"
    assert (given.get("type") == "error") == ("messages" in url)


# Whole answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"error": {"message": "x"}}', b'{ "id" : 1.10 }'])
def test_what_is_no_answer_passes_byte_for_byte(body: bytes) -> None:
    assert opened().whole(body) == body


def test_a_mark_in_front_of_a_body_hides_nothing() -> None:
    body = json.dumps({"text": CALL, "stop": "stop"}).encode()
    plain, marked = opened().whole(body), opened().whole(b"\xef\xbb\xbf" + body)
    assert plain is not None
    assert marked is not None
    assert b"<call>" not in marked
    assert json.loads(marked).keys() == json.loads(plain).keys()


def test_a_bad_call_is_asked_for_again() -> None:
    exchange = opened()
    assert exchange.whole(json.dumps({"text": "So: " + BAD, "stop": "stop"}).encode()) is None
    assert exchange.should_retry
    said = json.loads(exchange.request)["say"]
    assert said[1:3] == ["Hi", "So: " + BAD]
    assert said[3].startswith('<tool-error name="go">')
    body = exchange.whole(json.dumps({"text": CALL, "stop": "stop"}).encode())
    assert body is not None
    assert not exchange.should_retry
    assert json.loads(body)["parts"] == [{"said": "So: "}, CALLED]


# Streams -------------------------------------------------------------------------------------------

passing = st.sampled_from(
    [
        b": ping\n\n",
        b"event: ping\ndata: {}\n\n",
        b'id: 3\ndata: { "unknown" : 1.10 }\n\n',
        b"data: {half\n\n",
        b"data: [1]\n\n",
        b"data:\r\n\r\n",
        b"retry: 100\n\n",
        b"data: \xff\xfe\n\n",
        b"\n\n",
    ]
)
texts = st.lists(
    st.sampled_from(["Grüße 🎈 ", CALL, BAD, "<cal", "<", " ", "<call>nothing</call>", "<think>no</think>"])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    max_size=5,
).map("".join)


def pieces(data: st.DataObject, whole: Any) -> list[Any]:
    places = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    return [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]


@given(st.lists(passing, max_size=6), st.data())
def test_what_the_api_leaves_alone_passes_byte_for_byte(events: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(events)
    out = play(opened(), pieces(data, stream + event(stop="length")))
    assert out == stream + event(stop="length")


@given(texts, texts, st.data())
def test_cuts_have_no_influence_and_whole_says_the_same(first: str, second: str, data: st.DataObject) -> None:
    def stream(text: str) -> bytes:
        events = [event(text=piece) for piece in pieces(data, text)] + [event(stop="stop")]
        return b"".join(b": ping\n\n" + one for one in events) + DONE

    streams = [stream(first), stream(second)]
    exchange = opened()
    body = exchange.whole(json.dumps({"text": first, "stop": "stop"}).encode())
    attempts = 1
    if body is None:
        attempts = 2
        body = exchange.whole(json.dumps({"text": second, "stop": "stop"}).encode())
    assert body is not None
    out = play(opened(), *[[one] for one in streams[:attempts]])
    assert play(opened(), *[pieces(data, one) for one in streams[:attempts]]) == out
    assert out.endswith(DONE)
    assert out.count(DONE) == 1
    said = [event(**part) for part in json.loads(body)["parts"]]
    assert read(out) == read(b"".join(said) + event(stop="stop"))


@given(texts, st.data())
def test_a_drop_at_any_byte_loses_nothing_that_was_said(text: str, data: st.DataObject) -> None:
    stream = b"".join(event(text=piece) for piece in pieces(data, text))
    at = data.draw(st.integers(0, len(stream)))
    whole = opened(on_error="text")
    body = whole.whole(json.dumps({"text": text, "stop": "length"}).encode())
    assert body is not None
    exchange = opened(on_error="text")
    *events, half = stream[:at].split(b"\n\n")
    lines = [sse.load(line[6:]) for line in events]
    arrived = "".join(line["text"] for line in lines if line)
    sent = play(exchange, [stream[:at]])
    # Parsers that require the blank line drop the last event; others get it unchanged.
    assert sent.endswith(half)
    out = read(sent.removesuffix(half))
    assert exchange.ended
    assert out[-1:] == [{"stop": None}] or out[-2:-1] == [{"stop": None}]
    ends = [part for part in out if "stop" not in part and "text" not in part]
    other = opened(on_error="text").whole(json.dumps({"text": arrived, "stop": None}).encode())
    assert other is not None
    assert ends == read(b"".join(event(**part) for part in json.loads(other)["parts"]))


@pytest.mark.parametrize("end", ["\r\r", "\n\r", "\r\n\r"])
def test_a_bare_line_end_may_end_the_last_event(end: str) -> None:
    """Its blank line is complete at the end of the stream only: a line feed could have followed."""
    last = event(text=CALL).strip() + end.encode()
    assert read(play(opened(), [event(text="Hi ") + last])) == [{"said": "Hi "}, CALLED, {"stop": None}]


def test_half_an_event_stands_behind_what_is_still_said() -> None:
    out = play(opened(), [event(text="Hi <cal") + b'data: {"text":"l'])
    assert out == event(said="Hi ") + event(said="<cal") + event(stop=None) + b'data: {"text":"l'


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"])
def test_a_last_event_without_its_blank_line_passes_unread(end: bytes) -> None:
    """wirecall does not read it, because the specification and the SDKs drop it."""
    for half in (b'data: {"stop":"stop"}', b"data: [DONE]", b'data: {"text":"</call>"}', b"id: 5"):
        out = play(opened(), [event(text="Hi <") + half + end])
        assert out == event(said="Hi ") + event(said="<") + event(stop=None) + half + end


def test_what_is_still_due_goes_out_before_done() -> None:
    out = play(opened(), [answer("Hi <", stop=None)])
    assert out == event(said="Hi ") + event(said="<") + event(stop=None) + DONE


def test_a_comment_goes_out_while_a_call_is_held_and_never_else() -> None:
    exchange = opened(keep_alive=0)
    assert exchange.chunk(event(text="Hi")) == event(said="Hi")
    assert exchange.chunk(event(text=" ")) != sse.KEEP_ALIVE
    assert exchange.chunk(event(text="<call>go to=")) == sse.KEEP_ALIVE
    assert exchange.chunk(b'data: {"te') == sse.KEEP_ALIVE
    assert exchange.chunk(b'xt":"Graz</call>"}\n\n') == event(**CALLED)
    assert exchange.chunk(b'data: {"te') == b""


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("keep_alive", [None, 0.5, 10])
def test_comments_go_out_after_so_many_seconds_of_silence(keep_alive: float | None) -> None:
    clock = Clock()
    request = {"tools": [TOOL], "say": ["Hi"]}
    exchange = open_sync(
        Codec(Options(keep_alive=keep_alive), stand_ins(), clock=clock), URL, {}, json.dumps(request).encode()
    )
    assert exchange is not None
    assert exchange.chunk(event(text="<call>go to=")) == b""
    sent = []
    for _ in range(45):
        clock.now += 1
        sent.append(exchange.chunk(event(text="x")))
    assert set(sent) <= {b"", sse.KEEP_ALIVE}
    assert sent.count(sse.KEEP_ALIVE) == {None: 0, 0.5: 45, 10: 4}[keep_alive]
    assert b'"call":"go"' in exchange.chunk(event(text="</call>"))
    # Silence is counted from the last output.
    clock.now += 9
    assert exchange.chunk(event(text="<call>go to=")) in (b"", sse.KEEP_ALIVE * (keep_alive == 0.5))
    clock.now += 1
    assert exchange.chunk(event(text="x")) == (b"" if keep_alive is None else sse.KEEP_ALIVE)


def test_a_comment_dispatches_nothing() -> None:
    """A reader that keeps the last `id:` dispatches an event at each blank line."""
    exchange = opened(keep_alive=0)
    sent = [
        exchange.chunk(b"id: 1\n" + event(text=text)) for text in ("Hi ", "<call>go to=", "Graz", "</call>")
    ]
    assert sent[1:3] == [sse.KEEP_ALIVE] * 2
    out = b"".join(sent) + exchange.end()
    assert out.count(b"\n\n") == out.count(b"data: ")


def test_events_keep_the_fields_of_the_event_that_they_replace() -> None:
    exchange = opened()
    texts = ("Hi ", "<call>go ", "to=Graz</call>")
    out = b"".join(
        exchange.chunk(b"id: %d\nretry: 9\nevent: said\n%s" % (number, event(text=text)))
        for number, text in enumerate(texts)
    )
    parsed = sse.Parser().feed(out)
    assert [one.others for one in parsed] == [b"id: 0\nretry: 9\n", b"id: 2\nretry: 9\n"]
    assert {one.name for one in parsed} == {b"said"}


def test_an_id_never_goes_back() -> None:
    """The id of an event that was swallowed is not sent after a later one."""
    exchange = opened()
    out = exchange.chunk(b"id: 1\n" + event(text="Hi ")) + exchange.chunk(
        b"id: 2\n" + event(text="<call>go to=")
    )
    out += exchange.chunk(b"id: 3\n: ping\n\n") + exchange.chunk(event(text="Graz</call>"))
    assert re.findall(rb"id: (\d)", out) == [b"1", b"3"]


def test_an_id_is_never_lost() -> None:
    """The id of an event that was swallowed is that of the next event."""
    exchange = opened()
    out = exchange.chunk(b"id: 1\n" + event(text="<call>go to=")) + exchange.chunk(b": ping\n\n")
    assert out == b": ping\n\n"
    assert exchange.chunk(event(unknown=1)) == b"id: 1\n" + event(unknown=1)
    assert exchange.chunk(event(unknown=2)) == event(unknown=2)
    exchange.chunk(b"id: 2\nretry: 3\n" + event(text="x"))
    exchange.chunk(b"retry: 4\n" + event(text="y"))
    assert exchange.chunk(event(text="</call>")).startswith(b"id: 2\nretry: 4\ndata: ")


def test_errors_and_pings_do_not_name_other_events() -> None:
    exchange = opened()
    error = b'event: error\ndata: {"unknown":1}\n\n'
    out = exchange.chunk(b"event: said\n" + event(text="Hi <")) + exchange.chunk(error) + exchange.end()
    assert [one.name for one in sse.Parser().feed(out)] == [b"said", b"said", b"said", b"error"]


@pytest.mark.parametrize("data", [b"", b"Overloaded", b'["Overloaded"]', b'{"message":"Overloaded"}', b"{}"])
def test_nothing_is_retried_after_an_error_event_of_any_form(data: bytes) -> None:
    exchange = opened()
    error = b"event: error\ndata: " + data + b"\n\n"
    out = exchange.chunk(event(text=f"Hi {BAD}")) + exchange.chunk(error) + exchange.chunk(event(stop="stop"))
    assert exchange.end() == b""
    assert not exchange.should_retry
    assert error in out


def test_until_the_second_answer_begins_a_comment_goes_out() -> None:
    exchange = opened(keep_alive=0)
    exchange.chunk(answer(BAD))
    assert exchange.end() == sse.KEEP_ALIVE
    assert exchange.should_retry


def test_a_failure_waits_for_what_was_said_before_it() -> None:
    exchange = opened(on_error="raise")
    assert exchange.chunk(event(text="Hi ") + event(text=BAD) + event(text="more")) == event(said="Hi ")
    assert exchange.ended
    assert exchange.failure is not None
    assert exchange.failure.error is not None
    assert exchange.chunk(event(text="more")) == exchange.end() == b""


def test_a_failure_at_the_end_of_the_stream_is_kept_too() -> None:
    exchange = opened(on_error="raise", keep_alive=0)
    assert exchange.chunk(event(text="<call>go to=")) == sse.KEEP_ALIVE
    assert exchange.end() == b""
    assert exchange.failure is not None


def test_a_call_that_fails_after_its_first_fragment_ends_the_stream() -> None:
    exchange = opened(stream_arguments=True)
    out = exchange.chunk(event(text='<call>go to="Graz" at={"x":') + event(text="[}</call>") + answer("more"))
    out += exchange.end()
    assert exchange.ended
    seen = read(out)
    assert seen[0] == {"begun": "go"}
    assert "error" in seen[-1]
    assert b"more" not in out
    assert DONE not in out


def test_an_endless_event_ends_the_stream_with_an_error() -> None:
    request = {"tools": [TOOL], "say": ["Hi"]}
    limited = Codec(Options(), stand_ins(), max_event_bytes=1000)
    exchange = open_sync(limited, URL, {}, json.dumps(request).encode())
    assert exchange is not None
    out = exchange.chunk(event(text="Hi <"))
    out += exchange.chunk(b"data: " + b"x" * 2000)
    assert exchange.ended
    assert exchange.end() == b""
    *said, error = read(out)
    assert said == [{"said": "Hi <"}, {"stop": None}]
    assert "longer than 1000 bytes" in error["error"]["message"]


def test_failing_says_what_was_held_first() -> None:
    exchange = opened()
    exchange.chunk(event(text="<call>go [to]</call>"))
    out = read(exchange.fail("The server is gone."))
    assert out[-1] == {"error": {"message": "The server is gone."}}
    assert "could not be read" in out[0]["said"]
    assert exchange.fail("Again.") == b""


# Logs ----------------------------------------------------------------------------------------------

SECRET = "a secret that is longer than thirty-two characters"


def test_no_bodies_are_logged_unless_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "wirecall")
    exchange = opened({"say": [SECRET]})
    play(exchange, [answer(SECRET, BAD)], [answer(CALL)])
    exchange = opened({"say": [SECRET]})
    exchange.whole(json.dumps({"text": SECRET, "stop": "stop"}).encode())
    assert not re.search("secret|Graz|say", caplog.text)


def test_debug_logs_a_line_and_no_bodies(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "wirecall")
    exchange = opened({"say": [SECRET, "short"]}, debug=True)
    play(exchange, [answer(SECRET, CALL)])
    exchange.finish()
    opened({"say": ["short"]}, debug=True).whole(json.dumps({"text": SECRET, "stop": "stop"}).encode())
    called, said = caplog.messages
    assert called.startswith("POST /v1/chat/completions model=None; calls; tools called: go; 1 attempt; ")
    assert said.startswith("POST /v1/chat/completions model=None; text; 1 attempt; ")
