"""The hand-written parser's events: the same kinds and attributes that wirecall hands out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias


@dataclass(slots=True)
class Text:
    type: ClassVar[str] = "text"
    text: str


@dataclass(slots=True)
class CallStart:
    type: ClassVar[str] = "call_start"
    index: int
    id: str
    name: str


@dataclass(slots=True)
class ArgumentsDelta:
    type: ClassVar[str] = "arguments_delta"
    index: int
    delta: str


@dataclass(slots=True)
class CallEnd:
    type: ClassVar[str] = "call_end"
    index: int
    id: str
    name: str
    arguments: str
    start: int
    end: int
    problems: Sequence[str]


@dataclass(slots=True)
class CallError:
    type: ClassVar[str] = "call_error"
    index: int | None
    id: str | None
    name: str | None
    kind: str
    message: str
    start: int
    end: int


Event: TypeAlias = Text | CallStart | ArgumentsDelta | CallEnd | CallError
NOTHING: tuple[()] = ()
