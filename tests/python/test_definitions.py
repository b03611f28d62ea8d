"""Tool definitions: every form is read as it is meant, unchanged, and what is wrong names its place."""

import copy
import json
import sys
import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from stable_ids import stable_id
from support import EMPTY, SCHEMA, Book, error, one
from wirecall import _tools
from wirecall._tools.definitions import Definition, definitions, schema_text
from wirecall.errors import ToolError


class Shop:
    def __call__(self, order: str) -> None: ...

    @classmethod
    def open(cls, hour: int) -> None: ...


def search(query: str) -> None: ...


def spread(*words: str) -> None: ...


# --- dicts


def dict_forms(
    name: str, description: str | None, schema: Any, strict: bool | None
) -> dict[str, dict[str, Any]]:
    plain = {"name": name, "description": description, "parameters": schema, "strict": strict}
    rest = {"name": name, "description": description}
    return {
        "chat": {"type": "function", "function": plain},
        "chat without type": {"function": plain},
        "functions": plain,
        "responses": {"type": "function", **plain},
        "anthropic": {
            **rest,
            "input_schema": schema,
            "strict": strict,
            "cache_control": {"type": "ephemeral"},
        },
        "anthropic custom": {**rest, "type": "custom", "input_schema": schema, "strict": strict},
        "mcp": {
            **rest,
            "inputSchema": schema,
            "outputSchema": {"type": "object"},
            "title": "T",
            "strict": strict,
        },
        "schema": {**rest, "schema": schema, "strict": strict},
    }


@pytest.mark.parametrize("form", dict_forms("", None, None, None))
@pytest.mark.parametrize("strict", [True, False, None])
def test_dict_forms(form: str, strict: bool | None) -> None:
    tool = dict_forms("get_weather", "Weather.", SCHEMA, strict)[form]
    before = copy.deepcopy(tool)
    found = one(types.MappingProxyType(tool))
    assert found == ("get_weather", "Weather.", SCHEMA, strict)
    assert found.parameters is SCHEMA
    assert tool == before


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    name=st.text(min_size=1),
    description=st.none() | st.text(min_size=1),
    # With a keyword: a schema of other members only is refused.
    schema=st.booleans()
    | st.dictionaries(st.text(), json_values, max_size=3).map(lambda members: {**members, "$comment": ""}),
    strict=st.none() | st.booleans(),
)
def test_dict_forms_agree_on_anything(
    name: str, description: str | None, schema: Any, strict: bool | None
) -> None:
    forms = dict_forms(name, description, schema, strict)
    before = copy.deepcopy(forms)
    for tool in forms.values():
        found = one(tool)
        assert found == (name, description, schema, strict)
        assert one(found) == found
        assert json.loads(schema_text(found)) == schema
    assert one((name, schema)) == (name, None, schema, None)
    assert forms == before


def test_schema_with_title() -> None:
    tool = {"title": "get_weather", "description": "Weather.", **SCHEMA}
    found = one(tool)
    assert found == ("get_weather", "Weather.", tool, None)
    assert found.parameters is tool


def test_mcp_object() -> None:
    class Tool(BaseModel):  # as in the MCP SDK: iterable, like every model
        name: str
        title: str | None = None
        description: str | None = None
        inputSchema: dict[str, Any]

    assert one(Tool(name="a", inputSchema=SCHEMA)) == ("a", None, SCHEMA, None)
    assert one(Tool(name="a", description="b", inputSchema=SCHEMA)) == ("a", "b", SCHEMA, None)
    assert one(types.SimpleNamespace(name="a", inputSchema=True)) == ("a", None, True, None)


def test_mcp_object_of_version_2() -> None:
    class Tool(BaseModel):
        name: str
        input_schema: dict[str, Any]
        output_schema: dict[str, Any] | None = None

    tool = Tool(name="a", input_schema=SCHEMA)
    assert one(tool) == ("a", None, SCHEMA, None)
    with pytest.raises(ToolError, match="pass a list"):
        definitions(tool)


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "now"},
        {"name": "now", "parameters": None},
        {"name": "now", "description": "", "input_schema": None},
        {"type": "function", "name": "now"},
        {"type": "function", "function": {"name": "now"}},
        ("now", None),
    ],
)
def test_missing_parameters_are_an_empty_object(tool: object) -> None:
    assert one(tool) == ("now", None, EMPTY, None)


def test_bool_schema() -> None:
    assert one(("any", True)).parameters is True
    assert one({"name": "none", "parameters": False}).parameters is False


# --- lists


def test_mixed_in_order_from_an_iterator() -> None:
    tools = [Book, search, ("pair", SCHEMA), {"name": "plain"}, Definition("made", None, True, True), Shop()]
    assert [d.name for d in definitions(iter(tools))] == ["Book", "search", "pair", "plain", "made", "Shop"]
    assert definitions([]) == definitions(()) == []


@pytest.mark.parametrize(
    "tools",
    [
        {"name": "a"},
        search,
        Book,
        Shop(),
        ("a", SCHEMA),
        Definition("a", None, True, None),
        "a",
        None,
        7,
        types.SimpleNamespace(name="a", inputSchema={}),
        Shop.__dict__["open"],
    ],
    ids=stable_id,
)
def test_a_single_tool_is_no_list(tools: Any) -> None:
    with pytest.raises(ToolError, match="pass a list"):
        definitions(tools)


def test_duplicate_names() -> None:
    with pytest.raises(ToolError, match="two tools have this name") as info:
        definitions([search, {"name": "other"}, ("search", SCHEMA)])
    assert info.value.tool == "search"


# --- what is wrong


@pytest.mark.parametrize(
    ("tool", "name", "pointer", "message"),
    [
        (
            {"parameters": {}},
            None,
            None,
            r"tools\[0\]: its name must be a non-empty string, not None",
        ),
        ({"name": ""}, None, None, "its name must be"),
        ({"name": 5, "parameters": {}}, None, None, "its name must be .* not 5"),
        ({"type": "function", "function": {"parameters": {}}}, None, None, "its name must be"),
        ({"type": "function", "function": None}, None, None, '"function" must be a dict'),
        ({"name": "a", "parameters": []}, "a", "", "must be a JSON Schema .* not list"),
        ({"name": "a", "input_schema": "{}"}, "a", "", "must be a JSON Schema .* not str"),
        (("a", 5), "a", "", "must be a JSON Schema .* not int"),
        ({"name": "a", "description": 5}, "a", None, "description must be a string, not int"),
        ({"name": "a", "strict": "yes"}, "a", None, "\"strict\" must be true or false, not 'yes'"),
        (
            {"name": "a", "parameters": {}, "input_schema": {}},
            "a",
            None,
            "both 'parameters' and 'input_schema'",
        ),
        (
            {"name": "a", "parametrs": SCHEMA},
            "a",
            None,
            r"tools\[0\]: .*'parametrs'; did you mean 'parameters'",
        ),
        ({"name": "a", "params": SCHEMA}, "a", None, "did you mean 'parameters'"),
        ({"type": "function", "function": {"nmae": "a", "parameters": {}}}, None, None, "mean 'name'"),
        ({"name": "a", "parameters": {"city": "string"}}, "a", "", 'keyword .*city.* belong in "properties"'),
        (("a", {"city": {"type": "string"}}), "a", "", "keyword of JSON Schema"),
        ({"type": "web_search"}, None, None, "type 'web_search' .* stays native"),
        ({"type": "bash_20250124", "name": "bash"}, None, None, "stays native"),
        ({"type": "custom", "name": "sql", "format": {"type": "text"}}, None, None, "stays native"),
        ({"title": "Two words", "type": "object"}, None, None, "title 'Two words' is not a tool name"),
        ({"title": "", "type": "object"}, None, None, "title '' is not a tool name"),
        ({"title": 'a"b', "type": "object"}, None, None, "is not a tool name"),
        ({"title": "Untyped", "properties": {}}, None, None, "is not a tool definition"),
        ({"type": "object", "properties": {}}, None, None, "is not a tool definition"),
        ({"type": "object", "name": "a", "properties": {}}, None, None, "is not a tool definition"),
        ({"type": "object", "name": "a", "title": "b"}, None, None, "is not a tool definition"),
        ({"name": "flat", "properties": {}}, None, None, "is not a tool definition"),
        ({}, None, None, "is not a tool definition"),
        (5, None, None, "5 is not a tool definition. Accepted forms: a function, .*OpenAI, Anthropic or MCP"),
        ("get_weather", None, None, "is not a tool definition"),
        (("a", {}, {}), None, None, "is not a tool definition"),
        (Shop, "Shop", None, "a class must be a pydantic model"),
        (lambda a: a, "<lambda>", None, "a lambda has no name"),
        (dict.get, "get", None, "positional-only 'key'"),
        (spread, "spread", None, r"\*words cannot be filled: use a list"),
        (min, "min", None, "its signature cannot be read"),
    ],
)
def test_errors_name_the_place(tool: object, name: str | None, pointer: str | None, message: str) -> None:
    found = error(tool)
    assert (found.tool, found.pointer) == (name, pointer)
    with pytest.raises(ToolError, match=message):
        raise found


@pytest.mark.parametrize("more", ["outputSchema", "output_schema", "title", "descriptions", "parametrs", "x"])
def test_other_members_are_allowed(more: str) -> None:
    assert one({"name": "a", "description": "D", "parameters": SCHEMA, more: {}}).parameters is SCHEMA


@pytest.mark.parametrize("key", ["$ref", "$schema", "$defs", "anyOf", "description", "title", "x-order"])
def test_any_keyword_makes_a_schema(key: str) -> None:
    assert one(("a", {key: "", "other": 1})).parameters == {key: "", "other": 1}


def test_errors_count_tools() -> None:
    with pytest.raises(ToolError, match=r"^tools\[1\]: "):
        definitions([{"name": "a"}, {"name": None}])


def test_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    definitions([search])
    monkeypatch.delitem(sys.modules, "wirecall._tools.introspection")
    monkeypatch.delattr(_tools, "introspection")
    monkeypatch.setitem(sys.modules, "pydantic", None)
    for tool in (search, Book):
        with pytest.raises(ImportError, match=r"pip install '\.\[pydantic\]' in a clone"):
            definitions([tool])
    assert one({"name": "a", "parameters": SCHEMA}).parameters is SCHEMA


# --- JSON text


def test_schema_text_keeps_letters() -> None:
    assert schema_text(one(("a", {"title": "größe 🌍"}))) == '{"title": "größe 🌍"}'
    assert schema_text(one(("a", True))) == "true"


def looped() -> dict[str, Any]:
    schema: dict[str, Any] = {"properties": {"a": {}}}
    schema["properties"]["a"]["items"] = schema
    return schema


def deep() -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(200_000):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "pointer", "message"),
    [
        (
            {"properties": {"a/b~c": {"default": float("nan")}}},
            "/properties/a~1b~0c/default",
            "nan is not a JSON number",
        ),
        ({"anyOf": [{}, {"maximum": float("-inf")}]}, "/anyOf/1/maximum", "-inf is not a JSON number"),
        ({"enum": [1, "a", True, None, 1.5, {2}]}, "/enum/5", r"\{2\} is not a JSON value"),
        ({"type": int}, "/type", "<class 'int'> is not a JSON value"),
        (looped(), "/properties/a/items", "contains itself"),
        ({"properties": {("a", "b"): {}}}, "/properties", r"key \('a', 'b'\) is not a string"),
        (
            {"properties": {1: {}, None: {}, "a": {"const": b""}}},
            "/properties/a/const",
            "b'' is not a JSON value",
        ),
        ({"const": "\ud800"}, "/const", "lone surrogate"),
        ({"properties": {"\udc00": {}}}, "/properties", "lone surrogate"),
    ],
)
def test_schema_that_is_no_json(schema: dict[str, Any], pointer: str, message: str) -> None:
    with pytest.raises(ToolError, match=message) as info:
        schema_text(one(("bad", schema)))
    assert (info.value.tool, info.value.pointer) == ("bad", pointer)


def test_schema_that_is_too_deep() -> None:
    with pytest.raises(ToolError, match="nested too deeply"):
        schema_text(one(("bad", deep())))


def test_shared_parts_are_no_cycle() -> None:
    part = {"type": "string"}
    assert json.loads(schema_text(one(("a", {"anyOf": [part, part]})))) == {"anyOf": [part, part]}
