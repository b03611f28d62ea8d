"""Calls of a list end together, so that the next one starts before an earlier one has ended."""

from typing import Any

import pytest

from wirecall import ArgumentsDelta, CallEnd, CallError, CallStart, Toolset
from wirecall._text.options import Options
from wirecall._text.parts import (
    CallAborted,
    CallFinished,
    CallFragment,
    CallOpened,
    CallPart,
    Part,
    TextPart,
)
from wirecall._text.reader import TextReader
from wirecall._text.response import Choice, ResponseState

TOOLS = Toolset([("get", {"type": "object"}), ("stop", {"type": "object"})], protocol="mistral")
FIRST, SECOND = '{"name": "get", "arguments": {"a": 1}}', '{"name": "stop", "arguments": {"b": [2]}}'
LIST = f"[TOOL_CALLS][{FIRST}, {SECOND}]"
CALLS = [("get", '{"a":1}'), ("stop", '{"b":[2]}')]
CHUNKS = pytest.mark.parametrize("size", [1, 7, 1000])


def chunks(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def read(text: str, size: int, truncated: bool | None = False, **options: Any) -> list[Part]:
    choice = options.pop("choice", Choice())
    reader = TextReader(ResponseState(TOOLS, Options(**options), choice))
    parts = [part for chunk in chunks(text, size) for part in reader.feed(chunk)]
    return parts + reader.finish(truncated=truncated)


def heard(parts: list[Part]) -> list[tuple[str, str]]:
    """The calls as a client reads them, which have to come one after another."""
    calls: list[tuple[str, str]] = []
    opened: str | None = None
    for part in parts:
        if isinstance(part, CallOpened):
            assert opened is None
            opened, joined = part.name, ""
        elif isinstance(part, CallFragment):
            assert opened is not None
            joined += part.delta
        elif isinstance(part, CallFinished):
            assert opened is not None
            calls.append((opened, joined))
            opened = None
        elif isinstance(part, CallPart):
            assert opened is None
            calls.append((part.name, part.arguments))
    assert opened is None
    return calls


@CHUNKS
def test_events(size: int) -> None:
    parser = TOOLS.parser()
    events = [event for chunk in chunks(LIST[:-1], size) for event in parser.feed(chunk)]
    assert [event.index for event in events if isinstance(event, CallStart)] == [0, 1]
    assert not [event for event in events if isinstance(event, CallEnd)]
    events += parser.feed("]")
    starts = [event for event in events if isinstance(event, CallStart)]
    ends = [event for event in events if isinstance(event, CallEnd)]
    assert [(end.id, end.name, end.arguments) for end in ends] == [
        (start.id, *call) for start, call in zip(starts, CALLS, strict=True)
    ]
    for end in ends:
        deltas = [
            event.delta for event in events if isinstance(event, ArgumentsDelta) and event.index == end.index
        ]
        assert "".join(deltas) == end.arguments
    assert parser.finish() == []


@CHUNKS
def test_a_cut_list_has_no_call(size: int) -> None:
    parser = TOOLS.parser()
    events = [event for chunk in chunks(LIST[:-1], size) for event in parser.feed(chunk)]
    starts = [event for event in events if isinstance(event, CallStart)]
    errors = parser.finish(truncated=True)
    assert [(error.kind, error.id) for error in errors if isinstance(error, CallError)] == [
        ("incomplete_call", start.id) for start in starts
    ]
    assert "".join(error.raw for error in errors if isinstance(error, CallError)) == LIST[:-1]


@CHUNKS
@pytest.mark.parametrize("stream_arguments", [False, True])
def test_parts(size: int, stream_arguments: bool) -> None:
    """Clients get one call after another."""
    assert heard(read(LIST, size, stream_arguments=stream_arguments)) == CALLS


@CHUNKS
@pytest.mark.parametrize("stream_arguments", [False, True])
def test_a_refused_call_does_not_refuse_the_others(size: int, stream_arguments: bool) -> None:
    choices = [(Choice(names=("stop",)), CALLS[1:]), (Choice(names=("get",)), CALLS[:1])]
    for choice, wanted in [*choices, (Choice(parallel=False), CALLS[:1])]:
        parts = read(LIST, size, choice=choice, stream_arguments=stream_arguments, on_error="text")
        assert heard(parts) == wanted
        assert [part for part in parts if isinstance(part, TextPart)]


def test_a_cut_list_aborts_the_call_that_was_streamed() -> None:
    parts = read(LIST[:-1], 7, truncated=True, stream_arguments=True, on_error="text")
    assert [type(part) for part in parts if isinstance(part, CallOpened | CallAborted)] == [
        CallOpened,
        CallAborted,
    ]
    assert not [part for part in parts if isinstance(part, CallPart | CallFinished)]
