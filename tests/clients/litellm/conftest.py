"""litellm without its network, one event loop for all tests, and servers that play scripts."""

import asyncio
import gc
import os
import warnings
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import pytest

# Read when litellm is imported: it would fetch prices over the network, and wait for them.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from playing import play as play

from wirecall.integrations.litellm import _Provider as Provider
from wirecall.integrations.litellm import register

T = TypeVar("T")


def pytest_configure(config: pytest.Config) -> None:
    """litellm's own warnings are not errors of ours; our warnings are."""
    config.addinivalue_line("filterwarnings", "default")
    config.addinivalue_line("filterwarnings", r"error:::wirecall(\..*)?")


def pytest_sessionfinish() -> None:
    """Connections that litellm left open close here; later the warning would be an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            gc.collect()


@pytest.fixture(scope="session")
def run() -> Iterator[Callable[[Coroutine[Any, Any, T]], T]]:
    """One loop, since litellm keeps its clients, and they their loop."""
    loop = asyncio.new_event_loop()
    yield loop.run_until_complete
    loop.run_until_complete(litellm.close_litellm_async_clients())
    loop.close()


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test registers its own provider."""
    monkeypatch.setattr(litellm, "custom_provider_map", [])
    monkeypatch.setattr(litellm, "drop_params", False)
    monkeypatch.setattr(litellm, "callbacks", [])


@pytest.fixture
def provider() -> Provider:
    return register()
