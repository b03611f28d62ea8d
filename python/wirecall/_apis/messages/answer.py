"""Answers of the Messages API, whole and streamed, read.

Each text block is parsed on its own. It is over when the next block begins, or when the answer says why
it stopped: only then is it known whether a call in it was cut off. What becomes of a block that holds
calls: its texts and calls become blocks, in order; what else the block has (its citations) stays with its
first text. In a stream, where that text may have gone out, a citation stays with the text that it comes in
or in front of. A citation without a text, as in a block of nothing but calls, goes.

An attempt that is asked again leaves the blocks in front of its failure; they stay blocks of their own.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wirecall._apis.base import Json, summed
from wirecall._kinds import described
from wirecall._rewriting.parts import (
    CallAborted,
    CallFinished,
    CallFragment,
    CallOpened,
    CallPart,
    Hold,
    Part,
    TextPart,
    ToolCallError,
)
from wirecall._rewriting.reader import TextReader
from wirecall._rewriting.response import ResponseState

_PREFIX = "toolu_"


@dataclass(frozen=True, slots=True)
class _Stop:
    """Why an answer stopped. `truncated` is for readers; `normal` means by itself."""

    reason: object
    ours: bool

    @classmethod
    def of(cls, holder: Mapping[str, Any], turn: ResponseState) -> "_Stop":
        reason = holder.get("stop_reason")
        mark = turn.toolset.result_marks[0]
        return cls(reason, reason == "stop_sequence" and holder.get("stop_sequence") == mark)

    @property
    def normal(self) -> bool:
        return self.ours or self.reason in ("end_turn", "tool_use")

    @property
    def truncated(self) -> bool | None:
        # The API says which stop sequence it was. Any other than ours may cut a call off.
        if self.normal:
            return False
        return True if self.reason in ("max_tokens", "model_context_window_exceeded") else None

    def rewritten(self, holder: Mapping[str, Any], turn: ResponseState) -> Json:
        """The two fields of `holder` that differ."""
        changed: Json = {}
        if self.ours:
            changed = {"stop_reason": "end_turn", "stop_sequence": None}
        if turn.called and (self.ours or self.reason == "end_turn"):
            changed["stop_reason"] = "tool_use"
        return {key: value for key, value in changed.items() if holder.get(key) != value}


def error_event(message: str) -> Json:
    return {"type": "error", "error": {"type": "api_error", "message": message}}


# Whole.


@dataclass(slots=True)
class _Segment:
    """A text of a block, growing."""

    block: Mapping[str, Any]
    text: str


def whole(body: Mapping[str, Any], turn: ResponseState) -> Json | None:
    content = body.get("content")
    if not isinstance(content, list):
        return dict(body)
    stop = _Stop.of(body, turn)
    items: list[Any] = []
    kept: list[object] | None = None
    for position, block in enumerate(content):
        if not is_text(block):
            if _is_call(block):
                turn.called += 1
            items.append(block)
            continue
        reader = TextReader(turn, _PREFIX, fragments=False)
        last = position == len(content) - 1
        parts = reader.feed(block["text"]) + reader.finish(truncated=stop.truncated if last else None)
        for part in parts:
            if isinstance(part, TextPart):
                _say(items, block, part.text)
            elif isinstance(part, CallPart):
                items.append(_call_block(part))
            elif isinstance(part, Hold):
                kept = _folded(items)
    if turn.should_retry(normal=stop.normal):
        turn.kept += _folded(items) if kept is None else kept
        turn.usage.append(body.get("usage"))
        return None
    read = {**body, "content": [*turn.kept, *_folded(items)], **stop.rewritten(body, turn)}
    if turn.usage and isinstance(body.get("usage"), Mapping):
        read["usage"] = summed([*turn.usage, body["usage"]])
    return read


def _say(items: list[Any], block: Mapping[str, Any], text: str) -> None:
    last = items[-1] if items else None
    if isinstance(last, _Segment) and last.block is block:
        last.text += text
    else:
        items.append(_Segment(block, text))


def _folded(items: list[Any]) -> list[object]:
    """The blocks: a text that is the whole of its block is that very block."""
    blocks: list[object] = []
    begun: Mapping[str, Any] | None = None
    for item in items:
        if not isinstance(item, _Segment):
            blocks.append(item)
        elif item.block["text"] == item.text:
            blocks.append(item.block)
        elif item.block is begun:
            blocks.append({"type": "text", "text": item.text})
        else:
            begun = item.block
            blocks.append({**item.block, "text": item.text})
    return blocks


def _call_block(call: CallPart) -> Json:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call.arguments)}


def _input(arguments: str) -> Json:
    """Arguments as the object that the API wants; text that is none (`on_error="native"`) stands in one."""
    try:
        read = json.loads(arguments, parse_int=_number(int), parse_float=_number(float))
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, dict) else {"arguments": arguments}


def _number(kind: type[int] | type[float]) -> Any:
    """Reads a number; one that Python cannot hold stays text."""

    def read(digits: str) -> float | str:
        try:
            number = kind(digits)
        except ValueError:
            return digits
        return digits if number in (float("inf"), float("-inf")) else number

    return read


def _partial_json(arguments: str) -> str:
    """The same for a stream, where the text itself goes out, with all its digits."""
    read = _input(arguments)
    raw = read.keys() == {"arguments"} and read["arguments"] == arguments
    return json.dumps(read, ensure_ascii=False) if raw else arguments


# Streamed.


@dataclass(slots=True)
class _Block:
    """The text block that is being read, with its citations that have no text yet."""

    index: int
    start: Mapping[str, Any]
    reader: TextReader
    waiting: list[Mapping[str, Any]] = field(default_factory=list)
    begun: bool = False


class MessagesStream:
    """One streamed answer, or several that become one."""

    def __init__(self, turn: ResponseState) -> None:
        self._turn = turn
        self._started = False
        self._asks = False
        # The rest of an answer that is asked again is swallowed.
        self._over = False
        self._stopped = False
        self._ended = False
        self._sending: list[Json] = []
        # What is held since a failure, and the state to go back to: the next index, the open text.
        self._held: list[Json] | None = None
        self._mark: tuple[int, int | None] = (0, None)
        self._next = 0
        self._open: int | None = None
        self._call = 0
        self._block: _Block | None = None
        # Where the provider's other blocks stand.
        self._passing: dict[int, int] = {}
        self._usage: Json = {}

    @property
    def should_retry(self) -> bool:
        return self._asks

    @property
    def ended(self) -> bool:
        return self._ended

    @property
    def holds(self) -> bool:
        return self._held is not None or (self._block is not None and self._block.reader.holds)

    def feed(self, event: Json) -> list[Json] | None:
        kind = event.get("type")
        if self._ended:
            return []
        if kind == "ping":
            return None
        if kind == "message_start" or (self._asks and not self._over):
            self._asks = self._over = False
        if self._over:
            return []
        if kind == "error":
            due = self._due()
            return [*due, event] if due else None
        self._sending = []
        if kind == "message_start":
            passes = self._start(event)
        elif kind == "content_block_start":
            passes = self._block_start(event)
        elif kind == "content_block_delta":
            passes = self._block_delta(event)
        elif kind == "content_block_stop":
            passes = self._block_stop(event)
        elif kind == "message_delta":
            passes = self._message_delta(event)
        else:
            passes = event
        if passes is event and self._held is None and not self._sending:
            return None
        if passes is not None:
            self._emit(passes)
        return self._sending

    def end(self) -> list[Json]:
        if self._ended or self._stopped:
            return []
        if self._over:
            self._over = False
            return []
        self._asks = False
        self._sending = []
        self._finish(truncated=True)
        if not self._ended:
            self._turn.should_retry(normal=False)
            self._release()
        self._stopped = True
        return self._sending

    def _due(self) -> list[Json]:
        """The provider's error ends the answer, and clients read no further: what is held goes in front."""
        try:
            due = self.end()
        except ToolCallError:
            due = []  # The provider's own error says more.
        self._ended = True
        return [event for event in due if event["type"] != "error"]

    # The provider's events. Each returns what goes on instead of the event, if anything.

    def _start(self, event: Json) -> Json | None:
        message = event.get("message")
        self._usage = {}
        self._note(message.get("usage") if isinstance(message, Mapping) else None)
        first, self._started = not self._started, True
        return event if first else None

    def _block_start(self, event: Json) -> Json | None:
        self._finish(truncated=None)
        if self._ended:
            return None
        block, index = event.get("content_block"), event.get("index")
        if isinstance(block, Mapping) and is_text(block) and isinstance(index, int):
            self._block = _Block(index, block, TextReader(self._turn, _PREFIX))
            if block["text"]:
                self._read(self._block.reader.feed(block["text"]))
            return None
        if _is_call(block):
            self._turn.called += 1
            self._release()
        place = self._take()
        if not isinstance(index, int):
            return event
        self._passing[index] = place
        return self._moved(event)

    def _block_delta(self, event: Json) -> Json | None:
        block, delta = self._block, event.get("delta")
        if block is None or event.get("index") != block.index or not isinstance(delta, Mapping):
            return self._moved(event)
        text = delta.get("text")
        if delta.get("type") != "text_delta" or not isinstance(text, str):
            # A citation, or what is not known: it belongs to a text.
            if self._open is None:
                block.waiting.append(delta)
                return None
            return self._at(event, self._open)
        parts = block.reader.feed(text)
        if self._open == block.index and len(parts) == 1 and parts[0] == TextPart(text):
            return event
        self._read(parts)
        return None

    def _block_stop(self, event: Json) -> Json | None:
        # A text's end goes out once it is finished: see above.
        if self._block is not None and event.get("index") == self._block.index:
            return None
        return self._moved(event)

    def _message_delta(self, event: Json) -> Json | None:
        self._note(event.get("usage"))
        delta = event.get("delta")
        if not isinstance(delta, Mapping) or delta.get("stop_reason") is None or self._stopped:
            return self._with_usage(event)
        stop = _Stop.of(delta, self._turn)
        self._finish(truncated=stop.truncated)
        if self._ended:
            return None
        if self._turn.should_retry(normal=stop.normal):
            self._ask_again()
            return None
        self._release()
        self._stopped = True
        event = self._with_usage(event)
        changed = stop.rewritten(delta, self._turn)
        return {**event, "delta": {**delta, **changed}} if changed else event

    # What becomes of them.

    def _ask_again(self) -> None:
        if self._held is not None:
            self._held = None
            self._next, self._open = self._mark
        self._close()
        self._turn.usage.append(self._usage)
        self._asks = self._over = True

    def _finish(self, *, truncated: bool | None) -> None:
        block = self._block
        if block is not None:
            self._read(block.reader.finish(truncated=truncated))
            self._block = None
            if not self._ended:
                self._close()

    def _read(self, parts: Iterable[Part]) -> None:
        for part in parts:
            if self._ended:
                return
            if isinstance(part, TextPart):
                self._say(part.text)
            elif isinstance(part, CallPart):
                if not part.late:
                    self._release()
                self._begin(part.id, part.name)
                self._fragment(_partial_json(part.arguments))
                self._stop(self._call)
            elif isinstance(part, CallOpened):
                self._release()
                self._begin(part.id, part.name)
            elif isinstance(part, CallFragment):
                self._fragment(part.delta)
            elif isinstance(part, CallFinished):
                self._stop(self._call)
            elif isinstance(part, CallAborted):
                self._emit(error_event(described(part.error.kind)))
                self._ended = True
            else:
                self._held, self._mark = [], (self._next, self._open)

    def _say(self, text: str) -> None:
        block = self._block
        assert block is not None
        if self._open is None:
            start = {"type": "text", "text": ""} if block.begun else {**block.start, "text": ""}
            block.begun = True
            self._open = self._take()
            self._emit({"type": "content_block_start", "index": self._open, "content_block": start})
            for delta in block.waiting:
                self._delta(self._open, delta)
            block.waiting = []
        self._delta(self._open, {"type": "text_delta", "text": text})

    def _begin(self, id: str, name: str) -> None:
        self._close()
        self._call = self._take()
        block = {"type": "tool_use", "id": id, "name": name, "input": {}}
        self._emit({"type": "content_block_start", "index": self._call, "content_block": block})

    def _fragment(self, json_text: str) -> None:
        self._delta(self._call, {"type": "input_json_delta", "partial_json": json_text})

    def _delta(self, index: int, delta: Mapping[str, Any]) -> None:
        self._emit({"type": "content_block_delta", "index": index, "delta": delta})

    def _stop(self, index: int) -> None:
        self._emit({"type": "content_block_stop", "index": index})

    def _close(self) -> None:
        if self._open is not None:
            self._stop(self._open)
            self._open = None

    def _take(self) -> int:
        self._next += 1
        return self._next - 1

    def _emit(self, event: Json) -> None:
        (self._sending if self._held is None else self._held).append(event)

    def _release(self) -> None:
        if self._held is not None:
            self._sending += self._held
            self._held = None

    def _moved(self, event: Json) -> Json:
        index = event.get("index")
        place = self._passing.get(index) if isinstance(index, int) else None
        return event if place is None else self._at(event, place)

    @staticmethod
    def _at(event: Json, index: int) -> Json:
        return event if event.get("index") == index else {**event, "index": index}

    # Usage counts up within an answer, and adds up over several.

    def _note(self, usage: object) -> None:
        if isinstance(usage, Mapping):
            self._usage.update({key: value for key, value in usage.items() if value is not None})

    def _with_usage(self, event: Json) -> Json:
        return {**event, "usage": summed([*self._turn.usage, self._usage])} if self._turn.usage else event


# Blocks.


def is_text(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _is_call(block: object) -> bool:
    """The model called natively, though its tools are text: that counts and stays."""
    return isinstance(block, Mapping) and block.get("type") == "tool_use"
