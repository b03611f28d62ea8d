"""Messages of chat completions."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from wirecall._apis.base import listed
from wirecall._apis.conversation import (
    ASSISTANT,
    SYSTEM,
    USER,
    Call,
    Json,
    Message,
    Result,
    Seen,
    dict_of,
    in_front,
    text_of,
)

_REASONING = ("reasoning", "reasoning_content", "reasoning_details", "thinking_blocks")


class Chat:
    """The format; it implements `Format`."""

    name: Literal["chat"] = "chat"
    merges = False
    interleaves = False

    def see(self, message: Mapping[str, Any]) -> Seen:
        role = message.get("role")
        if role == "assistant":
            calls = tuple(_calls(message))
            return Seen("assistant", calls) if calls else ASSISTANT
        if role == "tool":
            id = str(message.get("tool_call_id"))
            return Seen("result", results=(Result(id, message.get("name"), message.get("content")),))
        if role == "function":
            name = str(message.get("name"))
            return Seen("result", results=(Result(name, name, message.get("content")),))
        return SYSTEM if role in ("system", "developer") else USER

    def text(self, message: Mapping[str, Any]) -> str:
        return text_of(message.get("content"))

    def attachments(self, message: Mapping[str, Any]) -> list[str]:
        return [_named(dict_of(part)) for part in listed(message.get("content")) if _is_shown(dict_of(part))]

    def user(self, text: str) -> Json:
        return {"role": "user", "content": text}

    def merged(self, text: str, message: Mapping[str, Any]) -> Json:
        return in_front(text, message, "text")

    def answered(self, results: Sequence[Message], missing: Iterable[tuple[Call, str]]) -> list[Message]:
        return [*(_placeholder(call, text) for call, text in missing), *results]

    def split(
        self, message: Message, groups: Mapping[int, Hashable]
    ) -> tuple[dict[Hashable, Message], Message | None]:
        return (dict.fromkeys(groups.values(), message), None) if groups else ({}, message)

    def with_results(self, message: Message, contents: Mapping[str, object]) -> Message:
        given = dict_of(message)
        results = self.see(given).results
        if not results or results[0].id not in contents:
            return message
        return {**given, "content": contents[results[0].id]}

    def without_reasoning(self, message: Message) -> Message | None:
        given = dict_of(message)
        if given.get("role") != "assistant" or not any(given.get(key) for key in _REASONING):
            return message
        left = {key: value for key, value in given.items() if key not in _REASONING}
        return left if any(value for key, value in left.items() if key not in ("role", "name")) else None

    def unbound(self, message: Message) -> Message | None:
        return message

    def without_calls(self, message: Message, ids: set[str]) -> Message | None:
        given = dict_of(message)
        seen = self.see(given)
        if any(result.id in ids for result in seen.results):
            return None
        if not any(call.id in ids for call in seen.calls):
            return message
        kept = [call for call in listed(given.get("tool_calls")) if str(dict_of(call).get("id")) not in ids]
        written = {key: value for key, value in given.items() if key not in ("tool_calls", "function_call")}
        if kept:
            written["tool_calls"] = kept
        return written if kept or written.get("content") or written.get("refusal") else None


def _calls(message: Mapping[str, Any]) -> Iterator[Call]:
    for given in listed(message.get("tool_calls")):
        call = dict_of(given)
        kind = call.get("type")
        kind = kind if isinstance(kind, str) else "function"
        called = dict_of(call.get(kind))
        arguments = called.get("arguments", called.get("input"))
        yield Call(str(call.get("id")), str(called.get("name")), arguments, kind)
    legacy = message.get("function_call")
    if legacy:
        called = dict_of(legacy)
        name = str(called.get("name"))
        yield Call(name, name, called.get("arguments"), "legacy")


def _placeholder(call: Call, text: str) -> Json:
    if call.kind == "legacy":
        return {"role": "function", "name": call.name, "content": text}
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def _is_shown(part: Mapping[str, Any]) -> bool:
    return part.get("type") not in ("text", "refusal", None)


def _named(part: Mapping[str, Any]) -> str:
    kind = str(part["type"])
    if kind.startswith("image"):
        return "[image]"
    held = dict_of(part.get(kind))
    name = held.get("filename") or part.get("filename")
    word = "audio" if kind.endswith("audio") else "document" if kind == "file" else "attachment"
    return f"[{word}: {name}]" if name else f"[{word}]"


chat = Chat()
