"""Calls and results of tools that are not declared: what is refused, and what is written in a history."""

import json
from typing import Any

import pytest

import wirecall
from wirecall import ToolError, Toolset

EMPTY: dict[str, Any] = {"properties": {}}
TOOLS = Toolset([("get", {"properties": {"a": {"type": "integer"}}}), ("ping", EMPTY)])
OPEN = Toolset()


def test_encode_for_an_undeclared_tool_names_the_nearest() -> None:
    for native in (False, True):
        with pytest.raises(
            ToolError, match=r"^there is no tool 'gte'; did you mean 'get'\? Available: get, ping$"
        ):
            TOOLS.encode("gte", {"a": 5}, native=native)
        with pytest.raises(ToolError, match=r"^there is no tool 'other'; available: get, ping$"):
            TOOLS.encode("other", "{}", native=native)


def test_encode_of_an_open_set_writes_any_tool_untyped() -> None:
    assert OPEN.encode("other", {"a": "5", "b": {"c": 1}}) == '<call>other a="5" b={"c":1}</call>'


def test_history_with_an_undeclared_tool_is_written() -> None:
    """A conversation may contain calls of tools that no longer exist."""
    expected = '<call>other a="5" b={"c":1}</call>'
    assert TOOLS.encode_message("", [("other", {"a": "5", "b": {"c": 1}})]) == expected
    assert TOOLS.encode_result("other", "x") == '<tool-result name="other">x</tool-result>'


@pytest.mark.parametrize("protocol", [*wirecall.PROTOCOLS, *wirecall.FAMILIES])
def test_every_format_refuses_and_writes_an_undeclared_tool_alike(protocol: str) -> None:
    tools = Toolset([("get", EMPTY), ("ping", EMPTY)], protocol=protocol)
    with pytest.raises(ToolError, match=r"^there is no tool 'other'; available: get, ping$"):
        tools.encode("other", {})
    assert "other" in tools.encode_message("", [("other", {})])
    assert "21" in tools.encode_result("other", "21")
    assert "21" in tools.encode_result(None, "21")


@pytest.mark.parametrize("protocol", ["wire", "hermes", "yaml", "kimi-k2", "harmony"])
def test_request_with_calls_of_a_tool_that_no_longer_exists_is_rewritten(protocol: str) -> None:
    function = {"name": "gone", "arguments": json.dumps({"city": "Rome"})}
    unwritable = {"name": "no name", "arguments": json.dumps({"city": "Oslo"})}
    calls = [
        {"id": str(at), "type": "function", "function": one} for at, one in enumerate([function, unwritable])
    ]
    request = {
        "messages": [
            {"role": "user", "content": "How is the weather?"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "0", "content": "21 degrees"},
            {"role": "tool", "tool_call_id": "1", "content": "15 degrees"},
        ],
        "tools": [{"type": "function", "function": {"name": "get", "parameters": EMPTY}}],
    }
    sent = wirecall.compact_tools(protocol=protocol).transform_params(request).params
    text = json.dumps(sent["messages"])
    for word in ("gone", "Rome", "Oslo", "21 degrees", "15 degrees"):
        assert word in text


def test_signature_and_plan_of_an_undeclared_tool_name_the_nearest() -> None:
    for use in (TOOLS.plan, TOOLS.signature):
        with pytest.raises(
            ToolError, match=r"^there is no tool 'pin'; did you mean 'ping'\? Available: get, ping$"
        ):
            use("pin")
        with pytest.raises(ToolError, match=r"^there is no tool 'x', because there are no tools$"):
            getattr(OPEN, use.__name__)("x")
