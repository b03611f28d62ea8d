"""Infers from renderings how a chat template writes the result of a call."""

from __future__ import annotations

import json
import re
from typing import Any

from wirecall._tools.formats.calls import ONE
from wirecall._tools.formats.markup import (
    common_prefix,
    common_suffix,
    first_token,
    leading_space,
    lexemes,
    markers,
    trailing_space,
)
from wirecall._tools.formats.turns import CONTENT, FIRST, OTHER, RESULT, Message, Turns

# Words in markers that only a host writes.
_RESULT = re.compile("tool|result|function|output", re.IGNORECASE)
# Of the role in front of a result: `function result`, `tool name=tools`.
_ROLE_LEXEMES = 6


def result_of(turns: Turns, tails: tuple[str, str], stops: list[str], call: str) -> dict[str, Any]:
    """The template of a result as text of its turn, and its marker. Empty if the chat template refuses it."""
    quote = f'{RESULT}"x'
    found = _following(turns, turns.message("", [ONE]), turns.result(quote), tails[1], RESULT)
    if found is None:
        return {}
    before, after = found
    hole = "{content}"
    escaped = json.dumps(quote)[len(RESULT) + 1 :]
    if before.endswith('"') and after.startswith(escaped):
        before, after, hole = before[:-1], after[len(escaped) :], "{json}"
    else:
        after = after.removeprefix('"x').removeprefix('\\"x')
    user = _following(turns, turns.message(CONTENT), turns.user(OTHER), tails[0], OTHER)
    role = _role(before, user[0]) if user is not None else None
    if user is not None and role is not None:
        before, after = before[len(role) :].lstrip("\n"), _without_end(after, user[1]).rstrip("\n")
    else:
        after = (after.partition(stops[0])[0] if stops else after).rstrip("\n")
    made = _with_holes(before, call) + hole + after
    made = made.replace(turns.id(FIRST, 0), "{id}").replace(FIRST, "{name}")
    marks = [
        mark for mark in markers(before) if _RESULT.search(mark) and FIRST not in mark and mark not in call
    ]
    return {"result": made, **({"result_mark": marks[0]} if marks else {})}


def _following(turns: Turns, message: Message, next: Message, tail: str, word: str) -> tuple[str, str] | None:
    """The text around a word of the message that follows this one.

    Only the text after the last word of this one is compared: reasoning may be left out where a turn follows.
    """
    last = "zqvala" if "tool_calls" in message else CONTENT
    alone, text = turns.try_text(message).rpartition(last)[2], turns.try_text(message, [next])
    alone = alone[: len(alone) - len(tail)]
    rest = text.rpartition(last)[2]
    if word not in rest or not rest.startswith(alone):
        return None
    rest = rest[len(alone) :]
    # Some templates end a turn with calls by the marker that begins results, others write a prompt after it.
    stop = first_token(tail)
    if stop and not _RESULT.search(stop):
        end = tail.index(stop) + len(stop)
        upto = tail if rest.startswith(tail) else tail[:end] + leading_space(tail[end:])
        rest = rest.removeprefix(upto)
    before, _, after = rest.partition(word)
    return before, after


def _role(text: str, user: str) -> str | None:
    """The role at the start of a turn, written like that of a user's turn. None if it has none."""
    if text.startswith(user):
        return user
    shared = common_prefix([text, user])
    own, given = lexemes(text[len(shared) :]), lexemes(user[len(shared) :])
    after_role = "".join(given[1:])
    if not shared:
        # Another word, which belongs to the result.
        return None
    ends = [end for end in (after_role, "".join(markers(after_role)[-1:]), trailing_space(after_role)) if end]
    for end in ends:
        role = "".join(own).partition(end)[0]
        # Without anything before it, a marker may be that of a result.
        found = len(role) < len("".join(own)) and (shared or not _RESULT.search("".join(markers(role))))
        if found and len(lexemes(role)) <= _ROLE_LEXEMES:
            return shared + role + end
    # The role may be one marker or word.
    ends_in_it = "".join(markers(after_role)) == after_role
    return shared + own[0] if shared and own and given and ends_in_it else None


def _without_end(text: str, user: str) -> str:
    """The text without the end of its turn, which is that of a user's turn."""
    end = user.strip()
    if end and text.rstrip().endswith(end):
        return text.rstrip()[: -len(end)]
    return text[: len(text) - len(common_suffix(text, user))]


def _with_holes(text: str, call: str) -> str:
    """The text with holes for the id and the number of the call, where it has the same keys as the call."""
    for key in re.findall(r'"(\w+)": \{id\}', call):
        text = re.sub(rf'("{key}":\s*)"0"', r'\1"{id}"', text)
    for key in re.findall(r'(\w+)="\{index\}"', call):
        text = re.sub(rf'{key}="1"', f'{key}="{{index}}"', text)
    if ":{count}" in call:
        text = re.sub(rf"\S*{FIRST}:0", "{id}", text)
    return text
