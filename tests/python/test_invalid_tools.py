"""Definitions that cannot work, and toolsets that accept them: what is untyped, and what is reported."""

import copy
import logging
import pickle
from typing import Any

import pytest

from support import EVERY
from wirecall import InvalidTool, ToolError, Toolset, compact_tools

GOOD: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
}
LOOP: dict[str, Any] = {"type": "object"}
LOOP["properties"] = {"a": LOOP}


def of(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


# Parameters that cannot work, and where the fault is. Servers accept all of them.
WRONG: list[tuple[Any, str | None]] = [
    (of({"type": "str"}), "/properties/a/type"),
    (of({"type": "string", "required": True}), "/properties/a/required"),
    (of({"$ref": "#/$defs/nothing"}), "/properties/a/$ref"),
    (of({"$ref": "https://example.org/other.json"}), "/properties/a/$ref"),
    (of({"enum": "a"}), "/properties/a/enum"),
    (of(5), "/properties/a"),
    ({"type": "string"}, ""),
    (False, ""),
    ("{}", ""),
    ([], ""),
    ({"city": {"type": "string"}}, ""),
    (of({"default": float("nan")}), "/properties/a/default"),
    (LOOP, "/properties/a"),
]
FORMS = {
    "chat": lambda name, schema: {
        "type": "function",
        "function": {"name": name, "description": "Looks.", "parameters": schema},
    },
    "messages": lambda name, schema: {"name": name, "description": "Looks.", "input_schema": schema},
    "tuple": lambda name, schema: (name, schema),
}


def untyped(*tools: Any, **options: Any) -> Toolset:
    return Toolset(tools, invalid_tools="untyped", **options)


def said(error: ToolError, tool: str) -> InvalidTool:
    return InvalidTool(tool, error.pointer, error.message)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("schema", "pointer"), WRONG, ids=repr)
def test_what_is_an_error_is_reported_in_the_same_words(schema: Any, pointer: str | None, form: str) -> None:
    tools = [("good", GOOD), FORMS[form]("look", schema), ("last", GOOD)]
    with pytest.raises(ToolError) as raised:
        Toolset(tools)
    assert (raised.value.tool, raised.value.pointer) == ("look", pointer)
    accepted = untyped(*tools)
    assert accepted.names == ("good", "look", "last")
    assert accepted.invalid_tools == (said(raised.value, "look"),)
    assert str(accepted.invalid_tools[0]) == str(raised.value)
    assert accepted.invalid_tools[0].to_dict() == {
        "tool": "look",
        "pointer": pointer,
        "message": raised.value.message,
    }
    # The others keep their types.
    text = "<call>look city=5 days=5</call><call>good city=5 days=5</call>"
    assert [call.arguments for call in accepted.parse(text).calls] == [
        '{"city":5,"days":5}',
        '{"city":"5","days":5}',
    ]
    assert form == "tuple" or "- Looks." in accepted.signature("look")


@pytest.mark.parametrize("protocol", EVERY)
@pytest.mark.parametrize("schema", [WRONG[0][0], WRONG[8][0]], ids=repr)
def test_an_untyped_tool_is_one_without_a_schema(protocol: str, schema: Any) -> None:
    accepted = untyped(("look", schema), ("good", GOOD), protocol=protocol)
    open_one = Toolset([("look", {}), ("good", GOOD)], protocol=protocol)
    assert accepted.manual() == open_one.manual()
    calls: list[Any] = [
        ("look", {"city": "Oslo", "days": [1, {"b": None}]}),
        ("good", {"city": "5", "days": 5}),
    ]
    text = accepted.encode_message("I look.", calls)
    assert text == open_one.encode_message("I look.", calls)
    found, expected = (tools.parse(text, in_reasoning=False) for tools in (accepted, open_one))
    assert [(call.name, call.arguments) for call in found.calls] == [
        (call.name, call.arguments) for call in expected.calls
    ]
    assert not found.errors


@pytest.mark.parametrize("protocol", EVERY)
@pytest.mark.parametrize("name", ["get weather", 'a"b', "<a>", "a" * 200])
def test_a_name_that_cannot_be_written(protocol: str, name: str) -> None:
    try:
        Toolset([(name, GOOD)], protocol=protocol)
    except ToolError as error:
        expected = (said(error, name),)
    else:
        expected = ()
    accepted = untyped((name, GOOD), ("good", GOOD), protocol=protocol)
    assert accepted.invalid_tools == expected
    assert accepted.names == (name, "good")
    assert accepted.for_api("chat")[0]["function"]["name"] == name
    assert accepted.parse(accepted.encode("good", {"city": "5"}), in_reasoning=False).calls[0].args == {
        "city": "5"
    }
    if expected:
        with pytest.raises(ValueError, match="a call cannot be written with the name"):
            accepted.encode(name, {})
        assert all(name not in example for example in accepted.examples())


def test_grammars_leave_out_names_that_cannot_be_written() -> None:
    accepted = untyped(("get weather", GOOD), ("good", GOOD))
    assert accepted.grammar("gbnf").text == Toolset([("good", GOOD)]).grammar("gbnf").text.replace(
        "tool 0", "tool 1"
    )
    with pytest.raises(ToolError, match="a call cannot be written with this name"):
        accepted.grammar("gbnf", tool_choice="get weather")


def test_of_tools_with_one_name_the_first_counts() -> None:
    other: dict[str, Any] = of({"type": "string"})
    tools = untyped(("a", GOOD), ("look", GOOD), ("look", other), ("a", other), ("b", GOOD))
    assert tools.names == ("a", "look", "b")
    message = "two tools have this name; rename one"
    assert tools.invalid_tools == (InvalidTool("a", None, message), InvalidTool("look", None, message))
    assert tools.parse("<call>look city=5 a=5</call>").calls[0].args == {"city": "5", "a": 5}
    assert tools.parse("<call>b city=5</call>").calls[0].args == {"city": "5"}
    # A tool is untyped only because of its own definition.
    first = untyped(("look", of(5)), ("look", GOOD))
    assert [one.pointer for one in first.invalid_tools] == ["/properties/a", None]
    assert first.parse("<call>look city=5</call>").calls[0].args == {"city": 5}


def test_a_typo_beside_the_name_is_accepted() -> None:
    tools = untyped(
        {"name": "look", "parametrs": GOOD}, {"name": "two", "parameters": GOOD, "input_schema": GOOD}
    )
    assert [one.tool for one in tools.invalid_tools] == ["look", "two"]
    assert "did you mean 'parameters'" in tools.invalid_tools[0].message


def no_hints(*words: str) -> None: ...


@pytest.mark.parametrize(
    "tool", [{"type": "web_search"}, {"name": ""}, ("", GOOD), 5, no_hints], ids=map(str, range(5))
)
def test_definitions_without_a_name_and_functions_are_errors(tool: Any) -> None:
    with pytest.raises(ToolError):
        untyped(tool)


def test_the_first_of_two_functions_counts() -> None:
    def look(city: str) -> str:
        return city

    first = look

    def look(city: int) -> str:  # type: ignore[no-redef]
        return str(city)

    tools = untyped(first, look)
    assert [one.message for one in tools.invalid_tools] == ["two tools have this name; rename one"]
    assert tools.run(tools.parse("<call>look city=5</call>").calls[0]) == "5"


@pytest.mark.parametrize("option", ["strict", "validate", "fallback"])
def test_other_options_do_not_refuse_it(option: str) -> None:
    options: dict[str, Any] = {"validate": "error"} if option == "validate" else {}
    if option == "fallback":
        options = {"fallback_to_json": "error"}
    tool = {"name": "look", "strict": option == "strict", "parameters": of({"type": "str"})}
    tools = untyped(tool, **options)
    [call] = tools.parse(tools.encode("look", {"a": 5})).calls
    assert call.arguments == '{"a":5}'


def test_copies_and_pickles_have_the_same_report() -> None:
    tools = untyped(("look", of({"type": "str"})), ("look", GOOD), ("nan", of({"default": float("nan")})))
    assert len(tools.invalid_tools) == 3
    for again in (copy.copy(tools), copy.deepcopy(tools), pickle.loads(pickle.dumps(tools))):
        assert again.invalid_tools == tools.invalid_tools
        assert again.names == tools.names
        assert again.manual() == tools.manual()


def test_a_toolset_with_good_tools_reports_nothing() -> None:
    assert (
        untyped(("look", GOOD), no_arguments).invalid_tools == Toolset([("look", GOOD)]).invalid_tools == ()
    )


def no_arguments() -> None: ...


def test_wrap_accepts_and_logs_once(caplog: pytest.LogCaptureFixture) -> None:
    tools = [FORMS["chat"]("look_once", of({"type": "str"})), FORMS["chat"]("look_once", GOOD)]
    request = {"messages": [{"role": "user", "content": "Hi."}], "tools": tools}
    said = {"role": "assistant", "content": "<call>look_once a=5</call>"}

    def model(_: Any) -> Any:
        return {"choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}

    with pytest.raises(ToolError):
        compact_tools().wrap_generate(model, request)
    hooks = compact_tools(
        invalid_tools="untyped", on_event=lambda notice: None, template=lambda tools: str(tools)
    )
    with caplog.at_level(logging.WARNING, "wirecall"):
        for _ in range(2):
            [choice] = hooks.wrap_generate(model, request)["choices"]
            assert choice["message"]["tool_calls"][0]["function"]["arguments"] == '{"a":5}'
    logged = [record.getMessage() for record in caplog.records]
    assert len(logged) == 2
    assert "/properties/a/type" in logged[0]
    assert "two tools have this name" in logged[1]


def test_wrap_writes_a_grammar_of_the_named_tool() -> None:
    tools = [
        FORMS["chat"](name, schema)
        for name, schema in [("a", GOOD), ("a", GOOD), ("b", GOOD), ("look", of(5))]
    ]
    choice = {"type": "function", "function": {"name": "look"}}
    request = {"messages": [{"role": "user", "content": "Hi."}], "tools": tools, "tool_choice": choice}
    hooks = compact_tools(invalid_tools="untyped", grammar="llama.cpp")
    asked = []

    def model(sent: Any) -> Any:
        asked.append(sent["grammar"])
        said = {"role": "assistant", "content": "<call>look a=5</call>"}
        return {"choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}

    hooks.wrap_generate(model, request)
    [written] = asked
    assert written == untyped(("look", of(5))).grammar("gbnf", tool_choice="required").text
