"""The contestants, with one interface: the no-op, the hand-written parser and wirecall."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import wirecall
from wirecall_bench.handwritten.events import CallEnd
from wirecall_bench.handwritten.parser import HandWritten, NoOp, compile_tools, encode, parse
from workloads import Catalogue, Workload, messages

NO_OP, HAND_WRITTEN, WIRECALL = "no-op", "hand-written", "wirecall"


class Parser(Protocol):
    def feed(self, delta: str, /) -> Sequence[Any]: ...
    def finish(self) -> Sequence[Any]: ...


def parser_maker(contestant: str, tools: Sequence[dict[str, Any]]) -> Callable[[], Parser]:
    if contestant == NO_OP:
        return NoOp
    if contestant == HAND_WRITTEN:
        compiled = compile_tools(tools)
        return lambda: HandWritten(compiled)
    return wirecall.Toolset(tools).parser


def feed_all(make: Callable[[], Parser], deltas: Iterable[str]) -> None:
    """One message as a host reads it: a new parser, a feed for each delta, and the end."""
    parser = make()
    feed = parser.feed
    for delta in deltas:
        feed(delta)
    parser.finish()


def whole_parser(contestant: str, tools: Sequence[dict[str, Any]]) -> Callable[[str], Sequence[Any]]:
    """A whole message to its items."""
    if contestant == HAND_WRITTEN:
        compiled = compile_tools(tools)
        return lambda text: parse(compiled, text)
    toolset = wirecall.Toolset(tools)
    return lambda text: toolset.parse(text).items


def read_calls(items: Iterable[Any]) -> int:
    """Touch what a host needs of every call."""
    size = 0
    for item in items:
        if item.type == "call_end":
            size += len(item.arguments)
    return size


def encoder(contestant: str, tools: Sequence[dict[str, Any]]) -> Callable[[str, dict[str, Any]], str]:
    if contestant == HAND_WRITTEN:
        compiled = compile_tools(tools)
        return lambda name, arguments: encode(compiled, name, arguments)
    return wirecall.Toolset(tools).encode


# --- what is measured must first be right ---


class WrongResultError(Exception):
    """A contestant that reads or writes something else than it should; its times would mean nothing."""


def check_feed(contestant: str, work: Workload, size: int | None) -> None:
    """Calls as expected, no errors; joined deltas are the arguments; texts and calls tile the message."""
    parser = parser_maker(contestant, work.tools)()
    events: list[Any] = []
    for delta in [work.text] if size is None else work.deltas(size):
        events.extend(parser.feed(delta))
    events.extend(parser.finish())
    where = f"{contestant}, {work.title}, in deltas of {size or 'any size'}"

    errors = [event for event in events if event.type == "call_error"]
    if errors:
        raise WrongResultError(f"{where}: {errors[0].kind}: {errors[0].message}")
    ends = [event for event in events if event.type == "call_end"]
    if [(end.name, json.loads(end.arguments)) for end in ends] != list(work.calls):
        raise WrongResultError(f"{where}: not the calls that were written")

    joined: dict[int, list[str]] = {end.index: [] for end in ends}
    texts = []
    for event in events:
        if event.type == "arguments_delta":
            joined[event.index].append(event.delta)
        elif event.type == "text":
            texts.append(event.text)
    if any("".join(joined[end.index]) != end.arguments for end in ends):
        raise WrongResultError(f"{where}: joined deltas are not the arguments")

    outside, at = [], 0
    for end in ends:
        outside.append(work.text[at : end.start])
        at = end.end
    outside.append(work.text[at:])
    if "".join(outside) != "".join(texts):
        raise WrongResultError(f"{where}: text is lost or invented")


def check_whole(contestant: str, work: Workload) -> None:
    items = whole_parser(contestant, work.tools)(work.text)
    calls = [(item.name, json.loads(item.arguments)) for item in items if item.type == "call_end"]
    if calls != list(work.calls):
        raise WrongResultError(f"{contestant}, {work.title}: not the calls that were written")


def check_many(threads: int) -> None:
    works = messages()
    parsed = wirecall.Toolset(works[0].tools).parse_many([work.text for work in works], threads=threads)
    for work, message in zip(works, parsed, strict=True):
        calls = [(item.name, json.loads(item.arguments)) for item in message.items if item.type == "call_end"]
        if calls != list(work.calls):
            raise WrongResultError(f"parse_many, {work.title}: not the calls that were written")


def check_encode(contestant: str, catalogue: Catalogue) -> None:
    """What is written reads back as the arguments, and every contestant writes the same."""
    compiled = compile_tools(catalogue.tools)
    write = encoder(contestant, catalogue.tools)
    for name, arguments in catalogue.calls:
        text = write(name, arguments)
        items = parse(compiled, text)
        if read := [(e.name, json.loads(e.arguments)) for e in items if isinstance(e, CallEnd)]:
            if read != [(name, arguments)]:
                raise WrongResultError(f"{contestant}: {text} reads as {read}")
        else:
            raise WrongResultError(f"{contestant}: {text} does not read as a call")
        if text != (expected := encode(compiled, name, arguments)):
            raise WrongResultError(f"{contestant} writes {text}, not {expected}")
