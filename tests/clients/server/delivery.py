"""From events to the bytes of each HTTP chunk: lines, comments, compression, cuts and faults."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .answers import Delivery, Json, compact

HALF_CHARACTER = "…".encode()[:2]


@dataclass(frozen=True)
class Event:
    """A server-sent event. `name` is None where the API has `data` lines only."""

    name: str | None
    data: Json | str

    def encode(self, line_end: str) -> bytes:
        data = self.data if isinstance(self.data, str) else compact(self.data)
        lines = [] if self.name is None else [f"event: {self.name}"]
        lines += [f"data: {data}", "", ""]
        return line_end.join(lines).encode()


def stream(events: Iterable[Event], delivery: Delivery, ping: Event | None) -> Iterator[bytes]:
    """One piece of the body for each event, with what is between them."""
    end = delivery.line_end
    for number, event in enumerate(events, 1):
        yield event.encode(end)
        if delivery.garbage is not None and number == delivery.garbage_after:
            yield delivery.garbage
        if delivery.comments and number % delivery.comments == 0:
            yield f": keep-alive {number}{end}{end}".encode()
            if ping is not None:
                yield ping.encode(end)


def chunks(body: Iterable[bytes], delivery: Delivery) -> Iterator[bytes]:
    """The body as it is sent: compressed, cut by bytes, and cut off where the script wants it."""
    if delivery.half_utf8:
        body = _half(body)
    if delivery.gzip:
        body = _gzip(body)
    if delivery.chunk is not None:
        body = _cut(body, delivery.chunk)
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


def _cut(body: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Chunks of exactly this size, whatever the pieces were."""
    rest = b""
    for piece in body:
        rest += piece
        whole = len(rest) - len(rest) % size
        for start in range(0, whole, size):
            yield rest[start : start + size]
        rest = rest[whole:]
    yield rest
