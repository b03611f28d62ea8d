"""Shortens large tool results: their beginning, their end, and a note of what was left out."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from wirecall._apis.conversation import Message, MessageFormat
from wirecall._apis.values import are_same, dict_of
from wirecall.compaction._checks import at_least

log = logging.getLogger("wirecall")


@dataclass(frozen=True)
class Truncate:
    """Which tool results are shortened, and how. Lengths are in code points.

    If a result has parts, each text is shortened separately; images and files stay.

    Attributes:
        threshold: Longer texts are shortened, unless `head` and `tail` cover them.
        head: How much of the beginning stays.
        tail: How much of the end stays.
        overrides: For tools whose names match a pattern, such as `"read_*"`: another rule, or None to keep
            their results whole. The last matching pattern applies.
        store: Gets the whole text before it is shortened, and returns where to find it (a path, a URI), which
            the model is told. It is called for each request, so derive the name from the content. If it
            fails, this is logged, and the text is shortened without it. An override without `store` uses
            this one.
    """

    threshold: int
    head: int = 0
    tail: int = 1000
    overrides: "Mapping[str, Truncate | None]" = field(default_factory=dict)
    store: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        for name in ("threshold", "head", "tail"):
            at_least(name, getattr(self, name), 0)
        if self.store is not None and not callable(self.store):
            raise TypeError(f"store must be callable, not {type(self.store).__name__}")
        if not isinstance(self.overrides, Mapping):
            raise TypeError(f"overrides must be a mapping, not {type(self.overrides).__name__}")
        rules: list[tuple[object, object]] = [*self.overrides.items()]
        for pattern, rule in rules:
            if not isinstance(pattern, str) or not (rule is None or isinstance(rule, Truncate)):
                raise TypeError(f"overrides[{pattern!r}] must map a str to a Truncate or None")
            if rule is not None and rule.overrides:
                reason = "has overrides of its own: put all patterns into one mapping"
                raise ValueError(f"overrides[{pattern!r}] {reason}")

    def rule(self, tool: str) -> "Truncate | None":
        """The rule for a tool; None: its results stay whole."""
        chosen: Truncate | None = self
        for pattern, rule in self.overrides.items():
            if fnmatchcase(tool, pattern):
                chosen = rule
        return chosen


def truncated(format: MessageFormat, messages: Sequence[Message], rule: Truncate) -> list[Message]:
    """The messages with shortened results; unchanged ones are the same objects."""
    names: dict[str, str] = {}
    made = []
    for message in messages:
        info = format.inspect(dict_of(message))
        names.update((call.id, call.name) for call in info.calls)
        contents: dict[str, object] = {}
        for result in info.results:
            chosen = rule.rule(result.name or names.get(result.id, ""))
            if chosen is not None:
                short = _content(result.content, chosen, chosen.store or rule.store)
                if short is not result.content:
                    contents[result.id] = short
        made.append(format.with_results(message, contents) if contents else message)
    return made


def _content(content: object, rule: Truncate, store: Callable[[str], str] | None) -> object:
    if isinstance(content, str):
        return _text(content, rule, store)
    if not isinstance(content, (list, tuple)):
        return content
    made: list[Any] = []
    for part in content:
        text = dict_of(part).get("text")
        short = _text(text, rule, store) if isinstance(text, str) else text
        made.append(part if short is text else {**dict_of(part), "text": short})
    return content if are_same(made, content) else made


def _text(text: str, rule: Truncate, store: Callable[[str], str] | None) -> str:
    length = len(text)
    if length <= rule.threshold or rule.head + rule.tail >= length:
        return text
    lines = len(text.splitlines())
    counted = f"{lines} line{'s' * (lines != 1)}, {length} chars in all"
    reference = None if store is None else _stored(text, store)
    marker = f"--- truncated ({counted}{'' if reference is None else f'; the whole: {reference}'}) ---"
    return "\n".join(filter(None, (text[: rule.head], marker, text[length - rule.tail :])))


def _stored(text: str, store: Callable[[str], str]) -> str | None:
    try:
        reference: object = store(text)
        if isinstance(reference, str):
            return reference
        if callable(close := getattr(reference, "close", None)):
            close()  # a coroutine would warn that nobody awaited it
        why = f"store must return a str, not {type(reference).__name__}"
    except Exception as error:
        why = type(error).__name__  # its message may quote the result
    log.warning("A truncated result could not be stored: %s", why)
    return None
