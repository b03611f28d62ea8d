"""Whole answers of chat completions, with native calls."""

from collections.abc import Mapping
from typing import Any, cast

from wirecall._apis.chat.stream import finish_reason, has_reasoning, is_cut, is_whole
from wirecall._apis.values import Json, listed, mapping, sum_usage, text_part
from wirecall._text.parts import CallPart, Hold, Part, ReasoningPart, TextPart
from wirecall._text.reader import TextReader
from wirecall._text.response import ResponseState

# Texts that a stream sends in pieces. Those of earlier attempts are kept, as they are in a stream.
_SPOKEN = ("reasoning_content", "reasoning", "refusal")


def read_answer(body: Mapping[str, Any], state: ResponseState) -> Json | None:
    choices = listed(body.get("choices"))
    if not state.reads or not choices:
        return cast(Json, body)
    alone = state.alone and len(choices) == 1
    made = []
    for choice in choices:
        message = mapping(choice).get("message")
        if not isinstance(message, Mapping):
            made.append(choice)
            continue
        own = state if alone else state.sibling()
        written = _WholeMessage(message, own, is_cut(choice, body, own))
        # A model that refuses to answer is not asked for the missing call.
        if own.should_retry(normal=is_whole(choice, body, own) and not message.get("refusal")):
            state.kept.append(written.kept())
            state.usage.append(body.get("usage"))
            return None
        made.append(written.choice(choice))
    if not state.usage and all(new is old for new, old in zip(made, choices, strict=True)):
        return cast(Json, body)
    usage = sum_usage([*state.usage, body.get("usage")])
    return {**body, "choices": made, **({"usage": usage} if usage else {})}


class _WholeMessage:
    """Reads one message of a whole answer.

    Some servers send the content as a list of parts. Their texts are then read as one, and each keeps its
    position.
    """

    def __init__(self, message: Mapping[str, Any], state: ResponseState, truncated: bool | None) -> None:
        self._message = message
        self._state = state
        state.reasoned = has_reasoning(message)
        self._calls: list[CallPart] = []
        # All text, and how much of it came before the answer was held.
        self._said: list[str] = []
        self._before: int | None = None
        # The same of reasoning that was in the text.
        self._reasoned: list[str] = []
        self._reasoned_before: int | None = None
        content = message.get("content")
        self._items: list[object] = [content] if isinstance(content, str) else list(listed(content))
        self._texts: list[str | None] = []
        reader = TextReader(state, fragments=False)
        for item in self._items:
            text = item.get("text") if isinstance(item, Mapping) and item.get("type") == "text" else item
            self._texts.append(self._take(reader.feed(text)) if isinstance(text, str) else None)
        last = self._take(reader.finish(truncated=truncated))
        if last:
            at = max(at for at, text in enumerate(self._texts) if text is not None)
            self._texts[at] = cast(str, self._texts[at]) + last
        self._native = listed(message.get("tool_calls"))
        state.called += len(self._native) + (message.get("function_call") is not None)

    def _take(self, parts: list[Part]) -> str:
        start = len(self._said)
        for part in parts:
            if isinstance(part, TextPart):
                self._said.append(part.text)
            elif isinstance(part, ReasoningPart):
                self._reasoned.append(part.text)
            elif isinstance(part, CallPart):
                self._calls.append(part)
            elif isinstance(part, Hold) and self._before is None:
                self._before, self._reasoned_before = len(self._said), len(self._reasoned)
        return "".join(self._said[start:])

    def kept(self) -> Json:
        """What is kept of this attempt."""
        message = self._spoken(self._reasoned[: self._reasoned_before])
        spoken = {key: text for key in _SPOKEN if isinstance(text := message.get(key), str)}
        return {**spoken, "content": "".join(self._said[: self._before])}

    def _spoken(self, reasoned: list[str]) -> Mapping[str, Any]:
        """The message, with the reasoning that was in its text."""
        if not reasoned:
            return self._message
        key = "reasoning_content"
        return {**self._message, key: "".join([self._message.get(key) or "", *reasoned])}

    def choice(self, choice: Mapping[str, Any]) -> Mapping[str, Any]:
        """The choice with native calls; the choice itself if nothing changes."""
        kept = cast("list[Json]", self._state.kept)
        before = "".join(attempt["content"] for attempt in kept)
        content = self._content(before)
        given = self._spoken(self._reasoned)
        if not kept and not self._calls and given is self._message and content == given.get("content"):
            return choice
        message = {**given, "content": content}
        for key in _SPOKEN:
            if texts := [attempt[key] for attempt in kept if key in attempt]:
                message[key] = "".join([*texts, given.get(key) or ""])
        if self._calls and self._state.legacy:
            message["function_call"] = _function(self._calls[0])
        elif self._calls:
            ours = [{"id": call.id, "type": "function", "function": _function(call)} for call in self._calls]
            message["tool_calls"] = [*ours, *self._native]
        reason = finish_reason(choice.get("finish_reason"), bool(self._calls), self._state.legacy)
        return {**choice, "message": message, "finish_reason": reason}

    def _content(self, before: str) -> object:
        given = self._message.get("content")
        if not isinstance(given, (list, tuple)):
            text = before + "".join(text or "" for text in self._texts)
            return text if text or (given is not None and not self._calls) else None
        made: list[object] = [text_part(before)] if before else []
        for item, read in zip(self._items, self._texts, strict=True):
            if read is None or (isinstance(item, Mapping) and item["text"] == read):
                made.append(item)
            elif read:
                made.append({**item, "text": read} if isinstance(item, Mapping) else read)
        return made or None


def _function(call: CallPart) -> Json:
    return {"name": call.name, "arguments": call.arguments}
