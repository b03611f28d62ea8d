"""`bench report` on files that are not artifacts: what is wrong, on which line, and what to do."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wirecall.__main__ import main
from wirecall_bench.artifact import SCHEMA

GIVE = "Give a file that `wirecall bench offline --output`, `live`, `agent` or `latency` has written\n"
LATER = "Install the version that wrote it, or a later one\n"


def header(**changes: Any) -> dict[str, Any]:
    about = {"command": "c", "date": "d", "versions": {}, "options": {}}
    machine = {"machine": {"cpu": "c", "cores": 1, "system": "s"}}
    return {"schema": SCHEMA, "kind": "live", "run": {**about, **machine}, **changes}


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


CELL = {"key": ["a"], "model": "m"}
FILES: dict[str, tuple[bytes, str, str]] = {
    "empty": (b"", " is empty. ", GIVE),
    "prose": (
        b"hello\n",
        ", line 1: this is not a line of an artifact of wirecall bench: it is not valid",
        GIVE,
    ),
    "blank lines": (b"\n\n", ", line 1: ", GIVE),
    "binary": (
        bytes(range(128, 256)) + b"\n",
        ", line 1: this is not a line of an artifact of wirecall bench: it is not text. ",
        GIVE,
    ),
    "tools": (b'[\n  {"name": "f"}\n]\n', ", line 1: ", GIVE),
    "tools on one line": (lines([{"name": "f"}]), "it is not a JSON object. ", GIVE),
    "no line break": (b'{"name": "f"}', "its first line is incomplete, without a line break. ", GIVE),
    "other JSON lines": (lines({"role": "user"}), "'schema' is missing. ", GIVE),
    "other schema": (lines({"schema": "x" * 1000, "kind": 1}), f", not {SCHEMA!r}. ", GIVE),
    "newer artifact": (
        lines(header(schema="wirecall._bench/99")),
        f", line 1: this version of wirecall reads {SCHEMA!r}, and this artifact has the schema "
        "'wirecall._bench/99'. ",
        LATER,
    ),
    "newer command": (
        lines(header(kind="dream")),
        ", line 1: this version of wirecall does not know `wirecall bench dream`, which wrote this ",
        LATER,
    ),
    "no options": (lines(header(run={})), ", line 1: ", GIVE),
    "wrong options": (lines(header(run={"options": []})), ", line 1: ", GIVE),
    "number": (lines(header(), 17), ", line 2: ", "Remove it, or run `wirecall bench live` again\n"),
    "cut inside": (
        lines(header()) + b'{"key": \n' + lines(CELL),
        ", line 2: this is not a line of an artifact of wirecall bench: it is not valid JSON: Expecting "
        "value, at column 9. ",
        "Remove it, or run `wirecall bench live` again\n",
    ),
    "no key": (lines(header(), {"a": 1}), ", line 2: ", "'key' is missing. Remove it, or run"),
    "other members": (
        lines(header(), CELL),
        " has contents that `wirecall bench live` does not write: 'mode' is missing in line 2. ",
        "run the command again\n",
    ),
    "no versions": (
        lines(header(run={"options": {}})),
        " has contents that `wirecall bench live` does not write: ",
        "run the command again\n",
    ),
}


Captured = pytest.CaptureFixture[str]


def reported(path: Path, capsys: Captured) -> str:
    """What is said on standard error, of a file that cannot be used."""
    assert main(["bench", "report", str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


def check(shown: str, name: str, said: str, advice: str) -> None:
    assert shown.startswith("Error: ")
    assert shown.count("\n") == 1
    assert len(shown) < 600
    assert name in shown
    assert said in shown
    assert advice in shown


@pytest.mark.parametrize("name", FILES)
def test_report_of_another_file_says_what_is_wrong_and_what_to_do(
    tmp_path: Path, name: str, capsys: Captured
) -> None:
    content, said, advice = FILES[name]
    path = tmp_path / "given.jsonl"
    path.write_bytes(content)
    check(reported(path, capsys), "given.jsonl", said, advice)


def test_report_of_another_file_in_a_process_has_no_traceback(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "given.jsonl"
    path.write_bytes(FILES["prose"][0])
    command = [sys.executable, "-m", "wirecall", "bench", "report", str(path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", reported(path, capsys))


def test_report_of_what_cannot_be_read_says_so(tmp_path: Path, capsys: Captured) -> None:
    check(reported(tmp_path, capsys), tmp_path.name, " cannot be read: ", GIVE)
    check(reported(tmp_path / "none.jsonl", capsys), "none.jsonl", " cannot be read: ", GIVE)
