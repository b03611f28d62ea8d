"""What a toolset is pickled as: the arguments of its constructor.

Functions and classes are pickled by reference, other tools as they were when the toolset was compiled.
"""

import json
import pickle
from collections.abc import Sequence
from typing import NamedTuple

from wirecall._tools.definitions import Definition, callable_of


class Given(NamedTuple):
    """A tool that a toolset was made from, which the application may have changed since then.

    Attributes:
        tool: The object.
        definition: What was read from it; its parameters may have changed.
        schema: The JSON text of its parameters at that time.
    """

    tool: object
    definition: Definition
    schema: str

    def unchanged(self) -> object:
        """The tool as it was given: the function or class, or a definition of its own."""
        found = callable_of(self.tool)
        return self.definition._replace(parameters=json.loads(self.schema)) if found is None else found


def picklable(given: Sequence[Given]) -> list[object]:
    """The tools for a pickle.

    Raises:
        PicklingError: A function or class cannot be found by its name.
    """
    tools = [one.unchanged() for one in given]
    for one, tool in zip(given, tools, strict=True):
        if not isinstance(tool, Definition):
            try:
                pickle.dumps(tool)
            except Exception as error:
                raise pickle.PicklingError(
                    f"the tool {one.definition.name!r} cannot be pickled: {error}. Functions are pickled by "
                    "reference: define it at the top level of a module"
                ) from error
    return tools
