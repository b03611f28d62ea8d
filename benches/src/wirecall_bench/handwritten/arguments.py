"""One call, for the hand-written parser: each value by its type into the JSON of its arguments.

What runs once for each call or value is here, and so are the ends of JSON values and of failed calls.
"""

import re
from collections.abc import Callable, Sequence
from json.encoder import encode_basestring as json_string  # the C function: a str as a JSON string
from random import getrandbits
from typing import Any

from wirecall_bench.handwritten.events import NOTHING, ArgumentsDelta, CallEnd, CallError, CallStart, Event
from wirecall_bench.handwritten.format import (
    BARE_SEGMENT,
    CLOSE,
    WORDS,
    Field,
    Schema,
    Tool,
    Tools,
    dumps,
    is_number,
    loads,
)

_segments = re.compile(
    rf"(?:^|\.)(?:({BARE_SEGMENT})|\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)')", re.S
).finditer
_integer = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:\.0+)?").fullmatch
escapes = re.compile(r"\\(?:([\"'\\nrt])|u([dD][89abAB]..)\\u([dD][c-fC-F]..)|u([0-9a-fA-F]{4}))", re.S).sub
_escape_tokens = re.compile(r"\\(?:u([0-9a-fA-F]*)|.)", re.S).finditer
string_end = {
    '"': re.compile(r"[^\"\\]*(?:\\.[^\"\\]*)*", re.S).match,
    "'": re.compile(r"[^'\\]*(?:\\.[^'\\]*)*", re.S).match,
}
_json_stop = re.compile(r"[\"{}\[\]]").search
_skip_stop = re.compile(r"(?<=[ \t\r\n=.])[\"']|<").search
_ESCAPED = {'"': '"', "'": "'", "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}


def unescape(match: re.Match[str]) -> str:
    simple, high, low, code = match.groups()
    if simple is not None:
        return _ESCAPED[simple]
    if high is not None:
        try:
            return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
        except ValueError:
            return match[0]
    char = chr(int(code, 16))
    return "\ufffd" if "\ud800" <= char <= "\udfff" else char


def complete_escapes(raw: str) -> int:
    """How much of a string has no `\\uXXXX`, or pair of them, that may go on in the next delta."""
    pending = -1
    for match in _escape_tokens(raw):
        digits = match[1]
        pending = -1
        if digits is None:
            continue
        if len(digits) < 4:
            if match.end() == len(raw):
                pending = match.start()
        elif digits[0] in "dD" and digits[1] in "89abAB" and len(digits) == 4:
            rest = raw[match.end() :]
            if r"\u".startswith(rest[:2]) and len(rest) < 6:
                return match.start()
    return len(raw) if pending < 0 else pending


NO_TOOL = Tool("", {})
NO_FIELD = Field(("",), "", {})


class RefusedError(Exception):
    """A value or a key that the strict reader does not take; args: kind, message."""


class Arguments:
    """What is known of the call that is being read, and of its arguments."""

    __slots__ = (
        "_append",
        "_count",
        "_depth",
        "_error",
        "_field",
        "_id",
        "_index",
        "_name",
        "_parts",
        "_pieces",
        "_problems",
        "_quote",
        "_seen",
        "_start",
        "_tool",
        "_tools",
        "_tree",
    )

    # The parser sets them all: calling a second `__init__` would be felt in a short message.
    _tools: Tools
    _count: int
    _index: int
    _id: str
    _name: str
    _tool: Tool
    _start: int
    _field: Field
    _parts: list[str]  # of the call's arguments, all reported
    _append: Callable[[str], None]
    _seen: set[str]
    _tree: dict[str, Any] | None  # what waits for CLOSE, from the first dotted key on
    _problems: Sequence[str]
    _error: tuple[str, str] | None
    _quote: str
    _depth: int
    _pieces: list[str]  # of the value that is being read, if it does not stream

    def _begin(self, name: str, out: list[Event]) -> None:
        self._name = name
        self._tool = self._tools.get(name, NO_TOOL)
        if self._tool is NO_TOOL:
            raise RefusedError("unknown_tool", f"there is no tool {name}")
        self._index = self._count
        self._count += 1
        self._id = f"call_{getrandbits(96):024x}"
        self._parts = []
        self._append = self._parts.append
        self._seen = set()
        self._tree = None
        self._problems = NOTHING
        out.append(CallStart(self._index, self._id, name))

    def _flush(self, out: list[Event], fresh: list[str]) -> None:
        if fresh:
            delta = "".join(fresh)
            fresh.clear()
            self._append(delta)
            out.append(ArgumentsDelta(self._index, delta))

    def _end_call(self, end: int, out: list[Event], fresh: list[str]) -> None:
        tree = self._tree
        if tree is not None:
            for key, value in tree.items():
                fresh.append(f"{',' if self._seen else '{'}{json_string(key)}:{_write_tree(value)}")
                self._seen.add(key)
        fresh.append("}" if self._seen else "{}")
        self._flush(out, fresh)
        required = self._tool.required
        problems = self._problems
        if required:
            missing = required - self._seen
            if missing:
                problems = [*problems, *(f"missing_required: {name}" for name in sorted(missing))]
        arguments = "".join(self._parts)
        out.append(CallEnd(self._index, self._id, self._name, arguments, self._start, end, problems))

    def _undeclared(self, key: str) -> Field:
        path: list[str] = []
        at = 0
        for match in _segments(key):
            if match.start() != at:
                break
            at = match.end()
            bare, double, single = match.groups()
            path.append(bare if bare is not None else escapes(unescape, double if single is None else single))
        if at != len(key) or not path:
            raise RefusedError("malformed_call", f"{key} is not a key")
        schema: Schema = self._tool.schema
        for segment in path:
            schema = schema.get("properties", {}).get(segment, {})
        return Field(tuple(path), key, schema)

    def _put(self, text: str, quoted: bool, fresh: list[str]) -> None:
        """A whole scalar: its JSON into the arguments."""
        field = self._field
        kind = field.kind
        if kind == "string":
            value = json_string(text)
        elif kind == "enum":
            known = field.enum.get(text)
            if known is None:
                self._problems = [*self._problems, f"not_in_enum: {field.path[-1]}"]
                known = json_string(text)
            value = known
        elif quoted:
            if kind != "any":
                raise RefusedError("coerced", f"{field.path[-1]} takes no quoted text")
            value = json_string(text)
        elif kind == "boolean":
            value = text if text == "true" or text == "false" else self._wrong(field, text)
        elif kind == "integer":
            match = _integer(text)
            value = match[1] if match else self._wrong(field, text)
        elif kind == "number":
            value = text if is_number(text) else self._wrong(field, text)
        elif kind == "any":
            value = text if text in WORDS or is_number(text) else json_string(text)
        else:
            raise RefusedError("coerced", f"{field.path[-1]} takes no single value")
        self._add(field.path, value, fresh)

    def _wrong(self, field: Field, text: str) -> str:
        self._problems = [*self._problems, f"wrong_type: {field.path[-1]}"]
        return text if text in WORDS or is_number(text) else json_string(text)

    def _add(self, path: tuple[str, ...], value: str, fresh: list[str]) -> None:
        tree = self._tree
        if tree is None:
            if len(path) == 1:
                if path[0] in self._seen:
                    raise RefusedError("duplicate_argument", f"{path[0]} is given twice")
                fresh.append(f"{',' if self._seen else '{'}{json_string(path[0])}:{value}")
                self._seen.add(path[0])
                return
            tree = self._tree = {}
        if path[0] in self._seen:
            raise RefusedError("duplicate_argument", f"{path[0]} is given twice")
        for key in path[:-1]:
            tree = tree.setdefault(key, {})
            if not isinstance(tree, dict):
                raise RefusedError("duplicate_argument", f"{'.'.join(path)} is given twice")
        if path[-1] in tree:
            raise RefusedError("duplicate_argument", f"{'.'.join(path)} is given twice")
        tree[path[-1]] = value

    def _put_json(self, text: str, fresh: list[str]) -> None:
        field = self._field
        try:
            value = loads(text)
        except ValueError as error:
            raise RefusedError("invalid_json", str(error)) from None
        self._add(field.path, dumps(_typed(value, field.schema)), fresh)

    def _put_object(self, text: str, fresh: list[str]) -> None:
        try:
            members = loads(text)
        except ValueError as error:
            raise RefusedError("invalid_json", str(error)) from None
        properties = self._tool.schema.get("properties", {})
        for key, value in members.items():
            self._add((key,), dumps(_typed(value, properties.get(key, {}))), fresh)

    def _call_error(self, end: int) -> CallError:
        kind, message = self._error or ("", "")
        self._error = None
        if self._tool is NO_TOOL:
            return CallError(None, None, self._name or None, kind, message, self._start, end)
        return CallError(self._index, self._id, self._name, kind, message, self._start, end)

    def _json_end(self, buf: str, pos: int) -> int:
        """The position after a JSON value (now in the pieces); -1 minus what the buffer still needs."""
        at = pos
        depth = self._depth
        while True:
            if self._quote:
                at = string_end['"'](buf, at).end()  # type: ignore[union-attr]
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
                pos = string_end[self._quote](buf, pos).end()  # type: ignore[union-attr]
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


def _write_tree(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "{" + ",".join([f"{json_string(k)}:{_write_tree(v)}" for k, v in value.items()]) + "}"


def _typed(value: Any, schema: Schema) -> Any:
    """JSON numbers and booleans inside a string field become text; everything else is kept."""
    kind = schema.get("type")
    if kind == "string":
        if isinstance(value, (int, float)):
            return dumps(value)
    elif isinstance(value, list):
        items = schema.get("items")
        if items:
            return [_typed(item, items) for item in value]
    elif isinstance(value, dict):
        members = schema.get("properties")
        if members:
            return {key: _typed(item, members.get(key, {})) for key, item in value.items()}
    elif kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value
