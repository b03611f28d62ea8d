"""What the model is told about its tools in one request."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from wirecall.answer import Choice
from wirecall.definitions import definitions
from wirecall.options import Options
from wirecall.toolset import Toolset

T = TypeVar("T")


def write(
    toolset: Toolset, tools: Iterable[Mapping[str, Any]], choice: Choice, options: Options
) -> str | None:
    """The manual of a request; the same bytes for the same tools, options and choice, so that prompts
    stay cached.

    Args:
        tools: The definitions that the toolset was compiled of.

    Returns:
        None where nothing is to be said: no tools, `tool_choice` none, an empty template.

    Raises:
        TypeError: The host's template returned no str.
    """
    if choice.mode == "none" or not toolset.names:
        return None
    if options.template is None:
        text = toolset.manual(header="" if options.no_manual else options.manual_header)
    else:
        text = options.template(definitions(tools))
        if not isinstance(text, str):
            raise TypeError(f"template must return a str, not {type(text).__name__}")
    return "\n".join(filter(None, [text, *_rules(choice)])) or None


def _rules(choice: Choice) -> list[str]:
    rules = []
    if choice.mode == "required" and choice.names:
        rules.append(f"In your next message you must call {' or '.join(choice.names)}.")
    elif choice.mode == "required":
        rules.append("In your next message you must call at least one tool.")
    elif choice.names:
        rules.append(f"Only these tools may be called now: {', '.join(choice.names)}.")
    if not choice.parallel:
        rules.append("Write at most one call in a message, then wait for its result.")
    return rules


def join(text: str, manual: str, options: Options) -> str:
    """A system text with the manual in its place."""
    return "\n\n".join(place([text], manual, options)) if text else manual


def place(parts: Iterable[T], manual: T, options: Options) -> list[T]:
    """The parts of a system text with the manual, as a part, in its place."""
    return [manual, *parts] if options.placement == "first" else [*parts, manual]
