"""The group `wirecall bench`: there without its extra, and then it says what to install."""

from collections.abc import Sequence

import click
import pytest
from click.testing import CliRunner, Result

from wirecall import PROTOCOLS
from wirecall._bench.artifact import BenchError
from wirecall._bench.commands import Bench, bench
from wirecall._cli.commands import wirecall


def invoke(needed: Sequence[str], commands: dict[str, click.Command], *arguments: str) -> Result:
    """`wirecall bench` with these commands, where these libraries are needed."""
    group = Bench("bench", needed=needed, commands=commands)
    return CliRunner().invoke(click.Group("wirecall", commands={"bench": group}), ["bench", *arguments])


@pytest.mark.parametrize("arguments", [[], ["--help"], ["offline"]])
def test_what_is_missing_is_said_in_a_sentence(arguments: list[str]) -> None:
    result = invoke(["json", "no_such_library"], bench.commands, *arguments)
    assert result.output == "Error: no_such_library is not installed: pip install 'wirecall[bench]'\n"
    assert result.exit_code != 0
    assert isinstance(bench, Bench)
    assert "scipy" in bench.needed
    assert "bench" in CliRunner().invoke(wirecall, ["--help"]).output


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
