"""The help of the commands."""

import re
import subprocess
import sys

import click
import pytest
from cli_support import TIMEOUT, run

from wirecall._cli.commands import wirecall

COMMANDS = wirecall.list_commands(click.Context(wirecall))


def test_help_lists_every_command_in_one_line() -> None:
    said = run("--help", COLUMNS="80").stdout
    assert {*wirecall.commands} < {*COMMANDS}
    for name in COMMANDS:
        assert re.search(rf"^  {name} +[A-Z][^\n]*[^.]\.$", said, re.MULTILINE), name


def test_help_has_an_example_of_each_command() -> None:
    said = run("--help").stdout
    assert [name for name in COMMANDS if f"\n    wirecall {name}" not in said] == []


def test_help_says_what_happens_without_tools() -> None:
    parse, encode = (" ".join(run(command, "--help").stdout.split()) for command in ("parse", "encode"))
    assert "Without it, calls of any name are parsed, with untyped values." in parse
    assert "Without it, calls of any name are written, with untyped values." in encode


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"]])
def test_help_says_who_wrote_the_demo(arguments: list[str]) -> None:
    assert "Replay hand-written model outputs" in run(*arguments).stdout


@pytest.mark.parametrize("command", ["parse", "encode", "grammar", "manual", "tokens", "demo"])
def test_help_has_examples(command: str) -> None:
    done = run(command, "--help")
    assert done.exit_code == 0
    assert f"\n    wirecall {command}" in done.stdout or f"| wirecall {command}" in done.stdout
    assert "\b" not in done.stdout


def test_python_runs_it_as_a_module() -> None:
    command = [sys.executable, "-m", "wirecall", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run("--help").stdout
