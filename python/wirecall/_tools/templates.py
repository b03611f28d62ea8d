"""Chooses a protocol by the chat template of a checkpoint."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Literal, NamedTuple

from wirecall._core import native_formats
from wirecall._tools.template_source import canonical

_PROMPT = "add_generation_prompt"
# The code of a prompt's end has at most about 300.
_PROMPT_CHARS = 400
# A real one has about ten; an object that contains itself has no end.
_MAX_STRINGS = 1000
_ESCAPE = re.compile(r"\\s[*+?]?|\\.", re.DOTALL)


class Marks(NamedTuple):
    """What is in the chat templates, or the response templates, of one format, as its row says.

    A line fits if all of its marks are in a template. Where several fit, those whose marks are among
    another's are left out. The rest must name one format.
    """

    protocol: str
    has: list[str]
    lacks: list[str]
    prompt: list[str]
    prompt_lacks: str


@cache
def marks_of(kind: Literal["chat_templates", "response_templates"]) -> tuple[Marks, ...]:
    """The marks of all formats."""
    return tuple(Marks(row["name"], *marks) for row in native_formats() for marks in row[kind])


def protocol_from_template(
    chat_template: str, response_template: Mapping[str, object] | str | None = None
) -> str | None:
    """Returns the native format that a chat template writes calls in.

    It is recognised by the template's own marks, not by a model's name, so this also works for fine-tuned
    models. Comments do not count. A template with the marks of several formats is not recognised.

    Args:
        chat_template: The source of the template, as in `chat_template.jinja` or under `chat_template` in
            `tokenizer_config.json`.
        response_template: What is under `response_template` in `tokenizer_config.json`, as an object or as
            its JSON; used if the chat template is not recognised.

    Returns:
        A name for `protocol=`. Where its messages begin is what the template does by default, except for
        DeepSeek V3.2, V4 and V4.1: their formats begin in reasoning, but their templates turn thinking off
        unless a variable is set. `in_reasoning` always decides; pass `in_reasoning=False` if the prompt ends
        with closed reasoning. None if the format is not known, if the template writes no calls, has marks of
        several formats, or is longer than 500,000 characters.

    Raises:
        TypeError: The chat template is not a str, such as the dict of several templates; choose one of them.
            Or the response template is not an object of the documented form.
        ValueError: The response template is not valid JSON.
    """
    if not isinstance(chat_template, str):
        raise TypeError(f"chat_template must be a str, not {type(chat_template).__name__}")
    source = canonical(chat_template)
    found = _recognised(marks_of("chat_templates"), source, _prompts(source)) if source else None
    if found is None and response_template is not None:
        loaded = _loaded(response_template) if isinstance(response_template, str) else response_template
        found = _recognised(marks_of("response_templates"), "\n".join(_response(loaded)) + "\n", [])
    return found


def _prompts(source: str) -> list[str]:
    """What follows each `add_generation_prompt`: the ends of prompts, and little else."""
    return [part[:_PROMPT_CHARS] for part in source.split(_PROMPT)[1:]]


def _recognised(marks: Iterable[Marks], text: str, prompts: list[str]) -> str | None:
    """The one format whose marks are in the text; None if there are several."""
    fits = [one for one in marks if _fits(one, text, prompts)]
    special = [one for one in fits if not any(_is_more_special(other, one) for other in fits)]
    names = {one.protocol for one in special}
    return names.pop() if len(names) == 1 else None


def _fits(one: Marks, text: str, prompts: list[str]) -> bool:
    return (
        all(mark in text for mark in one.has)
        and not any(mark in text for mark in one.lacks)
        and (not one.prompt or any(_ends(one, prompt) for prompt in prompts))
    )


def _ends(one: Marks, prompt: str) -> bool:
    lacks = bool(one.prompt_lacks) and one.prompt_lacks in prompt
    return all(mark in prompt for mark in one.prompt) and not lacks


def _is_more_special(one: Marks, other: Marks) -> bool:
    """Whether it has all marks of the other line, and more."""
    return {*other.has, *other.prompt} < {*one.has, *one.prompt}


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("response_template is nested too deeply") from None


def _response(template: object) -> Iterator[str]:
    """The texts and patterns of a response template, each after what it is for."""
    whole = _object(template, "response_template")
    for key in ("start_anchor", "start_anchor_pattern"):
        yield from _lines("anchor", whole, key, "response_template")
    for name, value in _object(whole.get("fields", {}), "response_template['fields']").items():
        where = f"response_template['fields'][{name!r}]"
        field = _object(value, where)
        for key in ("open", "open_pattern", "close", "close_pattern", "content"):
            yield from _lines(key.removesuffix("_pattern"), field, key, where)
        given = _object(field.get("content_args") or {}, f"{where}['content_args']")
        yield from _lines("tag", given, "tag_pattern", f"{where}['content_args']")
        yield from (f"transform {text}" for text in _strings(field.get("transform")))


def _object(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{where} must be an object, not {type(value).__name__}")
    return value


def _lines(use: str, given: Mapping[str, object], key: str, where: str) -> Iterator[str]:
    value = given.get(key)
    texts = value if isinstance(value, list | tuple) else () if value is None else (value,)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{where}[{key!r}] must be a str, not {type(text).__name__}")
        yield f"{use} {_ESCAPE.sub(_unescaped, text) if key.endswith('_pattern') else text}"


def _unescaped(found: re.Match[str]) -> str:
    """What a part of a pattern matches, without optional whitespace."""
    character = found[0][1]
    if character == "s":
        return " " if found[0].endswith("+") else ""
    return "\n" if character == "n" else found[0] if character.isalnum() else character


def _strings(value: object) -> Iterator[str]:
    """The strings in a value, which may contain itself."""
    waiting = [value]
    for _ in range(_MAX_STRINGS):
        if not waiting:
            return
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += islice(one.values(), _MAX_STRINGS)
        elif isinstance(one, list | tuple):
            waiting += one[:_MAX_STRINGS]
