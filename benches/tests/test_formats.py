"""Formats: every call of every catalogue comes back, and what a format gets wrong is noticed."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured import CATALOGUES

from law import LAW
from wirecall import PROTOCOLS
from wirecall._tools.definitions import definitions
from wirecall_bench.formats import (
    BASELINE,
    ONE_TOKEN,
    Format,
    InexpressibleError,
    ParsedCall,
    UnreadableError,
    Writing,
    formats,
    round_trip,
)

OF = {form.name: form for form in formats()}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
TOOLS = definitions([{"name": "get_weather", "description": "The weather.", "parameters": SCHEMA}])
ARGUMENTS = {"city": 'New "York"', "days": 2}
# Tools and arguments that Python has no name for.
NO_NAMES = {"get-library-docs"}


def test_names() -> None:
    assert list(OF) == [
        "named", "arguments", "openai", "anthropic", "wire", "wire-short", "wire-json",
        *(name for name in PROTOCOLS if name != "wire"), "python", "toon",
    ]  # fmt: skip


@pytest.mark.parametrize("catalogue", CATALOGUES)
@pytest.mark.parametrize("name", OF)
def test_every_call_comes_back(name: str, catalogue: str) -> None:
    tools, cases = CATALOGUES[catalogue]().tools, CATALOGUES[catalogue]().cases
    writing = OF[name].of(tools)
    found = {case.name: round_trip(writing, case.tool, case.arguments) for case in cases}
    assert {case: what for case, what in found.items() if what[0] is False} == {}
    # What has no form is known.
    nameless = {
        case.name for case in cases if name == "arguments" or (name == "python" and case.tool in NO_NAMES)
    }
    assert {case for case, what in found.items() if what[0] is None} == nameless


@pytest.mark.parametrize("name", OF)
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"city": ""},
        {"city": "</call>", "days": -1},
        {"days": 3, "city": "?>\n\\n \t\u2028\x00🙂"},
        {"from": 1.5, "a-b": None, "city": "x", "class": [True, {"": []}]},
        {"city": 'a: b\n- c\n"""', "n": 2**70, "f": 1e22, "g": 1.0, "h": -0.5},
    ],
)
def test_hard_arguments(name: str, arguments: dict[str, Any]) -> None:
    survives, reason = round_trip(OF[name].of(TOOLS), "get_weather", arguments)
    # A field of the wrong type, or that no schema names, is a problem to be told; these have neither.
    assert survives is (None if name == "arguments" else True), reason


NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
KEYS = st.text("ab-_ .é", max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@LAW
@given(st.dictionaries(st.sampled_from(["a", "b_c", "from", "d-e", "é", ""]), VALUES, max_size=4))
def test_those_written_here_read_what_they_write(arguments: dict[str, Any]) -> None:
    for name in ("named", "openai", "anthropic", "python"):
        assert round_trip(OF[name].of(TOOLS), "get_weather", arguments) == (True, None)


def test_texts() -> None:
    """What is counted, to the letter."""
    written = {name: form.of(TOOLS).call("get_weather", ARGUMENTS) for name, form in OF.items()}
    inner = r'{"city":"New \"York\"","days":2}'
    spaced = r'{"city": "New \"York\"", "days": 2}'
    assert written["arguments"] == inner
    assert written["named"] == f'{{"name":"get_weather","arguments":{inner}}}'
    assert json.loads(written["openai"]) == {
        "id": "call_01ABCDEFG",
        "type": "function",
        "function": {"name": "get_weather", "arguments": inner},
    }
    assert written["anthropic"] == (
        f'{{"type":"tool_use","id":"toolu_01ABCDEFG","name":"get_weather","input":{inner}}}'
    )
    assert written["wire"] == """<call>get_weather city='New "York"' days=2</call>"""
    assert written["wire-short"] == """<?get_weather city='New "York"' days=2?>"""
    assert written["wire-json"] == f"<call>get_weather {inner}</call>"
    assert written["hermes"] == f'<tool_call>\n{{"name": "get_weather", "arguments": {spaced}}}\n</tool_call>'
    assert written["python"] == r'get_weather(city="New \"York\"", days=2)'
    assert written["toon"] == 'name: get_weather\narguments:\n  city: "New \\"York\\""\n  days: 2'
    strange = OF["python"].of(TOOLS).call("f", {"a": None, "from": [1.5, True], "b": {"c-d": {}}})
    assert strange == 'f(a=None, **{"from": [1.5, True]}, b={"c-d": {}})'


def test_definitions() -> None:
    chat = {
        "type": "function",
        "function": {"name": "get_weather", "description": "The weather.", "parameters": SCHEMA},
    }
    for name in ("named", "arguments", "openai", "python"):
        writing = OF[name].of(TOOLS)
        assert json.loads(writing.definitions()) == [chat]
        assert json.loads(writing.definition(TOOLS[0])) == chat
    anthropic = OF["anthropic"].of(TOOLS)
    said = {"name": "get_weather", "description": "The weather.", "input_schema": SCHEMA}
    assert json.loads(anthropic.definitions()) == [said]
    for name in ("wire", "wire-short", "wire-json", *PROTOCOLS):
        writing = OF[name].of(TOOLS)
        assert writing.definition(TOOLS[0]) in writing.definitions()
    assert ONE_TOKEN[0] + "get_weather" in OF["wire-short"].of(TOOLS).definitions()


@pytest.mark.parametrize("name", [name for name in OF if name != "arguments"])
def test_what_is_no_call_is_not_read_as_one(name: str) -> None:
    """Else a round trip would prove nothing."""
    writing = OF[name].of(TOOLS)
    for broken in ("", "Hello.", writing.call("get_weather", ARGUMENTS)[:-3]):
        with pytest.raises((UnreadableError, ValueError)):
            writing.read(broken)


class _Wrong(Writing):
    """Writes what it is told to, and reads what it wants."""

    read_as = ParsedCall("f", "{}")

    def definitions(self) -> str:
        return ""

    def definition(self, tool: object) -> str:
        return ""

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        return ""

    def read(self, text: str) -> ParsedCall:
        return self.read_as


@pytest.mark.parametrize(
    ("arguments", "read", "said"),
    [
        ({"a": 1}, ParsedCall("g", '{"a":1}'), "it is read as a call of g"),
        ({"a": 1}, ParsedCall("f", '{"a":"1"}'), 'the arguments are read as {"a":"1"}'),
        ({"a": 1}, ParsedCall("f", '{"a":true}'), 'the arguments are read as {"a":true}'),
        ({"a": 1, "b": 2}, ParsedCall("f", '{"b":2,"a":1}'), 'the arguments are read as {"b":2,"a":1}'),
        ({"a": 0.1}, ParsedCall("f", '{"a":0.1000000001}'), 'the arguments are read as {"a":0.1000000001}'),
        (
            {"a": 2**60},
            ParsedCall("f", f'{{"a":{2**60 + 1}}}'),
            f'the arguments are read as {{"a":{2**60 + 1}}}',
        ),
        ({}, ParsedCall("f", '{"a":null}'), 'the arguments are read as {"a":null}'),
        ({"a": 1}, ParsedCall("f", '{"a":1.0}'), None),
    ],
)
def test_a_round_trip_notices(arguments: dict[str, Any], read: ParsedCall, said: str | None) -> None:
    writing = _Wrong([])
    writing.read_as = read
    assert round_trip(writing, "f", arguments) == (said is None, said)


def test_repairs_and_problems_are_no_round_trip() -> None:
    writing = OF["wire"].of(TOOLS)
    for text, said in (
        ("<call>get_weather city = x</call>", "spaced_equals"),
        ("<call>get_weather city=x days=soon</call>", "days"),
        ("<call>get_weather city=x</call> and more", "1 calls and the text ' and more'"),
        ("<call>nope city=x</call>", "unknown_tool"),
    ):
        with pytest.raises(UnreadableError, match=said):
            writing.read(text)


def test_what_has_no_form_says_why() -> None:
    assert round_trip(OF["python"].of(TOOLS), "get-docs", {}) == (None, "get-docs is not a Python identifier")
    assert round_trip(OF["python"].of(TOOLS), "import", {}) == (None, "import is not a Python identifier")
    with pytest.raises(InexpressibleError):
        OF["arguments"].of(TOOLS).read("{}")


def test_a_format_is_for_people_too() -> None:
    assert OF["hermes"].what == '<tool_call> {"name": "name", "arguments": {"key": "value"}} </tool_call>'
    assert isinstance(OF[BASELINE], Format)
    assert all(form.what for form in formats())
