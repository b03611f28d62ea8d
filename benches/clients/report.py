"""What `wirecall.wrap` adds to the openai client: for each streamed chunk, and for each rewritten request.

    .venv-clients/sdk/bin/python benches/clients/report.py

The server is a transport in memory, so that nothing but the client is timed. Bare and wrapped take turns in
each round; the fastest round counts. Goals: 15 us for each chunk sync, 25 us async; 2 ms for a request with
100 tools and 200 messages, once the tools are compiled.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
from openai import AsyncOpenAI, OpenAI

import wirecall
from wirecall._clients.codec import Codec
from wirecall._sync import run
from wirecall._text.options import Options

CHUNKS = 2000
TEXT = "The parser reads it as it comes, and hands on what is certain. "
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather.",
        "parameters": {
            "type": "object",
            "properties": {"location": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["location"],
        },
    },
}


def body() -> list[bytes]:
    """A streamed answer of `CHUNKS` events of four characters each, as bytes in pieces of one event."""

    def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        chunk = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "system_fingerprint": "fp",
            "choices": [choice],
        }
        return b"data: " + json.dumps(chunk, separators=(",", ":")).encode() + b"\n\n"

    text = TEXT * (CHUNKS * 4 // len(TEXT) + 1)
    events = [event({"role": "assistant", "content": ""})]
    events += [event({"content": text[at * 4 : at * 4 + 4]}) for at in range(CHUNKS)]
    return [*events, event({}, "stop"), b"data: [DONE]\n\n"]


BODY = body()


class Memory(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    def __iter__(self) -> Iterator[bytes]:
        yield from BODY

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in BODY:
            yield piece


def answer(request: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Memory())


async def answer_async(request: httpx2.Request) -> httpx2.Response:
    return answer(request)


def ask() -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [TOOL], "stream": True}


def sync_reader(client: OpenAI) -> Callable[[], int]:
    def read() -> int:
        return sum(len(chunk.choices) for chunk in client.chat.completions.create(**ask()))

    return read


def async_reader(client: AsyncOpenAI, loop: asyncio.AbstractEventLoop) -> Callable[[], int]:
    async def read() -> int:
        stream = await client.chat.completions.create(**ask())
        return sum([len(chunk.choices) async for chunk in stream])

    return lambda: loop.run_until_complete(read())


def fastest(contestants: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of each contestant's fastest round; they take turns."""
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, contestant in contestants.items():
            gc.collect()
            begin = time.perf_counter()
            contestant()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def long_request() -> dict[str, Any]:
    """100 tools and 200 messages: 50 turns of a question, a call, its result and an answer."""
    tools = []
    for number in range(100):
        function = {**TOOL["function"], "name": f"get_weather_{number}"}  # type: ignore[dict-item]
        tools.append({"type": "function", "function": function})
    messages: list[dict[str, Any]] = []
    for number in range(50):
        call = {"name": f"get_weather_{number}", "arguments": '{"location":"New York","days":3}'}
        messages += [
            {"role": "user", "content": "How is the weather in New York? " * 3},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"call_{number}", "content": "Sunny, 21 degrees. " * 5},
            {"role": "assistant", "content": "It is sunny in New York. " * 3},
        ]
    return {"model": "m", "messages": messages, "tools": tools, "stream": True}


def main() -> None:
    parser = argparse.ArgumentParser(description="What wrap adds to the openai client.")
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    rows = []

    bare = OpenAI(api_key="k", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))
    best = fastest({"bare": sync_reader(bare), "wrapped": sync_reader(wirecall.wrap(bare))}, rounds)
    rows.append(("openai, sync", best, 15))
    loop = asyncio.new_event_loop()
    bare_async = AsyncOpenAI(
        api_key="k", http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(answer_async))
    )
    wrapped = wirecall.wrap(bare_async)
    best = fastest(
        {"bare": async_reader(bare_async, loop), "wrapped": async_reader(wrapped, loop)},
        rounds,
    )
    rows.append(("openai, async", best, 25))
    print(f"microseconds for each of {len(BODY)} events, the fastest of {rounds} rounds\n")
    print("| client | bare | wrapped | added | goal | met |")
    print("|---|---|---|---|---|---|")
    for name, best, goal in rows:
        each = {key: seconds / len(BODY) * 1e6 for key, seconds in best.items()}
        added = each["wrapped"] - each["bare"]
        met = "yes" if added <= goal else "NO"
        print(f"| {name} | {each['bare']:.1f} | {each['wrapped']:.1f} | {added:.1f} | {goal} | {met} |")

    codec = Codec(Options())
    request = json.dumps(long_request()).encode()
    headers = {"content-type": "application/json"}
    url = "https://api.example/v1/chat/completions"
    rewritten = set()

    def rewrite() -> None:
        exchange = run(codec.open(url, headers, request, is_async=False))
        assert exchange is not None
        rewritten.add(exchange.request)

    seconds = fastest({"rewrite": rewrite}, rounds * 3)["rewrite"]
    assert len(rewritten) == 1
    met = "yes" if seconds <= 0.002 else "NO"
    print(f"\nrewriting 100 tools and 200 messages, as bytes: {seconds * 1e3:.2f} ms (goal 2 ms: {met})")


if __name__ == "__main__":
    main()
