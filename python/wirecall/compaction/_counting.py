"""How many tokens a model reads in a message.

Texts, names, arguments, results and reasoning count, and a little for the frame of each message. An image, a
document or a recording has a fixed number, whatever its size. Signatures, encrypted content, ids and keys
that no API reads do not count.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from wirecall._apis.conversation import Message
from wirecall._apis.values import dict_of

Count = Callable[[str], float]

# Roughly what the role and separators of a message cost.
MESSAGE = 4
# Roughly what providers charge for a picture of usual size, some pages, and half a minute of speech.
MEDIA: Mapping[str, int] = {
    **dict.fromkeys(("image", "image_url", "input_image", "computer_screenshot"), 1000),
    **dict.fromkeys(("document", "file", "input_file", "container_upload"), 2000),
    **dict.fromkeys(("audio", "input_audio"), 500),
}

# Keys of messages and of their parts whose values models read.
_READ = {
    *("content", "text", "name", "tool_calls", "function_call", "function", "custom", "refusal"),
    *("input", "arguments", "output", "action", "operation", "queries", "code", "outputs", "results"),
    *("title", "context", "url", "stdout", "stderr", "summary", "thinking"),
}
# Names that servers have for the same reasoning: only the first one present counts.
_REASONING = {"reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"}
# Values of these are the model's own, or a tool's: every key in them is read.
_VALUES = {"input", "arguments", "action", "operation"}

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode
_WIDE = re.compile(
    r"[\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+"
)


def estimate(text: str) -> float:
    """Estimates the tokens of a text: 0.3 for a character, 1.5 for a Chinese, Japanese or Korean one."""
    wide = 0 if text.isascii() else sum(map(len, _WIDE.findall(text)))
    return 0.3 * len(text) + 1.2 * wide


def tokens_of(message: Message, count: Count = estimate) -> int:
    """Tokens of a message, in any format."""
    return tokens((message,), count)


def tokens(messages: Iterable[Message], count: Count = estimate) -> int:
    """Tokens of messages, in any format."""
    read: list[str] = []
    others = 0
    for message in messages:
        others += MESSAGE + _read(message if type(message) is dict else dict_of(message), read)
    try:
        return others + math.ceil(sum(map(count, read)))
    except TypeError as error:
        raise TypeError(f"count must return the number of tokens of a text: {error}") from error


def texts(value: object) -> list[str]:
    """The texts that a model reads in a content."""
    read: list[str] = []
    _read_value(value, read)
    return read


def _read(held: Mapping[str, Any], read: list[str]) -> int:
    """Adds all texts to `read`; returns the tokens of everything else."""
    kind = held.get("type")
    if kind == "text":
        return _read_value(held.get("text", ""), read)
    if isinstance(kind, str) and kind in MEDIA:
        source = dict_of(held.get("source"))
        if source.get("type") in ("text", "content"):
            return _read_value(source.get("data", source.get("content")), read)
        return MEDIA[kind]
    media = 0
    reasoning = None
    for key, value in held.items():
        if key in _READ:
            if type(value) is str:
                read.append(value)
            elif value is None:
                continue
            elif key in _VALUES:
                # Also if it is empty: a model reads `{}`.
                read.append(written(value))
            else:
                media += _read_value(value, read)
        elif key in _REASONING:
            reasoning = reasoning or value
    if reasoning is not None:
        media += _read_value(reasoning, read)
    return media


def _read_value(value: object, read: list[str]) -> int:
    if isinstance(value, str):
        read.append(value)
        return 0
    if not isinstance(value, (list, tuple)):
        return _read(dict_of(value), read)
    media = 0
    for part in value:
        # Nearly all are dicts.
        media += _read(part, read) if type(part) is dict else _read_value(part, read)
    return media


def written(value: object) -> str:
    """A value as compact JSON; a string is returned unchanged."""
    return value if isinstance(value, str) else _encode(value)
