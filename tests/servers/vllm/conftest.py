"""vLLM without a GPU, with wirecall's plugin loaded as vLLM loads it."""

import os

os.environ.update(HF_HUB_OFFLINE="1", VLLM_NO_USAGE_STATS="1", OMP_NUM_THREADS="1", VLLM_TARGET_DEVICE="cpu")

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from scripted import Server
from vllm.plugins import load_general_plugins

from wirecall.integrations._vllm import server as state

load_general_plugins()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server whose chat template opens reasoning if `enable_thinking` is set."""
    return Server(tmp_path_factory.mktemp("model") / "Qwen3-8B")


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The settings of a test are its own."""
    for name in ("WIRECALL_FORMAT", "WIRECALL_CALLS"):
        monkeypatch.delenv(name, raising=False)
    state.serving.forget()
    monkeypatch.setattr(state, "taught", None)
    yield
    state.serving.forget()
