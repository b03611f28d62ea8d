"""Servers that play scripts, and bare clients that ask them."""

from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest
from playing import CLIENT, entered
from playing import play as play
from server import Server
from streaming import Clients, streaming_clients


@pytest.fixture
def openai_client() -> Iterator[Callable[..., openai.OpenAI]]:
    def make(server: Server, **options: Any) -> openai.OpenAI:
        return openai.OpenAI(base_url=server.openai_url, **{**CLIENT, **options})

    yield from entered(make)


@pytest.fixture
def anthropic_client() -> Iterator[Callable[..., anthropic.Anthropic]]:
    def make(server: Server, **options: Any) -> anthropic.Anthropic:
        return anthropic.Anthropic(base_url=server.url, **{**CLIENT, **options})

    yield from entered(make)


@pytest.fixture(scope="session")
def clients() -> Iterator[Clients]:
    """Bare and wrapped clients for many cases: making one takes longer than a case."""
    with streaming_clients() as clients:
        yield clients
