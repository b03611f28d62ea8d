"""Infers from renderings how a chat template writes calls: the reader, and its templates with holes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wirecall._tools.formats.markup import (
    ARGUMENTS,
    ID,
    KEY,
    NAME,
    VALUE,
    common_prefix,
    common_suffix,
    hole,
    template,
    trailing_space,
)
from wirecall._tools.formats.turns import FIRST, KEYS, SECOND, Arguments, Turns
from wirecall.errors import ToolError

Call = tuple[str, Arguments]
Span = tuple[int, int]

# Stands for a whole JSON object, or for the arguments in another notation.
UNIT = "\ue005"
_MARKS = re.compile(f"[{NAME}{ARGUMENTS}{KEY}{VALUE}{ID}{UNIT}]")
_DECODER = json.JSONDecoder()
# The levels of an object that are searched for the parts of a call. Texts can be nested much deeper.
_LEVELS = 8
# A key, and how it is written where attributes are escaped.
_AMPERSAND, _ESCAPED = "zq&", "zq&amp;"

ONE: Call = (FIRST, {KEYS[0]: "zqvala"})
TWO: Call = (SECOND, {KEYS[0]: "zqvalb"})
THREE: Call = (FIRST, {KEYS[0]: "zqvala", KEYS[1]: 73519})
# One value of each type, in the order of the attributes that `kind` may have.
SAMPLES: dict[str, object] = {
    "string": "zqvala",
    "number": 73519,
    "boolean": True,
    "null": None,
    "array": ["zqvala"],
    "object": {"k": True},
}


@dataclass(frozen=True)
class Calls:
    """How the calls of a message are written."""

    reader: str
    call: str
    """The template of a call, without the whitespace around it."""
    opener: str
    """The part of it before the first hole."""
    before: str
    """The text between the header and the first call of a message."""
    after: str
    """The text after the last call."""
    between: str | None
    """None if the template writes one call at most."""
    argument: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    """The field `calls` of the description."""

    @property
    def calls_hole(self) -> str:
        """The calls in the template of a message."""
        return hole("calls", self.between)

    @property
    def is_list(self) -> bool:
        """Whether the markers around all calls are those of a list, so that each call needs none."""
        return self.reader in ("json", "python")


def unreadable(text: str, part: str) -> ToolError:
    return ToolError(f"the chat template writes {part}: {text!r}")


def calls_of(turns: Turns, header: str) -> Calls:
    """How the template writes calls in turns that begin with this header.

    Raises ToolError if no reader fits.
    """
    text = turns.call(*ONE)
    reader = _reader(text)
    marked = _MARKERS[reader]
    both = turns.try_text(turns.message("", [ONE, TWO]))
    if SECOND in both and "zqvalb" in both:
        divided = _divide(marked(both, [ONE, TWO], turns), header, both)
    else:
        divided = _alone(marked(text, [ONE], turns), header, turns)
    return _TEMPLATES[reader](turns, text, divided)


# Readers ----------------------------------------------------------------------------------------


def _reader(text: str) -> str:
    """The reader that fits the text of the call ONE."""
    key = KEYS[0]
    if _json_object(text, lambda value: value == ONE[1]):
        return "json" if _envelope(text, ONE) else "named"
    if re.search(rf"{FIRST}\({key}=", text):
        return "python"
    if re.search(rf"{FIRST}\{{{key}:", text):
        return "notation"
    if f"<{key}>" in text:
        return "nested"
    if key in text and text.index(FIRST) < text.index(key) < text.index("zqvala"):
        return "tagged"
    raise unreadable(text, "calls in a form that no reader knows")


def _json_object(text: str, wanted: Callable[[Any], bool], start: int = 0) -> Span | None:
    """The first JSON object that is wanted."""
    at = text.find("{", start)
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            pass
        else:
            if wanted(value):
                return at, end
        at = text.find("{", at + 1)
    return None


def _envelope(text: str, call: Call) -> Span | None:
    """The JSON object that holds the name and the arguments of this call, and no other call."""
    name, arguments = call
    others = {FIRST, SECOND} - {name}

    def wanted(value: Any) -> bool:
        parts = list(_parts(value))
        return name in parts and arguments in parts and not any(other in parts for other in others)

    return _json_object(text, wanted)


def _parts(value: object) -> list[object]:
    """A JSON value with the keys and values in it, down to some levels."""
    parts, level = [value], [value]
    for _ in range(_LEVELS):
        level = [inner for outer in level for inner in _inner(outer)]
        parts += level
    return parts


def _inner(value: object) -> Iterable[object]:
    """The keys and values of an object, or the items of a list."""
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, list) else ()


# Marks in renderings ----------------------------------------------------------------------------


def _mark_json(text: str, calls: list[Call], turns: Turns) -> str:
    for call in calls:
        span = _envelope(text, call)
        if span is None:
            raise unreadable(text, "two calls differently from one")
        text = text[: span[0]] + UNIT + text[span[1] :]
    return text


def _mark_named(text: str, calls: list[Call], turns: Turns) -> str:
    for index, (name, arguments) in enumerate(calls):
        span = _json_object(text, lambda value, arguments=arguments: value == arguments)  # type: ignore[misc]
        if span is None:
            raise unreadable(text, "two calls differently from one")
        text = text[: span[0]] + ARGUMENTS + text[span[1] :]
        text = _mark_ids(text, name, index, turns)
    return text


def _mark_ids(text: str, name: str, index: int, turns: Turns) -> str:
    id = turns.id(name, index)
    return text.replace(id, id.replace(name, NAME) if turns.style.named_ids else ID).replace(name, NAME)


def _mark_python(text: str, calls: list[Call], turns: Turns) -> str:
    for name, _ in calls:
        text = re.sub(rf"{name}\({KEYS[0]}=.*?(zqval.).*?\)", f"{NAME}({UNIT})", text, count=1)
    return text


def _mark_notation(text: str, calls: list[Call], turns: Turns) -> str:
    for name, _ in calls:
        text = re.sub(rf"{name}\{{{KEYS[0]}:.*?(zqval.).*?\}}", NAME + UNIT, text, count=1)
    return text


def _mark_tagged(text: str, calls: list[Call], turns: Turns) -> str:
    for index, (name, arguments) in enumerate(calls):
        text = _mark_ids(text, name, index, turns)
        for key, value in arguments.items():
            text = text.replace(key, KEY).replace(str(value), VALUE)
    return text


_MARKERS = {
    "json": _mark_json,
    "named": _mark_named,
    "python": _mark_python,
    "notation": _mark_notation,
    "nested": _mark_tagged,
    "tagged": _mark_tagged,
}


# The parts of a message -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Divided:
    """The text of a message with calls. `unit` is a call from its first hole to its last."""

    before: str
    opener: str
    unit: str
    closer: str
    between: str | None
    after: str


def _split(before: str, middle: str, after: str) -> tuple[str, str, str]:
    """The beginning and the end of one of several items, and the text between two items.

    They follow from the text before the first item, between two and after the last.
    """
    opener = common_suffix(before, middle).lstrip()
    closer = common_prefix([middle, after])
    shared = len(opener) + len(closer) - len(middle)
    if shared > 0:
        # A marker that both could have, such as a prefix of all tags.
        closer = closer[:-shared]
    return opener, closer, middle[len(closer) : len(middle) - len(opener)]


def _divide(text: str, header: str, shown: str) -> _Divided:
    """Divides a message with two calls."""
    marks = list(_MARKS.finditer(text))
    size = len(marks) // 2
    kinds = [mark[0] for mark in marks]
    if not size or kinds[:size] != kinds[size:]:
        raise unreadable(shown, "two calls differently from one")
    before, unit = text[len(header) : marks[0].start()], text[marks[0].start() : marks[size - 1].end()]
    middle = text[marks[size - 1].end() : marks[size].start()]
    other, after = text[marks[size].start() : marks[-1].end()], text[marks[-1].end() :]
    opener, closer, between = _split(before, middle, after)
    space = trailing_space(closer)
    closer = closer.rstrip()
    return _Divided(
        before[: len(before) - len(opener)],
        opener,
        _numbered(unit, other, shown),
        closer,
        space + between,
        after[len(closer) :],
    )


def _alone(text: str, header: str, turns: Turns) -> _Divided:
    """Divides a message of a template that writes one call at most: all but the whitespace is the call."""
    marks = list(_MARKS.finditer(text))
    before, after = text[len(header) : marks[0].start()], text[marks[-1].end() :]
    opener = before.lstrip()
    tail = common_suffix(after, turns.after_content())
    closer = after[: len(after) - len(tail)].rstrip()
    return _Divided(
        before[: len(before) - len(opener)],
        opener,
        text[marks[0].start() : marks[-1].end()],
        closer,
        None,
        after[len(closer) :],
    )


def _numbered(unit: str, other: str, shown: str) -> str:
    """A call, with a hole for the number that tells it from the next one."""
    if unit == other:
        return unit
    prefix, suffix = common_prefix([unit, other]), common_suffix(unit, other)
    number, following = (
        unit[len(prefix) : len(unit) - len(suffix)],
        other[len(prefix) : len(other) - len(suffix)],
    )
    if (number, following) not in (("0", "1"), ("1", "2")):
        raise unreadable(shown, "calls that differ in more than name, id and arguments")
    return prefix + ("{count}" if number == "0" else "{index}") + suffix


# Templates --------------------------------------------------------------------------------------


def _made(reader: str, parts: _Divided, call: str, **more: Any) -> Calls:
    call = template(call)
    opener = re.split(r"\{\w+\}", call, maxsplit=1)[0]
    return Calls(reader, call, opener, parts.before, parts.after, parts.between, **more)


def _json_call(turns: Turns, text: str, parts: _Divided) -> Calls:
    span = _envelope(text, ONE)
    assert span is not None
    unit = text[slice(*span)]
    arguments = _json_object(unit, lambda value: value == ONE[1])
    assert arguments is not None
    unit = unit[: arguments[0]] + ARGUMENTS + unit[arguments[1] :]
    for id in (turns.id(FIRST, 0), *_numbers(turns, text)):
        unit = unit.replace(json.dumps(id), ID)
    unit = unit.replace(json.dumps(FIRST), NAME)
    return _made("json", parts, parts.opener + unit + parts.closer)


def _numbers(turns: Turns, text: str) -> list[str]:
    """Strings in a call that are others in the next call: ids that the template makes."""
    both = turns.try_text(turns.message("", [ONE, TWO]))
    spans = _envelope(both, ONE), _envelope(both, TWO)
    if spans[0] is None or spans[1] is None:
        return []
    first, second = (_parts(json.loads(both[slice(*span)])) for span in spans if span)
    known = (FIRST, *ONE[1].values())
    pairs = zip(first, second, strict=False)
    return [a for a, b in pairs if isinstance(a, str) and isinstance(b, str) and a != b and a not in known]


def _named_call(turns: Turns, text: str, parts: _Divided) -> Calls:
    return _made("named", parts, parts.opener + parts.unit + parts.closer)


def _python_call(turns: Turns, text: str, parts: _Divided) -> Calls:
    def written(value: object) -> str:
        shown = turns.call(FIRST, {KEYS[0]: value})
        return shown.partition(f"{KEYS[0]}=")[2]

    values = "json" if written(True).startswith("true") else "python"
    if written("it's").startswith("'it's'"):
        values = "unescaped"
    call = parts.opener + parts.unit.replace(UNIT, "{kwargs}") + parts.closer
    return _made("python", parts, call, details={"values": values})


def _notation_call(turns: Turns, text: str, parts: _Divided) -> Calls:
    quote = text.partition(KEYS[0] + ":")[2].partition("zqvala")[0]
    call = parts.opener + parts.unit.replace(UNIT, "{members}") + parts.closer
    return _made("notation", parts, call, details={"quote": quote})


def _nested_call(turns: Turns, text: str, parts: _Divided) -> Calls:
    call = parts.opener + parts.unit + parts.closer
    prefix = call.partition(VALUE)[2].partition(f"</{KEY}>")[0]
    element = f"{prefix}<{KEY}>{VALUE}{prefix}</{KEY}>"
    if element not in call:
        raise unreadable(text, "elements of arguments in a form that no reader knows")
    return _made("nested", parts, call.replace(element, "{elements}"))


def _tagged_call(turns: Turns, text: str, parts: _Divided) -> Calls:
    two = turns.call(*THREE)
    marked = _mark_tagged(two, [THREE], turns)
    if marked.count(KEY) != 2 or marked.count(VALUE) != 2:
        raise unreadable(two, "keys or values of arguments more than once")
    middle = marked.partition(VALUE)[2].partition(KEY)[0]
    head, _, rest = parts.unit.partition(KEY)
    opener, closer, between = _split(head, middle, parts.closer)
    if between.strip():
        raise unreadable(two, "separators between arguments")
    closer += between
    argument = opener + KEY + rest + closer
    details: dict[str, object] = {}
    kinds, values = _typed(turns, rest, closer)
    if kinds is not None:
        prefix, suffix = _around(list(kinds.values()))
        argument = opener + KEY + prefix + "{kind}" + suffix + VALUE + closer
        details["kinds"] = [given[len(prefix) : len(given) - len(suffix)] for given in kinds.values()]
        if _ESCAPED in turns.try_text(turns.message("", [(FIRST, {_AMPERSAND: "x"})])):
            details["escaped"] = True
    if values != "json":
        details["values"] = values
    name_end, close = head[: len(head) - len(opener)], parts.closer.removeprefix(closer.rstrip())
    close = close.removeprefix(trailing_space(closer))
    empty = _empty(turns, parts.opener + name_end, close)
    if empty:
        details["if_empty"] = empty
    index = re.search(r'(\w+)="\{index\}"', name_end)
    if index:
        details["index"] = index[1]
    call = parts.opener + name_end + "{args}" + close
    return _made("tagged", parts, call, argument=template(argument), details=details)


def _typed(turns: Turns, between: str, closer: str) -> tuple[dict[str, str] | None, str]:
    """The text between a key and its value by type, if it differs, and how values are printed."""
    written: dict[str, str] = {}
    for kind, value in SAMPLES.items():
        text = turns.try_text(turns.message("", [(FIRST, {KEYS[0]: value})]))
        written[kind] = text.partition(KEYS[0])[2].partition(closer)[0]
    values = "python" if written["boolean"].endswith("True") else "json"
    marked = turns.try_text(turns.message("", [(FIRST, {KEYS[0]: "a < b\nzq"})]))
    if "<![CDATA[" in marked:
        values = "cdata"
    heads = {
        kind: text[: len(text) - len(printed)]
        for kind, text in written.items()
        if (printed := _printed(text, SAMPLES[kind])) is not None
    }
    between = between.replace(VALUE, "")
    if set(heads) != set(SAMPLES) or set(heads.values()) == {between}:
        return None, values
    return heads, values


def _printed(text: str, value: object) -> str | None:
    """The value at the end of a text, as JSON or as Python prints it; strings are raw."""
    forms = [value] if isinstance(value, str) else [json.dumps(value), str(value)]
    return next((form for form in forms if text.endswith(form)), None)


def _around(texts: list[str]) -> tuple[str, str]:
    """The common beginning and end of texts."""
    prefix = common_prefix(texts)
    suffix = texts[0][len(prefix) :]
    for text in texts[1:]:
        suffix = common_suffix(suffix, text[len(prefix) :])
    return prefix, suffix


def _empty(turns: Turns, head: str, close: str) -> str:
    """The text that only a call without arguments has."""
    text = turns.try_text(turns.message("", [(FIRST, {})]))
    start = text.find(FIRST)
    head = head.partition(NAME)[2]
    rest = text[start + len(FIRST) :].removeprefix(head)
    found = rest.find(close.strip()) if close.strip() else -1
    inside = rest[:found].removesuffix(close[: len(close) - len(close.lstrip())]) if found >= 0 else ""
    return "" if inside.strip() else inside


_TEMPLATES = {
    "json": _json_call,
    "named": _named_call,
    "python": _python_call,
    "notation": _notation_call,
    "nested": _nested_call,
    "tagged": _tagged_call,
}
