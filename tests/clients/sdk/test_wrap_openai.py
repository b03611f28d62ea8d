"""`wrap` around the openai SDK: what it alone has, and what is tried with it alone."""

import asyncio
import gc
import json
import logging
import re
from typing import Any

import httpx
import httpx2
import openai
import pytest
from server import Answer, Delivery, Failure, Raw, Usage
from wrapping import ARGUMENTS, BAD, CALL, CALLS, OVER_TEXT, USER, Ask, Play, Seen, got, inside, items, run
from wrapping_openai import (
    CHAT,
    OPENAI,
    RESPONSES,
    chunks,
    create,
    responses,
    responses_events,
    responses_stream,
    stream,
    stream_helper,
)

import wirecall

kinds = pytest.mark.parametrize("kind", OPENAI.kinds)
made = OPENAI.made


# What applications do -----------------------------------------------------------------------------------


async def usage(client: Any) -> list[Any]:
    answer = await chunks(client, stream_options={"include_usage": True})
    return [chunk.usage async for chunk in items(answer) if chunk.usage]


async def usage_helper(client: Any) -> list[Any]:
    options = {"include_usage": True}
    async with inside(client.chat.completions.stream(**CHAT, stream_options=options)) as events:
        return [(await got(events.get_final_completion())).usage]


async def responses_usage(client: Any) -> list[Any]:
    return [(await responses_events(client))[-1].response.usage]


async def responses_usage_helper(client: Any) -> list[Any]:
    async with inside(client.responses.stream(**RESPONSES)) as events:
        return [(await got(events.get_final_response())).usage]


@pytest.mark.parametrize("ask", [usage, usage_helper, responses_usage, responses_usage_helper])
def test_usage_is_summed_over_both_answers(play: Play, ask: Any) -> None:
    server = play([Answer(BAD, usage=Usage(1, 10)), Answer(CALL, usage=Usage(100, 1000))])
    [usage] = run(made(openai.AsyncOpenAI, server), ask)
    assert usage.total_tokens == 1111


TOO_LONG = r"The request was retried, and the server answered 400: .*Too long\."


@kinds
@pytest.mark.parametrize("ask", [stream, stream_helper])
def test_a_stream_ends_with_the_error_of_the_second_answer(play: Play, kind: Any, ask: Ask) -> None:
    server = play([Answer(f"So: {BAD}"), Failure(400, "Too long.")])
    with pytest.raises(openai.APIError, match=TOO_LONG) as caught:
        run(made(kind, server), ask)
    assert type(caught.value) is openai.APIError
    assert caught.value.type == "api_error"
    server.settle()
    assert server.open == 0


@kinds
@pytest.mark.parametrize("helper", [False, True])
def test_a_stream_of_responses_ends_with_the_error_as_an_event(play: Play, kind: Any, helper: bool) -> None:
    """The SDK hands it over, and misses the response after it where it would fold one."""

    async def ask(client: Any) -> list[Any]:
        if not helper:
            return await responses_events(client)
        async with inside(client.responses.stream(**RESPONSES)) as stream:
            events = [event async for event in items(stream)]
            with pytest.raises(RuntimeError, match=r"Didn't receive a `response\.completed` event"):
                await got(stream.get_final_response())
            return events

    server = play([Answer(f"So: {BAD}"), Failure(400, "Too long.")])
    *events, last = run(made(kind, server), ask)
    assert [event.delta for event in events if event.type == "response.output_text.delta"] == ["So: "]
    assert events[-1].type == "response.output_text.delta"
    assert (last.type, last.code) == ("error", "server_error")
    assert re.match(TOO_LONG, last.message)
    server.settle()
    assert server.open == 0


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


# The client itself --------------------------------------------------------------------------------------


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
def test_a_drop_says_more_than_the_call_that_it_cut_off(play: Play, kind: Any) -> None:
    server = play([Answer("<call>go to=" + "x" * 4000, delivery=Delivery(cut_after=6000))])
    with pytest.raises(OPENAI.lost):
        run(made(kind, server, {"on_error": "raise"}), stream)


@kinds
def test_what_was_held_at_a_drop_is_no_call_and_no_text(play: Play, kind: Any) -> None:
    long = "<call>go to=" + "x" * 4000
    server = play([Answer(f"Grüße. {long}", delivery=Delivery(cut_after=6000))])
    deltas: list[Any] = []

    async def ask(client: Any) -> None:
        async for chunk in items(await chunks(client)):
            deltas.extend(choice.delta for choice in chunk.choices)

    with pytest.raises(OPENAI.lost):
        run(made(kind, server), ask)
    text = "".join(delta.content or "" for delta in deltas)
    assert text == "Grüße. "
    assert not any(delta.tool_calls for delta in deltas)


@kinds
def test_a_client_that_leaves_closes_the_connection(play: Play, kind: Any) -> None:
    server = play([Answer("Grüße. " * 500, delivery=Delivery(characters=1, delay=0.005))])

    async def ask(client: Any) -> None:
        answer = await chunks(client)
        async for chunk in items(answer):
            assert chunk.id
            break
        await got(answer.close())
        await asyncio.to_thread(server.settle)

    run(made(kind, server), ask)
    assert server.last.ended == "client gone"


def test_a_stream_that_is_forgotten_closes_its_connection(play: Play) -> None:
    server = play([Answer("Grüße. " * 500, delivery=Delivery(characters=1, delay=0.005))])
    with made(openai.OpenAI, server)() as client:
        answer = client.chat.completions.create(**CHAT, stream=True)
        next(iter(answer))
        del answer
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
    assert "POST /v1/chat/completions model=m; calls; tools called: go; 2 attempts" in caplog.text
    assert not any(word in caplog.text for word in ("secret", "Where to", "Graz"))
