"""How the tests run the command line: as a process, or with click's runner."""

import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

import click
from click.testing import CliRunner, Result

from wirecall._cli.commands import wirecall

COMMAND = [sys.executable, "-m", "wirecall"]
TIMEOUT = 30
TOOLS = [
    {
        "name": "get_weather",
        "description": "The weather.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where"},
                "days": {"type": "integer", "minimum": 1},
            },
            "required": ["city"],
        },
    },
    {"name": "get_time", "input_schema": {"type": "object", "properties": {"zone": {"type": "string"}}}},
]


def run(*arguments: str, stdin: str | bytes = "", **environment: str) -> Result:
    return CliRunner().invoke(wirecall, arguments, input=stdin, env=environment)


def process(*arguments: str, stdin: bytes = b"", **environment: str) -> "subprocess.CompletedProcess[bytes]":
    env = {**os.environ, "PYTHONUTF8": "1", **environment}
    return subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, timeout=TIMEOUT, env=env)


def terminal_output(columns: int, *arguments: str) -> str:
    """What a command prints on a terminal of this width, without colours."""
    termios = pytest.importorskip("termios", reason="no pseudo-terminals")
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    env = {**os.environ, "PYTHONUTF8": "1", "TERM": "xterm"}
    env.pop("COLUMNS", None)
    read = b""
    with subprocess.Popen([*COMMAND, *arguments], stdin=theirs, stdout=theirs, env=env) as child:
        os.close(theirs)
        # The end of a terminal is an error on Linux.
        with suppress(OSError):
            while piece := os.read(ours, 1 << 16):
                read += piece
        os.close(ours)
    assert child.returncode == 0
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", read.decode()).replace("\r\n", "\n")


class Talk:
    """A process that is written to and read from line by line."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self.child = child
        self.lines: queue.Queue[bytes] = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            self.lines.put(line)

    def write(self, data: bytes) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(data)
        self.child.stdin.flush()

    def event(self) -> dict[str, Any]:
        return json.loads(self.lines.get(timeout=TIMEOUT))


@contextmanager
def talk(*arguments: str) -> Iterator[Talk]:
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    env = {**os.environ, "PYTHONUTF8": "1"}
    with subprocess.Popen([*COMMAND, *arguments], env=env, **pipes) as child:
        try:
            yield Talk(child)
        finally:
            child.kill()


def events(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def without_ids(value: Any) -> Any:
    """JSON values without the ids of calls, which are random."""
    if isinstance(value, dict):
        return {key: without_ids(held) for key, held in value.items() if key != "id"}
    return [without_ids(one) for one in value] if isinstance(value, list) else value


def every_command() -> Iterator[tuple[str, click.Command]]:
    """All commands with their names, such as `bench report`: groups after their own commands."""

    def walk(group: click.Group, names: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group):
                yield from walk(command, (*names, name))
            yield " ".join((*names, name)), command

    yield from walk(wirecall, ())
