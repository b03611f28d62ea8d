"""What goes wrong: upstreams that fail, break off or say nothing, and clients that go away."""

import asyncio
import gzip
import json
from typing import Any

import pytest
from gateway_support import (
    ARGUMENTS,
    BAD,
    CALL,
    TOOL,
    Seen,
    asking,
    call,
    deltas,
    event,
    events,
    gateway,
    running,
    scripted,
    streaming,
    whole,
)

PATHS = {"chat": "/chat/completions", "messages": "/messages", "responses": "/responses"}


def request_of(api: str, *, stream: bool) -> dict[str, Any]:
    function = TOOL["function"]
    if api == "chat":
        return asking(stream=stream)
    if api == "messages":
        tool = {"name": function["name"], "input_schema": function["parameters"]}
        said = [{"role": "user", "content": "call"}]
        return {"model": "m", "max_tokens": 99, "stream": stream, "tools": [tool], "messages": said}
    return {"model": "m", "stream": stream, "input": "call", "tools": [{"type": "function", **function}]}


def event_of(api: str, text: str) -> bytes:
    if api == "chat":
        return event({"content": text})
    if api == "messages":
        made: dict[str, Any] = {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": text},
        }
        start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        listed = [start, made]
    else:
        where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        listed = [{"type": "response.output_text.delta", "delta": text, **where, "sequence_number": 1}]
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in listed)


def error_of(api: str, last: dict[str, Any]) -> str:
    """The message of a stream's last event, which is an error of the API."""
    if api == "responses":
        assert last["type"] == "error"
        assert last["code"] == "server_error"
        return str(last["message"])
    if api == "messages":
        assert last["type"] == "error"
    assert last["error"]["type"] == "api_error"
    return str(last["error"]["message"])


@pytest.mark.parametrize("api", PATHS)
@pytest.mark.parametrize(
    "words", ["Look, this is", 'Look. <call>get_weather city="Ro', "Look. <call>get_weather city=Rome"]
)
@running
async def test_a_lost_stream_ends_with_an_error_and_no_call(api: str, words: str) -> None:
    async def script(request: Any, seen: Seen) -> Any:
        response = await streaming(request)
        await response.write(event_of(api, words))
        await asyncio.sleep(0.05)
        request.transport.abort()
        return response

    async with gateway(script) as one:
        status, body = await one.post(request_of(api, stream=True), PATHS[api])
        assert status == 200
        assert "broke off" in error_of(api, events(body)[-1])
        for word in (
            "get_weather",
            "<call",
            "stop_reason",
            'finish_reason": "',
            "[DONE]",
            "response.completed",
        ):
            assert word not in body.decode()


@running
async def test_a_lost_stream_that_passes_unchanged_ends_with_an_error_or_breaks() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        response = await streaming(request)
        written = event({"content": "Hm."})
        await response.write(written[:-5] if "half" in str(seen.json) else written)
        await asyncio.sleep(0.05)
        request.transport.abort()
        return response

    plain = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]}
    options = {"reasoning": "content"}
    async with gateway(script, options=options) as one:
        _, body = await one.post(plain)
        assert body.startswith(event({"content": "Hm."}))
        assert "broke off" in events(body)[-1]["error"]["message"]
        with pytest.raises(Exception, match=r"(?i)payload|closed|reset|disconnect"):
            await one.post({**plain, "messages": [{"role": "user", "content": "half"}]})


@pytest.mark.parametrize("stream", [False, True])
@running
async def test_errors_of_the_upstream_are_its_own(stream: bool) -> None:
    answers = {
        "500": (500, "application/json", b'{"error":{"message":"boom"}}'),
        "429": (429, "application/json", b'{"error":{"message":"slow down"}}'),
        "html": (502, "text/html", b"<html>nginx</html>"),
        "nothing": (503, "text/plain", b""),
    }

    async def script(request: Any, seen: Seen) -> Any:
        from aiohttp import web

        status, kind, body = answers[seen.json["messages"][-1]["content"]]
        return web.Response(status=status, body=body, headers={"content-type": kind, "retry-after": "7"})

    async with gateway(script) as one:
        for said, (status, kind, body) in answers.items():
            found = await one.ask("POST", "/chat/completions", json=asking(said, stream=stream))
            assert (found[0], found[1]) == (status, body)
            assert found[2]["content-type"].startswith(kind)
            assert found[2]["retry-after"] == "7"


@running
async def test_redirects_are_not_followed() -> None:
    from aiohttp import web

    async with scripted() as (elsewhere, url):
        target = f"{url}/elsewhere"

        async def script(request: Any, seen: Seen) -> Any:
            code = int(seen.json["messages"][-1]["content"])
            return web.Response(status=code, headers={"location": target})

        async with gateway(script) as one:
            for code in (301, 302, 303, 307, 308):
                for body in (asking(str(code)), asking(str(code), stream=True)):
                    status, said = await one.post(body)
                    assert status == 502
                    assert "redirect" in json.loads(said)["error"]["message"]
                bare = {"model": "m", "messages": [{"role": "user", "content": str(code)}]}
                assert (await one.post(bare))[0] == 502
        assert elsewhere.seen == []


@running
async def test_an_upstream_that_is_not_there_is_502() -> None:
    async with scripted() as (_, url):
        pass  # Nothing listens there any more.
    async with gateway(target=url) as one:
        for api, path in PATHS.items():
            status, body = await one.post(request_of(api, stream=True), path)
            assert status == 502
            assert "cannot connect to the upstream" in json.loads(body)["error"]["message"]
        assert (await one.ask("GET", "/models"))[0] == 502


@pytest.mark.parametrize("stream", [False, True])
@running
async def test_silence_is_504(stream: bool) -> None:
    async def script(request: Any, seen: Seen) -> Any:
        if seen.json["messages"][-1]["content"] == "later":
            response = await streaming(request)
            await response.write(event({"content": "Hm "}))
        await asyncio.sleep(30)

    async with gateway(script, limits={"silence_seconds": 0.3}) as one:
        status, body = await one.post(asking(stream=stream))
        assert status == 504
        assert "in time" in json.loads(body)["error"]["message"]
        status, body = await one.post(asking("later", stream=True))
        assert status == 200
        assert "in time" in error_of("chat", events(body)[-1])
        await one.upstream.idle()


@pytest.mark.parametrize("stream", [False, True])
@running
async def test_an_error_on_a_retry_says_what_the_server_said(stream: bool) -> None:
    from aiohttp import web

    async def script(request: Any, seen: Seen) -> Any:
        if "tool-error" in str(seen.json["messages"]):
            return web.json_response({"error": {"message": "slow down, please"}}, status=429)
        if not stream:
            return whole(BAD)
        response = await streaming(request)
        await response.write(event({"content": BAD}) + event({}, "stop") + b"data: [DONE]\n\n")
        return response

    async with gateway(script) as one:
        status, body = await one.post(asking(stream=stream))
        if stream:
            assert "429" in error_of("chat", events(body)[-1])
        else:
            assert status == 429
        assert b"slow down, please" in body
        assert b"tool_calls" not in body


@running
async def test_an_idempotency_key_is_another_one_for_each_retry() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        return await call(request, seen) if "tool-error" in str(seen.json["messages"]) else whole(BAD)

    async with gateway(script) as one:
        assert (await one.post(asking(), headers={"idempotency-key": "k"}))[0] == 200
        assert [seen.headers["idempotency-key"] for seen in one.upstream.seen] == ["k", "k-2"]


@pytest.mark.parametrize("stream", [False, True])
@running
async def test_an_answer_that_is_compressed_all_the_same_is_read(stream: bool) -> None:
    from aiohttp import web

    async def script(request: Any, seen: Seen) -> Any:
        if stream:
            response = await streaming(request, **{"content-encoding": "gzip"})
            said = event({"content": CALL}) + event({}, "stop") + b"data: [DONE]\n\n"
            await response.write(gzip.compress(said))
            return response
        body = gzip.compress(whole(CALL).body)
        headers = {"content-type": "application/json", "content-encoding": "gzip"}
        return web.Response(body=body, headers=headers)

    async with gateway(script) as one:
        for path_body in (asking(stream=stream), {"model": "m", "stream": stream, "messages": []}):
            status, body, headers = await one.ask("POST", "/chat/completions", json=path_body)
            assert status == 200
            assert "content-encoding" not in headers
            if "tools" in path_body and stream:
                called = [one["tool_calls"][0]["function"] for one in deltas(body) if "tool_calls" in one]
                assert json.loads("".join(part.get("arguments", "") for part in called)) == ARGUMENTS
            elif not stream:
                json.loads(body)


@pytest.mark.parametrize("how", ["whole", "streamed", "passing"])
@running
async def test_a_client_that_goes_away_ends_the_request_of_the_upstream(how: str) -> None:
    async def script(request: Any, seen: Seen) -> Any:
        if how != "whole":
            response = await streaming(request)
            await response.write(event({"content": "Hm "}))
        await asyncio.sleep(30)

    body = (
        {"model": "m", "stream": True, "messages": []}
        if how == "passing"
        else asking(stream=how == "streamed")
    )
    async with gateway(script) as one:
        task = asyncio.create_task(one.post(body))
        while not one.upstream.running:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await one.upstream.idle()
        found = await one.metrics()
        while found['wirecall_streams{route="default"}']:
            await asyncio.sleep(0.01)
            found = await one.metrics()
        assert found['wirecall_requests_total{api="chat",outcome="closed",route="default"}'] == 1


@running
async def test_a_slow_reader_does_not_fill_the_memory() -> None:
    sent = 0

    async def script(request: Any, seen: Seen) -> Any:
        nonlocal sent
        response = await streaming(request)
        piece = event({"content": "word " * 2000})
        while sent < 200 << 20:
            await response.write(piece)
            sent += len(piece)

    async with gateway(script) as one:
        body = json.dumps(asking(stream=True)).encode()
        host, _, port = one.url.removeprefix("http://").removesuffix("/v1").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        writer.write(head + b"content-length: %d\r\n\r\n" % len(body) + body)
        got = 0
        for _ in range(40):
            got += len(await reader.read(2000))
            await asyncio.sleep(0.02)
        # What is on the way lies in the buffers of three sockets.
        assert sent - got < 32 << 20
        writer.transport.abort()
        await one.upstream.idle()


@running
async def test_a_flood_without_an_end_of_an_event_is_an_error() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        response = await streaming(request)
        await response.write(b"data: ")
        for _ in range(80):
            await response.write(b"x" * (1 << 20))
        return response

    async with gateway(script) as one:
        status, body = await one.post(asking(stream=True))
        assert status == 200
        assert "longer than" in error_of("chat", events(body)[-1])


@running
async def test_a_failure_of_the_gateway_says_nothing_of_its_inside(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("sk-secret")

    monkeypatch.setattr("wirecall._gateway.items.ItemMemory.owner", broken)
    async with gateway() as one:
        status, body = await one.post(asking())
        assert status == 500
        assert b"sk-secret" not in body
        assert "sk-secret" not in caplog.text
        assert "RuntimeError" in caplog.text
