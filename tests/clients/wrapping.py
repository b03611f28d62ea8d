"""What the tests of `wrap` share: one code for sync and async clients, and what an application sees."""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

SCHEMA = {
    "type": "object",
    "properties": {"to": {"type": "string"}},
    "required": ["to"],
    "additionalProperties": False,
}
USER = [{"role": "user", "content": "Where to?"}]
CALL = '<call>go to="Graz 🎈"</call>'
BAD = "<call>go [object Object]</call>"
ARGUMENTS = {"to": "Graz 🎈"}


class Seen(NamedTuple):
    """What the application sees of an answer."""

    text: str
    calls: list[tuple[str, Any]]
    finish: str | None


async def got(value: Any) -> Any:
    """The result of a method of a sync or an async client."""
    return await value if inspect.isawaitable(value) else value


async def items(stream: Any) -> AsyncIterator[Any]:
    """The items of a sync or an async stream."""
    if hasattr(stream, "__aiter__"):
        async for item in stream:
            yield item
    else:
        for item in stream:
            yield item


@asynccontextmanager
async def inside(manager: Any) -> AsyncIterator[Any]:
    """The block of a sync or an async context manager."""
    if hasattr(manager, "__aenter__"):
        async with manager as value:
            yield value
    else:
        with manager as value:
            yield value


def run(made: Callable[[], Any], ask: Callable[[Any], Awaitable[Any]]) -> Any:
    """Asks a client that is closed afterwards, whichever kind it is."""

    async def asked() -> Any:
        async with inside(made()) as client:
            return await ask(client)

    return asyncio.run(asked())


def arguments(text: str) -> Any:
    return json.loads(text)
