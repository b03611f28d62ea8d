"""Cuts a conversation into turns, with every result next to its call.

A turn is a user's message, or an answer of the model with all results of its calls. System and developer
messages are not turns, nor is the summary that an earlier compaction left at the beginning.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from wirecall._apis.conversation import Call, Message, MessageFormat, Seen
from wirecall._apis.values import dict_of, listed
from wirecall.compaction._summary import OPENING


class ResultRepair(NamedTuple):
    """A tool result that was repaired, because a provider would refuse the conversation.

    Attributes:
        kind: "orphan_result": dropped, since no call has its id, or the call already has a result.
            "missing_result": a placeholder replaces it. "late_result": moved to its call.
        at: The index of the message that has the result, or of the call without a result.
        id: The id of the call.
        name: The name of the tool; None if it is unknown.
    """

    kind: Literal["orphan_result", "missing_result", "late_result"]
    at: int
    id: str
    name: str | None


@dataclass(slots=True)
class Turn:
    """Messages that stay together.

    Attributes:
        said: The user's message, or the model's messages with the results between them.
        at: The index of the first of them in the list.
        results: Messages with results of its calls, after all messages in `said`.
        open: Calls without a result so far, with the index of their message, by their ids.
        repaired: Results were added or removed.
    """

    said: list[Message]
    at: int
    results: list[Message] = field(default_factory=list)
    open: dict[str, list[tuple[Call, int]]] = field(default_factory=dict)
    repaired: bool = False

    def close(self, id: str) -> bool:
        """Closes the first call with this id; False if none is open."""
        waiting = self.open.get(id)
        if not waiting:
            return False
        waiting.pop(0)
        if not waiting:
            del self.open[id]
        return True

    def missing(self) -> Iterator[tuple[Call, int]]:
        """Calls without a result that a placeholder can replace."""
        return ((call, index) for waiting in self.open.values() for call, index in waiting if call.textual)

    def messages(self, format: MessageFormat, *, ended: bool) -> list[Message]:
        """The messages, in order. If the turn has `ended`, placeholders replace missing results."""
        missing = [(call, placeholder(call)) for call, _ in self.missing()] if ended and self.open else []
        if not missing and not self.repaired:
            return [*self.said, *self.results]
        return [*self.said, *format.answered(self.results, missing)]


class Conversation(NamedTuple):
    """A list of messages, cut into turns. `system` also has developer messages; `summary` is that of an
    earlier compaction, or []."""

    format: MessageFormat
    system: list[Message]
    summary: list[Message]
    turns: list[Turn]
    repairs: list[ResultRepair]


def joined(format: MessageFormat, turns: Sequence[Turn], *, ended: bool) -> list[Message]:
    """The messages of turns. Results of the last one may still come, unless it has `ended`."""
    return [one for turn in turns for one in turn.messages(format, ended=ended or turn is not turns[-1])]


def turns_of(
    format: MessageFormat, messages: Sequence[Message], mappings: Sequence[Mapping[str, Any]] | None = None
) -> Conversation:
    """Cuts messages, which may be known as `mappings`, into turns; nothing is refused."""
    return _TurnCutter(format).cut(messages, mappings or list(map(dict_of, messages)))


def summary_in(message: Message, mapping: Mapping[str, Any]) -> tuple[Message, Message | None] | None:
    """The summary at the beginning of a user's message, and the rest of it, if any; else None."""
    content = mapping.get("content")
    parts = listed(content)
    text = dict_of(parts[0]).get("text") if parts else content
    if not isinstance(text, str) or not text.startswith(OPENING):
        return None
    if len(parts) < 2:
        return message, None
    return {**mapping, "content": [parts[0]]}, {**mapping, "content": [*parts[1:]]}


def placeholder(call: Call) -> str:
    """Replaces a missing result."""
    return f"[No result of {call.name} is available]"


class _TurnCutter:
    def __init__(self, format: MessageFormat) -> None:
        self.format = format
        self.turns: list[Turn] = []
        self.repairs: list[ResultRepair] = []
        # The model's last message, if nobody else has spoken since.
        self.last: Seen | None = None
        # Turns that ended before all their results came, by the ids of the missing ones.
        self.waiting: dict[str, Turn] = {}

    def cut(self, messages: Sequence[Message], mappings: Sequence[Mapping[str, Any]]) -> Conversation:
        system: list[Message] = []
        summary: list[Message] = []
        for index, (message, mapping) in enumerate(zip(messages, mappings, strict=True)):
            seen = self.format.see(mapping)
            if seen.role == "system":
                system.append(message)
            elif seen.role == "result":
                self._results(index, message, seen)
            elif seen.role == "assistant":
                self._said(index, message, seen)
            elif self.turns or summary or (found := summary_in(message, mapping)) is None:
                self._begin(index, message)
            else:
                summary = [found[0]]
                if found[1] is not None:
                    self._begin(index, found[1])
        self.repairs += (
            ResultRepair("missing_result", index, call.id, call.name)
            for turn in self.turns[:-1]
            if turn.open
            for call, index in turn.missing()
        )
        self.repairs.sort(key=lambda repair: repair.at)
        return Conversation(self.format, system, summary, self.turns, self.repairs)

    def _begin(self, index: int, message: Message) -> Turn:
        if self.turns and self.turns[-1].open:
            self.waiting.update(dict.fromkeys(self.turns[-1].open, self.turns[-1]))
        self.turns.append(Turn([message], index))
        self.last = None
        return self.turns[-1]

    def _said(self, index: int, message: Message, seen: Seen) -> None:
        if self._continues(seen):
            turn = self.turns[-1]
            if self.format.interleaves:
                turn.said += turn.results
                turn.results.clear()
            turn.said.append(message)
        else:
            turn = self._begin(index, message)
        self.last = seen
        for call in seen.calls:
            self.waiting.pop(call.id, None)
            turn.open.setdefault(call.id, []).append((call, index))

    def _continues(self, seen: Seen) -> bool:
        """Whether this message belongs to the model's last one."""
        if self.last is None:
            return False
        turn = self.turns[-1]
        if turn.open and self.format.merges:
            return True
        return not turn.results and (seen.joins or self.last.binds)

    def _results(self, index: int, message: Message, seen: Seen) -> None:
        # The turns that results belong to, by their positions; None for results without a call.
        moved: dict[int, Turn | None] = {}
        for place, result in enumerate(seen.results):
            if self.turns and self.turns[-1].close(result.id):
                continue
            turn = self.waiting.get(result.id)
            if turn is not None and not turn.close(result.id):
                turn = None
            moved[place] = turn
            repair = ResultRepair("late_result" if turn else "orphan_result", index, result.id, result.name)
            self.repairs.append(repair)
        if not moved:
            self.turns[-1].results.append(message)
            return
        late = {id(turn): turn for turn in moved.values() if turn is not None}
        groups = {place: None if turn is None else id(turn) for place, turn in moved.items()}
        parts, rest = self.format.split(message, groups)
        for turn in late.values():
            turn.results.append(parts[id(turn)])
            turn.repaired = True
        if rest is None:
            return
        if len(moved) < len(seen.results):
            self.turns[-1].results.append(rest)
            self.turns[-1].repaired = True
        else:
            self._begin(index, rest)
