"""SGLang without a GPU, with wirecall's plugin loaded as SGLang loads it."""

import os

os.environ.update(HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from sglang.srt.plugins import load_plugins
from sglang.srt.plugins.hook_registry import HookRegistry

from wirecall.integrations._sglang import server as state

# They find wirecall by its entry point.
load_plugins()
HookRegistry.apply_hooks()


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The settings of a test are its own."""
    for name in ("WIRECALL_FORMAT", "WIRECALL_CALLS", "WIRECALL_PROMPT"):
        monkeypatch.delenv(name, raising=False)
    state.serving.forget()
    yield
    state.serving.forget()
