"""Renders the turn of an assistant, in the form that a chat template wants."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from wirecall._tools.formats.rendering import Renderer, RenderError
from wirecall.errors import ToolError

Message = dict[str, Any]
Arguments = Mapping[str, object]

# Words that no template writes.
USER, CONTENT, THOUGHT, RESULT = "zquser", "zqcontent", "zqthought", "zqresult"
NEXT, OTHER = "zqnext", "zqother"
FIRST, SECOND = "zqone", "zqtwo"
KEYS = ("zqkeya", "zqkeyb")
TYPES = ("string", "integer")

# Keys of a message that may hold reasoning; the last one means a block of the content.
REASONING_KEYS = ("reasoning_content", "reasoning", "thinking", "content")
# Variables that switch on reasoning, and keep that of past messages.
THINKING = {
    "enable_thinking": True,
    "thinking": True,
    "preserve_thinking": True,
    "truncate_history_thinking": False,
    "clear_thinking": False,
}
# A block of content that is printed as it is.
_BLOCKS = re.compile("""["']thinking["']:""")

# Characters after the user's message; official templates write 2,000.
TURN_CHARS = 20_000


def tool(name: str, properties: Mapping[str, object]) -> Message:
    parameters = {"type": "object", "properties": properties, "required": []}
    return {
        "type": "function",
        "function": {"name": name, "description": "A tool.", "parameters": parameters},
    }


_PROPERTIES = {key: {"type": kind, "description": "A."} for key, kind in zip(KEYS, TYPES, strict=True)}
TOOLS = [tool(name, _PROPERTIES) for name in (FIRST, SECOND)]


@dataclass(frozen=True)
class Style:
    """The form of messages that a chat template wants."""

    text_arguments: bool = False
    """Arguments are a JSON string, not an object."""
    empty_content: str | None = ""
    """The content of a message that has only calls."""
    named_ids: bool = False
    """The id of a call has the form `functions.NAME:INDEX`."""
    system: bool = False
    """The conversation begins with a system message."""
    reasoning: str | None = None
    """The key of the reasoning; None if the template does not write reasoning."""
    followed: bool = False
    """Turns are cut out of a conversation that goes on, because the last turn is written differently."""
    variables: Mapping[str, object] = field(default_factory=dict)
    """Variables of the template that it needs to write reasoning."""


def styles() -> Iterator[Style]:
    """All styles without reasoning, the usual one first."""
    for named, system, empty, text in product((False, True), (False, True), ("", None), (False, True)):
        yield Style(text_arguments=text, empty_content=empty, named_ids=named, system=system)


@dataclass(frozen=True)
class Turns:
    """Renders conversations of one style that end with a turn of the assistant."""

    renderer: Renderer
    style: Style

    def id(self, name: str, index: int) -> str:
        return f"functions.{name}:{index}" if self.style.named_ids else f"call{index:05}"

    def _call(self, name: str, given: Arguments, index: int) -> Message:
        arguments = json.dumps(given, ensure_ascii=False) if self.style.text_arguments else given
        return {
            "id": self.id(name, index),
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }

    def message(
        self, content: str, calls: Iterable[tuple[str, Arguments]] = (), thought: str | None = None
    ) -> Message:
        made: Message = {"role": "assistant", "content": content}
        written = [self._call(name, given, index) for index, (name, given) in enumerate(calls)]
        if written:
            made["tool_calls"] = written
            made["content"] = content or self.style.empty_content
        if thought is not None and self.style.reasoning == "content":
            spoken = [{"type": "text", "text": content}] if content else []
            made["content"] = [{"type": "thinking", "thinking": thought}, *spoken]
        elif thought is not None and self.style.reasoning is not None:
            made[self.style.reasoning] = thought
        return made

    def text(
        self,
        message: Message,
        after: Iterable[Message] = (),
        before: Iterable[Message] = (),
        tools: list[Message] = TOOLS,
    ) -> str:
        """The text rendered after the user's message that precedes this one."""
        after = list(after) or ([self.user(NEXT)] if self.style.followed else [])
        text = self._render([*before, self.user(), message, *after], tools, False)
        return text.rpartition(NEXT)[0] if after == [self.user(NEXT)] and self.style.followed else text

    def prompt(self, answer: bool = True) -> str:
        """The text rendered after the user's message, with the prompt for an answer or without."""
        return self._render([self.user()], TOOLS, answer)

    def try_text(self, message: Message, after: Iterable[Message] = ()) -> str:
        """The same as `text`, or "" if the template refuses the conversation."""
        try:
            return self.text(message, after)
        except RenderError:
            return ""

    def call(self, name: str, arguments: Arguments) -> str:
        """A message with one call."""
        return self.text(self.message("", [(name, arguments)]))

    def after_content(self) -> str:
        """The text after the content of a message without calls."""
        return self.try_text(self.message(CONTENT)).rpartition(CONTENT)[2]

    @staticmethod
    def user(content: str = USER) -> Message:
        return {"role": "user", "content": content}

    def result(self, content: str) -> Message:
        """The result of a message's first call."""
        return {"role": "tool", "name": FIRST, "tool_call_id": self.id(FIRST, 0), "content": content}

    def _render(self, messages: list[Message], tools: list[Message], prompt: bool) -> str:
        system = [{"role": "system", "content": "Use tools."}] if self.style.system else []
        text = self.renderer.render([*system, *messages], tools, prompt, self.style.variables)
        _, found, rest = text.rpartition(USER)
        if not found:
            raise RenderError("it does not write the user's message")
        if len(rest) > TURN_CHARS:
            raise ToolError(
                f"the chat template writes more than {TURN_CHARS} characters after the last message"
            )
        return rest

    def with_reasoning(self) -> Turns | None:
        """The same in the first style in which the template writes reasoning."""
        call = (FIRST, {KEYS[0]: "a"})
        for variables in ({}, THINKING):
            for key in REASONING_KEYS:
                turns = replace(self, style=replace(self.style, reasoning=key, variables=variables))
                messages = (
                    turns.message(CONTENT, [call], THOUGHT),
                    turns.message("", [call], THOUGHT),
                    turns.message(CONTENT, [], THOUGHT),
                )
                texts = map(turns.try_text, messages)
                if any(THOUGHT in text and not _BLOCKS.search(text) for text in texts):
                    return turns
        return None


def first_style(renderer: Renderer) -> Turns:
    """The turns of the first style in which the template writes a call with its name, key and value.

    Raises ToolError if it writes no calls, or refuses all styles.
    """
    refusals: list[str] = []
    text = ""
    for style in styles():
        turns = Turns(renderer, style)
        try:
            text = turns.text(turns.message("", [(FIRST, {KEYS[0]: "zqvalue", KEYS[1]: 73519})]))
        except RenderError as error:
            refusals.append(error.message)
            continue
        quoted = f"'{KEYS[0]}'" in text or f'\\"{KEYS[0]}' in text
        if all(part in text for part in (FIRST, KEYS[0], "zqvalue", "73519")) and not quoted:
            return turns
    if not text and refusals:
        raise ToolError(f"the chat template refuses every conversation with a call: {refusals[0]}")
    raise ToolError(
        f"the chat template writes no calls: a call of {FIRST!r} in the last message is rendered as {text!r}"
    )
