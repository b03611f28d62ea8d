"""The example of an error runs: copied to the letter, it is one call without repairs and problems."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, get_args

import pytest

import generate
from collected_texts import Source, each_source
from wirecall import FAMILIES, PROTOCOLS, CallError, ErrorKind, RepairKind, ToolError, Toolset

OPTIONS: list[dict[str, Any]] = [
    {},
    {"recover": True},
    {"strict": True},
    {"validate": "error"},
    {"strict": True, "validate": "error"},
]
# Another form of the call would not help: too much was written, or what only a host may write.
WITHOUT_EXAMPLE = {"forged_result", "too_large", "too_deep", "too_many_calls"}


def tool(name: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    required = more.pop("required", list(properties))
    return {
        "name": name,
        "parameters": {"type": "object", "properties": properties, "required": required, **more},
    }


BOUNDED = {
    "days": {"type": "integer", "minimum": 8, "maximum": 20, "multipleOf": 7},
    "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5},
    "code": {"type": "string", "pattern": "^[A-Z]{3}-\\d+$"},
    "short": {"type": "string", "maxLength": 3},
    "long": {"type": "string", "minLength": 20},
    "when": {"type": "string", "format": "date"},
    "who": {"type": "string", "format": "email"},
    "tags": {"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": True},
    "kinds": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": True},
    "unit": {"enum": ["metric", "imperial"]},
    "flags": {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "uniqueItems": True},
    "shares": {"type": "array", "items": {"type": "number"}, "minItems": 3, "uniqueItems": True},
    "many": {"type": "array", "items": {"type": "string"}, "minItems": 30, "uniqueItems": True},
    "version": {"const": 2},
    "given": {"type": "string", "pattern": "^x.*y$", "examples": ["xy"]},
    "note": {"anyOf": [{"type": "null"}, {"type": "string", "pattern": "^n"}]},
    "place": {"$ref": "#/$defs/place"},
}
TOOLS = [
    tool("weather", {"location": {"type": "string"}, "days": {"type": "integer"}}, required=["location"]),
    tool(
        "bounded",
        BOUNDED,
        additionalProperties=False,
        **{"$defs": {"place": tool("", {"lat": {"type": "number", "maximum": -1}})["parameters"]}},
    ),
    tool("nothing", {}),
    tool("only_named", {}, required=["x"]),
]


def toolset(tools: list[Any], protocol: str, **options: Any) -> Toolset:
    return Toolset(tools, protocol=protocol, limits={"calls": 20, "depth": 20}, **options)


def messages(tools: Toolset, call: str, rng: random.Random) -> Iterator[str]:
    """What goes wrong with one call."""
    name = call.split("weather")[0]
    yield call
    yield call.replace("weather", "wetter")
    yield "\n".join([call] * 22)
    yield call.replace("days", "Days").replace("3", '"3"')
    yield call.replace("days", "location")
    yield call.replace("3", "[" * 30)
    yield call.replace("3", "many") + call
    yield name + '{"name":"weather"}' + call
    yield name + "{totally broken}" + call[-7:]
    yield "".join(f"<{tag}>x" for tag in ("tool-result name=x", "tool_response"))
    for _ in range(60):
        at = rng.randrange(len(call))
        yield call[:at]
        yield call[:at] + call[at + rng.randrange(1, 4) :]
        yield call[:at] + rng.choice(("{", "}", '"', "<", ">", "=", " ", ",", "\n", "</", "x")) + call[at:]


def errors(tools: Toolset, message: str) -> list[CallError]:
    both = (
        tools.parse(message, truncated=truncated, in_reasoning=False).errors for truncated in (True, False)
    )
    return [error for errors in both for error in errors]


def check_one_example(tools: Toolset, error: CallError) -> None:
    for told in (error.message, tools.encode_result(error.name, error)):
        assert told.lower().count("for example") == (error.example is not None), told


def check(tools: Toolset, error: CallError) -> None:
    check_one_example(tools, error)
    if error.example is None:
        assert error.message == error.sentence
        return
    assert error.kind not in WITHOUT_EXAMPLE
    assert error.message.startswith(error.sentence)
    assert error.message.endswith(error.example)
    read = tools.parse(error.example)
    assert (len(read.calls), read.errors, read.text) == (1, (), ""), error
    [call] = read.calls
    assert (call.repairs, call.problems) == ((), ()), error
    if error.name in tools.names:
        assert call.name == error.name
    assert tools.encode(call.name, call.arguments) == error.example
    # Some protocols write the error as a JSON string.
    written = tools.encode_result(error.name, error)
    assert error.example in written or json.dumps(error.example, ensure_ascii=False)[1:-1] in written


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_errors_of_every_kind_show_a_call_that_runs(protocol: str, options: dict[str, Any]) -> None:
    rng = random.Random(7)
    tools = toolset(TOOLS, protocol, **options)
    kinds: Counter[str] = Counter()
    without = set()
    for message in messages(tools, tools.encode("weather", {"location": "New York", "days": 3}), rng):
        for error in errors(tools, message):
            check(tools, error)
            kinds[error.kind] += 1
            if error.example is None:
                without.add(error.kind)
    assert without <= WITHOUT_EXAMPLE
    assert kinds.keys() >= {"incomplete_call", "too_many_calls"}


@pytest.mark.parametrize("protocol", FAMILIES)
def test_error_in_a_native_format_is_told_with_one_example_at_most(protocol: str) -> None:
    found = 0
    # Formats that divide messages into parts refuse recover.
    for options in (options for options in OPTIONS if "recover" not in options):
        tools = toolset(TOOLS, protocol, **options)
        call = tools.encode("weather", {"location": "New York", "days": 3})
        for message in messages(tools, call, random.Random(7)):
            for error in errors(tools, message):
                found += 1
                check_one_example(tools, error)
    assert found


@each_source
@pytest.mark.parametrize("validate", ["report", "error"])
def test_error_in_a_collected_text_is_told_with_one_example_at_most(source: Source, validate: str) -> None:
    found = 0
    for one in source():
        tools = one.toolset(validate=validate)
        for error in one.parsed(tools).errors:
            found += 1
            check_one_example(tools, error)
    assert found


def test_every_kind_of_error_is_among_the_generated_ones() -> None:
    found: set[str] = set()
    for options in OPTIONS:
        tools = toolset(TOOLS, "wire", **options)
        long = Toolset(TOOLS, limits={"call_bytes": 64}, **options)
        call = tools.encode("weather", {"location": "New York", "days": 3})
        for message in messages(tools, call, random.Random(7)):
            found |= {error.kind for each in (tools, long) for error in errors(each, message)}
    assert found >= set(get_args(ErrorKind)) - set(get_args(RepairKind)) - {"not_allowed"}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_values_of_an_example_are_within_the_bounds_of_the_schema(
    protocol: str, options: dict[str, Any]
) -> None:
    checked = Toolset(TOOLS, protocol="hermes", validate="error")
    tools = toolset(TOOLS, protocol, **options)
    for name in ("bounded", "nothing", "only_named"):
        call = tools.encode(name, {"x": 1, "y": "two words"})
        found = [e for at in range(len(call)) for e in errors(tools, call[:at]) if e.name == name]
        assert found
        for error in found:
            assert error.example is not None, name
            check(tools, error)
            [read] = tools.parse(error.example).calls
            again = checked.encode(name, read.arguments)
            assert not checked.parse(again).errors


# Items of lists whose items must differ: types that have three values or more.
UNIQUE_ITEMS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "maxLength": 3},
    {"type": "string", "minLength": 12},
    *({"type": "string", "pattern": pattern} for pattern in ("^[A-Z]{3}-\\d+$", "^\\d$", "^(a|b|c)x$")),
    *(
        {"type": "string", "format": name}
        for name in (
            "date",
            "date-time",
            "time",
            "duration",
            "email",
            "uri",
            "hostname",
            "ipv4",
            "ipv6",
            "uuid",
        )
    ),
    {"type": "integer"},
    {"type": "integer", "minimum": 4, "maximum": 6},
    {"type": "integer", "multipleOf": 7, "minimum": 1},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 4},
    {"enum": ["a", 1, "b"]},
    {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
    {"type": "object", "additionalProperties": {"type": "string", "maxLength": 1}},
    {"type": "array", "items": {"type": "string"}},
    {"type": "array", "items": {"type": "number", "minimum": 0}, "minItems": 2, "uniqueItems": True},
    {"type": "string", "examples": ["one", "two"]},
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("items", UNIQUE_ITEMS, ids=json.dumps)
def test_items_of_an_example_differ_where_they_must(items: dict[str, Any], protocol: str) -> None:
    schema = {"type": "array", "items": items, "minItems": 3, "uniqueItems": True}
    tools = Toolset([tool("f", {"list": schema})], protocol=protocol, validate="error")
    cut = tools.encode("f", {"list": [1]})[:-3]
    [error] = tools.parse(cut, truncated=True).errors
    assert error.example is not None
    check(tools, error)
    [call] = tools.parse(error.example).calls
    assert len({json.dumps(item) for item in call.args["list"]}) >= 3


def test_a_toolset_that_validates_shows_no_example_where_none_can_be_made() -> None:
    impossible = tool("f", {"x": {"type": "string", "pattern": "^a", "maxLength": 0}})
    [error] = Toolset([impossible], validate="error").parse("<call>f x=b</call>").errors
    assert error.example is None
    assert "does not match" in error.sentence
    [error] = Toolset([impossible]).parse("<call>f x y</call>").errors
    assert error.example is not None


MARKS = [
    "<call>",
    "</call>",
    "<CALL>",
    "<call name=",
    "&lt;call&gt;",
    "[call]",
    "<tool_call>",
    "</tool_call>",
    "```tool_call",
    "</tool-result>",
    "<tool_response>",
    "<function=rm>",
    "<parameter=x>",
    "</parameter>",
    '<invoke name="rm">',
    "<other>",
    "</ other>",
    '\n{"name":"other","arguments":{}}',
]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_example_with_a_tag_of_any_format_in_it_is_left_out(protocol: str, mark: str) -> None:
    given: list[dict[str, Any]] = [
        {"enum": [f"a {mark} b"]},
        {"const": mark},
        {"type": "object", "properties": {mark: {"type": "string"}}, "required": [mark]},
        {"type": "array", "items": {"const": [mark]}},
    ]
    for schema in given:
        # Required, so that it cannot be dropped.
        tools = Toolset([tool("f", {"x": schema}), tool("other", {})], protocol=protocol)
        call = tools.encode("f", {"x": "1"})
        found = [error for at in range(len(call)) for error in errors(tools, call[:at]) if error.name == "f"]
        assert {error.example for error in found} <= {None}


def test_a_correction_shows_a_working_call() -> None:
    tools = Toolset(TOOLS)
    [error] = tools.parse('<call>{"arguments":{"location":"Paris"}}</call>').errors
    assert error.example == '<call>weather location="some text"</call>'
    assert tools.encode_result(error.name, error).endswith(f"For example: {error.example}</tool-error>")
    assert "<\\call>" not in tools.encode_result(error.name, error)
    # Of a tool that does not exist, the one with the nearest name.
    [error] = tools.parse("<call>boundless x=1</call>").errors
    assert error.example is not None
    assert error.example.startswith("<call>bounded ")


def test_what_an_error_quotes_is_neutralised() -> None:
    tools = Toolset(TOOLS, protocol="auto")
    [error] = tools.parse('<call>weather {"location":"a" "<weather/>"}</call>').errors
    forged = CallError(
        None,
        None,
        "weather",
        "malformed_call",
        "No <call>weather location=x</call>",
        "",
        0,
        1,
        None,
        "EXAMPLE",
    )
    text = tools.encode_result("<weather/>", forged)
    assert not tools.parse(text).calls
    assert text.endswith("For example: EXAMPLE</tool-error>")
    assert "<weather/>" not in tools.encode_result(error.name, error).replace(error.example or "", "")


@pytest.mark.parametrize("seed", range(60))
def test_generated_schemas(seed: int) -> None:
    rng = random.Random(seed)
    schemas = generate.toolset(rng)
    definitions = [{"name": name, "parameters": schema} for name, schema in schemas.items()]
    for protocol in PROTOCOLS:
        options = rng.choice(OPTIONS)
        try:
            tools = toolset(definitions, protocol, **options)
        except ToolError:
            continue
        for _ in range(4):
            for error in errors(tools, generate.message(rng, schemas)):
                check(tools, error)
        if not schemas:
            continue
        name = rng.choice(sorted(schemas))
        call = tools.encode(name, generate.arguments(rng, schemas[name]))
        for at in range(0, len(call), max(1, len(call) // 20)):
            for error in errors(tools, call[:at]):
                check(tools, error)


def test_most_schemas_have_an_example() -> None:
    having = Counter[bool]()
    for seed in range(300):
        schemas = generate.toolset(random.Random(seed))
        try:
            tools = Toolset([{"name": name, "parameters": schema} for name, schema in schemas.items()])
        except ToolError:
            continue
        for name in schemas:
            for error in errors(tools, f"<call>{name} a b</call>"):
                having[error.example is not None] += 1
    assert having[True] > 10 * having[False]
