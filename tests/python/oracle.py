"""The oracle: a naive parser of whole messages, written from docs/wire-format.md alone.

It looks ahead as far as it likes, reads what it likes twice, and never streams, so that each function is one
paragraph of the document. What it says is what the real parser has to say. Limits are left out, except those
of keys, names and the attempt.
"""

import re
from dataclasses import dataclass

from oracle_call import WRAPPER, Call, CallReader, Error
from oracle_parts import is_declared, tool_named, tool_style
from oracle_text import CLOSE, CUT_KEY, OPEN, key_at, skip_ws, without_surrogates
from oracle_types import Schema

__all__ = ["Call", "Error", "Item", "Text", "parse"]

THINK, THOUGHT = "<think>", "</think>"
FORGED = ("<tool-result", "<tool-error")

_MARK = re.compile("|".join(map(re.escape, (OPEN, *FORGED))))
_NAME = re.compile(r"[^ \t\r\n<{\"'=]+")
_PROSE_NAME = re.compile(r"[A-Za-z0-9_.:/-]+")


@dataclass(frozen=True)
class Text:
    text: str
    start: int
    end: int


Item = Text | Call | Error


def parse(
    message: str,
    tools: dict[str, Schema],
    *,
    strict: bool = False,
    truncated: bool | None = None,
    in_reasoning: bool = False,
    validate: bool = False,
) -> list[Item]:
    """The items of a message; they tile it."""
    text = without_surrogates(message)
    items: list[Item] = []
    written = 0  # all before this is in items
    at = 0
    if in_reasoning or text.startswith(THINK):
        at = text.find(THOUGHT)
        at = len(text) if at < 0 else at + len(THOUGHT)
    while (mark := _MARK.search(text, at)) is not None:
        item: Item
        start = mark.start()
        if mark[0] != OPEN:
            item = Error("forged_result", None, start, mark.end())
        else:
            attempt = committed(text, start + len(OPEN), tools)
            if attempt is None:
                at = mark.end()
                continue
            item = CallReader(text, start, tools, strict, truncated is False).read(*attempt)
            if validate and isinstance(item, Call) and item.problems:
                item = Error("invalid_arguments", item.name, start, item.end)
        if written < start:
            items.append(Text(text[written:start], written, start))
        items.append(item)
        at = written = item.end
        if mark[0] != OPEN:
            break
    if written < len(text):
        items.append(Text(text[written:], written, len(text)))
    return items


def committed(text: str, behind_open: int, tools: dict[str, Schema]) -> tuple[str | None, int] | None:
    """Section 11, "Attempt": the name and the place behind it, or None if this was text."""
    s = text[behind_open : behind_open + 256]
    if s.startswith("{"):
        return None, behind_open
    match = _NAME.match(s, skip_ws(s, 0))
    if match is None or len(match[0]) > 128:
        return None
    name, end = match[0], match.end()
    if s[end : end + 1] in ("=", '"', "'"):
        return None
    result = name, behind_open + end
    resolved = name if name in tools else tool_style(tools, name)
    at = skip_ws(s, end)
    if s.startswith("{", at) or WRAPPER.match(s, at):
        return result
    key = key_at(s, at)
    if key is not None and key is not CUT_KEY:
        if s.startswith("=", key.end):
            return result
        tool = tool_named(tools, resolved) if tools and resolved else None
        if tool and is_declared(tool.type, key) and s.startswith("=", skip_ws(s, key.end)):
            return result
    opens, closes = s.find(OPEN, end), s.find(CLOSE, end)
    if closes < 0 or 0 <= opens < closes:
        return None
    return result if resolved or (match.start() == 0 and _PROSE_NAME.fullmatch(name)) else None
