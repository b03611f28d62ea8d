"""The anthropic SDK, as the tests of `wrap` use it: all the ways in which an application asks."""

import json
from typing import Any

import anthropic
from wrapping import SCHEMA, USER, Sdk, Seen, got, inside, items


def tool(schema: Any = SCHEMA) -> dict[str, Any]:
    return {"name": "go", "description": "Go there.", "input_schema": schema}


ASKED: dict[str, Any] = {"model": "m", "max_tokens": 99, "messages": USER, "tools": [tool()]}


def seen(message: Any) -> Seen:
    calls = [(block.name, block.input) for block in message.content if block.type == "tool_use"]
    text = "".join(block.text for block in message.content if block.type == "text")
    return Seen(text, calls, message.stop_reason)


async def create(client: Any, **given: Any) -> Seen:
    return seen(await got(client.messages.create(**{**ASKED, **given})))


async def raw(client: Any) -> Seen:
    response = await got(client.messages.with_raw_response.create(**ASKED))
    assert response.elapsed.total_seconds() >= 0
    assert json.loads(response.http_request.content)["tools"] == ASKED["tools"]
    return seen(await got(response.parse()))


async def raw_streaming(client: Any) -> Seen:
    async with inside(client.messages.with_streaming_response.create(**ASKED)) as response:
        return seen(await got(response.parse()))


async def events(client: Any, **given: Any) -> Any:
    return await got(client.messages.create(**{**ASKED, **given}, stream=True))


async def stream(client: Any) -> Seen:
    text, finish = "", None
    calls: dict[int, list[str]] = {}
    async for event in items(await events(client)):
        if event.type == "content_block_start" and event.content_block.type == "tool_use":
            calls[event.index] = [event.content_block.name, ""]
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            text += event.delta.text
        elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            calls[event.index][1] += event.delta.partial_json
        elif event.type == "message_delta":
            finish = event.delta.stop_reason
    return Seen(text, [(name, json.loads(written)) for name, written in calls.values()], finish)


async def stream_helper(client: Any) -> Seen:
    async with inside(client.messages.stream(**ASKED)) as events:
        return seen(await got(events.get_final_message()))


async def beta(client: Any) -> Seen:
    return seen(await got(client.beta.messages.create(**ASKED)))


async def beta_stream_helper(client: Any) -> Seen:
    async with inside(client.beta.messages.stream(**ASKED)) as events:
        return seen(await got(events.get_final_message()))


ANTHROPIC = Sdk(
    module=anthropic,
    kinds=(anthropic.Anthropic, anthropic.AsyncAnthropic),
    error=anthropic.AnthropicError,
    oldest="2.0",
    base_url=lambda server: server.url,
    tool=tool,
    create=create,
    events=events,
    whole=dict.fromkeys((create, raw, raw_streaming, beta), "tool_use"),
    streamed=dict.fromkeys((stream, stream_helper, beta_stream_helper), "tool_use"),
)
