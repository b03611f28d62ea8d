"""A whole agent's loop through litellm, over text and natively: the application sees the same."""

import json
from collections.abc import Callable
from typing import Any

import litellm
import pytest
from loops import DEFINITIONS, expected, plan, run_tool
from server import Delivery, NativeModel, Server, TextModel

from wirecall.integrations.litellm import close_stream

Run = Callable[[Any], Any]


async def _chunks(request: dict[str, Any]) -> list[Any]:
    return [chunk async for chunk in await litellm.acompletion(**request, stream=True)]


def _sync_chunks(request: dict[str, Any]) -> list[Any]:
    stream: Any = litellm.completion(**request, stream=True)
    chunks = list(stream)
    close_stream(stream)
    return chunks


def ask(run: Run, asynchronous: bool, streamed: bool, **request: Any) -> Any:
    """One answer, whole or put together."""
    if not streamed:
        reply = run(litellm.acompletion(**request)) if asynchronous else litellm.completion(**request)
        return reply.choices[0]
    chunks = run(_chunks(request)) if asynchronous else _sync_chunks(request)
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    whole = litellm.stream_chunk_builder(chunks, messages=request["messages"])
    assert (whole.choices[0].message.content or "") == text
    assert len({chunk.id for chunk in chunks}) == 1
    return whole.choices[0]


def loop(server: Server, model: str, run: Run, asynchronous: bool, streamed: bool) -> dict[str, Any]:
    address = server.openai_url if "openai/" in model else server.url
    messages: list[Any] = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Go."}]
    options = {"model": model, "tools": DEFINITIONS, "api_base": address, "api_key": "sk-test", "timeout": 60}
    log, texts, finishes, ids = [], [], [], []
    while True:
        choice = ask(run, asynchronous, streamed, messages=messages, **options)
        messages.append(
            choice.message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True)
        )
        texts.append(choice.message.content or "")
        finishes.append(choice.finish_reason)
        for call in choice.message.tool_calls or ():
            arguments = json.loads(call.function.arguments)
            log.append((call.function.name, arguments, run_tool(call.function.name, arguments)))
            ids.append(call.id)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": log[-1][2]})
        if not choice.message.tool_calls:
            assert len(set(ids)) == len(ids)
            return {"seen": (log, texts[-1]), "texts": texts, "finishes": finishes}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("inner", ["openai/gpt-4o", "anthropic/claude-sonnet-5"])
def test_the_loop_is_the_same_over_text_and_natively(
    play: Callable[..., Server], provider: object, run: Run, inner: str, asynchronous: bool, streamed: bool
) -> None:
    mistakes = plan(["broken_quote", "unknown_tool", "broken_json"])
    text = play(TextModel(mistakes, delivery=Delivery(characters=3, chunk=7)))
    native = play(NativeModel(plan()))
    control = loop(native, inner, run, asynchronous, streamed)
    over_text = loop(text, f"wirecall/{inner}", run, asynchronous, streamed)

    assert over_text == control
    assert over_text["seen"] == expected()
    assert over_text["finishes"] == ["tool_calls"] * 11 + ["stop"]
    assert text.errors == native.errors == []
    assert [request.refused for request in text.requests] == [None] * (12 + 3)
    assert not any("tools" in request.json for request in text.requests)
    assert all("tools" in request.json for request in native.requests)
