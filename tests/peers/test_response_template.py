"""Response templates of Hugging Face: the same messages as transformers reads by them."""

import json
from typing import Any

import pytest
from response_template import FIXTURES, REFUSED, TOOLS
from transformers.utils.chat_parsing import parse_response

from wirecall import Format, Message, ToolError, Toolset

# Messages that are read in another way: fixture, a part of the text, and the reason.
DIFFERENT = [
    ("smollm", "Adding.\n<tool_call>", "in transformers, the break between two calls replaces the content"),
]
CASES = [(name, prefix, text) for name, fixture in FIXTURES.items() for prefix, text in fixture.texts]


def read(message: Message) -> dict[str, Any]:
    """The parts of a message that are there, without whitespace around its texts."""
    calls = [(call.name, json.loads(call.arguments)) for call in message.calls]
    parts = {"reasoning": (message.reasoning or "").strip(), "content": message.text.strip(), "calls": calls}
    return {key: value for key, value in parts.items() if value}


def peer(message: dict[str, Any]) -> dict[str, Any]:
    called = [call["function"] for call in message.get("tool_calls", [])]
    reasoning = message.get("reasoning_content") or message.get("thinking") or ""
    parts = {
        "reasoning": reasoning.strip(),
        "content": (message.get("content") or "").strip(),
        "calls": [(function["name"], function["arguments"]) for function in called],
    }
    return {key: value for key, value in parts.items() if value}


@pytest.mark.parametrize(("name", "prefix", "text"), CASES)
def test_the_same_message(name: str, prefix: str, text: str) -> None:
    if name in REFUSED:
        pytest.skip("the declaration cannot be expressed")
    format = Format.from_response_template(FIXTURES[name].template, name=name)
    expected = peer(parse_response(text, FIXTURES[name].template, prefix=prefix, tools=TOOLS))
    found = read(Toolset(TOOLS, protocol=format).parse(text, truncated=False))
    if any(name == fixture and part in text for fixture, part, _ in DIFFERENT):
        assert found != expected
    else:
        assert found == expected


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_expressed_is_named(name: str) -> None:
    with pytest.raises(ToolError) as raised:
        Format.from_response_template(FIXTURES[name].template, name=name)
    place, why = REFUSED[name]
    assert "response_template" in str(raised.value)
    assert place in str(raised.value)
    assert why in str(raised.value)


def test_most_declarations_are_expressed() -> None:
    assert len(FIXTURES) - len(REFUSED) >= 14
