"""What the tests of `wrap` share: one code for sync and async clients, and what an application sees."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import httpx2
from playing import CLIENT
from server import Answer, Call, Server

import wirecall

T = TypeVar("T")

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
OVER_TEXT = Answer(f"Grüße. {CALL}{CALL}")
NATIVE = Answer(["Grüße. ", Call("go", ARGUMENTS), Call("go", ARGUMENTS)])
CALLS = [("go", ARGUMENTS)] * 2


class Seen(NamedTuple):
    """What the application sees of an answer."""

    text: str
    calls: list[tuple[str, Any]]
    finish: str | None


Play = Callable[..., Server]
Ask = Callable[[Any], Awaitable[Seen]]


@dataclass(frozen=True)
class Sdk:
    """An SDK, for the tests that are the same with all of them.

    Attributes:
        kinds: Its client and its async client.
        error: The base class of its exceptions.
        oldest: The first release that `wrap` takes.
        base_url: The address that its clients want.
        tool: The tool `go`, with this schema.
        create: Asks for a whole answer; what is given is put into the request.
        events: Asks for a stream.
        whole: Ways to ask, and the reason to stop after calls.
        streamed: Ways that stream.
    """

    module: ModuleType
    kinds: tuple[Any, Any]
    error: type[Exception]
    oldest: str
    base_url: Callable[[Server], str]
    tool: Callable[[Any], dict[str, Any]]
    create: Callable[..., Coroutine[Any, Any, Seen]]
    events: Callable[[Any], Any]
    whole: Mapping[Ask, str]
    streamed: Mapping[Ask, str]

    @property
    def lost(self) -> tuple[type[Exception], ...]:
        """What it raises when the connection is dropped."""
        return self.module.APIConnectionError, httpx2.TransportError

    @property
    def timeout(self) -> tuple[type[Exception], ...]:
        """What it raises when the server is silent."""
        return self.module.APITimeoutError, httpx2.TimeoutException

    def bare(self, kind: Any, server: Server, **given: Any) -> Any:
        """A client that asks this server."""
        return kind(**{**CLIENT, "base_url": self.base_url(server), **given})

    def made(
        self, kind: Any, server: Server, options: dict[str, Any] | None = None, **given: Any
    ) -> Callable[[], Any]:
        """Makes a wrapped client, of which the original is gone."""
        return lambda: wirecall.wrap(self.bare(kind, server, **given), **(options or {}))


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
    async with AsyncExitStack() as stack:
        is_async = hasattr(manager, "__aenter__")
        yield await got((stack.enter_async_context if is_async else stack.enter_context)(manager))


def run_sync(method: Callable[..., T], *given: Any, client: Any) -> T:
    """Calls a method of a framework that runs the current event loop, and closes its async client there."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        result = method(*given)
        loop.run_until_complete(client.close())
    finally:
        loop.close()
        asyncio.set_event_loop(None)
    return result


def run(made: Callable[[], Any], ask: Callable[[Any], Awaitable[Any]]) -> Any:
    """Asks a client that is closed afterwards, whichever kind it is."""

    async def asked() -> Any:
        async with inside(made()) as client:
            return await ask(client)

    return asyncio.run(asked())
