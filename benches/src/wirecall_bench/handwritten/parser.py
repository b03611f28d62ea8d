"""What wirecall is measured against: a call that does nothing, and a parser in good plain Python.

`NoOp.feed` is the floor: what any method costs that is called once for each delta.

`HandWritten` reads the strict form of docs/wire-format.md: text, commitment of attempts, pairs with bare and
quoted values and all escapes, inline JSON, dotted keys, object bodies, quote-aware CLOSE, types, offsets,
ids. It leaves out what would cost it time and what no workload has: repairs, reasoning, invented results,
limits, array pieces, unions beyond "any", the raw source of a failed call, lone surrogates in the input. So
wherever the two differ, it does less work than wirecall.

How it stays fast: the two states in which nearly every delta of a message arrives, text and a streamed
string, are decided in `feed` by one to three substring tests; all else goes through one loop over local
variables, in which whole pairs are taken by one regular expression where the buffer already holds them. Only
what cannot be decided yet is held back, with the place up to which it was looked at, so nothing is scanned
twice. That loop is one long function on purpose: in Python a call costs more than what most of its steps do.
It is in `reader`; what runs once for each call or value is in `arguments`.
"""

import re
from collections.abc import Sequence
from json.encoder import encode_basestring as json_string  # the C function: a str as a JSON string

from wirecall_bench.handwritten.arguments import NO_FIELD, NO_TOOL
from wirecall_bench.handwritten.events import NOTHING, ArgumentsDelta, CallStart, Event, Text
from wirecall_bench.handwritten.format import Tools, compile_tools, encode
from wirecall_bench.handwritten.reader import (
    COMMIT_PROSE,
    IN_BARE,
    IN_DOUBLE,
    IN_ESCAPE,
    IN_KEY,
    IN_TEXT,
    JSON,
    OBJECT,
    STRING,
    TEXT,
    CallReader,
)

__all__ = ["HandWritten", "NoOp", "compile_tools", "encode", "parse"]


class NoOp:
    """Takes a delta, returns nothing: the price of the call alone."""

    def feed(self, delta: str) -> tuple[()]:
        return ()

    def finish(self) -> tuple[()]:
        return ()


_is_plain_bare = re.compile(r"[^\x00-\x20<\"\\]+").fullmatch
# In double quotes: what is the same in JSON.
_double_as_json = re.compile(r"[^\"\\\x00-\x1f]*(?:\\[\"\\nrt][^\"\\\x00-\x1f]*)*").match


class HandWritten(CallReader):
    """Incremental and sans-IO: `feed` returns the events of a delta, `finish` the last ones."""

    __slots__ = ()

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._count = 0
        self._index = 0
        self._id = ""
        self._name = ""
        self._tool = NO_TOOL
        self._start = 0
        self._field = NO_FIELD
        self._parts = []
        self._append = self._parts.append
        self._seen = set()
        self._tree = None
        self._problems = NOTHING
        self._state = TEXT
        self._fast = IN_TEXT
        self._held = ""
        self._scan = 0
        self._base = 0
        self._key_at = 0
        self._streams = False
        self._quote = ""
        self._depth = 0
        self._pieces = []
        self._error = None

    def feed(self, delta: str) -> Sequence[Event]:
        fast = self._fast
        if fast == 1:  # IN_TEXT
            if "<" not in delta:
                self._base += len(delta)
                return [Text(delta)]
        elif fast == 2:  # IN_DOUBLE
            if '"' not in delta and "\\" not in delta:
                self._base += len(delta)
                if not delta.isprintable():
                    delta = json_string(delta)[1:-1]
                self._append(delta)
                return [ArgumentsDelta(self._index, delta)]
            return self._in_string(delta)
        elif fast == 3:  # IN_SINGLE
            if "'" not in delta and "\\" not in delta:
                self._base += len(delta)
                if '"' in delta or not delta.isprintable():
                    delta = json_string(delta)[1:-1]
                self._append(delta)
                return [ArgumentsDelta(self._index, delta)]
            return self._in_string(delta)
        elif fast:
            return self._in_call(delta)
        return self._advance(delta)

    def _in_string(self, delta: str) -> Sequence[Event]:
        """A delta of a streamed string that has a quote or a backslash, or follows one that was held back."""
        text = self._held + delta
        size = len(text)
        if self._quote == '"':
            end = _double_as_json(text).end()  # type: ignore[union-attr]
            if end == size:
                self._held = ""
                self._fast = IN_DOUBLE
                self._base += size
                self._append(text)
                return [ArgumentsDelta(self._index, text)]
            if end == size - 1 and text[end] == "\\":
                self._held = "\\"
                self._fast = IN_ESCAPE
                if not end:
                    return NOTHING
                self._base += end
                text = text[:end]
                self._append(text)
                return [ArgumentsDelta(self._index, text)]
        return self._advance(delta)

    def _in_call(self, delta: str) -> Sequence[Event]:
        """A delta in the middle of a call: in short calls, most deltas are."""
        fast = self._fast
        if fast == IN_KEY:
            if delta.isalnum() and self._scan < 128:
                self._held += delta
                self._scan += len(delta)
                return NOTHING
        elif fast == IN_BARE:
            if _is_plain_bare(delta):
                self._base += len(delta)
                self._append(delta)
                return [ArgumentsDelta(self._index, delta)]
        elif fast == IN_ESCAPE:
            return self._in_string(delta)
        elif self._quote not in delta and "\\" not in delta:
            self._base += len(delta)
            self._pieces.append(delta)
            return NOTHING
        return self._advance(delta)

    def finish(self) -> Sequence[Event]:
        state = self._state
        held, self._held = self._held, ""
        if state <= COMMIT_PROSE:
            return [Text(held)] if held else NOTHING
        end = self._base + len(held)
        if self._error is None:
            if state in (STRING, JSON, OBJECT):
                self._error = ("unterminated_value", "the message ended inside a value")
            else:
                self._error = ("incomplete_call", "the message ended inside a call")
        return [self._call_error(end)]


def parse(tools: Tools, text: str) -> list[Event]:
    """A whole message: its texts, call ends and errors, in order."""
    parser = HandWritten(tools)
    items: list[Event] = []
    for event in (*parser.feed(text), *parser.finish()):
        if type(event) is Text:
            last = items[-1] if items else None
            if type(last) is Text:
                last.text += event.text
            else:
                items.append(event)
        elif type(event) is not ArgumentsDelta and type(event) is not CallStart:
            items.append(event)
    return items
