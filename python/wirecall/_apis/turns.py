"""Turns of the model in a history: their reasoning and calls as text, among the parts of a content."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from wirecall._apis.values import Json, kind_of
from wirecall._text.history import Turn, has_text

_TEXTS = (None, "text", "output_text", "input_text")


class Called(NamedTuple):
    """A call, in its place among the parts."""

    breakpoint: object = None


def write_parts(
    parts: Sequence[Any], turn: Turn, new: Callable[[str, object], Json], *, in_order: bool = False
) -> list[Any]:
    """The parts of one message, in which the turn's reasoning and calls are text.

    The texts together are what `Turn.text` writes for the joined texts. What it writes before and after them
    joins the first and the last text, since servers may put line breaks between parts. A text with a cache
    breakpoint gets no calls. Other parts are the same objects, in their places.

    Args:
        parts: The content, with a `Called` for each call.
        new: Makes a text part, with a cache breakpoint if there is one.
        in_order: Calls are written where they are. Otherwise the calls of all parts are written together.
    """
    groups = _groups(parts) if in_order else [parts]
    return [part for group in groups for part in _write_group(group, turn, new)]


def _groups(parts: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The parts up to and including calls that follow each other, and so on."""
    start = 0
    for at in range(1, len(parts)):
        if isinstance(parts[at - 1], Called) and not isinstance(parts[at], Called):
            yield parts[start:at]
            start = at
    yield parts[start:]


def _write_group(parts: Sequence[Any], turn: Turn, new: Callable[[str, object], Json]) -> list[Any]:
    calls = [at for at, part in enumerate(parts) if isinstance(part, Called)]
    texts = [at for at, part in enumerate(parts) if has_text(part) and kind_of(part) in _TEXTS]
    content = "".join(parts[at]["text"] for at in texts)
    if not (content or calls or turn.reasoning):
        return list(parts)
    breakpoints = [parts[at].breakpoint for at in calls]
    ends = [count for count, given in enumerate(breakpoints, 1) if given]
    before, after = turn.around(content, len(calls), ends)
    places = [[] if isinstance(part, Called) else [part] for part in parts]
    if before:
        places[texts[0]] = [_with_text(parts[texts[0]], before=before)]
    made: list[Json] = []
    start = 0
    for text, end in after:
        given = next((one for one in reversed(breakpoints[start:end]) if one), None)
        start = end
        if text:
            made.append(new(text, given))
    last = texts[-1] if texts else -1
    place = next((at for at in calls if at > last), last)
    is_cached = bool(texts) and parts[last].get("cache_control") is not None
    joins = not calls or (place in (last, last + 1) and not is_cached)
    if made and texts and joins:
        [part] = places[last]
        first = made.pop(0)
        places[last] = [_with_text(part, after=first["text"])]
        if "cache_control" in first:
            places[last][0]["cache_control"] = first["cache_control"]
        place = last
    if place < 0:
        return [*made, *parts]
    places[place] += made
    return [part for place in places for part in place]


def _with_text(part: Any, before: str = "", after: str = "") -> Json:
    return {**part, "text": f"{before}{part['text']}{after}"}
