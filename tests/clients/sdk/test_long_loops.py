"""Agent loops of 300 turns that never fit into the model's window, kept short in every way there is.

The application must see what it sees where nothing is compacted: the same calls, results and final answer.
"""

import asyncio
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import handwritten
import openai
import pytest
from application import Json, Seen
from server import Server, serve
from server.conversation import text_of
from warehouse import SHELVES, WAREHOUSE, Counting, boxes
from wrapping_anthropic import ANTHROPIC
from wrapping_openai import OPENAI

import wirecall
from wirecall.compaction import CompactContext, Compress, compact_messages, plan_compaction, summarizer
from wirecall.compaction import _counting as counting
from wirecall.tokens import cached_tokenizer, compact

APIS = ("chat", "responses", "messages")
WINDOW = 4000
# What the application gives to its history: the rest is for the system text, the tools and the answer.
BUDGET = 3400
SUMMARY = 200
# The name of the model that summarises.
SUMMARIZER = "summarizer"
COUNT = cached_tokenizer() or counting.estimate


def measure(request: Json) -> int:
    """The tokens of a request, with its system text and its tools."""
    told = text_of(request.get("system")) + text_of(request.get("instructions"))
    tools = compact(request["tools"]) if request.get("tools") else ""
    messages = request.get("messages", request.get("input"))
    return round(counting.tokens(messages, COUNT) + COUNT(told) + COUNT(tools))


def bare(server: Server, api: str, *, asynchronous: bool = False) -> Any:
    sdk = ANTHROPIC if api == "messages" else OPENAI
    return sdk.bare(sdk.kinds[asynchronous], server)


def run(client: Any, api: str, *, stream: bool, **more: Any) -> Seen:
    if api == "chat" and stream:
        more["stream_options"] = {"include_usage": True}
    if not isinstance(client, Hooked):
        more["given"] = handwritten.past_the_sdk
    if hasattr(client, "__aenter__"):
        return asyncio.run(_run(client, api, stream=stream, **more))
    with client:
        return handwritten.loop(client, api, stream=stream, task=WAREHOUSE, **more)


async def _run(client: Any, api: str, *, stream: bool, **more: Any) -> Seen:
    async with client:
        return await handwritten.loop_async(client, api, stream=stream, task=WAREHOUSE, **more)


@functools.cache
def control(api: str) -> Seen:
    """What the application sees if the model has a window for all of it."""
    with serve(Counting(measure)) as server:
        seen = run(bare(server, api), api, stream=False)
        assert measure(server.last.json) > 5 * WINDOW
    return seen


@contextmanager
def watched() -> Iterator[Server]:
    """A server, of which each request is looked at in the end."""
    with serve(Counting(measure)) as server:
        yield server
        assert server.errors == []
        assert [request.refused for request in server.requests] == [None] * len(server.requests)
        assert max(measure(request.json) for request in server.requests) <= WINDOW
        asked = sum(request.json["model"] == SUMMARIZER for request in server.requests)
        assert 5 <= asked <= SHELVES // 4
        assert len(server.requests) - asked == SHELVES + 2


def summarize(client: Any) -> Any:
    return summarizer(client, model=SUMMARIZER, max_tokens=SUMMARY)


def context(client: Any) -> CompactContext:
    compress = Compress(summarize(client), keep_share=0.5, max_summary_tokens=SUMMARY)
    return wirecall.compact_context(context_window=BUDGET, compress=compress, count=COUNT)


def test_the_control_is_right() -> None:
    chat, *others = map(control, APIS)
    calls = [call for _, calls, _ in chat.turns for call in calls]
    assert [name for name, _ in calls].count("shelf") == SHELVES
    assert [name for name, _ in calls].count("note") == SHELVES // 10 - 1
    assert chat.turns[-1][0] == f"heron-41: {sum(map(boxes, range(1, SHELVES + 1)))}"
    for other in others:
        assert [turn[:2] for turn in other.turns] == [turn[:2] for turn in chat.turns]


@pytest.mark.parametrize("native", [False, True], ids=["text", "native"])
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("api", APIS)
def test_in_flight(api: str, asynchronous: bool, native: bool) -> None:
    """The application sends its whole history; half of them stream."""
    with watched() as server:
        client = bare(server, api, asynchronous=asynchronous)
        client = wirecall.wrap(client, middleware=[context(client)], native_when=lambda request: native)
        assert run(client, api, stream=asynchronous != native) == control(api)
        told = [request.json for request in server.requests if request.json["model"] != SUMMARIZER]
        assert all(native == ("tools" in request) for request in told)


@pytest.mark.parametrize("native", [False, True], ids=["text", "native"])
@pytest.mark.parametrize("api", APIS)
def test_durably(api: str, native: bool) -> None:
    """The application stores what it gets back."""
    stored: list[int] = []
    counted: Any = {"count": COUNT, "max_summary_tokens": SUMMARY}
    with watched() as server:
        client = bare(server, api)
        ask = summarize(client)

        def before(messages: list[Any]) -> list[Any]:
            # To less than what is too much, or each turn would be summarised anew.
            if not plan_compaction(messages, max_tokens=BUDGET, **counted).to_summarize:
                return messages
            made: list[Any] = compact_messages(messages, ask, max_tokens=BUDGET / 2, **counted)
            stored.append(len(made))
            return made

        used = client if native else wirecall.wrap(client)
        assert run(used, api, stream=not native, before=before) == control(api)
    assert max(stored) < 150


class Hooked:
    """A client of hooks: what an application has that sends dicts itself."""

    def __init__(self, client: Any, hooks: Any) -> None:
        self.chat = self.completions = self
        self._client = client
        self._hooks = hooks

    def __enter__(self) -> "Hooked":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def create(self, **params: Any) -> Any:
        if params.get("stream"):
            return self._events(params)
        answer = self._hooks.wrap_generate(lambda sent: self._send(sent).model_dump(), params)
        return openai.types.chat.ChatCompletion.model_validate(answer)

    @contextmanager
    def _events(self, params: Json) -> Iterator[Any]:
        chunks = self._hooks.wrap_stream(
            lambda sent: (chunk.model_dump() for chunk in self._send(sent)), params
        )
        yield map(openai.types.chat.ChatCompletionChunk.model_validate, chunks)

    def _send(self, sent: Json) -> Any:
        return self._client.chat.completions.create(**sent)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_as_a_middleware_of_hooks(stream: bool) -> None:
    with watched() as server:
        client = bare(server, "chat")
        hooks = wirecall.compact_tools(middleware=[context(client)])
        seen = run(Hooked(client, hooks), "chat", stream=stream)
    assert seen == control("chat")


def test_what_is_lost_is_missed() -> None:
    """The summary matters: without one, the model cannot go on."""

    def before(messages: list[Any]) -> list[Any]:
        made: list[Any] = compact_messages(messages, lambda _: "Much was counted.", keep_recent_turns=5)
        return made

    lost = pytest.raises(openai.BadRequestError, match="nobody says how many shelves to count")
    with serve(Counting(measure)) as server, lost:
        run(bare(server, "chat"), "chat", stream=False, before=before)
