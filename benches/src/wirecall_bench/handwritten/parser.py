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
What runs once for each value is in `arguments`.

The file is longer than 500 lines on purpose: it is one side of a comparison, and a reader who doubts the
result finds the whole parser in one place.
"""

import re
from collections.abc import Sequence
from json.encoder import encode_basestring as json_string  # the C function: a str as a JSON string

from wirecall_bench.handwritten.arguments import (
    NO_FIELD,
    NO_TOOL,
    Arguments,
    RefusedError,
    complete_escapes,
    escapes,
    unescape,
)
from wirecall_bench.handwritten.events import NOTHING, ArgumentsDelta, CallError, CallStart, Event, Text
from wirecall_bench.handwritten.format import (
    BARE_SEGMENT,
    CLOSE,
    OPEN,
    WS,
    Tools,
    compile_tools,
    encode,
)

__all__ = ["HandWritten", "NoOp", "compile_tools", "encode", "parse"]


class NoOp:
    """Takes a delta, returns nothing: the price of the call alone."""

    def feed(self, delta: str) -> tuple[()]:
        return ()

    def finish(self) -> tuple[()]:
        return ()


# --- the parser ---

WINDOW = len(OPEN) + 256  # how far an attempt is followed before it counts as text

# The states, in the order in which a call goes through them. Those up to _COMMIT_PROSE are outside a call.
_TEXT, _NAME, _COMMIT, _COMMIT_KEY, _COMMIT_PROSE = range(5)
_AFTER, _BETWEEN, _KEY, _VALUE, _STRING, _BARE, _JSON, _OBJECT, _OBJECT_END, _SKIP = range(5, 15)
_KEY_STATES = frozenset((_NAME, _COMMIT_KEY, _KEY))

# The short cuts that `feed` may try: in text, in a streamed string by its kind of quotes, with an escape held
# back in it, in a streamed bare word, in a value that is collected, in a name or key.
_SLOW, _IN_TEXT, _IN_DOUBLE, _IN_SINGLE, _IN_ESCAPE, _IN_BARE, _IN_PIECES, _IN_KEY = range(8)

# After OPEN: a name, with lookahead for a pair. After a value: a whole simple pair, with lookahead for what
# must follow it.
_head = re.compile(rf"([^ \t\r\n<{{\"'=]{{1,128}})(?=[ \t\r\n]+{BARE_SEGMENT}=)").match
_pair = re.compile(
    rf"[ \t\r\n]+({BARE_SEGMENT}(?:\.{BARE_SEGMENT})*)="
    r"(?:\"([^\"\\]*)\"|([^ \t\r\n\"'{\[<][^ \t\r\n<]*))"
    r"(?=[ \t\r\n]|</call>)"
).match
_name_stop = re.compile(r"[ \t\r\n<{\"'=]").search
_key_stop = re.compile(r"[= \t\r\n<\"'{},`]").search
_key = re.compile(
    rf"(?:{BARE_SEGMENT}|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    rf"(?:\.(?:{BARE_SEGMENT}|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'))*",
    re.S,
).match
_ws_run = re.compile(r"[ \t\r\n]*").match
_is_plain_bare = re.compile(r"[^\x00-\x20<\"\\]+").fullmatch
# In double quotes: what is the same in JSON.
_double_as_json = re.compile(r"[^\"\\\x00-\x1f]*(?:\\[\"\\nrt][^\"\\\x00-\x1f]*)*").match
_bare_stop = re.compile(r"[ \t\r\n<]").search
_string_end = {
    '"': re.compile(r"[^\"\\]*(?:\\.[^\"\\]*)*", re.S).match,
    "'": re.compile(r"[^'\\]*(?:\\.[^'\\]*)*", re.S).match,
}
_json_stop = re.compile(r"[\"{}\[\]]").search
_skip_stop = re.compile(r"(?<=[ \t\r\n=.])[\"']|<").search
_plain_name = re.compile(r"[A-Za-z0-9_.:/-]+").fullmatch


class HandWritten(Arguments):
    """Incremental and sans-IO: `feed` returns the events of a delta, `finish` the last ones."""

    __slots__ = (
        "_base",
        "_depth",
        "_error",
        "_fast",
        "_held",
        "_key_at",
        "_pieces",
        "_quote",
        "_scan",
        "_state",
        "_streams",
    )

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
        self._state = _TEXT
        self._fast = _IN_TEXT
        self._held = ""  # not decided yet; `_scan` is how far into it was looked
        self._scan = 0
        self._base = 0  # the offset in the message of what is held
        self._key_at = 0
        self._streams = False
        self._quote = ""
        self._depth = 0
        self._pieces: list[str] = []  # of the value that is being read, if it does not stream
        self._error: tuple[str, str] | None = None

    def feed(self, delta: str) -> Sequence[Event]:
        fast = self._fast
        if fast == 1:  # _IN_TEXT
            if "<" not in delta:
                self._base += len(delta)
                return [Text(delta)]
        elif fast == 2:  # _IN_DOUBLE
            if '"' not in delta and "\\" not in delta:
                self._base += len(delta)
                if not delta.isprintable():
                    delta = json_string(delta)[1:-1]
                self._append(delta)
                return [ArgumentsDelta(self._index, delta)]
            return self._in_string(delta)
        elif fast == 3:  # _IN_SINGLE
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
                self._fast = _IN_DOUBLE
                self._base += size
                self._append(text)
                return [ArgumentsDelta(self._index, text)]
            if end == size - 1 and text[end] == "\\":
                self._held = "\\"
                self._fast = _IN_ESCAPE
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
        if fast == _IN_KEY:
            if delta.isalnum() and self._scan < 128:
                self._held += delta
                self._scan += len(delta)
                return NOTHING
        elif fast == _IN_BARE:
            if _is_plain_bare(delta):
                self._base += len(delta)
                self._append(delta)
                return [ArgumentsDelta(self._index, delta)]
        elif fast == _IN_ESCAPE:
            return self._in_string(delta)
        elif self._quote not in delta and "\\" not in delta:
            self._base += len(delta)
            self._pieces.append(delta)
            return NOTHING
        return self._advance(delta)

    def finish(self) -> Sequence[Event]:
        state = self._state
        held, self._held = self._held, ""
        if state <= _COMMIT_PROSE:
            return [Text(held)] if held else NOTHING
        end = self._base + len(held)
        if self._error is None:
            if state in (_STRING, _JSON, _OBJECT):
                self._error = ("unterminated_value", "the message ended inside a value")
            else:
                self._error = ("incomplete_call", "the message ended inside a call")
        return [self._call_error(end)]

    def _call_error(self, end: int) -> CallError:
        kind, message = self._error or ("", "")
        self._error = None
        if self._tool is NO_TOOL:
            return CallError(None, None, self._name or None, kind, message, self._start, end)
        return CallError(self._index, self._id, self._name, kind, message, self._start, end)

    def _advance(self, delta: str) -> Sequence[Event]:
        buf = self._held + delta if self._held else delta
        size = len(buf)
        pos = 0  # everything before it is done with
        scan = self._scan  # everything before it was looked at
        state = self._state
        out: list[Event] = []
        fresh: list[str] = []  # pieces of the arguments that are not reported yet
        try:
            while True:
                if state == _STRING:
                    quote = self._quote
                    end = _string_end[quote](buf, pos).end()  # type: ignore[union-attr]
                    closed = end < size and buf[end] == quote
                    text = buf[pos:end]
                    if "\\" in text:
                        if not closed and "\\u" in text:
                            keep = complete_escapes(text)
                            end = pos + keep
                            text = text[:keep]
                        text = escapes(unescape, text)
                    if self._streams:
                        if text:
                            fresh.append(json_string(text)[1:-1])
                        pos = end
                        if not closed:
                            break
                        fresh.append('"')
                    else:
                        self._pieces.append(text)
                        pos = end
                        if not closed:
                            break
                        self._put("".join(self._pieces), True, fresh)
                    pos += 1
                    state = _AFTER

                elif state == _AFTER:
                    if size - pos > 16:
                        # Whole pairs, as long as the buffer holds them.
                        fields = self._tool.fields
                        while True:
                            match = _pair(buf, pos)
                            if match is None:
                                break
                            key, quoted, bare = match.groups()
                            field = fields.get(key)
                            if field is not None and field.streams and self._tree is None:
                                seen = self._seen
                                if key in seen:
                                    raise RefusedError("duplicate_argument", f"{key} is given twice")
                                value = json_string(bare if quoted is None else quoted)
                                fresh.append((field.next_json if seen else field.first_json) + value)
                                seen.add(field.name)
                            else:
                                self._field = field or self._undeclared(key)
                                if quoted is None:
                                    self._put(bare, False, fresh)
                                else:
                                    self._put(quoted, True, fresh)
                            pos = match.end()
                    if pos == size:
                        break
                    char = buf[pos]
                    if char in WS:
                        pos += 1
                        if pos < size and buf[pos] not in " \t\r\n<":
                            state = _KEY
                            scan = pos
                        else:
                            state = _BETWEEN
                    elif char == "<":
                        if buf.startswith(CLOSE, pos):
                            pos += 7
                            self._end_call(self._base + pos, out, fresh)
                            state = _TEXT
                        elif size - pos < 7 and CLOSE.startswith(buf[pos:]):
                            break
                        else:
                            raise RefusedError("malformed_call", "expected key=value")
                    else:
                        raise RefusedError("malformed_call", "expected a space after a value")

                elif state == _TEXT:
                    at = buf.find(OPEN, pos)
                    if at < 0:
                        at = buf.rfind("<", max(pos, size - 5))
                        if at < 0 or not OPEN.startswith(buf[at:]):
                            at = size
                        if at > pos:
                            out.append(Text(buf[pos:at]))
                        pos = at
                        break
                    if at > pos:
                        out.append(Text(buf[pos:at]))
                    pos = at
                    scan = at + 6
                    state = _NAME
                    self._start = self._base + at
                    if size - scan > 16:
                        match = _head(buf, scan)
                        if match is not None:
                            pos = scan = match.end()
                            self._begin(match[1], out)
                            state = _AFTER

                elif state == _BETWEEN:
                    if pos < size and buf[pos] in WS:
                        pos = _ws_run(buf, pos).end()  # type: ignore[union-attr]
                    if pos == size:
                        break
                    if buf[pos] == "<":
                        state = _AFTER
                    else:
                        state = _KEY
                        scan = pos

                elif state == _KEY:
                    match = _key_stop(buf, scan)
                    if match is None:
                        scan = size
                        break
                    at = match.start()
                    if buf[at] in "\"'":
                        match = _key(buf, pos)
                        at = match.end() if match else pos
                        if at == size or match is None:
                            scan = pos
                            break
                    if buf[at] != "=":
                        raise RefusedError("malformed_call", "expected key=value")
                    key = buf[pos:at]
                    self._field = self._tool.fields.get(key) or self._undeclared(key)
                    pos = at + 1
                    state = _VALUE

                elif state == _VALUE:
                    if pos == size:
                        break
                    char = buf[pos]
                    if char == "<":
                        if buf.startswith(CLOSE, pos):
                            raise RefusedError("empty_value", "a value is missing")
                        if size - pos < 7 and CLOSE.startswith(buf[pos:]):
                            break
                    elif char in WS:
                        raise RefusedError("empty_value", "a value is missing")
                    field = self._field
                    if field.streams and self._tree is None:
                        self._streams = True
                        seen = self._seen
                        if field.name in seen:
                            raise RefusedError("duplicate_argument", f"{field.name} is given twice")
                        fresh.append((field.next_json if seen else field.first_json) + '"')
                        seen.add(field.name)
                    else:
                        self._streams = False
                        self._pieces = []
                    if char == '"' or char == "'":
                        self._quote = char
                        pos += 1
                        state = _STRING
                    elif (char == "{" or char == "[") and field.kind not in ("string", "enum"):
                        self._depth = 0
                        self._quote = ""
                        state = _JSON
                    else:
                        state = _BARE

                elif state == _BARE:
                    match = _bare_stop(buf, pos)
                    at = size if match is None else match.start()
                    done = match is not None and (buf[at] != "<" or buf.startswith(CLOSE, at))
                    held = False
                    if match is not None and not done:
                        held = size - at < 7 and CLOSE.startswith(buf[at:])
                        if not held:
                            at += 1
                    if at > pos:
                        if self._streams:
                            fresh.append(json_string(buf[pos:at])[1:-1])
                        else:
                            self._pieces.append(buf[pos:at])
                        pos = at
                    if done:
                        if self._streams:
                            fresh.append('"')
                        else:
                            self._put("".join(self._pieces), False, fresh)
                        state = _AFTER
                    elif held or pos == size:
                        break

                elif state == _NAME:
                    match = _name_stop(buf, scan)
                    if match is None:
                        if size - pos > WINDOW:
                            state = self._not_a_call(out)
                            pos += 6
                            continue
                        scan = size
                        break
                    at = match.start()
                    char = buf[at]
                    name = buf[pos + 6 : at].lstrip(WS)
                    if not name:
                        if char in WS:
                            scan = at + 1
                            continue
                        if char == "{":
                            self._name = ""
                            self._tool = NO_TOOL
                            self._quote = ""
                            self._error = ("malformed_call", "a name is missing")
                            pos = at
                            state = _SKIP
                            continue
                    if not name or len(name) > 128 or char in "=\"'":
                        state = self._not_a_call(out)
                        pos += 6
                        continue
                    self._name = name
                    scan = at
                    state = _COMMIT

                elif state == _COMMIT:
                    scan = at = _ws_run(buf, scan).end()  # type: ignore[union-attr]
                    if at == size:
                        break
                    char = buf[at]
                    if char == "{":
                        self._begin(self._name, out)
                        pos = at
                        self._pieces = []
                        self._depth = 0
                        self._quote = ""
                        state = _OBJECT
                    elif char == "<":
                        state = _COMMIT_PROSE
                    else:
                        self._key_at = at - pos
                        state = _COMMIT_KEY

                elif state == _COMMIT_KEY:
                    match = _key_stop(buf, scan)
                    key_at = pos + self._key_at
                    if match is None:
                        if size - pos <= WINDOW:
                            scan = size
                            break
                        state = _COMMIT_PROSE
                        continue
                    at = match.start()
                    if buf[at] in "\"'":
                        match = _key(buf, key_at)
                        at = match.end() if match else key_at
                        if (at == size or match is None) and size - pos <= WINDOW:
                            scan = key_at
                            break
                    if at < size and buf[at] == "=" and at > key_at:
                        self._begin(self._name, out)
                        key = buf[key_at:at]
                        self._field = self._tool.fields.get(key) or self._undeclared(key)
                        pos = at + 1
                        state = _VALUE
                    else:
                        scan = key_at
                        state = _COMMIT_PROSE

                elif state == _COMMIT_PROSE:
                    close = buf.find(CLOSE, scan, pos + WINDOW)
                    opened = buf.find(OPEN, scan, pos + WINDOW if close < 0 else close)
                    if opened < 0 and close < 0 and size - pos <= WINDOW:
                        scan = max(scan, size - 6)
                        break
                    name = self._name
                    direct = buf.startswith(name, pos + 6)
                    if opened < 0 <= close and (name in self._tools or (direct and _plain_name(name))):
                        self._begin(name, out)
                        body = buf[pos + 6 : close].lstrip(WS)[len(name) :].strip(WS)
                        pos = close
                        if body:
                            raise RefusedError("malformed_call", "expected key=value")
                        state = _AFTER
                    else:
                        state = self._not_a_call(out)
                        pos += 6

                elif _JSON <= state <= _OBJECT:
                    at = self._json_end(buf, pos)
                    if at < 0:
                        pos = size + 1 + at
                        break
                    text = "".join(self._pieces)
                    pos = at
                    if state == _OBJECT:
                        self._put_object(text, fresh)
                        state = _OBJECT_END
                    else:
                        self._put_json(text, fresh)
                        state = _AFTER

                elif state == _OBJECT_END:
                    pos = _ws_run(buf, pos).end()  # type: ignore[union-attr]
                    if pos == size or (size - pos < 7 and CLOSE.startswith(buf[pos:])):
                        break
                    if not buf.startswith(CLOSE, pos):
                        raise RefusedError("malformed_call", "nothing may follow the object")
                    pos += 7
                    self._end_call(self._base + pos, out, fresh)
                    state = _TEXT

                else:  # _SKIP
                    at = self._skip(buf, pos)
                    if at < 0:
                        pos = size + 1 + at
                        break
                    pos = at
                    out.append(self._call_error(self._base + pos))
                    state = _TEXT
        except RefusedError as refused:
            kind, message = refused.args
            self._error = (kind, message)
            self._quote = ""
            self._flush(out, fresh)
            self._held = ""
            self._base += pos
            self._state = _SKIP
            self._fast = _SLOW
            self._scan = 0
            return [*out, *self._advance(buf[pos:])]

        if fresh:
            delta = "".join(fresh)
            self._append(delta)
            out.append(ArgumentsDelta(self._index, delta))
        self._base += pos
        self._state = state
        if pos < size:
            self._held = buf[pos:] if pos else buf
            self._scan = scan - pos if scan > pos else 0
            if state == _STRING:
                self._fast = _IN_ESCAPE if self._streams else _SLOW
            elif scan == size and state in _KEY_STATES:
                self._fast = _IN_KEY
            else:
                self._fast = _SLOW
        else:
            self._held = ""
            self._scan = 0
            if state == _TEXT:
                self._fast = _IN_TEXT
            elif state == _STRING:
                if self._streams:
                    self._fast = _IN_DOUBLE if self._quote == '"' else _IN_SINGLE
                else:
                    self._fast = _IN_PIECES
            elif state == _BARE and self._streams:
                self._fast = _IN_BARE
            else:
                self._fast = _SLOW
        return out

    # What follows runs once for each call or value.

    def _not_a_call(self, out: list[Event]) -> int:
        out.append(Text(OPEN))
        return _TEXT

    def _json_end(self, buf: str, pos: int) -> int:
        """The position after a JSON value (now in the pieces); -1 minus what the buffer still needs."""
        at = pos
        depth = self._depth
        while True:
            if self._quote:
                at = _string_end['"'](buf, at).end()  # type: ignore[union-attr]
                if at >= len(buf) or buf[at] != '"':
                    break
                self._quote = ""
                at += 1
            match = _json_stop(buf, at)
            if match is None:
                at = len(buf)
                break
            at = match.end()
            char = match[0]
            if char == '"':
                self._quote = '"'
            elif char in "{[":
                depth += 1
            else:
                depth -= 1
                if not depth:
                    self._pieces.append(buf[pos:at])
                    return at
        self._pieces.append(buf[pos:at])
        self._depth = depth
        return at - len(buf) - 1

    def _skip(self, buf: str, pos: int) -> int:
        """The position after the CLOSE of a failed call; -1 minus what the buffer still needs."""
        size = len(buf)
        while True:
            if self._quote:
                pos = _string_end[self._quote](buf, pos).end()  # type: ignore[union-attr]
                if pos >= size or buf[pos] != self._quote:
                    break
                self._quote = ""
                pos += 1
            match = _skip_stop(buf, pos)
            if match is None:
                pos = max(pos, size - 1)
                break
            pos = match.start()
            if buf[pos] != "<":
                self._quote = buf[pos]
                pos += 1
            elif buf.startswith(CLOSE, pos):
                return pos + 7
            elif size - pos < 7 and CLOSE.startswith(buf[pos:]):
                break
            else:
                pos += 1
        return pos - size - 1


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
