"""`on_error="native"`: what an application gets of a call that could not be read."""

import json
from typing import Any

import pytest

import chat_support
from support import EVERY
from wirecall import Notice, Toolset

ARGUMENTS = {"path": "a b", "n": 3, "list": ["x"]}
TOOL = chat_support.tool("save", parameters={"type": "object", "properties": {"path": {"type": "string"}}})


def calls_in(text: str, *, streams: bool, **options: Any) -> list[tuple[str, str]]:
    request = chat_support.asking(tools=[TOOL])
    options = {"on_error": "native", "in_reasoning": False, **options}
    if streams:
        sent = chat_support.streamed(chat_support.chunks(text), request=request, **options)
        [state] = chat_support.accumulated(sent).values()
        assert state["reason"] == "tool_calls"
        return [(name, arguments) for name, arguments, _ in state["calls"]]
    choice = chat_support.whole(text, request=request, options=options)
    assert choice["finish_reason"] == "tool_calls"
    functions = [call["function"] for call in choice["message"]["tool_calls"]]
    return [(function["name"], function["arguments"]) for function in functions]


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("protocol", [name for name in (*EVERY, "auto") if name not in ("xml", "yaml")])
def test_unknown_tool_gets_its_arguments_as_json(protocol: str, streams: bool) -> None:
    told: list[Notice] = []
    reader = Toolset(protocol=protocol)
    text = reader.encode_message("", [("nope", ARGUMENTS), ("other", {"path": "x"})])
    # Without tools, the same calls are read, untyped. One format has only one call in a message.
    expected = [(call.name, call.arguments) for call in reader.parse(text, in_reasoning=False).calls]
    assert [name for name, _ in expected] == ["nope", "other"][: 1 if protocol == "llama-json" else 2]
    assert calls_in(text, streams=streams, protocol=protocol, on_event=told.append) == expected
    assert json.loads(expected[0][1]).keys() == ARGUMENTS.keys()
    kinds = [notice.detail.partition(":")[0] for notice in told if notice.kind == "error"]
    assert kinds == ["unknown_tool"] * len(expected)


@pytest.mark.parametrize("streams", [False, True])
def test_call_that_cannot_be_read_is_passed_as_written(streams: bool) -> None:
    for text in ("<call>save [object Object]</call>", "<call>nope a=1 [object]</call>"):
        [(_, arguments)] = calls_in(text, streams=streams)
        assert arguments == text
