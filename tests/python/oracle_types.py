"""Types for the oracle: JSON Schema as lists of alternatives.

Naive on purpose. A type is a tuple of alternatives, in the schema's order. `allOf` and what is beside a
`$ref` hold at once: each pair of alternatives meets, or drops out. Nothing is computed before it is asked
for, so recursion needs no care.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from oracle_text import quotes_open

Schema = dict[str, Any] | bool
# A JSON value: ("word", text) for numbers and booleans, ("null", None), ("string", text),
# ("array", [tree, ...]), ("object", [(key, tree), ...]).
Tree = tuple[str, Any]
Path = tuple[str | int, ...]

_SCALARS = ("string", "integer", "number", "boolean", "null")
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_PLAIN_SEGMENT = re.compile(r"[^\x00-\x20\x7f-\x9f=.\[\]{}\"'<,`]{1,64}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# What may follow a backslash that has to be escaped in quotes.
_READ_AS_ESCAPE = re.compile(rf"\Z|[\"'\\nrt]|u[0-9A-Fa-f]{{4}}|{_CONTROL.pattern}")


class Number(str):
    """A number in JSON, as written."""


@dataclass(frozen=True, eq=False)
class Alternative:
    """One kind of value a field may have; `parts` are the schemas that an array or object satisfies."""

    kind: (
        str  # of _SCALARS, or "literal", "array", "object", "unknown": any JSON, but its members may be typed
    )
    value: Any = None
    parts: tuple[dict[str, Any], ...] = ()


Type = tuple[Alternative, ...]
UNKNOWN: Type = (Alternative("unknown"),)


# JSON text ----------------------------------------------------------------------------------------


def json_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def json_literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def decimal(text: str) -> tuple[str, str, int] | None:
    """A JSON number as sign, digits without zeros at either end, and exponent of ten; None for other text."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, whole, fraction, exponent = match[1], match[2], match[3] or "", int(match[4] or 0)
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "", "0", 0
    stripped = digits.rstrip("0")
    return sign, stripped, exponent - len(fraction) + len(digits) - len(stripped)


def respelled(text: str) -> str | None:
    """The JSON of a number with a plus in front, or with nothing on one side of the point."""
    match = re.fullmatch(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eE][+-]?[0-9]+)?", text)
    if match is None or not (match[2] or match[3]):
        return None
    json_text = match[1].replace("+", "") + (match[2] or "0")
    json_text += ("." + match[3] if match[3] else "") + (match[4] or "")
    return json_text if decimal(json_text) is not None else None


def is_beyond_float(text: str) -> bool:
    """Whether a JSON number that is not an integer is read as infinity."""
    if decimal(text) is None or not any(char in text for char in ".eE"):
        return False
    return float(text) in (float("inf"), float("-inf"))


def is_literal(text: str) -> bool:
    return text in ("true", "false", "null") or decimal(text) is not None


def as_integer(text: str) -> str | None:
    """A whole JSON number as an integer keeps it."""
    number = decimal(text)
    if number is None or number[2] < 0:
        return None
    return text if "e" in text or "E" in text else text.partition(".")[0]


def equal_word(text: str, value: Any) -> bool:
    """Whether a bare word is JSON of the same value as a literal that is not a string."""
    if isinstance(value, bool):
        return text == json_literal(value)
    if value is None:
        return text == "null"
    if isinstance(value, (dict, list)):
        return text == json_literal(value)
    return isinstance(value, (int, float)) and decimal(text) == decimal(json_literal(value)) is not None


def equal_tree(tree: Tree, value: Any) -> bool:
    kind, content = tree
    if kind == "array":
        return (
            isinstance(value, list)
            and len(content) == len(value)
            and all(equal_tree(item, other) for item, other in zip(content, value, strict=True))
        )
    if kind == "object":
        members = dict(content)
        return (
            isinstance(value, dict)
            and members.keys() == value.keys()
            and all(equal_tree(item, value[key]) for key, item in members.items())
        )
    if kind == "string":
        return isinstance(value, str) and content == value
    return equal_word("null" if kind == "null" else content, value)


def field_path(path: Path) -> str:
    """A place in the arguments as problems name it: a key, quoted where a bare segment would not do."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
            continue
        plain = _PLAIN_SEGMENT.fullmatch(step) is not None and re.fullmatch("[0-9]+", step) is None
        plain = plain and quotes_open(step, opens=True) is None
        text += ("." if text else "") + (step if plain else quoted(step))
    return text


def quoted(text: str) -> str:
    """In quotes, as the encoder writes it."""
    quote = '"' if text.count('"') <= text.count("'") else "'"
    out = ""
    for at, char in enumerate(text):
        if char == quote or (char == "\\" and _READ_AS_ESCAPE.match(text, at + 1)):
            out += "\\" + char
        elif _CONTROL.match(char):
            out += f"\\u{ord(char):04x}"
        else:
            out += char
    return quote + out + quote


def folded_style(name: str) -> str:
    return "".join(char.lower() for char in name if char not in "_-")


# Schemas ------------------------------------------------------------------------------------------


def _has_type(value: Any, kind: str) -> bool:
    if kind == "integer":
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and as_integer(json_literal(value)) is not None
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    python = {"string": str, "boolean": bool, "null": type(None), "array": list, "object": dict}[kind]
    return isinstance(value, python)


def _same_literal(a: Any, b: Any) -> bool:
    return equal_tree(tree_of(a), b)


def tree_of(value: Any) -> Tree:
    if value is None:
        return "null", None
    if isinstance(value, Number):
        return "word", str(value)
    if isinstance(value, str):
        return "string", value
    if isinstance(value, list):
        return "array", [tree_of(item) for item in value]
    if isinstance(value, dict):
        return "object", [(key, tree_of(item)) for key, item in value.items()]
    return "word", json_literal(value)


def _meet(a: Alternative, b: Alternative) -> Alternative | None:
    if a.kind == "unknown" or b.kind == "unknown":
        known = b if a.kind == "unknown" else a
        holds_parts = known.kind in ("array", "object", "unknown")
        return Alternative(known.kind, known.value, a.parts + b.parts if holds_parts else ())
    if a.kind == b.kind == "literal":
        return a if _same_literal(a.value, b.value) else None
    if a.kind == "literal" or b.kind == "literal":
        literal, other = (a, b) if a.kind == "literal" else (b, a)
        return literal if _has_type(literal.value, other.kind) else None
    if a.kind == b.kind:
        return Alternative(a.kind, parts=a.parts + b.parts) if a.parts else a
    if {a.kind, b.kind} == {"integer", "number"}:
        return a if a.kind == "integer" else b
    return None


def _distinct(alternatives: list[Alternative]) -> Type:
    """Without scalar kinds and literals that an earlier alternative repeats."""
    kept: list[Alternative] = []
    for new in alternatives:
        repeated = any(
            new.kind == old.kind and (new.kind != "literal" or _same_literal(new.value, old.value))
            for old in kept
            if not new.parts and not old.parts
        )
        if not repeated:
            kept.append(new)
    return tuple(kept)


class Schemas:
    """The types in one tool's schema, and in the schemas it refers to."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self._cache: dict[int, Type] = {}
        self._members: dict[tuple[int, str | int], tuple[Alternative, Type | None]] = {}

    def type_of(self, schema: Any) -> Type:
        if id(schema) not in self._cache:
            found = self._alternatives(schema, ())
            # Where no value is allowed, the type is unknown.
            self._cache[id(schema)] = found or UNKNOWN
        return self._cache[id(schema)]

    def _alternatives(self, schema: Any, above: tuple[int, ...]) -> Type | None:
        """None where a schema refers to itself and nothing else: it adds nothing."""
        if schema is False:
            return ()
        if not isinstance(schema, dict):
            return UNKNOWN
        if schema.get("not") in (True, {}):
            return ()
        if id(schema) in above:
            return None
        above = (*above, id(schema))
        result = self._own(schema)
        together = [self._target(schema["$ref"])] if "$ref" in schema else []
        for other in [*together, *schema.get("allOf", [])]:
            result = self._both(result, self._alternatives(other, above))
        for word in ("anyOf", "oneOf"):
            if word in schema:
                union: list[Alternative] = []
                for branch in schema[word]:
                    union += self._alternatives(branch, above) or ()
                result = self._both(result, _distinct(union))
        if schema.get("nullable") is True:
            result = (*result, Alternative("null"))
        return _distinct(list(result))

    @staticmethod
    def _both(left: Type, right: Type | None) -> Type:
        if right is None:
            return left
        return tuple(met for a in left for b in right if (met := _meet(a, b)) is not None)

    @staticmethod
    def _own(schema: dict[str, Any]) -> Type:
        """What the schema's own keywords allow."""
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if "enum" in schema or "const" in schema:
            values = schema["enum"] if "enum" in schema else [schema["const"]]
            if "enum" in schema and "const" in schema:
                values = [value for value in values if _same_literal(value, schema["const"])]
            fitting = [
                value for value in values if not kinds or any(_has_type(value, kind) for kind in kinds)
            ]
            return tuple(Alternative("literal", value) for value in fitting)
        if not kinds:
            return (Alternative("unknown", parts=(schema,)),)
        return tuple(Alternative(kind, parts=() if kind in _SCALARS else (schema,)) for kind in kinds)

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return True
        target: Any = self.root
        for step in reference[1:].split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, dict) and step in target:
                target = target[step]
            elif isinstance(target, list) and step.isdigit() and int(step) < len(target):
                target = target[int(step)]
            else:
                return True
        return target

    # Objects and arrays

    def _place(self, alternative: Alternative, step: str | int) -> Type | None:
        """The type of a member or item in one alternative, None where it can have no such member."""
        cached = self._members.get((id(alternative), step))
        if cached is not None:
            return cached[1]
        found = (
            _item_schemas(alternative, step) if isinstance(step, int) else _member_schemas(alternative, step)
        )
        result: Type | None = None if found is None else UNKNOWN
        for schema in found or ():
            result = self._both(result or (), self.type_of(schema))
        self._members[(id(alternative), step)] = (alternative, result)
        return result

    def _union(self, of: Type, kind: str, step: str | int) -> Type:
        """In a union, the union of the types in each; what is nowhere to be found has an unknown type."""
        if _has_literals(of, kind):
            return UNKNOWN
        containers = [alternative for alternative in of if alternative.kind in (kind, "unknown")]
        types = [self._place(alternative, step) for alternative in containers]
        if len(containers) > 1:  # patterns direct nothing
            declared = step in properties(of)
            for at, alternative in enumerate(containers):
                matches = _has_patterns(alternative) if declared else _matches_pattern(alternative, step)
                if matches and step not in properties((alternative,)):
                    types[at] = UNKNOWN
        known = [found for found in types if found is not None]
        return _distinct([alternative for found in known for alternative in found]) or UNKNOWN

    def member(self, of: Type, key: str) -> Type:
        return self._union(of, "object", key)

    def item(self, of: Type, index: int) -> Type:
        return self._union(of, "array", index)

    def required(self, of: Type) -> list[str]:
        """What every object here must have."""
        lists = [[name for part in a.parts for name in self._required(part)] for a in _objects(of)]
        first = lists[0] if lists else []
        return [name for name in dict.fromkeys(first) if all(name in names for names in lists)]

    def _required(self, part: dict[str, Any]) -> list[str]:
        properties = part.get("properties", {})
        return [name for name in part.get("required", []) if not self._has_default(properties.get(name), ())]

    def _has_default(self, schema: Any, above: tuple[int, ...]) -> bool:
        """Whether a default is declared: here, in a reference, or in a part or a branch."""
        if not isinstance(schema, dict) or id(schema) in above:
            return False
        others = [self._target(schema["$ref"])] if "$ref" in schema else []
        for word in ("allOf", "anyOf", "oneOf"):
            others += schema.get(word, [])
        return "default" in schema or any(self._has_default(other, (*above, id(schema))) for other in others)


def _said(of: Alternative, keyword: str) -> list[Any]:
    return [part[keyword] for part in of.parts if keyword in part]


def _member_schemas(of: Alternative, key: str) -> list[Any] | None:
    """What is said of a member; None where there can be none."""
    declared = [named[key] for named in _said(of, "properties") if key in named]
    if declared:
        return declared
    for patterns in _said(of, "patternProperties"):
        for pattern, schema in patterns.items():
            if re.search(pattern, key):
                return [schema]
    return _others(of)


def _others(of: Alternative) -> list[Any] | None:
    """What is said of members that are not named."""
    said = _said(of, "additionalProperties")
    if not said and not any(_said(of, word) for word in ("if", "dependentSchemas", "dependencies")):
        said = _said(of, "unevaluatedProperties")
    return None if False in said else said


def _item_schemas(of: Alternative, index: int) -> list[Any]:
    found = []
    for part in of.parts:
        items, rest = part.get("items"), part.get("items")
        if isinstance(items, list):  # a tuple of older drafts
            rest = part.get("additionalItems")
        prefix = part.get("prefixItems", items if isinstance(items, list) else [])
        found.append(prefix[index] if index < len(prefix) else rest)
    return [schema for schema in found if schema is not None]


def _has_patterns(of: Alternative) -> bool:
    return any("patternProperties" in part for part in of.parts)


def _matches_pattern(of: Alternative, step: str | int) -> bool:
    return any(re.search(p, str(step)) for part in of.parts for p in part.get("patternProperties", {}))


def _item_schema(part: dict[str, Any], index: int) -> Any:
    prefix = part.get("prefixItems", [])
    return prefix[index] if index < len(prefix) else part.get("items")


def has_kind(of: Type, *kinds: str) -> bool:
    return any(alternative.kind in kinds for alternative in of)


def literals(of: Type, kind: str) -> list[Any]:
    """The objects or arrays among the literals of a type."""
    python = dict if kind == "object" else list
    values = [a.value for a in of if a.kind == "literal" and isinstance(a.value, python)]
    return [] if has_kind(of, "unknown") else values


def _has_literals(of: Type, kind: str) -> bool:
    """Whether members have no types, which would change a literal; beside an unknown type, too."""
    return bool(literals(tuple(a for a in of if a.kind == "literal"), kind))


def _objects(of: Type) -> list[Alternative]:
    """The object types here; beside a literal object nothing directs the members."""
    return [] if _has_literals(of, "object") else [a for a in of if a.kind in ("object", "unknown")]


def allows(of: Type, kind: str) -> bool:
    """Whether a value of this kind is allowed here, apart from enums."""
    return has_kind(of, kind, "unknown")


def properties(of: Type) -> list[str]:
    """The names that are literally declared here."""
    names = [name for a in _objects(of) for part in a.parts for name in part.get("properties", {})]
    return list(dict.fromkeys(names))


def is_undeclared(of: Type, key: str) -> bool:
    """Whether the objects here are closed, and the key is none of theirs."""
    objects = _objects(of)
    return bool(objects) and all(_member_schemas(a, key) is None for a in objects)


def key_style(of: Type, key: str, *, in_json: bool) -> str | None:
    """The only declared key that a near miss can mean."""
    names = properties(of)
    if key in names or (not is_undeclared(of, key) if in_json else is_open(of)):
        return None
    matches = [name for name in names if folded_style(name) == folded_style(key)]
    return matches[0] if len(matches) == 1 else None


def is_open(of: Type) -> bool:
    """Whether the schema says something of other keys than the declared ones, and not that there are none."""
    objects = _objects(of)
    if any(_has_patterns(a) for a in objects):
        return True
    said = [_others(a) for a in objects]
    return [] not in said and any(others is not None for others in said)


def takes_tuples(of: Type) -> bool:
    """Whether parentheses begin a list here."""
    return has_kind(of, "array") and not takes_text(of)


def takes_text(of: Type) -> bool:
    """Whether a string is allowed here: any, one of an enum, or because nothing is known."""
    return any(
        a.kind in ("string", "unknown") or (a.kind == "literal" and isinstance(a.value, str)) for a in of
    )


def takes_container(of: Type) -> bool:
    """Whether `{` and `[` begin JSON here."""
    return any(
        a.kind in ("object", "array", "unknown")
        or (a.kind == "literal" and isinstance(a.value, (dict, list)))
        for a in of
    )


def takes_scalar(of: Type) -> bool:
    return any(a.kind not in ("object", "array") and not isinstance(a.value, (dict, list)) for a in of)


def collects(of: Type) -> bool:
    """Whether scalars given one by one become the items of one array here."""
    return has_kind(of, "array") and not takes_text(of)


def only_array(of: Type) -> bool:
    """Whether a bare number after a dot is an index here."""
    return has_kind(of, "array") and all(alternative.kind in ("array", "null") for alternative in of)
