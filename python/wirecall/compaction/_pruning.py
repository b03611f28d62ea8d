"""Removes reasoning, calls with their results, and the contents of results from old messages."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from wirecall._apis.conversation import Message, MessageFormat
from wirecall._apis.values import dict_of
from wirecall.compaction._checks import at_least

CLEARED = "[Old tool result content cleared]"
# What the model is told about placeholders.
EXPLANATION = (
    f"To save room, the contents of older tool results are replaced with {CLEARED}. Call a tool again if "
    "you need what it said."
)

Which = Literal["all", "old"] | None


@dataclass(frozen=True)
class Prune:
    """Reasoning and calls that are left out of requests.

    Attributes:
        reasoning: "all", or "old": that before the last `keep_messages` messages. Reasoning after the last
            user's message always stays: the model is still working, and providers require it.
        calls: "all", or "old", with their results. A call and its result stay or go together: a call whose
            result is not old stays, and so does a call without a result.
        keep_messages: How many messages at the end are not old.
        tools: Names of tools, or patterns such as `"read_*"`, whose calls are left out; all by default.
    """

    reasoning: Which = None
    calls: Which = None
    keep_messages: int = 1
    tools: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("reasoning", "calls"):
            if (given := getattr(self, name)) not in ("all", "old", None):
                raise ValueError(f"{name} is {given!r}; it must be one of 'all', 'old', None")
        at_least("keep_messages", self.keep_messages, 1)
        if isinstance(self.tools, str) or not all(isinstance(name, str) for name in self.tools):
            raise TypeError("tools must be a sequence of tool names")


@dataclass(frozen=True)
class Clear:
    """Replaces the contents of tool results with placeholders, and says so in the system text (in chat
    completions only if there is one).

    Attributes:
        keep_recent: How many results at the end stay; rounded down, at least 1.
    """

    keep_recent: float = 1

    def __post_init__(self) -> None:
        given: object = self.keep_recent
        if isinstance(given, bool) or not isinstance(given, (int, float)) or math.isnan(given):
            raise TypeError(f"keep_recent is {given!r}; it must be a number of results, such as 3")

    @property
    def kept(self) -> float:
        given = self.keep_recent
        return given if given == math.inf else max(1, math.floor(max(given, 1)))


def pruned(format: MessageFormat, messages: Sequence[Message], rule: Prune) -> list[Message | None]:
    """Each message, or None if it is left out; unchanged ones are the same objects."""
    limit = {"all": len(messages), "old": max(0, len(messages) - rule.keep_messages)}
    left: list[Message | None] = list(messages)
    if rule.calls is not None:
        _calls(format, left, limit[rule.calls], rule.tools)
    if rule.reasoning is not None:
        _reasoning(format, left, limit[rule.reasoning])
    return left


def cleared(format: MessageFormat, messages: Sequence[Message], keep: float) -> list[Message]:
    """The messages with placeholders for all but the last `keep` results."""
    left = list(messages)
    for index in range(len(left) - 1, -1, -1):
        results = format.inspect(dict_of(left[index])).results
        old = results[: max(0, len(results) - int(min(keep, len(results))))]
        keep -= len(results) - len(old)
        if contents := {one.id: CLEARED for one in old if one.content != CLEARED}:
            left[index] = format.with_results(left[index], contents)
    return left


def _calls(format: MessageFormat, left: list[Message | None], limit: int, tools: Sequence[str]) -> None:
    waiting: dict[str, list[tuple[int, bool]]] = {}
    gone: dict[int, set[str]] = {}
    for index, message in enumerate(left[:limit]):
        info = format.inspect(dict_of(message))
        for result in info.results:
            if asked := waiting.get(result.id):
                at, goes = asked.pop(0)
                for one in (at, index) if goes else ():
                    gone.setdefault(one, set()).add(result.id)
        for call in info.calls:
            goes = call.textual and (not tools or any(fnmatchcase(call.name, name) for name in tools))
            waiting.setdefault(call.id, []).append((index, goes))
    for index, ids in gone.items():
        left[index] = format.without_calls(left[index], ids)
    if gone:
        _drop_dangling(format, left, limit)


def _drop_dangling(format: MessageFormat, left: list[Message | None], limit: int) -> None:
    """Drops reasoning whose call was dropped."""
    following: str | None = None
    for index in range(len(left) - 1, -1, -1):
        message = left[index]
        if message is None:
            continue
        info = format.inspect(dict_of(message))
        if info.is_reasoning and index < limit and following != "assistant":
            left[index] = None
        else:
            following = info.role


def _reasoning(format: MessageFormat, left: list[Message | None], limit: int) -> None:
    roles = [None if message is None else format.inspect(dict_of(message)).role for message in left]
    limit = min(limit, max((at for at, role in enumerate(roles) if role == "user"), default=0))
    index = 0
    while index < limit:
        # An answer is the messages that the model wrote at once.
        end = index + 1
        while roles[index] == "assistant" and end < len(left) and roles[end] in ("assistant", None):
            end += 1
        _without_reasoning(format, left, range(index, end), limit)
        index = end


def _without_reasoning(format: MessageFormat, left: list[Message | None], answer: range, limit: int) -> None:
    """Drops the reasoning of one answer, unless the API would refuse the rest without it."""
    made: dict[int, Message | None] = {}
    unbound = False
    for index in answer:
        message = left[index]
        if message is None:
            continue
        less = format.without_reasoning(message) if index < limit else message
        if unbound and less is message:
            less = format.unbound(message)
            if less is None or (index >= limit and less is not message):
                return
        unbound = unbound or less is None
        if less is not message:
            made[index] = less
    for index, less in made.items():
        left[index] = less
