"""Clients for the tests of this folder, as they are by default but for the address and the retries."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import anthropic
import openai
import pytest
from server import Script, Server, serve


@pytest.fixture
def play() -> Iterator[Callable[..., Server]]:
    """Starts a server that plays this script until the test is over."""
    with ExitStack() as stack:

        def start(script: Script, **options: Any) -> Server:
            return stack.enter_context(serve(script, **options))

        yield start


@pytest.fixture
def openai_client() -> Iterator[Callable[..., openai.OpenAI]]:
    with ExitStack() as stack:

        def make(server: Server, **options: Any) -> openai.OpenAI:
            options = {"api_key": "sk-test", "max_retries": 0, "timeout": 10, **options}
            return stack.enter_context(openai.OpenAI(base_url=server.openai_url, **options))

        yield make


@pytest.fixture
def anthropic_client() -> Iterator[Callable[..., anthropic.Anthropic]]:
    with ExitStack() as stack:

        def make(server: Server, **options: Any) -> anthropic.Anthropic:
            options = {"api_key": "sk-ant-test", "max_retries": 0, "timeout": 10, **options}
            return stack.enter_context(anthropic.Anthropic(base_url=server.url, **options))

        yield make
