"""Infers from renderings how a chat template marks reasoning, and where turns of the assistant begin."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from wirecall._tools.formats.calls import ONE
from wirecall._tools.formats.markup import common_prefix, leading_space, markers, openers_of
from wirecall._tools.formats.rendering import RenderError
from wirecall._tools.formats.turns import CONTENT, FIRST, THINKING, THOUGHT, Turns


@dataclass(frozen=True)
class Reasoning:
    """How reasoning is written."""

    opener: str
    """The text before it, after the header, with whitespace; empty if only the prompt has it."""
    closer: str
    """Its closing marker."""
    after: str
    """The text after it, up to the content, or up to the end of a turn with calls only."""
    to_content: bool = True
    """`after` ends where content begins."""

    def without(self, text: str) -> str:
        """The beginning of a turn without an empty span of reasoning."""
        opener = re.escape(self.opener.strip())
        found = re.match(rf"\s*(?:{opener}\s*)?{re.escape(self.closer)}", text)
        if found is None:
            return text
        space = leading_space(self.after.partition(self.closer)[2])
        return text[found.end() :].removeprefix(space)


def reasoning_of(turns: Turns, source: str) -> tuple[str, Reasoning | None]:
    """The header of turns, from the user's message on, and how reasoning is written after it."""
    header = _header(turns)
    found = _written(turns, header)
    if found is None:
        return _prompted(turns, header, source)
    before, reasoning = found
    header = common_prefix([header, before])
    opener = before[len(header) :]
    if not opener.strip():
        # Each turn begins by opening it.
        for marker in openers_of(reasoning.closer):
            if header.rstrip().endswith(marker):
                header = header[: header.rindex(marker)]
                opener = before[len(header) :]
    return header, replace(reasoning, opener=opener)


def _header(turns: Turns) -> str:
    """The text before each turn of the assistant."""
    content = turns.text(turns.message(CONTENT)).partition(CONTENT)[0]
    call = turns.call(*ONE).partition(FIRST)[0]
    header = common_prefix([content, call])
    prompt = turns.prompt()
    shared = common_prefix([header, prompt])
    # Some templates write no prompt, others write instructions before what they write in past turns.
    rest = header[len(shared) :]
    unprompted = prompt == turns.prompt(False) or (rest.strip() and prompt.endswith(rest))
    return header if unprompted else shared


def _written(turns: Turns, header: str) -> tuple[str, Reasoning] | None:
    """The text before the reasoning of past messages, and how that is written."""
    if turns.style.reasoning is None:
        return None
    for content, calls in ((CONTENT, [ONE]), (CONTENT, []), ("", [ONE])):
        text = turns.try_text(turns.message(content, calls, THOUGHT))
        before, found, after = text.partition(THOUGHT)
        if found and (content or FIRST) in after:
            upto = after.partition(content)[0] if content else after
            # Some templates write the content after the calls.
            to_content = bool(content) and FIRST not in upto
            closer = next(iter(markers(upto)), upto.strip())
            if closer:
                return before, Reasoning("", closer, upto if to_content else after, to_content)
    return None


def _prompted(turns: Turns, header: str, source: str) -> tuple[str, Reasoning | None]:
    """The header and the reasoning of a template that drops past reasoning.

    Its prompt opens reasoning, or its code names the usual marker.
    """
    thinking = replace(turns, style=replace(turns.style, variables=THINKING))
    for each in (turns, thinking):
        try:
            prompt = each.prompt()
        except RenderError:
            continue
        shared = common_prefix([header, prompt])
        opener = next(iter(markers(prompt[len(shared) :])), "")
        closer = opener.replace("<", "</", 1) if opener[:1] == "<" else opener.replace("[", "[/", 1)
        if opener and closer in source:
            following = prompt[len(shared) :].partition(opener)[2]
            if following.startswith("\n"):
                return shared, Reasoning(opener + "\n", closer, f"\n{closer}\n\n")
            return shared, Reasoning(opener, closer, closer)
    if "</think>" in source:
        return header, Reasoning("<think>", "</think>", "</think>")
    return header, None
