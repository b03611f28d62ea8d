"""The loop of the hand-written parser: from state to state, over a delta and what was held back.

`HandWritten` in `parser` enters it with every delta that none of its short cuts decides.
"""

import re
from collections.abc import Sequence
from json.encoder import encode_basestring as json_string  # the C function: a str as a JSON string

from wirecall_bench.handwritten.arguments import (
    NO_TOOL,
    Arguments,
    RefusedError,
    complete_escapes,
    escapes,
    string_end,
    unescape,
)
from wirecall_bench.handwritten.events import ArgumentsDelta, Event, Text
from wirecall_bench.handwritten.format import BARE_SEGMENT, CLOSE, OPEN, WS

_WINDOW = len(OPEN) + 256  # how far an attempt is followed before it counts as text

# The states, in the order in which a call goes through them. Those up to COMMIT_PROSE are outside a call.
TEXT, NAME, COMMIT, COMMIT_KEY, COMMIT_PROSE = range(5)
AFTER, BETWEEN, KEY, VALUE, STRING, BARE, JSON, OBJECT, OBJECT_END, SKIP = range(5, 15)
_KEY_STATES = frozenset((NAME, COMMIT_KEY, KEY))

# The short cuts that `feed` may try: in text, in a streamed string by its kind of quotes, with an escape held
# back in it, in a streamed bare word, in a value that is collected, in a name or key.
SLOW, IN_TEXT, IN_DOUBLE, IN_SINGLE, IN_ESCAPE, IN_BARE, IN_PIECES, IN_KEY = range(8)

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
_bare_stop = re.compile(r"[ \t\r\n<]").search
_plain_name = re.compile(r"[A-Za-z0-9_.:/-]+").fullmatch


class CallReader(Arguments):
    """The state of a message, and the loop that changes it."""

    __slots__ = ("_base", "_fast", "_held", "_key_at", "_scan", "_state", "_streams")

    # The parser sets them, too.
    _state: int
    _fast: int
    _held: str  # not decided yet; `_scan` is how far into it was looked
    _scan: int
    _base: int  # the offset in the message of what is held
    _key_at: int
    _streams: bool

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
                if state == STRING:
                    quote = self._quote
                    end = string_end[quote](buf, pos).end()  # type: ignore[union-attr]
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
                    state = AFTER

                elif state == AFTER:
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
                            state = KEY
                            scan = pos
                        else:
                            state = BETWEEN
                    elif char == "<":
                        if buf.startswith(CLOSE, pos):
                            pos += 7
                            self._end_call(self._base + pos, out, fresh)
                            state = TEXT
                        elif size - pos < 7 and CLOSE.startswith(buf[pos:]):
                            break
                        else:
                            raise RefusedError("malformed_call", "expected key=value")
                    else:
                        raise RefusedError("malformed_call", "expected a space after a value")

                elif state == TEXT:
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
                    state = NAME
                    self._start = self._base + at
                    if size - scan > 16:
                        match = _head(buf, scan)
                        if match is not None:
                            pos = scan = match.end()
                            self._begin(match[1], out)
                            state = AFTER

                elif state == BETWEEN:
                    if pos < size and buf[pos] in WS:
                        pos = _ws_run(buf, pos).end()  # type: ignore[union-attr]
                    if pos == size:
                        break
                    if buf[pos] == "<":
                        state = AFTER
                    else:
                        state = KEY
                        scan = pos

                elif state == KEY:
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
                    state = VALUE

                elif state == VALUE:
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
                        state = STRING
                    elif (char == "{" or char == "[") and field.kind not in ("string", "enum"):
                        self._depth = 0
                        self._quote = ""
                        state = JSON
                    else:
                        state = BARE

                elif state == BARE:
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
                        state = AFTER
                    elif held or pos == size:
                        break

                elif state == NAME:
                    match = _name_stop(buf, scan)
                    if match is None:
                        if size - pos > _WINDOW:
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
                            state = SKIP
                            continue
                    if not name or len(name) > 128 or char in "=\"'":
                        state = self._not_a_call(out)
                        pos += 6
                        continue
                    self._name = name
                    scan = at
                    state = COMMIT

                elif state == COMMIT:
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
                        state = OBJECT
                    elif char == "<":
                        state = COMMIT_PROSE
                    else:
                        self._key_at = at - pos
                        state = COMMIT_KEY

                elif state == COMMIT_KEY:
                    match = _key_stop(buf, scan)
                    key_at = pos + self._key_at
                    if match is None:
                        if size - pos <= _WINDOW:
                            scan = size
                            break
                        state = COMMIT_PROSE
                        continue
                    at = match.start()
                    if buf[at] in "\"'":
                        match = _key(buf, key_at)
                        at = match.end() if match else key_at
                        if (at == size or match is None) and size - pos <= _WINDOW:
                            scan = key_at
                            break
                    if at < size and buf[at] == "=" and at > key_at:
                        self._begin(self._name, out)
                        key = buf[key_at:at]
                        self._field = self._tool.fields.get(key) or self._undeclared(key)
                        pos = at + 1
                        state = VALUE
                    else:
                        scan = key_at
                        state = COMMIT_PROSE

                elif state == COMMIT_PROSE:
                    close = buf.find(CLOSE, scan, pos + _WINDOW)
                    opened = buf.find(OPEN, scan, pos + _WINDOW if close < 0 else close)
                    if opened < 0 and close < 0 and size - pos <= _WINDOW:
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
                        state = AFTER
                    else:
                        state = self._not_a_call(out)
                        pos += 6

                elif JSON <= state <= OBJECT:
                    at = self._json_end(buf, pos)
                    if at < 0:
                        pos = size + 1 + at
                        break
                    text = "".join(self._pieces)
                    pos = at
                    if state == OBJECT:
                        self._put_object(text, fresh)
                        state = OBJECT_END
                    else:
                        self._put_json(text, fresh)
                        state = AFTER

                elif state == OBJECT_END:
                    pos = _ws_run(buf, pos).end()  # type: ignore[union-attr]
                    if pos == size or (size - pos < 7 and CLOSE.startswith(buf[pos:])):
                        break
                    if not buf.startswith(CLOSE, pos):
                        raise RefusedError("malformed_call", "nothing may follow the object")
                    pos += 7
                    self._end_call(self._base + pos, out, fresh)
                    state = TEXT

                else:  # SKIP
                    at = self._skip(buf, pos)
                    if at < 0:
                        pos = size + 1 + at
                        break
                    pos = at
                    out.append(self._call_error(self._base + pos))
                    state = TEXT
        except RefusedError as refused:
            kind, message = refused.args
            self._error = (kind, message)
            self._quote = ""
            self._flush(out, fresh)
            self._held = ""
            self._base += pos
            self._state = SKIP
            self._fast = SLOW
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
            if state == STRING:
                self._fast = IN_ESCAPE if self._streams else SLOW
            elif scan == size and state in _KEY_STATES:
                self._fast = IN_KEY
            else:
                self._fast = SLOW
        else:
            self._held = ""
            self._scan = 0
            if state == TEXT:
                self._fast = IN_TEXT
            elif state == STRING:
                if self._streams:
                    self._fast = IN_DOUBLE if self._quote == '"' else IN_SINGLE
                else:
                    self._fast = IN_PIECES
            elif state == BARE and self._streams:
                self._fast = IN_BARE
            else:
                self._fast = SLOW
        return out

    def _not_a_call(self, out: list[Event]) -> int:
        out.append(Text(OPEN))
        return TEXT
