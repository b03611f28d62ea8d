"""A past call can always be written, and reads back as the same JSON, in every protocol."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from law import LAW
from support import RECOVERED
from wirecall import PROTOCOLS, Toolset

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


def like(value: Any) -> Any:
    """With the type of every number and boolean, which Python takes for each other."""
    match value:
        case dict():
            return [(key, like(item)) for key, item in value.items()]
        case list():
            return [like(item) for item in value]
        case _:
            return type(value), value


@pytest.mark.parametrize("protocol", [*RECOVERED, "auto"])
@LAW
@given(arguments=FITTING)
def test_what_fits_reads_back(protocol: str, arguments: dict[str, Any]) -> None:
    for strict in (False, True):
        tools = Toolset(TOOLS, protocol=protocol, strict=strict)
        written = tools.encode("note", arguments)
        message = tools.parse(f"I look.\n{written}")
        [call] = message.calls
        assert like(call.args) == like(arguments)
        assert (call.name, call.repairs, call.problems, message.errors) == ("note", (), (), ())


@pytest.mark.parametrize("protocol", [*PROTOCOLS, "auto"])
@LAW
@given(arguments=st.dictionaries(TEXTS | st.sampled_from(list(PROPERTIES)), ANYTHING, max_size=4))
def test_anything_can_be_written(protocol: str, arguments: dict[str, Any]) -> None:
    tools = Toolset(TOOLS, protocol=protocol)
    written = tools.encode("note", arguments)
    calls = tools.parse(written, in_reasoning=False).calls
    # What a native format cannot hold is a visible note.
    noted = protocol not in (*RECOVERED, "auto") and '[called "note" with {' in written
    assert [call.name for call in calls] == ([] if noted else ["note"])
