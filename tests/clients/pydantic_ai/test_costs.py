"""The table of prompt tokens in README.md is what the package's own helpers count."""

import json
import re
from pathlib import Path

import application
import pytest

from wirecall import Toolset, tokens

README = Path(__file__).parents[3] / "README.md"


def result(text: str) -> str:
    """A result as a message of chat completions."""
    message = {"role": "tool", "tool_call_id": "call_AbCdEfGhIjKlMnOpQrStUvWx", "content": text}
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False)


def test_the_table_of_prompt_tokens() -> None:
    try:
        count = tokens.tokenizer()
    except tokens.VocabularyError:
        pytest.skip("tiktoken's vocabulary is not there")
    tools = application.SHOP.chat_tools()
    calls = [call for step in application.PLAN for call in step.calls]
    one, all_ = tokens.measure(tools[:1], count=count), tokens.measure(tools, calls, count=count)
    toolset = Toolset(tools)
    results = [(name, *application.SHOP.run(name, arguments)) for name, arguments in calls]
    counted = {
        "definitions of 1 tool": (one.native, one.wire),
        f"definitions of {len(tools)} tools": (all_.native, all_.wire),
        f"{len(calls)} calls in a history": (
            sum(call.envelope for call in all_.calls),
            sum(call.wire for call in all_.calls),
        ),
        "their results": (
            sum(count(result(text)) for _, text, _ in results),
            sum(count(toolset.encode_result(name, text, error=failed)) for name, text, failed in results),
        ),
    }
    two, three = (tokens.measure(tools[:most], count=count) for most in (2, 3))
    assert two.wire >= two.native
    assert three.wire < three.native
    table = README.read_text(encoding="utf-8")
    assert f"header is {all_.header} of these, once; from the third tool on it is paid back" in table
    rows = re.findall(r"^\| ([^|]+?) \| (\d+) \| (\d+) \|$", table, re.MULTILINE)
    shown = {row: (int(native), int(text)) for row, native, text in rows}
    assert {row: shown.get(row) for row in counted} == counted
