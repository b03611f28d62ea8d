"""Servers that play scripts, and chat models that ask them."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from playing import CLIENT
from playing import play as play
from server import Server


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the environment, nothing to LangSmith."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "LANGSMITH_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANGSMITH_TRACING", "false")


@pytest.fixture
def model() -> Callable[..., BaseChatModel]:
    def make(kind: str, server: Server, **options: Any) -> BaseChatModel:
        options = {**CLIENT, **options}
        if kind == "anthropic":
            return ChatAnthropic(model="claude-sonnet-5", base_url=server.url, max_tokens=1000, **options)
        responses = kind == "responses"
        return ChatOpenAI(model="gpt-4o", base_url=server.openai_url, use_responses_api=responses, **options)

    return make
