"""What the tests of definitions share: reading one tool, and a model to read."""

import functools
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from wirecall import FAMILIES, PROTOCOLS, Toolset
from wirecall._tools.definitions import Definition, definitions
from wirecall.errors import ToolError

# Every protocol and every native format.
EVERY = tuple(dict.fromkeys([*PROTOCOLS, *FAMILIES]))
# Protocols in which whitespace around calls is framing, and no text.
FRAMED = ("hermes", "qwen3coder")

SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "title": "City"}}, "required": ["city"]}
EMPTY = {"type": "object", "properties": {}}


@functools.cache
def has_grammar(protocol: str) -> bool:
    """Whether there is a grammar of this protocol's calls."""
    try:
        return bool(Toolset([("f", SCHEMA)], protocol=protocol).grammar("gbnf").text)
    except ToolError:
        return False


class Book(BaseModel):
    """A book.

    With pages."""

    title: str
    shelf: Annotated[int, Field(title="Shelf number", ge=1)] = 1


def one(tool: object) -> Definition:
    (definition,) = definitions([tool])
    return definition


def properties(tool: object) -> dict[str, Any]:
    parameters = one(tool).parameters
    assert isinstance(parameters, dict)
    return parameters["properties"]


def error(tool: object) -> ToolError:
    with pytest.raises(ToolError) as info:
        definitions([tool])
    return info.value
