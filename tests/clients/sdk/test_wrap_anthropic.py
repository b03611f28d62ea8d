"""`wrap` around the anthropic SDK: what it alone has."""

import json
from typing import Any

import anthropic
import pytest
from server import Answer, Failure, Thinking, Usage
from wrapping import ARGUMENTS, BAD, CALL, CALLS, OVER_TEXT, USER, Ask, Play, got, inside, items, run
from wrapping_anthropic import ANTHROPIC, ASKED, create, events, seen

import wirecall

kinds = pytest.mark.parametrize("kind", ANTHROPIC.kinds)
streamed = pytest.mark.parametrize("ask", ANTHROPIC.streamed)
made = ANTHROPIC.made


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
        async with inside(client.messages.stream(**ASKED)) as helped:
            return await got(helped.get_final_message())

    message = run(made(kind, server), ask)
    thinking = [block for block in message.content if block.type == "thinking"]
    assert thinking[0].signature == thought.signature
    assert seen(message).calls == CALLS[:1]
    assert (message.usage.input_tokens, message.usage.output_tokens) == (101, 1010)


@kinds
def test_tokens_are_counted_of_the_rewritten_request(play: Play, kind: Any) -> None:
    server = play([])

    async def count(client: Any) -> Any:
        return await got(client.messages.count_tokens(model="m", messages=USER, tools=ASKED["tools"]))

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
@streamed
def test_a_stream_ends_with_the_error_of_the_second_answer(play: Play, kind: Any, ask: Ask) -> None:
    server = play([Answer(f"So: {BAD}"), Failure(400, "Too long.")])
    with pytest.raises(anthropic.APIStatusError, match=r"400.*Too long"):
        run(made(kind, server), ask)
    server.settle()
    assert server.open == 0


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
        async for event in items(await events(client, tools=[tool])):
            assert event.type not in ("message_delta", "message_stop")
            if event.type == "content_block_delta":
                partial.append(event.delta.partial_json)

    with pytest.raises(anthropic.APIStatusError, match="not valid JSON"):
        run(made(kind, server, {"stream_arguments": True}), ask)
    assert "".join(partial).startswith('{"to":"Graz"')


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
