"""Answers of the Responses API repeat the request: the application reads its own, not the rewritten one."""

import json
from typing import Any

import pytest

from wirecall._apis.exchange import Exchange
from wirecall._apis.registry import api_named
from wirecall._text.options import Options

TOOL = {"type": "function", "name": "go", "parameters": {"type": "object", "properties": {"to": {}}}}
KEYS = ("instructions", "tools", "tool_choice", "parallel_tool_calls")
GIVEN: list[dict[str, Any]] = [
    {},
    {"instructions": "Be brief."},
    {"instructions": None, "tool_choice": "required", "parallel_tool_calls": False},
]


def response(sent: Any, **more: Any) -> dict[str, Any]:
    """What a server says of a request: its own values, or what it takes if there are none."""
    defaults = {"instructions": None, "tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
    said = {key: sent.get(key, default) for key, default in defaults.items()}
    content = [{"type": "output_text", "text": "<call>go to=Graz</call>", "annotations": []}]
    message = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content}
    made = {"id": "r1", "object": "response", "status": "completed", "output": [message]}
    return {**made, **said, **more}


@pytest.mark.parametrize("given", GIVEN)
def test_the_request_that_an_answer_repeats_is_the_own_one(given: dict[str, Any]) -> None:
    request = {"model": "m", "input": "Go.", "tools": [TOOL], **given}
    expected = {key: response(request)[key] for key in KEYS}
    exchange = Exchange(api_named("responses"), request, Options())
    whole = exchange.whole(response(exchange.request))
    assert whole is not None
    assert {key: whole[key] for key in KEYS} == expected
    assert [item["type"] for item in whole["output"]] == ["function_call"]
    exchange = Exchange(api_named("responses"), request, Options())
    stream = exchange.stream()
    sent = response(exchange.request)
    for kind in ("created", "in_progress", "completed"):
        made = {**sent, "output": sent["output"] if kind == "completed" else []}
        event = {"type": f"response.{kind}", "sequence_number": 0, "response": made}
        out = stream.feed(event)
        [last] = [one for one in ([event] if out is None else out) if one["type"] == f"response.{kind}"]
        assert {key: last["response"][key] for key in KEYS} == expected
        assert "<call" not in json.dumps(last)


def test_what_a_server_does_not_repeat_is_not_added() -> None:
    request = {"model": "m", "input": "Go.", "tools": [TOOL]}
    bare = {key: value for key, value in response({}).items() if key not in KEYS}
    whole = Exchange(api_named("responses"), request, Options()).whole(bare)
    assert whole is not None
    assert not {*KEYS} & whole.keys()
