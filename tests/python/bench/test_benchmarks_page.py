"""docs/benchmarks.md and the README say what the commands find now."""

import re
from pathlib import Path

import pytest

from wirecall.bench.artifact import Cell
from wirecall.bench.catalogue import built_in
from wirecall.bench.offline import cells, totals
from wirecall.bench.vocabularies import vocabularies
from wirecall.tokens import VocabularyError

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def row(text: str, first: str) -> list[str]:
    """The cells of the only row that begins so."""
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def section(title: str) -> str:
    return PAGE.split(f"### {title}\n", 1)[1].partition("\n### ")[0]


@pytest.fixture(scope="module")
def counted() -> list[Cell]:
    try:
        return list(cells([built_in()], vocabularies(["o200k_base"], [])))
    except VocabularyError:
        pytest.skip("tiktoken's vocabulary is not there")


def test_the_page_has_the_totals_of_the_project_s_catalogue(counted: list[Cell]) -> None:
    shown = section("Totals: built-in, tokens of o200k\\_base")
    for total in totals(counted, 0.1):
        found = row(shown, total.format)
        assert [int(cell.replace(",", "")) for cell in found[1:3]] == [total.definitions, total.calls]


def test_every_call_of_the_project_s_catalogue_reads_back(counted: list[Cell]) -> None:
    assert [cell["key"] for cell in counted if cell["round_trip"] is False] == []


@pytest.mark.parametrize("catalogue", ["built-in", r"reference\_catalogue"])
def test_the_readme_s_figures_are_those_of_the_page(catalogue: str) -> None:
    shown = section(f"Totals: {catalogue}, tokens of o200k\\_base")
    figures = {name: row(shown, name) for name in ("named", "anthropic", "openai", "wire")}
    calls = {name: int(found[2]) for name, found in figures.items()}
    definitions = {name: int(found[1]) for name, found in figures.items()}
    readme = README.split("## Honest numbers\n", 1)[1].partition("\n## ")[0]

    def less(native: int, wire: int) -> str:
        return f"{native:,} | {wire:,} ({100 * (native - wire) / native:.0f} % less)".replace(",", "")

    wanted = [
        less(calls["named"], calls["wire"]),
        less(calls["anthropic"], calls["wire"]),
        less(definitions["openai"], definitions["wire"]),
        less(definitions["anthropic"], definitions["wire"]),
    ]
    said = re.sub(r", header and example call included", "", readme)
    assert [one for one in wanted if f"| {one} |" not in said] == []
