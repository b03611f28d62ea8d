"""Calls in other formats than the toolset's own: protocol="auto", recover=True, and detect."""

import json
import random
from typing import Any

import pytest

import wirecall
from support import FRAMED
from wirecall import PROTOCOLS, Message, ToolError, Toolset
from wirecall._core import native_formats

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
TOOLS: list[dict[str, Any]] = [
    {"name": "get_weather", "description": "Weather", "parameters": PARAMETERS},
    {"name": "ping", "parameters": {"type": "object", "properties": {}}},
]
CALL = ("get_weather", {"city": "New York", "days": 3})
NAMED = '{"name": "get_weather", "arguments": {"city": "New York", "days": 3}}'
BARE = {
    "bare": NAMED,
    "list": f"[{NAMED}]",
    "fence": f"```json\n{NAMED}\n```",
    "plain fence": f"```\n{NAMED}\n```",
    "parameters": '{"name": "get_weather", "parameters": {"city": "New York", "days": 3}}',
    "tool": '{"tool": "get_weather", "arguments": {"city": "New York", "days": 3}}',
    "single quotes": "{'name': 'get_weather', 'arguments': {'city': 'New York', 'days': 3,},}",
    "bare keys": '{name: "get_weather", arguments: {city: "New York", days: 3}}',
    "encoded": json.dumps({"name": "get_weather", "arguments": json.dumps(CALL[1])}),
    "type": json.dumps({"type": "function", "name": "get_weather", "parameters": CALL[1]}),
    "function": json.dumps({"function": {"name": "get_weather", "arguments": json.dumps(CALL[1])}}),
    "OpenAI": json.dumps(
        {"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": CALL[1]}}
    ),
    "tool_calls": f'{{"tool_calls": [{NAMED}]}}',
    "tool_calls in a fence": f'```json\n{{\n  "tool_calls": [\n    {NAMED}\n  ]\n}}\n```',
}
# Definitions of tools, as the APIs have them.
FUNCTION: dict[str, Any] = {"type": "function", "function": TOOLS[0]}
DEFINITIONS: dict[str, Any] = {
    "OpenAI": FUNCTION,
    "Responses": {"type": "function", **TOOLS[0], "strict": True},
    "without a description": {"name": "get_weather", "parameters": PARAMETERS},
    "OpenAI, without one": {
        "type": "function",
        "function": {"name": "get_weather", "parameters": PARAMETERS, "strict": True},
    },
    "Responses, without one": {"type": "function", "name": "get_weather", "parameters": PARAMETERS},
    "Anthropic": {"name": "get_weather", "description": "Weather", "input_schema": PARAMETERS},
    "MCP": {"name": "get_weather", "inputSchema": PARAMETERS},
    "schema first": {"name": "get_weather", "parameters": {"properties": PARAMETERS["properties"]}},
    "schema with a title": {"name": "get_weather", "parameters": {"title": "Weather", **PARAMETERS}},
    "properties alone": {"name": "get_weather", "parameters": PARAMETERS["properties"]},
    "names of types": {"name": "get_weather", "parameters": {"city": "string", "days": "integer"}},
    "no parameters": {"name": "ping", "description": "Ping.", "parameters": {}},
    "OpenAI, no parameters": {"type": "function", "function": {"name": "ping", "parameters": {}}},
    "name alone": {"name": "ping"},
    "examples": {**TOOLS[0], "examples": [{"name": "get_weather", "arguments": {"city": "Rome"}}]},
}
FORMATS = {name: Toolset(TOOLS, protocol=name).encode(*CALL) for name in PROTOCOLS}


def calls(message: Message) -> list[tuple[str, Any]]:
    return [(call.name, call.args) for call in message.calls]


def streamed(tools: Toolset, text: str, cuts: list[int]) -> list[Any]:
    """The items of a message that is fed in pieces, without what only its pieces make different."""
    parser, items = tools.parser(), []
    events = [
        event
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
        for event in parser.feed(text[start:end])
    ]
    for event in [*events, *parser.finish(truncated=False)]:
        if event.type == "text" and items and items[-1][0] == "text":
            items[-1] = ("text", items[-1][1] + event.text)
        elif event.type == "text":
            items.append(("text", event.text))
        elif event.type == "call_end":
            items.append((event.name, event.arguments, event.start, event.end, event.repairs))
        elif event.type == "call_error":
            items.append((event.kind, event.raw, event.start, event.end))
    return items


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_auto_reads_the_protocol_of_the_first_call(protocol: str) -> None:
    tools = Toolset(TOOLS, protocol="auto")
    message = tools.parse(f"I look.\n{FORMATS[protocol]}\nDone.", truncated=False)
    assert calls(message) == [CALL]
    assert message.calls[0].repairs == ()
    # As in prompted protocols, because the prompt is that of wire.
    assert message.text == "I look.\n\nDone."


def test_auto_stays_with_the_first_protocol() -> None:
    tools = Toolset(TOOLS, protocol="auto")
    for first, one in FORMATS.items():
        for other, two in FORMATS.items():
            if first == other or {first, other} == {"xml", "yaml"}:
                continue
            message = tools.parse(f"{one}\n{two}", truncated=False)
            own = Toolset(TOOLS, protocol=first).parse(f"{one}\n{two}", truncated=False)
            assert calls(message) == calls(own)
            assert message.text.split() == own.text.split()


def test_auto_writes_wire() -> None:
    tools = Toolset(TOOLS, protocol="auto")
    assert tools.encode(*CALL) == FORMATS["wire"]
    assert tools.manual() == Toolset(TOOLS).manual()


@pytest.mark.parametrize("form", BARE)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_calls_without_markers_are_recovered(protocol: str, form: str) -> None:
    text = f"I look.\n{BARE[form]}\nDone."
    assert calls(Toolset(TOOLS, protocol=protocol).parse(text, truncated=False)) == []
    message = Toolset(TOOLS, protocol=protocol, recover=True).parse(text, truncated=False)
    assert calls(message) == [CALL]
    assert "other_format" in message.calls[0].repairs
    assert message.text == ("I look.\nDone." if protocol in FRAMED else "I look.\n\nDone.")
    assert (
        calls(Toolset(TOOLS, protocol=protocol, recover=True, strict=True).parse(text, truncated=False)) == []
    )


def layouts(definition: Any) -> list[str]:
    """One definition, and a list of two."""
    texts = [
        json.dumps(given, indent=indent) for given in (definition, [definition] * 2) for indent in (None, 2)
    ]
    python = repr(definition)
    return [*texts, python, *(f"```json\n{text}\n```" for text in texts), f"```\n{python}\n```"]


@pytest.mark.parametrize("definition", DEFINITIONS.values(), ids=DEFINITIONS.keys())
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_definition_is_no_call(protocol: str, definition: dict[str, Any]) -> None:
    tools = Toolset(TOOLS, protocol=protocol, recover=True)
    for layout in layouts(definition):
        text = f"You have:\n{layout}\nUse it."
        message = tools.parse(text, truncated=False)
        assert (message.calls, message.errors, message.text) == ((), (), text)
        assert streamed(tools, text, list(range(1, len(text)))) == [("text", text)]


def test_the_definitions_of_a_toolset_are_no_calls() -> None:
    fields: dict[str, Any] = {"type": {"type": "string"}, "title": {}, "description": {}, "properties": {}}
    shapes: list[dict[str, Any]] = [
        {},
        {"parameters": {}},
        {"parameters": {"type": "object"}},
        {"parameters": PARAMETERS},
        {"parameters": {"type": "object", "properties": fields}},
        {"parameters": {"title": "Ping it", "properties": fields}},
        {"parameters": {"description": "Ping " * 100, "properties": fields}},
    ]
    for shape in shapes:
        for described in ({}, {"description": "Ping."}):
            definition = {"name": "ping", **described, **shape}
            tools = Toolset([definition], recover=True)
            for given in (definition, {"type": "function", "function": definition}):
                for layout in layouts(given):
                    message = tools.parse(layout, truncated=False)
                    assert (message.calls, message.errors) == ((), ()), layout


def test_arguments_that_are_called_like_what_schemas_have() -> None:
    fields = ("title", "description", "type")
    schema = {"type": "object", "properties": {field: {"type": "string"} for field in fields}}
    tools = Toolset([("issue", schema)], recover=True)
    for first in fields:
        arguments = {first: "x" * 300, **dict.fromkeys(fields, "y")}
        for key in ("arguments", "parameters"):
            message = tools.parse(json.dumps({"name": "issue", key: arguments}), truncated=False)
            assert calls(message) == [("issue", arguments)]
    assert calls(tools.parse('{"name": "issue", "parameters": {}}', truncated=False)) == [("issue", {})]


@pytest.mark.parametrize("form", ['{"name": "get_weather", %s}', '```\n{"name": "get_weather", %s}\n```'])
@pytest.mark.parametrize(
    ("members", "named"),
    [
        ('"city": "Rome"', "city"),
        ('"arguments": {"city": "Rome"}, "description": "Weather"', "description"),
        ('"arguments": {"city": "Rome"}, "result": {"name": "ping", "arguments": {}}', "result"),
    ],
)
def test_what_stands_beside_the_arguments_is_an_error(form: str, members: str, named: str) -> None:
    tools = Toolset(TOOLS, recover=True)
    message = tools.parse(form % members, truncated=False)
    [error] = message.errors
    assert (calls(message), error.kind, error.raw) == ([], "malformed_call", form % members)
    assert f"`{named}` must be a member" in error.message
    # Calls are shown as they are to be written, however the model wrote them.
    assert error.example == '<call>get_weather city="some text"</call>'


def test_a_list_runs_what_is_a_call() -> None:
    tools = Toolset(TOOLS, recover=True)
    listed = [NAMED, json.dumps(TOOLS[0]), '{"name": "nope", "arguments": {}}', NAMED]
    for text in (f"[{', '.join(listed)}] x", f'{{"tool_calls": [{", ".join(listed)}]}} x'):
        message = tools.parse(text, truncated=False)
        assert calls(message) == [CALL, CALL]
        assert all("other_format" in call.repairs for call in message.calls)
        assert [error.kind for error in message.errors] == ["malformed_call", "unknown_tool"]
        assert message.text == " x"


def test_objects_of_functions_in_a_list() -> None:
    tools = Toolset(TOOLS, recover=True)
    listed = [
        {"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "}]"}'}},
        {"function": {"name": "ping", "arguments": {}}, "type": "function", "strict": True},
        {"function": {"name": "ping", "arguments": None}, "id": 2},
    ]
    text = f"{json.dumps({'tool_calls': listed})}\nDone."
    message = tools.parse(text, truncated=False)
    assert calls(message) == [("get_weather", {"city": "}]"}), ("ping", {})]
    assert [error.name for error in message.errors] == ["ping"]
    assert message.text == "\nDone."
    assert streamed(tools, text, list(range(1, len(text)))) == streamed(tools, text, [])


@pytest.mark.parametrize("form", BARE)
def test_a_call_without_markers_goes_out_at_its_last_bracket(form: str) -> None:
    """Whatever its last value is: what would follow a quote in a call with markers is not waited for."""
    tools = Toolset(TOOLS, recover=True)
    text = BARE[form].replace(", 'days': 3", "").replace(", days: 3", "")
    text = text.replace(', "days": 3', "").replace(r", \"days\": 3", "")
    assert "days" not in text
    parser = tools.parser()
    ends = [event for event in parser.feed(text) if event.type == "call_end"]
    assert [end.args for end in ends] == [{"city": "New York"}]
    assert [event.type for event in parser.feed(' "}]` and so on.')] == ["text"]


def test_quotes_in_strings_without_markers_are_no_call() -> None:
    text = '{"name": "get_weather", "arguments": {"city": "the "big" one"}}'
    message = Toolset(TOOLS, recover=True).parse(text, truncated=False)
    assert (calls(message), [error.kind for error in message.errors]) == ([], ["invalid_json"])


def test_a_list_of_calls_that_is_followed_by_more_is_an_error() -> None:
    message = Toolset(TOOLS, recover=True).parse(
        f'{{"tool_calls": [{NAMED}], "content": null}}', truncated=False
    )
    assert (calls(message), [error.kind for error in message.errors]) == ([], ["malformed_call"])


@pytest.mark.parametrize("written", PROTOCOLS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_other_protocols_are_recovered(protocol: str, written: str) -> None:
    message = Toolset(TOOLS, protocol=protocol, recover=True).parse(FORMATS[written] + "\n", truncated=False)
    alone = Toolset(TOOLS, protocol=protocol).parse(FORMATS[written] + "\n", truncated=False)
    assert calls(message) == [CALL]
    # Some formats read each other's calls anyway.
    assert ("other_format" in message.calls[0].repairs) == (calls(alone) != [CALL])


def test_nothing_is_recovered_behind_a_call_of_the_own_protocol() -> None:
    tools = Toolset(TOOLS, recover=True)
    text = f"{FORMATS['wire']}\nIts JSON would be:\n{NAMED}\nor {FORMATS['hermes']}"
    message = tools.parse(text, truncated=False)
    assert calls(message) == [CALL]
    assert message.calls[0].repairs == ()
    assert message.text == text.removeprefix(FORMATS["wire"])


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "unknown", "arguments": {}}',
        '{"city": "New York"}',
        f"Such as {NAMED}",
        f"Such as [{NAMED}]",
        f"Such as ```{NAMED}```",
        f"Such as:\n  {NAMED}",
        f"Such as:\n\t{NAMED}",
        '{"name": "get_weather", "arguments": []}',
        '{"arguments": {"city": "Rome"}, "name": "get_weather"}',
        f'{{"role": "assistant", "tool_calls": [{NAMED}]}}',
        '{"name": "get_weather", "argum',
        '{"name": "get_wea',
        "```json\n{}\n```",
        "[1, 2]",
        "{",
        "```",
        "{" * 5000,
        "\n{" * 5000,
        "```\n" * 2000,
        '[{"name": ' * 500,
    ],
)
def test_what_names_no_tool_in_the_beginning_of_a_line_is_text(text: str) -> None:
    tools = Toolset(TOOLS, recover=True)
    message = tools.parse(text)
    assert calls(message) == []
    assert message.text + "".join(error.raw for error in message.errors) == text
    if "argum" not in text:
        assert message.errors == ()


def test_a_recovered_call_that_is_cut_is_an_error() -> None:
    tools = Toolset(TOOLS, recover=True)
    for text in (NAMED, f"```json\n{NAMED}\n```"):
        for end in range(len('{"name": "get_weather", '), text.rindex("}")):
            assert calls(tools.parse(text[:end])) == []


def test_the_pieces_of_a_message_make_no_difference() -> None:
    chance = random.Random(7)
    parts = [
        *BARE.values(),
        *FORMATS.values(),
        "prose < here",
        "\n",
        "```",
        "{",
        '{"name": "',
        NAMED[:40],
        "</tool_call>",
    ]
    for protocol in ("auto", *PROTOCOLS):
        tools = Toolset(TOOLS, protocol=protocol, recover=protocol != "auto")
        for _ in range(40):
            text = "".join(chance.choice(parts) + chance.choice(["", " ", "\n"]) for _ in range(4))
            whole = streamed(tools, text, [])
            said = "".join(item[1] for item in whole if item[0] == "text")
            assert said == tools.parse(text, truncated=False).text
            cuts = sorted(chance.sample(range(len(text)), min(len(text), chance.choice([1, 3, 9]))))
            assert streamed(tools, text, cuts) == whole, (protocol, text, cuts)
            assert streamed(tools, text, list(range(1, len(text)))) == whole, (protocol, text)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_detect(protocol: str) -> None:
    # Nemotron 3 writes the same calls, after one line break.
    between = "\n\n" if protocol == "qwen3coder" else "\n"
    text = f"Let me look.{between}{FORMATS[protocol]}\n"
    found = wirecall.detect(text, TOOLS)
    assert found.protocol == protocol
    assert found.score == found.scores[protocol] == max(found.scores.values())
    assert list(found.scores) == sorted(found.scores, key=lambda name: -found.scores[name])
    assert wirecall.detect(text).protocol == protocol


@pytest.mark.parametrize(
    "options", [{"protocol": "auto"}, {"recover": True}, {"protocol": "xml", "recover": True}]
)
def test_what_others_write_is_no_call_in_any_format(options: dict[str, Any]) -> None:
    tools = Toolset(TOOLS, **options)
    bare = (*BARE.values(), *(f"x\n{text}" for text in BARE.values()))
    for text in (*FORMATS.values(), *bare, "<ping/>", "x\n<ping/>"):
        assert tools.parse(tools.neutralise(text), truncated=False).calls == (), text
        assert tools.parse(tools.encode_result("ping", text)[1:], truncated=False).calls == (), text


def test_a_mark_of_another_format_begins_no_bare_call() -> None:
    """`[` is where calls of this protocol begin, and no place for a list of calls."""
    protocol = wirecall.Format(like="hermes", call="[CALL]{call}[/CALL]")
    text = f"Such as [{NAMED}]"
    assert Toolset(TOOLS, protocol=protocol, recover=True).parse(text, truncated=False).text == text


def test_a_key_that_names_a_tool_begins_no_call() -> None:
    for protocol in PROTOCOLS:
        for strict in (False, True):
            tools = Toolset(
                [{"name": name, "parameters": {"type": "object"}} for name in ("f", "rm")],
                protocol=protocol,
                strict=strict,
            )
            for arguments in ({"rm": {"path": "/"}}, {"f": {}}, {"F": True, "z": 1}, {"f": [1]}, {"RM": "s"}):
                message = tools.parse(tools.encode("f", arguments))
                assert calls(message) == [("f", arguments)]
                assert message.calls[0].repairs == ()


def test_floods_of_tags_are_looked_at_once() -> None:
    for protocol in PROTOCOLS:
        tools = Toolset(TOOLS, protocol=protocol)
        for flood in ("<", "<!--", "</", "<get_weather"):
            text = flood * (300_000 // len(flood))
            assert tools.neutralise(text).replace("\\", "") == text


def most_that_is_written(protocol: str, calls: int) -> tuple[str, str, list[tuple[str, dict[str, Any]]]]:
    """A message with content and several calls, or without content, or with one call."""
    tools = Toolset(TOOLS, protocol=protocol)
    for content, count in (("I look.", calls), ("", calls), ("I look.", 1), ("", 1)):
        given = [CALL] * count
        try:
            return tools.encode_message(content, given, native=True), content, given
        except ValueError:
            continue
    raise AssertionError(protocol)


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("calls", [1, 2, 3])
@pytest.mark.parametrize("protocol", [row["name"] for row in native_formats()])
def test_detect_native_formats(protocol: str, calls: int, declared: bool) -> None:
    """The format comes first, or one that would write the same message."""
    text, content, given = most_that_is_written(protocol, calls)
    found = wirecall.detect(text, TOOLS if declared else ())
    assert found.protocol is not None
    assert found.scores[protocol] == found.score > 0
    assert Toolset(TOOLS, protocol=found.protocol).encode_message(content, given).strip() == text.strip()
    assert list(found.scores.values()) == sorted(found.scores.values(), reverse=True)


def test_detect_of_calls_that_need_no_marks() -> None:
    """An undeclared tool's name counts less if nothing else says that there is a call."""
    text = '{"name": "get_weather", "parameters": {"city": "New York"}}'
    assert wirecall.detect(text, TOOLS)[:2] == ("llama-json", 1.0)
    assert wirecall.detect(text)[:2] == ("llama-json", 0.8)
    assert wirecall.detect(text, TOOLS[1:])[:2] == (None, 0.0)


def test_detect_of_one_tool_instead_of_many() -> None:
    with pytest.raises(ToolError, match="pass a list of tools"):
        wirecall.detect("x", {"name": "f", "parameters": {}})


def test_detect_nothing() -> None:
    for text in (
        "",
        "<tool_response->",
        "<tool_response.x>",
        "Hello <b>you</b> {there}",
        json.dumps({"name": "x"}),
    ):
        found = wirecall.detect(text)
        assert (found.protocol, found.score) == (None, 0.0)
        assert set(found.scores) == {*wirecall.PROTOCOLS, *wirecall.FAMILIES}
