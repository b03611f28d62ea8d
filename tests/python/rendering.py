"""Renders conversations with official templates, as transformers does, and cuts the last turn out of them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from jinja2 import Template

from official_forms import FOLDER, Json, Official
from wirecall._tools.formats.sandbox import environment


@cache
def template(file: str) -> Template:
    """The template, in the environment that transformers gives it."""
    return environment().from_string((FOLDER / f"{file}.jinja").read_text(encoding="utf-8"))


# What the templates need to know of tools.
TOOL = {
    "name": "f",
    "description": "A tool.",
    "parameters": {"type": "object", "properties": {"a": {"type": "string", "description": "An argument."}}},
}


def render(official: Official, messages: list[Json], **variables: Any) -> str:
    shaped = [official.shape(message) if message["role"] == "assistant" else message for message in messages]
    given = {"bos_token": "", "eos_token": "</s>", **official.variables, **variables}
    tools = [{"type": "function", "function": TOOL}]
    return template(official.file).render(messages=shaped, tools=tools, **given)


def render_all(official: Official, messages: list[Json]) -> str:
    """The conversation, with a turn after the last one if that would be written differently."""
    further = [{"role": "user", "content": "Further."}] if official.followed else []
    return render(official, [*messages, *further])


class Turn(NamedTuple):
    """The last turn of a conversation, as rendered."""

    text: str
    tail: str
    prompted: tuple[str, bool] | None
    """The part after the prompt that a model continues, and whether that ends in reasoning; None if the turn
    does not begin with it."""


OPENERS = (
    "<|START_THINKING|>",
    "<think>",
    "<think:opensource>",
    "[THINK]",
    "<|open|>think<|sep|>",
    "<|channel>thought",
)


def turn(official: Official, messages: list[Json]) -> Turn:
    """What the template renders for the last message, which is the assistant's."""
    before, whole = render(official, messages[:-1]), render_all(official, messages)
    head = official.head
    if messages[-2]["role"] == "tool" and official.head_after_result is not None:
        head = official.head_after_result
    if whole.startswith(before):
        assert whole.startswith(head, len(before))
        start = len(before) + len(head)
    else:
        # The end of a conversation is written differently while it is the end: another turn is put there.
        short: Json = {"role": "assistant", "content": "", "reasoning_content": ""}
        if "tool_calls" in messages[-1]:
            call = {"type": "function", "id": "call99999", "function": {"name": "other", "arguments": {}}}
            short["tool_calls"] = [call]
        else:
            short["content"] = "Another."
        other = render(official, [*messages[:-1], short])
        shared = next((at for at, (a, b) in enumerate(zip(other, whole, strict=False)) if a != b), len(whole))
        start = whole.rindex(head, 0, shared) + len(head)
    tail = next(tail for tail in official.tails if whole.endswith(tail))
    end = len(whole) - len(tail)
    prompt = render(official, messages[:-1], add_generation_prompt=True)
    follows = whole.startswith(prompt) and len(prompt) <= end
    prompted = (whole[len(prompt) : end], prompt.rstrip().endswith(OPENERS)) if follows else None
    return Turn(whole[start:end], tail, prompted)
