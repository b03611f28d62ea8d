"""OpenAI's chat completions, which many servers speak.

Structured output (`response_format`) with tools stays as it is, and the manual stands beside it. A provider
that forces the form while it samples then leaves the model no way to write a call; where it is only a
request, the model may do either.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

from wirecall._apis.base import Asked, Json, listed, summed
from wirecall._apis.chat import request as chat_request
from wirecall._apis.chat.stream import ChatStream, finish_reason, is_cut, is_whole
from wirecall._rewriting import roles
from wirecall._rewriting.history import History
from wirecall._rewriting.manual import Manual
from wirecall._rewriting.options import Options
from wirecall._rewriting.parts import CallPart, Hold, Part, TextPart, ToolCallError
from wirecall._rewriting.reader import TextReader
from wirecall._rewriting.response import ResponseState

# Texts that a stream sends in pieces: what an earlier attempt said there stays, as it does in a stream.
_SPOKEN = ("reasoning_content", "reasoning", "refusal")


class Chat:
    """The dialect of chat completions. It is stateless: `chat` serves all."""

    name: Literal["chat"] = "chat"

    def read(self, request: Mapping[str, Any]) -> Asked:
        return chat_request.read(request)

    def rewrite(
        self,
        request: Mapping[str, Any],
        asked: Asked,
        manual: Manual | None,
        history: History,
        options: Options,
    ) -> Json:
        return chat_request.rewrite(request, asked, manual, history, options)

    def adapt(self, request: Json, options: Options) -> Json:
        return {**request, "messages": roles.adapted(listed(request["messages"]), options)}

    def again(self, request: Mapping[str, Any], words: str, message: str) -> Json:
        # Servers refuse an assistant's message without content; two of a user's may follow each other.
        own = [{"role": "assistant", "content": words}] if words else []
        answered = [*listed(request["messages"]), *own, {"role": "user", "content": message}]
        return {**request, "messages": answered}

    def whole(self, body: Mapping[str, Any], turn: ResponseState) -> Json | None:
        choices = listed(body.get("choices"))
        if not turn.reads or not choices:
            return cast(Json, body)
        alone = turn.alone and len(choices) == 1
        made = []
        for choice in choices:
            message = choice.get("message") if isinstance(choice, Mapping) else None
            if not isinstance(message, Mapping):
                made.append(choice)
                continue
            own = turn if alone else turn.sibling()
            written = _Written(message, own, is_cut(choice, body, own))
            # Who refuses is not asked for the call that is missing.
            if own.should_retry(normal=is_whole(choice, body, own) and not message.get("refusal")):
                turn.kept.append(written.kept())
                turn.usage.append(body.get("usage"))
                return None
            made.append(written.choice(choice))
        if not turn.usage and all(new is old for new, old in zip(made, choices, strict=True)):
            return cast(Json, body)
        usage = summed([*turn.usage, body.get("usage")])
        return {**body, "choices": made, **({"usage": usage} if usage else {})}

    def stream(self, turn: ResponseState) -> ChatStream:
        return ChatStream(turn, self.error)

    def error(self, error: Exception) -> Json:
        kind = error.error.kind if isinstance(error, ToolCallError) and error.error is not None else None
        return {"error": {"message": str(error), "type": "invalid_tool_call", "param": None, "code": kind}}


class _Written:
    """One message of a whole answer, read.

    Its content may be a list of parts, as some servers have it: then their texts are read as one, and each
    keeps its place.
    """

    def __init__(self, message: Mapping[str, Any], turn: ResponseState, truncated: bool | None) -> None:
        self._message = message
        self._turn = turn
        self._calls: list[CallPart] = []
        # All that was said, and how much of it before the answer was held.
        self._said: list[str] = []
        self._before: int | None = None
        content = message.get("content")
        self._items: list[object] = [content] if isinstance(content, str) else list(listed(content))
        self._texts: list[str | None] = []
        reader = TextReader(turn, fragments=False)
        for item in self._items:
            text = item.get("text") if isinstance(item, Mapping) and item.get("type") == "text" else item
            self._texts.append(self._take(reader.feed(text)) if isinstance(text, str) else None)
        last = self._take(reader.finish(truncated=truncated))
        if last:
            at = max(at for at, text in enumerate(self._texts) if text is not None)
            self._texts[at] = cast(str, self._texts[at]) + last
        self._native = listed(message.get("tool_calls"))
        turn.called += len(self._native) + (message.get("function_call") is not None)

    def _take(self, parts: list[Part]) -> str:
        start = len(self._said)
        for part in parts:
            if isinstance(part, TextPart):
                self._said.append(part.text)
            elif isinstance(part, CallPart):
                self._calls.append(part)
            elif isinstance(part, Hold) and self._before is None:
                self._before = len(self._said)
        return "".join(self._said[start:])

    def kept(self) -> Json:
        """What stays of this attempt."""
        spoken = {key: text for key in _SPOKEN if isinstance(text := self._message.get(key), str)}
        return {**spoken, "content": "".join(self._said[: self._before])}

    def choice(self, choice: Mapping[str, Any]) -> Mapping[str, Any]:
        """The choice with native calls; the very object where there is nothing to change."""
        kept = cast("list[Json]", self._turn.kept)
        before = "".join(attempt["content"] for attempt in kept)
        content = self._content(before)
        if not kept and not self._calls and content == self._message.get("content"):
            return choice
        message = {**self._message, "content": content}
        for key in _SPOKEN:
            if texts := [attempt[key] for attempt in kept if key in attempt]:
                message[key] = "".join([*texts, self._message.get(key) or ""])
        if self._calls and self._turn.legacy:
            message["function_call"] = _function(self._calls[0])
        elif self._calls:
            ours = [{"id": call.id, "type": "function", "function": _function(call)} for call in self._calls]
            message["tool_calls"] = [*ours, *self._native]
        reason = finish_reason(choice.get("finish_reason"), bool(self._calls), self._turn.legacy)
        return {**choice, "message": message, "finish_reason": reason}

    def _content(self, before: str) -> object:
        given = self._message.get("content")
        if not isinstance(given, (list, tuple)):
            text = before + "".join(text or "" for text in self._texts)
            return text if text or (given is not None and not self._calls) else None
        made: list[object] = [{"type": "text", "text": before}] if before else []
        for item, read in zip(self._items, self._texts, strict=True):
            if read is None or (isinstance(item, Mapping) and item["text"] == read):
                made.append(item)
            elif read:
                made.append({**item, "text": read} if isinstance(item, Mapping) else read)
        return made or None


def _function(call: CallPart) -> Json:
    return {"name": call.name, "arguments": call.arguments}


chat = Chat()
