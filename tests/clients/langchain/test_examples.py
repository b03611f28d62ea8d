"""The example of docs/clients/langchain.md."""

from examples import output


def test_langchain() -> None:
    shown = output("langchain_agent.py").splitlines()
    assert shown[0] == "I'll look. "
    assert {"  stock: 4", "  stock: 0"} <= set(shown)
    assert shown[-1] == "Offer(article='shirt', sizes=['S'])"
    assert not any("<call" in line for line in shown)
