"""Conversations for chat templates without a system role, or that require alternating turns."""

from collections.abc import Mapping, Sequence
from typing import Any

from wirecall._apis.values import listed, role_of
from wirecall._text.history import has_text
from wirecall._text.options import Options

_SYSTEM = ("system", "developer")
# An assistant's message with any other key (native calls, reasoning) is not changed.
_PLAIN = frozenset({"role", "content", "name", "cache_control", "type"})


def adapted(messages: Sequence[Any], options: Options, *, text: str = "text") -> list[Any]:
    """The messages as `system_role` and `merge_user_turns` require.

    Args:
        text: The type of text parts in a user's message.
    """
    made = list(messages)
    if options.system_role == "user":
        made = _without_system(made, text)
    if options.merge_user_turns:
        made = _merged(made, text)
    return made


def _without_system(messages: list[Any], text: str) -> list[Any]:
    """System messages as user messages; those at the beginning are merged with the first user message."""
    leading = next((at for at, one in enumerate(messages) if role_of(one) not in _SYSTEM), len(messages))
    made = [{**one, "role": "user"} if role_of(one) in _SYSTEM else one for one in messages]
    end = leading + (leading < len(made) and role_of(made[leading]) == "user")
    return [*_merged(made[:end], text), *made[end:]]


def _merged(messages: list[Any], text: str) -> list[Any]:
    made: list[Any] = []
    for message in messages:
        if made and _merges(made[-1], message, text):
            made[-1] = _joined(made[-1], message, text)
        else:
            made.append(message)
    return made


def _merges(first: Any, second: Any, text: str) -> bool:
    both = role_of(first), role_of(second)
    if both == ("assistant", "assistant"):
        # In the Responses API, parts of an assistant's message have another type.
        return text == "text" and first.keys() | second.keys() <= _PLAIN
    return both == ("user", "user")


def _joined(first: Mapping[str, Any], second: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Two messages as one, with a blank line between their texts."""
    made = {key: value for key, value in {**first, **second}.items() if key != "cache_control"}
    if first.get("name", second.get("name")) != second.get("name", first.get("name")):
        del made["name"]
    before, after = first.get("content"), second.get("content")
    marked = first.get("cache_control") is not None or second.get("cache_control") is not None
    if not marked and isinstance(before, str) and isinstance(after, str):
        made["content"] = "\n\n".join(filter(None, [before, after]))
        return made
    parts, others = _parts(first, text), _parts(second, text)
    if parts and others and has_text(parts[-1]) and has_text(others[0]):
        # Templates join parts with nothing between them.
        others[0] = {**others[0], "text": "\n\n" + others[0]["text"]}
    made["content"] = [*parts, *others]
    return made


def _parts(message: Mapping[str, Any], text: str) -> list[Any]:
    """The content as parts. A breakpoint of the message is that of its last part."""
    content = message.get("content")
    parts = [{"type": text, "text": content}] if isinstance(content, str) and content else [*listed(content)]
    mark = message.get("cache_control")
    if mark is not None and parts and isinstance(parts[-1], Mapping):
        parts[-1] = {**parts[-1], "cache_control": mark}
    return parts
