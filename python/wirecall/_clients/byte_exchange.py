"""One request and its answers, as bytes: server-sent events, or one JSON body. There is no I/O.

These pass byte for byte: comments, pings, unknown events, events that the API's code leaves alone, `[DONE]`,
events and whole bodies that are not JSON objects. The first event that replaces another one has its `id:` and
`retry:`, and is named like it. An event beyond the limit of `sse` ends the stream with the API's error. Half
an event at the end of a stream is sent after everything else.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from wirecall._apis.exchange import Exchange
from wirecall._apis.streams import AnswerStream
from wirecall._apis.values import str_or_none
from wirecall._clients import sse
from wirecall._clients.driver import Driven
from wirecall._text.record import Where

_DONE = b"[DONE]"
_ERROR = b"error"
# Stands for an error of the provider in a form that no API has.
_UNKNOWN_ERROR: Mapping[str, Any] = {"error": "unknown"}
# The inside of a string of JSON, without escapes and with them.
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]+')
_ESCAPED = re.compile(rb'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))+')
# After so many events in a row that differ from the one before in more than their text, as those of OpenAI
# do, the others are not compared.
_UNLIKE = 16
# In each event that says what was used.
_USAGE = b'"usage"'


class ByteExchange(Driven):
    """One request and its answers, as bytes.

    Attributes:
        reads: The answer is to be given here; otherwise it reaches the application unchanged.
    """

    def __init__(
        self,
        exchange: Exchange,
        where: Where,
        *,
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
        # What is around the text of the last event, if the next one may differ from it in its text only.
        self._around: tuple[bytes, bytes] | None = None
        # How many events in a row differed in more.
        self._unlike = 0

    @property
    def request(self) -> bytes:
        return self._exchange.written

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
        if self._events.is_between and (text := self._only_text(chunk)) is not None:
            # Servers mostly send one event at a time.
            read = self._call_reader(self._open_reader().feed_text, text)
            out = chunk if read is None else b"".join(map(self._write, read))
        else:
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
            if (text := self._only_text(raw)) is not None:
                sent = self._call_reader(stream.feed_text, text)
                out += (raw,) if sent is None else map(self._write, sent)
                continue
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
                self._around = None
                if stream.text is not None and not others and self._unlike < _UNLIKE:
                    self._unlike += 1
                    self._around = _around(raw, stream.text)
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

    def _only_text(self, raw: bytes) -> str | None:
        """The text of an event that differs from the one before in its text only; None for all others."""
        if self._around is None or self._reader is None or self._reader.text is None:
            return None
        if self._others or len(raw) > self._max_event_bytes:
            return None
        before, after = self._around
        if not (raw.startswith(before) and raw.endswith(after)):
            return None
        self._unlike = 0
        text = raw[len(before) : len(raw) - len(after)]
        try:
            if _PLAIN.fullmatch(text) is not None:
                return text.decode()
            if _ESCAPED.fullmatch(text) is not None:
                return str(json.loads(b'"%b"' % text))
        except UnicodeDecodeError:
            pass
        return None

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


def _around(raw: bytes, text: str) -> tuple[bytes, bytes] | None:
    """What is before and after a text in an event; None if that is not certain.

    Without escapes, a string of JSON is written as it is, so what occurs once, with its quotes, is the text.
    """
    quoted = b'"%b"' % text.encode(errors="replace")
    at = raw.find(quoted)
    if at < 0 or at != raw.rfind(quoted) or b"\\" in raw or not raw.endswith(b"\n\n"):
        return None
    return raw[: at + 1], raw[at + len(quoted) - 1 :]


def _is_error(event: Mapping[str, Any]) -> bool:
    return event.get("type") == "error" or bool(event.get("error"))
