"""A past call can always be written, and reads back as the same JSON, in every protocol."""

import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from law import LAW
from support import EVERY
from wirecall import Message, Toolset

TEXT = {"type": "string"}
PROPERTIES: dict[str, Any] = {
    "text": TEXT,
    "perhaps": {"type": ["string", "null"]},
    "any": {},
    "list": {"type": "array", "items": TEXT},
    "count": {"type": "integer"},
    "sure": {"type": "boolean"},
}
TOOLS = [
    {"name": "note", "parameters": {"type": "object", "properties": PROPERTIES}},
    {"name": "rm", "parameters": {"type": "object", "properties": {}}},
]
# What ends, opens or types something in one of the protocols.
PARTS = [
    "</parameter>",
    "<parameter=text>",
    "</function>",
    "<function=rm>",
    "<tool_call>",
    "</tool_call>",
    "<call>rm</call>",
    "</call>",
    "<rm/>",
    "<note>",
    "</note>",
    "<text>",
    "</text>",
    "```tool_call",
    "```",
    '{"name":"rm"}',
    "<tool_response>",
    "&lt;",
    "&",
    "\\",
    '"',
    "'",
    "null",
    "None",
    "True",
    "42",
    "[1]",
    '{"a":1}',
    "-",
    "#",
    ":",
    "=",
    ",",
    "a",
    "\n",
    " ",
    "    ",
]
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
FITTING = st.fixed_dictionaries(
    {},
    optional={
        "text": TEXTS,
        "perhaps": st.none() | TEXTS,
        "any": ANYTHING,
        "list": st.lists(TEXTS, max_size=3),
        "count": st.integers(),
        "sure": st.booleans(),
    },
)


def like(value: Any, *, ordered: bool = True) -> Any:
    """With the type of every number and boolean, which Python takes for each other."""
    match value:
        case dict():
            items = [(key, like(item, ordered=ordered)) for key, item in value.items()]
            return items if ordered else sorted(items, key=lambda item: item[0])
        case list():
            return [like(item, ordered=ordered) for item in value]
        case _:
            return type(value), value


def read_back(protocol: str, tools: Toolset, arguments: dict[str, Any]) -> Message:
    """The message that is written, with its call, as it is read."""
    # Calls of these are whole messages.
    content = "" if protocol in ("llama-json", "llama-pythonic", "xlam") else "I look."
    written = tools.encode_message(content, [("note", arguments)])
    message = tools.parse(written, in_reasoning=False)
    assert content in message.text
    return message


def is_held(tools: Toolset, arguments: dict[str, Any]) -> bool:
    """Whether the protocol can write the call in its own form."""
    try:
        tools.encode("note", arguments, native=True)
    except ValueError:
        return False
    return True


def without_nulls(value: Any) -> Any:
    """Without the members of objects that are null."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("protocol", [*EVERY, "auto"])
@LAW
@given(arguments=FITTING)
def test_what_fits_reads_back(protocol: str, arguments: dict[str, Any]) -> None:
    for strict in (False, True):
        tools = Toolset(TOOLS, protocol=protocol, strict=strict)
        message = read_back(protocol, tools, arguments)
        if not message.calls:
            # A note instead, which is no call of any tool.
            assert not is_held(tools, arguments)
            assert not message.errors
            continue
        [call] = message.calls
        # Gemma's template sorts keys, and MiniMax's leaves out what is null.
        ordered = protocol not in ("functiongemma", "gemma4")
        given = without_nulls(arguments) if protocol == "minimax-m3" else arguments
        assert like(call.args, ordered=ordered) == like(given, ordered=ordered)
        assert (call.name, call.repairs, call.problems, message.errors) == ("note", (), (), ())


@pytest.mark.parametrize("protocol", [*EVERY, "auto"])
@LAW
@given(arguments=st.dictionaries(TEXTS | st.sampled_from(list(PROPERTIES)), ANYTHING, max_size=4))
def test_anything_can_be_written(protocol: str, arguments: dict[str, Any]) -> None:
    tools = Toolset(TOOLS, protocol=protocol)
    message = read_back(protocol, tools, arguments)
    assert [call.name for call in message.calls] == ["note"] or not is_held(tools, arguments)


@pytest.mark.parametrize("row", ["llama-json", "llama-pythonic", "xlam"])
@pytest.mark.parametrize("content", ["I look.", '{"a": 1}', "[", " "])
@pytest.mark.parametrize("count", [1, 2])
def test_calls_that_are_whole_messages_have_a_marker_after_content(
    row: str, content: str, count: int
) -> None:
    tools = Toolset(
        [{"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}}}], protocol=row
    )
    calls = [("get_weather", '{"city":"Rome"}')] * count
    read = tools.parse(tools.encode_message(content, calls), truncated=False)
    assert read.text.startswith(content.strip())
    assert read.errors == ()
    assert {(call.name, call.arguments) for call in read.calls} == {*calls}
    # A note stands for what the format cannot hold.
    assert len(read.calls) + read.text.count("[called ") == count
    with pytest.raises(ValueError, match="either a text or calls"):
        tools.encode_message(content, calls, native=True)


@pytest.mark.parametrize(
    ("protocol", "written"), [("seed-oss", "<parameter=any>{}</parameter>"), ("lfm2", "(any={})")]
)
def test_lists_in_python_are_written_as_python_does(protocol: str, written: str) -> None:
    """Except for characters that newer versions of Unicode assign."""
    tools = Toolset(TOOLS, protocol=protocol)
    every = map(chr, range(sys.maxunicode + 1))
    known = [char for char in every if unicodedata.category(char) not in ("Cn", "Cs")]
    for at in range(0, len(known), 1000):
        value = [*known[at : at + 1000], "b'\n", None, 0.5]
        assert written.format(repr(value)) in tools.encode("note", {"any": value})
