"""Where a conversation is cut: between turns, with every result next to its call.

A turn is a user's message, or what the model said at once with all results of its calls. System and developer
messages are not turns, nor is the summary that an earlier compaction left at the beginning.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from wirecall._apis.conversation import (
    INTRODUCTION,
    MAX_SUMMARY_TOKENS,
    OPENING,
    Call,
    Message,
    MessageFormat,
    Result,
    Seen,
)
from wirecall._apis.detection import read_conversation
from wirecall._apis.names import ApiName
from wirecall._apis.values import dict_of, listed
from wirecall.compaction._counting import Count, estimate, tokens


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
        results: Messages with results of its calls, after everything that was said.
        open: Calls without a result so far, with the index of their message, by their ids.
        repaired: Results were added or removed.
    """

    said: list[Message]
    at: int
    results: list[Message] = field(default_factory=list)
    open: dict[str, list[tuple[Call, int]]] = field(default_factory=dict)
    repaired: bool = False

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
    """A list of messages, cut into turns.

    Attributes:
        system: System and developer messages.
        summary: The summary of an earlier compaction; [] if there is none.
        turns: All other messages.
        repairs: Results that were repaired.
    """

    format: MessageFormat
    system: list[Message]
    summary: list[Message]
    turns: list[Turn]
    repairs: list[ResultRepair]


@dataclass(frozen=True)
class CompactionPlan:
    """A conversation in three parts; `system + to_summarize + to_keep` is all of it.

    Attributes:
        system: System and developer messages, in order: the same objects.
        to_summarize: The older turns, after an earlier summary; [] if nothing is old enough.
        to_keep: The recent turns: the same objects, except for those in `repairs`.
        turns: The number of turns.
        kept_turns: How many of them are kept.
        repairs: Results that were repaired, because a provider would refuse the conversation.
        format: The API of the messages.
    """

    system: list[Message]
    to_summarize: list[Message]
    to_keep: list[Message]
    turns: int
    kept_turns: int
    repairs: tuple[ResultRepair, ...]
    format: ApiName


def plan_compaction(
    messages: Sequence[Message],
    *,
    keep_recent_turns: float | None = None,
    max_tokens: float | None = None,
    count: Count | None = None,
    usage: float | None = None,
    max_summary_tokens: int = MAX_SUMMARY_TOKENS,
    format: ApiName | None = None,
) -> CompactionPlan:
    """Plans what a compaction summarises and what it keeps, in linear time.

    If both `keep_recent_turns` and `max_tokens` are given, the one that keeps less applies.

    Args:
        messages: Messages of chat completions, items of Responses, or messages of Anthropic: dicts, or
            objects of their SDKs. Never mutated.
        keep_recent_turns: Rounded down; 0 summarises everything. A last turn that waits for results is
            always kept.
        max_tokens: The most tokens of the result. Nothing is summarised if the messages have no more; else as
            many turns are kept as fit beside the system messages and a summary, at least one. So it has to be
            much more than `max_summary_tokens`. Results without a call do not count.
        count: Returns the number of tokens of a text. By default that of tiktoken's o200k_base (extra
            `wirecall[tokens]`).
        usage: The provider's count of input tokens for exactly these messages. An estimate of each message is
            scaled to it, so no tokenizer is needed.
        max_summary_tokens: How much of `max_tokens` is reserved for the summary, however long it is.
        format: "chat", "responses" or "messages"; by default it is detected.

    Raises:
        MixedFormatsError: The messages are not all of one API.
        TypeError: Neither `keep_recent_turns` nor `max_tokens` is given, `messages` are not messages of these
            APIs, or `count` is not a function that returns a number.
        ValueError: `keep_recent_turns` is not a number, or one of the others is not above 0.
        VocabularyError: There is no `count`, no `usage`, and no tiktoken.
    """
    if keep_recent_turns is None and max_tokens is None:
        raise TypeError("give keep_recent_turns=…, max_tokens=…, or both")
    keep = math.inf if keep_recent_turns is None else whole_turns(keep_recent_turns)
    of = conversation(messages, format)
    if max_tokens is not None:
        keep = min(keep, affordable(of, max_tokens, count, usage, max_summary_tokens))
    return cut(of, keep)


def affordable(
    of: Conversation, max_tokens: float, count: Count | None, usage: float | None, max_summary_tokens: float
) -> int:
    """How many of the last turns fit into `max_tokens`, beside the system messages and a summary."""
    limit = _above_zero("max_tokens", max_tokens)
    max_summary_tokens = _above_zero("max_summary_tokens", max_summary_tokens)
    if usage is not None:
        usage = _above_zero("usage", usage)
        count = count or estimate
    if not of.turns:
        return 0
    if count is None:
        from wirecall.tokens import tokenizer

        count = tokenizer()
    elif not callable(count):
        raise TypeError(f"count must be callable, not {type(count).__name__}")
    last = of.turns[-1]
    sizes: Iterable[int] = (
        tokens(turn.messages(of.format, ended=turn is not last), count) for turn in reversed(of.turns)
    )
    system = tokens(of.system, count)
    if usage is not None:
        sizes = list(sizes)
        scale = usage / (system + tokens(of.summary, count) + sum(sizes))
        limit, max_summary_tokens = limit / scale, max_summary_tokens / scale
    # A summary counts the same whatever its length, so that a compacted list is not compacted again.
    summarised = system + max_summary_tokens + tokens([of.format.user(INTRODUCTION)], count)
    whole = summarised if of.summary else system
    kept = 0
    for size in sizes:
        summarised += size
        whole += size
        if whole > limit:
            return max(kept, 1)
        if summarised <= limit:
            kept += 1
    return len(of.turns)


def whole_turns(given: object) -> float:
    """The number rounded down, at least 0; may be infinite."""
    if not isinstance(given, (int, float)) or math.isnan(given):
        raise ValueError(f"keep_recent_turns is {given!r}; it must be a number of turns, such as 10")
    return given if math.isinf(given) and given > 0 else max(0, math.floor(max(given, 0)))


def _above_zero(name: str, given: object) -> float:
    if not isinstance(given, (int, float)) or isinstance(given, bool) or not given > 0:
        raise ValueError(f"{name} is {given!r}; it must be a number above 0")
    return given


def cut(of: Conversation, keep: float) -> CompactionPlan:
    """Keeps the last `keep` turns, and a last turn that waits for results."""
    count = len(of.turns)
    waits = bool(of.turns and of.turns[-1].open)
    kept = int(max(min(keep, count), waits))
    old, recent = of.turns[: count - kept], of.turns[count - kept :]
    to_keep = joined(of.format, recent, ended=False)
    return CompactionPlan(
        of.system,
        [*of.summary, *joined(of.format, old, ended=True)] if old else [],
        to_keep if old else [*of.summary, *to_keep],
        count,
        kept,
        tuple(of.repairs),
        of.format.name,
    )


def joined(format: MessageFormat, turns: Sequence[Turn], *, ended: bool) -> list[Message]:
    """The messages of turns. Results of the last one may still come, unless it has `ended`."""
    return [one for turn in turns for one in turn.messages(format, ended=ended or turn is not turns[-1])]


def conversation(messages: Sequence[Message], format: ApiName | None = None) -> Conversation:
    """Cuts a list into turns.

    Raises:
        MixedFormatsError: The messages are not all of one API.
    """
    of, mappings = read_conversation(messages, format)
    return turns_of(of, messages, mappings)


def turns_of(
    format: MessageFormat, messages: Sequence[Message], mappings: Sequence[Mapping[str, Any]]
) -> Conversation:
    """`conversation` for messages whose format is known; nothing is refused."""
    return _TurnCutter(format).cut(messages, mappings)


def summary_in(message: Mapping[str, Any]) -> tuple[Message, Message | None] | None:
    """The summary at the beginning of a user's message, and the rest of it, if any; else None."""
    content = message.get("content")
    parts = listed(content)
    text = dict_of(parts[0]).get("text") if parts else content
    if not isinstance(text, str) or not text.startswith(OPENING):
        return None
    if len(parts) < 2:
        return message, None
    return {**message, "content": [parts[0]]}, {**message, "content": [*parts[1:]]}


def placeholder(call: Call) -> str:
    """Replaces a result that never came."""
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
            elif self.turns or summary or (found := summary_in(mapping)) is None:
                self._user(index, message)
            else:
                merged, rest = found
                if rest is None:
                    summary = [message]
                else:
                    summary = [merged]
                    self._user(index, rest)
        self.repairs += (
            ResultRepair("missing_result", index, call.id, call.name)
            for turn in self.turns[:-1]
            if turn.open
            for call, index in turn.missing()
        )
        self.repairs.sort(key=lambda repair: repair.at)
        return Conversation(self.format, system, summary, self.turns, self.repairs)

    def _user(self, index: int, message: Message) -> None:
        self._begin(index, message)
        self.last = None

    def _begin(self, index: int, message: Message) -> Turn:
        if self.turns and self.turns[-1].open:
            self.waiting.update(dict.fromkeys(self.turns[-1].open, self.turns[-1]))
        turn = Turn([message], index)
        self.turns.append(turn)
        return turn

    def _said(self, index: int, message: Message, seen: Seen) -> None:
        if self._goes_on(seen):
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

    def _goes_on(self, seen: Seen) -> bool:
        """Whether this message belongs to the model's last one."""
        if self.last is None:
            return False
        turn = self.turns[-1]
        if turn.open and self.format.merges:
            return True
        return not turn.results and (seen.joins or self.last.binds)

    def _results(self, index: int, message: Message, seen: Seen) -> None:
        late: dict[int, Turn] = {}
        orphans: set[int] = set()
        for place, result in enumerate(seen.results):
            if self.turns and self._close(self.turns[-1], result):
                continue
            turn = self.waiting.get(result.id)
            if turn is not None and self._close(turn, result):
                late[place] = turn
                self.repairs.append(ResultRepair("late_result", index, result.id, result.name))
            else:
                orphans.add(place)
                self.repairs.append(ResultRepair("orphan_result", index, result.id, result.name))
        if not late and not orphans:
            self.turns[-1].results.append(message)
            return
        groups = {**dict.fromkeys(orphans), **{place: id(turn) for place, turn in late.items()}}
        parts, rest = self.format.split(message, groups)
        for turn in {id(turn): turn for turn in late.values()}.values():
            turn.results.append(parts[id(turn)])
            turn.repaired = True
        if rest is None:
            return
        if len(late) + len(orphans) < len(seen.results):
            self.turns[-1].results.append(rest)
            self.turns[-1].repaired = True
        else:
            self._user(index, rest)

    @staticmethod
    def _close(turn: Turn, result: Result) -> bool:
        waiting = turn.open.get(result.id)
        if not waiting:
            return False
        waiting.pop(0)
        if not waiting:
            del turn.open[result.id]
        return True
