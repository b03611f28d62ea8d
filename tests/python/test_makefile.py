"""A first `make` takes minutes: before each slow step it says what it does."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What is said, and the slow command behind it.
STEPS = [
    ("creating .venv with ", "-m venv .venv"),
    ("installing the development tools into .venv ", "--require-hashes"),
    ("building the Rust extension ", "--editable ."),
]


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
@pytest.mark.parametrize("target", ["demo", "test"])
def test_slow_steps_are_announced(target: str) -> None:
    if not (ROOT / "Makefile").exists():
        pytest.skip("not in a checkout")
    # The options of an outer make do not apply to this one.
    env = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--dry-run", "--always-make", target]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    places = [done.stdout.index(text) for step in STEPS for text in step]
    assert places == sorted(places)
