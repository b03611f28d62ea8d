"""The bare SDKs against the test server: what it sends they know, whole and streamed, sync and async."""

import asyncio
import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any, get_type_hints

import anthropic
import httpx
import httpx2
import openai
import pytest
from anthropic.types import message_count_tokens_params, message_create_params
from anthropic.types.beta import message_create_params as beta_message_create_params
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params
from server import (
    Answer,
    Call,
    Delivery,
    EventFormat,
    Failure,
    Refusal,
    Server,
    Thinking,
    Usage,
    chat,
    messages,
    responses,
)

USER = [{"role": "user", "content": "Grüße"}]
PARTS = ["Schöne ", "Grüße 🎈", Call("search", {"query": "é🎈", "limit": 3}), Call("now")]
CALLS = [("search", {"query": "é🎈", "limit": 3}), ("now", {})]
FUNCTION = {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}
DELIVERIES = {
    "plain": Delivery(),
    "parts in one delta": Delivery(characters=None),
    "single characters": Delivery(characters=1),
    "single bytes": Delivery(chunk=1),
    "seven bytes": Delivery(chunk=7),
    "gzip": Delivery(gzip=True),
    "gzip in pieces": Delivery(gzip=True, chunk=5),
    "comments and pings": Delivery(comments=1),
    "CRLF": Delivery(format=EventFormat(line_end="\r\n"), chunk=3),
}
deliveries = pytest.mark.parametrize("delivery", DELIVERIES.values(), ids=DELIVERIES)

Play = Callable[..., Server]
Seen = tuple[str, list[tuple[str, Any]], str | None, tuple[int, int]]
EXPECTED = ("Schöne Grüße 🎈", CALLS)


# What each SDK makes of an answer, in one form --------------------------------------------------------------


def seen_chat(completion: Any) -> Seen:
    choice = completion.choices[0]
    calls = [
        (call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls or ()
    ]
    usage = (completion.usage.prompt_tokens, completion.usage.completion_tokens)
    return choice.message.content or "", calls, choice.finish_reason, usage


def seen_response(response: Any) -> Seen:
    calls = [
        (item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"
    ]
    usage = (response.usage.input_tokens, response.usage.output_tokens)
    return response.output_text, calls, response.status, usage


def seen_message(message: Any) -> Seen:
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [(block.name, block.input) for block in message.content if block.type == "tool_use"]
    return text, calls, message.stop_reason, (message.usage.input_tokens, message.usage.output_tokens)


async def sync_and_async(server: Server) -> dict[str, list[Seen]]:
    """Every way to ask for one answer, by API."""
    one: dict[str, Any] = {"api_key": "test", "max_retries": 0, "timeout": 10}
    found: dict[str, list[Seen]] = {"chat": [], "responses": [], "messages": []}
    ask: dict[str, Any] = {"model": "m", "messages": USER}
    counted = {"stream_options": {"include_usage": True}}
    with openai.OpenAI(base_url=server.openai_url, **one) as client:
        found["chat"].append(seen_chat(client.chat.completions.create(**ask)))
        with client.chat.completions.stream(**ask, **counted) as stream:
            found["chat"].append(seen_chat(stream.get_final_completion()))
        found["responses"].append(seen_response(client.responses.create(model="m", input="Grüße")))
        with client.responses.stream(model="m", input="Grüße") as events:
            found["responses"].append(seen_response(events.get_final_response()))
    async with openai.AsyncOpenAI(base_url=server.openai_url, **one) as later:
        found["chat"].append(seen_chat(await later.chat.completions.create(**ask)))
        async with later.chat.completions.stream(**ask, **counted) as chunks:
            found["chat"].append(seen_chat(await chunks.get_final_completion()))
        found["responses"].append(seen_response(await later.responses.create(model="m", input="Grüße")))
        async with later.responses.stream(model="m", input="Grüße") as parts:
            found["responses"].append(seen_response(await parts.get_final_response()))
    ask["max_tokens"] = 100
    with anthropic.Anthropic(base_url=server.url, **one) as claude:
        found["messages"].append(seen_message(claude.messages.create(**ask)))
        with claude.messages.stream(**ask) as blocks:
            found["messages"].append(seen_message(blocks.get_final_message()))
    async with anthropic.AsyncAnthropic(base_url=server.url, **one) as slow:
        found["messages"].append(seen_message(await slow.messages.create(**ask)))
        async with slow.messages.stream(**ask) as pieces:
            found["messages"].append(seen_message(await pieces.get_final_message()))
    return found


@deliveries
def test_every_way_to_ask_gives_the_same_answer(play: Play, delivery: Delivery) -> None:
    server = play(lambda request: Answer(PARTS, usage=Usage(5, 9), delivery=delivery))
    found = asyncio.run(sync_and_async(server))
    for api, finish in {"chat": "tool_calls", "responses": "completed", "messages": "tool_use"}.items():
        assert found[api] == [(*EXPECTED, finish, (5, 9))] * 4, api
    assert len(server.requests) == 12
    assert not server.errors
    assert not [request.refused for request in server.requests if request.refused]


# The shapes themselves --------------------------------------------------------------------------------------


def events(server: Server, path: str, body: dict[str, Any]) -> list[tuple[str | None, Any]]:
    headers = {"authorization": "Bearer x", "x-api-key": "x", "anthropic-version": "2023-06-01"}
    reply = httpx2.post(server.url + path, json={"model": "m", "stream": True, **body}, headers=headers)
    assert reply.headers["content-type"].startswith("text/event-stream")
    found = []
    for event in reply.text.split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in event.split("\n"))
        found.append(
            (fields.get("event"), "[DONE]" if fields["data"] == "[DONE]" else json.loads(fields["data"]))
        )
    return found


def test_chunks_of_chat(play: Play) -> None:
    answer = Answer(["abc", Call("f", {"x": 1}), Call("g")], delivery=Delivery(characters=4))
    server = play([answer] * 2)
    body = {"messages": USER, "stream_options": {"include_usage": True}}
    found = [data for _, data in events(server, "/v1/chat/completions", body)]
    assert found.pop() == "[DONE]"
    last = found.pop()
    assert last["choices"] == []
    assert last["usage"]["total_tokens"] == 18
    assert all(chunk["usage"] is None and chunk["id"] == last["id"] for chunk in found)
    deltas = [chunk["choices"][0]["delta"] for chunk in found]
    calls = [delta["tool_calls"][0] for delta in deltas[2:-1]]
    assert deltas[:2] == [{"role": "assistant", "content": "", "refusal": None}, {"content": "abc"}]
    assert deltas[-1] == {}
    assert [chunk["choices"][0]["finish_reason"] for chunk in found] == [None] * (len(found) - 1) + [
        "tool_calls"
    ]
    ids = [call.pop("id") for call in calls if "id" in call]
    assert len(set(ids)) == 2
    assert calls == [
        {"index": 0, "type": "function", "function": {"name": "f", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"x"'}},
        {"index": 0, "function": {"arguments": ":1}"}},
        {"index": 1, "type": "function", "function": {"name": "g", "arguments": ""}},
        {"index": 1, "function": {"arguments": "{}"}},
    ]
    without = [data for _, data in events(server, "/v1/chat/completions", {"messages": USER})]
    assert len(without) == len(found) + 1
    assert "usage" not in without[0]


def test_events_of_messages(play: Play) -> None:
    answer = Answer([Thinking("hm"), "abc", Call("f", {"x": 1})], delivery=Delivery(characters=None))
    found = events(play([answer]), "/v1/messages", {"max_tokens": 9, "messages": USER})
    assert all(name == data["type"] for name, data in found)
    blocks = [
        (data["type"].removeprefix("content_block_"), data["index"]) for _, data in found if "index" in data
    ]
    deltas = [data["delta"] for _, data in found if "delta" in data]
    assert [name for name, _ in found][:3] == ["message_start", "content_block_start", "ping"]
    assert [name for name, _ in found][-2:] == ["message_delta", "message_stop"]
    assert blocks == [
        *(("start", 0), ("delta", 0), ("delta", 0), ("stop", 0)),
        *(("start", 1), ("delta", 1), ("stop", 1)),
        *(("start", 2), ("delta", 2), ("delta", 2), ("stop", 2)),
    ]
    assert deltas == [
        {"type": "thinking_delta", "thinking": "hm"},
        {"type": "signature_delta", "signature": "c2lnbmVk"},
        {"type": "text_delta", "text": "abc"},
        {"type": "input_json_delta", "partial_json": ""},
        {"type": "input_json_delta", "partial_json": '{"x":1}'},
        {"stop_reason": "tool_use", "stop_sequence": None},
    ]


def test_events_of_responses(play: Play) -> None:
    answer = Answer([Thinking("hm"), "abc", Call("f", {"x": 1})], delivery=Delivery(characters=None))
    found = events(play([answer]), "/v1/responses", {"input": "hi"})
    assert [data["sequence_number"] for _, data in found] == list(range(len(found)))
    assert all(name == data["type"] for name, data in found)
    assert [name.removeprefix("response.") for name, _ in found if name] == [
        *("created", "in_progress"),
        *("output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta"),
        *("reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done"),
        *("output_item.added", "content_part.added", "output_text.delta"),
        *("output_text.done", "content_part.done", "output_item.done"),
        *(
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
        ),
        "completed",
    ]
    done = [data["item"] for name, data in found if name == "response.output_item.done"]
    assert found[-1][1]["response"]["output"] == done


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("stop", ("stop", "completed", "end_turn")),
        ("length", ("length", "incomplete", "max_tokens")),
        ("content_filter", ("content_filter", "incomplete", "refusal")),
    ],
)
def test_reasons_to_stop(play: Play, finish: Any, expected: Sequence[str], streamed: bool) -> None:
    server = play([Answer("abc", finish)] * 3)
    client = openai.OpenAI(base_url=server.openai_url, api_key="x")
    claude = anthropic.Anthropic(base_url=server.url, api_key="x")
    ask: dict[str, Any] = {"model": "m", "messages": USER}
    with client, claude:
        if not streamed:
            found: list[Any] = [
                client.chat.completions.create(**ask).choices[0].finish_reason,
                client.responses.create(model="m", input="x").status,
                claude.messages.create(**ask, max_tokens=9).stop_reason,
            ]
        else:
            *_, last = client.chat.completions.create(**ask, stream=True)
            *_, final = client.responses.create(model="m", input="x", stream=True)
            with claude.messages.stream(**ask, max_tokens=9) as stream:
                reason = stream.get_final_message().stop_reason
            found = [last.choices[0].finish_reason, final.response.status, reason]
    assert found == list(expected)


def test_choices_take_turns(play: Play, openai_client: Callable[..., openai.OpenAI]) -> None:
    answer = Answer("abc", others=[[Call("f", {"x": 1})], [Refusal("no")]], delivery=Delivery(characters=1))
    client = openai_client(play([answer] * 2))
    whole = client.chat.completions.create(model="m", messages=USER, n=3)
    assert [choice.finish_reason for choice in whole.choices] == ["stop", "tool_calls", "stop"]
    assert whole.choices[2].message.refusal == "no"
    with client.chat.completions.stream(model="m", messages=USER, n=3) as stream:
        order = [event.chunk.choices[0].index for event in stream if event.type == "chunk"]
        streamed = stream.get_final_completion()
    assert order[:6] == [0, 1, 2, 0, 1, 2]
    assert [choice.message.content for choice in streamed.choices] == ["abc", None, None]
    assert streamed.choices[1].message.tool_calls[0].function.arguments == '{"x":1}'


def test_legacy_functions(play: Play, openai_client: Callable[..., openai.OpenAI]) -> None:
    client = openai_client(play([Answer([Call("search", {"query": "x"})])] * 2))
    ask: dict[str, Any] = {"model": "m", "messages": USER, "functions": [FUNCTION]}
    choice = client.chat.completions.create(**ask).choices[0]
    assert (choice.finish_reason, choice.message.function_call.name) == ("function_call", "search")
    chunks = list(client.chat.completions.create(**ask, stream=True))
    written = [chunk.choices[0].delta.function_call for chunk in chunks]
    assert "".join(call.arguments for call in written if call) == '{"query":"x"}'


def test_what_was_sent_is_recorded(play: Play, openai_client: Callable[..., openai.OpenAI]) -> None:
    server = play([Answer("a")])
    openai_client(server).chat.completions.create(model="m", messages=USER)
    server.settle()
    request = server.last
    assert (request.api, request.path, request.ended) == ("chat", "/v1/chat/completions", "whole")
    assert request.headers["authorization"] == "Bearer sk-test"
    assert request.json == json.loads(request.body) == {"model": "m", "messages": USER}
    assert not request.streamed


def test_tokens_are_counted(play: Play, anthropic_client: Callable[..., anthropic.Anthropic]) -> None:
    client = anthropic_client(play([]))
    few = client.messages.count_tokens(model="m", messages=USER)
    many = client.messages.count_tokens(model="m", messages=USER, system="words " * 100)
    assert many.input_tokens > few.input_tokens + 100


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_the_server_is_a_proxy_too(play: Play, library: Any) -> None:
    server = play([Answer("a")])
    with library.Client(proxy=server.url, trust_env=False) as http:
        client = openai.OpenAI(base_url="http://api.example/v1", api_key="x", http_client=http)
        assert client.chat.completions.create(model="m", messages=USER).choices[0].message.content == "a"
    assert server.last.url == "http://api.example/v1/chat/completions"


def test_many_streams_at_once(play: Play) -> None:
    server = play(lambda request: Answer(request.json["messages"][0]["content"] * 20))

    async def one(client: openai.AsyncOpenAI, number: int) -> None:
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": f"<{number}>"}], stream=True
        )
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        assert text == f"<{number}>" * 20

    async def run() -> None:
        async with openai.AsyncOpenAI(base_url=server.openai_url, api_key="x", max_retries=0) as client:
            await asyncio.gather(*(one(client, number) for number in range(200)))

    asyncio.run(run())
    server.settle()
    assert len(server.requests) == 200


# The keys that the server knows are those of the SDKs -------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "params"),
    [
        (chat.KEYS, completion_create_params.CompletionCreateParamsStreaming),
        (responses.KEYS, response_create_params.ResponseCreateParamsStreaming),
        (messages.KEYS, message_create_params.MessageCreateParamsStreaming),
        (messages.KEYS | messages.BETA_KEYS, beta_message_create_params.MessageCreateParamsStreaming),
        (messages.COUNT_KEYS, message_count_tokens_params.MessageCountTokensParams),
    ],
)
def test_every_parameter_is_known(known: frozenset[str], params: type) -> None:
    headers = {"betas", "user_profile_id", "workspace_id"}
    declared = {key for base in inspect.getmro(params) for key in getattr(base, "__annotations__", {})}
    declared |= set(get_type_hints(params))
    assert declared - headers - known == set()


def test_failures_are_retried_by_the_sdks(play: Play) -> None:
    now = {"retry-after-ms": "1"}
    for status in (429, 500, 503):
        server = play(
            [Failure(status, "later", headers=now), Answer("a"), Failure(status, headers=now), Answer("b")]
        )
        with openai.OpenAI(base_url=server.openai_url, api_key="x", max_retries=1) as client:
            assert client.responses.create(model="m", input="x").output_text == "a"
        with anthropic.Anthropic(base_url=server.url, api_key="x", max_retries=1) as claude:
            reply = claude.messages.create(model="m", max_tokens=1, messages=USER)
            assert [block.to_dict() for block in reply.content] == [{"type": "text", "text": "b"}]
        assert len(server.requests) == 4
