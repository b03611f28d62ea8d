"""The example with openai-agents runs over both APIs, and shows what it is there to show."""

from pathlib import Path

import agents
import openai
import pytest
from examples import ROOT, output, written_in_the_readme
from pages import Block, cases, run

import wirecall


@pytest.mark.parametrize("arguments", [(), ("--chat",)], ids=["responses", "chat"])
def test_agents(arguments: tuple[str, ...]) -> None:
    assert output("agents_sdk.py", *arguments).splitlines() == [
        "[triage]",
        'stock {"article":"shirt","size":"L"}',
        "  11",
        "[seller]",
        'ship {"article":"shirt","count":2,"city":"New York"}',
        "  2 x shirt to New York",
        "Two shirts are on their way to New York.",
    ]


def test_the_readme_sets_a_wrapped_client() -> None:
    clients: list[openai.AsyncOpenAI] = []
    names = {"AsyncOpenAI": openai.AsyncOpenAI, "set_default_openai_client": clients.append}
    written_in_the_readme("OpenAI Agents SDK", **names)
    with pytest.raises(ValueError, match="already wrapped"):
        wirecall.wrap(clients[0])
    assert callable(agents.set_default_openai_client)


@pytest.mark.parametrize("block", cases(ROOT / "docs/clients/openai-agents.md"))
def test_block_of_the_page_runs_alone(block: Block, tmp_path: Path) -> None:
    run(block, tmp_path)
