"""The examples with the bare SDKs run, and show what they are there to show."""

from examples import output


def test_openai() -> None:
    shown = output("openai_chat.py")
    assert "[error: malformed_call: stock" in shown
    assert "stock {'article': 'shirt', 'size': 'S'} -> 4\n" in shown
    assert shown.endswith("There are four in S and none in M.\n")


def test_anthropic() -> None:
    assert output("anthropic_messages.py").splitlines() == [
        "I'll look. ",
        "stock {'article': 'shirt', 'size': 'XL'}",
        "stock {'article': 'shirt', 'size': 'L'}",
        "There is no XL; eleven are there in L.",
    ]
