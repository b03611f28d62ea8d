"""docs/benchmarks.md and the README say what the commands find now."""

import itertools
import re
from dataclasses import replace
from pathlib import Path

import pytest

from script_support import load_script
from wirecall_bench.artifact import BenchError, Cell, read
from wirecall_bench.catalogue import built_in
from wirecall_bench.offline import cells, totals
from wirecall_bench.vocabularies import vocabularies

ROOT = Path(__file__).parents[2]
SCRIPT = load_script("benchmarks_page")
LIVE = sorted((ROOT / "benches" / "live").glob("*.jsonl"))
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
    except BenchError:
        pytest.skip("tiktoken's vocabulary is not there")


def test_the_page_has_the_totals_of_the_project_s_catalogue(counted: list[Cell]) -> None:
    shown = section("Totals: built-in, tokens of o200k\\_base")
    for total in totals(counted, 0.1):
        found = row(shown, total.format)
        assert [int(cell.replace(",", "")) for cell in found[1:3]] == [total.definitions, total.calls]


def test_every_call_of_the_project_s_catalogue_reads_back(counted: list[Cell]) -> None:
    assert [cell["key"] for cell in counted if cell["round_trip"] is False] == []


def table(text: str, after: str) -> dict[str, list[str]]:
    """The cells of the first table after a sentence, by the first one of each row."""
    lines = itertools.dropwhile(lambda line: not line.startswith("|"), text.split(after, 1)[1].splitlines())
    head, _, *rows = itertools.takewhile(lambda line: line.startswith("|"), lines)
    split = [[cell.strip() for cell in line.strip("|").split("|")] for line in (head, *rows)]
    return {first: rest for first, *rest in split}


def test_savings_in_the_readme_are_those_of_the_page() -> None:
    pages = (f"Totals: {name}, tokens of o200k\\_base" for name in ("built-in", r"reference\_catalogue"))
    saved: dict[str, list[str]] = {"definitions": [], "shortest": [], "histories": []}
    for shown in map(section, pages):
        wire = [int(cell) for cell in row(shown, "wire")[1:3]]
        for what, before, after in (
            ("definitions", row(shown, "openai")[1], wire[0]),
            ("shortest", row(shown, "named")[2], wire[1]),
            ("histories", row(shown, "openai")[2], wire[1]),
        ):
            saved[what].append(f"{1 - after / int(before):.0%}".replace("%", " %"))
    said = " ".join(README.split())
    assert f"catalogues of 70 and 13 tools | {' and '.join(saved['definitions'])} fewer |" in said
    assert (
        f"{' and '.join(saved['shortest'])} fewer than the shortest JSON, "
        f"{' and '.join(saved['histories'])} fewer than in OpenAI's histories"
    ) in said
    assert "38 % fewer tokens than JSON; with the 46th, 28 %" in said
    assert "46 public MCP servers" in PAGE


def test_times_in_the_readme_are_those_of_the_page() -> None:
    measured = table(PAGE, "### A call with an argument of code: µs per delta, median")
    lengths = measured.pop("contestant")
    [alternative] = re.findall(r"^!\[(Median time .+)\]", README, re.MULTILINE)

    def at(name: str, length: str) -> float:
        return float(measured[name][lengths.index(length)])

    assert {round(at("wirecall wire", length), 1) for length in lengths[:-1]} == {0.1}
    assert "wirecall stays at 0.1 µs from 1KB to 1MB" in alternative
    assert f"jiter rises from {at('jiter', '1KB'):.1f} to {at('jiter', '256KB')} µs at 256KB" in alternative
    slow = [f"{at('partial-json-parser', length):.0f}" for length in ("1KB", "16KB")]
    assert f"partial-json-parser from {slow[0]} to {slow[1]} µs at 16KB" in alternative
    assert "Less than a microsecond for each delta" in README


def test_the_section_of_live_models_is_made_from_its_artifacts() -> None:
    assert {path.stem for path in LIVE} <= set(SCRIPT.LIVE_ORDER)
    assert SCRIPT.main(["--live", str(ROOT / "docs" / "benchmarks.md")]) == PAGE


def test_without_live_artifacts_the_page_says_so() -> None:
    assert "No live model has been measured yet." in SCRIPT.with_live(PAGE, [])
    with pytest.raises(BenchError, match="the page has no section"):
        SCRIPT.with_live("# Benchmarks", [])


def test_published_artifacts_have_no_texts() -> None:
    for path in LIVE:
        for cell in read(path).cells:
            assert not {"text", "reasoning"} & cell.keys()
            assert all(request.keys() == {"sha256"} for request in cell["requests"])
            assert not any(call["arguments"] for call in cell["calls"] if isinstance(call["arguments"], dict))


def test_the_summary_of_the_live_model_is_counted_from_its_answers() -> None:
    runs = [read(path) for path in LIVE if path.stem in ("reference", "built-in")]
    cells = [cell for run in runs for cell in run.cells if cell["mode"].endswith("-grammar")]
    assert f"{len(cells)} of its {len(cells)} answers were well-formed calls." in PAGE
    said = SCRIPT.outcome([replace(run, cells=[]) for run in runs])
    assert "0 of its 0 answers" in said
    assert said.count("it chose the right tool in 0 with wire and in 0 with the JSON of Hermes") == 2
