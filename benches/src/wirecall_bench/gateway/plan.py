"""What the upstream streams, and what clients must get of it.

A plan is written in the name of the model, which any gateway passes on.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

TEXT = "The parser reads each chunk once, and passes on what is certain. "
TOOL = "get_weather"
ARGUMENTS = {"city": "New York", "days": 3}
CALL = f'<call>{TOOL} city="New York" days=3</call>'
# Characters of the call in each chunk.
_CALL_SIZE = 4
_MODEL = re.compile(rb'"model":\s*"load-([\d.]+)-(\d+)-(\d+)(-timed)?"')


@dataclass(frozen=True)
class StreamPlan:
    """One streamed answer: chunks of text, then a call.

    Attributes:
        rate: Chunks per second; with 0, nothing follows the first chunk.
        chunks: The number of chunks of text; with 0, the text does not end.
        size: Characters of text in each chunk.
        timed: The field `created` of each chunk is the nanosecond, by the monotonic clock, when it was sent.
            Otherwise the chunks of a stream differ in their text only, as those of vLLM do.
    """

    rate: float
    chunks: int = 0
    size: int = 4
    timed: bool = False

    @property
    def model(self) -> str:
        return f"load-{self.rate:g}-{self.chunks}-{self.size}{'-timed' if self.timed else ''}"

    @property
    def sent(self) -> int:
        """How many chunks an answer has that ends."""
        return self.chunks + len(call_pieces()) + 1

    @property
    def text(self) -> str:
        """The text of an answer that ends."""
        pieces = text_pieces(self.size)
        return "".join(pieces[at % len(pieces)] for at in range(self.chunks))


def requested_plan(body: bytes) -> StreamPlan | None:
    """The plan that a request names; None if it names none."""
    found = _MODEL.search(body)
    if found is None:
        return None
    return StreamPlan(float(found[1]), int(found[2]), int(found[3]), timed=found[4] is not None)


@cache
def text_pieces(size: int) -> tuple[str, ...]:
    """The text of successive chunks, which begins anew after the last."""
    cycle = TEXT * size
    return tuple(cycle[at : at + size] for at in range(0, len(cycle), size))


@cache
def call_pieces() -> tuple[str, ...]:
    return tuple(CALL[at : at + _CALL_SIZE] for at in range(0, len(CALL), _CALL_SIZE))


def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    """A chunk of chat completions, with `%d` for `created`."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    written = json.dumps({**chunk, "choices": [choice]}, separators=(",", ":"))
    return b"data: " + written.replace('"created":0', '"created":%d', 1).encode() + b"\n\n"
