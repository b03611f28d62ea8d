"""The model server and the gateway that the tests share; modules are imported by name."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))

from upstream import Upstream, gateway_before, serve

from wirecall_bench.gateway.processes import GatewayProcess


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
def gateway(running_upstream: Upstream) -> Iterator[GatewayProcess]:
    """The gateway in front of the model server. In the end, nothing must have failed in it."""
    with gateway_before(running_upstream) as gateway:
        yield gateway
