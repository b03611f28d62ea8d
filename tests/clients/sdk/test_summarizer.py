"""Summaries through the real SDKs: sync and async, bare and wrapped, and answers that are none."""

import asyncio
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from playing import CLIENT
from server import Answer, Failure, Server, serve
from server.answers import Refusal, Thinking

import wirecall
from wirecall.compaction import SummaryError, acompact_messages, compact_messages, summarizer
from wirecall.compaction._summary import OPENING

SUMMARY = Answer(["<analysis>hm</analysis>\n<summary>They like tea.</summary>"])
Make = Callable[[Server], Any]


def openai_client(server: Server) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.openai_url, **CLIENT)


def anthropic_client(server: Server) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=server.url, **CLIENT)


def async_openai_client(server: Server) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=server.openai_url, **CLIENT)


def async_anthropic_client(server: Server) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=server.url, **CLIENT)


SYNC: list[Make] = [openai_client, anthropic_client]
ASYNC: list[Make] = [async_openai_client, async_anthropic_client]


def messages(make: Make) -> list[Any]:
    """The model speaks first: not every API takes that."""
    said = [{"role": "assistant", "content": "Welcome."}]
    if "anthropic" in make.__name__:
        calls = [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]
        result = {"type": "tool_result", "tool_use_id": "c1", "content": "seen"}
        said += [{"role": "assistant", "content": calls}, {"role": "user", "content": [result]}]
    else:
        call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        said += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "seen"},
        ]
    return [*said, {"role": "user", "content": "Tea?"}, {"role": "assistant", "content": "Yes."}]


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("make", SYNC)
def test_a_client_summarises(make: Make, wrapped: bool) -> None:
    with serve([SUMMARY], alternate=True) as server, make(server) as client:
        summarize = summarizer(
            wirecall.wrap(client) if wrapped else client, model="m", extra_headers={"x-for": "us"}
        )
        result = compact_messages(messages(make), summarize, keep_recent_turns=1)
        [request] = server.requests
    assert result[0]["content"].startswith(OPENING)
    assert result[0]["content"].endswith("\n\nThey like tea.")
    assert result[1:] == [{"role": "assistant", "content": "Yes."}]
    asked = request.json
    assert (asked["model"], asked["max_tokens"]) == ("m", 2048)
    assert request.headers["x-for"] == "us"
    roles = [message["role"] for message in asked["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert asked["messages"][1]["content"] == "Welcome.\n\n[Called tool: look({})]"
    assert asked["messages"][2]["content"].startswith("[Tool result (c1): seen]\n\nTea?\n\nSummarise")
    assert "tools" not in asked


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("make", ASYNC)
def test_an_async_client_summarises(make: Make, wrapped: bool) -> None:
    async def run(server: Server) -> list[Any]:
        async with make(server) as client:
            summarize = summarizer(wirecall.wrap(client) if wrapped else client, model="m", max_tokens=100)
            return await acompact_messages(messages(make), summarize, keep_recent_turns=1)

    with serve([SUMMARY], alternate=True) as server:
        result = asyncio.run(run(server))
        assert server.requests[0].json["max_tokens"] == 100
    assert result[0]["content"].endswith("\n\nThey like tea.")


@pytest.mark.parametrize("make", ASYNC)
def test_an_async_client_needs_the_async_function(make: Make) -> None:
    async def run(server: Server) -> None:
        async with make(server) as client:
            with pytest.raises(TypeError, match="acompact_messages"):
                compact_messages(messages(make), summarizer(client, model="m"), keep_recent_turns=1)

    with serve([]) as server:
        asyncio.run(run(server))
        assert server.requests == []


@pytest.mark.parametrize("make", SYNC)
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(["<summary>half"], finish="length"), "cut off"),
        (Answer([Refusal("I will not.")], finish="refusal"), "did not summarise|refused to summarise"),
        (Failure(500), "500"),
        (Failure(429), "429"),
    ],
)
def test_an_answer_that_is_no_summary_is_an_error(make: Make, answer: Any, error: str) -> None:
    given = messages(make)
    errors = (SummaryError, openai.APIError, anthropic.APIError)
    with serve([answer]) as server, make(server) as client, pytest.raises(errors, match=error):
        compact_messages(given, summarizer(client, model="m"), keep_recent_turns=1)
    assert given == messages(make)


@pytest.mark.parametrize("make", SYNC)
def test_what_is_cut_behind_the_summary_is_a_summary(make: Make) -> None:
    answer = Answer(["<summary>They like tea.</summary> And"], finish="length")
    with serve([answer]) as server, make(server) as client:
        result = compact_messages(messages(make), summarizer(client, model="m"), keep_recent_turns=1)
    assert result[0]["content"].endswith("\n\nThey like tea.")


def test_thinking_is_no_summary() -> None:
    given = messages(anthropic_client)
    with serve([Answer([Thinking("They like tea.")])]) as server, anthropic_client(server) as client:
        assert compact_messages(given, summarizer(client, model="m"), keep_recent_turns=1) is given


def test_openai_itself_is_told_the_limit_by_its_newer_name() -> None:
    sent: dict[str, Any] = {}

    class Completions:
        def create(self, **parameters: Any) -> dict[str, Any]:
            sent.update(parameters)
            return {"choices": [{"message": {"content": "They like tea."}, "finish_reason": "stop"}]}

    class Chat:
        completions = Completions()

    class Client:
        chat = Chat()
        base_url = "https://api.openai.com/v1/"

    compact_messages(messages(openai_client), summarizer(Client(), model="m"), keep_recent_turns=1)
    assert sent["max_completion_tokens"] == 2048
    assert "max_tokens" not in sent


def test_what_is_no_client() -> None:
    with pytest.raises(TypeError, match="needs a client of openai or anthropic, not str"):
        summarizer("gpt", model="m")
