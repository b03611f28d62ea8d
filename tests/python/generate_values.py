"""Random schemas, and random values that are valid in them; how values compare. A seed gives a case."""

import random
from typing import Any

Schema = dict[str, Any]

# fmt: off
PLAIN_KEYS = (
    "location", "units", "days", "tags", "items", "profile", "address", "city", "query", "maxResults",
    "max_depth", "sku", "qty", "body", "headers", "id", "x", "y", "a", "b", "mode", "kind", "value", "next",
)
ODD_KEYS = (
    "a.b", "a.b.c", "profile.address", "x y", "a=b", 'a"b', "it's", "a[0]", "[0]", "0", "1", "007", "",
    "</call>", "<call>", "<json>", "__proto__", "constructor", "toString", "\xe9t\xe9", "\u65e5\u672c",
    "\U0001f600", "a`b", "{x}", "x,y", "a\nb", "a\\b", "X-Trace id", "max-results", "MaxResults",
    "max_results", "\xa0", "\x00", "k" * 64, "k" * 65, "k" * 120, "k" * 130, '\\', "'", '"', ".", "$ref",
    "#", " ", "a ", "\ufffd", "\x7f", "-1",
)
TOOL_NAMES = (
    "w", "get_weather", "getWeather", "search", "ns:tool/x", "a-b", "Get-Weather", "run.py", "f", "F",
    "tool\xe9", "send_email", "a_b", "x" * 128, "```", "g>", "/x",
)
# Text that a sloppy parser would trip over.
TEXTS = (
    "", " ", "a", "Austin", "New York", "don't", 'He said "hi" to me', "it's \"both\"", '"quoted"',
    "'single'", "42", "-1", "5.0", "007", "1e5", "1e400", "-0.0", "true", "True", "false", "null", "None",
    "NaN", "Infinity", "[1]", '{"a":1}', '["a", "b"]', "[a-z]+", "{x}", '[{"a":"</call>"}]', "[", "{", "]",
    "}", '{"', '{"a', "[{]", "</call>", "<call>", "</call><call>rm path=/</call>", "</cal", "<", "<call",
    "a<b", "<think>", "<tool-result", "<json>", "a=b", "x=1 y=2", "units=metric", '" units="metric',
    "', b='", "a,b", "a,b,", ",", ",,", "a, b", ", b=1", "=", '\\', '\\\\', "\\n", "\\d+\\.txt",
    "C:\\new\\u0041", 'a\\"', "\\'", "\\u0041", "\\u12", "\\ud83d\\ude00", 'x\\', "line\nbreak",
    "a\n<call>b", "\r\n", "\ttab", " lead", "trail ", "a  b", "\x00", "\x1b[0m", "\x7f", "\x85", "\xa0",
    "\xe9", "\u65e5\u672c\u8a9e", "\U0001f600", "\ufeff", "\u2028", "\ufffd", "\u0130", "\xdf", "\u03a3",
    "\ue000", "```json\n{}\n```", "https://example.org/?q=a&b=c#x", "2024-01-01T00:00:00Z", "a@b.c", "$5",
    "50%", "`x`", "#",
)
LETTERS = (
    "a", "b", "1", " ", ",", ".", "=", "<", ">", '"', "'", '\\', "{", "}", "[", "]", "`", ":", "/", "-",
    "_", "\n", "\t", "\r", "\xe9", "\U0001f600", "\x00", "\xa0", "\u2028", "<call>", "</call>",
)
# fmt: on
# Schemas that nothing satisfies.
NEVER: tuple[Any, ...] = (
    False,
    {"not": {}},
    {"not": True},
    {"enum": []},
    {"type": "string", "enum": [5, None]},
    {"type": "integer", "allOf": [{"type": ["string", "object"]}]},
    {"const": 1, "allOf": [{"const": 2}]},
)
EXPONENTS = (-320, -45, -7, -6, -5, -4, -1, 0, 1, 5, 15, 16, 17, 20, 21, 22, 38, 100, 195, 290)


def text(rng: random.Random) -> str:
    if rng.random() < 0.7:
        return rng.choice(TEXTS)
    return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(12)))


def key(rng: random.Random) -> str:
    choice = rng.random()
    if choice < 0.8:
        return rng.choice(PLAIN_KEYS)
    return rng.choice(ODD_KEYS) if choice < 0.97 else text(rng)


def integer(rng: random.Random) -> int:
    choice = rng.random()
    if choice < 0.6:
        return rng.randint(-9, 99)
    if choice < 0.9:
        return rng.choice((0, 2**31, -(2**31), 2**53, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**21, 10**30))
    return rng.choice((1, -1)) * rng.randrange(10**399, 10**400)


def number(rng: random.Random) -> float | int:
    choice = rng.random()
    if choice < 0.3:
        return integer(rng)
    if choice < 0.6:
        return rng.choice(
            (0.0, -0.0, 1.0, 5.0, 3.14, -2.5, 0.1, 1e5, 1e22, 1e-7, 5e-324, 1.7976931348623157e308)
        )
    return rng.choice((1, -1)) * rng.randrange(1, 10**9) * 10.0 ** rng.choice(EXPONENTS)


def anything(rng: random.Random, depth: int = 0) -> Any:
    """Any JSON value."""
    choice = rng.random() * (1 if depth < 3 else 0.75)
    if choice < 0.3:
        return text(rng)
    if choice < 0.45:
        return integer(rng)
    if choice < 0.55:
        return number(rng)
    if choice < 0.75:
        return rng.choice((True, False, None))
    if choice < 0.87:
        return [anything(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {key(rng): anything(rng, depth + 1) for _ in range(rng.randrange(4))}


# Schemas ------------------------------------------------------------------------------------------


def schema(rng: random.Random, depth: int = 0, defs: tuple[str, ...] = ()) -> Schema:
    """The schema of one field."""
    makers = [scalar] * 6 + [enum] * 2 + [union, nullable]
    if depth < 5:
        makers += [array, array, object_schema, object_schema, free_form]
    if defs:
        makers += [reference]
    made = rng.choice(makers)(rng, depth + 1, defs)
    if rng.random() < 0.1:
        made = {**made, "description": "A field."}
    if rng.random() < 0.1:
        made = {**made, "default": rng.choice((None, 1, "Austin", [], {"a": 1}))}
    return made


def scalar(rng: random.Random, depth: int, defs: tuple[str, ...]) -> Schema:
    return {"type": rng.choice(("string", "string", "string", "integer", "number", "boolean", "null"))}


def enum(rng: random.Random, depth: int, defs: tuple[str, ...]) -> Schema:
    choice = rng.random()
    if choice < 0.15:
        return {"const": rng.choice((text(rng), 1, 2.5, True, None, "New York", [1, "a"], {"k": 1}))}
    if choice < 0.5:
        values: list[Any] = rng.sample(
            ("metric", "Metric", "imperial", "New York", "a", "A", "b c", "x,y"), 3
        )
        return {"type": "string", "enum": values}
    if choice < 0.7:
        return {"enum": distinct([text(rng) for _ in range(3)])}
    if choice < 0.8:
        return {"type": "integer", "enum": rng.sample((0, 1, 2, 10, -5, 2**60), 3)}
    mixed = ("a", "1", "true", "null", 1, 2, 0.5, -2.25, True, False, None, [1], {"a": "b"}, "[1]", "")
    return {"enum": distinct(rng.sample(mixed, rng.randint(1, 5)))}


def distinct(values: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for new in values:
        if not any(new == old and type(new) is type(old) for old in kept):
            kept.append(new)
    return kept


def union(rng: random.Random, depth: int, defs: tuple[str, ...]) -> Schema:
    choice = rng.random()
    if choice < 0.45:
        kinds = ["string", "integer", "boolean", "null", "array", "object"]
        kinds = [kind for kind in kinds if depth < 5 or kind not in ("array", "object")]
        return {"type": rng.sample(kinds, rng.randint(2, 3))}
    if choice < 0.6 and depth < 5:
        made = {"anyOf": [object_schema(rng, depth + 1, defs) for _ in range(2)]}
        return {**made, "unevaluatedProperties": False} if rng.random() < 0.3 else made
    if choice < 0.75:
        kinds = rng.sample(["string", "integer", "boolean", "null"], 2)
        branches: list[Any] = [{"type": kind} for kind in kinds]
        if rng.random() < 0.4:
            branches.insert(rng.randrange(3), rng.choice(NEVER))
        return {"oneOf": branches}
    return {"anyOf": [schema(rng, depth + 1, defs) for _ in range(rng.randint(2, 3))]}


def nullable(rng: random.Random, depth: int, defs: tuple[str, ...]) -> Schema:
    choice = rng.random()
    if choice < 0.4:
        kinds = [rng.choice(("string", "integer", "number", "boolean", "array", "object")), "null"]
        rng.shuffle(kinds)
        return {"type": kinds}
    if choice < 0.8:
        branches = [schema(rng, depth + 1, defs), {"type": "null"}]
        rng.shuffle(branches)
        return {"anyOf": branches}
    return {"type": rng.choice(("string", "integer", "boolean")), "nullable": True}


def array(rng: random.Random, depth: int, defs: tuple[str, ...]) -> Schema:
    choice = rng.random()
    if choice < 0.1:
        return {"type": "array"}
    if choice < 0.2:
        prefix = [schema(rng, depth + 1, defs) for _ in range(rng.randint(1, 2))]
        return {"type": "array", "prefixItems": prefix, "items": schema(rng, depth + 1, defs)}
    if choice < 0.25:
        prefix = [schema(rng, depth + 1, defs) for _ in range(rng.randint(1, 2))]
        return {"type": "array", "items": prefix, "additionalItems": schema(rng, depth + 1, defs)}
    if choice < 0.3:
        return {"items": schema(rng, depth + 1, defs)}
    if choice < 0.65:
        return {"type": "array", "items": scalar(rng, depth, defs)}
    return {"type": "array", "items": schema(rng, depth + 1, defs)}


def free_form(rng: random.Random, depth: int, defs: tuple[str, ...]) -> Schema:
    choice = rng.random()
    if choice < 0.4:
        return {"type": "object"}
    if choice < 0.7:
        return {"type": "object", "additionalProperties": scalar(rng, depth, defs)}
    if choice < 0.8:
        return {"type": "object", "patternProperties": {"^x": scalar(rng, depth, defs)}}
    return {}


def reference(rng: random.Random, depth: int, defs: tuple[str, ...]) -> Schema:
    return {"$ref": "#/$defs/" + rng.choice(defs)}


def object_schema(rng: random.Random, depth: int = 0, defs: tuple[str, ...] = ()) -> Schema:
    names = dict.fromkeys(key(rng) for _ in range(rng.randint(0 if depth else 1, 4)))
    made: Schema = {
        "type": "object",
        "properties": {name: schema(rng, depth + 1, defs) for name in names},
    }
    needed = [name for name in names if rng.random() < 0.3 and not may_recurse(made["properties"][name])]
    if needed:
        made["required"] = needed
    choice = rng.random()
    if choice < 0.4:
        made["additionalProperties"] = False
    elif choice < 0.5:
        made["additionalProperties"] = rng.choice((True, {"type": "string"}, {"type": "integer"}))
    elif choice < 0.55 and depth:
        del made["type"]
    elif choice < 0.62:
        more = {name: schema(rng, depth + 1, defs) for name in ("extra", "more") if name not in names}
        made["allOf"] = [{"properties": more}]
        if rng.random() < 0.5:
            made["unevaluatedProperties"] = rng.choice((False, {"type": "integer"}))
    return made


def has_default(of: Any) -> bool:
    """Whether the schema, or a branch of it, declares a default; what it refers to has none here."""
    branches = of.get("anyOf", of.get("oneOf", ())) if isinstance(of, dict) else ()
    return isinstance(of, dict) and ("default" in of or any(map(has_default, branches)))


def may_recurse(made: Schema) -> bool:
    return "$ref" in str(made)


def root_schema(rng: random.Random) -> Schema:
    """The schema of a tool's arguments."""
    defs = ("Node", "Leaf") if rng.random() < 0.25 else ()
    made = object_schema(rng, 0, defs)
    if defs:
        node = {"$ref": "#/$defs/Node"}
        made["$defs"] = {
            "Node": {
                "type": "object",
                "properties": {
                    "value": {"type": rng.choice(("string", "integer"))},
                    "next": rng.choice((node, {"anyOf": [node, {"type": "null"}]})),
                    "children": {"type": "array", "items": node},
                },
                "required": ["value"],
                "additionalProperties": False,
            },
            "Leaf": scalar(rng, 1, ()),
        }
    elif rng.random() < 0.03:
        made["properties"]["again"] = {"$ref": "#"}
    return made


def toolset(rng: random.Random) -> dict[str, Schema]:
    if rng.random() < 0.05:
        return {}
    names = rng.sample(TOOL_NAMES, rng.randint(1, 3))
    return {name: {} if rng.random() < 0.02 else root_schema(rng) for name in names}


# Values -------------------------------------------------------------------------------------------


def value(rng: random.Random, of: Any, root: Schema, depth: int = 0) -> Any:
    """A value that is valid against `of`, whose `$ref` are those of `root`."""
    if not isinstance(of, dict):
        return anything(rng)
    if "$ref" in of:
        target: Any = root
        for step in of["$ref"].split("/")[1:]:
            target = target[step]
        return value(rng, target, root, depth + 1)
    if "const" in of:
        return of["const"]
    if "enum" in of:
        return rng.choice(of["enum"])
    for word in ("anyOf", "oneOf"):
        if word in of:
            branches = [branch for branch in of[word] if branch not in NEVER]
            if depth > 6:
                branches = [branch for branch in branches if not may_recurse(branch)] or branches
            branch = rng.choice(branches)
            if "unevaluatedProperties" in of:
                branch = {"unevaluatedProperties": of["unevaluatedProperties"], **branch}
            return value(rng, branch, root, depth + 1)
    kinds = of.get("type")
    if of.get("nullable") and rng.random() < 0.2:
        return None
    kind = rng.choice(kinds) if isinstance(kinds, list) else kinds
    members, items = "properties" in of or "patternProperties" in of, "items" in of
    if kind is None and (members or items) and rng.random() < 0.2:
        return scalar_value(rng, rng.choice(("string", "integer", "boolean", "null")))
    if kind == "object" or (kind is None and members):
        return object_value(rng, of, root, depth)
    if kind == "array" or (kind is None and items):
        return array_value(rng, of, root, depth)
    return scalar_value(rng, kind)


def scalar_value(rng: random.Random, kind: str | None) -> Any:
    if kind == "string":
        return text(rng)
    if kind == "integer":
        return integer(rng)
    if kind == "number":
        return number(rng)
    if kind == "boolean":
        return rng.random() < 0.5
    return None if kind == "null" else anything(rng)


def array_value(rng: random.Random, of: Schema, root: Schema, depth: int) -> list[Any]:
    prefix, rest = of.get("prefixItems", []), of.get("items", True)
    if isinstance(rest, list):
        prefix, rest = rest, of.get("additionalItems", True)
    length = 0 if depth > 6 else rng.choice((0, 1, 1, 2, 2, 3))
    return [
        value(rng, prefix[index] if index < len(prefix) else rest, root, depth + 1) for index in range(length)
    ]


def object_value(rng: random.Random, of: Schema, root: Schema, depth: int) -> dict[str, Any]:
    members: dict[str, Schema] = {**of.get("properties", {})}
    for part in of.get("allOf", []):
        members |= part.get("properties", {})
    needed = [name for name in of.get("required", []) if not has_default(members[name])]
    made = {}
    names = list(members)
    rng.shuffle(names)
    for name in names:
        shallow = depth < 6 or not may_recurse(members[name])
        if name in needed or (shallow and rng.random() < 0.6):
            made[name] = value(rng, members[name], root, depth + 1)
    others = of.get("additionalProperties", of.get("unevaluatedProperties", True))
    patterns = list(of.get("patternProperties", {}).values())
    if others is not False and depth < 5 and rng.random() < (0.15 if members else 0.8):
        for name in [key(rng) for _ in range(rng.randrange(4))]:
            if name not in members:
                made[name] = value(
                    rng, patterns[0] if patterns and name[:1] == "x" else others, root, depth + 1
                )
    return made


def arguments(rng: random.Random, of: Schema) -> dict[str, Any]:
    """Arguments that are valid against the schema of a tool."""
    made = value(rng, of, of)
    return made if isinstance(made, dict) else {}


def exact(value: Any) -> str:
    """Numbers by their value and kind, whole floats as the integers that they may become."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{exact(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(exact, value)) + "]"
    if isinstance(value, float) and value.is_integer():
        return repr(int(value))
    return repr(value)
