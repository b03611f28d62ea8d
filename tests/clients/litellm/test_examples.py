"""The example of docs/clients/litellm.md."""

from pathlib import Path

import litellm
import pytest
from examples import ROOT, output, written_in_the_readme
from pages import Block, cases, run

import wirecall.integrations.litellm  # noqa: F401


def test_litellm() -> None:
    shown = output("litellm_provider.py").splitlines()
    assert shown[0] == "I'll look. "
    assert shown[1:5] == [
        'stock {"article":"shirt","size":"S"}',
        "  4",
        'stock {"article":"shirt","size":"L"}',
        "  11",
    ]
    assert shown[-1] == "Two shirts are on their way to New York."
    assert not any("<call" in line for line in shown)


def test_the_readme_registers_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(litellm, "custom_provider_map", [])
    written_in_the_readme("litellm")
    assert [one["provider"] for one in litellm.custom_provider_map] == ["wirecall"]


@pytest.mark.parametrize("block", cases(ROOT / "docs/clients/litellm.md"))
def test_block_of_the_page_runs_alone(block: Block, tmp_path: Path) -> None:
    run(block, tmp_path)
