"""A whole agent's loop through litellm, over text and natively: the application sees the same."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import litellm
import pytest
import trip
from server import Server

INNER = ["openai/gpt-4o", "anthropic/claude-sonnet-5"]
MODES = ["completion", "acompletion", "streaming", "astreaming"]


def ask(mode: str, **request: Any) -> Any:
    """One answer, whole or put together."""
    if mode == "completion":
        return litellm.completion(**request).choices[0]
    if mode == "acompletion":
        return asyncio.run(_ask(request)).choices[0]
    chunks = list(litellm.completion(**request, stream=True)) if mode == "streaming" else asyncio.run(_chunks(request))
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    whole = litellm.stream_chunk_builder(chunks, messages=request["messages"])
    assert (whole.choices[0].message.content or "") == text
    assert len({chunk.id for chunk in chunks}) == 1
    return whole.choices[0]


async def _ask(request: dict[str, Any]) -> Any:
    return await litellm.acompletion(**request)


async def _chunks(request: dict[str, Any]) -> list[Any]:
    return [chunk async for chunk in await litellm.acompletion(**request, stream=True)]


def loop(server: Server, model: str, mode: str) -> dict[str, list[Any]]:
    address = server.openai_url if "openai/" in model else server.url
    messages: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": trip.REQUEST}]
    seen: dict[str, list[Any]] = {"calls": [], "results": [], "texts": [], "finishes": [], "ids": []}
    for _ in range(trip.STEPS):
        choice = ask(
            mode, model=model, messages=messages, tools=trip.TOOLS, api_base=address, api_key="sk-test", timeout=20
        )
        messages.append(choice.message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
        seen["texts"].append(choice.message.content or "")
        seen["finishes"].append(choice.finish_reason)
        for call in choice.message.tool_calls or ():
            arguments = json.loads(call.function.arguments)
            result = trip.FUNCTIONS[call.function.name](**arguments)
            seen["calls"].append((call.function.name, arguments))
            seen["results"].append(result)
            seen["ids"].append(call.id)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        if not choice.message.tool_calls:
            break
    return seen


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("inner", INNER)
def test_the_loop_is_the_same_over_text_and_natively(
    play: Callable[..., Server], provider: object, inner: str, mode: str
) -> None:
    native, text = play(trip.native_model()), play(trip.text_model())
    control = loop(native, inner, mode)
    over_text = loop(text, f"wirecall/{inner}", mode)

    assert over_text["calls"] == control["calls"] == trip.CALLS
    assert over_text["results"] == control["results"] == trip.RESULTS
    assert over_text["texts"] == control["texts"]
    assert over_text["texts"][-1] == trip.ANSWER
    assert over_text["finishes"] == control["finishes"] == ["tool_calls"] * (trip.STEPS - 1) + ["stop"]
    assert len(set(over_text["ids"])) == len(trip.CALLS)
    assert text.errors == native.errors == []
    assert [request.refused for request in text.requests] == [None] * (trip.STEPS + trip.REPAIRS)
    assert not any("tools" in request.json for request in text.requests)
    assert all("tools" in request.json for request in native.requests)
