"""The example with openai-agents runs over both APIs, and shows what it is there to show."""

import pytest
from examples import output


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
