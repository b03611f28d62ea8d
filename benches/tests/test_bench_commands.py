"""The group `wirecall bench`: without one of its libraries, it says what to install."""

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points

import click
import pytest
from click.testing import CliRunner, Result

from wirecall import PROTOCOLS
from wirecall._cli.commands import wirecall
from wirecall_bench.artifact import BenchError
from wirecall_bench.commands import Bench, bench


def invoke(needed: Sequence[str], commands: dict[str, click.Command], *arguments: str) -> Result:
    """`wirecall bench` with these commands, where these libraries are needed."""
    group = Bench("bench", needed=needed, commands=commands)
    return CliRunner().invoke(click.Group("wirecall", commands={"bench": group}), ["bench", *arguments])


@pytest.mark.parametrize("arguments", [[], ["--help"], ["offline"]])
def test_what_is_missing_is_said_in_a_sentence(arguments: list[str]) -> None:
    result = invoke(["json", "no_such_library"], bench.commands, *arguments)
    assert result.output == "Error: no_such_library is not installed: pip install ./benches, in a clone\n"
    assert result.exit_code != 0
    assert isinstance(bench, Bench)
    assert "scipy" in bench.needed


def test_wirecall_finds_it() -> None:
    (found,) = entry_points(group="wirecall.commands", name="bench")
    assert found.load() is bench
    said = CliRunner().invoke(wirecall, ["bench", "--help"], env={"COLUMNS": "80"}).output
    assert said.startswith("Usage: wirecall bench ")
    assert len(bench.commands) >= 5
    for name in bench.commands:
        assert re.search(rf"^  {name} +[A-Z][^\n]*[^.]\.$", said, re.MULTILINE), name


def test_it_loads_its_libraries_when_they_are_used() -> None:
    code = "import sys; import wirecall_bench.commands; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    slow = {"anthropic", "jinja2", "jsonschema", "matplotlib", "numpy", "openai", "scipy", "tenacity"}
    assert "wirecall_bench.options" in loaded.split()
    assert not slow.intersection(loaded.split())


def test_what_can_be_mended_is_no_traceback() -> None:
    @click.command()
    def broken() -> None:
        raise BenchError("This is what to do.")

    result = invoke((), {"broken": broken}, "broken")
    assert result.output == "Error: This is what to do.\n"


@pytest.mark.parametrize("name", sorted(bench.commands))
def test_every_option_says_what_it_is_for(name: str) -> None:
    said = [one for one in bench.commands[name].params if isinstance(one, click.Option)]
    assert [one.name for one in said if not one.help] == []


def test_the_modes_are_named() -> None:
    for name in ("live", "agent"):
        (modes,) = (one for one in bench.commands[name].params if one.name == "modes")
        assert isinstance(modes, click.Option)
        assert all(protocol in (modes.help or "") for protocol in PROTOCOLS)


@pytest.mark.parametrize("number", ["nan", "inf"])
@pytest.mark.parametrize(
    "option",
    ["offline --cached-price", "latency --limit", "live --models m --max-usd", "agent --models m --timeout"],
)
def test_a_number_is_one(option: str, number: str) -> None:
    result = invoke((), bench.commands, *option.split(), number)
    assert result.exit_code == 2
    assert f"Invalid value for '{option.split()[-1]}'" in result.output
