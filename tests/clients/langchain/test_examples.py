"""The example of docs/clients/langchain.md."""

from pathlib import Path

import pytest
from examples import ROOT, output, written_in_the_readme
from langchain_openai import ChatOpenAI
from pages import Block, cases, run

import wirecall


def test_langchain() -> None:
    shown = output("langchain_agent.py").splitlines()
    assert shown[0] == "I'll look. "
    assert {"  stock: 4", "  stock: 0"} <= set(shown)
    assert shown[-1] == "Offer(article='shirt', sizes=['S'])"
    assert not any("<call" in line for line in shown)


def test_the_readme_wraps_a_model() -> None:
    model = written_in_the_readme("LangChain", ChatOpenAI=ChatOpenAI)
    assert type(model) is ChatOpenAI
    with pytest.raises(ValueError, match="already wrapped"):
        wirecall.wrap(model)


@pytest.mark.parametrize("block", cases(ROOT / "docs/clients/langchain.md"))
def test_block_of_the_page_runs_alone(block: Block, tmp_path: Path) -> None:
    run(block, tmp_path)
