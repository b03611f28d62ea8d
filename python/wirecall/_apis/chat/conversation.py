"""Messages of chat completions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from wirecall._apis.conversation import (
    ASSISTANT,
    AUDIO,
    DOCUMENT,
    IMAGE,
    SYSTEM,
    USER,
    AnswerText,
    Call,
    Message,
    MessageFormat,
    MessageInfo,
    Result,
)
from wirecall._apis.values import Json, dict_of, listed, str_or_none
from wirecall._shown import as_str


class ChatFormat(MessageFormat):
    """Messages with a role, and results in messages of their own."""

    name = "chat"
    own_keys = ("tool_calls", "function_call")
    own_roles = ("tool", "function")
    own_parts = ("image_url", "input_audio", "file")
    text_keys = (
        *("content", "text", "name", "tool_calls", "function_call", "function", "custom", "refusal"),
        *("input", "arguments"),
    )
    value_keys = ("input", "arguments")
    reasoning_keys = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
    media: ClassVar = {"image_url": IMAGE, "file": DOCUMENT, "audio": AUDIO, "input_audio": AUDIO}
    client_method = ("chat", "completions", "create")

    def owns(self, message: Mapping[str, Any]) -> bool:
        # Messages of chat completions have no type.
        return message.get("type") is None and super().owns(message)

    def inspect(self, message: Mapping[str, Any]) -> MessageInfo:
        role = message.get("role")
        if role == "assistant":
            calls = tuple(_calls(message))
            return MessageInfo("assistant", calls) if calls else ASSISTANT
        if role in self.own_roles:
            name = message.get("name")
            id = as_str(message.get("tool_call_id") if role == "tool" else name)
            name = str_or_none(name) if role == "tool" else id
            return MessageInfo("result", results=(Result(id, name, message.get("content")),))
        return SYSTEM if role in ("system", "developer") else USER

    def text(self, message: Mapping[str, Any]) -> str:
        return "" if message.get("role") in self.own_roles else super().text(message)

    def attachments(self, message: Mapping[str, Any]) -> list[str]:
        return [] if message.get("role") in self.own_roles else super().attachments(message)

    def attachment(self, part: Mapping[str, Any]) -> str | None:
        kind = part.get("type")
        if kind in ("text", "refusal", None):
            return None
        kind = as_str(kind)
        if kind.startswith("image"):
            return "[image]"
        name = dict_of(part.get(kind)).get("filename") or part.get("filename")
        word = "audio" if kind.endswith("audio") else "document" if kind == "file" else "attachment"
        return f"[{word}: {as_str(name)}]" if name else f"[{word}]"

    def answered(self, results: Sequence[Message], missing: Iterable[tuple[Call, str]]) -> list[Message]:
        return [*(_placeholder(call, text) for call, text in missing), *results]

    def with_results(self, message: Message, contents: Mapping[str, object]) -> Message:
        given = dict_of(message)
        results = self.inspect(given).results
        if not results or results[0].id not in contents:
            return message
        return {**given, "content": contents[results[0].id]}

    def without_reasoning(self, message: Message) -> Message | None:
        given = dict_of(message)
        if given.get("role") != "assistant" or not any(given.get(key) for key in self.reasoning_keys):
            return message
        left = {key: value for key, value in given.items() if key not in self.reasoning_keys}
        return left if any(value for key, value in left.items() if key not in ("role", "name")) else None

    def limit_key(self, client: object, parameters: Mapping[str, Any]) -> str:
        key = "max_completion_tokens"
        is_openai = "api.openai.com" in str(getattr(client, "base_url", ""))
        return key if is_openai or key in parameters else super().limit_key(client, parameters)

    def answer_text(self, answer: Mapping[str, Any]) -> AnswerText:
        choices = listed(answer.get("choices"))
        choice = dict_of(choices[0]) if choices else {}
        message = dict_of(choice.get("message"))
        text = str(message.get("content") or "")
        return AnswerText(text, choice.get("finish_reason"), message.get("refusal"))

    def without_calls(self, message: Message, ids: set[str]) -> Message | None:
        given = dict_of(message)
        info = self.inspect(given)
        if any(result.id in ids for result in info.results):
            return None
        if not any(call.id in ids for call in info.calls):
            return message
        kept = [
            call for call in listed(given.get("tool_calls")) if as_str(dict_of(call).get("id")) not in ids
        ]
        left = {key: value for key, value in given.items() if key not in ("tool_calls", "function_call")}
        if kept:
            left["tool_calls"] = kept
        return left if kept or left.get("content") or left.get("refusal") else None


def _calls(message: Mapping[str, Any]) -> Iterator[Call]:
    for given in listed(message.get("tool_calls")):
        call = dict_of(given)
        kind = call.get("type")
        kind = kind if isinstance(kind, str) else "function"
        called = dict_of(call.get(kind))
        arguments = called.get("arguments", called.get("input"))
        yield Call(as_str(call.get("id")), as_str(called.get("name")), arguments, kind)
    legacy = message.get("function_call")
    if legacy:
        called = dict_of(legacy)
        name = as_str(called.get("name"))
        yield Call(name, name, called.get("arguments"), "legacy")


def _placeholder(call: Call, text: str) -> Json:
    if call.kind == "legacy":
        return {"role": "function", "name": call.name, "content": text}
    return {"role": "tool", "tool_call_id": call.id, "content": text}
