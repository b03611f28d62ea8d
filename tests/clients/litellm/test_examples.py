"""The example of docs/clients/litellm.md."""

from examples import output


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
