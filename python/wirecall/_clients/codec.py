"""Bytes in, bytes out: what a client's HTTP layer does with the APIs. There is no I/O.

    exchange = Codec(options).open(url, headers, body)      # None: nothing to do with it
    send exchange.request, and by the content type of the answer
        exchange.whole(body); if None, send exchange.request again
        exchange.chunk(bytes) for each, exchange.end() once; if should_retry, send exchange.request again

These pass byte for byte: comments, pings, unknown events, events that the API's code leaves alone, `[DONE]`,
events and whole bodies that are not JSON objects. An event beyond the limit of `sse` ends the stream with the
API's error. Half an event at the end of a stream is sent after everything else.

Middlewares get a request once, in `open` or `aopen`, and what its answer says about usage. If there is
nothing else to do with an answer, each chunk goes out at once, as it came.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from wirecall._apis.base import Api, UnsupportedRequestError, openai_refusal
from wirecall._apis.exchange import Exchange
from wirecall._apis.registry import Route, find_route
from wirecall._apis.streams import AnswerStream
from wirecall._clients import sse
from wirecall._clients.driver import Driven
from wirecall._clients.middleware import MiddlewareStack
from wirecall._rewriting.options import Options
from wirecall._rewriting.parts import ToolCallError
from wirecall._rewriting.record import Where
from wirecall._sync import run

# The key of a request's body that changes options for this request; it never reaches the provider.
OVERRIDES = "wirecall"
# Beside the options: the application's name of the conversation.
_SESSION = "session"

_DONE = b"[DONE]"
# In each event that says what was used.
_USAGE = b'"usage"'


class Reply(NamedTuple):
    """An answer of our own, instead of the provider's."""

    status: int
    body: bytes


class BrokenAnswerError(Exception):
    """The rest of a stream cannot be read; the message of the stream's error event."""


class Codec:
    """Opens exchanges. It has no state: one serves any number of requests at once.

    Args:
        options: The host's.
        apis: Used instead of the built-in ones.
        stack: The host's middlewares. They do not get requests for token counts.
    """

    def __init__(
        self, options: Options, apis: Mapping[str, Api] | None = None, stack: MiddlewareStack | None = None
    ) -> None:
        self.options = options
        self._apis = apis
        self._stack = stack or MiddlewareStack()

    def open(
        self, url: str, headers: Mapping[str, str], body: bytes, *, method: str = "POST"
    ) -> "ByteExchange | None":
        """Rewrites a request. None: it is sent as it is, and so is its answer.

        Args:
            url: Or its path. The API is chosen by how the path ends.
            headers: A body that is compressed, or signed, cannot be rewritten.

        Raises:
            UnsupportedRequestError: The request cannot work over text, or its body is signed.
            ToolError: A tool definition cannot work.
            TypeError, ValueError: The overrides are not options.
            Exception: Of a middleware.
        """
        return run(self.aopen(url, headers, body, method=method, is_async=False))

    async def aopen(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        method: str = "POST",
        is_async: bool = True,
    ) -> "ByteExchange | None":
        """`open` for async clients, whose middlewares may wait; with `is_async` false it never suspends."""
        route = self._route(url, method)
        lower = {name.lower(): value for name, value in headers.items()}
        given = None
        if route is not None and lower.get("content-encoding", "identity") == "identity":
            given = sse.load(body)
        if route is None or given is None:
            return None
        api, base_url, answers = route
        # What is not for the provider must not be sent, so a request that holds it cannot be sent as it is.
        options, session, overridden = self.options, None, OVERRIDES in given
        if overridden:
            options, session = _overridden(options, given.pop(OVERRIDES))
        request: Mapping[str, Any] = given
        on_usage = None
        if self._stack and answers:
            request = await self._stack.on_request(given, api.name, session, is_async=is_async)
            on_usage = functools.partial(self._stack.on_usage, api=api.name, session=session)
        where = Where.of(method, url, headers)
        exchange = Exchange(api, request, options, where, served=(base_url, str(request.get("model"))))
        same = exchange.untouched and not overridden and request is given
        reads = answers and not (exchange.untouched and on_usage is None and exchange.recorder is None)
        if same and not reads:
            return None
        if not same and lower.get("authorization", "").startswith("AWS4-"):
            raise UnsupportedRequestError(
                "The body of this request is signed (AWS Signature 4), so it cannot be rewritten. "
                "Use a client that authenticates with an API key."
            )
        return ByteExchange(exchange, where, body=body if same else None, reads=reads, on_usage=on_usage)

    def serves(self, url: str, method: str = "POST") -> bool:
        """Whether `open` looks at such a request; the bodies of others need not be read."""
        return self._route(url, method) is not None

    def reply(self, url: str, error: Exception) -> Reply:
        """An error in the form of the API, for a host that replies where others raise."""
        route = self._route(url, "POST")
        body = (openai_refusal if route is None else route.api.refusal)(error)
        return Reply(_status(error), sse.dump(body))

    def _route(self, url: str, method: str) -> Route | None:
        return find_route(url, self._apis) if method.upper() == "POST" else None


class ByteExchange(Driven):
    """One request and its answers, as bytes.

    Args:
        where: Where the request goes.
        body: The request's own bytes, where they are to be sent.
        reads: As the attribute.

    Attributes:
        reads: The answer is to be given here; else it is the host's, as it is.
    """

    def __init__(
        self,
        exchange: Exchange,
        where: Where,
        *,
        body: bytes | None,
        reads: bool,
        on_usage: Callable[[Mapping[str, Any]], None] | None,
    ) -> None:
        super().__init__(exchange, on_usage)
        self._where = where
        self._body = body
        self._recorder = exchange.recorder
        self.reads = reads
        self._stream: AnswerStream | None = None
        self._events = sse.Parser()
        self._stream_over = False

    @property
    def request(self) -> bytes:
        return sse.dump(self._exchange.request) if self._body is None else self._body

    def is_stream(self, content_type: str) -> bool:
        """Whether an answer is read as events. SDKs read what they asked for as events, whatever its type."""
        kind = content_type.partition(";")[0].strip().lower()
        return kind == "text/event-stream" or (self._exchange.streams and not kind.endswith("json"))

    def reads_error(self, status: int) -> bool:
        return status >= 400 and (self._recorder is not None or self._exchange.may_drop_stop)

    def answers(self, status: int, body: bytes | None = None) -> bool:
        if self._recorder is not None:
            self._recorder.set_status(status)
            if body is not None:
                self._recorder.add_received(body)
        if body is not None and self._exchange.drops_stop(status, body):
            return True
        if status < 400:
            self._exchange.accepted()
        if body is not None:
            self._gives(body)
        return False

    def whole(self, body: bytes) -> bytes | None:
        if self._recorder is not None:
            self._recorder.add_received(body)
        out = self._whole(body)
        if out is not None:
            self._gives(out)
            self._exchange.finish()
        return out

    def _gives(self, out: bytes) -> bytes:
        if self._recorder is not None:
            self._recorder.add_output(out)
        return out

    def _whole(self, body: bytes) -> bytes | None:
        self.should_retry = False
        given = sse.load(body.removeprefix(sse.BOM))
        if given is None:
            return body
        self._hear(given)
        read = self._exchange.whole(given)
        if read is None:
            self.should_retry = True
            return None
        return body if read is given else sse.dump(read)

    def chunk(self, chunk: bytes) -> bytes:
        if self.ended:
            return b""
        if self._recorder is not None:
            self._recorder.add_received(chunk)
        return self._gives(self._chunk(chunk))

    def _chunk(self, chunk: bytes) -> bytes:
        if self._exchange.untouched:
            self._overhear(lambda: self._events.feed(chunk))
            return chunk
        if self.should_retry:
            self.should_retry, self._stream_over = False, False
            self._events = sse.Parser()
        try:
            events = self._events.feed(chunk)
        except sse.TooLargeError as error:
            return self._failed(str(error))
        out = self._take(events)
        if not out and not self._is_over() and self._reader().holds:
            return sse.KEEP_ALIVE
        return out

    def end(self, *, dropped: bool = False) -> bytes:
        if dropped and not (self._is_over() or self._exchange.untouched or self._reader().should_retry):
            self.ended = True
        return b"" if self._is_over() else self._gives(self._end())

    def _end(self) -> bytes:
        if self._exchange.untouched:
            self._overhear(self._events.finish)
            self.ended = True
            return b""
        last, half = self._events.finish(), b""
        if last and not _is_complete(last[0]):
            last, half = [], last[0].raw
        out = self._take(last)
        tail = self._finish_stream()
        if out and tail and not out.endswith(b"\n\n"):
            out += b"\n\n"
        out += tail
        if self._is_over():
            return out
        if self._reader().should_retry:
            self._exchange.retry()
            self.should_retry = True
            # Until the next answer begins, it is quiet.
            return out or sse.KEEP_ALIVE
        self.ended = True
        return out + half

    def error_event(self, error: Exception) -> bytes:
        """What ends a stream with an error of ours, for a host that does not raise it."""
        return self._write(self._exchange.api.stream_error(error))

    def fail(self, message: str) -> bytes:
        return b"" if self._is_over() else self._gives(self._failed(message))

    def _failed(self, message: str) -> bytes:
        out = self._finish_stream()
        if not self._is_over():
            self.ended, self.should_retry = True, False
            out += self.error_event(BrokenAnswerError(self._where.redact(message)))
        return out

    def _overhear(self, read: Callable[[], list[sse.Event]]) -> None:
        """Hears what passes untouched."""
        if not self._listens:
            return
        try:
            events = read()
        except sse.TooLargeError:
            # The stream is not ours to end; what it used stays unknown.
            self._listens = False
            return
        for event in events:
            if (
                event.data is not None
                and _USAGE in event.data
                and (given := sse.load(event.data)) is not None
            ):
                self._hear(given)

    def _is_over(self) -> bool:
        # mypy believes that an attribute keeps its value while methods are called; not so that of a method.
        return self.ended

    def _reader(self) -> AnswerStream:
        if self._stream is None:
            self._stream = self._exchange.stream()
        return self._stream

    def _take(self, events: list[sse.Event]) -> bytes:
        stream = self._reader()
        out: list[bytes] = []
        for event in events:
            if self.ended:
                break
            done = event.data is not None and event.data.startswith(_DONE)
            if done:
                out.append(self._finish_stream())
            given = None if event.data is None or done or self._stream_over else sse.load(event.data)
            if given is None:
                if not stream.should_retry and not self.ended:
                    out.append(event.raw)
                continue
            self._hear(given)
            try:
                read = stream.feed(given)
            except ToolCallError as failure:
                self.failure, self.ended = failure, True
                break
            if read is None:
                out.append(event.raw)
            else:
                out.extend(map(self._write, read))
            self.ended = stream.ended
        return b"".join(out)

    def _finish_stream(self) -> bytes:
        """Tells the API's stream, once for each answer, that there are no more events."""
        if self._stream_over or self.ended:
            return b""
        self._stream_over = True
        stream = self._reader()
        try:
            out = stream.end()
        except ToolCallError as failure:
            self.failure, self.ended = failure, True
            return b""
        self.ended = stream.ended
        return b"".join(map(self._write, out))

    def _write(self, event: Mapping[str, Any]) -> bytes:
        kind = event.get("type") if self._exchange.api.names_events else None
        return sse.format_event(event, name=kind if isinstance(kind, str) else None)


def _is_complete(event: sse.Event) -> bool:
    """Whether the last event of a stream lacks only its blank line, and its data is not cut off."""
    return event.data is not None and (event.data.startswith(_DONE) or sse.load(event.data) is not None)


def _status(error: Exception) -> int:
    if isinstance(error, ToolCallError):
        return 502  # The fault is the model's.
    # Exceptions for requests, tools and options are ValueErrors and TypeErrors.
    return 400 if isinstance(error, (ValueError, TypeError)) else 500


def _overridden(options: Options, given: object) -> tuple[Options, str | None]:
    """The request's options, and its session."""
    if not isinstance(given, Mapping):
        raise TypeError(
            f'the body\'s key "{OVERRIDES}" must be an object of options, not {type(given).__name__}'
        )
    session = given.get(_SESSION)
    if session is not None and not isinstance(session, str):
        raise TypeError(f"{_SESSION} must be a str, not {type(session).__name__}")
    others = {name: value for name, value in given.items() if name != _SESSION}
    return options.with_overrides(others), session
