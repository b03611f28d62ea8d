"""`make laws`: it finds every law, tries each as often as it says, and continues where it was stopped."""

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from script_support import load_script

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script() -> ModuleType:
    return load_script("laws")


def laws(script: ModuleType, folder: Path) -> list[Any]:
    """Two laws, of which one fails for even seeds."""
    code = "import os, sys; print('1 passed'); sys.exit({} and int(os.environ['WIRECALL_LAW_SEED']) % 2 == 0)"
    return [
        script.Law(name, (sys.executable, "-c", code.format(fails)), folder, False)
        for name, fails in (("rust/good", False), ("rust/odd", True))
    ]


def test_a_finite_law_runs_in_one_slice_and_says_how_many_cases_it_has(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    law = script.Law(
        "clients/all", (sys.executable, "-c", "print('.cases: 7\\ncases: 77')"), tmp_path, True, True
    )
    sources = {False: "the same", True: "the same"}
    for _ in range(2):
        assert script.try_laws([law], sources, script.arguments(["--seed", "1"]), tmp_path) == 0
        assert "1 laws, 77 cases without a failure, 0 slices failed" in capsys.readouterr().out


def run(script: ModuleType, folder: Path, *arguments: str) -> int:
    sources = {False: "the same", True: "the same"}
    status: int = script.try_laws(laws(script, folder), sources, script.arguments(arguments), folder)
    return status


def test_every_law_of_rust_is_found(script: ModuleType) -> None:
    found = {}
    program = (ROOT / "tests" / "rust" / "main.rs").read_text()
    for path in (ROOT / "tests" / "rust").rglob("*.rs"):
        text = path.read_text()
        if path.parent.name == "rust" and path.name != "main.rs":
            assert f"\nmod {path.stem};" in program, "it is never compiled"
        # Independent of the script: the patterns of a law's parameters.
        laws = re.findall(r"#\[test\]\s*fn (\w+)\(\s*[\w(][^{]* in ", text)
        laws += re.findall(r"#\[test\]\s*fn (\w+)\(\) {\n {4}each_law\(", text)
        assert set(laws) <= set(script.RUST_LAW.findall(text)), path
        if "proptest!" in text or "fn each_law(" in text:
            found[path.stem] = len(laws)
    assert all(found.values()), found
    assert set(found) >= {"laws", "protocols", "prefixes", "near_misses", "custom", "loads", "yaml", "quoted"}


def test_cases_are_cut_into_slices_with_seeds_of_their_own(script: ModuleType, tmp_path: Path) -> None:
    law = laws(script, tmp_path)[0]
    cut = list(script.slices(law, 7, 25, 10, "x"))
    assert [one.cases for one in cut] == [8, 8, 9]
    assert len({one.seed for one in cut}) == 3
    assert cut == list(script.slices(law, 7, 25, 10, "x"))


def test_a_run_says_what_failed(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(script, tmp_path, "--laws", "good", "--cases", "100", "--seed", "1") == 0
    assert "1 laws, 100 cases without a failure, 0 slices failed" in capsys.readouterr().out
    assert run(script, tmp_path, "--cases", "400000", "--seed", "1") == 1
    out = capsys.readouterr().out
    assert "FAILED" in out
    assert "WIRECALL_LAW_SEED=" in out


def test_what_passed_is_not_tried_again_until_all_did(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--laws", "good", "--cases", "150000")
    run(script, tmp_path, *arguments)
    progress = tmp_path / "progress.jsonl"
    lines = progress.read_text().splitlines()
    assert [list(json.loads(line)) for line in lines] == [["run", "sources"], *[["slice", "seconds"]] * 3]
    # As if it had been stopped after one slice, and in the middle of a line.
    progress.write_text("\n".join([*lines[:2], lines[2][:20]]) + "\n")
    capsys.readouterr()
    run(script, tmp_path, *arguments)
    out = capsys.readouterr().out
    seed = json.loads(lines[0])["run"]
    assert f"2 slices to try, after 50,000 cases of a stopped run; seed {seed} " in out
    run(script, tmp_path, *arguments)
    again = re.search(r"3 slices to try; seed (\d+) ", capsys.readouterr().out)
    assert again is not None
    assert int(again[1]) != seed
