"""`validate="error"`: the whole vocabulary of JSON Schema, what has a default, older drafts, formats."""

import json
from typing import Any

import pytest

from wirecall import Toolset

Json = dict[str, Any]
ONE = {"type": "integer", "default": 1}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def both(prop: Any, **more: Any) -> Json:
    return {
        "type": "object",
        "properties": {"city": {"type": "string"}, "n": prop},
        "required": ["city", "n"],
        **more,
    }


def accepts(schema: Json, arguments: Json) -> bool:
    """Whether a call is handed over. If so, nothing is wrong with it without validation either."""
    for options in ({"syntax": "json"}, {"protocol": "hermes"}):
        tools = Toolset([("f", schema)], validate="error", **options)
        text = tools.encode("f", arguments)
        read = tools.parse(text)
        if not read.calls:
            assert [error.kind for error in read.errors] == ["invalid_arguments"]
            continue
        assert json.loads(read.calls[0].arguments) == arguments
        assert (
            Toolset([("f", schema)]).parse(Toolset([("f", schema)]).encode("f", arguments)).calls[0].problems
            == ()
        )
    return bool(read.calls)


# Defaults -----------------------------------------------------------------------------------------

REQUIRED_DEFAULTS: list[tuple[Json, Json]] = [
    (both(ONE, additionalProperties=False), {"city": "x"}),
    (both({"$ref": "#/$defs/n"}, **{"$defs": {"n": ONE}}), {"city": "x"}),
    (both({"$ref": "#/components/schemas/n"}, components={"schemas": {"n": ONE}}), {"city": "x"}),
    (both({"allOf": [{"type": "integer"}, {"default": None}]}), {"city": "x"}),
    (both({"anyOf": [{"type": "null"}, ONE]}), {"city": "x"}),
    (both({"oneOf": [ONE, {"type": "string"}]}), {"city": "x"}),
    ({"type": "object", "properties": {"o": both(ONE)}, "required": ["o"]}, {"o": {"city": "x"}}),
    (
        {"properties": {"l": {"items": {"$ref": "#/$defs/o"}}}, "$defs": {"o": both(ONE)}},
        {"l": [{"city": "x"}]},
    ),
    (
        {"properties": {"l": {"$ref": "#/components/o"}}, "components": {"o": both(ONE)}},
        {"l": {"city": "x"}},
    ),
    ({"$schema": DRAFT_7, "properties": {"t": {"items": [both(ONE)]}}}, {"t": [{"city": "x"}]}),
    ({"properties": {"t": {"items": [both(ONE)]}}}, {"t": [{"city": "x"}]}),
    ({"type": "object", "additionalProperties": both(ONE)}, {"any": {"city": "x"}}),
    ({"anyOf": [both(ONE), {"type": "object", "required": ["other"]}]}, {"city": "x"}),
    ({"if": {"required": ["city"]}, "then": both(ONE)}, {"city": "x"}),
]


@pytest.mark.parametrize(("schema", "arguments"), REQUIRED_DEFAULTS, ids=str)
def test_what_has_a_default_is_not_demanded(schema: Json, arguments: Json) -> None:
    assert accepts(schema, arguments)


STILL_REQUIRED: list[tuple[Json, Json]] = [
    (both({"type": "integer"}), {"city": "x"}),
    (both(ONE), {"n": 1}),
    (both({"properties": {"a": ONE}}), {"city": "x"}),
    (both({"items": ONE}), {"city": "x"}),
    # Said of a property that another schema declares.
    ({"properties": {"n": ONE}, "allOf": [{"required": ["n"]}]}, {}),
    # A condition: what it means would be turned around.
    ({"not": {"properties": {"n": ONE}, "required": ["n"]}}, {"n": 1}),
    ({"if": both(ONE), "then": False}, {"city": "x", "n": 1}),
]


@pytest.mark.parametrize(("schema", "arguments"), STILL_REQUIRED, ids=str)
def test_what_is_still_refused(schema: Json, arguments: Json) -> None:
    tools = Toolset([("f", schema)], validate="error", syntax="json")
    assert not tools.parse(tools.encode("f", arguments)).calls


def test_conditions_are_as_they_were() -> None:
    without = {"properties": {"n": ONE}, "required": ["n"]}
    for schema in ({"not": without}, {"if": without, "then": False}):
        tools = Toolset([("f", schema)], validate="error", syntax="json")
        assert tools.parse(tools.encode("f", {"m": 1})).calls


def test_what_fits_the_schema_as_given_fits() -> None:
    # With `b` optional, both branches would hold.
    branches = [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": ONE}, "required": ["b"]}]
    schema = {"type": "object", "oneOf": branches}
    tools = Toolset([("f", schema)], validate="error")
    assert tools.parse('<call>f {"a":1}</call>').calls


def test_nothing_is_inserted() -> None:
    [call] = Toolset([("f", both(ONE))], validate="error").parse("<call>f city=x</call>").calls
    assert call.arguments == '{"city":"x"}'


@pytest.mark.parametrize("protocol", ["hermes", "gemma"])
def test_json_manuals_do_not_demand_it(protocol: str) -> None:
    schema = {"properties": {"l": {"items": {"$ref": "#/$defs/o"}}}, "$defs": {"o": both(ONE)}}
    manual = Toolset([("f", schema)], protocol=protocol).manual()
    assert '"required":["city"]' in manual
    assert '"required":["city","n"]' not in manual


# Drafts -------------------------------------------------------------------------------------------

PAIR = {"type": "array", "items": [{"type": "integer"}, {"type": "string"}], "additionalItems": False}


@pytest.mark.parametrize("draft", [None, DRAFT_7, DRAFT_2020])
@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (PAIR, [1, "a"], [1, "a", 2]),
        (PAIR, [1], ["a", 1]),
        ({**PAIR, "additionalItems": {"type": "null"}}, [1, "a", None], [1, "a", 2]),
        ({"type": "array", "items": PAIR}, [[1, "a"]], [["a", 1]]),
        ({"$ref": "#/definitions/x"}, [1, "a"], ["a"]),
        ({"$ref": "#/definitions/x/items/0"}, 1, "a"),
        (
            {"type": "object", "dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
            {"a": 1, "b": 1},
            {"a": 1},
        ),
        ({"type": "object", "dependencies": {"c": {"required": ["d"]}}}, {"c": 1, "d": 1}, {"c": 1}),
    ],
    ids=str,
)
def test_words_of_older_drafts(draft: str | None, schema: Json, good: Any, bad: Any) -> None:
    named = {} if draft is None else {"$schema": draft}
    whole = {**named, "type": "object", "properties": {"v": schema}, "definitions": {"x": PAIR}}
    assert accepts(whole, {"v": good})
    assert not accepts(whole, {"v": bad})


@pytest.mark.parametrize("named", [{}, {"$schema": "http://json-schema.org/draft-04/schema#"}], ids=str)
def test_exclusive_bounds_of_draft_4(named: Json) -> None:
    bounds = {"minimum": 1, "exclusiveMinimum": True, "maximum": 5, "exclusiveMaximum": False}
    whole = {**named, "type": "object", "properties": {"v": {"type": "number", **bounds}}}
    assert [number for number in range(7) if accepts(whole, {"v": number})] == [2, 3, 4, 5]


# Formats ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", "2024-02-29", "2023-02-29"),
        ("time", "12:30:00Z", "25:00:00Z"),
        ("date-time", "2024-01-01T00:00:00Z", "2024-01-01"),
        ("duration", "P1DT2H", "1 day"),
        ("email", "a.b@example.org", "a.b"),
        ("hostname", "example.org", "-a"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("ipv6", "::1", "::g"),
        ("uri", "https://example.org/a?b#c", "a b"),
        ("uri-reference", "../a", "a b"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
        ("json-pointer", "/a/0", "a"),
    ],
)
@pytest.mark.parametrize("draft", [{}, {"$schema": DRAFT_2020}], ids=str)
def test_formats(draft: Json, name: str, good: str, bad: str) -> None:
    schema = {**draft, "type": "object", "properties": {"v": {"type": "string", "format": name}}}
    assert accepts(schema, {"v": good})
    assert not accepts(schema, {"v": bad})
    [error] = Toolset([("f", schema)], validate="error").parse(f'<call>f v="{bad}"</call>').errors
    assert error.message.startswith(f'v: `"{bad}" is not a "{name}"`')
    # Without validation they say nothing.
    assert Toolset([("f", schema)]).parse(f'<call>f v="{bad}"</call>').calls[0].problems == ()


@pytest.mark.parametrize("name", ["regex", "binary", "password", "int32", "x-own", ""])
def test_formats_that_are_not_checked(name: str) -> None:
    schema = {"type": "object", "properties": {"v": {"type": "string", "format": name}}}
    assert accepts(schema, {"v": "(" * 100})
