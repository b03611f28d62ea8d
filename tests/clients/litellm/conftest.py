"""litellm without its network, and a server that plays a script."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

# Read when litellm is imported: it would fetch a list of prices.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from server import Script, Server, serve

from wirecall.integrations.litellm import Provider, register


def pytest_configure(config: pytest.Config) -> None:
    """Warnings of litellm are not ours to mend; our own are errors still."""
    config.addinivalue_line("filterwarnings", "ignore")
    config.addinivalue_line("filterwarnings", r"error:::wirecall(\..*)?")


@pytest.fixture
def play() -> Iterator[Callable[..., Server]]:
    with ExitStack() as stack:

        def start(script: Script, **options: Any) -> Server:
            return stack.enter_context(serve(script, **options))

        yield start


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test registers its own provider."""
    monkeypatch.setattr(litellm, "custom_provider_map", [])
    monkeypatch.setattr(litellm, "drop_params", False)
    monkeypatch.setattr(litellm, "callbacks", [])


@pytest.fixture
def provider() -> Provider:
    return register()
