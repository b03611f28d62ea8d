"""The caller's mistakes, and malformed JSON and XML.

What the model gets wrong in a call is an event of the parser, never an exception.
"""

from functools import cache
from typing import Any, NamedTuple

__all__ = ["JsonError", "JsonWarning", "ToolError", "XmlError", "XmlWarning"]


class ToolError(ValueError):
    """A tool definition, or a use of one, that cannot work.

    Attributes:
        message: What is wrong, without the place.
        tool: The tool's name, None where it has none or none is meant.
        pointer: JSON pointer into the tool's schema (`/properties/a/type`; `""` is the whole schema), None
            where the schema is not to blame.

    `str()` gives the place and the message: `tool 'get_weather', at /properties/a/type: ...`.
    """

    def __init__(self, message: str, *, tool: str | None = None, pointer: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.tool = tool
        self.pointer = pointer

    def __str__(self) -> str:
        place = []
        if self.tool is not None:
            place.append(f"tool {self.tool!r}")
        if self.pointer is not None:
            place.append(f"at {self.pointer or 'the root of its schema'}")
        return f"{', '.join(place)}: {self.message}" if place else self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r}, tool={self.tool!r}, pointer={self.pointer!r})"


@cache
def both(kind: Any, base: Any) -> Any:
    """The class of exceptions that are of two classes: whoever catches either, catches them."""
    return type(kind.__name__, (kind, base), {"__module__": kind.__module__, "__doc__": kind.__doc__})


class _PlacedError(ValueError):
    """A text that cannot be read: why, and where."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(reason, line, column)
        self.reason = reason
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.reason}"


class JsonError(_PlacedError):
    """JSON that cannot be read.

    Attributes:
        reason: What is wrong, without the place.
        line: Where, from 1. Lines end with a line feed, as for `json`.
        column: The character in that line, from 1.

    `str()` gives the place and the reason: `line 3, column 7: a colon is missing`.
    """


class XmlError(_PlacedError):
    """XML that cannot be read.

    Attributes:
        reason: What is wrong, without the place.
        line: Where it was found, from 1. Lines end with a line feed.
        column: The character in that line, from 1.

    `str()` gives the place and the reason: `line 3, column 7: an element is not closed`.
    """


class JsonWarning(NamedTuple):
    """What is malformed in JSON that was read all the same; the fields are those of `JsonError`."""

    line: int
    column: int
    reason: str


class XmlWarning(NamedTuple):
    """What was wrong in XML that was read all the same; the fields are those of `XmlError`."""

    line: int
    column: int
    reason: str
