"""Cuts a conversation into turns, with every result next to its call.

A turn is a user's message, or an answer of the model with the results that follow: what the model says after
a result begins a new turn. Calls without a result stay open. A later result is moved to its call; a
placeholder replaces a result that never comes.

System and developer messages are not turns, nor is the summary that an earlier compaction left at the
beginning.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from wirecall._apis.conversation import ASSISTANT, Call, Message, MessageFormat, MessageInfo
from wirecall._apis.values import dict_of, listed
from wirecall._public import as_dict
from wirecall.compaction._summary import OPENING


class ResultRepair(NamedTuple):
    """A tool result that was dropped, moved or replaced, so that each call has its result right after it.

    Attributes:
        kind: "orphan_result": dropped, since no call has its id, or the call already has a result.
            "missing_result": a placeholder replaces it. "late_result": moved to its call, since the model or
            the user said something before it came.
        at: The index of the message that has the result, or of the call without a result.
        id: The id of the call.
        name: The name of the tool; None if it is unknown.
    """

    kind: Literal["orphan_result", "missing_result", "late_result"]
    at: int
    id: str
    name: str | None

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""
        return as_dict(self)


@dataclass(slots=True)
class Turn:
    """Messages that stay together.

    Attributes:
        said: The user's message, or the model's messages.
        at: The index of the first of them in the list.
        results: Messages with results of its calls.
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


def _coming(infos: Sequence[MessageInfo]) -> list[set[str] | None]:
    """For each message, the calls of the results that come next, before a user speaks; None at the end of the
    list, where any may still come."""
    made: list[set[str] | None] = []
    coming: set[str] | None = None
    role = ""
    for info in reversed(infos):
        made.append(coming)
        if info.role == "result":
            # One set for all results in a row.
            coming = coming if role == "result" and coming is not None else set()
            coming.update(result.id for result in info.results)
        elif info.role == "user":
            coming = set()
        role = info.role
    made.reverse()
    return made


class _TurnCutter:
    def __init__(self, format: MessageFormat) -> None:
        self.format = format
        self.turns: list[Turn] = []
        self.repairs: list[ResultRepair] = []
        # The turn of the newest call, by call id.
        self.calls: dict[str, Turn] = {}
        self.coming: list[set[str] | None] = []
        # The model's answer, if nobody else has spoken since: results that come now are not late.
        self.answer: Turn | None = None
        # The last message of `answer`.
        self.last = ASSISTANT
        # What the model said that is in no turn yet: reasoning belongs to the turn of the next message.
        self.unplaced: list[tuple[int, Message, MessageInfo]] = []

    def cut(self, messages: Sequence[Message], mappings: Sequence[Mapping[str, Any]]) -> Conversation:
        system: list[Message] = []
        summary: list[Message] = []
        infos = list(map(self.format.inspect, mappings))
        self.coming = _coming(infos)
        for index, (message, mapping, info) in enumerate(zip(messages, mappings, infos, strict=True)):
            if info.role == "system":
                system.append(message)
            elif info.role == "result":
                self._results(index, message, info)
            elif info.role == "assistant":
                self.unplaced.append((index, message, info))
                if not info.is_reasoning:
                    self._said()
            elif self.turns or self.unplaced or summary or (found := summary_in(message, mapping)) is None:
                self._user(index, message)
            else:
                summary = [found[0]]
                if found[1] is not None:
                    self._user(index, found[1])
        self._said()
        self.repairs += (
            ResultRepair("missing_result", index, call.id, call.name)
            for turn in self.turns[:-1]
            if turn.open
            for call, index in turn.missing()
        )
        self.repairs.sort(key=lambda repair: repair.at)
        return Conversation(self.format, system, summary, self.turns, self.repairs)

    def _user(self, index: int, message: Message) -> None:
        self._said()
        self.turns.append(Turn([message], index))
        self.answer = None

    def _said(self) -> None:
        """Appends `unplaced` to the current answer, or begins a new turn with it."""
        if not self.unplaced:
            return
        said, self.unplaced = self.unplaced, []
        if self.answer is None or not self._continues(self.answer, said):
            self.answer = Turn([], said[0][0])
            self.turns.append(self.answer)
        for index, message, info in said:
            self.answer.said.append(message)
            for call in info.calls:
                self.answer.open.setdefault(call.id, []).append((call, index))
                self.calls[call.id] = self.answer
            self.last = info

    def _continues(self, turn: Turn, said: Sequence[tuple[int, Message, MessageInfo]]) -> bool:
        """Whether these messages continue the turn: it has no result yet, and they repeat none of its open
        calls."""
        if turn.results or any(call.id in turn.open for *_, info in said for call in info.calls):
            return False
        index, _, first = said[0]
        if first.joins or self.last.binds:
            return True
        # Results after several messages of the model are for all of them.
        coming = self.coming[index]
        return self.format.merges and bool(turn.open if coming is None else turn.open.keys() & coming)

    def _results(self, index: int, message: Message, info: MessageInfo) -> None:
        if self.unplaced:
            self.answer = None  # The next answer has begun.
        answer = self.answer
        # The turns that results are moved to, by their positions; None for results without a call.
        moved: dict[int, Turn | None] = {}
        for place, result in enumerate(info.results):
            if place == info.said_at:
                self.answer = None
            turn = self.calls.get(result.id)
            if turn is not None and not turn.close(result.id):
                turn = None
            if turn is None or turn is not self.answer:
                moved[place] = turn
                repair = ResultRepair(
                    "late_result" if turn else "orphan_result", index, result.id, result.name
                )
                self.repairs.append(repair)
        if info.said_at is not None:
            self.answer = None
        rest: Message | None = message
        parts: dict[Hashable, Message] = {}
        late = {id(turn): turn for turn in moved.values() if turn is not None}
        if moved:
            groups = {place: None if turn is None else id(turn) for place, turn in moved.items()}
            parts, rest = self.format.split(message, groups)
        if answer is not None and len(moved) < len(info.results):
            answer.results.append(rest)
            answer.repaired = answer.repaired or bool(moved)
        elif rest is not None:
            self._user(index, rest)
        for key, turn in late.items():
            turn.results.append(parts[key])
            turn.repaired = True
