"""Detects the protocol of a text."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from wirecall._core import FAMILIES, PROTOCOLS, CallEnd, Message, Text, native_formats
from wirecall._tools.definitions import Definition, definitions
from wirecall._tools.toolset import Toolset
from wirecall.errors import ToolError

# Elements of other protocols, or of none: tool names are not guessed from them.
_NOT_TOOL_NAMES = frozenset(["call", "function", "parameter", "think", "tool_call", "tool_response"])
# The maximum number of guessed names; a text with more is a document.
_MAX_NAMES = 64
_ELEMENT = re.compile(r"^<([A-Za-z_][\w.-]{0,127})[ \t]*/?>", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,127}")
# A guessed name counts less than a declared one.
_GUESSED_WEIGHT = 0.8
_REPAIR_FACTOR = 0.9
_NAMES = tuple(dict.fromkeys((*PROTOCOLS, *FAMILIES)))


class Detection(NamedTuple):
    """What `detect` found.

    Attributes:
        protocol: The name of the most likely protocol; None if no protocol finds a call.
        score: Its score, from 0 (no call) to 1 (calls only, without repairs and problems).
        scores: The scores of all protocols and native formats, the most likely one first. Formats that
            cannot be told apart by the text have the same score.
    """

    protocol: str | None
    score: float
    scores: dict[str, float]


# How much text without calls is searched for calls of another format, in characters.
SEARCHED = 1 << 16


def format_in(text: str, names: Sequence[str]) -> str | None:
    """The format of the calls of these tools in a text, in its first `SEARCHED` characters.

    None if there are none, or only in the middle of a sentence, where they are examples.
    """
    text = text[:SEARCHED]
    # Reading all formats takes milliseconds, and most texts have no call in any.
    if not any(mark in text for mark in "<{[") or not any(name in text for name in names):
        return None
    declared = [(name, True) for name in names]
    try:
        found = detect(text, declared).protocol
        if found is None:
            return None
        message = Toolset(declared, protocol=found).parse(text, truncated=False, in_reasoning=False)
    except ToolError:
        # A name that another protocol cannot write.
        return None
    return found if _ends_a_line(message) else None


def _ends_a_line(message: Message) -> bool:
    """Whether nothing else is on the line of one of the calls after it."""
    items = message.items
    return any(
        not (isinstance(after, Text) and after.text.partition("\n")[0].strip())
        for item, after in zip(items, (*items[1:], None), strict=True)
        if isinstance(item, CallEnd)
    )


def detect(text: str, tools: Iterable[object] = ()) -> Detection:
    """Detects the protocol of the calls in a text.

    Args:
        text: A message, or the beginning of one; only complete calls count.
        tools: The declared tools, as for `Toolset`. Without them any name is a tool's; elements at the start
            of a line then count as calls of xml and yaml, with a lower score.

    Returns:
        The most likely protocol and all scores. A score is the share of calls among calls and errors, minus a
        tenth for each kind of repair and for problems. Between equal scores, these come first, in this order:
        formats whose own marks are in the text, those that would write the message (or at least its calls)
        so, those with the shortest arguments, those whose messages begin in text. Otherwise the order of
        PROTOCOLS and FAMILIES decides.

    Raises:
        ToolError: As in `Toolset`.
    """
    declared = definitions(tools)
    marks = _marks()
    marked = {
        name for name in _NAMES if name in PROTOCOLS or any(mark in text for mark in marks[name].openers)
    }
    found = {name: _score(name, text, declared, name in marked) for name in _NAMES}

    def rank(name: str) -> tuple[float, bool, int, int, bool]:
        begins_in_reasoning = name in marks and marks[name].in_reasoning
        score, verbatim, length = found[name]
        return -score, name not in marked, -verbatim, length, begins_in_reasoning

    ranked = sorted(found, key=rank)
    best = ranked[0] if found[ranked[0]].score else None
    return Detection(best, found[ranked[0]].score, {name: found[name].score for name in ranked})


class _Marks(NamedTuple):
    openers: list[str]
    """What opens a call or a section."""
    reasoning: list[tuple[str, str]]
    in_reasoning: bool
    """Whether messages begin in reasoning, which is not assumed here."""


class _Score(NamedTuple):
    score: float
    verbatim: int = 2
    """What is written as the format itself writes it: 2 the message, 1 each call, 0 less. Always 2 for
    protocols that are not native formats."""
    length: int = 0
    """Of the arguments that native formats read: less if line breaks around values are the format's."""


@cache
def _marks() -> dict[str, _Marks]:
    """Those of the native formats, by name."""
    made = {}
    for row in native_formats():
        openers = [opener for opener, _ in (row["call"], row["section"] or ("", "")) if opener]
        made[row["name"]] = _Marks(openers, row["reasoning"], row["starts_in_reasoning"])
    return made


def _score(protocol: str, text: str, declared: list[Definition], marked: bool) -> _Score:
    weight = 1.0
    if not declared and protocol in ("xml", "yaml"):
        found = dict.fromkeys(match[1] for match in _ELEMENT.finditer(text))
        names = [name for name in found if name.lower() not in _NOT_TOOL_NAMES][:_MAX_NAMES]
        if not names:
            return _Score(0.0)
        declared = [Definition(name, None, {"type": "object"}, None) for name in names]
        weight = _GUESSED_WEIGHT
    try:
        toolset = Toolset(declared, protocol=protocol)
    except ToolError:
        if weight == 1.0:
            raise
        # A guessed name is not a valid tool name.
        return _Score(0.0)
    # Without the prompt, nothing says that the text begins in reasoning.
    message: Message = toolset.parse(text, truncated=False, in_reasoning=False)
    if not message.calls:
        return _Score(0.0)
    if protocol not in PROTOCOLS:
        if not declared and not all(_NAME.fullmatch(call.name) for call in message.calls):
            return _Score(0.0)
        weight = _GUESSED_WEIGHT if not (declared or marked) else weight
    native = protocol in _marks()
    verbatim = _writes(toolset, message, text) if native else 2
    length = sum(len(call.arguments) for call in message.calls) if native else 0
    repairs = {repair for call in message.calls for repair in call.repairs}
    flaws = len(repairs) + any(call.problems for call in message.calls)
    share = len(message.calls) / (len(message.calls) + len(message.errors))
    return _Score(round(weight * share * _REPAIR_FACTOR**flaws, 3), verbatim, length)


def _writes(toolset: Toolset, message: Message, text: str) -> int:
    """How much of the message is in the text as this toolset would write it."""
    calls = [(call.name, call.args) for call in message.calls]
    try:
        if toolset.encode_message(message.text, calls, reasoning=message.reasoning or None).strip() in text:
            return 2
        return int(all(toolset.encode(name, args).strip() in text for name, args in calls))
    except ValueError:
        return 0
