"""What the token ids of a server say: whether a prompt opens reasoning, and whether a message was cut off."""

from collections.abc import Iterable, Mapping, Sequence

from wirecall._tools.formats.description import Format

# The tokens at the end of a prompt that are decoded. The longest opener has about ten, if each of its
# characters were a token about thirty.
TAIL = 64


class Prompts:
    """The openers and closers of a format's reasoning."""

    def __init__(self, format: Format) -> None:
        native = format._native or {"reasoning": [("<think>", "</think>")], "reasoning_prompt": None}
        pairs = native["reasoning"]
        prompt = native["reasoning_prompt"]
        openers = [opener for opener, _ in pairs] + ([prompt] if prompt else [])
        self.openers = tuple(dict.fromkeys(opener.strip() for opener in openers))
        self.closers = tuple(dict.fromkeys(closer.strip() for _, closer in pairs))

    def opens_reasoning(self, tail: str, *, continued: bool = False) -> bool:
        """Whether a message begins inside reasoning.

        Args:
            tail: The end of the prompt.
            continued: Whether the prompt ends with a part of the message, in which reasoning may be open.
        """
        if tail.rstrip().endswith(self.openers):
            return True
        if not continued or not self.openers:
            return False
        opened = max(tail.rfind(opener) for opener in self.openers)
        closed = max((tail.rfind(closer) for closer in self.closers), default=-1)
        return opened > closed

    def closes_reasoning(self, tail: str) -> bool:
        """Whether the reasoning is over before the message begins: the prompt turns thinking off."""
        return bool(self.closers) and tail.rstrip().endswith(self.closers)


def stop_ids(
    format: Format, vocabulary: Mapping[str, int], ends: Iterable[int | Sequence[int] | None] = ()
) -> frozenset[int]:
    """The ids of tokens that end a message.

    Args:
        format: Its stop tokens count.
        vocabulary: The tokenizer's, by token.
        ends: Further ids, such as those of the tokenizer and of the generation config.
    """
    stops = (format._native or {}).get("stops", ())
    ids = {vocabulary[stop] for stop in stops if stop in vocabulary}
    for end in ends:
        if isinstance(end, int):
            ids.add(end)
        elif end is not None:
            ids.update(end)
    return frozenset(ids)


def is_cut(last: int | None, stops: frozenset[int], others: Iterable[int] = ()) -> bool | None:
    """Whether a message was cut off.

    The engine reports the stop token among the ids of a message, but not in its text.

    Args:
        last: The last id of the message; None if it is not known.
        stops: The ids that end messages.
        others: Those of the request.

    Returns:
        For `truncated` of the parser: False if the model has ended the message; None if that is not known.
    """
    return None if last is None else last not in stops and last not in others
