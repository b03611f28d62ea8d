"""What the reasoning detector passes on to the tool detector: text, and the message as it came.

SGLang gives the tool detector the text that the reasoning detector leaves. wirecall's tool detector reads the
message itself, so that both agree on what is reasoning; any other takes the text.
"""

from typing import Any


class Passage:
    """The part of a message that the tool detector has not read.

    Attributes:
        in_reasoning: Whether the message begins inside reasoning; None if that is not known.
        pending: The text, in pieces.
    """

    __slots__ = ("in_reasoning", "pending")

    def __init__(self, in_reasoning: bool | None) -> None:
        self.in_reasoning = in_reasoning
        self.pending: list[str] = []

    def add(self, text: str) -> None:
        """Append to the text."""
        if text:
            self.pending.append(text)

    def take(self) -> str:
        """The text, which is not pending any more."""
        taken = "".join(self.pending)
        self.pending.clear()
        return taken


class PassedText(str):
    """Text without reasoning, with the passage that it was read from.

    It is true while something is pending, because SGLang skips what is false. The text may be empty then.
    """

    passage: Passage

    def __new__(cls, text: str, passage: Passage) -> "PassedText":
        made = super().__new__(cls, text)
        made.passage = passage
        return made

    def __bool__(self) -> bool:
        return len(self) > 0 or bool(self.passage.pending)

    def __add__(self, other: str) -> "PassedText":
        return PassedText(str.__add__(self, other), self.passage)

    def __radd__(self, other: str) -> "PassedText":
        return PassedText(str.__add__(other, self), self.passage)


def passage_of(text: Any) -> Passage | None:
    """The passage of a text; None if it comes from elsewhere."""
    return getattr(text, "passage", None)
