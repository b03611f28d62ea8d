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


@dataclass(frozen=True)
class Usage:
    input: int = 11
    output: int = 7


@dataclass(frozen=True)
class Delivery:
    """How the body of an answer travels, and what goes wrong on the way. Bytes are of the body as sent."""

    characters: int | None = 5  # of one delta; None: a part is one delta
    chunk: int | None = None  # bytes of one HTTP chunk, splitting events and UTF-8; None: an event is a chunk
    line_end: str = "\n"
    comments: int = 0  # after every so many events a comment, and where the API has one a ping
    gzip: bool = False
    delay: float = 0.0  # before each HTTP chunk, in seconds
    drop_after: int | None = None  # bytes, then the connection breaks; 0: before the status line
    stall_after: int | None = None  # bytes, then nothing more until the client goes
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
    """A reply that no dialect makes: these bytes."""

    body: bytes
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
