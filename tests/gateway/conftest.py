"""The model server and the gateway that the tests share; modules are imported by name."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))

from running import Gateway
from upstream import Upstream, serve


@pytest.fixture(scope="session")
def running_upstream() -> Iterator[Upstream]:
    with serve() as upstream:
        yield upstream


@pytest.fixture
def upstream(running_upstream: Upstream) -> Upstream:
    """The model server, without the requests of earlier tests."""
    running_upstream.settle()
    running_upstream.requests.clear()
    running_upstream.errors.clear()
    return running_upstream


@pytest.fixture(scope="session")
def running_gateway(running_upstream: Upstream) -> Iterator[Gateway]:
    with Gateway(running_upstream.openai_url) as gateway:
        yield gateway


@pytest.fixture
def gateway(running_gateway: Gateway) -> Gateway:
    """The gateway in front of the model server, which must have survived earlier tests."""
    running_gateway.check()
    return running_gateway
