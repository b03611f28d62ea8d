"""Clients for load: raw protocols of asyncio, which cost little beside a gateway."""

import asyncio
import json
import re
import socket
import time
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from wirecall_bench.gateway.plan import ARGUMENTS, TOOL, StreamPlan

# So many calls, with results of so many characters, are a request of 351 KB with 40 tools.
HISTORY_CALLS, _RESULT = 200, 1406
# Without tools, there would be nothing to read.
TOOLS, MANY_TOOLS = 2, 40
_EVENT = b"data: {"
# Nanoseconds have more digits than seconds.
_SENT = re.compile(rb'"created":\s*(\d{11,})')
# The buffer of a slow reader's socket, so that soon nothing more is received for it; and of one that hurries.
_SLOW_BUFFER, _BUFFER = 4096, 1 << 20


def request(plan: StreamPlan, *, tools: int = TOOLS, history: int = 0) -> bytes:
    """A request with this many tools, and calls with their results before it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "How is the weather in New York?"}]
    for number in range(history):
        id = f"call_{number}"
        function = {"name": TOOL, "arguments": json.dumps(ARGUMENTS)}
        call = {"id": id, "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": ("Sunny, 21 degrees. " * _RESULT)[:_RESULT]},
        ]
    asked = {"model": plan.model, "stream": True, "messages": messages, "tools": _tools()[:tools]}
    body = json.dumps(asked).encode()
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer none\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


@cache
def _tools() -> list[dict[str, Any]]:
    """The tool that is called, and those of the built-in catalogue."""
    properties = {"city": {"type": "string"}, "days": {"type": "integer"}}
    parameters = {"type": "object", "properties": properties, "required": ["city"]}
    called = {"name": TOOL, "description": "Get the weather forecast.", "parameters": parameters}
    others = json.loads((files("wirecall_bench") / "data" / "catalogue.json").read_text("utf-8"))["tools"]
    functions = [called, *(tool for tool in others if tool["name"] != TOOL)]
    return [{"type": "function", "function": function} for function in functions]


class StreamClient(asyncio.Protocol):
    """One request, and the reading of its answer.

    Args:
        keeps: Whether the answer is kept.
        slow: Bytes per second that are read; None for all that comes.

    Attributes:
        begun: Done with the first chunk, or when the connection has closed without one.
        closed: Done when the connection has closed.
        first: The seconds from the request to the first chunk; None before it.
        chunks: The number of chunks that came.
        delays: Of each chunk of a timed plan, the seconds since the upstream sent it.
    """

    def __init__(self, request: bytes, *, keeps: bool = False, slow: float | None = None) -> None:
        self._request = request
        self._keeps = keeps
        self._slow = slow
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.first: float | None = None
        self.chunks = 0
        self.delays: list[float] = []
        self._pause: asyncio.TimerHandle | None = None
        self._head = b""
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._started = time.perf_counter()
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        if self.first is None:
            self._head += data
            if _EVENT in self._head:
                self.first = time.perf_counter() - self._started
                self.begun.set_result(None)
        self.chunks += data.count(_EVENT)
        self.delays += [(now - int(sent)) / 1e9 for sent in _SENT.findall(data)]
        if self._keeps:
            self._received += data
        if self._slow is not None:
            self._transport.pause_reading()
            self._pause = asyncio.get_running_loop().call_later(len(data) / self._slow, self._resume)

    def hurry(self) -> None:
        """Reads all that comes from now on."""
        self._slow = None
        if self._transport.is_closing():
            return
        used: socket.socket = self._transport.get_extra_info("socket")
        used.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        if self._pause is not None:
            self._pause.cancel()
            self._resume()

    def _resume(self) -> None:
        self._pause = None
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        for waits in (self.begun, self.closed):
            if not waits.done():
                waits.set_result(None)

    def abort(self) -> None:
        """Closes the connection, whatever was not read yet."""
        self._transport.abort()

    def answer(self) -> "StreamedAnswer | None":
        """What was received, if `keeps`; None if it is not a whole stream."""
        head, _, rest = bytes(self._received).partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 ") or b"chunked" not in head.lower():
            return None
        pieces, at = [], 0
        while (end := rest.find(b"\r\n", at)) > at:
            size = int(rest[at:end], 16)
            pieces.append(rest[end + 2 : end + 2 + size])
            at = end + size + 4
            if size == 0:
                return _read(b"".join(pieces))
        return None


class StreamedAnswer(NamedTuple):
    """A whole streamed answer.

    Attributes:
        text: Without the whitespace at its end, which a call may drop.
        calls: The names and the arguments.
        is_ended: The last event was `[DONE]`.
    """

    text: str
    calls: tuple[tuple[str, Any], ...]
    finish_reason: str | None
    is_ended: bool


def _read(body: bytes) -> StreamedAnswer:
    text, names, arguments = "", list[str](), list[str]()
    reason, is_ended = None, False
    # Each event is one line; there are comments, too.
    for line in body.splitlines():
        if not line.startswith(b"data: "):
            continue
        is_ended = line == b"data: [DONE]"
        for choice in () if is_ended else json.loads(line[6:]).get("choices", ()):
            delta = choice["delta"]
            text += delta.get("content") or ""
            reason = choice.get("finish_reason") or reason
            for call in delta.get("tool_calls") or ():
                if "name" in call["function"]:
                    names.append(call["function"]["name"])
                    arguments.append("")
                arguments[-1] += call["function"].get("arguments") or ""
    calls = tuple((name, json.loads(given)) for name, given in zip(names, arguments, strict=True))
    return StreamedAnswer(text.rstrip(), calls, reason, is_ended)


def expected_answer(plan: StreamPlan) -> StreamedAnswer:
    """What a client must get of an answer that ends."""
    return StreamedAnswer(plan.text.rstrip(), ((TOOL, ARGUMENTS),), "tool_calls", True)


async def connect(
    port: int, request: bytes, *, keeps: bool = False, slow: float | None = None
) -> StreamClient:
    """Sends a request over a new connection. The arguments are those of `StreamClient`."""
    client, loop = StreamClient(request, keeps=keeps, slow=slow), asyncio.get_running_loop()
    if slow is None:
        await loop.create_connection(lambda: client, "127.0.0.1", port)
        return client
    used = socket.socket()
    used.setblocking(False)
    used.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SLOW_BUFFER)
    await loop.sock_connect(used, ("127.0.0.1", port))
    await loop.create_connection(lambda: client, sock=used)
    return client
