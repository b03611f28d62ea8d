"""Fixtures of all folders, and what they are made of. A conftest.py imports what its tests ask for."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeVar

import pytest
from server import Server, serve

T = TypeVar("T")

# Clients as they are by default, but for the key, the retries, and how long they wait.
CLIENT: dict[str, Any] = {"api_key": "sk-test", "max_retries": 0, "timeout": 10}


def entered(make: Callable[..., AbstractContextManager[T]]) -> Iterator[Callable[..., T]]:
    """A fixture that makes such things, and closes them when the test is over."""
    with ExitStack() as stack:
        yield lambda *given, **options: stack.enter_context(make(*given, **options))


@pytest.fixture
def play() -> Iterator[Callable[..., Server]]:
    """Starts servers that play scripts."""
    yield from entered(serve)
