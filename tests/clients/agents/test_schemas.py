"""Schemas as openai-agents and MCP's SDK write them; what these accept natively is accepted over text.

Those of other libraries are in tests/python/test_library_schemas.py, which shares the law.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from agents import function_tool
from agents.function_schema import function_schema
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

sys.path.append(str(Path(__file__).parents[2] / "python"))
from library_values import Json, arguments, check


class Address(BaseModel):
    city: str = "Rome"
    zip: str | None = None


class Line(TypedDict):
    article: str
    count: int


@dataclass
class Order:
    lines: list[Line]
    to: Address = field(default_factory=Address)


def weather(location: str, days: int = 1, units: Literal["metric", "imperial"] = "metric") -> str:
    """The weather."""
    return location


def ship(order: Order, express: bool = False, note: str | int | None = None) -> str:
    """Ship an order."""
    return "shipped"


def move(at: tuple[int, int], by: tuple[float, str] = (1.0, "m"), to: tuple[int, ...] = ()) -> str:
    """Move a thing."""
    return "moved"


def search(
    query: str,
    pages: Annotated[list[int], Field(max_length=3)] = [1],  # noqa: B006
    where: Address | Literal["anywhere", 5] = "anywhere",
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
) -> str:
    """Search."""
    return query


def store(data: dict[str, Any], rest: Any = None, counts: dict[str, int] = {}) -> str:  # noqa: B006
    """Store anything."""
    return "stored"


FUNCTIONS = [weather, ship, move, search, store]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_function_tools(function: Callable[..., str]) -> None:
    strict = function is not store  # the strict form has no place for objects with any keys
    schema = function_tool(function, strict_mode=strict).params_json_schema
    assert not strict or set(schema["required"]) == set(schema["properties"])
    model = function_schema(function, strict_json_schema=strict).params_pydantic_model

    def accepts(given: Json) -> bool:
        try:
            model(**given)
        except ValueError:
            return False
        return True

    check(schema, arguments(schema, accepts))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_mcp(function: Callable[..., str]) -> None:
    server = MCPServer("tools")
    server.tool()(function)
    [tool] = asyncio.run(server.list_tools())
    schema = tool.model_dump(by_alias=True)["inputSchema"]

    def accepts(given: Json) -> bool:
        try:
            asyncio.run(server.call_tool(tool.name, given))
        except Exception:
            return False
        return True

    check(schema, arguments(schema, accepts))
