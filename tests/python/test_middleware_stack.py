"""Middlewares of the codec: who gets which request, and who hears what the answer used."""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

import wirecall
from standin import TOOL, open_sync, stand_ins
from wirecall._clients import sse
from wirecall._clients.byte_exchange import ByteExchange
from wirecall._clients.codec import Codec
from wirecall._clients.middleware import MiddlewareStack
from wirecall._text.options import Options

URL = "https://api.example.com/v1/chat/completions"
PLAIN = b'{"model": "m",  "messages": []}'
USED = b'data: {"choices": [],  "usage": {"prompt_tokens": 7}}\n\n'
CALL = "<call>go to=Graz</call>"
BAD = "<call>go [object Object]</call>"

Request = Mapping[str, Any]


@dataclass
class Noting:
    """Changes requests, and notes all that it is given."""

    change: Callable[[Request], Any] = lambda request: request
    asked: list[tuple[Any, ...]] = field(default_factory=list)
    heard: list[tuple[Any, ...]] = field(default_factory=list)

    def on_request(self, request: Request, *, api: str, session: str | None = None) -> Any:
        self.asked.append(("sync", api, session))
        return self.change(request)

    async def aon_request(self, request: Request, *, api: str, session: str | None = None) -> Any:
        await asyncio.sleep(0)
        self.asked.append(("async", api, session))
        return self.change(request)

    def on_usage(self, body: Mapping[str, Any], *, api: str, session: str | None = None) -> None:
        self.heard.append((body, api, session))


def saying(word: str) -> Callable[[Request], Request]:
    return lambda request: {**request, "say": [*request.get("say", ()), word]}


def codec(*members: Any, **options: Any) -> Codec:
    return Codec(Options(**options), stand_ins(), MiddlewareStack(members))


def opened(of: Codec, body: bytes | dict[str, Any], url: str = URL) -> ByteExchange:
    """For a sync and for an async client, which is the same."""
    written = body if isinstance(body, bytes) else json.dumps(body).encode()
    first = open_sync(of, url, {}, written)
    second = asyncio.run(of.open(url, {}, written, is_async=True))
    assert first is not None
    assert second is not None
    assert (first.request, first.reads) == (second.request, second.reads)
    return first


def test_in_their_order_before_tools_are_rewritten() -> None:
    first, second = Noting(saying("one")), Noting(saying("two"))
    exchange = opened(codec(first, second), {"tools": [TOOL], "say": ["Hi"]})
    sent = json.loads(exchange.request)
    assert "tools" not in sent
    assert sent["say"][-3:] == ["Hi", "one", "two"]
    assert first.asked == second.asked == [("sync", "chat", None), ("async", "chat", None)]


@pytest.mark.parametrize(
    ("path", "format"), [("chat/completions", "chat"), ("responses", "responses"), ("messages", "messages")]
)
def test_they_are_told_the_format_and_the_session(path: str, format: str) -> None:
    noting = Noting()
    body = {"say": ["Hi"], "wirecall": {"session": "s1", "on_error": "text"}}
    exchange = opened(codec(noting), body, f"https://api.example.com/v1/{path}")
    assert json.loads(exchange.request) == {"say": ["Hi"]}
    assert noting.asked == [("sync", format, "s1"), ("async", format, "s1")]
    exchange.whole(b'{"usage": {"n": 1}}')
    assert noting.heard == [({"usage": {"n": 1}}, format, "s1")]


def test_a_session_is_a_text() -> None:
    with pytest.raises(TypeError, match="session must be a str, not int"):
        open_sync(codec(), URL, {}, b'{"wirecall": {"session": 1}}')
    # Nobody needs to listen.
    exchange = open_sync(codec(), URL, {}, b'{"say": [], "wirecall": {"session": "a"}}')
    assert exchange is not None
    assert exchange.request == b'{"say":[]}'


@pytest.mark.parametrize("path", ["responses/input_tokens", "messages/count_tokens"])
def test_a_token_count_is_not_transformed(path: str) -> None:
    noting = Noting(saying("more"))
    url = f"https://api.example.com/v1/{path}"
    assert open_sync(codec(noting), url, {}, PLAIN) is None
    exchange = open_sync(codec(noting), url, {}, json.dumps({"tools": [TOOL], "say": ["Hi"]}).encode())
    assert exchange is not None
    assert not exchange.reads
    assert "more" not in json.loads(exchange.request)["say"]
    assert noting.asked == []


def test_what_nobody_changes_passes_byte_for_byte() -> None:
    noting = Noting()
    exchange = opened(codec(noting), PLAIN)
    assert exchange.request == PLAIN
    body = b'{"usage":  {"prompt_tokens": 7}}'
    assert exchange.whole(body) is body
    assert noting.heard == [({"usage": {"prompt_tokens": 7}}, "chat", None)]


def test_a_signed_request_passes_as_long_as_nobody_changes_it() -> None:
    signed = {"Authorization": "AWS4-HMAC-SHA256 x"}
    exchange = open_sync(codec(Noting()), URL, signed, PLAIN)
    assert exchange is not None
    assert exchange.request == PLAIN
    with pytest.raises(wirecall.UnsupportedRequestError, match="signed"):
        open_sync(codec(Noting(saying("x"))), URL, signed, PLAIN)


def test_what_only_a_middleware_changes_is_sent_so() -> None:
    exchange = opened(codec(Noting(saying("x"))), PLAIN)
    assert json.loads(exchange.request) == {"model": "m", "messages": [], "say": ["x"]}
    assert exchange.chunk(USED) == USED


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_no_chunk_of_an_untouched_stream_waits(size: int) -> None:
    noting = Noting()
    exchange = opened(codec(noting), PLAIN)
    stream = b": hi\r\n\r\n" + b'data: {"usage": null}\n\n' + USED + b"data: [DONE]\n\nhalf"
    for start in range(0, len(stream), size):
        assert exchange.chunk(stream[start : start + size]) == stream[start : start + size]
    assert exchange.end() == b""
    assert exchange.ended
    assert [body["usage"] for body, _, _ in noting.heard] == [{"prompt_tokens": 7}]


def test_the_last_event_of_an_untouched_stream_may_lack_its_blank_line() -> None:
    noting = Noting()
    exchange = opened(codec(noting), PLAIN)
    assert exchange.chunk(USED[:-1]) == USED[:-1]
    assert exchange.end() == b""
    assert len(noting.heard) == 1


def test_an_event_that_never_ends_passes() -> None:
    noting = Noting()
    limited = Codec(Options(), stand_ins(), MiddlewareStack([noting]), max_event_bytes=100)
    exchange = opened(limited, PLAIN)
    for chunk in (b"data: " + b"x" * 200, b"y", b"\n\n", USED):
        assert exchange.chunk(chunk) == chunk
    assert exchange.end() == b""
    assert noting.heard == []


@pytest.mark.parametrize("key", [None, "response", "message"])
def test_usage_is_heard_where_the_apis_have_it(key: str | None) -> None:
    noting = Noting()
    of = Codec(Options(), stand_ins(usage_key=key), MiddlewareStack([noting]))
    exchange = opened(of, {"tools": [TOOL], "say": ["Hi"]})
    usage: dict[str, Any] = {"usage": {"n": 1}}
    body = usage if key is None else {"type": "x", key: usage}
    exchange.chunk(sse.format_event(body) + sse.format_event({"usage": None}))
    exchange.chunk(sse.format_event({"text": "a"}))
    assert [one for one, _, _ in noting.heard] == [body]


def test_what_is_asked_again_is_neither_transformed_nor_heard() -> None:
    noting = Noting(saying("more"))
    exchange = open_sync(codec(noting), URL, {}, json.dumps({"tools": [TOOL], "say": ["Hi"]}).encode())
    assert exchange is not None
    bad = {"text": BAD, "stop": "stop", "usage": {"n": 1}}
    assert exchange.whole(json.dumps(bad).encode()) is None
    assert json.loads(exchange.request)["say"].count("more") == 1
    assert exchange.whole(json.dumps({"text": CALL, "stop": "stop", "usage": {"n": 2}}).encode())
    assert len(noting.asked) == 1
    assert [body["usage"] for body, _, _ in noting.heard] == [{"n": 1}]


def test_its_failure_at_the_answer_is_logged_only(caplog: pytest.LogCaptureFixture) -> None:
    class Deaf(Noting):
        def on_usage(self, body: Mapping[str, Any], *, api: str, session: str | None = None) -> None:
            raise KeyError("a user's secret")

    noting = Noting()
    with caplog.at_level(logging.WARNING, logger="wirecall"):
        exchange = opened(codec(Deaf(), noting), PLAIN)
        assert exchange.chunk(USED) == USED
    assert len(noting.heard) == 1
    assert caplog.messages == ["Deaf.on_usage raised KeyError"]


def test_its_failure_at_the_request_is_the_callers() -> None:
    def fail(request: Request) -> Any:
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError, match="no"):
        open_sync(codec(Noting(fail)), URL, {}, PLAIN)
    with pytest.raises(ZeroDivisionError, match="no"):
        asyncio.run(codec(Noting(fail)).open(URL, {}, PLAIN, is_async=True))


def test_a_request_comes_back() -> None:
    with pytest.raises(TypeError, match="Noting must return the request as a dict, not NoneType"):
        open_sync(codec(Noting(lambda request: None)), URL, {}, PLAIN)

    class Late(Noting):
        async def on_request(  # type: ignore[override]
            self, request: Request, *, api: str, session: str | None = None
        ) -> Any:
            return request

    with pytest.raises(TypeError, match="not coroutine: put async code into aon_request"):
        open_sync(codec(Late()), URL, {}, PLAIN)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "middleware must be a list of middlewares, not NoneType"),
        (Noting(), "middleware must be a list of middlewares, not Noting"),
        ([Noting], "Noting is a class; pass an instance as middleware"),
        ([Noting(), object()], "object is not a middleware: it has no on_request and no aon_request"),
        ([wirecall.compact_tools()], "CompactTools is not a middleware"),
        ("abc", "str is not a middleware"),
    ],
)
def test_what_is_no_middleware(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        wirecall.wrap(object(), middleware=given)


def test_a_middleware_of_its_own_fits_the_protocol() -> None:
    fits: list[wirecall.Middleware] = [Noting()]
    assert MiddlewareStack(iter(fits)).members == tuple(fits)
