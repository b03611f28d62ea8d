"""What the hand-written parser reads and writes by: compiled schemas, keys, and the encoder."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring as json_string  # the C function: a str as a JSON string
from typing import Any

Schema = Mapping[str, Any]

OPEN, CLOSE = "<call>", "</call>"
WS = " \t\r\n"
WORDS = frozenset(("true", "false", "null"))
MAX_SEGMENTS = 4

dumps: Callable[[object], str] = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode
loads: Callable[[str], Any] = json.JSONDecoder().decode

BARE_SEGMENT = r"[^\x00-\x20\x7f-\x9f.=\[\]{}\"'<,`]{1,64}"
is_number = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?").fullmatch

_is_bare_segment = re.compile(BARE_SEGMENT).fullmatch
_is_bare_value = re.compile(r"[^\x00-\x20\x7f-\x9f\"'=<>\\\[{][^\x00-\x20\x7f-\x9f\"'=<>\\]*(?<!,)").fullmatch
# Written as \u00XX; all that is raw in quotes are tabs and line breaks.
_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f"
# The quote itself, and a backslash where a reader would see an escape.
_escape = {
    quote: re.compile(rf"{quote}|\\(?=[\"'\\nrt{_CONTROLS}]|u[0-9a-fA-F]{{4}}|\Z)").sub for quote in "\"'"
}
_controls = re.compile(f"[{_CONTROLS}]").sub


class Field:
    """What a key means: its place, its kind, the literals of an enum, the members of an object."""

    __slots__ = (
        "enum",
        "first_json",
        "kind",
        "members",
        "name",
        "next_json",
        "pair",
        "path",
        "prefix",
        "schema",
        "streams",
    )

    def __init__(self, path: tuple[str, ...], written: str, schema: Schema) -> None:
        self.path = path
        self.schema = schema
        self.prefix = written + "."
        self.pair = f" {written}="
        self.name = path[0]
        self.first_json = f"{{{json_string(path[0])}:"
        self.next_json = f",{json_string(path[0])}:"
        self.enum: dict[str, str] = {}
        kind = schema.get("type")
        if "enum" in schema:
            self.kind = "enum"
            self.enum = {e if isinstance(e, str) else dumps(e): dumps(e) for e in schema["enum"]}
        else:
            self.kind = kind if isinstance(kind, str) else "any"
        self.streams = self.kind == "string" and len(path) == 1
        self.members = compile_members(schema, self.prefix, path)


def compile_members(schema: Schema, prefix: str, path: tuple[str, ...]) -> dict[str, Field]:
    return {
        key: Field((*path, key), prefix + write_segment(key), member)
        for key, member in schema.get("properties", {}).items()
    }


class Tool:
    __slots__ = ("fields", "members", "name", "required", "schema")

    def __init__(self, name: str, schema: Schema) -> None:
        self.name = name
        self.schema = schema
        self.required = frozenset(schema.get("required", ()))
        self.members = compile_members(schema, "", ())
        # By the key as it is written: `units`, `profile.address.city`, `"X-Trace id"`.
        self.fields: dict[str, Field] = {}
        pending = list(self.members.values())
        for field in pending:
            self.fields[field.pair[1:-1]] = field
            pending.extend(field.members.values())


Tools = Mapping[str, Tool]


def compile_tools(tools: Sequence[Mapping[str, Any]]) -> dict[str, Tool]:
    return {t["name"]: Tool(t["name"], t.get("parameters", {})) for t in tools}


def write_segment(segment: str) -> str:
    if _is_bare_segment(segment) and not segment.isdigit():
        return segment
    return '"' + _escape['"'](r"\\\g<0>", segment) + '"'


def encode(tools: Tools, name: str, arguments: Mapping[str, Any]) -> str:
    """The canonical form of a call: docs/wire-format.md, section 8, for tools whose calls are pairs."""
    out = [OPEN, name]
    _write_pairs(tools[name].members, "", 1, arguments, out)
    out.append(CLOSE)
    return "".join(out)


def _write_pairs(
    fields: Mapping[str, Field], prefix: str, depth: int, members: Mapping[str, Any], out: list[str]
) -> None:
    for key, value in members.items():
        field = fields.get(key) or Field((key,), prefix + write_segment(key), {})
        if isinstance(value, str):
            out.append(field.pair)
            if not _is_bare_value(value):
                out.append(_quoted(value))
            elif field.kind == "string" or _reads_as_text(value, field):
                out.append(value)
            else:
                out.append(f'"{value}"')
        elif value is True:
            out.append(field.pair)
            out.append("true")
        elif value is False:
            out.append(field.pair)
            out.append("false")
        elif isinstance(value, dict) and value and field.members and depth < MAX_SEGMENTS:
            _write_pairs(field.members, field.prefix, depth + 1, value, out)
        else:
            out.append(field.pair)
            out.append(dumps(value))


def _reads_as_text(value: str, field: Field) -> bool:
    if field.kind == "enum":
        return field.enum.get(value, '"')[0] == '"'
    return value not in WORDS and not is_number(value)


def _quoted(text: str) -> str:
    quote = '"'
    if '"' in text:
        if text.count('"') > text.count("'"):
            quote = "'"
        if quote in text or "\\" in text:
            text = _escape[quote](r"\\\g<0>", text)
    elif "\\" in text:
        text = _escape[quote](r"\\\g<0>", text)
    if not text.isprintable():
        text = _controls(lambda match: f"\\u{ord(match[0]):04x}", text)
    return quote + text + quote
