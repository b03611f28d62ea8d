"""Server-sent events: bytes in, events with their exact bytes out. There is no I/O.

The `raw` bytes of the events, joined, are exactly what came in, so an event can be passed on byte for byte.
How the input was cut into chunks makes no difference.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from wirecall._shown import written

# A server that never ends an event must not exhaust memory. Whole images come in one event, so it is
# generous.
MAX_EVENT_BYTES = 64 * 1024 * 1024

# Sent between two events while a call is held back: it resets idle timeouts. It is one line, without a blank
# line after it. A blank line dispatches an event in readers that keep the last `id:` (the openai SDK).
KEEP_ALIVE = b": wirecall\n"

# A blank line: two line ends in a row. A "\r" at the end of the input may be half of a "\r\n", so it needs to
# be followed by something else: in a stream of bare "\r" an event is complete with the first byte of the next
# one.
_LINE_END = rb"(?:\r\n|\n|\r(?=[^\n]))"
_BLANK_LINE = re.compile(_LINE_END * 2)
# At the end of a stream, no line feed follows a bare "\r".
_ENDS_WITH_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}\Z")
# Nearly every event of chat completions looks like this.
_ONE_LINE = re.compile(rb"data: ([^\r\n]*)\n\n")
# The longest incomplete blank line is "\r\n\r".
_LOOK_BACK = 3
BOM = b"\xef\xbb\xbf"


class TooLargeError(ValueError):
    """An event is longer than the limit."""


class Event(NamedTuple):
    """Everything up to and including a blank line.

    Attributes:
        raw: The exact bytes.
        name: The `event:` field, or None.
        data: The `data:` lines, joined; None if there are none, as in a comment.
        others: The lines of the fields `id` and `retry`.
    """

    raw: bytes
    name: bytes | None
    data: bytes | None
    others: bytes = b""

    @property
    def is_complete(self) -> bool:
        """Whether it ends with its blank line. Only the last event of a stream may not."""
        return _ENDS_WITH_BLANK_LINE.search(self.raw) is not None


class Parser:
    """Cuts one stream into events.

    Args:
        limit: The longest event, in bytes.
    """

    def __init__(self, limit: int = MAX_EVENT_BYTES) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._seen = 0
        self._first = True

    @property
    def is_between(self) -> bool:
        """Whether everything that came belongs to an event that is complete."""
        return not self._buffer

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that are complete now.

        Raises:
            TooLargeError: One is longer than the limit. The parser must not be used again.
        """
        if not (self._buffer or self._first) and (line := _ONE_LINE.fullmatch(chunk)) is not None:
            # Servers mostly send one event at a time.
            self._check(len(chunk))
            return [Event(chunk, None, line[1])]
        window: bytes | bytearray = chunk
        if self._buffer:
            self._buffer += chunk
            window = self._buffer
        events, start, search = [], 0, self._seen
        while (found := _BLANK_LINE.search(window, search)) is not None:
            search = found.end()
            # A match keeps a buffer from changing its size.
            del found
            self._check(search - start)
            events.append(self._event(bytes(window[start:search])))
            start = search
        if window is chunk:
            self._buffer += chunk[start:]
        else:
            del self._buffer[:start]
        self._seen = max(0, len(self._buffer) - _LOOK_BACK)
        self._check(len(self._buffer))
        return events

    def finish(self) -> list[Event]:
        """At the end of the stream: what follows its last blank line, as one event that may be incomplete."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        return [self._event(rest)] if rest else []

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise TooLargeError(f"an event of the answer is longer than {self._limit} bytes")

    def _event(self, raw: bytes) -> Event:
        if not self._first and (line := _ONE_LINE.fullmatch(raw)) is not None:
            return Event(raw, None, line[1])
        name: bytes | None = None
        data: list[bytes] = []
        others = b""
        block = raw.removeprefix(BOM) if self._first else raw
        self._first = False
        for field_line in block.splitlines():
            field, _, value = field_line.partition(b":")
            if field == b"data":
                data.append(value.removeprefix(b" "))
            elif field == b"event":
                name = value.removeprefix(b" ")
            elif field in (b"id", b"retry"):
                others += field_line + b"\n"
        return Event(raw, name, b"\n".join(data) if data else None, others)


def dump(value: Mapping[str, Any]) -> bytes:
    """Compact JSON."""
    # A lone surrogate can only be written as an escape.
    return written(value).encode(errors="backslashreplace")


_DECODER = json.JSONDecoder()


def load(text: bytes) -> dict[str, Any] | None:
    """A JSON object; None for anything else."""
    try:
        written = text.decode()
        # `json.loads` also searches for whitespace around the value: events rarely have any.
        value, end = _DECODER.raw_decode(written) if written[:1] == "{" else (None, -1)
        if end != len(written):
            value = json.loads(written)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def format_event(data: Mapping[str, Any], *, name: bytes | None = None) -> bytes:
    """An event with JSON data."""
    named = b"" if name is None else b"event: " + name + b"\n"
    return named + b"data: " + dump(data) + b"\n\n"


def lacking(pending: bytes, others: bytes) -> bytes:
    """The lines of the `others` of earlier events, for fields that the `others` of this event lack."""
    fields = {line.partition(b":")[0] for line in others.splitlines()}
    return b"".join(
        line for line in pending.splitlines(keepends=True) if line.partition(b":")[0] not in fields
    )
