"""What the model is told about its tools in one request."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple, TypeVar

from wirecall._text.options import Options
from wirecall._text.response import Choice
from wirecall._tools.toolset import Toolset

T = TypeVar("T")


class Manual(NamedTuple):
    """What the model is told, in two parts, of which one may be empty; `str` of it joins them.

    Attributes:
        text: The manual: the same bytes for the same tools and options, so that prompts stay cached.
        rules: What `tool_choice` and `parallel_tool_calls` ask for. They change from request to request, so
            they come last, outside of a block with a cache breakpoint.
    """

    text: str
    rules: str

    def __str__(self) -> str:
        return "\n".join(filter(None, self))


def write(toolset: Toolset, choice: Choice, options: Options) -> Manual | None:
    """Writes the manual of a request with these tools.

    None if there is nothing to tell the model: no tools, `tool_choice` none, an empty template.
    """
    if choice.mode == "none" or not toolset.names:
        return None
    if options.template is None:
        text = _text(toolset, "" if options.no_manual else options.manual_header)
    else:
        text = options.template(toolset._definitions())
        if not isinstance(text, str):
            raise TypeError(f"template must return a str, not {type(text).__name__}")
    rules = "\n".join(_rules(choice))
    return Manual(text, rules) if text or rules else None


# One for each toolset in use; an entry keeps its toolset.
@lru_cache(maxsize=64)
def _text(toolset: Toolset, header: str | None) -> str:
    return toolset.manual(header=header)


def _rules(choice: Choice) -> list[str]:
    rules = []
    if choice.mode == "required" and choice.names:
        rules.append(f"In your next message you must call {' or '.join(choice.names)}.")
    elif choice.mode == "required":
        rules.append("In your next message you must call at least one tool.")
    elif choice.names:
        rules.append(f"You may call only these tools now: {', '.join(choice.names)}.")
    if not choice.parallel:
        rules.append("Write at most one call per message, then wait for its result.")
    return rules


def join(text: str, manual: Manual, options: Options) -> str:
    """Puts the manual into a system text."""
    if not text:
        return str(manual)
    if options.placement == "last":
        return f"{text}\n\n{manual}"
    return "\n\n".join(filter(None, [manual.text, text, manual.rules]))


def place(
    parts: Iterable[T],
    manual: Manual,
    make: Callable[[str], T],
    options: Options,
    *,
    cached: Callable[[str], T] | None = None,
) -> list[T]:
    """Puts the manual into the parts of a system text, and its rules at their end.

    `make` makes a part; `cached` makes the part of the manual, if it differs from the others.
    """
    text = [(cached or make)(manual.text)] if manual.text else []
    rules = [make(manual.rules)] if manual.rules else []
    return [*text, *parts, *rules] if options.placement == "first" else [*parts, *text, *rules]
