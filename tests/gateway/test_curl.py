"""curl through the gateway: the bytes of an answer with a call."""

import json
import re
import subprocess
from typing import Any

import pytest
from upstream import PROMPT, TOOLS, Upstream

from wirecall_bench.gateway.processes import GatewayProcess

TIMEOUT = 60  # seconds
NAME = "get_weather"
SCHEMA = TOOLS[NAME]
MESSAGES = [{"role": "user", "content": PROMPT}]

BODIES: dict[str, dict[str, Any]] = {
    "chat/completions": {
        "messages": MESSAGES,
        "tools": [{"type": "function", "function": {"name": NAME, "parameters": SCHEMA}}],
    },
    "responses": {
        "input": PROMPT,
        "tools": [{"type": "function", "name": NAME, "parameters": SCHEMA, "strict": False}],
    },
    "messages": {
        "max_tokens": 500,
        "messages": MESSAGES,
        "tools": [{"name": NAME, "input_schema": SCHEMA}],
    },
}
# What an answer with a call contains.
SIGNS = {
    "chat/completions": rb'"finish_reason": ?"tool_calls"',
    "responses": rb'"type": ?"function_call"',
    "messages": rb'"stop_reason": ?"tool_use"',
}
LAST = {
    "chat/completions": b"data: [DONE]\n\n",
    "responses": b"event: response.completed\n",
    "messages": b"event: message_stop\n",
}


def curl(url: str, path: str, body: Any) -> tuple[bytes, bytes]:
    """The headers and the body of the answer."""
    headers = {
        "content-type": "application/json",
        "authorization": "Bearer sk-test",
        "x-api-key": "sk-test",
        "anthropic-version": "2023-06-01",
    }
    command = ["curl", "--silent", "--show-error", "--include", "--no-buffer", "--max-time", str(TIMEOUT)]
    command += ["--noproxy", "*", "--data-binary", "@-"]
    for name, value in headers.items():
        command += ["--header", f"{name}: {value}"]
    done = subprocess.run(
        [*command, f"{url}/v1/{path}"],
        input=json.dumps(body).encode(),
        capture_output=True,
        timeout=2 * TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    return head.lower(), content


def check(url: str, path: str, streamed: bool, model: str) -> tuple[bytes, bytes]:
    body = {"model": model, **BODIES[path], **({"stream": True} if streamed else {})}
    head, content = curl(url, path, body)
    assert head.startswith(b"http/1.1 200"), content
    kind = b"text/event-stream" if streamed else b"application/json"
    assert b"content-type: " + kind in head
    assert re.search(SIGNS[path], content)
    assert b"Let me look." in said(content, streamed)
    for leaked in (b"<call", b"</call", b"object Object", b"tool-error"):
        assert leaked not in content
        assert leaked not in said(content, streamed)
    if streamed:
        assert LAST[path] in content[-content[::-1].index(b"\n\n", 2) :]
    return head, content


def said(content: bytes, streamed: bool) -> bytes:
    """All strings of an answer, joined: what a delta cuts in two is whole."""
    values = []
    if streamed:
        lines = [line.removeprefix(b"data: ") for line in content.splitlines() if line.startswith(b"data: ")]
        values = [json.loads(line) for line in lines if line != b"[DONE]"]
    else:
        values = [json.loads(content)]
    return "".join(texts(values)).encode()


def texts(value: Any) -> list[str]:
    """The strings that may be the model's, in order."""
    if isinstance(value, dict):
        found = []
        for key, item in value.items():
            if isinstance(item, str) and key in ("content", "text", "delta", "arguments", "partial_json"):
                found.append(item)
            else:
                found += texts(item)
        return found
    return [text for item in value for text in texts(item)] if isinstance(value, list) else []


CASES = [
    pytest.param(path, streamed, id=f"{path.partition('/')[0]}-{'streamed' if streamed else 'whole'}")
    for path in BODIES
    for streamed in (False, True)
]


@pytest.mark.parametrize(("path", "streamed"), CASES)
def test_control(path: str, streamed: bool, upstream: Upstream) -> None:
    check(upstream.url, path, streamed, "native")


@pytest.mark.parametrize("model", ["text", "mistaken-first"])
@pytest.mark.parametrize(("path", "streamed"), CASES)
def test_gateway(path: str, streamed: bool, model: str, upstream: Upstream, gateway: GatewayProcess) -> None:
    head, content = check(gateway.url, path, streamed, model)
    if streamed:
        # See routes.toml.
        assert (b"\n: wirecall\n" in content) == ("mistaken" in model)
        # Otherwise, some reverse proxies hold the events back.
        assert b"x-accel-buffering: no" in head
    assert [request.refused for request in upstream.requests] == [None] * (2 if "mistaken" in model else 1)
    assert upstream.errors == []
