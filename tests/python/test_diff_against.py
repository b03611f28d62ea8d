"""`make diff-against`: it finds what another revision reads or writes differently, and nothing else."""

from pathlib import Path
from types import ModuleType

import pytest

from law import count
from script_support import ROOT, load_script

# Reasoning begins where it does by default, and marks are not escaped.
CHANGED = """
import wirecall

parser = wirecall.Toolset.parser
wirecall.Toolset.parser = lambda self, *, ids, in_reasoning: parser(self, ids=ids)
wirecall.Toolset.neutralise = lambda self, text: text
"""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return load_script("diff_against")


def test_a_build_does_what_it_does(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    messages = 10 * count(300)
    assert script.compare((script.worker(None), script.worker(None)), messages, seed=1) == 0
    assert capsys.readouterr().out == f"0 texts and 0 of {messages:,} messages differ (seed 1)\n"


def test_differences_are_counted_and_shown(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = script.worker(None)
    (tmp_path / "sitecustomize.py").write_text(CHANGED, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert script.compare((base, script.worker(None)), 200, seed=1, formats="qwen3-thinking") == 1
    said = capsys.readouterr().out
    assert "\nqwen3-thinking: neutralised\n  base: " in said
    assert "Given(format='qwen3-thinking'" in said
    assert "\nqwen3-thinking: 1 texts differ\n" in said


def test_a_revision_is_asked_for(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        script.arguments([])
    assert "make diff-against BASE=REVISION" in capsys.readouterr().err
