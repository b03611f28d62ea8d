"""The examples with the bare SDKs run, and show what they are there to show."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from examples import EXAMPLES, ROOT, output
from pages import Block, cases, run

PAGES = cases(
    ROOT / "docs/clients/openai.md", ROOT / "docs/clients/anthropic.md", ROOT / "tests/clients/README.md"
)


def test_openai() -> None:
    shown = output("openai_chat.py")
    assert "[error: malformed_call: the call is not well-formed]" in shown
    assert 'stock {"article":"shirt","size":"S"} -> 4\n' in shown
    assert shown.endswith("There are four in S and none in M.\n")


def test_anthropic() -> None:
    assert output("anthropic_messages.py").splitlines() == [
        "I'll look. ",
        "stock {'article': 'shirt', 'size': 'XL'}",
        "stock {'article': 'shirt', 'size': 'L'}",
        "There is no XL; eleven are there in L.",
    ]


def test_a_store_of_ones_own() -> None:
    lines = output("compact_store.py").splitlines()
    assert lines[-1] == "kestrel-7: 200"
    shortened = [line for line in lines if "messages became" in line]
    assert len(shortened) >= 3
    assert all(int(line.split()[-1][:-1]) < 20 for line in shortened)


def test_a_store_wants_a_file() -> None:
    command = [sys.executable, str(EXAMPLES / "compact_store.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("usage: compact_store.py FILE")


def test_shortened_in_flight() -> None:
    lines = output("compact_in_flight.py").splitlines()
    assert lines[-1] == "kestrel-7: 200"
    assert sum(line.startswith("[compressed: a summary replaces") for line in lines) >= 3


def test_an_incident() -> None:
    shown = output("incident.py")
    head, timeline, saw, wrote, came_out = shown.split("\n\n")
    assert "POST /v1/chat/completions model=demo; calls; tools called: stock; 2 attempts" in head
    assert "error stock 11.." in timeline
    assert "malformed_call" in timeline
    assert "request 2 (retry): 4 messages" in timeline
    assert "[user] <tool-error" in saw
    assert "[object Object]" in wrote
    assert '"tool_calls": [' in came_out


def test_a_copy_of_the_folder_runs(tmp_path: Path) -> None:
    copy = shutil.copytree(EXAMPLES, tmp_path / "mine")
    assert output("anthropic_messages.py", folder=copy) == output("anthropic_messages.py")


@pytest.mark.parametrize("block", PAGES)
def test_block_of_the_page_runs_alone(block: Block, tmp_path: Path) -> None:
    run(block, tmp_path)
