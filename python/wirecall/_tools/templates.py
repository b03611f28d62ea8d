"""Chooses a protocol by the chat template of a checkpoint."""

import json
from collections.abc import Iterable, Iterator, Mapping

from wirecall._tools import template_table as table

_PROMPT = "add_generation_prompt"


def protocol_from_template(
    chat_template: str, response_template: Mapping[str, object] | str | None = None
) -> str | None:
    """Returns the native format that a chat template writes calls in.

    It is recognised by the template's own marks, not by a model's name, so this also works for fine-tuned
    models.

    Args:
        chat_template: The source of the template, as in `chat_template.jinja` or under `chat_template` in
            `tokenizer_config.json`.
        response_template: What is under `response_template` in `tokenizer_config.json`, as an object or as
            its JSON; used if the chat template is not recognised.

    Returns:
        A name for `protocol=`. It also says whether messages begin in reasoning by default. None if the
        format is not known, or if the template writes no calls.

    Raises:
        TypeError: The chat template is not a str, such as the dict of several templates; choose one of them.
        ValueError: The response template is not valid JSON.
    """
    if not isinstance(chat_template, str):
        raise TypeError(f"chat_template must be a str, not {type(chat_template).__name__}")
    source = chat_template.replace("\\n", "\n").replace('\\"', '"')
    found = _recognised(table.CHAT, source, source.rpartition(_PROMPT)[2])
    if found is None and response_template is not None:
        loaded = json.loads(response_template) if isinstance(response_template, str) else response_template
        found = _recognised(table.RESPONSE, "\n".join(_strings(loaded)).replace("\\", ""), "")
    return found


def _recognised(marks: Iterable[table.Marks], text: str, prompt: str) -> str | None:
    for one in marks:
        missing = [mark for mark in one.has if mark not in text]
        if not missing and one.prompt in prompt and not any(mark in text for mark in one.lacks):
            return one.protocol
    return None


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)
