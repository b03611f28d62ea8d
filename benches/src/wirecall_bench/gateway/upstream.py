"""An upstream for load: streams chat completions at the rates that plans ask for.

    python -m wirecall_bench.gateway.upstream

Prints its port, and ends when its standard input closes. `GET /counts` returns `UpstreamCounts` as JSON.
Streams of one rate send in ten groups, one after the other, and a group at once: servers compute the next
tokens of many streams in one step, too. A stream whose reader is slow waits until it can be written again.
"""

import asyncio
import json
import math
import sys
import time
from dataclasses import asdict, dataclass
from functools import cache

from wirecall_bench.gateway.plan import StreamPlan, call_pieces, event, requested_plan, text_pieces

_BACKLOG = 8192
_GROUPS = 10
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_DONE = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


@dataclass
class UpstreamCounts:
    """What the upstream has done.

    Attributes:
        opened: Streams that were requested.
        live: Those that are being sent.
        done: Those that were sent to their end.
        cut: Those whose connection closed before.
        sent: Chunks.
        paused: How often a stream had to wait for its reader.
    """

    opened: int = 0
    live: int = 0
    done: int = 0
    cut: int = 0
    sent: int = 0
    paused: int = 0


class _Connection(asyncio.Protocol):
    """One connection, which answers one request after the other."""

    def __init__(self, counts: UpstreamCounts) -> None:
        self._counts = counts
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._closes = False
        # The stream that is being sent: its chunks of text, the next chunk, and when that is due, in groups
        # of its rate.
        self._plan: StreamPlan | None = None
        self._texts: tuple[bytes, ...] = ()
        self._at = 0
        self._due = 0
        self._timer: asyncio.TimerHandle | None = None
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._plan is not None:
            self._plan = None
            self._counts.live -= 1
            self._counts.cut += 1

    def pause_writing(self) -> None:
        self._paused = True
        self._counts.paused += 1

    def resume_writing(self) -> None:
        self._paused = False
        if self._plan is not None and self._plan.rate and self._timer is None:
            self._due = self._now(self._plan.rate)
            self._send()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = bytes(self._received).partition(b"\r\n\r\n")
        if not (found and _is_whole(head.lower(), body)):
            return
        self._received.clear()
        self._closes = b"\r\nconnection: close" in head.lower()
        if head.startswith(b"GET /counts "):
            self._reply(b"200 OK", json.dumps(asdict(self._counts)).encode())
        elif (plan := requested_plan(body)) is None:
            self._reply(b"400 Bad Request", b'{"error":{"message":"the model is not a plan"}}')
        else:
            self._begin(plan)

    def _reply(self, status: bytes, body: bytes) -> None:
        head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        self._transport.write(head % (status, len(body)) + body)
        if self._closes:
            self._transport.close()

    # One stream.

    def _begin(self, plan: StreamPlan) -> None:
        self._counts.opened += 1
        self._counts.live += 1
        self._plan, self._texts = plan, _events(plan.size)
        self._at, self._due = 0, self._now(plan.rate)
        self._created = int(time.time())
        self._transport.write(_HEAD)
        self._send()

    def _send(self) -> None:
        """Sends the next chunk."""
        plan, self._timer = self._plan, None
        assert plan is not None
        at, calls = self._at - plan.chunks, _call_events()
        if self._at == 0:
            self._write(_first_event(plan.size))
        elif plan.chunks == 0 or at < 0:
            self._write(self._texts[self._at % len(self._texts)])
        elif at < len(calls):
            self._write(calls[at])
        else:
            self._write(_LAST)
            self._end()
            return
        self._at += 1
        if plan.rate:
            self._due += _GROUPS
            if not self._paused:
                self._timer = self._loop.call_at(self._due / (_GROUPS * plan.rate), self._send)

    def _now(self, rate: float) -> int:
        """The group whose turn comes next."""
        return math.ceil(self._loop.time() * rate * _GROUPS)

    def _write(self, template: bytes) -> None:
        timed = self._plan is not None and self._plan.timed
        said = template % (time.monotonic_ns() if timed else self._created)
        self._counts.sent += 1
        self._transport.write(b"%x\r\n%b\r\n" % (len(said), said))

    def _end(self) -> None:
        self._plan = None
        self._counts.live -= 1
        self._counts.done += 1
        self._transport.write(_DONE)
        if self._closes:
            self._transport.close()


def _is_whole(head: bytes, body: bytes) -> bool:
    """Whether the body of a request has arrived."""
    if b"transfer-encoding: chunked" in head:
        return body.endswith(b"0\r\n\r\n")
    _, found, length = head.partition(b"content-length:")
    return not found or len(body) >= int(length.partition(b"\r\n")[0])


@cache
def _events(size: int) -> tuple[bytes, ...]:
    return tuple(event({"content": piece}) for piece in text_pieces(size))


@cache
def _first_event(size: int) -> bytes:
    return event({"role": "assistant", "content": text_pieces(size)[0]})


@cache
def _call_events() -> tuple[bytes, ...]:
    return tuple(event({"content": piece}) for piece in call_pieces())


_LAST = event({}, "stop")


async def _serve() -> None:
    counts, loop = UpstreamCounts(), asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(counts), "127.0.0.1", 0, backlog=_BACKLOG)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(_serve())
