"""Whole answers of the Messages API, with native calls.

Each text block is parsed separately. It ends when the next block begins, or when the answer says why it
stopped: only then is it known whether a call in it was cut off. The texts, calls and reasoning of a block
become blocks, in order. Its other fields (citations) are kept on its first text. In a stream, that text may
already be sent, so a citation is kept on the text in or before which it comes. A citation without a text is
dropped.

When a request is retried, the blocks before the failure are kept as separate blocks.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wirecall._apis.messages.conversation import REASONING
from wirecall._apis.values import Json, kind_of, mapping, sum_usage, text_part
from wirecall._text.history import has_text
from wirecall._text.parts import CallPart, Hold, ReasoningPart, TextPart
from wirecall._text.reader import TextReader
from wirecall._text.response import ResponseState

ID_PREFIX = "toolu_"


@dataclass(frozen=True, slots=True)
class StopReason:
    """Why an answer stopped. `ours`: at our own stop sequence."""

    reason: object
    ours: bool

    @classmethod
    def of(cls, holder: Mapping[str, Any], state: ResponseState) -> "StopReason":
        reason = holder.get("stop_reason")
        mark = state.stop
        ours = mark is not None and reason == "stop_sequence" and holder.get("stop_sequence") == mark
        return cls(reason, ours)

    @property
    def normal(self) -> bool:
        """Whether it ended normally."""
        return self.ours or self.reason in ("end_turn", "tool_use")

    @property
    def truncated(self) -> bool | None:
        """Whether its last text was cut off; None: it may be."""
        # The API says which stop sequence it was. Any other than ours may cut a call off.
        if self.normal:
            return False
        return True if self.reason in ("max_tokens", "model_context_window_exceeded") else None

    def rewritten(self, holder: Mapping[str, Any], state: ResponseState) -> Json:
        """The fields of `holder` that change."""
        changed: Json = {}
        if self.ours:
            changed = {"stop_reason": "end_turn", "stop_sequence": None}
        if state.called and (self.ours or self.reason == "end_turn"):
            changed["stop_reason"] = "tool_use"
        return {key: value for key, value in changed.items() if holder.get(key) != value}


def is_text(block: object) -> bool:
    return kind_of(block) == "text" and has_text(block)


@dataclass(slots=True)
class _Segment:
    """A text of a block. More may be appended."""

    block: Mapping[str, Any]
    text: str


@dataclass(slots=True)
class _Reasoning:
    """Reasoning that was in a text. More may be appended."""

    text: str


def thinking(text: str) -> Json:
    """A block of reasoning that was in a text. No signature is empty but those of wirecall."""
    return {"type": "thinking", "thinking": text, "signature": ""}


def is_ours(block: object) -> bool:
    """Whether a block is such reasoning, which comes back in a history."""
    return kind_of(block) == "thinking" and not mapping(block).get("signature")


def read_answer(body: Mapping[str, Any], state: ResponseState) -> Json | None:
    content = body.get("content")
    if not isinstance(content, list):
        return dict(body)
    stop = StopReason.of(body, state)
    items: list[Any] = []
    kept: list[object] | None = None
    for position, block in enumerate(content):
        if not is_text(block):
            # A native call, although the tools are text. It counts, and is kept.
            state.called += kind_of(block) == "tool_use"
            state.reasoned = state.reasoned or kind_of(block) in REASONING
            items.append(block)
            continue
        reader = TextReader(state, ID_PREFIX, fragments=False)
        last = position == len(content) - 1
        parts = reader.feed(block["text"]) + reader.finish(truncated=stop.truncated if last else None)
        for part in parts:
            if isinstance(part, TextPart):
                _say(items, block, part.text)
            elif isinstance(part, ReasoningPart):
                if not items or not isinstance(items[-1], _Reasoning):
                    items.append(_Reasoning(""))
                items[-1].text += part.text
            elif isinstance(part, CallPart):
                call = {"type": "tool_use", "id": part.id, "name": part.name}
                items.append({**call, "input": _input(part.arguments)})
            elif isinstance(part, Hold):
                kept = _folded(items)
    if state.should_retry(normal=stop.normal):
        state.kept += _folded(items) if kept is None else kept
        state.usage.append(body.get("usage"))
        return None
    read = {**body, "content": [*state.kept, *_folded(items)], **stop.rewritten(body, state)}
    if state.usage and isinstance(body.get("usage"), Mapping):
        read["usage"] = sum_usage([*state.usage, body["usage"]])
    return read


def _say(items: list[Any], block: Mapping[str, Any], text: str) -> None:
    last = items[-1] if items else None
    if isinstance(last, _Segment) and last.block is block:
        last.text += text
    else:
        items.append(_Segment(block, text))


def _folded(items: list[Any]) -> list[object]:
    """The blocks. If a text is all of its block, the block is the same object."""
    blocks: list[object] = []
    begun: Mapping[str, Any] | None = None
    for item in items:
        if isinstance(item, _Reasoning):
            blocks.append(thinking(item.text))
        elif not isinstance(item, _Segment):
            blocks.append(item)
        elif item.block["text"] == item.text:
            blocks.append(item.block)
        elif item.block is begun:
            blocks.append(text_part(item.text))
        else:
            begun = item.block
            blocks.append({**item.block, "text": item.text})
    return blocks


def _input(arguments: str) -> Json:
    """Arguments as the object that the API requires; other text (`on_error="native"`) in an object."""
    try:
        read = json.loads(arguments, parse_int=_number, parse_float=_number)
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, dict) else {"arguments": arguments}


def _number(digits: str) -> float | str:
    """Reads a number. One that Python cannot represent remains text."""
    try:
        number = int(digits) if digits.removeprefix("-").isdecimal() else float(digits)
    except ValueError:
        return digits
    return digits if abs(number) == float("inf") else number


def partial_json(arguments: str) -> str:
    """The same for a stream. The text is sent unchanged, with all digits, if it is an object."""
    read = _input(arguments)
    raw = read.keys() == {"arguments"} and read["arguments"] == arguments
    return json.dumps(read, ensure_ascii=False) if raw else arguments
