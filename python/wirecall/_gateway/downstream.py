"""Streamed answers to clients. One that reads nothing for too long loses its connection."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from aiohttp import ClientResponse, web

from wirecall._gateway import headers

_SWEEPS = 4  # how often, in the time that a client may take


class ClientStream:
    """An answer that is written as it comes.

    Attributes:
        since: When the write began that still waits for the client, by `time.monotonic`.
    """

    def __init__(self, request: web.Request, answer: ClientResponse) -> None:
        passed = headers.to_client(answer.headers)
        if answer.content_type == "text/event-stream":
            # Proxies such as nginx would wait for more of it.
            passed["cache-control"] = "no-cache"
            passed["x-accel-buffering"] = "no"
        self.response = web.StreamResponse(status=answer.status, headers=passed)
        self.since: float | None = None
        self._request = request

    async def write(self, piece: bytes) -> None:
        self.since = time.monotonic()
        await self.response.write(piece)
        self.since = None

    @property
    def is_gone(self) -> bool:
        """Whether the client has closed the connection."""
        transport = self._request.transport
        return transport is None or transport.is_closing()

    def abort(self) -> None:
        if self._request.transport is not None:
            self._request.transport.abort()

    async def end(self) -> web.StreamResponse:
        if not self.is_gone:
            await self.response.write_eof()
        return self.response


class Downstream:
    """All streams to clients. Make it in the event loop.

    Args:
        stall_seconds: How long a client may read nothing.
    """

    def __init__(self, stall_seconds: float) -> None:
        self._stall_seconds = stall_seconds
        self._streams: set[ClientStream] = set()
        self._sweeper = asyncio.create_task(self._sweep())

    async def close(self) -> None:
        self._sweeper.cancel()
        with suppress(asyncio.CancelledError):
            await self._sweeper

    @asynccontextmanager
    async def begin(self, request: web.Request, answer: ClientResponse) -> AsyncIterator[ClientStream]:
        """Sends the head of an answer."""
        stream = ClientStream(request, answer)
        self._streams.add(stream)
        try:
            await stream.response.prepare(request)
            yield stream
        finally:
            self._streams.discard(stream)

    async def _sweep(self) -> None:
        # A limit around each write would cost more than the write.
        while True:
            await asyncio.sleep(self._stall_seconds / _SWEEPS)
            limit = time.monotonic() - self._stall_seconds
            for stream in self._streams:
                if stream.since is not None and stream.since < limit:
                    stream.abort()
