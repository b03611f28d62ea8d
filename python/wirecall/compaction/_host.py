"""Compaction is written once, as coroutines; a host says whether they may wait."""

import inspect
import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

NEEDS_ASYNC = (
    "it is async: use an async client, awrap_generate or awrap_stream, or, for lists, acompact_messages or "
    "asummarize_messages"
)


class AsyncFunctionError(TypeError):
    """An async function in a sync host."""


@dataclass(frozen=True)
class Host:
    """Runs functions for coroutines of this package, which may wait only if it `is_async`."""

    is_async: bool

    async def call(self, function: Callable[[Any], Any], given: object) -> Any:
        """Calls a host's function, which may be async in async hosts."""
        found = function(given)
        if not inspect.isawaitable(found):
            return found
        if self.is_async:
            return await found
        if inspect.iscoroutine(found):
            found.close()
        raise AsyncFunctionError(NEEDS_ASYNC)

    async def wait(self, done: "Future[None]", most: float) -> bool:
        """Waits at most so many seconds for the work of another request. False: it is not done, so do it
        yourself."""
        # A sync host must not block its own loop, on which the work may depend; trio has none of asyncio's.
        if _loop_runs() != self.is_async:
            return False
        if self.is_async:
            import asyncio

            finished, _ = await asyncio.wait([asyncio.wrap_future(done)], timeout=most)
            return bool(finished)
        return bool(wait([done], most).done)


SYNC, ASYNC = Host(is_async=False), Host(is_async=True)


def _loop_runs() -> bool:
    with suppress(KeyError, RuntimeError):
        sys.modules["asyncio"].get_running_loop()
        return True
    return False
