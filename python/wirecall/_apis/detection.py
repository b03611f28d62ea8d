"""Which API's format a list of messages is in."""

from collections.abc import Mapping, Sequence
from typing import Any

from wirecall._apis.base import DialectName, listed
from wirecall._apis.chat.conversation import chat
from wirecall._apis.conversation import Format, Message, MixedFormatsError, dict_of
from wirecall._apis.messages.conversation import messages
from wirecall._apis.responses.conversation import responses

FORMATS: Mapping[DialectName, Format] = {"chat": chat, "responses": responses, "messages": messages}

# What only one of the APIs has. A message of a role and a text is one of any.
_PARTS: Mapping[str, DialectName] = {
    **dict.fromkeys(("image_url", "input_audio", "file"), "chat"),
    **dict.fromkeys(("input_text", "output_text", "input_image", "input_file"), "responses"),
    **dict.fromkeys(
        (
            *("image", "document", "container_upload", "thinking", "redacted_thinking", "compaction"),
            *("tool_use", "server_tool_use", "mcp_tool_use", "tool_result"),
        ),
        "messages",
    ),
}


def read(given: Sequence[Message], format: DialectName | None) -> tuple[Format, list[Mapping[str, Any]]]:
    """The format of a list, and its messages as mappings.

    Raises:
        MixedFormatsError: Messages of two formats, or of another one than `format`.
        TypeError: What is no list, or no message.
        ValueError: There is no such format.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"there is no format {format!r}; available: {', '.join(FORMATS)}")
    whole: object = given
    if not isinstance(whole, Sequence) or isinstance(whole, (str, bytes)):
        raise TypeError(f"messages must be a list of messages, not {type(whole).__name__}")
    found, where, seen = format, -1, []
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
        shown = _shown(message)
        if shown is not None and shown != found:
            if found is not None:
                before = (
                    f"messages[{where}] has the format {found}" if where >= 0 else f"the format is {found}"
                )
                raise MixedFormatsError(
                    f"{before}, but messages[{index}] has the format {shown}: convert the list to one "
                    "format first"
                )
            found, where = shown, index
        seen.append(message)
    return FORMATS[found or "chat"], seen


def _shown(message: Mapping[str, Any]) -> DialectName | None:
    if "type" in message and message["type"] is not None:
        return "responses"
    if "tool_calls" in message or "function_call" in message or message.get("role") in ("tool", "function"):
        return "chat"
    content = message.get("content")
    if isinstance(content, str):
        return None
    for part in listed(content):
        kind = dict_of(part).get("type")
        if isinstance(kind, str) and (kind in _PARTS or kind.endswith("_tool_result")):
            return _PARTS.get(kind, "messages")
    return None
