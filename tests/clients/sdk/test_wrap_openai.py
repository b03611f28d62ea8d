"""`wrap` around the openai SDK: what an application sees over text is what it sees with native calls."""

import asyncio
import gc
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import httpx2
import openai
import pytest
from server import Answer, Call, Delivery, Failure, Raw, Server, Usage
from wrapping import ARGUMENTS, BAD, CALL, SCHEMA, USER, Seen, got, inside, items, run

import wirecall

FUNCTION = {"name": "go", "description": "Go there.", "parameters": SCHEMA, "strict": True}
CHAT = {"model": "m", "messages": USER, "tools": [{"type": "function", "function": FUNCTION}]}
RESPONSES = {"model": "m", "input": "Where to?", "tools": [{"type": "function", **FUNCTION}]}
OVER_TEXT = Answer(f"Grüße. {CALL}{CALL}")
NATIVE = Answer(["Grüße. ", Call("go", ARGUMENTS), Call("go", ARGUMENTS)])
CALLS = [("go", ARGUMENTS)] * 2
LOST = (openai.APIConnectionError, httpx2.TransportError)

Play = Callable[..., Server]
Ask = Callable[[Any], Awaitable[Seen]]
kinds = pytest.mark.parametrize("kind", [openai.OpenAI, openai.AsyncOpenAI])


def made(kind: Any, server: Server, options: dict[str, Any] | None = None, **given: Any) -> Callable[[], Any]:
    """A wrapped client, of which the original is gone."""
    given = {"api_key": "sk-test", "base_url": server.openai_url, "max_retries": 0, "timeout": 10, **given}
    return lambda: wirecall.wrap(kind(**given), **(options or {}))


# What applications do -----------------------------------------------------------------------------------


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


async def create(client: Any) -> Seen:
    return seen_chat(await got(client.chat.completions.create(**CHAT)))


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


async def stream(client: Any) -> Seen:
    text, finish = "", None
    calls: dict[int, list[str]] = {}
    async for chunk in items(await got(client.chat.completions.create(**CHAT, stream=True))):
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


async def responses_stream(client: Any) -> Seen:
    last = None
    async for event in items(await got(client.responses.create(**RESPONSES, stream=True))):
        last = event
    return seen_response(last.response)  # type: ignore[union-attr]


async def responses_helper(client: Any) -> Seen:
    async with inside(client.responses.stream(**RESPONSES)) as events:
        async for event in items(events):
            assert event.type != "error"
        return seen_response(await got(events.get_final_response()))


WHOLE = [create, parse, raw, raw_streaming, responses, responses_parse]
STREAMED = [stream, stream_helper, responses_stream, responses_helper]
asks = pytest.mark.parametrize("ask", WHOLE + STREAMED)
streamed = pytest.mark.parametrize("ask", STREAMED)


@kinds
@asks
def test_the_application_sees_native_calls(play: Play, kind: Any, ask: Ask) -> None:
    text, native = play([OVER_TEXT]), play([NATIVE])
    over_text = run(made(kind, text), ask)
    assert over_text == run(lambda: kind(api_key="x", base_url=native.openai_url), ask)
    assert over_text[:2] == ("Grüße. ", CALLS)
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
    assert run(made(openai.AsyncOpenAI, server), ask)[:2] == ("Grüße. ", CALLS)


@kinds
@asks
def test_a_bad_call_is_asked_for_again(play: Play, kind: Any, ask: Ask) -> None:
    server = play([Answer(f"So: {BAD}"), Answer(CALL)])
    assert run(made(kind, server), ask)[:2] == ("So: ", [("go", ARGUMENTS)])
    first, second = server.requests
    said = second.json.get("messages") or second.json["input"]
    assert BAD in json.dumps(said[-2])
    assert "<tool-error" in json.dumps(said[-1])
    for name in ("authorization", "x-stainless-retry-count", "user-agent"):
        assert first.headers[name] == second.headers[name]
    assert int(second.headers["content-length"]) == len(second.body) > len(first.body)


@streamed
def test_usage_is_summed_over_both_answers(play: Play, ask: Ask) -> None:
    server = play([Answer(BAD, usage=Usage(1, 10)), Answer(CALL, usage=Usage(100, 1000))])

    async def usage(client: Any) -> int:
        if ask in (responses_stream, responses_helper):
            async with inside(client.responses.stream(**RESPONSES)) as events:
                return (await got(events.get_final_response())).usage.total_tokens
        chunks = await got(
            client.chat.completions.create(**CHAT, stream=True, stream_options={"include_usage": True})
        )
        return sum([chunk.usage.total_tokens async for chunk in items(chunks) if chunk.usage])

    assert run(made(openai.AsyncOpenAI, server), usage) == 1111


@kinds
@asks
@pytest.mark.parametrize("status", [429, 500])
def test_the_sdk_retries(play: Play, kind: Any, ask: Ask, status: int) -> None:
    failure = Failure(status, headers={"retry-after-ms": "1"})
    server = play([failure, OVER_TEXT])
    assert run(made(kind, server, max_retries=1), ask)[1] == CALLS
    first, second = server.requests
    assert first.body == second.body


@kinds
@asks
def test_errors_pass(play: Play, kind: Any, ask: Ask) -> None:
    server = play([Failure(401, "No such key.", headers={"x-why": "because"})])
    with pytest.raises(openai.AuthenticationError, match="No such key") as caught:
        run(made(kind, server), ask)
    assert caught.value.response.headers["x-why"] == "because"
    assert json.loads(caught.value.request.content)["tools"]


@kinds
@pytest.mark.parametrize("ask", WHOLE)
def test_an_error_of_the_second_answer_is_the_errors_own(play: Play, kind: Any, ask: Ask) -> None:
    server = play([Answer(BAD), Failure(400, "Too long.")])
    with pytest.raises(openai.BadRequestError, match="Too long"):
        run(made(kind, server), ask)


@kinds
@streamed
def test_a_stream_ends_with_the_error_of_the_second_answer(play: Play, kind: Any, ask: Ask) -> None:
    server = play([Answer(f"So: {BAD}"), Failure(400, "Too long.")])
    with pytest.raises((openai.APIError, AssertionError, AttributeError, RuntimeError)) as caught:
        run(made(kind, server), ask)
    if isinstance(caught.value, openai.APIError):
        assert "400" in str(caught.value)
        assert "Too long" in str(caught.value)
    server.settle()
    assert server.open == 0


@kinds
@asks
def test_a_failed_call_is_raised_as_what_it_is(play: Play, kind: Any, ask: Ask) -> None:
    server = play([Answer(f"So: {BAD}")] * 3)
    with pytest.raises(wirecall.CallFailed) as caught:
        run(made(kind, server, {"on_error": "raise"}, max_retries=2), ask)
    assert caught.value.error is not None
    assert isinstance(caught.value, openai.OpenAIError)
    assert len(server.requests) == 1
    server.settle()


@kinds
def test_what_cannot_work_is_a_bad_request_and_is_not_sent(play: Play, kind: Any) -> None:
    server = play([])
    for given in ({"previous_response_id": "resp_1"}, {"conversation": "conv_1"}):

        async def ask(client: Any, given: dict[str, Any] = given) -> Any:
            return await got(client.responses.create(**RESPONSES, **given))

        with pytest.raises(openai.BadRequestError) as caught:
            run(made(kind, server, max_retries=2), ask)
        assert caught.value.code == "wirecall_refused"
        assert next(iter(given)) in caught.value.body["message"]  # type: ignore[index]
    assert server.requests == []


@kinds
def test_wrong_tools_and_options_are_the_callers_errors(play: Play, kind: Any) -> None:
    server = play([])
    wrong = {"type": "function", "function": {"name": "go", "parameters": {"type": 7}}}
    for given, error in (
        ({"tools": [wrong]}, wirecall.ToolError),
        ({"extra_body": {"wirecall": {"on_eror": "text"}}}, TypeError),
        ({"extra_body": {"wirecall": {"on_error": "maybe"}}}, ValueError),
    ):

        async def ask(client: Any, given: Any = given) -> Any:
            return await got(client.chat.completions.create(**{**CHAT, **given}))

        with pytest.raises(error) as caught:
            run(made(kind, server, max_retries=2), ask)
        assert isinstance(caught.value, openai.OpenAIError)
    assert server.requests == []


@kinds
def test_options_of_one_request(play: Play, kind: Any) -> None:
    server = play([Answer(BAD)])

    async def ask(client: Any) -> Seen:
        given = {"wirecall": {"on_error": "text"}}
        return seen_chat(await got(client.chat.completions.create(**CHAT, extra_body=given)))

    assert "<tool-error" in run(made(kind, server), ask).text
    assert "wirecall" not in server.last.json


@kinds
def test_websockets_are_refused_before_they_connect(play: Play, kind: Any) -> None:
    server = play([])
    for copied in (False, True):

        async def connect(client: Any, copied: bool = copied) -> None:
            client = client.with_options(timeout=3).copy(max_retries=1) if copied else client
            async with inside(client.responses.connect()):
                raise AssertionError("connected")

        with pytest.raises((wirecall.Refused, openai.OpenAIError)) as caught:
            run(made(kind, server), connect)
        if not isinstance(caught.value, wirecall.Refused):
            assert "openai[realtime]" in str(caught.value)
    assert server.requests == []


# The client itself --------------------------------------------------------------------------------------


@kinds
def test_the_client_stays_what_it_was(play: Play, kind: Any) -> None:
    server = play([OVER_TEXT, NATIVE, OVER_TEXT])
    original = kind(api_key="sk-test", base_url=server.openai_url, timeout=7.5, max_retries=4)
    before = dict(original._client.__dict__)
    wrapped = wirecall.wrap(original)
    assert type(wrapped) is kind
    assert (wrapped.timeout, wrapped.max_retries, wrapped.api_key) == (7.5, 4, "sk-test")
    assert isinstance(wrapped._client, type(original._client))
    assert original._client.__dict__ == before

    async def ask(client: Any) -> Any:
        first = await create(client)
        assert await create(original) == first
        copied = client.with_options(timeout=1.5, max_retries=0)
        assert (copied.timeout, copied.max_retries) == (1.5, 0)
        assert await create(copied) == first

    run(lambda: wrapped, ask)
    assert ["tools" in request.json for request in server.requests] == [False, True, False]
    assert original.is_closed()


def test_the_wrapped_client_may_go_while_the_original_stays(play: Play) -> None:
    server = play([NATIVE])
    with openai.OpenAI(api_key="x", base_url=server.openai_url) as original:
        wirecall.wrap(original)
        gc.collect()
        assert asyncio.run(create(original))[1] == CALLS


@kinds
def test_wrapping_twice_is_refused(play: Play, kind: Any) -> None:
    wrapped = wirecall.wrap(kind(api_key="x"))
    with pytest.raises(ValueError, match="wrapped already"):
        wirecall.wrap(wrapped)
    with pytest.raises(ValueError, match="wrapped already"):
        wirecall.wrap(wrapped.with_options(timeout=1))


@pytest.mark.parametrize("thing", [None, 7, "client", openai, openai.OpenAI])
def test_what_cannot_be_wrapped(thing: Any) -> None:
    with pytest.raises(TypeError, match=r"wrap takes OpenAI, .* LangChain's ChatOpenAI and ChatAnthropic"):
        wirecall.wrap(thing)


def test_unknown_options_and_old_sdks_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    client = openai.OpenAI(api_key="x")
    with pytest.raises(TypeError, match="there is no option 'on_eror'"):
        wirecall.wrap(client, on_eror="text")
    monkeypatch.setattr(openai, "__version__", "1.99.9")
    with pytest.raises(
        ImportError, match=r"openai 1\.99\.9 is too old for wirecall: 3\.0 or newer .*'wirecall\[openai\]'"
    ):
        wirecall.wrap(client)


def test_a_subclass_may_have_its_own_path(play: Play) -> None:
    seen: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.url.path)
        body = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": CALL}}]}
        return httpx2.Response(200, json=body)

    client = openai.AzureOpenAI(
        api_key="x",
        api_version="1",
        azure_endpoint="https://a.example",
        http_client=httpx2.Client(transport=httpx2.MockTransport(answer)),
    )
    assert asyncio.run(create(wirecall.wrap(client))) == Seen("", [("go", ARGUMENTS)], "tool_calls")
    assert seen == ["/openai/deployments/m/chat/completions"]


@pytest.mark.parametrize("http", [httpx, httpx2])
def test_own_http_clients_proxies_and_hooks_stay(play: Play, http: Any) -> None:
    server = play([OVER_TEXT] * 2)
    sent: list[Any] = []
    hooks = {"request": [sent.append]}
    http_client = http.Client(proxy=server.url, event_hooks=hooks, headers={"x-mine": "1"})
    client = openai.OpenAI(api_key="x", base_url="http://far.example/v1", http_client=http_client)
    seen = run(lambda: wirecall.wrap(client), create)
    assert seen[1] == CALLS
    assert server.last.url.startswith("http://far.example/")
    assert len(sent) == 1
    assert http_client.is_closed


@kinds
@pytest.mark.parametrize("ask", [create, stream, responses_stream])
def test_a_hook_may_read_the_answer_first(play: Play, kind: Any, ask: Ask) -> None:
    async def aread(response: Any) -> None:
        await response.aread()

    server = play([OVER_TEXT])
    if kind is openai.OpenAI:
        http: Any = httpx2.Client(event_hooks={"response": [lambda response: response.read()]})
    else:
        http = httpx2.AsyncClient(event_hooks={"response": [aread]})
    assert run(made(kind, server, http_client=http), ask)[1] == CALLS


@kinds
@pytest.mark.parametrize("ask", [create, stream, responses, responses_stream])
@pytest.mark.parametrize("content_type", [None, "text/plain", "application/octet-stream"])
def test_a_server_may_call_its_answer_what_it_likes(
    play: Play, kind: Any, ask: Ask, content_type: str | None
) -> None:
    def renamed(response: Any) -> None:
        if "event-stream" in response.headers.pop("content-type") and content_type:
            response.headers["content-type"] = content_type

    async def arenamed(response: Any) -> None:
        renamed(response)

    sync = kind is openai.OpenAI
    hooks = {"response": [renamed if sync else arenamed]}
    http: Any = (httpx2.Client if sync else httpx2.AsyncClient)(event_hooks=hooks)
    server = play([Answer(BAD), OVER_TEXT])
    assert run(made(kind, server, http_client=http), ask)[1] == CALLS


@kinds
@pytest.mark.parametrize("streams", [False, True])
def test_what_is_asked_again_is_another_request(play: Play, kind: Any, streams: bool) -> None:
    async def ask(client: Any) -> list[str]:
        headers = {"Idempotency-Key": "k1"}
        answer = await got(client.chat.completions.create(**CHAT, stream=streams, extra_headers=headers))
        return [chunk.id async for chunk in items(answer)] if streams else [answer.id]

    server = play([Answer(BAD), Answer(BAD), OVER_TEXT])
    assert run(made(kind, server, {"max_retries": 2}), ask)
    assert [request.headers["idempotency-key"] for request in server.requests] == ["k1", "k1-2", "k1-3"]


@pytest.mark.parametrize("http", [httpx, httpx2])
@pytest.mark.parametrize("name", ["Client", "AsyncClient"])
@pytest.mark.parametrize("streams", [False, True])
def test_http_clients_themselves(play: Play, http: Any, name: str, streams: bool) -> None:
    server = play([OVER_TEXT])
    kind = getattr(http, name)

    async def ask(client: Any) -> Any:
        assert isinstance(client, kind)
        url = f"{server.openai_url}/chat/completions"
        headers = {"authorization": "Bearer x"}
        response = await got(client.post(url, headers=headers, json={**CHAT, "stream": streams}))
        assert response.elapsed.total_seconds() >= 0
        assert response.request.url == url
        assert json.loads(response.request.content)["tools"]
        assert "content-length" not in response.headers
        return response

    response = run(lambda: wirecall.wrap(kind()), ask)
    assert b"tool_calls" in response.content
    assert (b"[DONE]" in response.content) == streams


@kinds
def test_other_requests_pass_untouched(play: Play, kind: Any) -> None:
    server = play([Raw(b'{"choices": [ ] }')])

    async def ask(client: Any) -> Any:
        raw = client.chat.completions.with_raw_response
        return await got(raw.create(model="m", messages=USER))

    assert run(made(kind, server), ask).http_response.content == b'{"choices": [ ] }'
    assert server.last.json == {"model": "m", "messages": USER}


# Faults -------------------------------------------------------------------------------------------------


@kinds
@streamed
@pytest.mark.parametrize("after", [900, 1500])
def test_a_drop_is_the_network_error_it_was(play: Play, kind: Any, ask: Ask, after: int) -> None:
    server = play([Answer("Grüße. " * 4 + CALL * 60, delivery=Delivery(drop_after=after))])
    with pytest.raises(LOST):
        run(made(kind, server), ask)
    server.settle()


@kinds
def test_a_drop_says_more_than_the_call_that_it_cut_off(play: Play, kind: Any) -> None:
    server = play([Answer("<call>go to=" + "x" * 4000, delivery=Delivery(drop_after=6000))])
    with pytest.raises(LOST):
        run(made(kind, server, {"on_error": "raise"}), stream)


@kinds
def test_what_was_held_at_a_drop_is_said_and_is_no_call(play: Play, kind: Any) -> None:
    long = "<call>go to=" + "x" * 4000
    server = play([Answer(f"Grüße. {long}", delivery=Delivery(drop_after=6000))])
    deltas: list[Any] = []

    async def ask(client: Any) -> None:
        async for chunk in items(await got(client.chat.completions.create(**CHAT, stream=True))):
            deltas.extend(choice.delta for choice in chunk.choices)

    with pytest.raises(LOST):
        run(made(kind, server), ask)
    text = "".join(delta.content or "" for delta in deltas)
    assert text.startswith("Grüße. ")
    assert "cut off" in text
    assert not any(delta.tool_calls for delta in deltas)


@kinds
@asks
def test_a_timeout_is_the_sdks(play: Play, kind: Any, ask: Ask) -> None:
    server = play([Answer(OVER_TEXT.parts, delivery=Delivery(stall_after=200))])
    with pytest.raises((openai.APITimeoutError, httpx2.TimeoutException)):
        run(made(kind, server, timeout=0.3), ask)
    server.settle()
    assert server.last.ended == "client gone"


@kinds
def test_a_client_that_leaves_closes_the_connection(play: Play, kind: Any) -> None:
    server = play([Answer("Grüße. " * 500, delivery=Delivery(characters=1, delay=0.005))])

    async def ask(client: Any) -> None:
        chunks = await got(client.chat.completions.create(**CHAT, stream=True))
        async for chunk in items(chunks):
            assert chunk.id
            break
        await got(chunks.close())
        await asyncio.to_thread(server.settle)

    run(made(kind, server), ask)
    assert server.last.ended == "client gone"


def test_a_cancelled_task_closes_the_connection(play: Play) -> None:
    server = play([Answer(CALL, delivery=Delivery(stall_after=300))])

    async def ask(client: Any) -> None:
        began = asyncio.Event()

        async def read() -> None:
            async for _ in await client.chat.completions.create(**CHAT, stream=True):
                began.set()

        task = asyncio.create_task(read())
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(server.settle)

    run(made(openai.AsyncOpenAI, server), ask)
    assert server.last.ended == "client gone"


def test_a_stream_that_is_forgotten_closes_its_connection(play: Play) -> None:
    server = play([Answer("Grüße. " * 500, delivery=Delivery(characters=1, delay=0.005))])
    with made(openai.OpenAI, server)() as client:
        chunks = client.chat.completions.create(**CHAT, stream=True)
        next(iter(chunks))
        del chunks
        gc.collect()
        server.settle()
    assert server.last.ended == "client gone"


@kinds
def test_malformed_events_reach_the_sdk_as_without_us(play: Play, kind: Any) -> None:
    server = play([Answer("Grüße " * 20, delivery=Delivery(garbage=b'data: {"oh\n\n'))])
    with pytest.raises(ValueError, match="Unterminated string"):
        run(made(kind, server), stream)


def test_a_thousand_streams_at_once_leave_nothing() -> None:
    events = [
        b'data: {"choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}\n\n' % text.encode()
        for text in ('"Gr\u00fc\u00dfe. "', '"<call>go to=Gr"', '"az</call>"')
    ]
    events.append(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    open_at_once = most = 0

    class Body(httpx2.AsyncByteStream):
        async def __aiter__(self) -> Any:
            nonlocal open_at_once, most
            open_at_once += 1
            most = max(most, open_at_once)
            for event in events:
                # All the others, too, before the next one.
                await asyncio.sleep(0)
                yield event

        async def aclose(self) -> None:
            nonlocal open_at_once
            open_at_once -= 1

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Body())

    async def ask() -> list[int]:
        http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        client = wirecall.wrap(openai.AsyncOpenAI(api_key="x", http_client=http_client))
        left = []
        for count in (100, 1000, 1000):
            seen = await asyncio.gather(*[stream(client) for _ in range(count)])
            assert all(one == Seen("Grüße. ", [("go", {"to": "Graz"})], "tool_calls") for one in seen)
            del seen
            for _ in range(2):
                # Generators that nobody has any more are closed by the loop.
                await asyncio.sleep(0.05)
                gc.collect()
            left.append(len(gc.get_objects()))
        await client.close()
        return left

    _, few, many = asyncio.run(ask())
    assert most == 1000
    assert open_at_once == 0
    # Less than one object is left of a stream: none is.
    assert many - few < 500


def test_logs_hold_no_keys_and_no_bodies(play: Play, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "wirecall")
    server = play([Answer(f"secret {BAD}"), Answer(CALL)] * 2)
    run(made(openai.OpenAI, server, api_key="sk-secret"), create)
    assert "retry" in caplog.text
    assert not any(word in caplog.text for word in ("secret", "Where to", "Graz"))
    run(made(openai.OpenAI, server, {"debug": True}, api_key="sk-secret"), create)
    assert '"messages":' in caplog.text
    assert "sk-secret" not in caplog.text
