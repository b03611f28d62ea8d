"""The tools of a toolset, as they were when it was compiled."""

import json
from typing import NamedTuple

from wirecall._tools.definitions import Definition, callable_of


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
