"""What a value becomes in a type, for the oracle: section 4, and "Coercion" in section 11."""

from dataclasses import dataclass, field

from oracle_types import (
    UNKNOWN,
    Alternative,
    Path,
    Schemas,
    Tree,
    Type,
    as_integer,
    decimal,
    equal_tree,
    equal_word,
    has_kind,
    is_literal,
    is_undeclared,
    json_literal,
    json_string,
    key_style,
    required,
    takes_scalar,
)


@dataclass
class Notes:
    """What typing one value found, in order. `events`: repairs, and "duplicate_argument"."""

    events: list[str] = field(default_factory=list)
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
    kind = alternative.kind
    if kind in ("integer", "number"):
        return _as_it_is(alternative, text) if quoted else None
    if kind == "boolean":
        return text.lower() if text.lower() in ("true", "false") else None
    if kind == "null":
        return "null" if text.lower() in ("null", "none") else None
    if kind == "literal" and isinstance(alternative.value, str):
        strings = {a.value for a in of if a.kind == "literal" and isinstance(a.value, str)}
        matches = [string for string in strings if string.lower() == text.lower()]
        return json_string(alternative.value) if matches == [alternative.value] else None
    if kind == "literal":
        return _as_it_is(alternative, text) if quoted else None
    return None


def read_scalar(
    schemas: Schemas, of: Type, text: str, quoted: bool, path: Path, notes: Notes, start: int = 0
) -> str | list[str]:
    """A bare word or quoted text in a type; a list where it became items of an array, from `start`."""
    if not quoted:
        for alternative in of:
            taken = _as_it_is(alternative, text)
            if taken is not None:
                return taken
    if has_kind(of, "string", "unknown") or any(a.value == text for a in of):
        return json_string(text)
    for alternative in of:
        if alternative.kind == "array":
            only: Type = (alternative,)
            if any(takes_scalar(item) for item in schemas.item_types(only)):
                notes.events.append("coerced")
                texts = [text] if quoted else [item.strip(" \t\r\n") for item in text.split(",")]
                return [
                    compact(read_scalar(schemas, schemas.item(only, at), item, quoted, (*path, at), notes))
                    for at, item in enumerate(texts, start)
                ]
            continue
        taken = _converted(of, alternative, text, quoted)
        if taken is not None:
            notes.events.append("coerced")
            return taken
    misfit(of, path, notes.problems)
    return text if not quoted and is_literal(text) else json_string(text)


def misfit(of: Type, path: Path, problems: list[tuple[str, Path]]) -> None:
    enum = has_kind(of, "literal") and all(alternative.kind in ("literal", "null") for alternative in of)
    problems.append(("not_in_enum" if enum else "wrong_type", path))


def compact(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "[" + ",".join(value) + "]"


def read_json(schemas: Schemas, of: Type, tree: Tree, path: Path, notes: Notes) -> str:
    """A JSON value in a type."""
    kind, content = tree
    if kind in ("word", "string"):
        return compact(read_scalar(schemas, of, content, kind == "string", path, notes))
    if kind == "null":
        if not any(a.kind in ("null", "unknown") or (a.kind == "literal" and a.value is None) for a in of):
            misfit(of, path, notes.problems)
        return "null"
    for alternative in of:
        if alternative.kind == "literal" and equal_tree(tree, alternative.value):
            return json_literal(alternative.value)
    if not has_kind(of, kind, "unknown"):
        misfit(of, path, notes.problems)
        of = UNKNOWN
    if kind == "array":
        items = [
            read_json(schemas, schemas.item(of, at), item, (*path, at), notes)
            for at, item in enumerate(content)
        ]
        return compact(items)
    return _read_object(schemas, of, content, path, notes)


def _read_object(
    schemas: Schemas, of: Type, content: list[tuple[str, Tree]], path: Path, notes: Notes
) -> str:
    members: dict[str, str] = {}
    for written, tree in content:
        key = key_style(of, written, in_json=True)
        if key is None:
            key = written
        else:
            notes.events.append("key_style")
        if key not in members and is_undeclared(of, key):
            notes.problems.append(("unknown_field", (*path, key)))
        before = len(notes.problems)
        text = read_json(schemas, schemas.member(of, key), tree, (*path, key), notes)
        if key not in members:
            members[key] = text
            continue
        del notes.problems[before:]
        if members[key] != text:
            notes.events.append("duplicate_argument")
    notes.problems += [("missing_required", (*path, name)) for name in required(of) if name not in members]
    return "{" + ",".join(f"{json_string(key)}:{text}" for key, text in members.items()) + "}"
