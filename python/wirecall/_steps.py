"""Code for sync and async hosts, written once: a generator yields what it waits for."""

from collections.abc import Awaitable, Generator
from typing import Any, Protocol, TypeVar, cast

T = TypeVar("T")


class Step(Protocol):
    """A generator yields it, and gets what it returns or raises."""

    def now(self) -> Any: ...

    def later(self) -> Awaitable[Any]: ...


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
