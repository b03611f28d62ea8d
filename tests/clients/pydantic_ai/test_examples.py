"""The example with pydantic-ai runs, and shows what it is there to show."""

from pathlib import Path

import openai
import pytest
from examples import ROOT, output, written_in_the_readme
from pages import Block, cases, run
from pydantic_ai.providers.openai import OpenAIProvider

import wirecall


def test_pydantic_ai() -> None:
    shown = output("pydantic_ai_agent.py").splitlines()
    assert "  There is no size small; there are S, M and L." in shown
    assert shown[-1] == "Offer(article='shirt', sizes=['S'])"


def test_the_readme_wraps_the_client_of_a_provider() -> None:
    names = {"AsyncOpenAI": openai.AsyncOpenAI, "OpenAIProvider": OpenAIProvider}
    provider = written_in_the_readme("pydantic-ai", **names)
    assert type(provider) is OpenAIProvider
    with pytest.raises(ValueError, match="already wrapped"):
        wirecall.wrap(provider.client)


@pytest.mark.parametrize("block", cases(ROOT / "docs/clients/pydantic-ai.md"))
def test_block_of_the_page_runs_alone(block: Block, tmp_path: Path) -> None:
    run(block, tmp_path)
