"""Describes a format by its `response_template`, the declaration of transformers 5.13 and newer.

The declaration only says how a message is read: what opens and closes its fields, as texts or as regular
expressions, and how calls are in theirs. A description is also what messages are written by. The first of
several forms is written, and no whitespace that the declaration does not mention.

`defaults`, `optional`, `repeats` and `join` say how transformers builds a message. No format needs them.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from wirecall._shown import shortened, shown
from wirecall.errors import ToolError

# A marker or pattern of the templates known so far has 160 characters at most.
_MAX_CHARS = 2_000
# Those known have up to three alternatives, and groups one level deep.
_MAX_ALTERNATIVES = 16
_MAX_DEPTH = 8
_SHOWN_CHARS = 60

_TEMPLATE_KEYS = {"version", "defaults", "fields", "start_anchor", "start_anchor_pattern"}
_MARK_KEYS = {"open", "open_pattern", "close", "close_pattern"}
_CONTENT_KEYS = {"content", "content_args", "transform", "transform_each"}
_FIELD_KEYS = {*_MARK_KEYS, *_CONTENT_KEYS, "optional", "repeats", "join"}
_REASONING = ("thinking", "reasoning", "reasoning_content")

_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\})\??")
# A named group that takes characters of one class.
_CAPTURE = re.compile(r"\(\?P<(\w+)>(?:\\[wSd]|\.|\[(?:\\.|[^\]\\])+\])(?:[*+]|\{\d+,\d*\})\??\)", re.DOTALL)
# A group that takes nothing, but says that something must come later.
_AHEAD = re.compile(r"\(\?=(?:\[\\s\\S\]|\.)\*\?[^()]*\)")
_PLACEHOLDER = re.compile(r"\{(\w+(?:\.\w+)*)\}")
_HOLE = re.compile(r"\{\w+[|}]")
_JSON_STRING = re.compile(r'(:\s*)"(\{(?:name|id)\})"')
_TAG_END = re.compile(r"(?<=[>\]])")
_TAG = re.compile(r"<([A-Za-z_][\w.-]*)")


class _Hole(NamedTuple):
    """A part of a marker that differs from call to call."""

    name: str


class _Space(NamedTuple):
    """Optional whitespace: what is written for it, or "" if that depends on what precedes it."""

    text: str


_Piece = str | _Hole | _Space
_Pieces = tuple[_Piece, ...]
_START, _END = _Hole("^"), _Hole("$")
_EDGES: dict[str, _Piece] = {"^": _START, r"\A": _START, "$": _END, r"\Z": _END, r"\z": _END}
_BLANKS: dict[str, _Piece] = {r"\s": _Space(""), r"\n": "\n", r"\r": "\r", r"\t": "\t"}
_TOKENS = _EDGES | _BLANKS


class _Shape(NamedTuple):
    """Where the parts of a call are: a group of a pattern, or the content and a key in it."""

    name: tuple[str, ...]
    arguments: tuple[str, ...]
    id: tuple[str, ...] | None


class _Table(NamedTuple):
    """An object of the declaration, and where it is."""

    given: Mapping[str, object]
    where: str

    def place(self, key: str) -> str:
        return f"{self.where}[{key!r}]"

    def error(self, key: str, why: str) -> ToolError:
        """About a key, or about the pattern that is given instead."""
        pattern = f"{key}_pattern"
        return ToolError(f"{self.place(pattern if pattern in self.given else key)}: {why}")

    def flag(self, key: str) -> bool:
        value = self.given.get(key, False)
        if not isinstance(value, bool):
            raise TypeError(f"{self.place(key)} must be a bool, not {type(value).__name__}")
        return value

    def text(self, key: str, default: str) -> str:
        return _text(self.given.get(key, default), self.place(key))

    def table(self, key: str, keys: set[str]) -> "_Table":
        value = self.given.get(key)
        return _table({} if value is None else value, self.place(key), keys)


def described(template: Mapping[str, object], name: str) -> dict[str, Any]:
    """Describes the format that a response template reads.

    Text outside of all fields, which transformers drops if no field takes it, is content.

    Args:
        template: What is under `response_template` in `tokenizer_config.json`.
        name: The name of the format.

    Raises:
        TypeError: A value is not of the documented type.
        ToolError: A field cannot be described. The message names it, and says why.
    """
    whole = _table(template, "response_template", _TEMPLATE_KEYS)
    if whole.given.get("version", 1) != 1:
        raise whole.error("version", "only version 1 is known")
    fields = _fields(whole)
    if "tool_calls" not in fields:
        raise whole.error("fields", "there is no field tool_calls")
    content = _content(fields["content"]) if "content" in fields else {"stops": []}
    anchors = _texts(whole, "start_anchor", _marks(whole, "start_anchor"))
    reasoning = _reasoning(fields["reasoning"], anchors) if "reasoning" in fields else {"reasoning": False}
    calls = _calls(fields["tool_calls"], content["stops"])
    _check_markers(fields)
    return {"name": name, **reasoning, **content, **calls}


def _table(value: object, where: str, keys: set[str]) -> _Table:
    if not isinstance(value, Mapping):
        raise TypeError(f"{where} must be an object, not {type(value).__name__}")
    for key in value:
        if key not in keys:
            raise ToolError(f"{where}: there is no key {_excerpt(key)}; known are {', '.join(sorted(keys))}")
    return _Table(value, where)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{where} must be a str, not {type(value).__name__}")
    if len(value) > _MAX_CHARS:
        raise ToolError(f"{where}: it has {len(value):,} characters, more than {_MAX_CHARS:,}")
    return value


def _excerpt(value: object) -> str:
    return shortened(shown(value), _SHOWN_CHARS)


def _fields(whole: _Table) -> dict[str, _Table]:
    """The fields by what they are. That of reasoning has one of several names."""
    where = whole.place("fields")
    given = _table(whole.given.get("fields"), where, {"content", "tool_calls", *_REASONING}).given
    named = {key: _table(value, f"{where}[{key!r}]", _FIELD_KEYS) for key, value in given.items()}
    reasoning = [key for key in _REASONING if key in named]
    if len(reasoning) > 1:
        raise ToolError(f"{where}: {' and '.join(reasoning)} are both reasoning; a format has one kind")
    return {"reasoning" if key in _REASONING else key: field for key, field in named.items()}


def _marks(table: _Table, key: str) -> list[_Pieces]:
    """What may open or close a field, by the key or by its pattern, as the pieces of each form."""
    pattern = f"{key}_pattern"
    if pattern in table.given:
        if key in table.given:
            raise table.error(key, f"{pattern} is given, too")
        return _alternatives(table, pattern)
    value = table.given.get(key, [])
    texts = value if isinstance(value, list | tuple) else [value]
    if len(texts) > _MAX_ALTERNATIVES or (key in table.given and not texts):
        raise table.error(key, f"it must have 1 to {_MAX_ALTERNATIVES} texts, not {len(texts):,}")
    return [_checked((_text(text, table.place(key)),), table.place(key)) for text in texts]


def _alternatives(table: _Table, key: str) -> list[_Pieces]:
    pattern = _Pattern(table.text(key, ""), table.place(key))
    marks = [_checked(mark, pattern.where) for mark in pattern.alternatives(0)]
    if pattern.at < len(pattern.text):
        raise pattern.error(pattern.at, "closes no group")
    return marks


def _checked(mark: _Pieces, where: str) -> _Pieces:
    text = "".join(piece if isinstance(piece, str) else " " for piece in mark)
    if hole := _HOLE.search(text):
        raise ToolError(f"{where}: {_excerpt(hole[0])} would be a hole in a description, not text")
    if not text.strip() and not any(isinstance(piece, _Hole) for piece in mark):
        raise ToolError(f"{where}: it may be empty")
    return mark


class _Pattern:
    """Reads a regular expression that is a text with optional whitespace, named groups and alternatives.

    It is expanded, not compiled: the result is what it matches, one for each combination of alternatives.
    """

    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self.where = where
        self.at = 0

    def alternatives(self, depth: int) -> list[_Pieces]:
        """Up to the end of the group, or of the pattern."""
        done: list[_Pieces] = []
        current: list[_Pieces] = [()]
        while self.at < len(self.text) and self.text[self.at] != ")":
            if self.text[self.at] == "|":
                self.at += 1
                done, current = done + current, [()]
            else:
                items = self.item(depth)
                current = [(*before, *item) for before in current for item in items]
            if len(done) + len(current) > _MAX_ALTERNATIVES:
                raise ToolError(f"{self.where}: it has more than {_MAX_ALTERNATIVES} alternatives")
        return done + current

    def item(self, depth: int) -> list[_Pieces]:
        if found := _CAPTURE.match(self.text, self.at) or _AHEAD.match(self.text, self.at):
            self.at = found.end()
            return [(_Hole(found[1]) if found.re is _CAPTURE else _START,)]
        return self.group(depth) if self.text[self.at] == "(" else [(self.single(),)]

    def group(self, depth: int) -> list[_Pieces]:
        begin = self.at
        plain = self.text.startswith("(?:", begin)
        if depth == _MAX_DEPTH or (not plain and self.text.startswith("(?", begin)):
            raise self.error(begin, "begins a group that cannot be described")
        self.at += 3 if plain else 1
        inside = self.alternatives(depth + 1)
        if self.at == len(self.text):
            raise self.error(begin, "begins a group that is not closed")
        self.at += 1
        quantifier = self.quantifier()
        if quantifier not in ("", "?", "??"):
            raise self.error(begin, "begins a group that is repeated")
        return [*inside, ()] if quantifier else inside

    def single(self) -> _Piece:
        """One character, or whitespace, or an edge of the text."""
        begin = self.at
        self.at += 2 if self.text.startswith("\\", begin) else 1
        piece = _meaning(self.text[begin : self.at])
        quantifier = self.quantifier()
        if isinstance(piece, str) and piece.isspace() and quantifier:
            return _Space(piece)
        if piece is None or (quantifier and not isinstance(piece, _Space)):
            raise self.error(begin, "matches text that differs; only whitespace and named groups may differ")
        return piece

    def quantifier(self) -> str:
        found = _QUANTIFIER.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""

    def error(self, at: int, why: str) -> ToolError:
        return ToolError(f"{self.where}: {_excerpt(self.text[at : at + 20])} at character {at + 1} {why}")


def _meaning(token: str) -> _Piece | None:
    """What a character or an escape matches; None if that is not one text."""
    if token in _TOKENS:
        return _TOKENS[token]
    differs = token[1].isalnum() if len(token) == 2 else token in "\\.[*+?"
    return None if differs else token[-1]


def _written(pieces: Sequence[_Piece]) -> str:
    """The text of a template. Whitespace at its ends is left out if it is optional."""
    text = ""
    space: _Space | None = None
    for piece in pieces:
        if isinstance(piece, _Space):
            space = space or piece
            continue
        added = piece if isinstance(piece, str) else f"{{{piece.name}}}"
        if space and text and not text[-1].isspace() and not added[:1].isspace():
            text += space.text or ("\n" if text[-1] in ">}" else " ")
        text, space = text + added, None
    return text


def _texts(table: _Table, key: str, marks: list[_Pieces]) -> list[str]:
    """Markers that are the same in each message, without duplicates."""
    for piece in (piece for mark in marks for piece in mark if isinstance(piece, _Hole)):
        raise table.error(key, f"{_excerpt(piece.name)} stands for text that differs; it cannot do so here")
    return list(dict.fromkeys(_written(mark) for mark in marks))


def _openers(field: _Table) -> list[_Pieces]:
    """What opens a field, without the start of the message."""
    return [mark for mark in _marks(field, "open") if mark != (_START,)]


def _closers(field: _Table) -> list[_Pieces]:
    """What closes a field, without the end of the message, which always does."""
    return [mark for mark in _marks(field, "close") if mark != (_END,)]


def _is_stripped(field: _Table) -> bool:
    """Whether whitespace around the text is dropped. The field must be text."""
    if field.text("content", "text") != "text" or field.given.get("transform") is not None:
        raise field.error("content", "only text without a transform can be described here")
    args = field.table("content_args", {"strip"})
    return "strip" not in args.given or args.flag("strip")


def _content(field: _Table) -> dict[str, Any]:
    """What may surround the content, and what ends the turn."""
    _is_stripped(field)
    closes = [text.strip() for text in _texts(field, "close", _closers(field))]
    opens = [text.strip() for text in _texts(field, "open", _marks(field, "open"))]
    if not opens:
        return {"stops": closes}
    if len(opens) > 1:
        raise field.error("open", "only one marker of content can be described")
    if not closes:
        raise field.error("close", "it is missing; markers of content are only described in pairs")
    return {"answer": [opens[0], closes[0]], "stops": closes[1:]}


def _reasoning(field: _Table, anchors: list[str]) -> dict[str, Any]:
    """What opens and closes reasoning. Messages begin in it if nothing has to open it, or the prompt does."""
    stripped = _is_stripped(field)
    closes = _texts(field, "close", _closers(field))
    if not closes:
        raise field.error("close", "it is missing; reasoning must end before the message does")
    marks = _marks(field, "open")
    prompted = [f"<{close[2:]}" for close in closes[:1] if close.startswith("</")]
    opens = _texts(field, "open", _openers(field)) or prompted
    if not marks or not opens:
        raise field.error("open", "nothing is known that opens reasoning")
    (open, close), *also = product(opens, closes)
    table: dict[str, Any] = {"template": f"{open}{{reasoning}}{close}"}
    if (open, close) != (open.strip(), close.strip()):
        table["pair"] = [open, close]
    if also:
        table["also"] = [list(pair) for pair in also]
    if stripped:
        table |= {"break_after_open": True, "break_before_close": True, "breaks_after": True}
    bare = open.rstrip()
    ends = [anchor[anchor.rfind(bare) :] for anchor in anchors if anchor.rstrip().endswith(bare)]
    if ends and ends[0] != open:
        table["prompt"] = ends[0]
    return {"reasoning": table, **({"starts_in_reasoning": True} if ends or (_START,) in marks else {})}


def _check_markers(fields: Mapping[str, _Table]) -> None:
    """What closes a field must differ from what opens it, and fields must begin with different tags."""
    owners: dict[str, str] = {}
    for key, field in fields.items():
        closes = {_written(mark).strip() for mark in _closers(field)}
        for text in (_written(mark).strip() for mark in _openers(field)):
            if text in closes:
                raise field.error("close", f"{_excerpt(text)} opens the field, too")
            first = _TAG_END.split(text, maxsplit=1)[0]
            if owners.setdefault(first, key) != key:
                raise field.error("open", f"{_excerpt(first)} begins {owners[first]}, too, as in channels")


def _calls(field: _Table, stops: list[str]) -> dict[str, Any]:
    opens = _marks(field, "open")
    if not opens or not all(isinstance(mark[0], str) for mark in opens):
        raise field.error("open", "it must begin with text")
    readers = {"json": _json, "xml-inline": _tagged, "python-call-list": _python}
    reader = readers.get(field.text("content", "text"))
    if reader is None:
        raise field.error("content", "calls in this form cannot be described")
    _texts(field, "close", _closers(field))
    closes = [_without_stop(mark, stops) for mark in _closers(field)]
    pairs = list(product(opens, [mark for mark in closes if mark != ("",)] or [()]))
    if len(pairs) > _MAX_ALTERNATIVES:
        raise field.error("open", f"with its closers, it has more than {_MAX_ALTERNATIVES} forms")
    forms = [reader(field, open, close) for open, close in pairs]
    first, *others = list({repr(form): form for form in forms}.values())
    if others:
        first["spellings"] = [{key: form[key] for key in form if form[key] != first[key]} for form in others]
    if _written(opens[0]).startswith(("<|", "<｜")):
        first["special_tokens"] = True
    return first


def _without_stop(mark: _Pieces, stops: list[str]) -> _Pieces:
    """A closer without the end of the turn after it."""
    text = _written(mark)
    stop = next((stop for stop in stops if text.endswith(stop)), "")
    return (text.removesuffix(stop),) if stop else mark


def _json(field: _Table, open: _Pieces, close: _Pieces) -> dict[str, Any]:
    args = field.table("content_args", {"unquoted_keys", "string_delims", "allow_non_json"})
    shape = _shape(field)
    each = field.flag("transform_each")
    if args.flag("unquoted_keys") or args.given.get("string_delims"):
        return _notation(args, _with_name(field, shape, open), close)
    if shape.arguments == ("content",) and not each:
        call = _written((*_with_name(field, shape, open), _Hole("arguments"), *close))
        return {"call": _JSON_STRING.sub(r"\1\2", call)}
    _texts(field, "open", [open])
    call = _json_object(field, shape, () if each else ("content",))
    return _listed(call, open, close) if each else {"call": _written((*open, call, *close))}


def _json_object(field: _Table, shape: _Shape, inside: tuple[str, ...]) -> str:
    """A call as an object that has the name and the arguments."""
    members = []
    for hole, path in (("id", shape.id), ("name", shape.name), ("arguments", shape.arguments)):
        if path and path[:-1] != inside:
            raise field.error("transform", f"{hole} at {_excerpt('.'.join(path))} cannot be described")
        if path:
            members.append(f'"{path[-1]}": {{{hole}}}')
    return f"{{{', '.join(members)}}}"


def _listed(call: str, open: _Pieces, close: _Pieces) -> dict[str, Any]:
    return {"call": call, "message": _written((*open, "[{calls|, }]", *close))}


def _notation(args: _Table, open: _Pieces, close: _Pieces) -> dict[str, Any]:
    """The notation of Gemma: keys without quotes, and strings in quotes of their own."""
    match args.given.get("string_delims"):
        case [[str(quote), str(end)]] if quote == end and args.flag("unquoted_keys"):
            _text(quote, args.place("string_delims"))
        case _:
            raise args.error("string_delims", "only one quote, with unquoted keys, can be described")
    if not _written(open).endswith("call:{name}"):
        raise args.error("unquoted_keys", "the name before such arguments must follow call:")
    return {"call": _written((*open, _Hole("members"), *close)), "calls": {"quote": quote}}


def _tagged(field: _Table, open: _Pieces, close: _Pieces) -> dict[str, Any]:
    """Arguments in tags, each on a line if the pattern of a tag has whitespace."""
    shape = _shape(field)
    if shape.arguments != ("content",):
        raise field.error("transform", "arguments in tags must be the whole {content}")
    if not close:
        raise field.error("close", "it is missing; arguments in tags cannot be described without it")
    tag = _argument(field)
    line = (_Space("\n"),) if any(isinstance(piece, _Space) or "\n" in piece for piece in tag) else ()
    opened = (*_with_name(field, shape, open), *line)
    call = _written((*opened, _Hole("args"), *_left_open(opened, close, line), *close))
    return {"call": call, "argument": _written(tag) + ("\n" if line else "")}


def _argument(field: _Table) -> _Pieces:
    args = field.table("content_args", {"tag_pattern", "value_parser", "merge_duplicates"})
    tags = _alternatives(args, "tag_pattern")
    if [piece.name for tag in tags for piece in tag if isinstance(piece, _Hole)] != ["key", "value"]:
        raise args.error("tag_pattern", "it must have a group key and then a group value, and no other")
    if args.flag("merge_duplicates"):
        raise args.error("merge_duplicates", "repeated arguments as a list cannot be described")
    parser = args.table("value_parser", {"name", "args"})
    name = parser.text("name", "text")
    lenient = parser.table("args", {"strip", "allow_non_json"}).flag("allow_non_json")
    if name != "text" and not (name == "json" and lenient):
        raise args.error("value_parser", "only values that are text, or JSON if possible, can be described")
    return tags[0]


def _left_open(opened: _Pieces, close: _Pieces, line: _Pieces) -> _Pieces:
    """Closers of inner elements. No pattern has them, because text between tags is skipped."""
    outer, *inner = _TAG.findall(_written(opened)) or [""]
    if f"</{outer}>" not in _written(close):
        return ()
    return tuple(piece for tag in reversed(inner) for piece in (f"</{tag}>", *line))


def _python(field: _Table, open: _Pieces, close: _Pieces) -> dict[str, Any]:
    field.table("content_args", set())
    _texts(field, "open", [open])
    each = field.flag("transform_each") and _shape(field) == _Shape(("name",), ("arguments",), None)
    if field.given.get("transform") is not None and not each:
        raise field.error("transform", "only {name} and {arguments} of each call can be described")
    return _listed("{name}({kwargs})", open, close)


def _with_name(field: _Table, shape: _Shape, open: _Pieces) -> _Pieces:
    """What opens a call, with the holes of a description in place of its groups."""
    groups = {shape.name: "name", shape.id: "id"}
    holes = [groups.get((piece.name,), "") for piece in open if isinstance(piece, _Hole)]
    if holes.count("name") != 1 or "" in holes:
        raise field.error("open", "it must have a group for the name, and none but that and the id")
    return tuple(_Hole(groups[piece.name,]) if isinstance(piece, _Hole) else piece for piece in open)


def _shape(field: _Table) -> _Shape:
    """Where the transform takes the parts of a call from. Without one, the content is the call."""
    usual = _Shape(("content", "name"), ("content", "arguments"), None)
    if field.given.get("transform") is None:
        return usual
    whole = field.table("transform", {"type", "id", "function", "name", "arguments"})
    id = _path(whole, "id") if "id" in whole.given else None
    if whole.given.get("function") == "{content}" and not field.flag("transform_each"):
        return usual._replace(id=id)
    function = whole.table("function", {"name", "arguments"}) if "function" in whole.given else whole
    return _Shape(_path(function, "name"), _path(function, "arguments"), id)


def _path(table: _Table, key: str) -> tuple[str, ...]:
    found = _PLACEHOLDER.fullmatch(table.text(key, ""))
    if not found:
        raise table.error(key, "it must be a placeholder such as {content}")
    return tuple(found[1].split("."))
