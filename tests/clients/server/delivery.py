"""From events to the bytes of each HTTP chunk: lines, comments, compression, cuts and faults."""

import json
import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, cycle

from .answers import Delivery, EventFormat, Json, compact

HALF_CHARACTER = "…".encode()[:2]
BOM = "\ufeff".encode()
# The ends of an event's lines, and of its blank line. After "\r", "\n" would be a part of the same line end.
LINE_ENDS: dict[str, Sequence[tuple[str, str]]] = {
    "\n": [("\n", "\n")],
    "\r\n": [("\r\n", "\r\n")],
    "\r": [("\r", "\r")],
    "mixed": [("\n", "\n"), ("\r\n", "\n"), ("\r", "\r"), ("\n", "\r\n"), ("\r\n", "\r\n"), ("\r", "\r\n")],
}


@dataclass(frozen=True)
class Event:
    """A server-sent event. `name` is None where the API has `data` lines only."""

    name: str | None
    data: Json | str


# Events that say nothing, by the values of `EventFormat.between`.
BETWEEN = {
    "ping": Event("ping", {"type": "ping"}),
    "empty data": Event("message", ""),
    "unknown type": Event("future", {"type": "future", "object": "future"}),
}


def stream(events: Iterable[Event], delivery: Delivery, ping: Event | None) -> Iterator[bytes]:
    """One piece of the body for each event, with what is between them."""
    form, ends = delivery.format, cycle(LINE_ENDS[delivery.format.line_end])
    if form.bom:
        yield BOM
    for number, (event, is_last) in enumerate(_marked(events), 1):
        if is_last and form.last == "missing":
            return
        yield encode(event, form, number, next(ends), blank_line=not is_last or form.last == "whole")
        if is_last and form.last != "whole":
            return
        if number % 3 == 0 and form.between != "none":
            yield encode(BETWEEN[form.between], form, number, next(ends))
        if delivery.garbage is not None and number == delivery.garbage_after:
            yield delivery.garbage
        if delivery.comments and number % delivery.comments == 0:
            end, blank = next(ends)
            yield f": keep-alive {number}{end}{blank}".encode()
            if ping is not None:
                yield encode(ping, form, number, next(ends))


def encode(
    event: Event,
    form: EventFormat,
    number: int = 1,
    ends: tuple[str, str] = ("\n", "\n"),
    *,
    blank_line: bool = True,
) -> bytes:
    """The event as it is sent, with the comment before it.

    Args:
        number: Of the event in its stream, which is its id.
        ends: Of its lines, and of its blank line.
    """
    end, blank = ends
    name = {"api": event.name, "none": None, "message": "message"}[form.names]
    fields: list[list[tuple[str, str]]] = []
    if form.ids == "empty" or form.ids == "each" or (form.ids == "some" and number % 3 == 0):
        fields.append([("id", "" if form.ids == "empty" else str(number))])
    if name is not None:
        fields.append([("event", name)])
    if form.retry:
        fields.append([("retry", "3000")])
    if form.unknown:
        fields.append([("unknown", "field")])
    fields.append([("data", line) for line in _data(event, form)])
    if form.comment == "inside":
        fields.append([("", "inside")])
    place = form.rotation % len(fields)
    colon = ": " if form.space else ":"
    lines = [f"{key}{colon}{value}{end}" for key, value in chain(*fields[place:], *fields[:place])]
    if form.comment in ("before", "block"):
        lines.insert(0, f":{form.comment}{end}{blank if form.comment == 'block' else ''}")
    return "".join([*lines, blank * (1 + form.blank_lines) if blank_line else ""]).encode()


def _data(event: Event, form: EventFormat) -> list[str]:
    if isinstance(event.data, str):
        return [event.data]
    if form.data_lines:
        return json.dumps(event.data, ensure_ascii=False, indent=0).split("\n")
    return [compact(event.data)]


def _marked(events: Iterable[Event]) -> Iterator[tuple[Event, bool]]:
    """Each event, and whether it is the last one."""
    before = None
    for event in events:
        if before is not None:
            yield before, False
        before = event
    if before is not None:
        yield before, True


def chunks(body: Iterable[bytes], delivery: Delivery) -> Iterator[bytes]:
    """The body as it is sent: compressed, in chunks, and cut off where the script wants it."""
    if delivery.half_utf8:
        body = _half(body)
    if delivery.gzip:
        body = _gzip(body)
    if delivery.chunk is not None:
        body = _pieces(body, delivery.chunk, random.Random(delivery.seed))
    if delivery.cut_after is not None:
        body = _start(body, delivery.cut_after)
    return (chunk for chunk in body if chunk)


def _half(body: Iterable[bytes]) -> Iterator[bytes]:
    """Ends after the first byte of the last character that has several; with none, one is begun."""
    whole = b"".join(body)
    last = max((place for place, byte in enumerate(whole) if byte >= 0xC0), default=None)
    yield b"%sdata: %s" % (whole, HALF_CHARACTER) if last is None else whole[: last + 1]


def _gzip(body: Iterable[bytes]) -> Iterator[bytes]:
    """Flushed after every piece, since a stream is read while it is written."""
    compressor = zlib.compressobj(wbits=31)
    for piece in body:
        yield compressor.compress(piece) + compressor.flush(zlib.Z_SYNC_FLUSH)
    yield compressor.flush()


def _pieces(body: Iterable[bytes], size: int | range, random: random.Random) -> Iterator[bytes]:
    """Chunks of exactly this size, or of random sizes, whatever the pieces were."""
    rest, start = bytearray(), 0
    wanted = size if isinstance(size, int) else random.choice(size)
    for piece in body:
        rest += piece
        while len(rest) - start >= wanted:
            yield bytes(rest[start : start + wanted])
            start += wanted
            wanted = size if isinstance(size, int) else random.choice(size)
        del rest[:start]
        start = 0
    yield bytes(rest)


def _start(body: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The first bytes; it does not ask for more than these."""
    for chunk in body:
        yield chunk[:size]
        size -= len(chunk)
        if size <= 0:
            return
