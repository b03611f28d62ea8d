"""What requests and answers of each API hold beside their messages."""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from wirecall._apis.base import DialectName, listed
from wirecall._apis.conversation import Json, Message, dict_of
from wirecall.compaction._counting import Count, texts, written
from wirecall.compaction._pruning import EXPLANATION

Request = Mapping[str, Any]

# Where a request has its messages.
KEYS: Mapping[DialectName, str] = {"chat": "messages", "responses": "input", "messages": "messages"}
# The first one is in every usage; the others are not counted in it.
_USAGE: Mapping[DialectName, tuple[str, ...]] = {
    "chat": ("prompt_tokens",),
    "responses": ("input_tokens",),
    "messages": ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
}


def beside(request: Request, count: Count) -> float:
    """Tokens of the system text and the tools that are no messages."""
    system = (text for key in ("system", "instructions") for text in texts(request.get(key)))
    tools = (written(one) for key in ("tools", "functions") for one in listed(request.get(key)))
    return sum(map(count, system)) + sum(map(count, tools))


def is_held_by_server(request: Request, format: DialectName) -> bool:
    """Whether the messages are only what is new."""
    return format == "responses" and bool(request.get("previous_response_id") or request.get("conversation"))


def with_messages(
    request: Request, format: DialectName, messages: list[Message], *, told: bool = False
) -> Request:
    """The request with other messages; its system text says what placeholders are, if that is `told`."""
    key = KEYS[format]
    if told and format == "chat":
        messages = _told(messages)
    if are_same(messages, request[key]):
        return request
    made: Json = {**request, key: messages}
    if told and format != "chat":
        name = "system" if format == "messages" else "instructions"
        made[name] = _and(request.get(name))
    return made


def _told(messages: list[Message]) -> list[Message]:
    """In the first system message; without one, nowhere: placeholders say enough."""
    for index, message in enumerate(messages):
        given = dict_of(message)
        if given.get("role") in ("system", "developer"):
            told = {**given, "content": _and(given.get("content"))}
            return [*messages[:index], told, *messages[index + 1 :]]
    return messages


def _and(system: object) -> object:
    """A system text with the explanation behind it."""
    if isinstance(system, (list, tuple)):
        return [*system, {"type": "text", "text": EXPLANATION}]
    return f"{system}\n\n{EXPLANATION}" if system else EXPLANATION


def are_same(messages: Sequence[Message], others: Sequence[Message]) -> bool:
    return len(messages) == len(others) and all(map(operator.is_, messages, others))


def input_tokens(answer: Mapping[str, Any], format: DialectName) -> int:
    """What an answer or an event says about the tokens of its request; 0 where it says nothing."""
    held = [answer, *(dict_of(answer.get(name)) for name in ("response", "message"))]
    for one in held:
        usage = dict_of(one.get("usage"))
        names = _USAGE[format]
        if isinstance(usage.get(names[0]), int):
            return sum(value for name in names if isinstance(value := usage.get(name), int) and value > 0)
    return 0
