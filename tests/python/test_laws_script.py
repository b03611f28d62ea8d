"""`make laws`: it finds every law, tries each as often as it says, and continues where it was stopped."""

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "laws.py"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="not in a checkout")


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script with a folder of its own and two laws, of which one fails for even seeds."""
    spec = importlib.util.spec_from_file_location("laws_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "laws_script", module)
    spec.loader.exec_module(module)
    code = "import os, sys; print('1 passed'); sys.exit({} and int(os.environ['WIRECALL_LAW_SEED']) % 2 == 0)"
    laws = [
        module.Law(name, (sys.executable, "-c", code.format(fails)), tmp_path, False)
        for name, fails in (("rust/good", False), ("rust/odd", True))
    ]
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(module, "PROGRESS", tmp_path / "progress.jsonl")
    monkeypatch.setattr(module, "rust_laws", lambda: laws)
    monkeypatch.setattr(module, "python_laws", list)
    monkeypatch.setattr(module, "hashed", lambda _: "the same")
    return module


def run(script: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["laws.py", *arguments])
    monkeypatch.setattr(script.signal, "signal", lambda *_: None)
    status: int = script.main()
    return status


def test_every_law_of_rust_is_found(script: ModuleType) -> None:
    found = {}
    for path in (ROOT / "tests" / "rust").rglob("*.rs"):
        text = path.read_text()
        # Independent of the script: the patterns of a law's parameters.
        laws = re.findall(r"#\[test\]\s*fn (\w+)\(\s*[\w(][^{]* in ", text)
        assert set(laws) <= set(script.RUST_LAW.findall(text)), path
        if "proptest!" in text:
            found[path.stem] = len(laws)
    assert all(found.values()), found
    assert set(found) >= {"laws", "protocols", "prefixes", "near_misses", "custom", "loads", "yaml"}


def test_cases_are_cut_into_slices_with_seeds_of_their_own(script: ModuleType) -> None:
    law = script.rust_laws()[0]
    cut = list(script.slices(law, 7, 25, 10, "x"))
    assert [one.cases for one in cut] == [8, 8, 9]
    assert len({one.seed for one in cut}) == 3
    assert cut == list(script.slices(law, 7, 25, 10, "x"))


def test_a_run_says_what_failed(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(script, monkeypatch, "--laws", "good", "--cases", "100", "--seed", "1") == 0
    assert "1 laws, 100 cases without a failure, 0 slices failed" in capsys.readouterr().out
    assert run(script, monkeypatch, "--cases", "400000", "--seed", "1") == 1
    out = capsys.readouterr().out
    assert "FAILED" in out
    assert "WIRECALL_LAW_SEED=" in out


def test_what_passed_is_not_tried_again_until_all_did(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--laws", "good", "--cases", "150000")
    run(script, monkeypatch, *arguments)
    lines = script.PROGRESS.read_text().splitlines()
    assert [list(json.loads(line)) for line in lines] == [["run", "sources"], *[["slice", "seconds"]] * 3]
    # As if it had been stopped after one slice, and in the middle of a line.
    script.PROGRESS.write_text("\n".join([*lines[:2], lines[2][:20]]) + "\n")
    capsys.readouterr()
    run(script, monkeypatch, *arguments)
    out = capsys.readouterr().out
    seed = json.loads(lines[0])["run"]
    assert f"2 slices to try, after 50,000 cases of a stopped run; seed {seed} " in out
    run(script, monkeypatch, *arguments)
    again = re.search(r"3 slices to try; seed (\d+) ", capsys.readouterr().out)
    assert again is not None
    assert int(again[1]) != seed
