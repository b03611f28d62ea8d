"""Runs a program of examples/ as a reader would, with `--demo`."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def output(name: str, *arguments: str, folder: Path = EXAMPLES) -> str:
    """What it prints; it must end well, without a word on stderr, and without a key."""
    environment = {
        key: value for key, value in os.environ.items() if not key.endswith(("_API_KEY", "_BASE_URL"))
    }
    done = subprocess.run(
        [sys.executable, str(folder / name), "--demo", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        encoding="utf-8",
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
