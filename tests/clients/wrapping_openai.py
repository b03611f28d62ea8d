"""The openai SDK, as the tests of `wrap` use it: all the ways in which an application asks."""

import json
from typing import Any

import openai
from wrapping import SCHEMA, USER, Sdk, Seen, got, inside, items


def function(schema: Any = SCHEMA) -> dict[str, Any]:
    return {"name": "go", "description": "Go there.", "parameters": schema, "strict": True}


def tool(schema: Any = SCHEMA) -> dict[str, Any]:
    return {"type": "function", "function": function(schema)}


CHAT: dict[str, Any] = {"model": "m", "messages": USER, "tools": [tool()]}
RESPONSES: dict[str, Any] = {
    "model": "m",
    "input": "Where to?",
    "tools": [{"type": "function", **function()}],
}


def seen_chat(completion: Any) -> Seen:
    choice = completion.choices[0]
    calls = [
        (call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls or ()
    ]
    return Seen(choice.message.content or "", calls, choice.finish_reason)


def seen_response(response: Any) -> Seen:
    calls = [
        (item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"
    ]
    return Seen(response.output_text, calls, response.status)


async def create(client: Any, **given: Any) -> Seen:
    return seen_chat(await got(client.chat.completions.create(**{**CHAT, **given})))


async def parse(client: Any) -> Seen:
    return seen_chat(await got(client.chat.completions.parse(**CHAT)))


async def raw(client: Any) -> Seen:
    response = await got(client.chat.completions.with_raw_response.create(**CHAT))
    assert response.elapsed.total_seconds() >= 0
    assert json.loads(response.http_request.content)["tools"] == CHAT["tools"]
    assert json.loads(response.http_response.content)["choices"][0]["message"]["tool_calls"]
    return seen_chat(response.parse())


async def raw_streaming(client: Any) -> Seen:
    async with inside(client.chat.completions.with_streaming_response.create(**CHAT)) as response:
        return seen_chat(await got(response.parse()))


async def chunks(client: Any, **given: Any) -> Any:
    return await got(client.chat.completions.create(**CHAT, stream=True, **given))


async def stream(client: Any) -> Seen:
    text, finish = "", None
    calls: dict[int, list[str]] = {}
    async for chunk in items(await chunks(client)):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or ():
                if call.id is not None:
                    calls[call.index] = [call.function.name, ""]
                calls[call.index][1] += call.function.arguments
    return Seen(text, [(name, json.loads(text)) for name, text in calls.values()], finish)


async def stream_helper(client: Any) -> Seen:
    kinds = []
    async with inside(client.chat.completions.stream(**CHAT)) as events:
        async for event in items(events):
            kinds.append(event.type)
        completion = await got(events.get_final_completion())
    assert kinds.count("tool_calls.function.arguments.done") == len(completion.choices[0].message.tool_calls)
    return seen_chat(completion)


async def responses(client: Any) -> Seen:
    return seen_response(await got(client.responses.create(**RESPONSES)))


async def responses_parse(client: Any) -> Seen:
    return seen_response(await got(client.responses.parse(**RESPONSES)))


async def responses_events(client: Any) -> list[Any]:
    return [event async for event in items(await got(client.responses.create(**RESPONSES, stream=True)))]


async def responses_stream(client: Any) -> Seen:
    return seen_response((await responses_events(client))[-1].response)


async def responses_helper(client: Any) -> Seen:
    async with inside(client.responses.stream(**RESPONSES)) as events:
        async for event in items(events):
            assert event.type != "error"
        return seen_response(await got(events.get_final_response()))


OPENAI = Sdk(
    module=openai,
    kinds=(openai.OpenAI, openai.AsyncOpenAI),
    error=openai.OpenAIError,
    oldest="3.0",
    base_url=lambda server: server.openai_url,
    tool=tool,
    create=create,
    events=chunks,
    whole={
        create: "tool_calls",
        parse: "tool_calls",
        raw: "tool_calls",
        raw_streaming: "tool_calls",
        responses: "completed",
        responses_parse: "completed",
    },
    streamed={
        stream: "tool_calls",
        stream_helper: "tool_calls",
        responses_stream: "completed",
        responses_helper: "completed",
    },
)
