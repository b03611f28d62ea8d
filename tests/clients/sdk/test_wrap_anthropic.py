"""`wrap` around the anthropic SDK: what an application sees over text is what it sees with native calls."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import anthropic
import httpx2
import pytest
from server import Answer, Call, Delivery, Failure, Server, Thinking, Usage
from wrapping import ARGUMENTS, BAD, CALL, SCHEMA, USER, Seen, got, inside, items, run

import wirecall

TOOL = {"name": "go", "description": "Go there.", "input_schema": SCHEMA}
ASKED = {"model": "m", "max_tokens": 99, "messages": USER, "tools": [TOOL]}
OVER_TEXT = Answer(f"Grüße. {CALL}{CALL}")
NATIVE = Answer(["Grüße. ", Call("go", ARGUMENTS), Call("go", ARGUMENTS)])
CALLS = [("go", ARGUMENTS)] * 2
LOST = (anthropic.APIConnectionError, httpx2.TransportError)

Play = Callable[..., Server]
Ask = Callable[[Any], Awaitable[Seen]]
kinds = pytest.mark.parametrize("kind", [anthropic.Anthropic, anthropic.AsyncAnthropic])


def made(kind: Any, server: Server, options: dict[str, Any] | None = None, **given: Any) -> Callable[[], Any]:
    """A wrapped client, of which the original is gone."""
    given = {"api_key": "sk-ant-test", "base_url": server.url, "max_retries": 0, "timeout": 10, **given}
    return lambda: wirecall.wrap(kind(**given), **(options or {}))


def seen(message: Any) -> Seen:
    calls = [(block.name, block.input) for block in message.content if block.type == "tool_use"]
    text = "".join(block.text for block in message.content if block.type == "text")
    return Seen(text, calls, message.stop_reason)


async def create(client: Any) -> Seen:
    return seen(await got(client.messages.create(**ASKED)))


async def raw(client: Any) -> Seen:
    response = await got(client.messages.with_raw_response.create(**ASKED))
    assert response.elapsed.total_seconds() >= 0
    assert json.loads(response.http_request.content)["tools"] == ASKED["tools"]
    return seen(await got(response.parse()))


async def raw_streaming(client: Any) -> Seen:
    async with inside(client.messages.with_streaming_response.create(**ASKED)) as response:
        return seen(await got(response.parse()))


async def stream(client: Any) -> Seen:
    text, finish = "", None
    calls: dict[int, list[str]] = {}
    async for event in items(await got(client.messages.create(**ASKED, stream=True))):
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


WHOLE = [create, raw, raw_streaming, beta]
STREAMED = [stream, stream_helper, beta_stream_helper]
asks = pytest.mark.parametrize("ask", WHOLE + STREAMED)
streamed = pytest.mark.parametrize("ask", STREAMED)


@kinds
@asks
def test_the_application_sees_native_calls(play: Play, kind: Any, ask: Ask) -> None:
    text, native = play([OVER_TEXT]), play([NATIVE])
    over_text = run(made(kind, text), ask)
    assert over_text == run(lambda: kind(api_key="x", base_url=native.url), ask)
    assert over_text == ("Grüße. ", CALLS, "tool_use")
    assert "tools" not in text.last.json


@streamed
@pytest.mark.parametrize(
    "delivery",
    [
        Delivery(characters=1),
        Delivery(characters=None),
        Delivery(chunk=1),
        Delivery(gzip=True, chunk=5),
        Delivery(comments=1),
        Delivery(line_end="\r\n", chunk=3),
    ],
)
def test_however_it_is_delivered(play: Play, ask: Ask, delivery: Delivery) -> None:
    server = play([Answer(OVER_TEXT.parts, delivery=delivery)])
    assert run(made(anthropic.AsyncAnthropic, server), ask)[:2] == ("Grüße. ", CALLS)


@kinds
@asks
def test_a_bad_call_is_asked_for_again(play: Play, kind: Any, ask: Ask) -> None:
    server = play([Answer(f"So: {BAD}"), Answer(CALL)])
    assert run(made(kind, server), ask) == ("So: ", CALLS[:1], "tool_use")
    first, second = server.requests
    assert BAD in json.dumps(second.json["messages"][-2])
    assert "<tool-error" in json.dumps(second.json["messages"][-1])
    assert int(second.headers["content-length"]) == len(second.body) > len(first.body)
    del first.headers["content-length"], second.headers["content-length"]
    assert first.headers == second.headers


@kinds
@pytest.mark.parametrize("streams", [False, True])
def test_reasoning_and_summed_usage_stay(play: Play, kind: Any, streams: bool) -> None:
    thought = Thinking("Hm.")
    server = play(
        [Answer([thought, BAD], usage=Usage(1, 10)), Answer([thought, CALL], usage=Usage(100, 1000))]
    )

    async def ask(client: Any) -> Any:
        if not streams:
            return await got(client.messages.create(**ASKED))
        async with inside(client.messages.stream(**ASKED)) as events:
            return await got(events.get_final_message())

    message = run(made(kind, server), ask)
    thinking = [block for block in message.content if block.type == "thinking"]
    assert thinking[0].signature == thought.signature
    assert seen(message).calls == CALLS[:1]
    assert (message.usage.input_tokens, message.usage.output_tokens) == (101, 1010)


@kinds
def test_tokens_are_counted_of_the_rewritten_request(play: Play, kind: Any) -> None:
    server = play([])

    async def count(client: Any) -> Any:
        return await got(client.messages.count_tokens(model="m", messages=USER, tools=[TOOL]))

    assert run(made(kind, server), count).input_tokens > 0
    assert "tools" not in server.last.json
    assert "go to" in json.dumps(server.last.json["system"])


@kinds
def test_the_tool_runner_runs(play: Play, kind: Any) -> None:
    server = play([OVER_TEXT, Answer("Done.")])
    gone: list[str] = []

    def go(to: str) -> str:
        """Go there.

        Args:
            to: Where.
        """
        gone.append(to)
        return "there"

    async def go_async(to: str) -> str:
        return go(to)

    is_async = kind is anthropic.AsyncAnthropic
    tool = (
        anthropic.beta_async_tool(go_async, name="go", description="Go.")
        if is_async
        else anthropic.beta_tool(go)
    )

    async def ask(client: Any) -> Any:
        runner = client.beta.messages.tool_runner(model="m", max_tokens=99, messages=USER, tools=[tool])
        return await got(runner.until_done())

    assert seen(run(made(kind, server), ask)).text == "Done."
    assert gone == [ARGUMENTS["to"]] * 2
    assert json.dumps(server.last.json["messages"]).count("<tool-result") == 2


@kinds
def test_a_thread_is_refused_as_its_api_does(play: Play, kind: Any) -> None:
    server = play([])

    async def ask(client: Any) -> Any:
        return await got(client.messages.create(**ASKED, extra_body={"thread": {"type": "continue"}}))

    with pytest.raises(anthropic.BadRequestError) as caught:
        run(made(kind, server, max_retries=2), ask)
    assert caught.value.error_code == "thread_unsupported_request"
    assert server.requests == []


@kinds
def test_signed_bodies_are_refused_and_not_sent(play: Play, kind: Any) -> None:
    server = play([])
    signed = {"authorization": "AWS4-HMAC-SHA256 Credential=x"}

    async def ask(client: Any) -> Any:
        return await got(client.messages.create(**ASKED, extra_headers=signed))

    with pytest.raises(anthropic.BadRequestError, match="signed"):
        run(made(kind, server, max_retries=2), ask)
    assert server.requests == []


@pytest.mark.parametrize("name", ["AnthropicBedrock", "AsyncAnthropicBedrock", "AnthropicVertex"])
def test_clients_of_other_clouds_are_refused(name: str) -> None:
    kind = getattr(anthropic, name)
    with pytest.raises(TypeError, match=f"{name} cannot be wrapped: its requests are signed"):
        wirecall.wrap(kind.__new__(kind))


@kinds
@asks
@pytest.mark.parametrize("status", [429, 500, 529])
def test_the_sdk_retries(play: Play, kind: Any, ask: Ask, status: int) -> None:
    server = play([Failure(status, headers={"retry-after-ms": "1"}), OVER_TEXT])
    assert run(made(kind, server, max_retries=1), ask)[1] == CALLS
    first, second = server.requests
    assert first.body == second.body


@kinds
@asks
def test_a_failed_call_is_raised_as_what_it_is_and_not_retried(play: Play, kind: Any, ask: Ask) -> None:
    server = play([Answer(f"So: {BAD}")] * 3)
    with pytest.raises(wirecall.CallFailed) as caught:
        run(made(kind, server, {"on_error": "raise"}, max_retries=2), ask)
    assert caught.value.error is not None
    assert isinstance(caught.value, anthropic.AnthropicError)
    assert len(server.requests) == 1
    server.settle()


@kinds
def test_wrong_tools_are_the_callers_errors_and_not_retried(play: Play, kind: Any) -> None:
    server = play([])

    async def ask(client: Any) -> Any:
        wrong = {"name": "go", "input_schema": {"type": 7}}
        return await got(client.messages.create(**{**ASKED, "tools": [wrong]}))

    with pytest.raises(wirecall.ToolError) as caught:
        run(made(kind, server, max_retries=2), ask)
    assert (caught.value.tool, caught.value.pointer) == ("go", "/type")
    assert isinstance(caught.value, anthropic.AnthropicError)
    assert server.requests == []


@kinds
def test_a_stream_ends_with_the_error_of_the_second_answer(play: Play, kind: Any) -> None:
    server = play([Answer(f"So: {BAD}"), Failure(400, "Too long.")])
    with pytest.raises(anthropic.APIStatusError, match=r"400.*Too long"):
        run(made(kind, server), stream)
    server.settle()


@kinds
def test_a_call_that_fails_after_its_first_fragment_is_an_error(play: Play, kind: Any) -> None:
    tool = {
        "name": "go",
        "input_schema": {
            "type": "object",
            "properties": {"to": {"type": "string"}, "at": {"type": "object"}},
        },
    }
    server = play([Answer('<call>go to="Graz" at={"x":[}</call>')])
    partial: list[str] = []

    async def ask(client: Any) -> Any:
        given = {**ASKED, "tools": [tool]}
        async for event in items(await got(client.messages.create(**given, stream=True))):
            assert event.type not in ("message_delta", "message_stop")
            if event.type == "content_block_delta":
                partial.append(event.delta.partial_json)

    with pytest.raises(anthropic.APIStatusError, match="no valid JSON"):
        run(made(kind, server, {"stream_arguments": True}), ask)
    assert "".join(partial).startswith('{"to":"Graz"')


@kinds
def test_the_client_stays_what_it_was(play: Play, kind: Any) -> None:
    server = play([OVER_TEXT, NATIVE, OVER_TEXT])
    original = kind(api_key="x", base_url=server.url, timeout=7.5, max_retries=4)
    before = dict(original._client.__dict__)
    wrapped = wirecall.wrap(original)
    assert type(wrapped) is kind
    assert (wrapped.timeout, wrapped.max_retries, wrapped.api_key) == (7.5, 4, "x")
    assert isinstance(wrapped._client, type(original._client))
    assert original._client.__dict__ == before

    async def ask(client: Any) -> Any:
        first = await create(client)
        assert await create(original) == first
        assert await create(client.with_options(timeout=1.5)) == first

    run(lambda: wrapped, ask)
    assert ["tools" in request.json for request in server.requests] == [False, True, False]
    with pytest.raises(ValueError, match="wrapped already"):
        wirecall.wrap(wrapped)


@kinds
def test_native_middleware_sees_native_tools(play: Play, kind: Any) -> None:
    server = play([OVER_TEXT])
    given: list[Any] = []

    class Watch(anthropic.Middleware):
        def handle(self, request: Any, call_next: Any) -> Any:
            given.append(request.options.json_data["tools"])
            return call_next(request)

        async def handle_async(self, request: Any, call_next: Any) -> Any:
            given.append(request.options.json_data["tools"])
            return await call_next(request)

    original = kind(api_key="x", base_url=server.url).with_middleware(Watch())
    assert run(lambda: wirecall.wrap(original), create)[1] == CALLS
    assert [tools[0]["name"] for tools in given] == ["go"]


@kinds
@streamed
@pytest.mark.parametrize("after", [900, 2500])
def test_a_drop_is_the_network_error_it_was(play: Play, kind: Any, ask: Ask, after: int) -> None:
    server = play([Answer("Grüße. " * 4 + CALL * 60, delivery=Delivery(drop_after=after))])
    with pytest.raises(LOST):
        run(made(kind, server), ask)
    server.settle()


@kinds
@asks
def test_a_timeout_is_the_sdks(play: Play, kind: Any, ask: Ask) -> None:
    server = play([Answer(OVER_TEXT.parts, delivery=Delivery(stall_after=200))])
    with pytest.raises((anthropic.APITimeoutError, httpx2.TimeoutException)):
        run(made(kind, server, timeout=0.3), ask)
    server.settle()
    assert server.last.ended == "client gone"


def test_a_cancelled_task_closes_the_connection(play: Play) -> None:
    server = play([Answer(CALL, delivery=Delivery(stall_after=400))])

    async def ask(client: Any) -> None:
        began = asyncio.Event()

        async def read() -> None:
            async for _ in await client.messages.create(**ASKED, stream=True):
                began.set()

        task = asyncio.create_task(read())
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(server.settle)

    run(made(anthropic.AsyncAnthropic, server), ask)
    assert server.last.ended == "client gone"
