"""What the examples say where they cannot run: one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAM = """
import sys
sys.modules["aiohttp"] = None
sys.path.insert(0, sys.argv.pop(1))
from demo_server import endpoint
with endpoint("gpt-4.1-mini", [], takes=["--chat"]) as model:
    print(model)
"""


@pytest.mark.parametrize(
    ("arguments", "key", "said"),
    [
        (["--demo"], "", "--demo needs aiohttp: pip install aiohttp"),
        ([], "", "OPENAI_API_KEY is not set. Set it, or run this with --demo, which needs no key."),
        (["--dmeo"], "x", "unknown argument --dmeo; this takes --demo or --chat"),
        (["--demo", "demo"], "", "unknown argument demo; this takes --demo or --chat"),
        (["--chat"], "x", None),
    ],
)
def test_what_an_example_needs(arguments: list[str], key: str, said: str | None) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(EXAMPLES), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "OPENAI_API_KEY": key, "MODEL": "m"},
    )
    expected = (0, "m\n", "") if said is None else (1, "", f"{said}\n")
    assert (done.returncode, done.stdout, done.stderr) == expected
