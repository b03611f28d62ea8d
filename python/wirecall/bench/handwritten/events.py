"""The hand-written parser's events: the same kinds and attributes that wirecall hands out."""

from collections.abc import Sequence
from typing import ClassVar, TypeAlias


class Text:
    __slots__ = ("text",)
    type: ClassVar[str] = "text"

    def __init__(self, text: str) -> None:
        self.text = text


class CallStart:
    __slots__ = ("id", "index", "name")
    type: ClassVar[str] = "call_start"

    def __init__(self, index: int, id: str, name: str) -> None:
        self.index = index
        self.id = id
        self.name = name


class ArgumentsDelta:
    __slots__ = ("delta", "index")
    type: ClassVar[str] = "arguments_delta"

    def __init__(self, index: int, delta: str) -> None:
        self.index = index
        self.delta = delta


class CallEnd:
    __slots__ = ("arguments", "end", "id", "index", "name", "problems", "start")
    type: ClassVar[str] = "call_end"

    def __init__(
        self, index: int, id: str, name: str, arguments: str, start: int, end: int, problems: Sequence[str]
    ) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.arguments = arguments
        self.start = start
        self.end = end
        self.problems = problems


class CallError:
    __slots__ = ("end", "id", "index", "kind", "message", "name", "start")
    type: ClassVar[str] = "call_error"

    def __init__(
        self,
        index: int | None,
        id: str | None,
        name: str | None,
        kind: str,
        message: str,
        start: int,
        end: int,
    ) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.kind = kind
        self.message = message
        self.start = start
        self.end = end


Event: TypeAlias = Text | CallStart | ArgumentsDelta | CallEnd | CallError
NOTHING: tuple[()] = ()
