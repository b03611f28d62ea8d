"""Which API a list of messages is written for."""

from collections.abc import Mapping, Sequence
from typing import Any

from wirecall._apis.conversation import Message, MessageFormat, MixedFormatsError
from wirecall._apis.registry import api_named, apis
from wirecall._apis.values import dict_of, listed
from wirecall._tools.definitions import API_NAMES, ApiName


def read_conversation(
    given: Sequence[Message], name: ApiName | None
) -> tuple[MessageFormat, list[Mapping[str, Any]]]:
    """The format of a list, and its messages as mappings.

    Raises:
        MixedFormatsError: There are messages of two APIs, or of an API other than `name`.
        TypeError: `given` is not a list, or one of its items is not a message.
        ValueError: There is no such API.
    """
    if name is not None:
        api_named(name)
    whole: object = given
    if not isinstance(whole, Sequence) or isinstance(whole, (str, bytes)):
        raise TypeError(f"messages must be a list of messages, not {type(whole).__name__}")
    signs = _Signs()
    found, where, seen = name, -1, []
    for index, one in enumerate(given):
        message = dict_of(one)
        if not message:
            raise TypeError(
                f"messages[{index}] must be a message (a dict, or an SDK's object), not {type(one).__name__}"
            )
        if "role" not in message and "type" not in message and not isinstance(one, Mapping):
            raise TypeError(
                f"messages[{index}] is a {type(one).__name__}, not a message of chat completions, Responses "
                "or Anthropic: convert the list to one of these first"
            )
        owner = signs.owner(message)
        if owner is not None and owner != found:
            if found is not None:
                before = (
                    f"messages[{where}] has the format {found}" if where >= 0 else f"the format is {found}"
                )
                raise MixedFormatsError(
                    f"{before}, but messages[{index}] has the format {owner}: convert the list to one "
                    "format first"
                )
            found, where = owner, index
        seen.append(message)
    return api_named(found or API_NAMES[0]).message_format, seen


class _Signs:
    """Signs of one API. A message with a role and a text may belong to any of them."""

    def __init__(self) -> None:
        self._formats = [api.message_format for api in apis().values()]
        self._keys = {key for format in self._formats for key in format.own_keys}
        self._roles = [role for format in self._formats for role in format.own_roles]
        self._parts = {part: format.name for format in self._formats for part in format.own_parts}
        self._suffixes = [part for part in self._parts if part.startswith("_")]

    def owner(self, message: Mapping[str, Any]) -> ApiName | None:
        if message.get("role") in self._roles or not self._keys.isdisjoint(message):
            for format in self._formats:
                if format.owns(message):
                    return format.name
        for part in listed(message.get("content")):
            kind = dict_of(part).get("type")
            if not isinstance(kind, str):
                continue
            if kind in self._parts:
                return self._parts[kind]
            for suffix in self._suffixes:
                if kind.endswith(suffix):
                    return self._parts[suffix]
        return None
