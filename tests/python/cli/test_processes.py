"""Commands as processes: streams, signals and exit codes."""

import json
import os
import signal
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from cli_support import COMMAND, TIMEOUT, process, talk
from click.testing import CliRunner

from wirecall import __version__
from wirecall._cli.commands import wirecall


def test_events_come_before_the_input_ends(tools: str) -> None:
    with talk("parse", "--tools", tools) as child:
        child.write(b"Hi ")
        assert child.event() == {"type": "text", "text": "Hi "}
        child.write(b'<call>get_weather city="Lis')
        start = child.event()
        assert (start["type"], start["index"], start["name"]) == ("call_start", 0, "get_weather")
        assert child.event() == {"type": "arguments_delta", "index": 0, "delta": '{"city":"Lis'}
        child.write(b'bon"</call>')
        assert child.event()["type"] == "arguments_delta"
        assert child.event() == {
            "type": "call_end",
            "index": 0,
            "id": start["id"],
            "name": "get_weather",
            "arguments": '{"city":"Lisbon"}',
            "start": 3,
            "end": 41,
            "repairs": [],
            "problems": [],
        }
        # A character that comes in two parts.
        child.write("é".encode()[:1])
        child.write("é".encode()[1:] + b" ")
        assert child.event()["text"] == "é "
        assert child.child.stdin is not None
        child.child.stdin.close()
        assert child.child.wait(TIMEOUT) == 0


def test_text_comes_before_the_input_ends() -> None:
    with talk("parse", "--text") as child:
        child.write(b"one\n<call>f a=1</call>two\n")
        assert child.lines.get(timeout=TIMEOUT) == b"one\n"
        assert child.lines.get(timeout=TIMEOUT) == b"two\n"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT between processes")
@pytest.mark.parametrize(
    ("command", "line", "expected"),
    [
        ("parse", b"x\n", b'{"type":"text","text":"x\\n"}\n'),
        ("encode", b'{"name": "f"}\n', b"<call>f</call>\n"),
    ],
)
def test_interrupt(command: str, line: bytes, expected: bytes) -> None:
    with talk(command) as child:
        child.write(line)
        assert child.lines.get(timeout=TIMEOUT) == expected
        child.child.send_signal(signal.SIGINT)
        assert child.child.wait(TIMEOUT) == 130
        assert child.child.stderr is not None
        assert child.child.stderr.read().strip() == b""


@pytest.mark.parametrize("arguments", [["parse"], ["parse", "--text"], ["demo"]])
def test_closed_output(arguments: list[str]) -> None:
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([*COMMAND, *arguments], **pipes) as child:
        child.stdout.close()
        _, stderr = child.communicate(b"text " * 1000, timeout=TIMEOUT)
    assert child.returncode == 141
    assert stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "parse"], input=b"x", stdout=full, stderr=subprocess.PIPE, timeout=TIMEOUT
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"wirecall: cannot write the output: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("closed", "status", "stderr"), [("<&-", 2, b"standard input is closed"), (">&- <&-", 2, b"closed")]
)
def test_missing_streams(closed: str, status: int, stderr: bytes) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {closed}', *COMMAND, "parse"], capture_output=True, timeout=TIMEOUT
    )
    assert done.returncode == status
    assert stderr in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["parse"], "a model's message"),
        (["encode"], "calls, a JSON object on each line,"),
        (["encode", "f", "-"], "the arguments, a JSON object,"),
        (["manual", "--tools", "-"], 'a JSON list of tools, or {"tools": […]}'),
        (["compact", "--keep-recent-turns", "1", "--plan"], "a conversation"),
    ],
)
def test_a_terminal_is_told_what_is_read(arguments: list[str], expected: str) -> None:
    ours, theirs = os.openpty()
    try:
        with subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONUTF8": "1"},
        ) as child:
            assert child.stderr is not None
            said = child.stderr.readline().decode()
            assert said == f"wirecall: reading {expected} from the terminal; Ctrl-D ends it\n"
            child.send_signal(signal.SIGINT)
            stdout, stderr = child.communicate(timeout=TIMEOUT)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (child.returncode, stdout, stderr.strip()) == (130, b"", b"")


def test_output_that_cannot_take_every_character() -> None:
    latin = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}
    done = process("parse", stdin="é → \n".encode(), **latin)
    assert json.loads(done.stdout.decode("ascii"))["text"] == "é → \n"
    done = process("parse", "--text", stdin="é → \n".encode(), **latin)
    assert (done.returncode, done.stdout) == (0, "é ? \n".encode("latin-1"))


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_the_extra(missing: str) -> None:
    hide = (
        f"import sys; sys.modules[{missing!r}] = None; from wirecall.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", hide], capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "pip install '.[cli]' in a clone of wirecall" in done.stderr


def test_the_version_is_that_of_the_project_also_without_an_installation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(distribution: str) -> str:
        raise metadata.PackageNotFoundError(distribution)

    monkeypatch.setattr(metadata, "version", nothing)
    said = CliRunner().invoke(wirecall, ["--version"], prog_name="wirecall")
    assert said.stdout == f"wirecall, version {__version__}\n"
    root = Path(__file__).parents[3]
    for manifest in ("pyproject.toml", "Cargo.toml"):
        assert f'\nversion = "{__version__}"\n' in (root / manifest).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["parse"], 0),
        (["--help"], 0),
        (["--version"], 0),
        (["parse", "--nope"], 2),
        (["parse", "--tools", "nowhere.json"], 2),
        (["parse", "nowhere.txt"], 2),
        (["parse", "a", "b"], 2),
        (["parse", "--text", "--whole"], 2),
        (["parse", "--tools", "-"], 2),
        (["encode", "--tools", "-"], 2),
        (["encode", "--tools", "-", "f", "-"], 2),
        (["encode", "f", "{"], 2),
        (["encode", "f", "[]"], 2),
        (["manual"], 2),
        (["manual", "--tools", "-", "--descriptions", "some"], 2),
        (["tokens"], 2),
        (["tokens", "--tools", "-", "--calls", "-"], 2),
        (["demo", "--speed", "-1"], 2),
        (["demo", "--speed", "fast"], 2),
        (["demo", "extra"], 2),
        (["nope"], 2),
    ],
)
def test_exit_codes(arguments: list[str], status: int) -> None:
    done = process(*arguments)
    assert done.returncode == status
    assert b"Traceback" not in done.stderr
    if status:
        assert done.stdout == b""
        assert done.stderr
    else:
        assert done.stderr == b""
