"""The group `wirecall bench`: there without its extra, and then it says what to install."""

import importlib.util

import click
import pytest
from click.testing import CliRunner

from wirecall import PROTOCOLS
from wirecall._bench import commands
from wirecall._bench.artifact import BenchError
from wirecall._bench.commands import bench
from wirecall._cli.commands import wirecall


@pytest.mark.parametrize("arguments", [["bench"], ["bench", "--help"], ["bench", "offline"]])
def test_what_is_missing_is_said_in_a_sentence(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "scipy" else object())
    result = CliRunner().invoke(wirecall, arguments)
    assert result.output == "Error: scipy is not installed: pip install 'wirecall[bench]'\n"
    assert result.exit_code != 0
    assert "bench" in CliRunner().invoke(wirecall, ["--help"]).output


def test_what_can_be_mended_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_NEEDED", ())

    @click.command()
    def broken() -> None:
        raise BenchError("This is what to do.")

    monkeypatch.setitem(commands.bench.commands, "broken", broken)
    result = CliRunner().invoke(wirecall, ["bench", "broken"])
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
def test_a_number_is_one(option: str, number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_NEEDED", ())
    result = CliRunner().invoke(wirecall, ["bench", *option.split(), number])
    assert result.exit_code == 2
    assert f"Invalid value for '{option.split()[-1]}'" in result.output
