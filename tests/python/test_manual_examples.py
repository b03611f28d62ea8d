"""The example calls in a manual are of its own tools, and run."""

import random
from typing import Any

import pytest

import generate
from test_error_examples import MARKS, OPTIONS, TOOLS, errors, tool
from wirecall import FAMILIES, PROTOCOLS, ToolError, Toolset

ANY_NAME = "tool_name"
PING = {"name": "ping"}


def check(tools: Toolset) -> list[str]:
    """The names of the tools whose calls are shown: each is one call, without repairs or problems."""
    manual, examples = tools.manual(), tools.examples()
    assert (tools.manual(), tools.examples()) == (manual, examples)
    header = manual.removesuffix(tools.manual(header=""))
    found = []
    for example in examples:
        assert f"\n{example}\n" in header
        read = tools.parse(example, in_reasoning=False)
        assert (len(read.calls), read.errors, read.text) == (1, (), ""), example
        [call] = read.calls
        assert (call.repairs, call.problems) == ((), ()), example
        found.append(call.name)
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("protocol", [*PROTOCOLS, "auto"])
def test_the_example_is_of_the_first_tool_with_parameters(protocol: str, options: dict[str, Any]) -> None:
    for tools in (TOOLS, TOOLS[1:], [PING, *TOOLS]):
        names = check(Toolset(tools, protocol=protocol, **options))
        assert names[0] == next(one["name"] for one in tools if one is not PING)
    assert check(Toolset([PING], protocol=protocol, **options)) == ["ping"]


@pytest.mark.parametrize("row", sorted({*FAMILIES} - {*PROTOCOLS}))
def test_a_native_manual_shows_a_call_and_a_result_of_its_own_format(row: str) -> None:
    tools = Toolset([PING, *TOOLS], protocol=row)
    assert check(tools)[0] == TOOLS[0]["name"]
    header = tools.manual().removesuffix(tools.manual(header=""))
    result = tools.encode_result(TOOLS[0]["name"], "…").strip()
    assert (f"\n{result}\n" in header) or "<tool_response" in result or result == "…"
    # The format of hermes, which is also prompted, is explained.
    hermes = Toolset([PING, *TOOLS], protocol="hermes").manual()
    assert ("JSON object" in header) == hermes.startswith(header)
    assert ("<tool_response>" in header) == ("<tool_response>" in result)


@pytest.mark.parametrize("seed", range(100))
def test_examples_of_generated_tools(seed: int) -> None:
    rng = random.Random(seed)
    schemas = generate.toolset(rng)
    definitions = [{"name": name, "parameters": schema} for name, schema in schemas.items()]
    for protocol in PROTOCOLS:
        try:
            tools = Toolset(definitions, protocol=protocol, **rng.choice(OPTIONS))
        except ToolError:
            continue
        if ANY_NAME in (shown := tools.examples()[0]):
            # Only where no tool has an example.
            calls = [tools.encode(name, {"x": "1"}) for name in schemas]
            found = [e for call in calls for at in range(len(call)) for e in errors(tools, call[:at])]
            assert {error.example for error in found if error.name in schemas} <= {None}, shown
        else:
            assert set(check(tools)) <= schemas.keys()


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_example_with_a_tag_of_any_format_in_it_is_left_out(protocol: str, mark: str) -> None:
    for schema in ({"const": mark}, {"enum": [f"a {mark} b"]}, {"type": "string", "examples": [mark]}):
        hostile = tool("f", {"x": schema})
        alone = Toolset([hostile], protocol=protocol)
        if "examples" in schema:
            [call] = alone.parse(alone.examples()[0]).calls
            assert call.args == {"x": "some text"}
        else:
            assert alone.examples() == Toolset(protocol=protocol).examples()
        names = check(Toolset([hostile, *TOOLS], protocol=protocol))
        assert names[0] == ("f" if "examples" in schema else "weather")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_long_example_is_shown_only_if_there_is_no_short_one(protocol: str) -> None:
    long = tool("long", {f"field_{number}": {"type": "string"} for number in range(60)})
    endless = tool("endless", {f"field_{number}": {"type": "string"} for number in range(400)})
    assert check(Toolset([endless, long, *TOOLS], protocol=protocol))[0] == "weather"
    assert check(Toolset([endless, long, PING], protocol=protocol))[0] == "long"
    assert check(Toolset([endless, PING], protocol=protocol))[0] == "ping"
    assert len(Toolset([endless], protocol=protocol).examples()[0]) < 200


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_without_tools_the_example_is_of_none(protocol: str) -> None:
    [example] = Toolset(protocol=protocol).examples()
    assert ANY_NAME in example


def test_both_forms_of_a_call_are_shown_where_tools_need_both() -> None:
    tree = {
        "name": "tree",
        "parameters": {
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
            "required": ["children"],
        },
    }
    pairs, json = Toolset([tree, *TOOLS]).examples()
    assert pairs.startswith("<call>weather location=")
    assert json.startswith("<call>tree {")
    assert len(Toolset([tree]).examples()) == len(Toolset(TOOLS).examples()) == 1
