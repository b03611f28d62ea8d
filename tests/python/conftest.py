"""The modules beside the tests are imported by name; laws are tried as `law` says."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from grammar_support import Sampler

sys.path.insert(0, str(Path(__file__).resolve().parent))

from law import pytest_collection_modifyitems as pytest_collection_modifyitems

# The processes of pytest-xdist have those of a terminal, which they are not.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

# Programs that tests interrupt inherit it, and shells ignore it in what they start in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def sampler() -> Sampler:
    """llguidance with o200k; without this vocabulary, tests of it are skipped."""
    from grammar_support import Sampler, vocabulary
    from wirecall_bench.decoders import Llguidance

    try:
        known = vocabulary()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    return Sampler(known, Llguidance(known))
