"""Random toolsets as SDKs send them, and valid arguments, with declared members in the schema's order.

A toolset is plain if a grammar can say all that its schemas demand. Other toolsets use the whole vocabulary.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import generate_values
from generate_values import ODD_KEYS, TEXTS, Schema

Tools = list[tuple[str, Schema]]

# fmt: off
TOOL_NAMES = (
    "get_weather", "search", "send_email", "createEvent", "list_files", "book_flight", "update_profile",
    "run_query", "f", "a.b", "get-weather", "ns:tool/x", "files.read", "call", "name", "tool\xe9", "x" * 64,
    "mcp__server__do", "think", "Search",
)
KEYS = (
    "location", "units", "days", "tags", "items", "profile", "address", "city", "query", "maxResults",
    "max_depth", "sku", "qty", "body", "headers", "id", "x", "y", "mode", "kind", "value", "next", "name",
    "arguments", "type", "properties", "description", "path", "filter", "options", "start_date",
)
WORDS = (
    "Austin", "New York", "metric", "a", "2024-01-01", "true", "null", "42", "user@example.org", "/tmp/a.txt",
    "SELECT 1;", "don't", 'say "hi"', "line\nbreak", "\u6771\u4eac", "caf\xe9", "a,b", "", " ", "x=1",
)
# A pattern or a format, and texts that fit.
PATTERNS = {
    "^[A-Z]{3}$": ("USD", "EUR"),
    r"^\d{4}-\d{2}$": ("2024-01", "1999-12"),
    "^(a|b)+$": ("a", "abba"),
    "x": ("x", "text with x", "xx"),
    r"^[^\s@]+@[^\s@]+$": ("a@b", "user@example.org"),
    "^.{2,}$": ("ab", "New York"),
}
FORMATS = {
    "date": ("2024-01-01",),
    "date-time": ("2024-01-01T00:00:00Z", "2024-06-30T12:00:00+02:00"),
    "email": ("user@example.org",),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000",),
    "uri": ("https://example.org/?q=a", "urn:a:b"),
    "ipv4": ("127.0.0.1",),
    "time": ("12:00:00Z",),
    "unknown": WORDS,
}
# fmt: on
MULTIPLES = (2, 5, 10)
EMPTY = ("type", "properties", "required", "additionalProperties")


def toolset(rng: random.Random, *, plain: bool) -> Tools:
    names = rng.sample(TOOL_NAMES, rng.choice((1, 1, 2, 2, 3, 4, 5, 6)))
    return [(name, Schemas(rng, plain=plain).root()) for name in names]


class Schemas:
    """Makes the schema of one tool."""

    def __init__(self, rng: random.Random, *, plain: bool) -> None:
        self.rng = rng
        self.plain = plain
        # Strict schemas list every property as required, and are closed.
        self.strict = rng.random() < 0.3
        self.odd = rng.random() < 0.25
        self.defs: dict[str, Schema] = {}
        self.fields: list[Callable[[int], Schema]] = [
            *[self.string] * 4,
            *[self.integer] * 3,
            self.number,
            self.boolean,
            *[self.enum] * 2,
            *[self.nullable] * 2,
            self.short_string,
        ]
        self.nested: list[Callable[[int], Schema]] = [
            *[self.array] * 2,
            *[self.object] * 2,
            self.definition,
        ]
        if not plain:
            self.fields += [self.pattern, self.format, self.bounded_number, self.multiple, self.untyped]
            self.fields += [self.long_string]
            self.nested += [self.map, self.recursive, self.tuple, self.one_of, self.unique, self.anything]

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def root(self) -> Schema:
        if self.chance(0.08):
            empty: Schema = {"type": "object", "properties": {}}
            return self.rng.choice(
                (
                    empty,
                    {**empty, "additionalProperties": False},
                    {"type": "object"},
                    {**empty, "required": []},
                )
            )
        if not self.plain and self.chance(0.15):
            return generate_values.root_schema(self.rng)
        made = self.object(0)
        if self.defs:
            made["$defs"] = self.defs
        if self.chance(0.2) and "prefixItems" not in str(made):
            made["$schema"] = self.rng.choice(
                ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema")
            )
        return made

    def field(self, depth: int) -> Schema:
        makers = self.fields if depth > 4 or self.chance(0.7) else self.nested
        made = self.rng.choice(makers)(depth)
        if self.chance(0.15):
            made = {"title": "A field", **made, "description": "What it is for."}
        return made

    def key(self) -> str:
        if self.odd and self.chance(0.5):
            return self.rng.choice(ODD_KEYS)
        return self.rng.choice(KEYS)

    # Scalars ----------------------------------------------------------------------------------------------

    def string(self, depth: int) -> Schema:
        return {"type": "string"}

    def short_string(self, depth: int) -> Schema:
        least, most = self.rng.choice(((0, 3), (1, 1), (1, None), (2, 8), (0, 20), (3, 3), (0, 64)))
        made: Schema = {"type": "string"}
        if least:
            made["minLength"] = least
        if most is not None:
            made["maxLength"] = most
        return made

    def integer(self, depth: int) -> Schema:
        made: Schema = {"type": "integer"}
        if self.chance(0.5):
            least = self.rng.choice((-1000, -10, -1, 0, 0, 1, 1, 7, 95, 1900))
            most = least + self.rng.choice((0, 1, 5, 9, 10, 99, 100, 1234, 10**6))
            bounds = {"minimum": least, "maximum": most}
            if most - least > 2 and self.chance(0.2):
                bounds = {"exclusiveMinimum": least, "exclusiveMaximum": most}
            for name in bounds:
                if self.chance(0.8):
                    made[name] = bounds[name]
        return made

    def number(self, depth: int) -> Schema:
        return {"type": "number"}

    def boolean(self, depth: int) -> Schema:
        return {"type": "boolean"}

    def enum(self, depth: int) -> Schema:
        choice = self.rng.random()
        if choice < 0.2:
            return {"const": self.rng.choice(("metric", "New York", 1, True, "null", 2.5, "a=b"))}
        if choice < 0.75:
            return {"type": "string", "enum": self.rng.sample(WORDS, self.rng.randint(1, 6))}
        if choice < 0.9:
            return {
                "type": "integer",
                "enum": self.rng.sample((0, 1, 2, 10, -5, 2**60), self.rng.randint(1, 4)),
            }
        return {"enum": self.rng.sample(("a", "1", "true", "null", 2, 0.5, True, None, "x y"), 4)}

    def nullable(self, depth: int) -> Schema:
        null = {"type": "null"}
        if self.chance(0.5):
            kinds = [self.rng.choice(("string", "integer", "number", "boolean")), "null"]
            self.rng.shuffle(kinds)
            made: Schema = {"type": kinds}
        else:
            nested = depth < 4 and self.chance(0.3)
            branch = self.rng.choice((self.object, self.array) if nested else self.fields[:8])(depth + 1)
            branches = [branch, null]
            self.rng.shuffle(branches)
            made = {"anyOf": branches}
        if self.chance(0.4):
            made["default"] = None
        return made

    # Objects and arrays -----------------------------------------------------------------------------------

    def object(self, depth: int) -> Schema:
        names = list(dict.fromkeys(self.key() for _ in range(self.rng.choice((1, 2, 2, 3, 3, 4, 5)))))
        properties = {name: self.field(depth + 1) for name in names}
        made: Schema = {"type": "object", "properties": properties}
        required = names if self.strict else [name for name in names if self.chance(0.5)]
        required = [name for name in required if not self.is_recursive(properties[name])]
        if required:
            made["required"] = required
        if self.strict or self.chance(0.3):
            made["additionalProperties"] = False
        elif not self.plain and self.chance(0.1):
            made["additionalProperties"] = self.rng.choice((True, {"type": "string"}))
        return made

    def is_recursive(self, made: Schema) -> bool:
        return "Recursive" in str(made) or "$defs/Node" in str(made) or "'$ref': '#'" in str(made)

    def array(self, depth: int) -> Schema:
        choice = self.rng.random()
        items = (
            self.rng.choice(self.fields)(depth + 1) if choice < 0.5 or depth > 3 else self.field(depth + 1)
        )
        made: Schema = {"type": "array", "items": items}
        if choice < 0.3:
            least, most = self.rng.choice(((0, 1), (1, None), (1, 3), (2, 2), (0, 5), (0, 0)))
            if least:
                made["minItems"] = least
            if most is not None:
                made["maxItems"] = most
        return made

    def definition(self, depth: int) -> Schema:
        name = self.rng.choice(("Address", "Item", "Options"))
        if name not in self.defs:
            # Until it is made, nothing may refer to it.
            made = self.object(max(depth, 3))
            self.defs.setdefault(name, made)
        return {"$ref": f"#/$defs/{name}"}

    # What a grammar cannot say ----------------------------------------------------------------------------

    def pattern(self, depth: int) -> Schema:
        return {"type": "string", "pattern": self.rng.choice(tuple(PATTERNS))}

    def format(self, depth: int) -> Schema:
        return {"type": "string", "format": self.rng.choice(tuple(FORMATS))}

    def long_string(self, depth: int) -> Schema:
        return {
            "type": "string",
            "maxLength": self.rng.choice((100, 5000)),
            "minLength": self.rng.choice((0, 70)),
        }

    def bounded_number(self, depth: int) -> Schema:
        bounds = {"minimum": self.rng.choice((0, -1.5, 0.25)), "maximum": self.rng.choice((1, 2.5, 100))}
        return {"type": "number", **{name: bounds[name] for name in bounds if self.chance(0.7)}}

    def multiple(self, depth: int) -> Schema:
        return {"type": self.rng.choice(("integer", "number")), "multipleOf": self.rng.choice(MULTIPLES)}

    def untyped(self, depth: int) -> Schema:
        return self.rng.choice(({}, {"description": "Anything."}, {"type": ["string", "integer", "null"]}))

    def map(self, depth: int) -> Schema:
        return {"type": "object", "additionalProperties": self.field(depth + 1)}

    def recursive(self, depth: int) -> Schema:
        node = {"$ref": "#/$defs/Recursive"}
        if "Recursive" not in self.defs:
            self.defs["Recursive"] = {
                "type": "object",
                "properties": {
                    "value": self.rng.choice(({"type": "string"}, {"type": "integer"})),
                    "next": {"anyOf": [node, {"type": "null"}]},
                    "children": {"type": "array", "items": node},
                },
                "required": ["value"],
                "additionalProperties": False,
            }
        return dict(node)

    def tuple(self, depth: int) -> Schema:
        prefix = [self.field(depth + 1) for _ in range(self.rng.randint(1, 3))]
        return {
            "type": "array",
            "prefixItems": prefix,
            "items": self.rng.choice((False, {"type": "integer"})),
        }

    def one_of(self, depth: int) -> Schema:
        branches = [self.rng.choice((self.object, self.string, self.integer))(depth + 1) for _ in range(2)]
        return {self.rng.choice(("oneOf", "anyOf")): branches}

    def unique(self, depth: int) -> Schema:
        return {"type": "array", "items": self.rng.choice(self.fields)(depth + 1), "uniqueItems": True}

    def anything(self, depth: int) -> Schema:
        return generate_values.schema(self.rng, depth + 1)


# Values ---------------------------------------------------------------------------------------------------


def arguments(rng: random.Random, of: Schema) -> dict[str, Any]:
    """Arguments with declared members in the schema's order. Nearly all are valid; the caller checks them."""
    made = value(rng, of, of)
    # A tool without declared parameters gets no arguments.
    return made if isinstance(made, dict) and not is_empty(of) else {}


def is_empty(of: Schema) -> bool:
    """Whether a tool has no parameters."""
    return of.get("type") == "object" and not of.get("properties") and set(of) <= {*EMPTY, "$schema"}


def value(rng: random.Random, of: Any, root: Schema, depth: int = 0) -> Any:
    of = resolved(of, root)
    if not isinstance(of, dict):
        return generate_values.anything(rng)
    if "const" in of or "enum" in of:
        return of["const"] if "const" in of else rng.choice(of["enum"])
    for word in ("anyOf", "oneOf"):
        if word in of:
            return value(rng, branch(rng, of[word], root, depth), root, depth + 1)
    kinds = of.get("type")
    kind = rng.choice(kinds) if isinstance(kinds, list) else kinds
    # A schema that only describes members or items is one of objects or arrays.
    if kind is None:
        kind = "object" if "properties" in of else "array" if "items" in of else None
    match kind:
        case "string":
            return string(rng, of)
        case "integer" | "number":
            return number(rng, of, kind)
        case "array":
            return array(rng, of, root, depth)
        case "object":
            return members(rng, of, root, depth)
    return generate_values.scalar_value(rng, kind)


def resolved(of: Any, root: Schema) -> Any:
    """The schema that a reference refers to."""
    while isinstance(of, dict) and "$ref" in of:
        target: Any = root
        for step in of["$ref"].split("/")[1:]:
            target = target[step]
        of = target
    return of


def branch(rng: random.Random, branches: list[Any], root: Schema, depth: int) -> Any:
    """A branch of a union that grammars have (docs/grammars.md). Deep down it is one that ends soon.

    The order of members is that of the whole union in some places and that of the branch in others, so both
    must be the same. Of several branches with objects, those without declared members are left out.
    """
    union: list[str] = []
    fit = []
    known = [resolved(one, root) for one in branches]
    several = sum(is_object(one) for one in known) > 1
    for one, target in zip(branches, known, strict=True):
        names = list(declared(target))
        union += [name for name in names if name not in union]
        in_order = names == [name for name in union if name in names]
        if one not in generate_values.NEVER and in_order and (names or not (several and is_object(target))):
            fit.append(one)
    shallow = [one for one in fit if isinstance(one, dict) and not {"$ref", "properties", "items"} & set(one)]
    return rng.choice((depth > 4 and shallow) or fit or branches)


def is_object(of: Any) -> bool:
    """Whether a schema allows objects."""
    return isinstance(of, dict) and ("object" in of.get("type", ()) or "properties" in of)


def declared(of: Any) -> dict[str, Any]:
    """The members that an object declares, in their order."""
    found: dict[str, Any] = {}
    if isinstance(of, dict):
        for part in (of, *of.get("allOf", ())):
            found |= part.get("properties", {})
    return found


def string(rng: random.Random, of: Schema) -> str:
    if "pattern" in of:
        return rng.choice(PATTERNS.get(of["pattern"], ("",)))
    if "format" in of:
        return rng.choice(FORMATS.get(of["format"], WORDS))
    least, most = of.get("minLength", 0), of.get("maxLength", 1000)
    made = rng.choice(WORDS) if rng.random() < 0.5 else generate_values.text(rng)
    while len(made) < least:
        made += rng.choice(TEXTS) or "a"
    return made[:most]


def number(rng: random.Random, of: Schema, kind: str) -> float | int:
    step = of.get("multipleOf", 1)
    low, high = of.get("minimum"), of.get("maximum")
    low = of["exclusiveMinimum"] + 1 if "exclusiveMinimum" in of else low
    high = of["exclusiveMaximum"] - 1 if "exclusiveMaximum" in of else high
    if low is None and high is None and step == 1:
        return generate_values.integer(rng) if kind == "integer" else generate_values.number(rng)
    low = high - 1000 if low is None and high is not None else low or 0
    high = low + 1000 if high is None else high
    low, high = (low, high) if kind == "number" else (math.ceil(low), math.floor(high))
    if kind == "number" and step == 1 and rng.random() < 0.5:
        return round(rng.uniform(low, high), rng.randrange(1, 6))
    made = rng.choice((rng.randint(math.ceil(low), math.floor(high)), low, high))
    return made if step == 1 else made // step * step


def array(rng: random.Random, of: Schema, root: Schema, depth: int) -> list[Any]:
    prefix, items = of.get("prefixItems", []), of.get("items", True)
    if isinstance(items, list):
        prefix, items = items, of.get("additionalItems", True)
    least = of.get("minItems", 0)
    most = of.get("maxItems", len(prefix) if items is False else 4)
    size = least if depth > 4 else rng.randint(least, max(least, min(most, least + 3)))
    types = [prefix[at] if at < len(prefix) else items for at in range(min(size, most))]
    made = [value(rng, one, root, depth + 1) for one in types]
    return [item for at, item in enumerate(made) if item not in made[:at]] if of.get("uniqueItems") else made


def members(rng: random.Random, of: Schema, root: Schema, depth: int) -> dict[str, Any]:
    known = declared(of)
    made = {}
    for name, member in known.items():
        needed = name in of.get("required", ()) and not generate_values.has_default(member)
        if needed or rng.random() < (0.6 if depth < 5 else 0.1):
            made[name] = value(rng, member, root, depth + 1)
    others = of.get("additionalProperties", True)
    if not known and others is not False and depth < 6:
        patterns = list(of.get("patternProperties", {}).values())
        for name in [generate_values.key(rng) for _ in range(rng.randrange(4))]:
            of_member = patterns[0] if patterns and name[:1] == "x" else others
            made[name] = value(rng, of_member, root, depth + 1)
    return made
