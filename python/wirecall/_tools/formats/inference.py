"""Infers the description of a format from a chat template: compares renderings that differ in one thing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from wirecall._tools.formats.calls import ONE, Calls, calls_of, unreadable
from wirecall._tools.formats.markup import (
    common_suffix,
    first_token,
    hole,
    is_closing,
    is_token,
    leading_space,
    markers,
)
from wirecall._tools.formats.parts import channels, elements, recipients
from wirecall._tools.formats.reasoning import Reasoning, reasoning_of
from wirecall._tools.formats.rendering import END, Renderer, RenderError
from wirecall._tools.formats.results import result_of
from wirecall._tools.formats.turns import CONTENT, FIRST, OTHER, Style, Turns, first_style
from wirecall.errors import ToolError

Description = dict[str, Any]

# The last hole of a call.
_HOLE = re.compile(r"\{(?:arguments|args|kwargs|members|elements)\}")


@dataclass(frozen=True)
class Inferred:
    """A description that is not proven yet, and how the template wants and writes conversations."""

    description: Description
    style: Style
    header: str
    """The text between the user's message and the turn of the assistant."""
    tails: tuple[str, ...]
    """Texts that may follow the turn of the assistant, the longest first."""
    several: bool
    """A message may have several calls."""
    content: bool
    """A message may have content beside calls."""
    reasoning: tuple[str, str] | None
    """The markers of the reasoning, if the template writes it."""


def inferred(renderer: Renderer) -> Inferred:
    """The description of the format that a chat template writes.

    Raises:
        ToolError: The template writes no calls, or writes them in a form that no description has. The message
            shows the rendered text.
    """
    try:
        return _inferred(renderer)
    except RenderError as error:
        raise ToolError(f"the chat template refuses a conversation: {error.message}") from None
    except RecursionError:
        raise ToolError("the chat template writes text that is nested too deeply") from None


def _inferred(renderer: Renderer) -> Inferred:
    plain = first_style(renderer)
    last = _analysis(plain, renderer.template)
    if last.is_divided:
        followed = _analysis(replace(plain, style=replace(plain.style, followed=True)), renderer.template)
        if not followed.is_divided:
            return followed.inferred()
    return last.inferred()


def _analysis(plain: Turns, source: str) -> _Analysis:
    turns = plain.with_reasoning() or plain
    header, reasoning = reasoning_of(turns, source)
    return _Analysis(turns, header, reasoning, calls_of(turns, header), plain.prompt())


@dataclass(frozen=True)
class _Analysis:
    """The renderings of a template, and what follows from them."""

    turns: Turns
    header: str
    reasoning: Reasoning | None
    calls: Calls
    prompt: str

    # Content and calls ---------------------------------------------------------------------------

    @cached_property
    def answer(self) -> tuple[str, str]:
        """The markers around the content of a message without calls, with the text between them."""
        text = self.turns.text(self.turns.message(CONTENT))[len(self.header) :]
        before, _, after = text.partition(CONTENT)
        opener = self._without_reasoning(before)
        if not markers(opener) or opener.strip() == self.opener.strip():
            return "", ""
        tail = common_suffix(after, self.calls.after)
        return opener, after[: len(after) - len(tail)]

    @cached_property
    def both(self) -> str:
        """A message with content and a call."""
        return self.turns.try_text(self.turns.message(CONTENT, [ONE]))

    @cached_property
    def begin(self) -> str:
        """The text before the first call, in a message without content and reasoning."""
        return self._without_reasoning(self.calls.before)

    @cached_property
    def beside(self) -> tuple[str | None, str]:
        """The text between content and the text before calls, and this text. The first is None if messages
        with calls have no content before them."""
        before, found, after = self.both.partition(CONTENT)
        start = after.find(self.calls.opener or FIRST)
        if not found or start < 0 or FIRST in before or self.is_divided:
            return None, self.begin
        if not before.endswith(self.answer[0]):
            # It is written as reasoning.
            return None, self.begin
        between = after[:start]
        for begin in (self.begin, self.begin.lstrip()):
            if between.endswith(begin):
                return between[: len(between) - len(begin)], begin
        raise unreadable(self.both, "calls after content differently from calls alone")

    @property
    def has_channels(self) -> bool:
        """Whether content and calls are messages of their own, with headers that end by the same marker."""
        return any(self.answer) and markers(self.answer[0])[-1] in self.calls.call

    @cached_property
    def is_divided(self) -> bool:
        """Whether the calls of a message are in another turn than its content."""
        between = self.both.partition(CONTENT)[2].partition(self.calls.opener or FIRST)[0]
        foreign = any(token in between for token in markers(self.tail + self.header))
        return foreign and FIRST in self.both and not self.has_channels

    @cached_property
    def calls_first(self) -> bool:
        """Whether content directly follows the calls."""
        alone = self.turns.call(*ONE)
        calls = alone[: len(alone) - len(self.tail)]
        return self.both.startswith(calls) and self.both[len(calls) :].lstrip().startswith(CONTENT)

    @cached_property
    def recipient(self) -> str:
        """The mark that begins each part of a message, if the prompt already ends with it."""
        mark = (self.calls.between or "").strip()
        return mark if mark and not self.calls.opener and self.header.endswith(mark) else ""

    # The end of a turn ---------------------------------------------------------------------------

    @cached_property
    def tails(self) -> tuple[str, str]:
        """The text after a message: after one with content, and after one with calls."""
        content = self.turns.after_content().removeprefix(self.answer[1])
        shared = common_suffix(self.turns.after_content(), self.calls.after)
        end = self.calls.after[: len(self.calls.after) - len(shared)]
        # A token that ends other turns ends this one; so does a marker, if none precedes the calls.
        stop = self._content_end
        if stop and stop in end:
            return content, end[end.index(stop) :] + shared
        return content, shared if markers(self.begin) or not markers(end) else self.calls.after

    @cached_property
    def _content_end(self) -> str:
        """The token that ends a message with content, where the user's next message follows."""
        text = self.turns.try_text(self.turns.message(CONTENT), [self.turns.user(OTHER)])
        return first_token(text.rpartition(CONTENT)[2].removeprefix(self.answer[1]))

    @property
    def tail(self) -> str:
        return self.tails[1]

    @cached_property
    def end(self) -> str:
        """The text after the last call in a message."""
        return self.calls.after[: len(self.calls.after) - len(self.tail)]

    @cached_property
    def stops(self) -> list[str]:
        """The tokens that end messages with content and with calls."""
        turns = self.turns
        messages = turns.message(CONTENT), turns.message("", [ONE])
        following = turns.user(OTHER), turns.result(OTHER)
        found: list[str] = []
        for tail, message, after in zip(self.tails, messages, following, strict=True):
            if is_closing(tail) and len(markers(tail)) > 1:
                # It closes the message.
                tail = tail.partition(markers(tail)[0])[2]
            if not tail.strip():
                # The next turn says where this one ends.
                alone, text = turns.try_text(message), turns.try_text(message, [after])
                tail = text[len(alone) :] if text.startswith(alone) else ""
            found.append(first_token(tail))
        unique = [token for token in dict.fromkeys(found) if token not in ("", END)]
        # A format needs tokens that begin alike.
        return [token for token in unique if token[0] == unique[0][0]]

    # Reasoning -----------------------------------------------------------------------------------

    def _without_reasoning(self, text: str) -> str:
        return text if self.reasoning is None else self.reasoning.without(text)

    @cached_property
    def opener(self) -> str:
        """The text that opens reasoning in past messages, or else in the prompt."""
        if self.reasoning is None:
            return ""
        return self.reasoning.opener if self.reasoning.opener.strip() else self._prompt_end

    @property
    def _prompt_end(self) -> str:
        """The end of the prompt, after the header."""
        return self.prompt[len(self.header) :] if self.prompt.startswith(self.header) else ""

    def _reasoning(self) -> Description:
        if self.reasoning is None:
            return {"reasoning": False}
        opener, closer = self.reasoning.opener, self._after_reasoning(self.reasoning)
        opens = bool(self.opener.strip()) and self._prompt_end.strip() == self.opener.strip()
        started: Description = {"starts_in_reasoning": True} if opens else {}
        if any(self.answer):
            return started
        table: Description = {"template": f"{opener}{{reasoning}}{closer}"}
        if not opener.strip() or closer.strip() != self.reasoning.closer:
            table["pair"] = [self.opener.strip(), self.reasoning.closer]
        if opens and self._prompt_end.lstrip() != opener.lstrip():
            table["prompt"] = self._prompt_end
        return {"reasoning": table if len(table) > 1 else table["template"], **started}

    def _after_reasoning(self, reasoning: Reasoning) -> str:
        """The text after reasoning, without the text that belongs to the content or the calls."""
        if reasoning.to_content:
            return reasoning.after
        start = reasoning.after.find(self.begin.strip() + self.calls.opener)
        return reasoning.after[: max(start, 0)].removesuffix(leading_space(self.begin))

    # The description -----------------------------------------------------------------------------

    def inferred(self) -> Inferred:
        if END in self.tail and not markers(_HOLE.split(self.calls.call)[-1] + self.end):
            raise ToolError(
                "in the chat template, only eos_token ends a call; "
                "pass eos_token='</s>' (--set 'eos_token=</s>')"
            )
        after_content, begin = self.beside
        written = self.reasoning is not None and self.turns.style.reasoning is not None
        closer = self.reasoning.closer if self.reasoning is not None else ""
        description = self._description(after_content or "", begin)
        # An element that closes the message belongs to it.
        closing = description.get("parts", {}).get("close", "")
        tails = {"", *(tail.removeprefix(closing) for tail in self.tails)}
        return Inferred(
            description,
            self.turns.style,
            self.header.removesuffix(self.recipient),
            tuple(sorted(tails, key=len, reverse=True)),
            self.calls.between is not None,
            after_content is not None or self.calls_first,
            (self.opener.strip(), closer) if written else None,
        )

    def _description(self, after_content: str, begin: str) -> Description:
        made: Description = {"call": self.calls.call}
        if self.calls.argument is not None:
            made["argument"] = self.calls.argument
        frame = self._frame(after_content, begin)
        details = {**self.calls.details, **frame.pop("calls", {})}
        if details:
            made["calls"] = details
        made |= {**frame, **self._reasoning()}
        if self.stops and not self.has_channels:
            made["stops"] = self.stops
        if any(map(is_token, markers(begin + self.calls.opener))):
            made["special_tokens"] = True
        return made | result_of(self.turns, self.tails, self.stops, self.calls.call)

    def _frame(self, after_content: str, begin: str) -> Description:
        """How content and calls make up a message."""
        calls = self.calls
        if self.has_channels:
            return channels(
                calls, self.answer, self.header, begin, self.reasoning, self.tail, self._content_end
            )
        if any(self.answer):
            return elements(calls, self.answer, begin, self.end, self.reasoning, self.tail)
        if self.recipient:
            return recipients(self.recipient, calls.call, self.turns, self.header)
        content = hole("content", after_content) if after_content else ""
        last = "{content}" if self.calls_first else ""
        made: Description = {"message": f"{content}{begin}{calls.calls_hole}{self.end}{last}"}
        if not calls.is_list and markers(begin) and self.end.strip() and calls.opener.strip():
            made["section"] = True
        return made
