"""Constraints in the manual say what the schema says, and can be told from the fields around them."""

import copy
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

import generate
from test_error_examples import MARKS, tool
from wirecall import PROTOCOLS, ToolError, Toolset

KEYWORDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "examples",
    "example",
)
SIGNED = [name for name in PROTOCOLS if name not in ("hermes", "gemma")]
FORMATS = ("date", "date-time", "email", "uuid", "uri", "ipv4", "time")
PATTERNS = ("[A-Z]{3}", "^a b$", r"^/x\d+", "a|b", "[({]", '"', "a,b", "e=1", "-")


def bounds(rng: random.Random) -> tuple[dict[str, Any], str]:
    """A schema with constraints, and what a signature says of it."""
    low, high = sorted(rng.sample(range(-9, 99), 2))
    kind = rng.randrange(8)
    if kind == 0:
        return {"type": "integer", "minimum": low, "maximum": high}, f":int {low}..{high}"
    if kind == 1:
        return {"type": "number", "exclusiveMinimum": low}, f":number >{low}"
    if kind == 2:
        return {"type": "integer", "exclusiveMaximum": high, "multipleOf": 3}, f":int <{high} (multiple of 3)"
    if kind == 3:
        pattern = rng.choice(PATTERNS)
        shown = re.sub("/", r"\\/", pattern)
        return {"type": "string", "pattern": pattern, "maxLength": 9}, f" /{shown}/ (<=9 chars)"
    if kind == 4:
        form = rng.choice(FORMATS)
        return {"type": "string", "format": form}, f":{form}"
    if kind == 5:
        return {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 4}, (
            ":[int >=1] (<=4 items)"
        )
    if kind == 6:
        return {"type": "string", "minLength": 2, "examples": ["Ulm"]}, " (>=2 chars, e.g. Ulm)"
    return {"type": ["number", "null"], "maximum": 0.5, "minimum": -1}, ":number|null -1..0.5"


@pytest.mark.parametrize("seed", range(200))
@pytest.mark.parametrize("protocol", SIGNED)
def test_each_field_has_its_own_constraints(protocol: str, seed: int) -> None:
    rng = random.Random(seed)
    made = [bounds(rng) for _ in range(rng.randrange(1, 6))]
    optional = [rng.random() < 0.5 for _ in made]
    names = [f"k{at}" for at in range(len(made))]
    schema = tool(
        "f",
        {name: schema for name, (schema, _) in zip(names, made, strict=True)},
        required=[name for name, free in zip(names, optional, strict=True) if not free],
    )
    fields = [
        f"{name}{'?' * free}{said}" for name, free, (_, said) in zip(names, optional, made, strict=True)
    ]
    tools = Toolset([schema], protocol=protocol)
    expected = " ".join(fields) if protocol == "wire" else f"{{{','.join(fields)}}}"
    assert tools.signature("f") == f"f {expected}"


def decorated(schema: Any, rng: random.Random) -> Any:
    """The schema with constraints at all places that have a type."""
    if not isinstance(schema, dict):
        return schema
    made = {
        key: {name: decorated(value, rng) for name, value in item.items()}
        if key in ("properties", "patternProperties", "$defs")
        else [decorated(one, rng) for one in item]
        if key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(item, list)
        else decorated(item, rng)
        if key in ("items", "additionalProperties")
        else item
        for key, item in schema.items()
    }
    if "type" in made and rng.random() < 0.7:
        hostile = rng.choice([*MARKS, "a\nb", "a" * 41, "x"])
        made |= rng.choice(
            [
                {"minimum": 1, "maximum": 5},
                {"pattern": hostile.replace("[", r"\[").replace("{", r"\{")},
                {"examples": [hostile, 5, True]},
                {"format": rng.choice([*FORMATS, "int", "bool", "any", hostile])},
                {"minLength": 1, "maxItems": 3},
                {"multipleOf": 0.5, "exclusiveMinimum": True, "minimum": 1e300},
            ]
        )
    return made


def stripped(schema: Any, *, named: bool = False) -> Any:
    if isinstance(schema, list):
        return [stripped(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: item
        if not named and key in ("default", "enum", "const", "required")
        else stripped(item, named=not named and key in ("properties", "patternProperties", "$defs"))
        for key, item in schema.items()
        if named or key not in KEYWORDS
    }


def texts(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for item in schema.values():
            yield from texts(item)
    elif isinstance(schema, list):
        for item in schema:
            yield from texts(item)
    elif isinstance(schema, str):
        yield schema


@pytest.mark.parametrize("seed", range(150))
def test_generated_schemas(seed: int) -> None:
    rng = random.Random(seed)
    schemas = {name: decorated(copy.deepcopy(of), rng) for name, of in generate.toolset(rng).items()}
    definitions = [{"name": name, "parameters": schema} for name, schema in schemas.items()]
    bare = [{"name": name, "parameters": stripped(schema)} for name, schema in schemas.items()]
    for protocol in SIGNED:
        try:
            without = Toolset(definitions, protocol=protocol, constraints=False)
        except ToolError:
            continue
        # What is left out leaves no trace.
        assert without.manual(header="") == Toolset(bare, protocol=protocol).manual(header="")
        shown = Toolset(definitions, protocol=protocol).manual(header="")
        assert shown.count("\n") == max(0, len(definitions) - 1)
        # Nothing that was left out for its length is shown, and no call can be made of what is shown.
        assert "a" * 41 not in shown
        assert not Toolset(definitions, protocol=protocol).parse(shown).calls


@pytest.mark.parametrize("mark", [*MARKS, "a\nb", "a\u2028b", "a\x85b", "x<y", "a" * 41])
@pytest.mark.parametrize("protocol", SIGNED)
def test_a_constraint_that_is_long_or_could_be_a_tag_is_left_out(protocol: str, mark: str) -> None:
    for constraint in ({"pattern": mark}, {"examples": [mark]}, {"format": mark}):
        schema = tool("f", {"x": {"type": "string", **constraint}, "other": {"type": "string"}})
        plain = tool("f", {"x": {"type": "string"}, "other": {"type": "string"}})
        for options in ({}, {"recover": True}):
            shown = Toolset([schema, PLAIN], protocol=protocol, **options).manual(header="")
            assert shown == Toolset([plain, PLAIN], protocol=protocol, **options).manual(header="")


PLAIN = {"name": "other", "parameters": {"type": "object", "properties": {}}}


@pytest.mark.parametrize("constraints", [True, False])
@pytest.mark.parametrize("protocol", ["hermes", "gemma"])
def test_a_manual_of_json_schema_says_them_once(protocol: str, constraints: bool) -> None:
    schema = tool("f", {"days": {"type": "integer", "minimum": 1, "maximum": 7}})
    manual = Toolset([schema], protocol=protocol, constraints=constraints).manual()
    assert manual.count('"minimum":1,"maximum":7') == 1
    assert "1..7" not in manual


def test_fields_of_a_plan_have_their_bare_types() -> None:
    schema = tool("f", {"day": {"type": "string", "format": "date", "pattern": "^2"}})
    assert [field.type for field in Toolset([schema]).plan("f").fields] == ["string"]
