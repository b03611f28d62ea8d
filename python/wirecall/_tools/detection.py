"""Which protocol a text is in."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from wirecall._core import PROTOCOLS, Message
from wirecall._tools.definitions import Definition, definitions
from wirecall._tools.toolset import Toolset
from wirecall.errors import ToolError

# Elements that are part of another protocol, or of none: no tool's name is guessed from them.
_NO_TOOLS = frozenset(["call", "function", "parameter", "think", "tool_call", "tool_response"])
# Names that are guessed at most; more would be a document.
_MOST = 64
_ELEMENT = re.compile(r"^<([A-Za-z_][\w.-]{0,127})[ \t]*/?>", re.MULTILINE)
# A name that was guessed is worth less than one that was declared.
_GUESSED = 0.8
_REPAIRED = 0.9


class Detection(NamedTuple):
    """What `detect` found.

    Attributes:
        protocol: The name of the likeliest protocol; None where no protocol finds a call.
        score: Of that protocol, from 0 (no call) to 1 (calls only, without repairs and problems).
        scores: Of each protocol, the likeliest first.
    """

    protocol: str | None
    score: float
    scores: dict[str, float]


def detect(text: str, tools: Iterable[object] = ()) -> Detection:
    """Says which protocol the calls in a text are in.

    Args:
        text: A message, or the beginning of one; a call counts once it is whole.
        tools: Those that were declared, as for `Toolset`. Without them any name is a tool's; elements at
            the start of a line then count as calls of xml and yaml, for less.

    Returns:
        The likeliest protocol and all scores. A score is the share of calls among calls and errors, less a
        tenth for each kind of repair and for problems.

    Raises:
        ToolError: As in `Toolset`.
    """
    declared = definitions(tools)
    scores = {name: _score(name, text, declared) for name in PROTOCOLS}
    # The order of PROTOCOLS decides between equals.
    ranked = dict(sorted(scores.items(), key=lambda item: -item[1]))
    best = next(iter(ranked))
    return Detection(best if ranked[best] else None, ranked[best], ranked)


def _score(protocol: str, text: str, declared: list[Definition]) -> float:
    worth = 1.0
    if not declared and protocol in ("xml", "yaml"):
        found = dict.fromkeys(match[1] for match in _ELEMENT.finditer(text))
        names = [name for name in found if name.lower() not in _NO_TOOLS][:_MOST]
        if not names:
            return 0.0
        declared, worth = [Definition(name, None, {"type": "object"}, None) for name in names], _GUESSED
    try:
        toolset = Toolset(declared, protocol=protocol)
    except ToolError:
        if worth == 1.0:
            raise
        # A name that was guessed is none that calls can have.
        return 0.0
    message: Message = toolset.parse(text, truncated=False)
    if not message.calls:
        return 0.0
    repairs = {repair for call in message.calls for repair in call.repairs}
    flaws = len(repairs) + any(call.problems for call in message.calls)
    share = len(message.calls) / (len(message.calls) + len(message.errors))
    return round(worth * share * _REPAIRED**flaws, 3)
