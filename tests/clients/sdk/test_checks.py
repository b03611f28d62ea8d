"""What a strict provider would not take, the test server does not take either, and says why in its words."""

from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from server import Answer, Call, Server, serve

Play = Callable[..., Server]

USER = {"role": "user", "content": "hi"}
SYSTEM = {"role": "system", "content": "be kind"}
SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}}
FLAT = {"type": "function", "name": "f", "parameters": SCHEMA, "strict": False}
CLAUDE = {"name": "f", "description": "d", "input_schema": SCHEMA}


def call(*ids: str, **changes: Any) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "tool_calls": [{**one, **changes} for one in calls]}


def result(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "r"}


def use(*ids: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in ids],
    }


def used(*ids: str, before: str = "", after: str = "") -> dict[str, Any]:
    blocks = [{"type": "tool_result", "tool_use_id": id, "content": "r"} for id in ids]
    first = [{"type": "text", "text": before}] if before else []
    last = [{"type": "text", "text": after}] if after else []
    return {"role": "user", "content": [*first, *blocks, *last]}


def done(id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}


def output(id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": "r"}


def named(name: str, **schema: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {**SCHEMA, **schema}}}


CHAT: dict[str, tuple[dict[str, Any], str]] = {
    "unknown parameter": ({"foo": 1}, "Unknown parameter: 'foo'"),
    "no messages": ({"messages": []}, "empty array"),
    "unknown role": ({"messages": [{"role": "bot", "content": "x"}]}, "'bot'"),
    "system later": ({"messages": [USER, SYSTEM]}, "at the beginning"),
    "unknown key of a message": ({"messages": [{**USER, "foo": 1}]}, "messages[0].foo"),
    "no content": ({"messages": [{"role": "user", "content": None}]}, "got null"),
    "empty list of parts": ({"messages": [{"role": "user", "content": []}]}, "empty array"),
    "empty assistant": ({"messages": [USER, {"role": "assistant"}]}, "got null"),
    "part of another role": (
        {
            "messages": [
                USER,
                {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
            ]
        },
        "'image_url'",
    ),
    "part of another API": (
        {"messages": [{"role": "user", "content": [{"type": "input_text"}]}]},
        "'input_text'",
    ),
    "no calls": (
        {"messages": [USER, {"role": "assistant", "content": "a", "tool_calls": []}]},
        "empty array",
    ),
    "arguments no text": (
        {"messages": [USER, call("a", function={"name": "f", "arguments": {}})]},
        "a string",
    ),
    "no id": ({"messages": [USER, call(""), result("")]}, "not empty"),
    "ids twice": ({"messages": [USER, call("a", "a"), result("a")]}, "duplicate id"),
    "call without result": ({"messages": [USER, call("a", "b"), result("a"), USER]}, "response messages: b"),
    "calls at the end": ({"messages": [USER, call("a")]}, "response messages: a"),
    "result without call": ({"messages": [USER, result("a")]}, "preceeding message with 'tool_calls'"),
    "result twice": ({"messages": [USER, call("a"), result("a"), result("a")]}, "preceeding message"),
    "result of another turn": (
        {"messages": [USER, call("a"), result("a"), USER, result("a")]},
        "preceeding message",
    ),
    "no tools": ({"tools": []}, "empty array"),
    "flat tool": ({"tools": [FLAT]}, "tools[0].name"),
    "tool's name": ({"tools": [named("a b")]}, "does not match pattern"),
    "tool's long name": ({"tools": [named("a" * 65)]}, "does not match pattern"),
    "tools alike": ({"tools": [TOOL, TOOL]}, "must be unique"),
    "schema no object": ({"tools": [named("f", type="string")]}, "must be a JSON Schema"),
    "schema's type": ({"tools": [named("f", properties={"x": {"type": "text"}})]}, "is not valid under any"),
    "schema's items": (
        {"tools": [named("f", properties={"x": {"type": "array", "items": {"enum": []}}})]},
        "properties.x.items.enum",
    ),
    "choice without tools": ({"tool_choice": "auto"}, "only allowed when 'tools'"),
    "parallel without tools": ({"parallel_tool_calls": False}, "only allowed when 'tools'"),
    "choice unknown": ({"tools": [TOOL], "tool_choice": "any"}, "supported values"),
    "choice of no tool": (
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "g"}}},
        "'g' not found",
    ),
    "options without stream": ({"stream_options": {"include_usage": True}}, "only allowed when 'stream'"),
    "five stops": ({"stop": ["a", "b", "c", "d", "e"]}, "at most 4"),
    "empty stop": ({"stop": [""]}, "not empty"),
    "n of none": ({"n": 0}, "at least 1"),
}

RESPONSES: dict[str, tuple[dict[str, Any], str]] = {
    "parameter of chat": ({"stop": "x"}, "Unknown parameter: 'stop'"),
    "no input": ({"input": []}, "empty array"),
    "system later": ({"input": [USER, SYSTEM]}, "at the beginning"),
    "part of the other side": (
        {"input": [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}]},
        "'input_text'",
    ),
    "unknown key of a message": ({"input": [{**USER, "tool_calls": []}]}, "input[0].tool_calls"),
    "call without output": ({"input": [USER, done("a")]}, "No tool output found for function call a"),
    "output without call": ({"input": [USER, output("a")]}, "No tool call found"),
    "output before call": ({"input": [USER, output("a"), done("a")]}, "No tool call found"),
    "output twice": ({"input": [USER, done("a"), output("a"), output("a")]}, "Duplicate"),
    "tool of chat": ({"tools": [TOOL]}, "tools[0].function"),
    "choice without tools": ({"tool_choice": "required"}, "with 'tools'"),
    "choice of no tool": (
        {"tools": [FLAT], "tool_choice": {"type": "function", "name": "g"}},
        "'g' not found",
    ),
    "history of the server": ({"previous_response_id": "resp_1"}, "not found"),
}

MESSAGES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown parameter": ({"stop": "x"}, "Extra inputs are not permitted"),
    "system as a message": ({"messages": [SYSTEM, USER]}, 'Unexpected role "system"'),
    "assistant first": ({"messages": [{"role": "assistant", "content": "x"}]}, "first message"),
    "users in a row": ({"messages": [USER, USER]}, "must alternate"),
    "empty text": ({"messages": [{"role": "user", "content": ""}]}, "non-empty content"),
    "empty block": ({"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}, "non-empty"),
    "blank block": (
        {"messages": [{"role": "user", "content": [{"type": "text", "text": " "}]}]},
        "non-whitespace",
    ),
    "blanks at the end": (
        {"messages": [USER, {"role": "assistant", "content": "a "}]},
        "trailing whitespace",
    ),
    "empty system": ({"system": [{"type": "text", "text": ""}]}, "non-empty"),
    "five breakpoints": (
        {"system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5},
        "A maximum of 4 blocks with cache_control may be provided. Found 5",
    ),
    "use without tools": ({"messages": [USER, use("a"), used("a")]}, "must define tools"),
    "use without result": ({"tools": [CLAUDE], "messages": [USER, use("a", "b"), used("a")]}, "after: b"),
    "use at the end": ({"tools": [CLAUDE], "messages": [USER, use("a")]}, "after: a"),
    "result without use": ({"tools": [CLAUDE], "messages": [USER, use("a"), used("a", "b")]}, "unexpected"),
    "result twice": ({"tools": [CLAUDE], "messages": [USER, use("a"), used("a", "a")]}, "unique"),
    "text before result": (
        {"tools": [CLAUDE], "messages": [USER, use("a"), used("a", before="x")]},
        "without `tool_result` blocks immediately after",
    ),
    "result by the assistant": (
        {"tools": [CLAUDE], "messages": [USER, {**used("a"), "role": "assistant"}]},
        "Input tag 'tool_result'",
    ),
    "tool of chat": ({"tools": [TOOL]}, "tools.0.name"),
    "tools alike": ({"tools": [CLAUDE, CLAUDE]}, "must be unique"),
    "schema no object": ({"tools": [{**CLAUDE, "input_schema": {}}]}, "must be a JSON Schema"),
    "choice without tools": ({"tool_choice": {"type": "auto"}}, "only be specified while providing tools"),
    "choice of chat": ({"tools": [CLAUDE], "tool_choice": "auto"}, "expected an object"),
    "choice of no tool": ({"tools": [CLAUDE], "tool_choice": {"type": "tool", "name": "g"}}, "'g' not found"),
    "blank stop": ({"stop_sequences": [" "]}, "non-whitespace"),
    "no tokens": ({"max_tokens": 0}, "at least 1"),
}

GOOD = {
    "chat": [
        {"messages": [SYSTEM, {"role": "developer", "content": "x"}, USER, USER]},
        {"messages": [USER, call("a", "b"), result("b"), result("a"), {"role": "assistant", "content": "x"}]},
        {"tools": [TOOL, named("g")], "tool_choice": {"type": "function", "function": {"name": "g"}}},
        {
            "tools": [
                named("f", **{"$defs": {"a": {"type": ["string", "null"]}}, "additionalProperties": False})
            ]
        },
        {"stop": ["<tool-result"], "n": 2, "parallel_tool_calls": True, "tools": [TOOL]},
    ],
    "responses": [
        {"input": [SYSTEM, USER, done("a"), done("b"), output("a"), output("b")], "instructions": "x"},
        {"tools": [FLAT, {"type": "web_search"}], "tool_choice": "required"},
    ],
    "messages": [
        {"messages": [USER, {"role": "assistant", "content": "a"}], "system": "x"},
        {"messages": [USER, use("a", "b"), used("b", "a", after="x")], "tools": [CLAUDE]},
        {"tools": [CLAUDE], "tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
    ],
}


def ask(server: Server, api: str, changes: dict[str, Any]) -> None:
    """One request with the real SDK; what is changed goes into the body past its types."""
    if api == "messages":
        body = {"messages": [USER], "max_tokens": 9, **changes}
        with anthropic.Anthropic(base_url=server.url, api_key="x", max_retries=0) as claude:
            fixed = {key: body.pop(key) for key in ("messages", "max_tokens")}
            claude.messages.create(model="m", **fixed, extra_body=body)
        return
    with openai.OpenAI(base_url=server.openai_url, api_key="x", max_retries=0) as client:
        if api == "chat":
            client.chat.completions.create(model="m", messages=[USER], extra_body=changes)
        else:
            client.responses.create(model="m", input="hi", extra_body=changes)


CASES = [
    pytest.param(api, changes, message, id=f"{api}: {name}")
    for api, table in (("chat", CHAT), ("responses", RESPONSES), ("messages", MESSAGES))
    for name, (changes, message) in table.items()
]


@pytest.fixture(scope="module")
def server() -> Any:
    with serve(lambda request: Answer("fine")) as server:
        yield server


@pytest.mark.parametrize(("api", "changes", "message"), CASES)
def test_refused(server: Server, api: str, changes: dict[str, Any], message: str) -> None:
    error_type = anthropic.BadRequestError if api == "messages" else openai.BadRequestError
    with pytest.raises(error_type) as caught:
        ask(server, api, changes)
    assert message in str(caught.value)
    assert server.last.refused is not None
    assert caught.value.request_id
    body: Any = caught.value.body
    kind = body["error"]["type"] if api == "messages" else body["type"]
    assert kind == "invalid_request_error"


@pytest.mark.parametrize(
    ("api", "changes"), [(api, changes) for api, table in GOOD.items() for changes in table]
)
def test_taken(server: Server, api: str, changes: dict[str, Any]) -> None:
    ask(server, api, changes)
    assert server.last.refused is None


def test_keys_are_asked_for(play: Play) -> None:
    server = play([])
    with (
        pytest.raises(openai.AuthenticationError),
        openai.OpenAI(
            base_url=server.openai_url, api_key="x", default_headers={"authorization": "x"}
        ) as client,
    ):
        client.responses.create(model="m", input="hi")


def test_templates_may_want_turns_to_alternate(play: Play) -> None:
    server = play([Answer("a")] * 2, alternate=True)
    ask(
        server,
        "chat",
        {"messages": [SYSTEM, USER, call("a"), result("a"), {"role": "assistant", "content": "x"}]},
    )
    with pytest.raises(openai.BadRequestError, match="must alternate"):
        ask(server, "chat", {"messages": [SYSTEM, USER, USER]})


def test_the_tool_runner_falls_back_from_threads(play: Play) -> None:
    """It first sends a `thread` and no history; refused in the right words, it sends everything."""

    @anthropic.beta_tool
    def add(a: int, b: int) -> str:
        return str(a + b)

    server = play([Answer([Call("add", {"a": 1, "b": 2}), Call("add", {"a": 3, "b": 4})]), Answer("done")])
    with anthropic.Anthropic(base_url=server.url, api_key="x", max_retries=0) as claude:
        ask = {"model": "m", "max_tokens": 9, "messages": [USER], "tools": [add]}
        last = claude.beta.messages.tool_runner(**ask).until_done()
    assert last.content[0].text == "done"
    assert "Send the full conversation" in (server.requests[0].refused or "")
    assert [request.refused for request in server.requests[1:]] == [None, None]
    results = server.last.json["messages"][-1]["content"]
    assert [block["content"] for block in results] == ["3", "7"]


def test_checks_can_be_left_out(play: Play) -> None:
    ask(play([Answer("a")], checks=False), "chat", {"foo": 1})


# Servers that sample under a grammar.

TAG = '{"type": "structural_tag", "format": {"type": "any_text"}}'
GRAMMARS_REFUSED: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "no server": ("llama.cpp", "chat", {"structured_outputs": {"regex": "x"}}, "Unknown parameter"),
    "no field of Responses": ("llama.cpp", "responses", {"grammar": "root ::= x"}, "Unknown parameter"),
    "empty": ("llama.cpp", "chat", {"grammar": ""}, "not empty"),
    "no text": ("llama.cpp", "chat", {"grammar": {}}, "expected a string"),
    "no root": ("llama.cpp", "chat", {"grammar": 'x ::= "y"'}, "Failed to parse grammar"),
    "native tools": (
        "llama.cpp",
        "chat",
        {"grammar": "root ::= x", "tools": [TOOL]},
        "Cannot use custom grammar constraints with tools",
    ),
    "JSON and a grammar": (
        "llama.cpp",
        "chat",
        {"grammar": "root ::= x", "response_format": {"type": "json_object"}},
        "both json_schema and grammar",
    ),
    "other server's field": ("vllm", "chat", {"grammar": "root ::= x"}, "Unknown parameter"),
    "no constraint": ("vllm", "chat", {"structured_outputs": {}}, "You must use one kind"),
    "two constraints": (
        "vllm",
        "chat",
        {"structured_outputs": {"regex": "x", "structural_tag": TAG}},
        "only use one kind",
    ),
    "JSON and a tag": (
        "vllm",
        "chat",
        {"structured_outputs": {"structural_tag": TAG}, "response_format": {"type": "json_object"}},
        "only use one kind",
    ),
    "unknown constraint": ("vllm", "chat", {"structured_outputs": {"gbnf": "x"}}, "Unexpected keyword"),
    "tag that is no text": ("vllm", "chat", {"structured_outputs": {"structural_tag": {}}}, "a string"),
    "tag that is no JSON": ("vllm", "chat", {"structured_outputs": {"structural_tag": "x"}}, "Invalid"),
    "tag without a format": (
        "vllm",
        "responses",
        {"structured_outputs": {"structural_tag": '{"type": "structural_tag"}'}},
        "Invalid structured_outputs",
    ),
    "format of Responses": (
        "vllm",
        "responses",
        {"structured_outputs": {"structural_tag": TAG}, "text": {"format": {"type": "text"}}},
        "both structured_outputs and text.format",
    ),
}


@pytest.mark.parametrize(
    ("name", "api", "changes", "message"), GRAMMARS_REFUSED.values(), ids=GRAMMARS_REFUSED
)
def test_grammars_refused(play: Play, name: str, api: str, changes: Any, message: str) -> None:
    with pytest.raises(openai.BadRequestError, match=message):
        ask(play([], grammars=name), api, changes)


@pytest.mark.parametrize(
    ("name", "api", "changes"),
    [
        ("llama.cpp", "chat", {"grammar": 'root ::= "x"', "response_format": {"type": "text"}}),
        ("llama.cpp", "chat", {"grammar": 'root ::= "x"', "tools": [TOOL], "tool_choice": "none"}),
        ("vllm", "chat", {"structured_outputs": {"structural_tag": TAG}, "stop": ["x"]}),
        ("vllm", "responses", {"structured_outputs": {"structural_tag": TAG}}),
    ],
    ids=str,
)
def test_grammars_taken(play: Play, name: str, api: str, changes: Any) -> None:
    server = play([Answer("fine")], grammars=name)
    ask(server, api, changes)
    assert server.last.refused is None
