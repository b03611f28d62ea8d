"""docs/bench.md: its catalogue runs, and what it names is there."""

import json
import re
import shlex
from dataclasses import fields
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from wirecall._cli.commands import wirecall as command
from wirecall_bench.catalogue import Case
from wirecall_bench.commands import bench
from wirecall_bench.modes import MODES
from wirecall_bench.outcomes import MEASURES
from wirecall_bench.tasks import TASKS

PAGE = (Path(__file__).parents[2] / "docs" / "bench.md").read_text(encoding="utf-8")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def section(title: str) -> str:
    (found,) = (part for part in PAGE.split("\n## ")[1:] if part.partition("\n")[0].endswith(title))
    return found


def rows(text: str) -> list[str]:
    """What is written as code in the first column of tables."""
    return re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)


def options_of(name: str) -> set[str]:
    return {option for one in bench.commands[name].params for option in one.opts}


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    (example,) = re.findall(r"^```json mine\.json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "mine.json"
    path.write_text(example, encoding="utf-8")
    return path


def test_its_catalogue_is_counted(catalogue: Path) -> None:
    said = CliRunner().invoke(
        command, ["bench", "offline", "--catalogue", str(catalogue), "--encoding", "characters"]
    )
    assert said.exit_code == 0, said.output
    assert "Totals: mine, characters" in said.output
    assert "case 2" in said.output


def test_its_catalogue_is_asked(catalogue: Path) -> None:
    said = CliRunner().invoke(
        command,
        [
            *("bench", "live", "--models", "m", "--base-url", "http://localhost:1/v1", "--dry-run"),
            *("--catalogue", str(catalogue), "--encoding", "characters"),
        ],
    )
    assert said.exit_code == 0, said.output
    assert "Skipped, without a prompt: 1 of 2 cases." in said.output
    assert json.loads(catalogue.read_text(encoding="utf-8"))["cases"][0]["prompt"] in said.output


def test_all_members_of_a_case_and_all_scores_are_explained() -> None:
    assert rows(section("A catalogue of your tools")) == [field.name for field in fields(Case)]
    scores = [measure.name for measure in MEASURES["live"] if measure.unit == "%"]
    modes, _, scored = section("`bench live`").partition("### Scores")
    assert rows(scored) == scores
    assert all(f"`{mode}`" in modes for mode in MODES)
    assert len(TASKS) == 16
    assert "Sixteen tasks" in section("`bench agent`")


def test_every_command_has_its_place_and_every_option_exists() -> None:
    named = set(re.findall(r"`wirecall bench (\w+)`", PAGE.split("\n## ")[0]))
    assert named == set(bench.commands)
    commands = re.findall(r"^wirecall (bench .+)$", PAGE, re.MULTILINE)
    assert {shlex.split(line)[1] for line in commands} == set(bench.commands)
    for line in commands:
        _, name, *given = shlex.split(line)
        # Options that there are not, and values that they do not take, are refused here.
        bench.commands[name].make_context(name, given, click.Context(bench)).close()
    everywhere = set().union(*map(options_of, bench.commands))
    assert set(OPTION.findall(PAGE)) - everywhere == {"--help"}
    for title in ("live", "agent", "offline", "latency"):
        text = section(f"`bench {title}`")
        assert set(OPTION.findall(re.sub(r"```.*?```", "", text, flags=re.DOTALL))) <= options_of(title), (
            title
        )
