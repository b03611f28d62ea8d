"""A whole agent of LangChain, over text and natively: the application sees the same."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.tools import StructuredTool
from loops import DEFINITIONS, expected, plan, run_tool
from pydantic import BaseModel
from server import Answer, Call, Delivery, NativeModel, Server, Step, TextModel

import wirecall

KINDS = ["chat", "responses", "anthropic"]
WAYS = ["invoke", "ainvoke", "messages", "amessages"]
INPUT = {"messages": [{"role": "user", "content": "Go."}]}


def tool(definition: dict[str, Any]) -> StructuredTool:
    name, schema = definition["name"], definition["parameters"]

    def invoke(**arguments: Any) -> str:
        return run_tool(name, arguments)

    description = definition.get("description", "No more is said.")
    return StructuredTool.from_function(invoke, name=name, description=description, args_schema=schema)


TOOLS = [tool(definition["function"]) for definition in DEFINITIONS]


def run(model: Any, way: str, **options: Any) -> tuple[list[BaseMessage], list[BaseMessage], dict[str, Any]]:
    """The agent's messages, what was streamed of them, and its final state."""
    agent = create_agent(model, TOOLS, system_prompt="Be brief.", **options)
    if way == "invoke":
        state = agent.invoke(INPUT)
        return state["messages"], [], state
    if way == "ainvoke":
        state = asyncio.run(agent.ainvoke(INPUT))
        return state["messages"], [], state

    async def streamed() -> list[Any]:
        return [event async for event in agent.astream(INPUT, stream_mode=["messages", "values"])]

    events = (
        list(agent.stream(INPUT, stream_mode=["messages", "values"]))
        if way == "messages"
        else asyncio.run(streamed())
    )
    pieces = [payload[0] for mode, payload in events if mode == "messages"]
    state = [payload for mode, payload in events if mode == "values"][-1]
    return state["messages"], pieces, state


def seen(messages: list[BaseMessage]) -> dict[str, Any]:
    answers = [message for message in messages if isinstance(message, AIMessage)]
    return {
        "calls": [(call["name"], call["args"]) for message in answers for call in message.tool_calls],
        "invalid": [call for message in answers for call in message.invalid_tool_calls],
        "results": [message.content for message in messages if isinstance(message, ToolMessage)],
        "texts": [message.text for message in answers],
        "usage": [message.usage_metadata is not None for message in answers],
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_agent_is_the_same_over_text_and_natively(
    play: Callable[..., Server], model: Callable[..., Any], kind: str, way: str
) -> None:
    mistakes = plan(["broken_quote", "unknown_tool", "broken_json"])
    text = play(TextModel(mistakes, delivery=Delivery(characters=3, chunk=7)))
    native = play(NativeModel(plan()))
    options = {} if kind == "anthropic" else {"stream_usage": True}
    control, bare_pieces, _ = run(model(kind, native, **options), way)
    over_text, pieces, _ = run(wirecall.wrap(model(kind, text, **options)), way)

    result = seen(over_text)
    assert result == seen(control)
    log = [(*call, content) for call, content in zip(result["calls"], result["results"], strict=True)]
    assert (log, result["texts"][-1]) == expected()
    assert all(result["usage"])
    ids = [
        call["id"] for message in over_text if isinstance(message, AIMessage) for call in message.tool_calls
    ]
    assert len(set(ids)) == len(log)
    assert text.errors == native.errors == []
    assert [request.refused for request in text.requests] == [None] * (12 + 3)
    assert not any("tools" in request.json for request in text.requests)
    assert all(request.streamed is (way in ("messages", "amessages")) for request in text.requests)

    def shown(messages: list[BaseMessage]) -> str:
        return "".join(piece.text for piece in messages if isinstance(piece, AIMessageChunk))

    assert shown(pieces) == shown(bare_pieces)
    # The tricky text is an argument, never said: nothing of the format may be seen.
    assert "<call" not in shown(pieces)
    assert "<tool-" not in shown(pieces)


@pytest.mark.parametrize("kind", KINDS)
def test_structured_output_is_a_tool_over_text(
    play: Callable[..., Server], model: Callable[..., Any], kind: str
) -> None:
    class Weather(BaseModel):
        """The weather, as the answer."""

        city: str
        degrees: int

    steps = [
        Step([Call("search", {"query": "Austin"})]),
        Step([Call("Weather", {"city": "Austin", "degrees": 21})], mistake="broken_quote"),
    ]
    server = play(TextModel(steps))
    wrapped = wirecall.wrap(model(kind, server))
    for way in ("invoke", "messages"):
        _, pieces, state = run(wrapped, way, response_format=ToolStrategy(Weather))
        assert state["structured_response"] == Weather(city="Austin", degrees=21)
        assert "<call" not in "".join(piece.text for piece in pieces)
    assert not any("tools" in request.json for request in server.requests)
    assert server.errors == []


def test_a_bad_call_that_is_not_repaired_is_text_and_no_call(
    play: Callable[..., Server], model: Callable[..., Any]
) -> None:
    server = play([Answer("<call>nothing</call>")] * 2)
    messages, _, _ = run(wirecall.wrap(model("chat", server)), "messages")
    assert messages[-1].tool_calls == []
    assert messages[-1].text == "The assistant tried to call a tool that does not exist."
    assert len(server.requests) == 2
