"""Runs code that is written once, as coroutines, for sync and async hosts."""

import sys
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine for a sync host. It never waits, so it needs no event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError("a coroutine of a sync host waited")


async def aside(call: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Calls a function that takes long in a thread, so that the other tasks of an event loop go on. Without
    asyncio, as under trio, it is called here."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:
        return call(*given, **named)
    result: T = await asyncio.to_thread(call, *given, **named)
    return result
