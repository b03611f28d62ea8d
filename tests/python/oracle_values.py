"""What a value becomes in a type, for the oracle: section 4, and "Coercion" in section 11."""

import json
from dataclasses import dataclass, field

from oracle_text import without_surrogates
from oracle_types import (
    UNKNOWN,
    Alternative,
    Number,
    Path,
    Schemas,
    Type,
    as_integer,
    decimal,
    equal_word,
    has_kind,
    is_beyond_float,
    is_literal,
    json_literal,
    json_string,
    respelled,
    takes_scalar,
)

_KEYWORDS = {"true": "true", "false": "false", "null": "null", "none": "null"}


@dataclass
class Notes:
    """What typing one value found, in order."""

    repairs: list[str] = field(default_factory=list)
    problems: list[tuple[str, Path]] = field(default_factory=list)


def _as_it_is(alternative: Alternative, text: str) -> str | None:
    """A bare word in one alternative, strings excepted."""
    kind = alternative.kind
    if kind == "integer":
        return as_integer(text)
    if kind == "number":
        return text if decimal(text) is not None else None
    if kind == "boolean":
        return text if text in ("true", "false") else None
    if kind == "null":
        return text if text == "null" else None
    if kind == "unknown":
        return text if is_literal(text) else None
    if kind == "literal" and not isinstance(alternative.value, str):
        return json_literal(alternative.value) if equal_word(text, alternative.value) else None
    return None


def _converted(of: Type, alternative: Alternative, text: str, quoted: bool) -> str | None:
    kind, literal = alternative.kind, alternative.value
    if kind == "literal" and isinstance(literal, str):
        strings = {a.value for a in of if a.kind == "literal" and isinstance(a.value, str)}
        matches = [string for string in strings if string.lower() == text.lower()]
        return json_string(literal) if matches == [literal] else None
    word = _KEYWORDS.get(text.lower()) if text.isascii() else None
    if word is not None and (
        (kind == "boolean" and word != "null")
        or (kind == "null" and word == "null")
        or (kind == "literal" and word == json_literal(literal))
    ):
        return word
    if kind not in ("integer", "number", "literal"):
        return None
    other = respelled(text)
    for spelling in ([text] if quoted else []) + ([other] if other is not None else []):
        taken = _as_it_is(alternative, spelling)
        if taken is not None:
            return taken
    return None


def read_scalar(
    schemas: Schemas, of: Type, text: str, quoted: bool, path: Path, notes: Notes, start: int | None = 0
) -> str | list[str]:
    """A bare word or quoted text in a type; a list where it became the items of an array from `start` on."""
    count = len(notes.problems)
    value = _read_scalar(schemas, of, text, quoted, path, notes, start)
    if isinstance(value, str) and is_beyond_float(value) and len(notes.problems) == count:
        notes.problems.append(("wrong_type", path))
    return value


def _read_scalar(
    schemas: Schemas, of: Type, text: str, quoted: bool, path: Path, notes: Notes, start: int | None
) -> str | list[str]:
    if has_kind(of, "unknown"):
        of = UNKNOWN
    if not quoted:
        for alternative in of:
            taken = _as_it_is(alternative, text)
            if taken is not None:
                return taken
    literal = any(a.value == text for a in of)
    if not quoted and text in ("None", "Null", "NULL") and has_kind(of, "null") and not literal:
        notes.repairs.append("coerced")
        return "null"
    if has_kind(of, "string", "unknown") or literal:
        return json_string(text)
    for alternative in of:
        if alternative.kind == "array":
            if start is not None and takes_scalar(schemas.item(of, start)):
                notes.repairs.append("coerced")
                texts = [(item.strip(" \t\r\n"), False) for item in text.split(",")]
                if quoted:
                    listed = _encoded(text)
                    texts = [(text, True)] if listed is None else listed
                return _items(schemas, of, texts, path, notes, start)
            continue
        taken = _converted(of, alternative, text, quoted)
        if taken is not None:
            notes.repairs.append("coerced")
            return taken
    misfit(of, path, notes.problems)
    return text if not quoted and is_literal(text) else json_string(text)


def _encoded(text: str) -> list[tuple[str, bool]] | None:
    """The items of a text that is the JSON of a list of scalars, and which of them are strings."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        items = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(items, list) or any(isinstance(item, (dict, list)) for item in items):
        return None
    return [
        (without_surrogates(item), True)
        if isinstance(item, str) and not isinstance(item, Number)
        else (item if isinstance(item, Number) else json_literal(item), False)
        for item in items
    ]


def _items(
    schemas: Schemas, of: Type, texts: list[tuple[str, bool]], path: Path, notes: Notes, start: int
) -> list[str]:
    """The items of a comma list, or a lone one. What is wrong with them is said of the list, once."""
    inner = Notes()
    items = [
        compact(read_scalar(schemas, schemas.item(of, at), item, quoted, path, inner, None))
        for at, (item, quoted) in enumerate(texts, start)
    ]
    if inner.problems:
        misfit(of, path, notes.problems)
    return items


def misfit(of: Type, path: Path, problems: list[tuple[str, Path]]) -> None:
    enum = has_kind(of, "literal") and all(alternative.kind in ("literal", "null") for alternative in of)
    problems.append(("not_in_enum" if enum else "wrong_type", path))


def compact(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "[" + ",".join(value) + "]"
