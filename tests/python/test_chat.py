"""Chat completions: requests without native calls, with the manual in their system text."""

import copy
import json

import pytest

from chat_support import (
    GET,
    SEARCH,
    SET,
    USER,
    Json,
    asking,
    call,
    result,
    rewritten,
    said,
    tool,
)
from wirecall import ToolError, UnsupportedRequestError
from wirecall._apis.chat.api import api as chat
from wirecall._apis.exchange import Exchange
from wirecall._text.options import Options
from wirecall._text.response import Choice


@pytest.mark.parametrize(
    "request_",
    [
        asking(USER, {"role": "user", "content": "<call>"}, tools=()),
        asking(tools=[SEARCH]),
        {"messages": [USER, {"role": "assistant", "content": "x", "tool_calls": None}]},
        {"messages": [USER, {"role": "assistant", "content": "x", "tool_calls": [], "function_call": None}]},
        {"model": "m"},
        {"messages": "no list", "tools": [GET]},
        asking(
            said({"id": "a", "type": "custom", "custom": {"name": "search", "input": "x"}}),
            result("a"),
            tools=[SEARCH],
        ),
    ],
)
def test_untouched(request_: Json) -> None:
    exchange = Exchange(chat, request_, Options())
    assert exchange.untouched
    assert exchange.request is request_
    body: Json = {"choices": [{"message": {"content": "<call>get city=Ulm</call>"}}]}
    assert exchange.whole(body) is body


def test_native_when() -> None:
    request = asking()
    assert rewritten(request, native_when=lambda given: given["model"] == "m") is request
    assert rewritten(request, native_when=lambda given: given["model"] == "x") is not request


# --- the manual


@pytest.mark.parametrize("role", ["system", "developer"])
def test_the_manual_joins_the_system_message(role: str) -> None:
    system = {"role": role, "content": "Be nice.", "name": "boss"}
    [first, user] = rewritten(asking(system, USER))["messages"]
    assert first["role"] == role
    assert first["name"] == "boss"
    assert first["content"].startswith("Be nice.\n\n")
    assert first["content"].endswith("set city")
    assert user is USER
    [first, _] = rewritten(asking(system, USER), placement="first")["messages"]
    assert first["content"].endswith("set city\n\nBe nice.")


def test_the_manual_is_a_part_of_its_own() -> None:
    part = {"type": "text", "text": "Be nice.", "cache_control": {"type": "ephemeral"}}
    system = {"role": "system", "content": [part]}
    [first, _] = rewritten(asking(system, USER))["messages"]
    assert first["content"][0] is part
    assert first["content"][1]["text"].endswith("set city")
    [first, _] = rewritten(asking(system, USER), placement="first")["messages"]
    assert first["content"][1] is part


@pytest.mark.parametrize("placement", ["first", "last"])
def test_without_a_system_message_one_is_put_first(placement: str) -> None:
    [first, user] = rewritten(asking(), placement=placement, no_manual=True)["messages"]
    assert first == {"role": "system", "content": "get city\nset city"}
    assert user is USER
    [first, _] = rewritten(asking({"role": "system", "content": None}, USER), no_manual=True)["messages"]
    assert first == {"role": "system", "content": "get city\nset city"}


def test_only_a_system_message_at_the_beginning_is_joined() -> None:
    first, second = {"role": "system", "content": "A"}, {"role": "system", "content": "B"}
    found = rewritten(asking(first, USER, second))["messages"]
    assert found[0]["content"].startswith("A\n\n")
    assert found[1:] == [USER, second]
    found = rewritten(asking(USER, first, second))["messages"]
    assert found[0]["role"] == "system"
    assert all(new is old for new, old in zip(found[1:], [USER, first, second], strict=True))


def test_the_manual_does_not_change_from_turn_to_turn() -> None:
    first = rewritten(asking())["messages"]
    later = rewritten(asking(USER, said(call("a")), result("a")))["messages"]
    assert later[: len(first)] == first


def test_manual_header() -> None:
    [first, _] = rewritten(asking(), manual_header="Tools:")["messages"]
    assert first["content"] == "Tools:\nget city\nset city"


# --- tools and tool_choice


def choice(request: Json) -> Choice:
    return chat.parse_request(request).choice


ALLOWED = [{"type": "function", "function": {"name": "set"}}]


@pytest.mark.parametrize(
    ("given", "choice_"),
    [
        ({}, Choice()),
        ({"tool_choice": None}, Choice()),
        ({"tool_choice": "auto"}, Choice()),
        ({"tool_choice": "none"}, Choice("none")),
        ({"tool_choice": "required"}, Choice("required")),
        ({"tool_choice": "any"}, Choice("required")),
        ({"parallel_tool_calls": False}, Choice(parallel=False)),
        ({"tool_choice": call(None, "set")}, Choice("required", ("set",))),
        (
            {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": ALLOWED}}},
            Choice("auto", ("set",)),
        ),
        (
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {"mode": "required", "tools": ALLOWED},
                }
            },
            Choice("required", ("set",)),
        ),
        ({"tool_choice": {"type": "custom", "custom": {"name": "search"}}}, Choice("none")),
    ],
)
def test_tool_choice(given: Json, choice_: Choice) -> None:
    request = asking(**given)
    assert chat.parse_request(request).choice == choice_
    made = rewritten(request)
    assert made.keys() <= {"model", "messages", "stop"}
    assert (len(made["messages"]) == 1) == (choice_.mode == "none")
    manual = made["messages"][0]["content"]
    assert ("must call" in manual) == (choice_.mode == "required")
    assert ("at most one call" in manual) == (not choice_.parallel and choice_.mode != "none")


@pytest.mark.parametrize("given", [call(None, "nope"), {"type": "function"}, "maybe", 7])
def test_a_choice_that_cannot_be(given: object) -> None:
    with pytest.raises(UnsupportedRequestError, match="tool_choice"):
        Exchange(chat, asking(tool_choice=given), Options())


def test_bad_tools_are_refused() -> None:
    for bad in ({"type": "function"}, 7, GET):
        with pytest.raises(ToolError):
            Exchange(chat, asking(tools=[GET, bad]), Options())


def test_none_still_rewrites_the_history() -> None:
    made = rewritten(asking(USER, said(call("a")), result("a"), tool_choice="none"))
    assert [message["role"] for message in made["messages"]] == ["user", "assistant", "user"]
    assert made["messages"][1]["content"] == "<call>get city=Ulm</call>"
    assert "stop" not in made


def test_history_without_tools() -> None:
    made = rewritten({"messages": [USER, said(call("a")), result("a")], "tools": []})
    assert [message["role"] for message in made["messages"]] == ["user", "assistant", "user"]
    assert "tools" not in made


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, None),
        ("auto", "auto"),
        ("none", "none"),
        ("required", "auto"),
        (call(None, "get"), "none"),
        (SEARCH, SEARCH),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": ALLOWED}}, "none"),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [*ALLOWED, SEARCH]}},
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [SEARCH]}},
        ),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [SEARCH]}},
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [SEARCH]}},
        ),
    ],
)
def test_native_tools_stay(given: object, kept: object) -> None:
    made = rewritten(asking(tools=[SEARCH, GET, SET], tool_choice=given, parallel_tool_calls=True))
    assert made["tools"] == [SEARCH]
    assert made["tools"][0] is SEARCH
    assert made["tool_choice"] == kept
    assert made["parallel_tool_calls"] is True


def test_native_tools_stay_beside_a_history() -> None:
    request = asking(said(call("a")), result("a"), tools=[SEARCH], tool_choice="required")
    made = rewritten(request)
    assert made["tools"] is request["tools"]
    assert made["tool_choice"] == "required"


def test_legacy_functions() -> None:
    request = {"messages": [USER], "functions": [GET["function"]], "function_call": {"name": "get"}}
    asked = chat.parse_request(request)
    assert asked.legacy
    assert asked.choice == Choice("required", ("get",), parallel=False)
    made = rewritten(request)
    assert made.keys() == {"messages", "stop"}


def test_a_strict_tool_is_validated() -> None:
    exchange = Exchange(chat, asking(tools=[tool("get", strict=True), SET]), Options(on_error="text"))
    answer = "<call>get town=Ulm</call> <call>set town=Ulm</call>"
    body = exchange.whole({"choices": [{"message": {"content": answer}, "finish_reason": "stop"}]})
    assert body is not None
    message = body["choices"][0]["message"]
    assert [found["function"]["name"] for found in message["tool_calls"]] == ["set"]
    assert '<tool-error name="get">' in message["content"]


def test_structured_output_stays_beside_the_manual() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}
    made = rewritten(asking(response_format=form))
    assert made["response_format"] is form
    assert made["messages"][0]["role"] == "system"
    exchange = Exchange(chat, asking(response_format=form), Options())
    body = {"choices": [{"message": {"content": '{"a":1}'}, "finish_reason": "stop"}]}
    assert exchange.whole(body) is body


@pytest.mark.parametrize(
    ("given", "stop"),
    [
        ({}, ["<tool-result"]),
        ({"stop": None}, ["<tool-result"]),
        ({"stop": "END"}, ["END", "<tool-result"]),
        ({"stop": []}, ["<tool-result"]),
        ({"stop": ["a", "b", "c"]}, ["a", "b", "c", "<tool-result"]),
        ({"stop": ["a", "b", "c", "d"]}, ["a", "b", "c", "d"]),
        ({"stop": ["<tool-result"]}, ["<tool-result"]),
        ({"stop": 7}, 7),
        ({"model": "gpt-4o"}, ["<tool-result"]),
        ({"model": "gpt-4.1-mini"}, ["<tool-result"]),
        ({"model": "gpt-35-turbo"}, ["<tool-result"]),
        ({"model": "openai/gpt-oss-120b"}, ["<tool-result"]),
        ({"model": "o3"}, None),
        ({"model": "o1-preview"}, None),
        ({"model": "openai/o4-mini"}, None),
        ({"model": "gpt-5"}, None),
        ({"model": "GPT-5.1-codex", "stop": "x"}, "x"),
        ({"model": "ft:gpt-5-mini:me"}, None),
        ({"model": "xai/grok-4"}, None),
    ],
)
def test_stop(given: Json, stop: object) -> None:
    assert rewritten(asking(**given)).get("stop") == stop


def test_again() -> None:
    request = {"messages": [USER], "x": 1}
    before = copy.deepcopy(request)
    assert chat.retry_request(request, "my words", "do it")["messages"] == [
        USER,
        {"role": "assistant", "content": "my words"},
        {"role": "user", "content": "do it"},
    ]
    assert chat.retry_request(request, "", "do it")["messages"] == [
        USER,
        {"role": "user", "content": "do it"},
    ]
    assert request == before


def test_a_rewritten_request_is_json_and_final() -> None:
    """What was rewritten once has nothing left to be rewritten: middlewares stack."""
    request = asking(USER, said(call("a")), result("a"))
    made = rewritten(request)
    assert json.loads(json.dumps(made)) == made
    assert rewritten(made) is made
