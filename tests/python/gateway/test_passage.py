"""What passes through the gateway, one thing at a time: headers, keys, paths, errors of each API."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectionResetError, ClientError, web
from gateway_support import (
    BAD,
    CALL,
    TOOL,
    Running,
    Seen,
    asking,
    call,
    event,
    events,
    gateway,
    running,
    scripted,
    streaming,
    whole,
)

from wirecall._gateway.gateway import Gateway
from wirecall._gateway.items import ItemMemory
from wirecall._gateway.limits import Limits

KEY, REAL = "gateway-key-1", "sk-real-key"
PLAIN: dict[str, Any] = {"model": "m", "messages": []}
# Each with a value that aiohttp's client lets through.
DROPPED = {
    **dict.fromkeys(["connection", "keep-alive", "proxy-authenticate", "proxy-connection"], "x"),
    **dict.fromkeys(["te", "trailer", "via", "upgrade", "proxy-authorization", "cookie"], "x"),
    **dict.fromkeys(["forwarded", "referer", "x-real-ip", "x-forwarded-host", "sec-ch-ua"], "x"),
    **dict.fromkeys(["if-none-match", "if-modified-since"], "x"),
    "expect": "100-continue",
    "accept-encoding": "br",
}
NOT_RETURNED = {
    **dict.fromkeys(["connection", "keep-alive", "proxy-authenticate", "proxy-connection"], "x"),
    **dict.fromkeys(["te", "trailer", "via", "upgrade", "set-cookie", "alt-svc"], "x"),
    **dict.fromkeys(["strict-transport-security", "clear-site-data", "access-control-allow-origin"], "x"),
    **dict.fromkeys(["content-digest", "content-md5", "digest", "repr-digest"], "x"),
    "server": "the upstream's",
    "date": "Thu, 01 Jan 1970 00:00:00 GMT",
}


def error_of(body: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(body)["error"]
    return found


@pytest.mark.parametrize("name", [name for name in DROPPED if name != "connection"])
@running
async def test_headers_that_are_not_passed_on(name: str) -> None:
    async with gateway() as one:
        for body in (asking(), PLAIN):
            await one.post(body, headers={name: DROPPED[name]})
            sent = one.upstream.seen[-1]
            if name == "accept-encoding":
                assert sent.headers[name] == "identity"
                assert sent.names.count(name) == 1
            else:
                assert sent.headers.get(name) is None


@running
async def test_the_upstream_is_asked_by_its_own_name_and_pages_stay_here() -> None:
    page = "https://page.example"
    async with gateway(origins=frozenset({page}), hosts=frozenset({"gateway.internal"})) as one:
        await one.post(asking(), headers={"origin": page, "host": "gateway.internal"})
        sent = one.upstream.seen[-1]
        assert sent.headers["host"].startswith("127.0.0.1:")
        assert sent.names.count("host") == 1
        assert "origin" not in sent.headers


@running
async def test_nothing_is_added_to_what_a_client_sent() -> None:
    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n"
    body = json.dumps(asking()).encode()
    async with gateway() as one:
        await one.raw(head + b"content-length: %d\r\n\r\n" % len(body) + body)
        assert {*one.upstream.seen[-1].names} == {"host", "accept-encoding", "content-length"}


@pytest.mark.parametrize("name", NOT_RETURNED)
@running
async def test_headers_that_are_not_returned(name: str) -> None:
    async def script(request: Any, seen: Seen) -> Any:
        answer = whole("Hi.")
        answer.headers[name] = NOT_RETURNED[name]
        return answer

    async with gateway(script) as one:
        for body in (asking(), PLAIN):
            _, _, back = await one.ask("POST", "/chat/completions", json=body)
            assert back.get(name) != NOT_RETURNED[name]


@running
async def test_streams_are_not_held_back_and_pages_learn_what_varies() -> None:
    page = "https://page.example"

    async def script(request: Any, seen: Seen) -> Any:
        response = await streaming(request, vary="accept", **{"cache-control": "public"})
        await response.write(event({"content": "Hi."}) + event({}, "stop") + b"data: [DONE]\n\n")
        return response

    async with gateway(script, origins=frozenset({page})) as one:
        for body in (asking(stream=True), {**PLAIN, "stream": True}):
            async with one.session.post(
                f"{one.url}/chat/completions", json=body, headers={"origin": page}
            ) as answer:
                assert answer.headers["cache-control"] == "no-cache"
                assert answer.headers["x-accel-buffering"] == "no"
                assert answer.headers.getall("vary") == ["accept", "origin"]
        sent = {"origin": page, "access-control-request-headers": "x-own"}
        _, _, back = await one.ask("OPTIONS", "/chat/completions", headers=sent)
        assert back["access-control-allow-headers"] == "x-own"


# Keys -------------------------------------------------------------------------------------------


@running
async def test_a_key_goes_where_the_client_sent_its_own_or_where_the_api_has_it() -> None:
    async with gateway(key=REAL) as one:
        messages = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
        for path, body, headers, name in (
            ("/chat/completions", asking(), {}, "authorization"),
            ("/messages", messages, {}, "x-api-key"),
            ("/messages", messages, {"authorization": "Bearer a"}, "authorization"),
            ("/chat/completions", asking(), {"x-api-key": "a"}, "x-api-key"),
        ):
            await one.post(body, path, headers=headers)
            sent = one.upstream.seen[-1].headers
            found = {key: value for key, value in sent.items() if key in ("authorization", "x-api-key")}
            assert found == {name: REAL if name == "x-api-key" else f"Bearer {REAL}"}


@running
async def test_keys_are_read_as_servers_read_them() -> None:
    async with gateway(keys=(KEY, "schlüssel")) as one:
        for value, status in (
            (f"Bearer  {KEY} ", 200),
            (f"BEARER {KEY}", 200),
            (KEY, 401),
            (f"Bearer {KEY}x", 401),
        ):
            assert (await one.post(asking(), headers={"authorization": value}))[0] == status
        head = b"GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: "
        assert b" 401 " in await one.raw(head + b"\xff\r\n\r\n")
        assert b" 200 " in await one.raw(head + "schlüssel".encode() + b"\r\n\r\n")
        # A preflight has no key; anything else without one is refused.
        assert (await one.ask("OPTIONS", "/chat/completions"))[0] == 401


@running
async def test_hosts_have_no_letter_case_and_none_matters_if_the_gateway_is_open() -> None:
    async with gateway() as one:
        assert (await one.ask("GET", "/models", headers={"host": "LOCALHOST:80"}))[0] == 200
    async with gateway(open=True) as one:
        assert (await one.ask("GET", "/models", headers={"host": "any.example"}))[0] == 200
    async with gateway(hosts=frozenset({"admin.internal"})) as one:
        for host, status in (
            ("192.0.2.1:4301", 200),
            ("[2001:db8::1]", 200),
            ("admin.internal", 200),
            ("x", 403),
        ):
            async with one.session.get(one.admin + "/metrics", headers={"host": host}) as answer:
                assert answer.status == status


# Paths, routes, bodies --------------------------------------------------------------------------


@running
async def test_only_what_is_served_is_served() -> None:
    async with gateway(paths=("/embeddings",)) as one:
        base = one.url.removesuffix("/v1")
        for method, url in (
            ("GET", f"{one.url}/chat/completions"),
            ("POST", f"{base}/chat/completions"),
            ("POST", f"{one.url}/v1/chat/completions"),
            ("POST", f"{one.url}/models"),
            ("POST", f"{one.url}/embeddings/x"),
        ):
            async with one.session.request(method, url, json=asking()) as answer:
                assert answer.status == 404
        for body in (b"[]", b"", b"{", b'"x"', b"{} {}", b"\xff"):
            status, said, _ = await one.ask("POST", "/chat/completions", data=body)
            assert (status, error_of(said)["code"]) == (400, "body")
        assert one.upstream.seen == []
        headers = {"content-encoding": "Identity"}
        assert (await one.ask("POST", "/chat/completions", json=asking(), headers=headers))[0] == 200


@running
async def test_what_has_no_model_goes_to_the_default(tmp_path: Path) -> None:
    async with scripted() as (first, first_url), scripted() as (second, second_url):
        config = tmp_path / "routes.toml"
        routes = "".join(
            f'[[route]]\nmodel = "{model}"\nupstream = "{url}"\n'
            for model, url in (("a*", first_url), ("b*", second_url))
        )
        config.write_text(routes, encoding="utf-8")
        async with gateway(config=config) as one:
            await one.ask("GET", "/models")
            assert (len(one.upstream.seen), len(first.seen), len(second.seen)) == (1, 0, 0)
        async with gateway(config=config, without_upstream=True) as one:
            await one.ask("GET", "/models")
            assert (len(first.seen), len(second.seen)) == (1, 0)
            status, said = await one.post(asking(model="c"))
            assert (status, error_of(said)["code"]) == (404, "model")


@running
async def test_a_native_route_gets_the_items_that_a_request_refers_to(tmp_path: Path) -> None:
    item = {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi"}],
    }

    async def script(request: Any, seen: Seen) -> Any:
        status = 400 if seen.json["input"] == "fail" else 200
        return web.json_response({"id": "r", "status": "completed", "output": [item]}, status=status)

    config = tmp_path / "routes.toml"
    config.write_text('[[route]]\nmodel = "native"\nnative = true\n', encoding="utf-8")
    reference = {"type": "item_reference", "id": "m1"}
    async with gateway(script, config=config) as one:
        # What comes with an error is not remembered.
        await one.post({"model": "m", "input": "fail"}, "/responses")
        await one.post({"model": "native", "input": [reference]}, "/responses")
        assert one.upstream.seen[-1].json["input"] == [reference]
        await one.post({"model": "m", "input": "x"}, "/responses")
        # Only references are replaced.
        own = {**item, "content": []}
        await one.post({"model": "native", "input": [own, reference]}, "/responses")
        assert one.upstream.seen[-1].json["input"] == [own, item]


def test_items_that_are_used_are_kept_longest() -> None:
    memory, other = ItemMemory(3, 10_000), ItemMemory(3, 10_000)
    owner = memory.owner(["k"])
    # Hashes of keys are of one process only.
    assert owner != other.owner(["k"])

    def there(id: str) -> bool:
        return bool(memory.find(owner, {"input": [{"type": "item_reference", "id": id}]}))

    for id in ("a", "b", "c"):
        memory.keep(owner, {"id": id})
    assert there("a")
    memory.keep(owner, {"id": "d"})
    assert [there(id) for id in ("a", "b", "c", "d")] == [True, False, True, True]
    for _ in range(1000):
        memory.keep(owner, {"id": "d", "text": "x" * 100})
    assert [there(id) for id in ("a", "c", "d")] == [True, True, True]


# Answers ----------------------------------------------------------------------------------------


@running
async def test_token_counts_pass_byte_for_byte() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        return web.Response(body=b'{ "input_tokens" : 7 }', content_type="application/json")

    function = TOOL["function"]
    tool = {"name": function["name"], "input_schema": function["parameters"]}
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": [tool]}
    async with gateway(script) as one:
        _, said = await one.post(body, "/messages/count_tokens")
        assert said == b'{ "input_tokens" : 7 }'
        assert "get_weather city" in one.upstream.seen[-1].json["system"]


@running
async def test_an_error_that_is_called_a_stream_is_an_error() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        return web.Response(status=500, body=b"data: boom\n\n", content_type="text/event-stream")

    async with gateway(script) as one:
        for body in (asking(stream=True), {**PLAIN, "stream": True}):
            assert await one.post(body) == (500, b"data: boom\n\n")


@running
async def test_an_error_of_a_retry_that_is_called_a_stream_is_an_error() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        if "tool-error" in str(seen.json["messages"]):
            return web.Response(status=429, body=b"slow down", content_type="text/event-stream")
        response = await streaming(request)
        await response.write(event({"content": BAD}) + event({}, "stop") + b"data: [DONE]\n\n")
        return response

    async with gateway(script) as one:
        _, body = await one.post(asking(stream=True))
        assert "429: slow down" in events(body)[-1]["error"]["message"]


@running
async def test_a_client_that_is_gone_before_the_head_has_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    async def gone(*_: Any) -> None:
        raise ClientConnectionResetError

    async with gateway() as one:
        with monkeypatch.context() as patched:
            patched.setattr(web.StreamResponse, "prepare", gone)
            with pytest.raises(ClientError):
                await one.post(asking(stream=True))
        found = await one.metrics()
        assert sum(n for name, n in found.items() if name.startswith("wirecall_requests_total")) == 1


@running
async def test_a_web_page_is_no_answer() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        return web.Response(body=b"<html>", content_type="text/html")

    async with gateway(script) as one:
        for stream in (False, True):
            status, said = await one.post(asking(stream=stream))
            assert status == 502
            assert "with /v1 at its end" in error_of(said)["message"]


@running
async def test_a_whole_answer_that_is_cut_off_is_no_answer() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        response = web.StreamResponse(headers={"content-type": "application/json", "content-length": "100"})
        await response.prepare(request)
        await response.write(b'{"choices": []')
        request.transport.abort()
        return response

    async with gateway(script, options={"reasoning": "content"}) as one:
        assert (await one.post(asking()))[0] == 502
        with pytest.raises(Exception, match=r"(?i)payload|closed|reset|disconnect"):
            await one.ask("GET", "/models")


@running
async def test_an_error_that_is_raised_is_the_last_event() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        response = await streaming(request)
        await response.write(event({"content": BAD}) + event({}, "stop") + b"data: [DONE]\n\n")
        return response

    async with gateway(script, options={"on_error": "raise"}) as one:
        status, body = await one.post(asking(stream=True))
        assert status == 200
        assert events(body)[-1]["error"]["type"] == "invalid_tool_call"


@running
async def test_errors_have_the_types_of_their_api() -> None:
    async def checked(one: Running, path: str, status: int, kind: str, code: str | None, **more: Any) -> None:
        found, said, _ = await one.ask("POST", path, **more)
        error = error_of(said)
        assert (found, error["type"], error.get("code")) == (status, kind, code)

    compressed = {"data": b"{}", "headers": {"content-encoding": "gzip"}}
    async with gateway(limits={"body_bytes": 10}) as one:
        chat, messages = "/chat/completions", "/messages"
        await checked(one, chat, 415, "invalid_request_error", "compressed", **compressed)
        await checked(one, messages, 415, "invalid_request_error", None, **compressed)
        await checked(one, chat, 413, "invalid_request_error", "body_size", data=b"x" * 20)
        await checked(one, messages, 413, "request_too_large", None, data=b"x" * 20)
        found = await one.metrics()
        assert found['wirecall_refused_total{reason="body_size"}'] == 2
        assert found['wirecall_refused_total{reason="compressed"}'] == 2
    async with gateway(limits={"streams": 0}) as one:
        await checked(one, chat, 503, "api_error", "busy", json=asking())
        await checked(one, messages, 503, "overloaded_error", None, json=asking())


@running
async def test_each_request_has_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    async def script(request: Any, seen: Seen) -> Any:
        said = str(seen.json["messages"][-1]["content"])
        if said == "401":
            return web.json_response({"error": {"message": "no"}}, status=401)
        hermes = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
        return whole(CALL if said == "call" else hermes)

    async with gateway(script) as one:
        for said in ("call", "401", "hermes"):
            await one.post(asking(said))
        await one.post(asking(wirecall={"debug": True}))
        await one.post(asking(), "/nothing")
        found = await one.metrics()
    lines = [record.getMessage() for record in caplog.records if record.name == "wirecall.gateway"]
    assert "calls; tools called: get_weather" in lines[0]
    assert lines[1].endswith("status 401")
    assert "looks like a call in the format hermes" in lines[2]
    assert "default: refused: the body's key" in lines[4]
    assert "refused: POST /v1/nothing" in lines[5]
    assert found['wirecall_requests_total{api="chat",outcome="refused",route="default"}'] == 1


# The HTTP client and the process ----------------------------------------------------------------


@running
async def test_the_client_of_upstreams_takes_nothing_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)

    async def script(request: Any, seen: Seen) -> Any:
        answer = await call(request, seen)
        answer.headers["set-cookie"] = "a=b"
        return answer

    # aiohttp keeps no cookies of addresses.
    async with (
        scripted(script) as (upstream, url),
        gateway(target=url.replace("127.0.0.1", "localhost")) as one,
    ):
        for _ in range(2):
            assert (await one.post(asking()))[0] == 200
        assert "cookie" not in upstream.seen[-1].headers


@running
async def test_the_limits_of_the_client_are_those_of_the_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Gateway] = []
    original = Gateway.__init__

    def keeping(self: Gateway, *given: Any, **named: Any) -> None:
        original(self, *given, **named)
        made.append(self)

    monkeypatch.setattr(Gateway, "__init__", keeping)
    async with gateway(limits={"connect_seconds": 3.0, "silence_seconds": 7.0}):
        session = made[0]._client._session
        assert (session.timeout.sock_connect, session.timeout.sock_read, session.timeout.total) == (
            3.0,
            7.0,
            None,
        )
        # Less than the five seconds of uvicorn.
        assert session.connector is not None
        assert session.connector._keepalive_timeout < 5  # type: ignore[attr-defined]
        assert sys.getswitchinterval() < 0.001
    assert sys.getswitchinterval() > 0.001
    assert Limits().silence_seconds == 600


@running
async def test_the_gateway_listens_on_ipv6() -> None:
    async with gateway(host="::1", admin_host="[::1]") as one:
        assert one.url.startswith("http://[::1]:")
        assert (await one.post(asking()))[0] == 200
        assert await one.metrics()
