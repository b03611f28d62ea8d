"""Who may ask, for what, and what passes: each rule of docs/gateway.md that is not about a fault."""

import asyncio
import gzip
import json
from typing import Any

import pytest
from gateway_support import (
    ARGUMENTS,
    BAD,
    TOOL,
    Running,
    Seen,
    asking,
    call,
    deltas,
    gateway,
    running,
    whole,
)

from wirecall._gateway.errors import ConfigError
from wirecall._gateway.guard import Guard
from wirecall._gateway.server import GatewaySettings

KEY, OTHER, REAL = "gateway-key-1", "gateway-key-2", "sk-real-upstream-key"


def refusal(body: bytes) -> tuple[str, str]:
    error = json.loads(body)["error"]
    return error["type"], error["message"]


# Calls ------------------------------------------------------------------------------------------


@running
async def test_a_call_comes_whole_and_streamed() -> None:
    async with gateway() as one:
        status, body = await one.post(asking())
        message = json.loads(body)["choices"][0]["message"]
        assert status == 200
        assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == ARGUMENTS
        assert "<call>" not in body.decode()
        status, body = await one.post(asking(stream=True))
        called = [one["tool_calls"][0]["function"] for one in deltas(body) if "tool_calls" in one]
        assert json.loads("".join(part.get("arguments", "") for part in called)) == ARGUMENTS
        assert b"<call>" not in body
        for seen in one.upstream.seen:
            assert "tools" not in seen.json
            assert "get_weather city days?:int" in seen.json["messages"][0]["content"]


@running
async def test_reasoning_is_beside_the_answer() -> None:
    async def script(*_: Any) -> Any:
        return whole("<think>They ask.</think>Yes.")

    async with gateway(script) as one:
        message = json.loads((await one.post(asking()))[1])["choices"][0]["message"]
        assert (message["reasoning_content"], message["content"]) == ("They ask.", "Yes.")


@running
async def test_tools_that_are_not_functions_are_dropped() -> None:
    async with gateway() as one:
        tools = [{"type": "web_search"}, {"type": "namespace", "name": "mcp", "tools": []}]
        for given in (tools, [*tools, TOOL]):
            choice = {"type": "web_search"}
            assert (await one.post(asking(tools=given, tool_choice=choice)))[0] == 200
            assert not {"tools", "tool_choice"} & one.upstream.seen[-1].json.keys()


@running
async def test_what_needs_no_change_passes_byte_for_byte() -> None:
    async with gateway() as one:
        written = b'{ "model" : "m",\n "messages":[{"role":"user","content":"\\u00e9"}], "x": 1.50 }'
        await one.ask("POST", "/chat/completions?a=1&b=%2f", data=written)
        assert one.upstream.seen[-1].body == written
        assert one.upstream.seen[-1].path == "/v1/chat/completions?a=1&b=%2f"


@running
async def test_options_of_clients_are_refused_unless_they_are_listed() -> None:
    async with gateway(accepted=frozenset({"on_error"})) as one:
        for name, value in (
            ("debug", True),
            ("record_content", True),
            ("max_retries", 9),
            ("limits", {"calls": 9}),
        ):
            status, body = await one.post(asking(wirecall={"on_error": "text", name: value}))
            assert status == 400
            assert name in refusal(body)[1]
        assert one.upstream.seen == []
        assert (await one.post(asking(wirecall={"on_error": "text"})))[0] == 200
        assert "wirecall" not in one.upstream.seen[-1].json


# Keys, hosts, origins ---------------------------------------------------------------------------


@running
async def test_the_keys_of_clients_are_passed_on_by_default() -> None:
    async with gateway() as one:
        for headers in ({"authorization": "Bearer mine"}, {"x-api-key": "mine"}):
            await one.post(asking(), headers=headers)
            assert headers.items() <= one.upstream.seen[-1].headers.items()


@running
async def test_the_keys_of_the_gateway_are_demanded_and_never_leave_it() -> None:
    async with gateway(keys=(KEY, OTHER)) as one:
        for headers in (
            {},
            {"authorization": "Bearer no"},
            {"authorization": f"Basic {KEY}"},
            {"x-api-key": "\udcff"},
        ):
            status, body = await one.post(asking(), headers=headers)
            assert (status, refusal(body)[0]) == (401, "authentication_error")
        assert one.upstream.seen == []
        for headers in (
            {"authorization": f"Bearer {KEY}"},
            {"x-api-key": OTHER},
            {"authorization": f"bearer {OTHER}"},
        ):
            for path, body in (("/chat/completions", asking()), ("/models", None)):
                method = "GET" if body is None else "POST"
                status, _, _ = await one.ask(method, path, json=body, headers=headers)
                assert status == 200
                sent = one.upstream.seen[-1]
                assert not {"authorization", "x-api-key"} & sent.headers.keys()
                assert KEY not in str(sent)


@running
async def test_a_key_of_the_environment_replaces_those_of_clients() -> None:
    async with gateway(key=REAL, keys=(KEY,)) as one:
        both = {"authorization": f"Bearer {KEY}", "x-api-key": KEY}
        for headers, found in (
            ({"authorization": f"Bearer {KEY}"}, {"authorization": f"Bearer {REAL}"}),
            ({"x-api-key": KEY}, {"x-api-key": REAL}),
            (both, {"x-api-key": REAL}),
        ):
            status, body, back = await one.ask("POST", "/chat/completions", json=asking(), headers=headers)
            assert status == 200
            sent = one.upstream.seen[-1].headers
            assert {name: sent[name] for name in ("authorization", "x-api-key") if name in sent} == found
            assert REAL not in body.decode() + str(back)


def test_keys_are_in_no_repr() -> None:
    settings = GatewaySettings(guard=Guard(keys=(KEY,)), admin_token="token-1234")
    assert KEY not in repr(settings)
    assert "token-1234" not in repr(settings)


@running
async def test_a_name_that_was_bound_to_this_machine_gets_nothing() -> None:
    async with gateway(hosts=frozenset({"gateway.internal"})) as one:
        for host, status in (
            ("evil.example", 403),
            ("evil.example:4300", 403),
            ("127.0.0.1.evil.example", 403),
            ("localhost", 200),
            ("[::1]:4300", 200),
            ("gateway.internal:4300", 200),
        ):
            found = await one.ask("GET", "/models", headers={"host": host})
            assert (host, found[0]) == (host, status)


@running
async def test_web_pages_get_nothing_unless_they_are_listed() -> None:
    page = "https://page.example"
    async with gateway(origins=frozenset({page})) as one:
        for origin, status in ((page, 200), ("https://evil.example", 403), ("null", 403), ("", 403)):
            found = await one.ask("POST", "/chat/completions", json=asking(), headers={"origin": origin})
            assert found[0] == status
            assert found[2].get("access-control-allow-origin") == (page if status == 200 else None)
        sent = {"origin": page, "access-control-request-method": "POST"}
        status, _, headers = await one.ask("OPTIONS", "/chat/completions", headers=sent)
        assert status == 204
        assert headers["access-control-allow-origin"] == page
        assert "POST" in headers["access-control-allow-methods"]
        assert (await one.ask("OPTIONS", "/chat/completions", headers={"origin": "https://evil.example"}))[
            0
        ] == 403


def test_other_addresses_need_keys_or_force() -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.com"):
        with pytest.raises(ConfigError, match="WIRECALL_SERVE_KEYS"):
            GatewaySettings(host=host)
        GatewaySettings(host=host, guard=Guard(keys=(KEY,)))
        GatewaySettings(host=host, guard=Guard(open=True))
        with pytest.raises(ConfigError, match="WIRECALL_SERVE_ADMIN_TOKEN"):
            GatewaySettings(admin_host=host)
    for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost"):
        GatewaySettings(host=host, admin_host=host)


# Paths and headers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/../secret",
        "/%2e%2e/secret",
        "/..%2fsecret",
        "/%2E./secret",
        "/%252e%252e/secret",
        "/./models",
        "//evil/x",
        "/%2f/evil",
        "/x\\..\\y",
        "/x%5c..%5cy",
        "/models/..",
        "/files",
        "/models/",
        "/embeddings/../models",
    ],
)
@running
async def test_paths_lead_nowhere_else(path: str) -> None:
    async with gateway(paths=("/embeddings",)) as one:
        for method in (b"GET", b"POST"):
            head = method + b" /v1" + path.encode() + b" HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n"
            said = await one.raw(head + b"content-length: 2\r\n\r\n{}")
            assert said.split(b" ")[1] == b"404"
        assert one.upstream.seen == []


@running
async def test_other_paths_pass_if_they_are_named() -> None:
    async with gateway(paths=("/embeddings",)) as one:
        assert (await one.ask("POST", "/embeddings?a=..", json={"input": "x"}))[0] == 200
        sent = one.upstream.seen[-1]
        assert (sent.method, sent.path, sent.json) == ("POST", "/v1/embeddings?a=..", {"input": "x"})
        assert (await one.ask("DELETE", "/models"))[0] == 404
        status, body, _ = await one.ask("POST", "/nothing", json={})
        assert (status, refusal(body)[0]) == (404, "not_found_error")


@running
async def test_headers_of_the_way_stay_here() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        answer = whole("Hi.")
        answer.headers.update(
            {
                "set-cookie": "a=b",
                "x-request-id": "r1",
                "retry-after": "3",
                "keep-alive": "timeout=5",
                "openai-processing-ms": "7",
                "connection": "x-of-this-hop",
                "x-of-this-hop": "1",
            }
        )
        return answer

    given = {
        "connection": "keep-alive, x-hop",
        "x-hop": "1",
        "cookie": "session=1",
        "forwarded": "for=1.2.3.4",
        "x-forwarded-for": "1.2.3.4",
        "x-real-ip": "1.2.3.4",
        "sec-fetch-mode": "cors",
        "referer": "http://a",
        "te": "trailers",
        "proxy-authorization": "Basic x",
        "upgrade": "h2c",
        "expect": "100-continue",
        "traceparent": "00-1-2-01",
        "anthropic-beta": "b1",
        "openai-organization": "o1",
        "x-unknown": "u1",
        "user-agent": "my agent",
    }
    async with gateway(script) as one:
        for body in (asking(), {"model": "m", "messages": []}):
            status, _, back = await one.ask("POST", "/chat/completions", json=body, headers=given)
            assert status == 200
            sent = one.upstream.seen[-1].headers
            kept = {"traceparent", "anthropic-beta", "openai-organization", "x-unknown", "user-agent"}
            assert {name for name in given if sent.get(name) == given[name]} == kept
            assert sent["accept-encoding"] == "identity"
            assert (back["x-request-id"], back["retry-after"], back["openai-processing-ms"]) == (
                "r1",
                "3",
                "7",
            )
            assert not {"set-cookie", "keep-alive", "x-of-this-hop"} & {name.lower() for name in back}


# Limits -----------------------------------------------------------------------------------------


@running
async def test_bodies_have_a_size() -> None:
    async with gateway(limits={"body_bytes": 1000}) as one:
        long = json.dumps(asking("x" * 2000)).encode()

        async def pieces() -> Any:
            for at in range(0, len(long), 100):
                yield long[at : at + 100]

        for data in (long, pieces()):
            status, body, _ = await one.ask("POST", "/chat/completions", data=data)
            assert status == 413
            assert "1000 bytes" in refusal(body)[1]
        assert one.upstream.seen == []


@running
async def test_compressed_bodies_are_not_read() -> None:
    bomb = gzip.compress(b'{"a":"' + b"x" * (10 << 20) + b'"}')
    async with gateway() as one:
        for coding in ("gzip", "GZIP", "deflate", "br", "identity, gzip"):
            status, body, _ = await one.ask(
                "POST", "/messages", data=bomb, headers={"content-encoding": coding}
            )
            assert status == 415
            assert "without content-encoding" in refusal(body)[1]
        assert one.upstream.seen == []


@running
async def test_slow_bodies_and_headers_are_cut_off() -> None:
    limits = {"body_seconds": 0.3, "header_seconds": 0.3}
    async with gateway(limits=limits) as one:
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        assert b" 408 " in await one.raw(head + b"content-length: 1000\r\n\r\n{")
        # The connection is closed, and nothing of it reached the upstream.
        await one.raw(b"POST /v1/chat/completions HTTP/1.1\r\nx-slow: ")
        assert one.upstream.seen == []


@running
async def test_streams_have_a_number() -> None:
    release = asyncio.Event()

    async def script(request: Any, seen: Seen) -> Any:
        await release.wait()
        return await call(request, seen)

    async with gateway(script, limits={"streams": 2}) as one:
        tasks = [asyncio.create_task(one.post(asking())) for _ in range(2)]
        while one.upstream.running < 2:
            await asyncio.sleep(0.01)
        status, body, headers = await one.ask("POST", "/chat/completions", json=asking())
        assert (status, headers["retry-after"]) == (503, "1")
        assert "too many requests" in refusal(body)[1]
        release.set()
        assert [status for status, _ in await asyncio.gather(*tasks)] == [200, 200]
        assert (await one.post(asking()))[0] == 200


@running
async def test_answers_have_a_size() -> None:
    async def script(*_: Any) -> Any:
        return whole("x" * 5000)

    async with gateway(script, limits={"answer_bytes": 1000}) as one:
        status, body = await one.post(asking())
        assert status == 502
        assert "longer than 1000 bytes" in refusal(body)[1]


# The admin port ---------------------------------------------------------------------------------


async def admin(one: Running, **headers: str) -> int:
    async with one.session.get(one.admin + "/metrics", headers=headers) as answer:
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        return answer.status


@running
async def test_the_admin_port_answers_no_other_page() -> None:
    async with gateway() as one:
        own = one.admin
        assert await admin(one) == 200
        assert await admin(one, origin=own) == 200
        assert await admin(one, **{"sec-fetch-site": "same-origin"}) == 200
        for headers in (
            {"host": "evil.example"},
            {"origin": "http://evil.example"},
            {"origin": "null"},
            {"origin": one.url.removesuffix("/v1")},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
        ):
            assert await admin(one, **headers) == 403
    async with gateway(admin_host="127.0.0.2", admin_token="token-1234") as one:
        assert await admin(one) == 401
        assert await admin(one, authorization="Bearer token-9999") == 401
        assert await admin(one, authorization="Bearer token-1234") == 200


@running
async def test_nothing_of_the_admin_port_is_on_the_other_one() -> None:
    async with gateway() as one:
        async with one.session.get(one.url.removesuffix("/v1") + "/metrics") as answer:
            assert answer.status == 404
        for path, said in (("/healthz", "ok\n"), ("/readyz", "ok\n")):
            async with one.session.get(one.url.removesuffix("/v1") + path) as answer:
                assert (answer.status, await answer.text()) == (200, said)


@running
async def test_metrics_count_what_happened_and_name_no_client() -> None:
    secret = "sk-secret-of-a-client"

    async def script(request: Any, seen: Seen) -> Any:
        said = str(seen.json["messages"])
        if "tool-error" in said:
            return await call(request, seen)
        return whole(BAD if "retry" in said else "<call>get_weather city = Oslo</call>")

    async with gateway(script) as one:
        headers = {"authorization": f"Bearer {secret}"}
        for said in ("retry", "repair", "repair"):
            assert (await one.post(asking(said, model="model-of-a-client"), headers=headers))[0] == 200
        assert (await one.post({"model": "m", "messages": []}, headers=headers))[0] == 200
        assert (await one.post(asking(), headers={"origin": "http://evil.example"}))[0] == 403
        found = await one.metrics()
        assert found['wirecall_requests_total{api="chat",outcome="calls",route="default"}'] == 3
        assert found['wirecall_requests_total{api="chat",outcome="text",route="default"}'] == 1
        assert found['wirecall_calls_total{route="default"}'] == 3
        assert found['wirecall_call_errors_total{kind="malformed_call",route="default"}'] == 1
        assert found['wirecall_retries_total{reason="retry",route="default"}'] == 1
        assert sum(value for name, value in found.items() if name.startswith("wirecall_repairs_total{")) == 2
        assert found['wirecall_tokens_total{direction="input",route="default"}'] == 7 * 5
        assert found['wirecall_tokens_total{direction="output",route="default"}'] == 3 * 5
        assert found['wirecall_refused_total{reason="origin"}'] == 1
        assert found['wirecall_streams{route="default"}'] == 0
        assert found['wirecall_open_seconds_count{route="default"}'] == 4
        assert found['wirecall_first_byte_seconds_count{route="default"}'] == 4
        names = " ".join(found)
        for word in (secret, "model-of-a-client", "get_weather"):
            assert word not in names
