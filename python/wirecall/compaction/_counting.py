"""How many tokens a model reads in a message.

Texts, names, arguments, results and reasoning count, and a little for the frame of each message. An image, a
document or a recording has a fixed number, whatever its size. Signatures, encrypted content, ids and keys
that no API reads do not count.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from wirecall._apis.conversation import Message
from wirecall._apis.registry import apis
from wirecall._apis.values import dict_of
from wirecall._shown import written

Count = Callable[[str], float]

# Roughly what the role and separators of a message cost.
MESSAGE = 4
# Deeper contents are counted as JSON text. APIs nest at most about five levels.
_DEEPEST = 50

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
    read_object, _ = _readers()
    others = 0
    for message in messages:
        others += MESSAGE + read_object(message if type(message) is dict else dict_of(message), read)
    try:
        return others + math.ceil(sum(map(count, read)))
    except TypeError as error:
        raise TypeError(f"count must return the number of tokens of a text: {error}") from error


def texts(value: object) -> list[str]:
    """The texts that a model reads in a content."""
    read: list[str] = []
    _, read_value = _readers()
    read_value(value, read)
    return read


def media() -> Mapping[str, int]:
    """Types of parts that are not text, and what they cost."""
    return {kind: cost for api in apis().values() for kind, cost in api.message_format.media.items()}


@cache
def _readers() -> tuple[Callable[[Mapping[str, Any], list[str]], int], Callable[[object, list[str]], int]]:
    """Functions that add the texts of an object, and of any value, to a list, and return the tokens of
    everything else. They know the keys of all APIs; lookups in a closure are fast."""
    formats = [api.message_format for api in apis().values()]
    text_keys = {key for format in formats for key in format.text_keys}
    value_keys = {key for format in formats for key in format.value_keys}
    reasoning_keys = {key for format in formats for key in format.reasoning_keys}
    costs = media()

    def read_object(held: Mapping[str, Any], read: list[str], depth: int = 0) -> int:
        kind = held.get("type")
        if kind == "text":
            return read_value(held.get("text", ""), read, depth)
        if isinstance(kind, str) and kind in costs:
            source = dict_of(held.get("source"))
            if source.get("type") in ("text", "content"):
                return read_value(source.get("data", source.get("content")), read, depth)
            return costs[kind]
        others = 0
        reasoning = None
        for key, value in held.items():
            if key in text_keys:
                if type(value) is str:
                    read.append(value)
                elif value is None:
                    continue
                elif key in value_keys:
                    # Also if it is empty: a model reads `{}`.
                    read.append(written(value))
                else:
                    others += read_value(value, read, depth)
            elif key in reasoning_keys:
                reasoning = reasoning or value
        if reasoning is not None:
            others += read_value(reasoning, read, depth)
        return others

    def read_value(value: object, read: list[str], depth: int = 0) -> int:
        if isinstance(value, str) or depth == _DEEPEST:
            read.append(written(value))
            return 0
        depth += 1
        if not isinstance(value, (list, tuple)):
            return read_object(dict_of(value), read, depth)
        others = 0
        for part in value:
            # Nearly all are dicts.
            others += read_object(part, read, depth) if type(part) is dict else read_value(part, read, depth)
        return others

    return read_object, read_value
