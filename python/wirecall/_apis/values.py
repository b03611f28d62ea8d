"""JSON values as requests and answers of all APIs have them: lists, parts of a content, usage."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from wirecall._shown import as_str
from wirecall._text.history import History

Json = dict[str, Any]

# No API nests usage deeper than three levels.
_USAGE_LEVELS = 8


def listed(value: object) -> Sequence[Any]:
    """A list of a request or an answer; () for anything else."""
    return value if isinstance(value, (list, tuple)) else ()


def mapping(value: object) -> Mapping[str, Any]:
    """An object of a request or an answer; {} for anything else."""
    # `type` first, since asking for a Mapping is slow.
    return value if type(value) is dict or isinstance(value, Mapping) else {}


def str_or_none(value: object) -> str | None:
    """A string of a request or an answer; None for anything else."""
    return value if isinstance(value, str) else None


def role_of(message: object) -> str | None:
    """The role of a message; None for anything else, such as an item of the Responses API."""
    if not isinstance(message, Mapping) or message.get("type", "message") != "message":
        return None
    return str_or_none(message.get("role"))


def kind_of(part: object) -> object:
    """The type of a part; None if it has none."""
    return mapping(part).get("type")


def are_same(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether these are the same objects."""
    return len(values) == len(others) and all(map(operator.is_, values, others))


def dict_of(value: object) -> Mapping[str, Any]:
    """A message or a part of one as a mapping, which may be an SDK's object; {} for anything else."""
    if type(value) is dict or isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    dumped = dump(exclude_unset=True) if callable(dump) else None
    return dumped if isinstance(dumped, dict) else {}


def text_part(text: str, breakpoint: object = None) -> Json:
    """A text part of chat completions and of the Messages API, with a cache breakpoint if there is one."""
    part: Json = {"type": "text", "text": text}
    return {**part, "cache_control": breakpoint} if breakpoint else part


def omitted(part: Mapping[str, Any]) -> str:
    """Tells the model which part is left out: its type and its names."""
    holders = [part, mapping(part.get("source")), mapping(part.get(as_str(part.get("type"))))]
    keys = ("name", "filename", "title", "mime_type", "media_type")
    named = [holder[key] for holder in holders for key in keys if isinstance(holder.get(key), str)]
    return f"[left out: {', '.join([as_str(part.get('type')), *named])}]"


def result_text(
    parts: Iterable[Any],
    history: History,
    text_of: Callable[[Any], object],
    beside: Mapping[str, str],
    other: Callable[[Any], str],
) -> tuple[str, list[Any]]:
    """The parts of a tool result as one text, and the parts that are placed beside it.

    Args:
        text_of: Returns the text of a text part.
        beside: The types of parts that a user's message can hold, and what the text says in their place.
        other: Writes any other part as text.
    """
    lines, placed = [], []
    for part in parts:
        text, kind = text_of(part), as_str(kind_of(part))
        if isinstance(text, str):
            lines.append(text)
        elif kind not in beside:
            lines.append(other(part))
        elif not history.shows(kind):
            lines.append(omitted(part))
        else:
            lines += filter(None, [beside[kind]])
            placed.append(history.foreign(part))
    return "\n".join(lines), placed


def sum_usage(usages: Iterable[object], levels: int = _USAGE_LEVELS) -> Json:
    """The usage of several answers as one: numbers are added and lists are joined, in nested objects too, but
    only down to so many levels; of other values, the last one counts."""
    total: Json = {}
    for usage in usages:
        for name, given in mapping(usage).items():
            before = total.get(name)
            if isinstance(given, Mapping) and levels:
                total[name] = sum_usage([before, given], levels - 1)
            elif isinstance(before, list) and isinstance(given, list):
                total[name] = before + given
            elif _is_number(before) and _is_number(given):
                with suppress(OverflowError):  # an integer that no float can hold, and a float
                    total[name] = before + given
            elif given is not None or name not in total:
                total[name] = given
    return total


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
