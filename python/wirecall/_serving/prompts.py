"""What the token ids of a server say: whether a prompt opens reasoning, and whether a message was cut off."""

from collections.abc import Iterable, Mapping, Sequence

from wirecall._tools.formats.description import Format

# The tokens at the end of a prompt that are decoded. The longest opener has about ten, if each of its
# characters were a token about thirty.
TAIL = 64


class Prompts:
    """The openers and closers of a format's reasoning."""

    def __init__(self, format: Format) -> None:
        # The model of a prompted format may reason.
        native = format._native or {"reasoning": [("<think>", "</think>")], "reasoning_ends": ["</think>"]}
        pairs = native["reasoning"]
        openers = [*(opener for opener, _ in pairs), native.get("reasoning_prompt")]
        self.openers = tuple(dict.fromkeys(opener.strip() for opener in openers if opener))
        self.closers = tuple(dict.fromkeys(closer.strip() for closer in native["reasoning_ends"]))
        # Prompts of messages in parts open a part in any case.
        self._starts = bool(pairs and native.get("starts_in_reasoning"))

    def opens_reasoning(self, tail: str) -> bool | None:
        """Whether a message begins inside reasoning; None if that is as the format says.

        Args:
            tail: The end of the prompt.
        """
        if tail.rstrip().endswith(self.openers):
            return True
        return None if self._starts and not self.closes_reasoning(tail) else False

    def leaves_open(self, content: str) -> bool | None:
        """Whether a message that continues `content` is inside reasoning; None if it has no markers."""
        opened, closed = (
            max((content.rfind(marker) for marker in markers), default=-1)
            for markers in (self.openers, self.closers)
        )
        return None if opened == closed == -1 else opened > closed

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
