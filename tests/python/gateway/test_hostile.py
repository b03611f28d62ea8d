"""Hostile clients and upstreams: what each of them did to an earlier version of the gateway."""

import asyncio
import gzip
import io
import json
import logging
import zlib
from contextlib import suppress
from typing import Any

import pytest
from aiohttp import web
from gateway_support import (
    BAD,
    CALL,
    TOOL,
    Seen,
    asking,
    event,
    events,
    gateway,
    running,
    streaming,
    whole,
)

from wirecall._apis.values import sum_usage
from wirecall._gateway.gateway import ascii_line
from wirecall._gateway.guard import host_name, is_loopback

KEY = "gateway-key-1"


@running
async def test_a_request_without_a_body_has_none() -> None:
    async with gateway(paths=("/files",)) as one:
        await one.ask("GET", "/models")
        await one.ask("GET", "/models", data=b"POST /v1/files HTTP/1.1\r\n\r\n")
        await one.ask("GET", "/files")
        for seen in one.upstream.seen:
            assert not {"transfer-encoding", "content-length"} & seen.headers.keys()
            assert seen.body == b""


@running
async def test_paths_that_are_named_have_the_limits_of_the_others() -> None:
    async with gateway(paths=("/embeddings",), limits={"body_bytes": 1000, "body_seconds": 0.3}) as one:
        assert (await one.ask("POST", "/embeddings", data=b"x" * 2000))[0] == 413
        packed = gzip.compress(b"{}")
        headers = {"content-encoding": "gzip"}
        assert (await one.ask("POST", "/embeddings", data=packed, headers=headers))[0] == 415
        head = b"POST /v1/embeddings HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{"
        assert b" 408 " in await one.raw(head)
        assert one.upstream.seen == []


@running
async def test_the_keys_of_the_gateway_leave_it_in_no_header_and_no_url() -> None:
    async with gateway(keys=(KEY,), key="sk-real") as one:
        own = {"authorization": f"Bearer {KEY}"}
        for name, value in (("api-key", KEY), ("x-goog-api-key", KEY), ("x-custom", f"Bearer {KEY}")):
            assert (await one.post(asking(), headers={**own, name: value, "x-kept": "1"}))[0] == 200
            assert KEY not in str(one.upstream.seen[-1])
            assert one.upstream.seen[-1].headers["x-kept"] == "1"
        for query in (f"?key={KEY}", "?key=gateway%2dkey-1", f"?{KEY}"):
            assert (await one.ask("POST", f"/chat/completions{query}", json=asking(), headers=own))[0] == 400
        assert len(one.upstream.seen) == 3


@running
async def test_an_error_of_the_upstream_does_not_tell_the_key_of_the_operator() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        return web.json_response({"error": seen.headers["authorization"]}, status=401)

    async with gateway(script, key="sk-real-key") as one:
        for body in (asking(), {"model": "m", "messages": []}):
            status, said = await one.post(body)
            assert status == 401
            assert b"sk-real-key" not in said
            assert b"[secret]" in said


@running
async def test_what_cannot_be_read_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with gateway() as one:
        for line in (b"authorization: Bearer sk-secret\x7f", b"authorization: Bearer sk-secret\x00"):
            await one.raw(b"GET /v1/models HTTP/1.1\r\nhost: x\r\n" + line + b"\r\n\r\n")
        await one.raw(b"GET /v1/models?key=sk-secret\x80 HTTP/1.1\r\nhost: x\r\n\r\n")
    assert "sk-secret" not in caplog.text
    assert "Traceback" not in caplog.text


def test_lines_of_the_log_have_a_length() -> None:
    assert len(ascii_line("\N{GRINNING FACE}" * 100_000)) < 10_000


@running
async def test_models_in_errors_have_a_length(tmp_path: Any) -> None:
    config = tmp_path / "routes.toml"
    config.write_text('[[route]]\nmodel = "a"\nupstream = "http://127.0.0.1:9/v1"\n', encoding="utf-8")
    async with gateway(config=config, without_upstream=True) as one:
        status, body = await one.post(asking(model="x" * 100_000))
        assert status == 404
        assert len(body) < 1000


@pytest.mark.parametrize("stream", [False, True])
@running
async def test_an_error_of_ours_is_in_the_stream_and_not_behind_it(
    stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("sk-secret")

    monkeypatch.setattr("wirecall._gateway.items.ItemListener.feed", broken)
    monkeypatch.setattr("wirecall._gateway.items.ItemListener.whole", broken)

    async def script(request: Any, seen: Seen) -> Any:
        made = {"id": "r1", "status": "completed", "output": []}
        if not stream:
            return web.json_response(made)
        response = await streaming(request)
        for kind in ("created", "completed"):
            data = json.dumps({"type": f"response.{kind}", "sequence_number": 0, "response": made})
            await response.write(f"event: response.{kind}\ndata: {data}\n\n".encode())
        return response

    tools = [{"type": "function", **TOOL["function"]}]
    async with gateway(script) as one:
        body = {"model": "m", "input": "x", "stream": stream, "tools": tools}
        status, said = await one.post(body, "/responses")
        assert status == (200 if stream else 500)
        assert b"HTTP/1.1" not in said
        assert b"sk-secret" not in said
        last = events(said)[-1] if stream else json.loads(said)["error"]
        assert "the gateway failed" in last["message"]


@running
async def test_usage_that_cannot_be_added_ends_nothing() -> None:
    assert sum_usage([{"a": 10**400}, {"a": 1.5}]) == {"a": 10**400}

    async def script(request: Any, seen: Seen) -> Any:
        retried = "tool-error" in str(seen.json["messages"])
        count = b"1.5" if retried else b"9" * 400
        answer = whole(f"Look. {CALL}" if retried else BAD)
        return web.Response(
            body=answer.body.replace(b'"prompt_tokens": 7', b'"prompt_tokens": ' + count),
            content_type="application/json",
        )

    async with gateway(script) as one:
        status, body = await one.post(asking())
        assert status == 200
        assert b"tool_calls" in body
        found = await one.metrics()
        assert found['wirecall_requests_total{api="chat",outcome="calls",route="default"}'] == 1
        assert found['wirecall_tokens_total{direction="output",route="default"}'] == 6


@running
async def test_a_request_without_tools_has_no_stop_sequence_of_ours() -> None:
    async with gateway() as one:
        body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
        await one.post(body, "/messages")
        assert one.upstream.seen[-1].json == body


@running
async def test_an_upstream_that_reads_nothing_is_late() -> None:
    over = asyncio.Event()
    gone = asyncio.Event()

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.transport.abort()
        with suppress(ConnectionError):
            await writer.wait_closed()
        gone.set()

    server = await asyncio.start_server(never, "127.0.0.1", 0, limit=1024)
    port = server.sockets[0].getsockname()[1]
    try:
        async with gateway(target=f"http://127.0.0.1:{port}/v1", limits={"silence_seconds": 0.3}) as one:
            body = io.BytesIO(json.dumps(asking("x" * (20 << 20))).encode())
            assert (await one.ask("POST", "/chat/completions", data=body))[0] == 504
    finally:
        over.set()
        await gone.wait()
        server.close()


@running
async def test_a_client_that_reads_nothing_loses_its_place() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        response = await streaming(request)
        while True:
            await response.write(event({"content": "word " * 20_000}))

    async with gateway(script, limits={"silence_seconds": 0.5, "streams": 1}) as one:
        host, _, port = one.url.removeprefix("http://").removesuffix("/v1").partition(":")
        _, writer = await asyncio.open_connection(host, int(port), limit=1024)
        body = json.dumps(asking(stream=True)).encode()
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        writer.write(head + b"content-length: %d\r\n\r\n" % len(body) + body)
        while not one.upstream.running:
            await asyncio.sleep(0.01)
        await one.upstream.idle()
        writer.transport.abort()
        with suppress(ConnectionError):
            await writer.wait_closed()


@pytest.mark.parametrize("stream", [False, True])
@running
async def test_a_compressed_answer_is_inflated_in_small_pieces(stream: bool) -> None:
    bomb = gzip.compress(b"x" * (200 << 20), 1)

    async def script(request: Any, seen: Seen) -> Any:
        kind = "text/event-stream" if stream else "application/json"
        headers = {"content-type": kind, "content-encoding": "gzip"}
        return web.Response(body=bomb, headers=headers)

    async with gateway(script) as one:
        status, body = await one.post(asking(stream=stream))
        assert len(body) < 1000
        assert (status, "longer than" in body.decode()) == (200 if stream else 502, True)


@pytest.mark.parametrize(
    ("coding", "body"),
    [("br", b"x"), ("gzip, gzip", b"x"), ("gzip", b"no gzip"), ("gzip", gzip.compress(b"{}" * 99)[:-9])],
    ids=["br", "twice", "no gzip", "cut"],
)
@running
async def test_answers_that_cannot_be_inflated_are_502(coding: str, body: bytes) -> None:
    async def script(request: Any, seen: Seen) -> Any:
        headers = {"content-type": "application/json", "content-encoding": coding}
        return web.Response(body=body, headers=headers)

    async with gateway(script) as one:
        assert (await one.post(asking()))[0] == 502


@running
async def test_deflate_is_read() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        body = zlib.compress(whole(CALL).body)  # type: ignore[arg-type]
        headers = {"content-type": "application/json", "content-encoding": "deflate"}
        return web.Response(body=body, headers=headers)

    async with gateway(script) as one:
        assert b"tool_calls" in (await one.post(asking()))[1]


@running
async def test_what_a_server_says_of_its_own_name_is_not_passed_on() -> None:
    headers = {
        "strict-transport-security": "max-age=1",
        "clear-site-data": '"*"',
        "access-control-allow-origin": "*",
        "content-digest": "sha-256=:x:",
    }

    async def script(request: Any, seen: Seen) -> Any:
        assert not {"if-none-match", "if-modified-since"} & seen.headers.keys()
        return web.Response(body=b"{}", headers={**headers, "content-type": "application/json"})

    async with gateway(script) as one:
        sent = {"if-none-match": "x", "if-modified-since": "x"}
        for body in (asking(), {"model": "m", "messages": []}):
            _, _, back = await one.ask("POST", "/chat/completions", json=body, headers=sent)
            assert not headers.keys() & {name.lower() for name in back}


@running
async def test_images_and_links_of_pages_are_refused() -> None:
    async with gateway() as one:
        for site, status in (("cross-site", 403), ("same-site", 403), ("none", 200), ("same-origin", 200)):
            assert (await one.ask("GET", "/models", headers={"sec-fetch-site": site}))[0] == status


@running
async def test_odd_values_are_no_failures_of_the_gateway() -> None:
    filler = "x" * 40_000
    tools = [{"type": "function", **TOOL["function"]}]

    def deep(body: Any) -> bytes:
        return json.dumps(body).replace('"DEEP"', "[" * 950 + "]" * 950).encode()

    async with gateway() as one:
        said = [{"role": "user", "content": filler}, {"type": "item_reference", "id": "DEEP"}]
        given = [("/responses", {"model": "m", "input": said, "tools": tools})]
        given.append(("/chat/completions", asking(filler, tool_choice="DEEP")))
        given += [("/chat/completions", asking(model=model)) for model in (None, 7, [], {}, "DEEP")]
        for path, body in given:
            status, _, _ = await one.ask("POST", path, data=deep(body))
            assert status in (200, 400)


@running
async def test_a_record_comes_for_each_client_that_leaves() -> None:
    """Also while a large request is rewritten in a thread, and before the first byte is sent."""

    async def script(request: Any, seen: Seen) -> Any:
        response = await streaming(request)
        await asyncio.sleep(0.02)
        await response.write(event({"content": "Hm."}))
        await asyncio.sleep(0.02)
        return response

    async with gateway(script) as one:
        history = [{"role": "user", "content": f"{number} " + "x" * 500} for number in range(400)]
        body = asking(stream=True, messages=history)

        async def leaving(seconds: float) -> None:
            task = asyncio.create_task(one.post(body))
            await asyncio.sleep(seconds)
            task.cancel()
            await asyncio.wait({task})

        await asyncio.gather(*(leaving(0.01 * number) for number in range(40)))
        await one.upstream.idle()

        async def counts() -> tuple[float, float, float]:
            found = await one.metrics()
            opened = found.get('wirecall_open_seconds_count{route="default"}', 0)
            ended = sum(n for name, n in found.items() if name.startswith("wirecall_requests_total"))
            return opened, ended, found.get('wirecall_streams{route="default"}', 0)

        for _ in range(500):
            opened, ended, streams = await counts()
            if ended >= opened and not streams:
                break
            await asyncio.sleep(0.01)
        # Those that left during the rewriting have a record, too, and are not counted as opened.
        assert ended >= opened > 0
        assert streams == 0


@pytest.mark.parametrize(
    "host",
    ["[::1].evil.com", "127.0.0.1:@evil.com", "localhost:80@evil.com", "[::1]x", "::1:80:x", "[[::1]]"],
)
def test_only_whole_names_are_names(host: str) -> None:
    assert not is_loopback(host)
    assert host_name(host) == host


@running
async def test_the_option_key_of_a_body_does_not_pass_where_nothing_is_rewritten(tmp_path: Any) -> None:
    config = tmp_path / "routes.toml"
    config.write_text('[[route]]\nmodel = "*"\nnative = true\n', encoding="utf-8")
    async with gateway(config=config) as one:
        await one.post(asking(wirecall={"debug": True}))
        assert one.upstream.seen[-1].json == asking()
