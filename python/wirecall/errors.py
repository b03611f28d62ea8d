"""Exceptions for the caller's mistakes, and for malformed JSON and XML.

The model's mistakes in calls are events of the parser, never exceptions.
"""

from functools import cache
from typing import Any, NamedTuple

__all__ = ["JsonError", "JsonWarning", "ToolError", "XmlError", "XmlWarning"]


class ToolError(ValueError):
    """A tool definition that cannot work, or an invalid use of a tool.

    Attributes:
        message: What is wrong, without the location.
        tool: The tool's name; None if it has no name, or if the error is about no single tool.
        pointer: JSON pointer into the tool's schema (`/properties/a/type`; `""` is the whole schema); None if
            the error is not in the schema.

    `str()` returns the location and the message: `tool 'get_weather', at /properties/a/type: ...`.
    """

    def __init__(self, message: str, *, tool: str | None = None, pointer: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.tool = tool
        self.pointer = pointer

    def __str__(self) -> str:
        place = [] if self.tool is None else [f"tool {self.tool!r}"]
        if self.pointer is not None:
            place.append(f"at {self.pointer or 'the root of its schema'}")
        return f"{', '.join(place)}: {self.message}" if place else self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r}, tool={self.tool!r}, pointer={self.pointer!r})"


def install_extra(name: str) -> str:
    """The end of a message about a missing library: how to install the extra."""
    return f"Install the extra: pip install '.[{name}]' in a clone of wirecall"


@cache
def combined(kind: Any, base: Any) -> Any:
    """An exception class derived from two others, so that handlers of either catch it."""
    return type(kind.__name__, (kind, base), {"__module__": kind.__module__, "__doc__": kind.__doc__})


class _PlacedError(ValueError):
    """Text that cannot be parsed: why, and where."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(reason, line, column)
        self.reason = reason
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.reason}"


class JsonError(_PlacedError):
    """JSON that cannot be parsed.

    Attributes:
        reason: What is wrong, without the location.
        line: The line, from 1. Lines end with a line feed, as in `json`.
        column: The character in that line, from 1.

    `str()` returns the location and the reason: `line 3, column 7: a colon is missing`.
    """


class XmlError(_PlacedError):
    """XML that cannot be parsed. Attributes and `str()` are as in `JsonError`."""


class JsonWarning(NamedTuple):
    """A defect in JSON that was parsed anyway. The fields are those of `JsonError`."""

    line: int
    column: int
    reason: str


class XmlWarning(NamedTuple):
    """A defect in XML that was parsed anyway. The fields are those of `XmlError`."""

    line: int
    column: int
    reason: str
