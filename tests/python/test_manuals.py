"""What the manual of each protocol shows: calls of the declared tools, which are read as they are."""

import json
from typing import Any

import pytest

from wirecall import PROTOCOLS, Format, Protocol, Toolset
from wirecall.testing import check_format
from wirecall.tokens import cached_tokenizer


class Own(Protocol):
    """The JSON of the arguments after the name."""

    def format_call(self, name: str, arguments: str) -> str:
        return f"{name} {arguments}"

    def parse(self, body: str) -> tuple[str, dict[str, Any]] | None:
        name, _, arguments = body.partition(" ")
        try:
            return name, json.loads(arguments)
        except ValueError:
            return None


MARKS = {"open": "<|call|>", "close": "<|end|>"}
CUSTOM: dict[str, Format | Protocol] = {
    "own json": Format(like="hermes", call="<|call|>{call}<|end|>"),
    "own pairs": Format(like="wire", call="<|call|>{call}<|end|>"),
    "own": Own(**MARKS),
}
SHOWN = [*PROTOCOLS, *CUSTOM]

BOOK = {
    "name": "book",
    "description": "Book a table.",
    "parameters": {
        "type": "object",
        "properties": {
            "place": {"type": "string"},
            "guests": {"type": "integer"},
            "when": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
            "seat": {"type": "string", "enum": ["in", "out"]},
            "diets": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["place", "guests", "when"],
    },
}
NOW = {"name": "now", "parameters": {"type": "object", "properties": {}}}
PING = {"name": "ping"}
MAP = {"name": "store", "parameters": {"type": "object", "additionalProperties": {"type": "string"}}}


def shown(name: str, tools: list[dict[str, Any]]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """The manual, and the calls that it shows."""
    toolset = Toolset(tools, protocol=CUSTOM.get(name, name))
    manual = toolset.manual()
    # After the examples, results are named by their mark.
    message = toolset.parse(manual.partition(toolset.result_marks[0])[0], truncated=False)
    assert message.errors == ()
    assert all(call.repairs == () and call.problems == () for call in message.calls)
    return manual, [(call.name, call.args) for call in message.calls]


@pytest.mark.parametrize("protocol", SHOWN)
def test_the_example_has_what_is_required(protocol: str) -> None:
    _, [(name, arguments), *_] = shown(protocol, [NOW, BOOK])
    assert name == "book"
    assert set(arguments) == {"place", "guests", "when"}
    assert set(arguments["when"]) == {"day"}


@pytest.mark.parametrize("protocol", SHOWN)
@pytest.mark.parametrize("tools", [[NOW], [PING], [PING, NOW]], ids=len)
def test_no_argument_is_invented(protocol: str, tools: list[dict[str, Any]]) -> None:
    manual, calls = shown(protocol, tools)
    assert calls
    assert all(call in [(tool["name"], {}) for tool in tools] for call in calls)
    assert "{…}" not in manual


@pytest.mark.parametrize("protocol", SHOWN)
def test_a_tool_of_any_keys_shows_one(protocol: str) -> None:
    assert shown(protocol, [MAP])[1] == [("store", {"key": "some text"})]


def test_an_error_invents_no_argument() -> None:
    tools = Toolset([NOW, MAP])
    [now, store] = tools.parse("<call>now [x]</call><call>store [x]</call>").errors
    assert now.message.endswith("For example: <call>now</call>")
    assert store.message.endswith('For example: <call>store key="some text"</call>')


def test_markers_come_with_the_rules_of_their_body() -> None:
    manual, _ = shown("own json", [BOOK])
    assert "fits its parameters: give every required one" in manual
    assert 'with their parameters as JSON Schema:\n{"name":"book"' in manual
    assert "? optional" not in manual
    manual, _ = shown("own pairs", [BOOK])
    assert '<|call|>book place="some text" guests=5 when.day="some text"<|end|>' in manual
    assert "Quote values with spaces" in manual
    assert "? optional" in manual


def test_the_protocols_here_are_sound() -> None:
    for protocol in CUSTOM.values():
        check_format(protocol, cases=20)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_long_value_hides_no_reason(protocol: str) -> None:
    properties = {"c": {"type": "string", "pattern": "^x"}, "l": {"type": "array", "minItems": 2}}
    tools = Toolset(
        [("f", {"type": "object", "properties": properties})], protocol=protocol, validate="error"
    )
    for value in ("a", "é" * 60, "é" * 150, "é" * 10_000):
        [error] = tools.parse(tools.encode("f", {"c": value})).errors
        assert 'does not match "^x"' in error.message
        assert len(error.message) < 500
    [error] = tools.parse(tools.encode("f", {"l": ["b" * 10_000]})).errors
    assert "has less than 2 items" in error.message


# Tokens (o200k_base) of the header for one tool: it is sent with every request, so it does not grow.
HEADER_TOKENS = {"wire": 91, "hermes": 97, "gemma": 106, "xml": 137, "yaml": 187, "qwen3coder": 123}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_headers_are_short_and_plain(protocol: str) -> None:
    properties = {"location": {"type": "string"}, "days": {"type": "integer"}}
    parameters = {"type": "object", "properties": properties, "required": ["location"]}
    tools = Toolset([("get_weather", parameters)], protocol=protocol)
    header = tools.manual().removesuffix(tools.manual(header=""))
    assert "sendMail" not in header
    assert not {"stands", "stand", "behind", "blanks", "none"} & {*header.replace(".", " ").split()}
    count = cached_tokenizer()
    if count is None:
        pytest.skip("tiktoken's vocabulary is not in its cache")
    assert count(header) <= HEADER_TOKENS[protocol]


def test_text_of_several_lines_is_told_as_it_is_written() -> None:
    tools = Toolset([("f", {"type": "object", "properties": {"key": {"type": "string"}}})], protocol="yaml")
    opening = tools.encode("f", {"key": "a\nb"}).split("\n")[1]
    manual = tools.manual()
    assert f"\n{opening}\n  some text\n" in manual
    assert f"`{opening}`" in manual
