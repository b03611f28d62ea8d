"""Detects the protocol of a text."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from wirecall._core import PROTOCOLS, Message
from wirecall._tools.definitions import Definition, definitions
from wirecall._tools.toolset import Toolset
from wirecall.errors import ToolError

# Elements of other protocols, or of none: tool names are not guessed from them.
_NOT_TOOL_NAMES = frozenset(["call", "function", "parameter", "think", "tool_call", "tool_response"])
# The maximum number of guessed names; a text with more is a document.
_MAX_NAMES = 64
_ELEMENT = re.compile(r"^<([A-Za-z_][\w.-]{0,127})[ \t]*/?>", re.MULTILINE)
# A guessed name counts less than a declared one.
_GUESSED_WEIGHT = 0.8
_REPAIR_FACTOR = 0.9


class Detection(NamedTuple):
    """What `detect` found.

    Attributes:
        protocol: The name of the most likely protocol; None if no protocol finds a call.
        score: Its score, from 0 (no call) to 1 (calls only, without repairs and problems).
        scores: The scores of all protocols, the most likely one first.
    """

    protocol: str | None
    score: float
    scores: dict[str, float]


def detect(text: str, tools: Iterable[object] = ()) -> Detection:
    """Detects the protocol of the calls in a text.

    Args:
        text: A message, or the beginning of one; only complete calls count.
        tools: The declared tools, as for `Toolset`. Without them any name is a tool's; elements at the start
            of a line then count as calls of xml and yaml, with a lower score.

    Returns:
        The most likely protocol and all scores. A score is the share of calls among calls and errors, minus a
        tenth for each kind of repair and for problems.

    Raises:
        ToolError: As in `Toolset`.
    """
    declared = definitions(tools)
    scores = {name: _score(name, text, declared) for name in PROTOCOLS}
    # The order of PROTOCOLS decides between equal scores.
    ranked = dict(sorted(scores.items(), key=lambda item: -item[1]))
    best, score = next(iter(ranked.items()))
    return Detection(best if score else None, score, ranked)


def _score(protocol: str, text: str, declared: list[Definition]) -> float:
    weight = 1.0
    if not declared and protocol in ("xml", "yaml"):
        found = dict.fromkeys(match[1] for match in _ELEMENT.finditer(text))
        names = [name for name in found if name.lower() not in _NOT_TOOL_NAMES][:_MAX_NAMES]
        if not names:
            return 0.0
        declared = [Definition(name, None, {"type": "object"}, None) for name in names]
        weight = _GUESSED_WEIGHT
    try:
        toolset = Toolset(declared, protocol=protocol)
    except ToolError:
        if weight == 1.0:
            raise
        # A guessed name is not a valid tool name.
        return 0.0
    # Without the prompt, nothing says that the text begins in reasoning.
    message: Message = toolset.parse(text, truncated=False, in_reasoning=False)
    if not message.calls:
        return 0.0
    repairs = {repair for call in message.calls for repair in call.repairs}
    flaws = len(repairs) + any(call.problems for call in message.calls)
    share = len(message.calls) / (len(message.calls) + len(message.errors))
    return round(weight * share * _REPAIR_FACTOR**flaws, 3)
