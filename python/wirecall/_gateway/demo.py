"""A scripted server for `wirecall serve --demo`: a model without native tools."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

_CALL = 'I look that up. <call>get_weather city="New York" days=2</call>'
_ANSWER = "It will be 21 degrees in New York."
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
_PAUSE_SECONDS = 0.02


@asynccontextmanager
async def upstream() -> AsyncIterator[str]:
    """A server on a free port of this machine; gives its base URL."""
    application = web.Application(client_max_size=32 * 1024 * 1024)
    application.router.add_post("/v1/chat/completions", _chat)
    application.router.add_get("/v1/models", _models)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def shown(url: str) -> str:
    """What to type to see a call."""
    body = {
        "model": "demo",
        "messages": [{"role": "user", "content": "What is the weather in New York?"}],
        "tools": [TOOL],
    }
    return (
        "The scripted model has no native tools; it writes calls as text, in chat completions only. "
        "Ask it, in another terminal:\n\n"
        f"curl {url}/v1/chat/completions -H 'content-type: application/json' -d '{json.dumps(body)}'\n\n"
        'With "stream": true in the body, the answer comes as events. Ctrl-C ends.'
    )


async def _models(_: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "demo", "object": "model"}]})


async def _chat(request: web.Request) -> web.StreamResponse:
    given = await request.json()
    # Results come as text of the user.
    last = json.dumps((given.get("messages") or [{}])[-1])
    text = _ANSWER if "<tool-result" in last else _CALL
    base = {"id": "demo", "created": 0, "model": "demo"}
    if given.get("stream") is not True:
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
        choice["message"] = {"role": "assistant", "content": text}
        return web.json_response({**base, "object": "chat.completion", "choices": [choice]})
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)

    async def send(delta: dict[str, str], reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        chunk = {**base, "object": "chat.completion.chunk", "choices": [choice]}
        await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    for at in range(0, len(text), 5):
        await send({"content": text[at : at + 5]})
        await asyncio.sleep(_PAUSE_SECONDS)
    await send({}, "stop")
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response
