"""The toolset hands everything on to the core, and its errors name the place."""

import copy
import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from support import EMPTY, SCHEMA
from wirecall._tools import toolset
from wirecall._tools.toolset import ToolsetOptions
from wirecall.errors import ToolError

if TYPE_CHECKING:
    from typing import Self

# --- ToolError


@pytest.mark.parametrize(
    ("tool", "pointer", "text"),
    [
        ("f", "/properties/a/type", "tool 'f', at /properties/a/type: wrong"),
        ("f", "", "tool 'f', at the root of its schema: wrong"),
        ("f", None, "tool 'f': wrong"),
        (None, "/a", "at /a: wrong"),
        (None, None, "wrong"),
    ],
)
def test_tool_error(tool: str | None, pointer: str | None, text: str) -> None:
    found = ToolError("wrong", tool=tool, pointer=pointer)
    assert isinstance(found, ValueError)
    assert str(found) == text
    assert repr(found) == f"ToolError('wrong', tool={tool!r}, pointer={pointer!r})"
    for again in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert type(again) is ToolError
        assert (again.message, again.tool, again.pointer) == ("wrong", tool, pointer)


# --- the class


class Core(toolset._core.Toolset):
    """The core's class, which notes what it is given."""

    args: tuple[Any, ...]
    options: dict[str, Any]

    def __new__(cls, *args: Any, **options: Any) -> "Self":
        made = super().__new__(cls, *args, **options)
        made.args, made.options = args, options
        return made


class Noting(toolset.Toolset, Core):
    """The class of the package over that one."""


DEFAULTS = {
    "protocol": "wire",
    "recover": False,
    "syntax": "wire",
    "fallback_to_json": "complex",
    "strict": False,
    "unknown_tools": "auto",
    "invalid_tools": "error",
    "validate": "report",
    "code": "call",
    "descriptions": "full",
    "constraints": True,
    "delimiters": None,
    "reasoning": "auto",
    "limits": None,
}


def test_toolset_hands_everything_to_the_core() -> None:
    made = Noting([("a", SCHEMA), {"name": "b", "description": "B", "strict": True}])
    assert type(made) is Noting
    assert made.args == ([("a", None, json.dumps(SCHEMA), False), ("b", "B", json.dumps(EMPTY), True)],)
    assert made.options == DEFAULTS

    other: ToolsetOptions = {
        "protocol": "hermes",
        "recover": True,
        "syntax": "json",
        "fallback_to_json": "force",
        "strict": True,
        "unknown_tools": "text",
        "invalid_tools": "untyped",
        "validate": "error",
        "code": "text",
        "descriptions": "none",
        "constraints": False,
        "delimiters": ("[c]", "[/c]"),
        "reasoning": None,
        "limits": {"depth": 4},
    }
    assert other.keys() == DEFAULTS.keys()
    assert not any(other[name] == DEFAULTS[name] for name in other)
    made = Noting(**other)
    assert (made.args, made.options) == (([],), other)


def test_toolset_is_a_core_toolset() -> None:
    made = toolset.Toolset([("b", True), ("a", SCHEMA)])
    assert isinstance(made, toolset._core.Toolset)
    assert type(made) is toolset.Toolset
    with pytest.raises(ToolError, match="nan is not a JSON number"):
        toolset.Toolset([("a", {"default": float("nan")})])
