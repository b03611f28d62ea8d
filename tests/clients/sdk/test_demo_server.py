"""Programs of newcomers with functions as tools, through `wrap`, against the process of the demo server."""

import asyncio
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import Anthropic
from examples import demo_server
from openai import AsyncOpenAI, OpenAI

import wirecall

QUESTION = "How is the weather in New York for 3 days?"
ANSWER = "get_weather says: New York: 21 degrees for 3 days"


def get_weather(city: str, days: int = 1) -> str:
    """Get the weather."""
    return f"{city}: 21 degrees for {days} days"


tools = wirecall.Toolset([get_weather])


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with demo_server() as (address, process):
        yield address
        # Clients still hold connections.
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == ("", "")
        assert process.returncode == 130


@pytest.fixture
def openai(url: str) -> Iterator[Any]:
    with OpenAI(base_url=f"{url}/v1", api_key="-") as client:
        yield wirecall.wrap(client)


@pytest.fixture
def anthropic(url: str) -> Iterator[Any]:
    with Anthropic(base_url=url, api_key="-") as client:
        yield wirecall.wrap(client)


def test_demo_server_chat_loop_runs_the_function(openai: Any) -> None:
    client, messages = openai, [{"role": "user", "content": QUESTION}]
    while True:
        answer = client.chat.completions.create(model="demo", messages=messages, tools=tools.for_api("chat"))
        message = answer.choices[0].message
        messages.append(message.to_dict(exclude_none=True))
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": tools.run(call)})
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert message.content == ANSWER


def test_demo_server_chat_stream_runs_the_function(openai: Any) -> None:
    client, messages, shown = openai, [{"role": "user", "content": QUESTION}], []
    while True:
        with client.chat.completions.stream(
            model="demo", messages=messages, tools=tools.for_api("chat")
        ) as stream:
            shown.append("".join(event.delta for event in stream if event.type == "content.delta"))
            message = stream.get_final_completion().choices[0].message
        messages.append(message.to_dict(exclude_none=True))
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": tools.run(call)})
    assert [text.strip() for text in shown] == ["I look it up with get_weather.", ANSWER]


def test_demo_server_async_loop_runs_async_functions(url: str) -> None:
    async def get_time(zone: str) -> dict[str, str]:
        """Get the time of a zone."""
        await asyncio.sleep(0)
        return {"zone": zone}

    async def main() -> str | None:
        async_tools = wirecall.Toolset([get_weather, get_time])
        client = wirecall.wrap(AsyncOpenAI(base_url=f"{url}/v1", api_key="-"))
        messages: list[Any] = [{"role": "user", "content": "What time is it in Rome?"}]
        while True:
            answer = await client.chat.completions.create(
                model="demo", messages=messages, tools=async_tools.for_api("chat")
            )
            message = answer.choices[0].message
            messages.append(message.to_dict(exclude_none=True))
            if not message.tool_calls:
                await client.close()
                return message.content
            results = await asyncio.gather(*map(async_tools.arun, message.tool_calls))
            for call, result in zip(message.tool_calls, results, strict=True):
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    assert asyncio.run(main()) == 'get_time says: {"zone":"Rome"}'


def test_demo_server_responses_loop_runs_the_function(openai: Any) -> None:
    client, items = openai, [{"role": "user", "content": QUESTION}]
    while True:
        answer = client.responses.create(model="demo", input=items, tools=tools.for_api("responses"))
        calls = [item for item in answer.output if item.type == "function_call"]
        items += [item.to_dict() for item in answer.output]
        if not calls:
            break
        for call in calls:
            output = {"type": "function_call_output", "call_id": call.call_id, "output": tools.run(call)}
            items.append(output)
    assert answer.output_text == ANSWER


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("question", "answer", "is_error"),
    [
        (QUESTION, ANSWER, False),
        (
            "What is the weather of 0 days in Rome?",
            "get_weather could not answer: get_weather failed: ValueError: days must be positive",
            True,
        ),
    ],
)
def test_demo_server_messages_loop_runs_the_function(
    anthropic: Any, question: str, answer: str, streamed: bool, is_error: bool
) -> None:
    def get_weather(city: str, days: int = 1) -> str:
        """Get the weather."""
        if not days:
            raise ValueError("days must be positive")
        return f"{city}: 21 degrees for {days} days"

    toolset = wirecall.Toolset([get_weather])
    messages: list[Any] = [{"role": "user", "content": question}]
    errors = []
    while True:
        request: Any = {
            "model": "demo",
            "max_tokens": 500,
            "messages": messages,
            "tools": toolset.for_api("messages"),
        }
        if streamed:
            with anthropic.messages.stream(**request) as stream:
                message = stream.get_final_message()
        else:
            message = anthropic.messages.create(**request)
        messages.append({"role": "assistant", "content": message.content})
        results = []
        for block in message.content:
            if block.type == "tool_use":
                result = toolset.run(block)
                errors.append(result.error)
                results.append(
                    {
                        "type": "tool_result",
                        "tool_use_id": block.id,
                        "content": result,
                        "is_error": result.error,
                    }
                )
        if not results:
            break
        messages.append({"role": "user", "content": results})
    assert errors == [is_error]
    assert [block.text for block in message.content] == [answer]


def test_run_takes_calls_of_sdks_as_objects_and_as_dicts(openai: Any, anthropic: Any) -> None:
    request: Any = {"model": "demo", "messages": [{"role": "user", "content": QUESTION}]}
    answer = openai.chat.completions.create(**request, tools=tools.for_api("chat"))
    [call] = answer.choices[0].message.tool_calls
    expected = get_weather("New York", 3)
    assert tools.run(call) == tools.run(call.function) == tools.run(call.to_dict()) == expected
    message = anthropic.messages.create(**request, max_tokens=500, tools=tools.for_api("messages"))
    [block] = [block for block in message.content if block.type == "tool_use"]
    assert tools.run(block) == tools.run(block.to_dict()) == expected
