"""What is waited for while lists and requests are made smaller: written once, for sync and async hosts."""

import inspect
import sys
from collections.abc import Callable, Generator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from typing import Any, NamedTuple, Protocol, TypeVar, cast

T = TypeVar("T")

ASYNC = (
    "it is async: use atransform_params, atransform_request, awrap_generate or awrap_stream, or, for lists, "
    "acompact_messages or asummarize_messages"
)
# Seconds that a request waits for the summary that another one makes, before it makes its own.
_PATIENCE = 120.0


class Misused(TypeError):
    """An async function in a sync hook."""


class Step(Protocol):
    """A generator yields it, and gets what it returns or raises."""

    def now(self) -> Any: ...

    async def later(self) -> Any: ...


Steps = Generator[Step, Any, T]


def drive(steps: Steps[T]) -> T:
    """Takes all steps, and returns what the generator does."""
    try:
        step = next(steps)
        while True:
            try:
                found = step.now()
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(found)
    except StopIteration as end:
        return cast(T, end.value)


async def adrive(steps: Steps[T]) -> T:
    """`drive` for async hosts."""
    try:
        step = next(steps)
        while True:
            try:
                found = await step.later()
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(found)
    except StopIteration as end:
        return cast(T, end.value)


class Call(NamedTuple):
    """Of a host's function, which may be async in async hosts."""

    function: Callable[[Any], Any]
    given: object

    def now(self) -> Any:
        found = self.function(self.given)
        if inspect.isawaitable(found):
            if inspect.iscoroutine(found):
                found.close()
            raise Misused(ASYNC)
        return found

    async def later(self) -> Any:
        found = self.function(self.given)
        return await found if inspect.isawaitable(found) else found


class Wait(NamedTuple):
    """For what another request does; whether that is done."""

    done: "Future[None]"

    def now(self) -> bool:
        if _loop_runs():  # what is waited for may need this very thread
            return False
        try:
            self.done.result(_PATIENCE)
        except Late:
            return False
        return True

    async def later(self) -> bool:
        if not _loop_runs():  # but trio's
            return False
        import asyncio

        done, _ = await asyncio.wait([asyncio.wrap_future(self.done)], timeout=_PATIENCE)
        return bool(done)


def _loop_runs() -> bool:
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
