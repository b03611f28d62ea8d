"""Runs the programs of examples/ as a reader would, and reads what the README says of an SDK."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import wirecall

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


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


@contextmanager
def demo_server(*options: str) -> Iterator[tuple[str, Any]]:
    """The address of a demo server at a free port, and its process."""
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "demo_server.py"), "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        printed = "".join(process.stdout.readline() for _ in range(5))
        [openai] = re.findall(r'OpenAI\(base_url="(\S+)", api_key="-"\)', printed)
        [url] = re.findall(r'Anthropic\(base_url="(\S+)", api_key="-"\)', printed)
        assert openai == f"{url}/v1"
        yield url, process
    finally:
        process.kill()
        process.communicate()


def written_in_the_readme(what: str, **names: Any) -> Any:
    """The value of the README's expression for an SDK or framework, with a key in the environment."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [expression] = re.findall(rf"^\| {re.escape(what)} \| `([^`]+)`", readme, re.MULTILINE)
    with mock.patch.dict(os.environ, OPENAI_API_KEY="none", ANTHROPIC_API_KEY="none"):
        return eval(expression, {"wirecall": wirecall, **names})
