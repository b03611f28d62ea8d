"""Bytes in, bytes out: what a client's HTTP layer does with the APIs. There is no I/O.

    exchange = await Codec(options).open(url, headers, body, is_async=True)     # None: nothing to do with it
    send exchange.request, and by the content type of the answer
        exchange.whole(body); if None, send exchange.request again
        exchange.chunk(bytes) for each, exchange.end() once; if should_retry, send exchange.request again

These pass byte for byte: comments, pings, unknown events, events that the API's code leaves alone, `[DONE]`,
events and whole bodies that are not JSON objects. The first event that replaces another one has its `id:` and
`retry:`, and is named like it. An event beyond the limit of `sse` ends the stream with the API's error. Half
an event at the end of a stream is sent after everything else.

Middlewares get a request once, in `open`, and what its answer says about usage. If there is nothing else to
do with an answer, each chunk is passed on at once, unchanged.
"""

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from wirecall._apis.base import Api, UnsupportedRequestError, openai_refusal
from wirecall._apis.exchange import Exchange
from wirecall._apis.registry import Route, find_route
from wirecall._apis.streams import AnswerStream
from wirecall._apis.values import str_or_none
from wirecall._clients import sse
from wirecall._clients.driver import Driven
from wirecall._clients.middleware import MiddlewareStack
from wirecall._sync import aside
from wirecall._text.options import Options
from wirecall._text.parts import ToolCallError
from wirecall._text.record import Where
from wirecall._text.recorder import Observer

# The key of a request's body that changes options for this request; it never reaches the provider.
OVERRIDES = "wirecall"
# Beside the options: the application's name of the conversation.
_SESSION = "session"

# A body of this many bytes takes a millisecond to rewrite, so that is done in a thread. Reading it would not
# gain from one: the decoder of JSON holds the interpreter.
_LARGE = 32 * 1024

_DONE = b"[DONE]"
_ERROR = b"error"
# Stands for an error of the provider in a form that no API has.
_UNKNOWN_ERROR: Mapping[str, Any] = {"error": "unknown"}
# In each event that says what was used.
_USAGE = b'"usage"'


class Reply(NamedTuple):
    """An answer of our own, instead of the provider's."""

    status: int
    body: bytes


class Codec:
    """Opens exchanges. It has no state: one serves any number of requests at once.

    Args:
        options: The host's.
        apis: Used instead of the built-in ones.
        stack: The host's middlewares. They do not get requests for token counts.
        accepted: The options that a request may change with the key `wirecall` of its body; None for all. A
            request that changes another one is refused.
        max_event_bytes: The longest event of a streamed answer.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        options: Options,
        apis: Mapping[str, Api] | None = None,
        stack: MiddlewareStack | None = None,
        *,
        accepted: Collection[str] | None = None,
        max_event_bytes: int = sse.MAX_EVENT_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.options = options
        self._clock = clock
        self._apis = apis
        self._accepted = accepted
        self._stack = stack or MiddlewareStack()
        self._max_event_bytes = max_event_bytes

    async def open(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        method: str = "POST",
        is_async: bool,
        given: Mapping[str, Any] | None = None,
        observer: Observer | None = None,
    ) -> "ByteExchange | None":
        """Rewrites a request. None: it is sent as it is, and so is its answer.

        Args:
            url: Or its path. The API is chosen by how the path ends.
            headers: A body that is compressed, or signed, cannot be rewritten.
            is_async: Whether this may wait: for middlewares, and for a thread in which a large request is
                rewritten. Otherwise it never suspends.
            given: The JSON object in the body, of a host that has read it.
            observer: Is told what happens in the exchange, while it happens.

        Raises:
            UnsupportedRequestError: The request cannot work over text, its body is compressed or signed, or
                it changes options that it may not.
            ToolError: A tool definition cannot work.
            TypeError, ValueError: The overrides are not options.
            Exception: Of a middleware.
        """
        route = self._route(url, method)
        lower = {name.lower(): value for name, value in headers.items()}
        if route is None:
            return None
        if lower.get("content-encoding", "identity").lower() != "identity":
            raise UnsupportedRequestError(
                "the body of the request is compressed, so it cannot be rewritten: send it without "
                "content-encoding",
                status=415,
            )
        is_large = is_async and len(body) > _LARGE
        if given is None:
            given = sse.load(body)
        if given is None:
            return None
        api, base_url, answers = route
        # Overrides must not reach the provider, so a request with them cannot be sent unchanged.
        options, session, overridden = self.options, None, OVERRIDES in given
        if overridden:
            given = dict(given)
            options, session = self._overridden(given.pop(OVERRIDES))
        request: Mapping[str, Any] = given
        on_usage = None
        if self._stack and answers:
            request = await self._stack.on_request(given, api.name, session, is_async=is_async)
            on_usage = self._stack.usage_listener(api.name, session)
        where = Where.of(method, url, headers)

        def rewrite() -> tuple[Exchange, bytes]:
            served = base_url, str(request.get("model"))
            exchange = Exchange(api, request, options, where, served=served, observer=observer)
            # Also if it was made anew, as where reasoning is separated only.
            same = exchange.request == given and not overridden
            return exchange, body if same else sse.dump(exchange.request)

        # The functions of a host may not expect a thread.
        in_thread = is_large and not options.calls_host
        exchange, written = await _rewritten_aside(rewrite) if in_thread else rewrite()
        await exchange.tell_saved(is_async=is_async)
        same = written is body
        reads = answers and not (exchange.untouched and on_usage is None and exchange.recorder is None)
        if same and not reads:
            return None
        if not same and lower.get("authorization", "").startswith("AWS4-"):
            exchange.finish()
            raise UnsupportedRequestError(
                "The body of this request is signed (AWS Signature 4), so it cannot be rewritten. "
                "Use a client that authenticates with an API key."
            )
        return ByteExchange(
            exchange,
            where,
            body=written,
            reads=reads,
            on_usage=on_usage,
            max_event_bytes=self._max_event_bytes,
            keep_alive=options.keep_alive,
            clock=self._clock,
        )

    def _overridden(self, given: object) -> tuple[Options, str | None]:
        """The request's options, and its session."""
        if not isinstance(given, Mapping):
            raise TypeError(
                f'the body\'s key "{OVERRIDES}" must be an object of options, not {type(given).__name__}'
            )
        session = given.get(_SESSION)
        if session is not None and not isinstance(session, str):
            raise TypeError(f"{_SESSION} must be a str, not {type(session).__name__}")
        others = {name: value for name, value in given.items() if name != _SESSION}
        if self._accepted is not None and (refused := others.keys() - self._accepted):
            allowed = ", ".join(sorted(self._accepted)) or "none"
            raise UnsupportedRequestError(
                f'the body\'s key "{OVERRIDES}" sets {", ".join(sorted(refused))}; '
                f"this server accepts: {allowed}"
            )
        return self.options.with_overrides(others), session

    def serves(self, url: str, method: str = "POST") -> bool:
        """Whether `open` looks at such a request; the bodies of others need not be read."""
        return self._route(url, method) is not None

    def reply(self, url: str, error: Exception) -> Reply:
        """An error in the form of the API, for a host that replies where others raise."""
        route = self._route(url, "POST")
        body = (openai_refusal if route is None else route.api.refusal)(error)
        # Exceptions for requests, tools and options are ValueErrors and TypeErrors. Only a request is nested
        # too deeply: answers are read as far as they can be.
        status = 400 if isinstance(error, (ValueError, TypeError, RecursionError)) else 500
        status = error.status if isinstance(error, UnsupportedRequestError) else status
        return Reply(502 if isinstance(error, ToolCallError) else status, sse.dump(body))

    def _route(self, url: str, method: str) -> Route | None:
        return find_route(url, self._apis) if method.upper() == "POST" else None


class ByteExchange(Driven):
    """One request and its answers, as bytes.

    Args:
        body: The bytes of the first request.

    Attributes:
        reads: The answer is to be given here; otherwise it reaches the application unchanged.
    """

    def __init__(
        self,
        exchange: Exchange,
        where: Where,
        *,
        body: bytes,
        reads: bool,
        on_usage: Callable[[Mapping[str, Any]], None] | None,
        max_event_bytes: int,
        keep_alive: float | None,
        clock: Callable[[], float],
    ) -> None:
        super().__init__(exchange, on_usage)
        self._keep_alive = keep_alive
        self._clock = clock
        # When the application last got something.
        self._silent_since = clock()
        self._where = where
        self._body = body
        self._written = exchange.request
        self.reads = reads
        self._max_event_bytes = max_event_bytes
        self._events = sse.Parser(max_event_bytes)
        self._stream_over = False
        # The connection dropped, and the application knows nothing of it yet.
        self._dropped = False
        # Of an answer that passes unchanged: the last bytes that were sent.
        self._tail = b""
        # How the provider names its events: by their type, or as the last one. And `id:` and `retry:` lines
        # that are not sent yet.
        self._named_by_type = exchange.api.names_events
        self._name: bytes | None = b""
        self._others = b""

    @property
    def request(self) -> bytes:
        # A retry is another request.
        is_first = self._exchange.request is self._written
        return self._body if is_first else sse.dump(self._exchange.request)

    def is_stream(self, content_type: str) -> bool:
        """Whether an answer is read as events. SDKs read what they requested as events, whatever its type."""
        kind = content_type.partition(";")[0].strip().lower()
        return kind == "text/event-stream" or (self._exchange.streams and not kind.endswith("json"))

    def reads_error(self, status: int) -> bool:
        return status >= 400 and (self._exchange.recorder is not None or self._exchange.may_drop_stop)

    def answers(self, status: int, body: bytes | None = None) -> bool:
        if self._exchange.recorder is not None:
            self._exchange.recorder.set_status(status)
        if body is not None:
            self._record_received(body)
        if body is not None and self._exchange.drops_stop(status, body):
            return True
        if status < 400:
            self._exchange.accepted()
        if body is not None:
            self._recorded(body)
        return False

    def whole(self, body: bytes) -> bytes | None:
        self._record_received(body)
        self.should_retry = False
        given = sse.load(body.removeprefix(sse.BOM))
        if given is not None:
            self._note_usage(given)
            read = self._exchange.whole(given)
            if read is None:
                self.should_retry = True
                return None
            body = body if read is given else sse.dump(read)
        self._recorded(body)
        self._exchange.finish()
        return body

    def _recorded(self, out: bytes) -> bytes:
        self._exchange.record_output(out)
        return out

    def chunk(self, chunk: bytes) -> bytes:
        if self.ended:
            return b""
        if self._exchange.recorder is None:
            return self._chunk(chunk)
        self._record_received(chunk)
        return self._recorded(self._chunk(chunk))

    def _chunk(self, chunk: bytes) -> bytes:
        if self._exchange.untouched:
            self._note_passing_usage(lambda: self._events.feed(chunk))
            self._tail = (self._tail + chunk[-4:])[-4:]
            return chunk
        self._begin()
        try:
            events = self._events.feed(chunk)
        except sse.TooLargeError as error:
            return self._failed(str(error))
        out = self._take(events)
        if out:
            self._silent_since = self._clock()
        elif not self._is_over() and self._open_reader().holds:
            return self._comment()
        return out

    def _comment(self) -> bytes:
        """A comment, if the application has got nothing for long enough."""
        if self._keep_alive is None:
            return b""
        now = self._clock()
        if now - self._silent_since < self._keep_alive:
            return b""
        self._silent_since = now
        return sse.KEEP_ALIVE

    def _begin(self) -> None:
        """Begins the next answer, if the request was retried. It may end before its first chunk."""
        if self.should_retry:
            self.should_retry, self._stream_over = False, False
            self._events = sse.Parser(self._max_event_bytes)

    def end(self, *, dropped: bool = False) -> bytes:
        self._begin()
        if dropped and not (self._is_over() or self._retries_now()):
            self.ended = self._dropped = True
        return b"" if self._is_over() else self._recorded(self._end())

    def _end(self) -> bytes:
        if self._exchange.untouched:
            self._note_passing_usage(self._events.finish)
            self.ended = True
            return b""
        last, half = self._events.finish(), b""
        if last and not last[0].is_complete:
            # Parsers drop an event without its blank line, so it is not read.
            last, half = [], last[0].raw
        out = self._take(last) + self._finish_stream()
        if self._is_over():
            return out
        if self._open_reader().should_retry:
            self._exchange.retry()
            self.should_retry = True
            # Until the next answer begins, it is quiet.
            return out or self._comment()
        self.ended = True
        return out + half

    def fail(self, message: str) -> bytes:
        if self._dropped:
            self.ended = self._dropped = False
        return b"" if self._is_over() else self._recorded(self._failed(message))

    def _failed(self, message: str) -> bytes:
        error = Exception(self._where.redact(message))
        if self._exchange.untouched:
            self.ended = True
            # In the middle of an event, an error would be part of it.
            is_between = self._tail.endswith((b"\n\n", b"\r\n\r\n", b"\r\r"))
            return self.error_event(error) if is_between or not self._tail else b""
        out = self._finish_stream()
        if not self._is_over():
            self.ended, self.should_retry = True, False
            out += self.error_event(error)
        return out

    def error_event(self, error: Exception) -> bytes:
        """An error of wirecall as an event of the stream."""
        return self._write(self._exchange.api.stream_error(error))

    def _note_passing_usage(self, read: Callable[[], list[sse.Event]]) -> None:
        """Notes what a stream that passes unchanged says about usage."""
        if not self._notes_usage:
            return
        try:
            events = read()
        except sse.TooLargeError:
            # A stream that passes unchanged must not end with our error: its usage stays unknown.
            self._notes_usage = False
            return
        for event in events:
            if _USAGE in (data := event.data or b"") and (given := sse.load(data)) is not None:
                self._note_usage(given)

    def _retries_now(self) -> bool:
        return not self._exchange.untouched and self._open_reader().should_retry

    def _is_over(self) -> bool:
        # mypy assumes that attributes do not change while methods are called.
        return self.ended

    def _open_reader(self) -> AnswerStream:
        if self._reader is None:
            self._reader = self._exchange.stream()
        return self._reader

    def _take(self, events: list[sse.Event]) -> bytes:
        stream = self._open_reader()
        out: list[bytes] = []
        for event in events:
            if self.ended:
                break
            raw, name, data, others = event
            done = data is not None and data.startswith(_DONE)
            given = None if data is None or done or self._stream_over else sse.load(data)
            if name is not None and name == _ERROR and not done and not (given and _is_error(given)):
                # Its data is not an error of the API, but SDKs raise it, so nothing is retried after it.
                out.append(self._unknown_error(raw))
                continue
            lacks = self._others and sse.lacking(self._others, others)
            if others:
                self._others = lacks + others
            read: Any = None
            if given is not None:
                self._note_usage(given)
                if name != self._name:
                    self._note_name(name, given)
                read = self._call_reader(stream.feed, given)
            elif done:
                out.append(self._finish_stream())
            if read is not None:
                out.extend(map(self._write, read))
            elif given is not None or not (stream.should_retry or self.ended):
                if self._others and (others or data is not None):
                    # The id of an event that was swallowed is that of the next one, unless it has its own.
                    raw, self._others = lacks + raw, b""
                out.append(raw)
        return b"".join(out)

    def _unknown_error(self, raw: bytes) -> bytes:
        """What is due before such an event, and the event."""
        stream = self._open_reader()
        if stream.should_retry:
            return b""
        read = None if self._stream_over else self._call_reader(stream.feed, _UNKNOWN_ERROR)
        return b"".join(map(self._write, (read or ())[:-1])) + raw

    def _note_name(self, name: bytes | None, given: Mapping[str, Any]) -> None:
        """Notes how the provider names its events: SDKs ignore events with a wrong name. The names of errors
        and pings say nothing about others."""
        kind = str_or_none(given.get("type"))
        if name == _ERROR or (self._exchange.api.names_events and kind in (None, "ping", "error")):
            return
        self._name = name
        self._named_by_type = self._exchange.api.names_events and kind == (name or b"").decode(
            errors="replace"
        )

    def _finish_stream(self) -> bytes:
        """Tells the API's stream, once for each answer, that there are no more events."""
        if self._stream_over or self.ended:
            return b""
        self._stream_over = True
        return b"".join(map(self._write, self._call_reader(self._open_reader().end)))

    def _write(self, event: Mapping[str, Any]) -> bytes:
        others, self._others = self._others, b""
        name = self._name or None
        if self._named_by_type:
            kind = str_or_none(event.get("type"))
            name = None if kind is None else kind.encode(errors="replace")
        return others + sse.format_event(event, name=name)


async def _rewritten_aside(rewrite: Callable[[], tuple[Exchange, bytes]]) -> tuple[Exchange, bytes]:
    """Rewrites in a thread. If nobody waits for it any more, the exchange is finished all the same."""
    abandoned = False
    made: list[Exchange] = []

    def run() -> tuple[Exchange, bytes]:
        exchange, written = rewrite()
        made.append(exchange)
        if abandoned:
            exchange.finish()
        return exchange, written

    try:
        return await aside(run)
    except BaseException:
        abandoned = True
        for exchange in made:
            exchange.finish()
        raise


def _is_error(event: Mapping[str, Any]) -> bool:
    return event.get("type") == "error" or bool(event.get("error"))
