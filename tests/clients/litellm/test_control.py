"""litellm, bare, through the plan with native tool calls: what the provider is compared with."""

import asyncio
import json
from typing import Any

import litellm
import pytest
from loops import DEFINITIONS, Log, expected, plan, run_tool
from server import NativeModel, serve

from wirecall.integrations.litellm import close_stream


async def ask(asynchronous: bool, streamed: bool, **options: Any) -> Any:
    """One message, whichever way it comes."""
    if asynchronous:
        reply: Any = await litellm.acompletion(stream=streamed, **options)
        chunks = [chunk async for chunk in reply] if streamed else []
    else:
        reply = litellm.completion(stream=streamed, **options)
        chunks = list(reply) if streamed else []
        close_stream(reply)
    if streamed:
        reply = litellm.stream_chunk_builder(chunks, messages=options["messages"])
    return reply.choices[0].message


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_plan(provider: str, asynchronous: bool, streamed: bool) -> None:
    log: Log = []

    async def run(url: str) -> str:
        messages: list[Any] = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Go."}]
        options = {
            "model": f"{provider}/m",
            "api_base": url,
            "api_key": "x",
            "tools": DEFINITIONS,
            "num_retries": 0,
        }
        while True:
            message = await ask(asynchronous, streamed, messages=messages, **options)
            # Its message holds a field of litellm's own, which a strict provider would not take back.
            messages.append(message.model_dump(exclude_none=True, exclude={"provider_specific_fields"}))
            if not message.tool_calls:
                return str(message.content)
            for call in message.tool_calls:
                arguments = json.loads(call.function.arguments)
                log.append((call.function.name, arguments, run_tool(call.function.name, arguments)))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": log[-1][2]})

    with serve(NativeModel(plan())) as server:
        final = asyncio.run(run(server.openai_url if provider == "openai" else server.url))
    assert [request.refused for request in server.requests if request.refused] == []
    assert (log, final) == expected()
