"""Writes the calls and results of a conversation as the text that the model reads.

Each request has a `History`: it gets the turns in order, and remembers the call of each id. It is the same
for all APIs: the code of each API walks through its own messages and asks the history for text.
"""

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from wirecall._shown import encodable, shown
from wirecall._tools.toolset import Toolset

_LONE_BACKSLASH = re.compile(r"(?<!\\)\\(?!\\)")
# No API nests parts deeper, and models read no text there.
_MAX_DEPTH = 64
_PRIVATE_USE = range(0xE000, 0xF900)
# Each mark that is not in a turn is tried once, by writing the turn with it.
_MAX_MARKS = 1000


class PastCall(NamedTuple):
    """A call in a history. `arguments` is a mapping or JSON text; other values are written too."""

    id: str | None
    name: str
    arguments: object


class _Known(NamedTuple):
    """What is known of a call when its result is written."""

    name: str
    number: int | None
    """Which call of that tool in its turn it is, if there are several."""
    position: int
    before: int
    """How many calls of the conversation were before it."""


class Turn:
    """The calls of one turn of the model, which are written in order, in as many texts as the API has parts.

    No history is rejected: calls of undeclared tools, and arguments that are not valid JSON, are written.

    Attributes:
        reasoning: What the model thought, which is written with the next text; None if there is none.
    """

    def __init__(
        self, toolset: Toolset, calls: list[PastCall], before: int, reasoning: str | None = None
    ) -> None:
        self._toolset = toolset
        self._calls = calls
        self._before = before
        self.reasoning = reasoning or None

    def text(self, content: str = "", count: int | None = None) -> str:
        """The content, with so many of the calls that are not yet written; None for all.

        In a native format, this is the text of the model's official template.
        """
        calls, write = self._next(count)
        return write(content, calls)

    def around(
        self, content: str, count: int | None = None, ends: Sequence[int] = ()
    ) -> tuple[str, list[tuple[str, int]]]:
        """What `text` writes before the content, and after it. Without content, everything is after it.

        Args:
            ends: After how many calls the text is divided, where the format allows that.

        Returns:
            The text before; and the texts after, each with the number of calls up to its end.
        """
        calls, write = self._next(count)
        whole = write(content, calls)
        lead, at = _place(content, calls, write, whole) if content else ("", 0)
        after: list[tuple[str, int]] = []
        for end in ends:
            # Calls in a common frame are not divided.
            shorter = write(content, calls[:end])
            if whole.startswith(shorter) and at < len(shorter) < len(whole):
                after.append((whole[at : len(shorter)], end))
                at = len(shorter)
        return lead, [*after, (whole[at:], len(calls))]

    def _next(self, count: int | None) -> tuple[list[PastCall], "_Write"]:
        """The next calls, and what writes them after a content."""
        count = len(self._calls) if count is None else count
        calls, self._calls = self._calls[:count], self._calls[count:]
        before, self._before = self._before, self._before + len(calls)
        reasoning, self.reasoning = self.reasoning, None
        return calls, partial(self._write, before, reasoning)

    def _write(self, before: int, reasoning: str | None, content: str, calls: Sequence[PastCall]) -> str:
        write = partial(self._toolset.encode_message, calls_before=before)
        given = [(call.name, _object(call.arguments), call.id) for call in calls]
        try:
            return write(content, given, reasoning=reasoning)
        except (ValueError, TypeError):
            notes = {at: note for at, call in enumerate(calls) if (note := self._note(call)) is not None}
            written = [
                (name, arguments, None if id is None else encodable(id))
                for at, (name, arguments, id) in enumerate(given)
                if at not in notes
            ]
            texts = [*([encodable(content)] if content else ()), *notes.values()]
            return write(
                "\n".join(texts), written, reasoning=None if reasoning is None else encodable(reasoning)
            )

    def _note(self, call: PastCall) -> str | None:
        """The text for a call that cannot be written: its name or its values are not valid."""
        try:
            self._toolset.encode_message("", [(call.name, _object(call.arguments))])
        except (ValueError, TypeError):
            note = f"[called {shown(call.name)} with {shown(call.arguments)}]"
            return self._toolset.neutralise(encodable(note))
        return None


_Write = Callable[[str, Sequence[PastCall]], str]


def _place(content: str, calls: Sequence[PastCall], write: _Write, whole: str) -> tuple[str, int]:
    """What is written before the content, and where the content ends. It is found between two marks that
    are not in the `whole` turn."""
    for mark in _marks():
        if mark in whole:
            continue
        pieces = write(f"{mark}{content}{mark}", calls).split(mark)
        if len(pieces) == 3:
            return pieces[0], len(pieces[0]) + len(pieces[1])
    raise ValueError("the format changes every mark in a content")


def _marks() -> Iterator[str]:
    """Characters for private use, then numbers between two of them."""
    yield from map(chr, _PRIVATE_USE)
    yield from (f"{chr(_PRIVATE_USE[0])}{number}{chr(_PRIVATE_USE[1])}" for number in range(_MAX_MARKS))


class History:
    """Writes the turns of one request.

    Args:
        toolset: The request's tools; without tools the set is open.
        shows: The types of parts (images, files) that may be shown beside results; None for all.
        stops: Whether the model is stopped when it begins to write a result.
    """

    def __init__(self, toolset: Toolset, *, shows: frozenset[str] | None = None, stops: bool = True) -> None:
        self._toolset = toolset
        self._stops = stops
        self._shows = shows
        self._calls: dict[str | None, _Known] = {}
        self._count = 0

    @property
    def separates(self) -> bool:
        """Whether reasoning in answers is separate from the text, so that it comes back in this form."""
        return self._toolset.separates_reasoning

    @property
    def frames_text(self) -> bool:
        """Whether the format has markers around a text, even if a message has no reasoning and no calls."""
        return self._toolset.encode_message("x") != "x"

    @property
    def keeps_order(self) -> bool:
        """Whether calls of a turn are written where they are among its texts. In native formats they are
        where the official template has them."""
        return not self._toolset._is_native

    def turn(self, calls: Sequence[PastCall], reasoning: str | None = None) -> Turn:
        """The calls of one turn of the model, to be written with its text.

        Args:
            reasoning: What the model thought, if that is written. As in official templates, it is written
                only after the last message of a user.
        """
        totals = Counter(call.name for call in calls)
        seen: Counter[str] = Counter()
        before = self._count
        self._count += len(calls)
        for index, call in enumerate(calls):
            seen[call.name] += 1
            if call.id is not None:
                number = seen[call.name] if totals[call.name] > 1 else None
                self._calls[call.id] = _Known(call.name, number, index, before + index)
        return Turn(self._toolset, list(calls), before, reasoning)

    def result(self, id: str | None, content: object, *, name: str | None = None, error: bool = False) -> str:
        """The text of a result.

        Args:
            id: The id of its call.
            content: Text, or any JSON value.
            name: The tool's name for an unknown id; "unknown" by default.
            error: Whether the content is an error message.
        """
        known = self._calls.get(id) or _Known(name or "unknown", None, 0, self._count)
        write = partial(
            self._toolset.encode_result,
            error=error,
            number=known.number,
            index=known.position,
            calls_before=known.before,
        )
        try:
            return write(known.name, content, id=id)
        except (ValueError, TypeError):
            # Not valid JSON (NaN, too deep, a host's own object), or with a lone surrogate.
            text = content if isinstance(content, str) else shown(content)
            return write(encodable(known.name), encodable(text), id=None if id is None else encodable(id))

    @property
    def stop(self) -> str | None:
        """The beginning of a result, as a stop sequence, since models invent results; None: not sent."""
        return next(iter(self._toolset.result_marks), None) if self._stops else None

    def shows(self, kind: str) -> bool:
        """Whether a part of this type may be shown beside a result."""
        return self._shows is None or kind in self._shows

    def user(self, text: str) -> str:
        """A user's text, neutralised so that nothing is parsed as a result or a call; usually unchanged."""
        return self._toolset.neutralise(text)

    def foreign(self, value: Any, *, depth: int = 0) -> Any:
        """A user's content, or a part of it, with all its texts as `user` writes them; the very object if
        nothing has to change, which is nearly always. Encoded bytes contain no tags, so they do not change.
        """
        if isinstance(value, str):
            return self.user(value)
        if depth > _MAX_DEPTH:
            return value
        if isinstance(value, Mapping):
            made = {key: self.foreign(item, depth=depth + 1) for key, item in value.items()}
            return value if all(made[key] is item for key, item in value.items()) else made
        if isinstance(value, (list, tuple)):
            items = [self.foreign(item, depth=depth + 1) for item in value]
            if depth < _MAX_DEPTH:
                items = self._uncut(items)
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        return value

    def _uncut(self, parts: list[Any]) -> list[Any]:
        """Neutralises tags that only appear when the texts of parts are joined."""
        spoken = [at for at, part in enumerate(parts) if has_text(part)]
        if len(spoken) < 2:
            return parts
        joined = "".join(parts[at]["text"] for at in spoken)
        if (safe := self.user(joined)) == joined:
            return parts
        # Backslashes were inserted, each after the first character of a tag, and nothing else has changed.
        put: list[int] = []
        for found in _LONE_BACKSLASH.finditer(safe):
            at = found.start() - len(put)
            if joined[at] != "\\":
                put.append(at)
        written, end = list(parts), 0
        for at in spoken:
            begin, end = end, end + len(parts[at]["text"])
            # A backslash inserted between two parts goes into the second.
            first, last = bisect_left(put, begin), bisect_left(put, end)
            if first < last:
                written[at] = {**parts[at], "text": safe[begin + first : end + last]}
        return written


def has_text(part: object) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("text"), str)


def _object(arguments: object) -> Mapping[str, Any] | str:
    """The arguments as an object, whatever they are."""
    if isinstance(arguments, Mapping):
        return arguments
    if arguments is None or arguments == "":
        return {}
    if isinstance(arguments, str):
        try:
            read = json.loads(arguments)
        except (ValueError, RecursionError):
            return {"arguments": arguments}
        # The text itself, because it keeps the digits of numbers.
        return arguments if isinstance(read, dict) else {"arguments": read}
    return {"arguments": arguments}
