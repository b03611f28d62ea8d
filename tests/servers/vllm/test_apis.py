"""Responses, Messages and batches, over vLLM's serving classes and a scripted engine."""

import asyncio
import json
from typing import Any

import pytest
from checkpoint import WRITE_FILE
from scripted import Server, ask, pieces
from vllm.entrypoints.anthropic.protocol import AnthropicMessagesRequest
from vllm.entrypoints.anthropic.serving import AnthropicServingMessages
from vllm.entrypoints.openai.chat_completion.batch_serving import OpenAIServingChatBatch
from vllm.entrypoints.openai.chat_completion.protocol import BatchChatCompletionRequest
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.entrypoints.openai.responses.serving import OpenAIServingResponses

from test_chat import CALLS, THOUGHT

PARSER = "wirecall_hermes"
PARAMETERS = WRITE_FILE["function"]["parameters"]


@pytest.fixture(autouse=True)
def script(server: Server) -> None:
    server.engine.script, server.engine.finish_reason = pieces(THOUGHT), "stop"


async def _streamed(answer: Any) -> list[Any]:
    return [event async for event in answer]


def test_responses_whole(server: Server) -> None:
    found = json.loads(asyncio.run(_responses(server, stream=False)).model_dump_json())
    kinds = [item["type"] for item in found["output"]]
    assert kinds == ["reasoning", "message", "function_call", "function_call"]
    calls = [item for item in found["output"] if item["type"] == "function_call"]
    assert [(call["name"], json.loads(call["arguments"])) for call in calls] == CALLS


def test_responses_streamed(server: Server) -> None:
    events = [json.loads(event.model_dump_json()) for event in asyncio.run(_responses(server, stream=True))]
    done = [event for event in events if event["type"] == "response.function_call_arguments.done"]
    assert [json.loads(event["arguments"]) for event in done] == [arguments for _, arguments in CALLS]
    text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    assert text == "OK."
    assert events[-1]["type"] == "response.completed"


async def _responses(server: Server, *, stream: bool) -> Any:
    serving = OpenAIServingResponses(
        server.engine, server.models, server.online(PARSER), **server.options(PARSER)
    )
    tool = {"type": "function", "name": "write_file", "parameters": PARAMETERS}
    request = ResponsesRequest(model="m", input="hi", tools=[tool], stream=stream)
    answer = await serving.create_responses(request, None)
    return await _streamed(answer) if stream else answer


@pytest.mark.parametrize("stream", [True, False])
def test_messages(server: Server, stream: bool) -> None:
    calls = asyncio.run(_messages(server, stream=stream))
    assert calls == CALLS


async def _messages(server: Server, *, stream: bool) -> list[tuple[str, Any]]:
    serving = AnthropicServingMessages(
        server.engine,
        server.models,
        "assistant",
        online_renderer=server.online(PARSER),
        reasoning_parser="",
        **server.options(PARSER),
    )
    tool = {"name": "write_file", "input_schema": PARAMETERS}
    request = AnthropicMessagesRequest(
        model="m", max_tokens=1000, messages=[{"role": "user", "content": "hi"}], tools=[tool], stream=stream
    )
    answer = await serving.create_messages(request, None)
    if not stream:
        blocks = json.loads(answer.model_dump_json())["content"]
        return [(block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]
    names: list[str] = []
    texts: list[str] = []
    for event in await _streamed(answer):
        data = json.loads(event.partition("data: ")[2] or "{}") if "data: {" in event else {}
        block, delta = data.get("content_block") or {}, data.get("delta") or {}
        if block.get("type") == "tool_use":
            names.append(block["name"])
            texts.append("")
        if delta.get("type") == "input_json_delta":
            texts[-1] += delta["partial_json"]
    return [(name, json.loads(text)) for name, text in zip(names, texts, strict=True)]


def test_a_batch_has_reasoning_and_text(server: Server) -> None:
    """vLLM refuses tools in batches."""
    serving = OpenAIServingChatBatch(
        server.engine,
        server.models,
        "assistant",
        online_renderer=server.online(PARSER),
        reasoning_parser="",
        **server.options(PARSER),
    )
    messages = [[{"role": "user", "content": "hi"}]] * 2
    request = BatchChatCompletionRequest(model="m", messages=messages, max_tokens=1000)
    server.engine.script = pieces("<think>\nA.\n</think>\n\nB.")
    answer = asyncio.run(serving.create_batch_chat_completion(request, None))
    found = json.loads(answer.model_dump_json())
    read = [(choice["message"]["reasoning"], choice["message"]["content"]) for choice in found["choices"]]
    assert read == [("A.", "B.")] * 2


def test_the_servers_counters_count(server: Server) -> None:
    from prometheus_client import REGISTRY
    from vllm.parser.metrics import init_parser_metrics

    init_parser_metrics(model_name="m")
    labels = {"model_name": "m", "mode": "non_streaming", "outcome": "tool_call"}
    labels["request_type"] = "chat_completions"

    def values() -> list[float]:
        names = [
            ("vllm:tool_call_parser_invocations_total", labels),
            ("wirecall_calls_total", {"format": "hermes"}),
        ]
        return [REGISTRY.get_sample_value(name, of) or 0 for name, of in names]

    before = values()
    ask(server.chat(PARSER), stream=False, tools=[WRITE_FILE])
    assert [now - then for now, then in zip(values(), before, strict=True)] == [1, 2]
