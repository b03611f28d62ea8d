"""The example with pydantic-ai runs, and shows what it is there to show."""

from examples import output


def test_pydantic_ai() -> None:
    shown = output("pydantic_ai_agent.py").splitlines()
    assert "  There is no size small; there are S, M and L." in shown
    assert shown[-1] == "Offer(article='shirt', sizes=['S'])"
