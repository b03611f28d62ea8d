"""The pickle of a toolset: the arguments of its constructor.

Functions and classes are pickled by reference, other tools as they were when the toolset was compiled.
"""

import json
import pickle
from collections.abc import Sequence
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
        """The function or class, or the definition that was compiled."""
        found = callable_of(self.tool)
        return self.definition() if found is None else found


def picklable(compiled: Sequence[CompiledTool]) -> list[object]:
    """The tools for a pickle.

    Raises:
        PicklingError: A function or class cannot be found by its name.
    """
    tools = [one.unchanged() for one in compiled]
    for one, tool in zip(compiled, tools, strict=True):
        if not isinstance(tool, Definition):
            try:
                pickle.dumps(tool)
            except Exception as error:
                raise pickle.PicklingError(
                    f"the tool {one.read.name!r} cannot be pickled: {error}. Functions are pickled by "
                    "reference: define it at the top level of a module"
                ) from error
    return tools
