"""Messages of Anthropic's API."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from wirecall._apis.conversation import (
    ASSISTANT,
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
from wirecall._apis.values import dict_of, listed, text_part
from wirecall._shown import as_str

# Types of blocks that are reasoning.
REASONING = ("thinking", "redacted_thinking")


class MessagesFormat(MessageFormat):
    """Messages consist of blocks. Calls are blocks of the model's messages, results of the user's."""

    name = "messages"
    merges = True
    own_parts = (
        *("image", "document", "container_upload", "thinking", "redacted_thinking", "compaction"),
        *("tool_use", "server_tool_use", "mcp_tool_use", "tool_result", "_tool_result"),
    )
    text_keys = (
        *("content", "text", "name", "input", "thinking", "title", "context", "url", "code"),
        *("stdout", "stderr"),
    )
    value_keys = ("input",)
    media: ClassVar = {"image": IMAGE, "document": DOCUMENT, "container_upload": DOCUMENT}
    client_method = ("messages", "create")

    def inspect(self, message: Mapping[str, Any]) -> MessageInfo:
        role, content = message.get("role"), message.get("content")
        if role == "assistant":
            return ASSISTANT if isinstance(content, str) else _assistant(content)
        if role == "system":
            return SYSTEM
        return USER if isinstance(content, str) else _user(content)

    def attachment(self, part: Mapping[str, Any]) -> str | None:
        kind = part.get("type")
        if kind == "image":
            return "[image]"
        if kind == "document":
            title = part.get("title") or dict_of(part.get("source")).get("filename")
            return f"[document: {as_str(title)}]" if title else "[document]"
        if kind == "compaction":
            return as_str(part.get("content") or "")
        if kind in ("server_tool_use", "mcp_tool_use"):
            return f"[Called {as_str(part.get('name'))} on the server]"
        return "[attachment]" if kind in ("container_upload", "search_result") else None

    def answered(self, results: Sequence[Message], missing: Iterable[tuple[Call, str]]) -> list[Message]:
        made = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in missing]
        if len(results) < 2 and not made:
            return list(results)
        # The API requires all results in the message right after the calls, before everything else.
        blocks = [block for message in results for block in _blocks(dict_of(message).get("content"))]
        held = [block for block in blocks if dict_of(block).get("type") == "tool_result"]
        others = [block for block in blocks if dict_of(block).get("type") != "tool_result"]
        first = dict_of(results[0]) if results else {"role": "user"}
        return [{**first, "content": [*made, *held, *others]}]

    def split(
        self, message: Message, groups: Mapping[int, Hashable]
    ) -> tuple[dict[Hashable, Message], Message | None]:
        given = dict_of(message)
        held: dict[Hashable, list[Any]] = {}
        rest: list[Any] = []
        place = -1
        for block in listed(given.get("content")):
            is_result = dict_of(block).get("type") == "tool_result"
            place += is_result
            into = held.setdefault(groups[place], []) if is_result and place in groups else rest
            into.append(block)
        if not held:
            return {}, message
        if len(held) == 1 and not rest:
            return dict.fromkeys(held, message), None
        parts = {group: {**given, "content": blocks} for group, blocks in held.items()}
        return parts, {**given, "content": rest} if rest else None

    def with_results(self, message: Message, contents: Mapping[str, object]) -> Message:
        given = dict_of(message)
        if not any(result.id in contents for result in self.inspect(given).results):
            return message
        blocks = []
        for block in listed(given.get("content")):
            held = dict_of(block)
            is_result = held.get("type") == "tool_result"
            content = contents.get(as_str(held.get("tool_use_id"))) if is_result else None
            blocks.append(block if content is None else {**held, "content": content})
        return {**given, "content": blocks}

    def without_reasoning(self, message: Message) -> Message | None:
        return _without(message, _is_reasoning)

    def answer_text(self, answer: Mapping[str, Any]) -> AnswerText:
        blocks = [dict_of(block) for block in listed(answer.get("content"))]
        text = "".join(str(block.get("text")) for block in blocks if block.get("type") == "text")
        return AnswerText(text, answer.get("stop_reason"))

    def without_calls(self, message: Message, ids: set[str]) -> Message | None:
        def of_these(block: Mapping[str, Any]) -> bool:
            kind = block.get("type")
            if kind == "tool_use":
                return as_str(block.get("id")) in ids
            return kind == "tool_result" and as_str(block.get("tool_use_id")) in ids

        left = _without(message, of_these)
        if left is None or left is message:
            return left
        return left if any(not _is_reasoning(dict_of(block)) for block in left["content"]) else None


def _is_reasoning(block: Mapping[str, Any]) -> bool:
    return block.get("type") in REASONING


def _assistant(content: object) -> MessageInfo:
    """What the model said. A server tool's result without its call continues the message before."""
    calls, asked, joins = [], set(), False
    for given in listed(content):
        block = dict_of(given)
        kind = block.get("type")
        if kind == "text" or kind == "thinking" or not isinstance(kind, str):
            continue
        if kind == "tool_use":
            calls.append(Call(as_str(block.get("id")), as_str(block.get("name")), block.get("input")))
        elif kind.endswith("_tool_use"):
            asked.add(as_str(block.get("id")))
        elif kind.endswith("_tool_result"):
            joins = joins or as_str(block.get("tool_use_id")) not in asked
    return MessageInfo("assistant", tuple(calls), joins=joins) if calls or joins else ASSISTANT


def _user(content: object) -> MessageInfo:
    """What the application said: results, and the user's own blocks, which must follow them."""
    results, said_at = [], None
    for block in map(dict_of, listed(content)):
        if block.get("type") == "tool_result":
            results.append(Result(as_str(block.get("tool_use_id")), None, block.get("content", "")))
        elif said_at is None:
            said_at = len(results)
    return MessageInfo("result", results=tuple(results), said_at=said_at) if results else USER


def _blocks(content: object) -> Sequence[Any]:
    return [text_part(content)] if isinstance(content, str) else listed(content)


def _without(message: Message, drops: Any) -> Message | None:
    given = dict_of(message)
    blocks = listed(given.get("content"))
    kept = [block for block in blocks if not drops(dict_of(block))]
    if len(kept) == len(blocks):
        return message
    return {**given, "content": kept} if kept else None
