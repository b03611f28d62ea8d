"""Commands of other distributions, found by their entry points; `bench` without its distribution."""

import re
import sys
from pathlib import Path

import pytest
from cli_support import run

from wirecall.__main__ import FAILED, main

PACKAGE = Path(__file__).parents[3] / "python" / "wirecall"
MODULE = """
import click

@click.command()
@click.option("--loud", is_flag=True)
def greet(loud):
    "Greet someone."
    click.echo("HELLO" if loud else "hello")
"""


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No distribution is installed."""
    monkeypatch.setattr(sys, "path", [])


@pytest.fixture
def greeter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with a command `greet`, and with one that cannot be loaded, is the only one."""
    about = tmp_path / "greeter-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greeter\nVersion: 1.0\n", encoding="utf-8")
    points = "[wirecall.commands]\ngreet = greeter_module:greet\nbroken = no_such_module:command\n"
    (about / "entry_points.txt").write_text(points, encoding="utf-8")
    (tmp_path / "greeter_module.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])


@pytest.mark.usefixtures("greeter")
def test_a_command_of_another_distribution_is_one_of_ours() -> None:
    assert run("greet", "--loud").output == "HELLO\n"
    assert run("parse", "--help").exit_code == 0


@pytest.mark.usefixtures("greeter")
def test_a_command_that_cannot_be_loaded_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["broken", "--loud"]) == FAILED
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "Error: no_such_module:command cannot be loaded: No module named 'no_such_module'\n"
    listed = run("--help", COLUMNS="80")
    assert re.search(r"\n  broken +Cannot be loaded\.\n", listed.stdout)
    assert re.search(r"\n  greet +Greet someone\.\n", listed.stdout)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("arguments", [[], ["--help"], ["offline", "--catalogue", "mine.json"]])
def test_bench_says_how_to_install_it(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *arguments]) == FAILED
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "Error: wirecall-bench is not installed. "
        "Install it from a clone of the repository: pip install ./benches\n"
    )


@pytest.mark.usefixtures("alone")
def test_help_lists_bench_without_its_distribution() -> None:
    assert re.search(r"\n  bench +Not installed\.\n", run("--help", COLUMNS="80").stdout)
    assert "No such command 'greet'" in run("greet").output


def test_the_package_names_no_distribution_that_adds_commands() -> None:
    for file in PACKAGE.rglob("*.py"):
        assert "wirecall_bench" not in file.read_text(encoding="utf-8"), file
