"""Streamed answers of the Messages API, with native calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import wirecall._core as core
from wirecall._apis import streams
from wirecall._apis.messages.answer import ID_PREFIX, StopReason, is_text, partial_json, thinking
from wirecall._apis.messages.conversation import REASONING
from wirecall._apis.values import Json, kind_of, mapping, sum_usage, text_part
from wirecall._kinds import described
from wirecall._text.hold import HoldBuffer
from wirecall._text.parts import ToolCallError
from wirecall._text.reader import TextReader
from wirecall._text.response import ResponseState


def stream_error(error: Exception) -> Json:
    return {"type": "error", "error": {"type": "api_error", "message": str(error)}}


@dataclass(slots=True)
class _Block:
    """The text block that is being read. `waiting`: its citations before the first text."""

    index: int
    start: Mapping[str, Any]
    reader: TextReader
    waiting: list[Mapping[str, Any]] = field(default_factory=list)
    begun: bool = False


class MessagesStream(streams.AnswerStream, streams.PartWriter):
    """One streamed answer, or several that become one."""

    def __init__(self, state: ResponseState) -> None:
        super().__init__(state)
        self._sending: list[Json] = []
        self.buffer = HoldBuffer(self._sending.append)
        self._started = False
        # The last event with a stop reason.
        self._stop_event: Json | None = None
        # The next index, the index of the open text or reasoning, and whether that is reasoning; and their
        # values when the answer was held.
        self._next = 0
        self._open: int | None = None
        self._reasons = False
        self._mark: tuple[int, int | None, bool] = (0, None, False)
        self._call = 0
        self._block: _Block | None = None
        # The indexes under which the provider's other blocks are sent.
        self._passing: dict[int, int] = {}
        self._usage: Json = {}

    @property
    def holds(self) -> bool:
        return self.buffer.holds or (self._block is not None and self._block.reader.holds)

    def feed(self, event: Json) -> list[Json] | None:
        kind = event.get("type")
        if kind == "ping":
            return [] if self.ended else None
        if self._is_over():
            return []
        if kind == "error" or event.get("error"):
            due, self.ended = self._before_error(), True
            return [*due, event] if due else None
        self._sending.clear()
        read = self._handlers.get(kind) if isinstance(kind, str) else None
        passes = event if read is None else read(self, event)
        if passes is event and not self.buffer.holds and not self._sending:
            return None
        if passes is not None:
            self.buffer.put(passes)
        return [*self._sending]

    def due(self) -> list[Json]:
        return [*self._sending]

    def end(self) -> list[Json]:
        if self._is_over():
            return []
        self._sending.clear()
        self._conclude()
        return [*self._sending]

    # The provider's events. Each method returns what is sent instead of the event, if anything.

    def _start(self, event: Json) -> Json | None:
        self._usage = {}
        self._note(mapping(event.get("message")).get("usage"))
        first, self._started = not self._started, True
        return event if first else None

    def _block_start(self, event: Json) -> Json | None:
        self._finish(truncated=None)
        if self.ended:
            return None
        block, index = event.get("content_block"), event.get("index")
        if isinstance(block, Mapping) and is_text(block) and isinstance(index, int):
            self._passing.pop(index, None)
            self._block = _Block(index, block, TextReader(self._state, ID_PREFIX))
            if block["text"]:
                self.write(self._block.reader.feed(block["text"]))
            return None
        if kind_of(block) == "tool_use":
            self._state.called += 1
            self.buffer.release()
        elif kind_of(block) in REASONING:
            self._state.reasoned = True
        place = self._take()
        if not isinstance(index, int):
            return event
        self._passing[index] = place
        return self._moved(event)

    def _block_delta(self, event: Json) -> Json | None:
        block, delta, index = self._block, event.get("delta"), event.get("index")
        if not isinstance(delta, Mapping) or not isinstance(index, int) or index in self._passing:
            return self._moved(event)
        text = delta.get("text")
        if block is None or index != block.index:
            if not isinstance(text, str):
                return event
            # A text that was never announced, or goes on after its end.
            self._finish(truncated=None)
            if self.ended:
                return None
            block = self._block = _Block(index, text_part(""), TextReader(self._state, ID_PREFIX))
        if delta.get("type") != "text_delta" or not isinstance(text, str):
            # A citation, or an unknown delta: it belongs to a text.
            if self._open is None or self._reasons:
                block.waiting.append(delta)
                return None
            return self._at(event, self._open)
        parts = block.reader.feed(text)
        if self._open == block.index and not self._reasons and streams.is_text(parts, text):
            return event
        self.write(parts)
        return None

    def _block_stop(self, event: Json) -> Json | None:
        # The end of a text is sent when it is finished: see `_finish`.
        index = event.get("index")
        return self._moved(event) if not isinstance(index, int) or index in self._passing else None

    def _message_delta(self, event: Json) -> Json | None:
        self._note(event.get("usage"))
        delta = event.get("delta")
        if not isinstance(delta, Mapping) or delta.get("stop_reason") is None:
            return self._with_usage(event)
        stop = StopReason.of(delta, self._state)
        self._finish(truncated=stop.truncated)
        if self.ended:
            return None
        if self._state.should_retry(normal=stop.normal):
            if self.buffer.drop():
                self._next, self._open, self._reasons = self._mark
            self._close()
            self._state.usage.append(self._usage)
            self._retries = True
            return None
        self.buffer.release()
        self._stop_event = self._rewritten(self._with_usage(event))
        return self._stop_event

    def _rewritten(self, event: Json) -> Json:
        """The event with the stop reason that the calls require."""
        delta = event["delta"]
        changed = StopReason.of(delta, self._state).rewritten(delta, self._state)
        return {**event, "delta": {**delta, **changed}} if changed else event

    def _message_stop(self, event: Json) -> Json:
        self._conclude()
        return event

    # What is sent.

    def _conclude(self) -> None:
        """Ends the answer. Without a stop reason, it was cut off. After one, more blocks may have come."""
        stop = self._stop_event
        self._finish(truncated=True if stop is None else None)
        if self.ended:
            return
        self._state.should_retry(normal=False)
        self.buffer.release()
        if stop is not None and (changed := self._rewritten(stop)) is not stop:
            self._stop_event = changed
            self.buffer.put(changed)

    def _finish(self, *, truncated: bool | None) -> None:
        if self._block is not None:
            self.write(self._block.reader.finish(truncated=truncated))
            self._block = None
            if not self.ended:
                self._close()

    def hold(self) -> None:
        self.buffer.hold()
        self._mark = (self._next, self._open, self._reasons)

    def say(self, text: str) -> None:
        block = self._block
        assert block is not None
        index = self._open
        if index is None or self._reasons:
            start = {"type": "text", "text": ""} if block.begun else {**block.start, "text": ""}
            block.begun = True
            index = self._begin_block(start, reasons=False)
            for delta in block.waiting:
                self._delta(index, delta)
            block.waiting = []
        self._delta(index, {"type": "text_delta", "text": text})

    def reason(self, text: str) -> None:
        index = self._open
        if index is None or not self._reasons:
            index = self._begin_block(thinking(""), reasons=True)
        self._delta(index, {"type": "thinking_delta", "thinking": text})

    def _begin_block(self, start: Json, *, reasons: bool) -> int:
        self._close()
        index = self._take()
        self._open, self._reasons = index, reasons
        self._start_block(index, start)
        return index

    def open_call(self, id: str, name: str, *, late: bool) -> None:
        self._close()
        self._call = self._take()
        self._start_block(self._call, {"type": "tool_use", "id": id, "name": name, "input": {}})

    def arguments(self, json_text: str) -> str:
        return partial_json(json_text)

    def fragment(self, json_text: str) -> None:
        self._delta(self._call, {"type": "input_json_delta", "partial_json": json_text})

    def close_call(self) -> None:
        self._stop(self._call)

    def abort(self, error: core.CallError) -> None:
        self.buffer.put(stream_error(ToolCallError(described(error.kind))))
        self.ended = True

    def _start_block(self, index: int, block: Json) -> None:
        self.buffer.put({"type": "content_block_start", "index": index, "content_block": block})

    def _delta(self, index: int, delta: Mapping[str, Any]) -> None:
        self.buffer.put({"type": "content_block_delta", "index": index, "delta": delta})

    def _stop(self, index: int) -> None:
        self.buffer.put({"type": "content_block_stop", "index": index})

    def _close(self) -> None:
        if self._open is not None:
            self._stop(self._open)
            self._open = None

    def _take(self) -> int:
        self._next += 1
        return self._next - 1

    def _moved(self, event: Json) -> Json:
        index = event.get("index")
        place = self._passing.get(index) if isinstance(index, int) else None
        return event if place is None else self._at(event, place)

    @staticmethod
    def _at(event: Json, index: int) -> Json:
        return event if event.get("index") == index else {**event, "index": index}

    # Usage grows within an answer, and is added up over several.

    def _note(self, usage: object) -> None:
        if isinstance(usage, Mapping):
            self._usage.update({key: value for key, value in usage.items() if value is not None})

    def _with_usage(self, event: Json) -> Json:
        before = self._state.usage
        return {**event, "usage": sum_usage([*before, self._usage])} if before else event

    _handlers: ClassVar = {
        "message_start": _start,
        "content_block_start": _block_start,
        "content_block_delta": _block_delta,
        "content_block_stop": _block_stop,
        "message_delta": _message_delta,
        "message_stop": _message_stop,
    }
