"""The sentences at the beginning of a report say what was planted."""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from report_support import Cell, artifact, asked

from wirecall_bench.findings import NO_DIFFERENCE, of_times
from wirecall_bench.report import html, markdown, report


def found(tmp_path: Path, rates: dict[tuple[str, str], float], **options: Any) -> list[str]:
    path = artifact(tmp_path / "live.jsonl", asked(rates, **options))
    return report([path]).findings


def test_finding_of_a_planted_difference_says_which_and_how_much(tmp_path: Path) -> None:
    rates = {("native", ""): 0.8, ("wire", ""): 0.8, ("hermes", ""): 0.3}
    [said] = found(tmp_path, rates)
    shown = re.fullmatch(
        r"Right answers \(normalised\): m, hermes is (\d+\.\d) percentage points below native "
        r"\[-(\d+\.\d), -(\d+\.\d)\], N = 60\. No difference shown for m, wire against native\.",
        said,
    )
    assert shown is not None, said
    points, low, high = map(float, shown.groups())
    assert high < points < low
    assert points == pytest.approx(50, abs=15)


def test_finding_of_a_better_variant_says_above(tmp_path: Path) -> None:
    [said] = found(tmp_path, {("native", ""): 0.2, ("wire", ""): 0.9})
    assert re.search(r": m, wire is \d+\.\d percentage points above native \[\+", said)
    assert NO_DIFFERENCE not in said.lower()


def test_finding_without_a_difference_claims_none(tmp_path: Path) -> None:
    [said] = found(tmp_path, {("native", ""): 0.5, ("wire", ""): 0.5}, seed=3)
    assert said == f"Right answers (normalised): {NO_DIFFERENCE} for m, wire against native."


def test_finding_of_many_comparisons_counts_them(tmp_path: Path) -> None:
    same = {("native", ""): 0.5, **{("wire", f"manual={name}"): 0.5 for name in "abcde"}, ("wire", ""): 0.5}
    [said] = found(tmp_path, same, cases=12)
    assert said == f"Right answers (normalised): {NO_DIFFERENCE} in any of 6 comparisons."


def test_finding_of_one_variant_compares_nothing(tmp_path: Path) -> None:
    [said] = found(tmp_path, {("native", ""): 1.0}, cases=8)
    assert said == "Right answers (normalised): m, native 100.0 %, N = 8. There is nothing to compare."


def test_finding_agrees_with_the_table_of_differences(tmp_path: Path) -> None:
    for seed in range(5):
        draw = random.Random(seed)
        rates = {(mode, ""): draw.random() for mode in ("native", "wire", "hermes")}
        path = artifact(tmp_path / f"{seed}.jsonl", asked(rates, cases=30, seed=seed))
        document = report([path])
        [table] = (
            table
            for section in document.sections
            for table in section.tables
            if table.title == "How right it was: the difference"
        )
        column = list(table.head).index("normalised (%)")
        for variant, _, *cells in table.rows:
            cell = cells[column - 2]
            [said] = document.findings
            if cell.startswith(NO_DIFFERENCE):
                assert re.search(rf"(?i){NO_DIFFERENCE}.*{variant}", said)
            else:
                sign, number = cell[0], cell[1:].partition(" ")[0]
                way = "above" if sign == "+" else "below"
                assert f"{variant} is {number} percentage points {way} native" in said


def timed(contestant: str, length: str, median: float, **changes: Any) -> Cell:
    cell: Cell = {
        "contestant": contestant,
        "work": "code",
        "length": length,
        "size": {"1KB": 1, "4KB": 4, "16KB": 16}[length],
        "reads": "wire",
        "status": "ok",
        "correct": True,
        "microseconds": {"median": median},
    }
    return {**cell, **changes}


def test_finding_of_times_names_the_fastest_of_the_longest_call_that_two_read() -> None:
    absent: dict[str, Any] = {"status": "skipped", "correct": None, "microseconds": None}
    cut: dict[str, Any] = {"status": "cut", "correct": None}
    cells = [
        timed("nothing", "4KB", 0.01, correct=None),
        timed("a", "1KB", 0.1),
        timed("a", "4KB", 3.0),
        timed("b", "4KB", 0.5),
        timed("c", "4KB", 50.0, reads="arguments"),
        timed("d", "4KB", 0.001, **cut),
        timed("e", "4KB", 1.0, **absent),
        timed("a", "16KB", 9.0),
        timed("b", "16KB", 0.6, **cut),
    ]
    assert of_times(cells) == (
        "In a call with 4KB of code, b takes the least time for a delta: 0.500 µs (median). The others take "
        "a multiple of it: a 6.0 times; c (arguments only) 100 times. Not compared: d (cut off), e (skipped)."
    )


@pytest.mark.parametrize(
    "cells", [[], [timed("a", "1KB", 1.0)], [timed("a", "1KB", 1.0), timed("b", "4KB", 1)]]
)
def test_finding_of_times_without_two_parsers_says_so(cells: list[Cell]) -> None:
    assert of_times(cells).startswith("No difference shown: ")


def test_findings_are_at_the_beginning_of_both_forms(tmp_path: Path) -> None:
    paths = [
        artifact(tmp_path / name, asked({("native", ""): 0.1, ("wire", ""): 0.9}, cases=8))
        for name in ("one.jsonl", "two.jsonl")
    ]
    for given in (paths, paths[:1]):
        document = report(given)
        assert len(document.findings) == len(given)
        assert [text.startswith("live: one.jsonl. Right") for text in document.findings] == (
            [True, False] if len(given) > 1 else [False]
        )
        head = markdown(document).partition("\n## ")[0]
        assert head.count("Right answers") == len(given)
        before = html(document).partition("<nav>")[0]
        assert before.count('<p class="found">') == len(given)


def test_finding_of_hostile_names_stays_text(tmp_path: Path) -> None:
    def change(cell: Cell) -> None:
        cell["model"] = "<script>alert(1)</script>\x1b[31m"

    document = report(
        [artifact(tmp_path / "live.jsonl", asked({("native", ""): 1.0}, cases=4, change=change))]
    )
    assert "<script>" not in html(document)
    assert "\x1b" not in html(document) + markdown(document)
