"""A server that plays a script, and chat models that ask it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from server import Script, Server, serve

KINDS = ["chat", "responses", "anthropic"]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the environment, nothing to LangSmith."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "LANGSMITH_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANGSMITH_TRACING", "false")


@pytest.fixture
def play() -> Iterator[Callable[..., Server]]:
    with ExitStack() as stack:

        def start(script: Script, **options: Any) -> Server:
            return stack.enter_context(serve(script, **options))

        yield start


@pytest.fixture
def model() -> Callable[..., BaseChatModel]:
    def make(kind: str, server: Server, **options: Any) -> BaseChatModel:
        options = {"api_key": "sk-test", "max_retries": 0, "timeout": 10, **options}
        if kind == "anthropic":
            return ChatAnthropic(model="claude-sonnet-5", base_url=server.url, max_tokens=1000, **options)
        responses = kind == "responses"
        return ChatOpenAI(model="gpt-4o", base_url=server.openai_url, use_responses_api=responses, **options)

    return make
