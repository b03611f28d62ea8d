"""Holds back what is not sent until it is certain that the request will not be retried."""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class HoldBuffer(Generic[T]):
    """Sends items at once, or holds them until they are released or dropped."""

    __slots__ = ("_held", "_send")

    def __init__(self, send: Callable[[T], object]) -> None:
        self._send = send
        self._held: list[T] | None = None

    @property
    def holds(self) -> bool:
        return self._held is not None

    def put(self, item: T) -> None:
        if self._held is None:
            self._send(item)
        else:
            self._held.append(item)

    def hold(self) -> None:
        """Holds items from here on. Those that are held already stay."""
        self._held = self._held or []

    def release(self) -> None:
        """Sends what is held, and everything that follows."""
        held, self._held = self._held or (), None
        for item in held:
            self._send(item)

    def drop(self) -> bool:
        """Discards what is held, and sends everything that follows. False: nothing was being held."""
        held, self._held = self._held, None
        return held is not None
