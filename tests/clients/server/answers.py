"""What a script says: answers in neutral terms and how they travel; dialects make bodies and events of it."""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A native tool call. Text as `arguments` goes out as it is, also if it is not JSON."""

    name: str
    arguments: str | Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None

    @property
    def text(self) -> str:
        """The arguments as the JSON text that is sent."""
        return self.arguments if isinstance(self.arguments, str) else compact(dict(self.arguments))


@dataclass(frozen=True)
class Thinking:
    """A reasoning part: a thinking block, a reasoning item, or `reasoning_content` in chat."""

    text: str
    signature: str = "c2lnbmVk"


@dataclass(frozen=True)
class Refusal:
    """What the model says instead, where the API has a field of its own for it; text where it has none."""

    text: str


Part = str | Call | Thinking | Refusal

LineEnd = Literal["\n", "\r\n", "\r", "mixed"]
EventNames = Literal["api", "none", "message"]
EventIds = Literal["none", "each", "some", "empty"]
EventComment = Literal["none", "before", "inside", "block"]
Between = Literal["none", "ping", "empty data", "unknown type"]
LastEvent = Literal["whole", "no blank line", "missing"]
# How a connection ends in the middle of a body:
#   finished: properly, with the last chunk of the encoding, as if the body were whole
#   closed: without the last chunk
#   reset: by a TCP reset
#   stalled: not at all; nothing more is sent until the client goes
#   error: after a blank line and the API's error event it is closed
Ending = Literal["finished", "closed", "reset", "stalled", "error"]


@dataclass(frozen=True)
class Usage:
    input: int = 11
    output: int = 7


@dataclass(frozen=True)
class EventFormat:
    """How server-sent events are written: as the specification allows, and as real servers deviate from it.

    The default is what the providers write.
    """

    line_end: LineEnd = "\n"  # "mixed": lines and blank lines take turns with all of them
    bom: bool = False  # a byte order mark before the first event
    space: bool = True  # after the colon of a field
    names: EventNames = "api"  # the field `event`; "message": each event has this name
    ids: EventIds = "none"  # the field `id`; "some": of every third event; "empty": without a value
    retry: bool = False  # the field `retry`, in every event
    unknown: bool = False  # a field that no specification has, in every event
    comment: EventComment = "none"  # where each event has a comment line; "block": a blank line follows it
    rotation: int = 0  # by how many places the fields of an event are rotated, including an `inside` comment
    data_lines: bool = False  # the data has a line for each token of the JSON
    blank_lines: int = 0  # extra blank lines after each event
    between: Between = "none"  # an event that says nothing, after every third one
    last: LastEvent = "whole"  # how the last event is sent, which is `[DONE]` in chat


@dataclass(frozen=True)
class Delivery:
    """How the body of an answer travels, and what goes wrong on the way. Bytes are of the body as sent."""

    characters: int | None = 5  # of one delta; None: a part is one delta
    # Bytes of one HTTP chunk, splitting events and UTF-8; a range: random sizes; None: an event is a chunk.
    chunk: int | range | None = None
    seed: int = 0  # of the random sizes
    format: EventFormat = field(default_factory=EventFormat)
    comments: int = 0  # after every so many events a comment, and where the API has one a ping
    gzip: bool = False
    delay: float = 0.0  # before each HTTP chunk, in seconds
    cut_after: int | None = None  # end the body after this many bytes
    ending: Ending = "closed"  # how it ends then; closed or reset after 0 bytes: before the status line
    garbage: bytes | None = None  # sent in the stream after `garbage_after` events
    garbage_after: int = 3
    half_utf8: bool = False  # the body ends, properly, inside a character


@dataclass(frozen=True)
class Failure:
    """An error of the provider, in the shape of the API: as status and body, or inside a stream."""

    status: int = 500
    message: str = "The server had an error while processing your request."
    type: str | None = None
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Raw:
    """A reply that no dialect makes: these bytes, or pieces that are sent one by one."""

    body: bytes | Sequence[bytes]
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delivery: Delivery = field(default_factory=Delivery)


Finish = Literal["stop", "length", "tool_calls", "content_filter", "refusal", "stop_sequence", "pause_turn"]


@dataclass(frozen=True)
class Answer:
    """One answer of the model. Texts side by side are blocks of their own where the API has blocks."""

    parts: str | Sequence[Part]
    finish: Finish | None = None  # None: tool_calls if there are calls, else stop
    usage: Usage = field(default_factory=Usage)
    delivery: Delivery = field(default_factory=Delivery)
    others: Sequence[str | Sequence[Part]] = ()  # further choices, for requests with `n`
    error: Failure | None = None  # a stream ends with it, after the parts

    @property
    def items(self) -> tuple[Part, ...]:
        return as_parts(self.parts)

    def choice(self, index: int) -> tuple[Part, ...]:
        """The parts of one of `n` choices; the last one is used for all that the script does not name."""
        choices = (self.parts, *self.others)
        return as_parts(choices[min(index, len(choices) - 1)])

    def finish_of(self, parts: Sequence[Part]) -> Finish:
        return self.finish or ("tool_calls" if any(isinstance(part, Call) for part in parts) else "stop")


Reply = Answer | Failure | Raw


class RefusedError(Exception):
    """A request that a strict provider would not take."""

    def __init__(
        self,
        message: str,
        param: str | None = None,
        *,
        code: str | None = None,
        status: int = 400,
        type: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.failure = Failure(status, message, type, code, param, details=details)


def as_parts(parts: str | Sequence[Part]) -> tuple[Part, ...]:
    return (parts,) if isinstance(parts, str) else tuple(parts)


def pieces(text: str, characters: int | None) -> Iterator[str]:
    """The deltas of a text; none for an empty one."""
    step = characters or len(text) or 1
    for start in range(0, len(text), step):
        yield text[start : start + step]


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def new_id(prefix: str) -> str:
    """An id that is used once, in this process and any other."""
    return f"{prefix}{secrets.token_hex(12)}"
