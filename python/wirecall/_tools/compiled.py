"""The tools of a toolset, as they were when it was compiled."""

import json
from typing import Any, NamedTuple

from wirecall._public import as_dict
from wirecall._tools.definitions import (
    Definition,
    callable_of,
    definition,
    schema_text,
    two_tools,
    untyped,
)
from wirecall.errors import ToolError


class InvalidTool(NamedTuple):
    """A definition that cannot work as it is, and that `invalid_tools="untyped"` has accepted.

    Attributes:
        tool: The tool's name.
        pointer: JSON pointer into the tool's schema, as in `ToolError`; None if the fault is not in the
            schema.
        message: What is wrong.
    """

    tool: str
    pointer: str | None
    message: str

    def __str__(self) -> str:
        return str(ToolError(self.message, tool=self.tool, pointer=self.pointer))

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""
        return as_dict(self)


class CompiledTool(NamedTuple):
    """A tool of a toolset. The application may have changed the object since the toolset was compiled.

    Attributes:
        tool: The object that the application passed.
        read: Its definition, whose parameters may have changed.
        schema: The JSON text of its parameters when it was compiled.
    """

    tool: object
    read: Definition
    schema: str

    def definition(self) -> Definition:
        """The definition that was compiled."""
        return self.read._replace(parameters=json.loads(self.schema))

    def unchanged(self) -> object:
        """The function or class, which is pickled by reference, or the definition that was compiled."""
        found = callable_of(self.tool)
        return self.definition() if found is None else found


def read_tools(
    tools: list[object], *, accept_invalid: bool
) -> tuple[tuple[CompiledTool, ...], list[InvalidTool]]:
    """The tools, and the definitions among them whose form is wrong, if they are accepted.

    Raises:
        ToolError: A definition is not accepted, or has no name.
    """
    found: dict[str, CompiledTool] = {}
    invalid = []
    for position, tool in enumerate(tools):
        error = None
        try:
            read = definition(tool, position)
            one = CompiledTool(tool, read, schema_text(read))
        except ToolError as raised:
            # Functions and classes are the application's own: it can mend them.
            if not accept_invalid or raised.tool is None or callable_of(tool) is not None:
                raise
            error, one = raised, CompiledTool(tool, untyped(tool, raised.tool), "{}")
        if found.setdefault(one.read.name, one) is not one:
            error = two_tools(one.read.name)
            if not accept_invalid:
                raise error
        if error is not None:
            invalid.append(InvalidTool(one.read.name, error.pointer, error.message))
    return tuple(found.values()), invalid
