"""Requests to upstreams: one HTTP client for all, and the source of the driver's answers."""

import asyncio
import io
import zlib
from collections.abc import AsyncIterator, Mapping

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from multidict import CIMultiDict
from yarl import URL

from wirecall._clients.byte_exchange import ByteExchange
from wirecall._clients.driver import Head
from wirecall._gateway.errors import UpstreamError
from wirecall._gateway.limits import Limits

# Servers built on uvicorn, such as vLLM, close idle connections after 5 seconds; a request on one that is
# just being closed would be lost.
_IDLE_SECONDS = 4.0
# Of a compressed answer, so much is inflated at a time.
_INFLATED_BYTES = 64 * 1024
_PIECES_FROM_BYTES = 512 * 1024


class Client:
    """The HTTP client: no proxies of the environment, no cookies, no redirects. Make it in the event loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        timeout = ClientTimeout(
            total=None, sock_connect=limits.connect_seconds, sock_read=limits.silence_seconds
        )
        self._session = ClientSession(
            timeout=timeout,
            connector=TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
            cookie_jar=DummyCookieJar(),
            skip_auto_headers=("user-agent", "accept", "content-type"),
            # See `pieces`.
            auto_decompress=False,
            trust_env=False,
        )

    async def close(self) -> None:
        await self._session.close()

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> ClientResponse:
        """Sends a request; returns its answer, which is not read yet.

        Raises:
            UpstreamError: The answer is a redirect, or none that can be passed on.
            aiohttp.ClientError, TimeoutError: There is none.
        """
        # The client's own limit begins when the body is sent, which a server can prevent by not reading it.
        async with asyncio.timeout(self._limits.silence_seconds):
            # A large body is written piece by piece.
            data = io.BytesIO(body) if body is not None and len(body) > _PIECES_FROM_BYTES else body
            answer = await self._session.request(
                method, URL(url, encoded=True), headers=headers, data=data, allow_redirects=False
            )
        if answer.status < 200 or 300 <= answer.status < 400:
            answer.close()
            what = "a redirect, which is not followed" if answer.status >= 300 else "no answer"
            raise UpstreamError(f"the upstream answered with {what} ({answer.status})")
        return answer

    async def read(self, answer: ClientResponse) -> bytes:
        """A whole body.

        Raises:
            UpstreamError: It is longer than the limit.
        """
        read, size = [], 0
        async for piece in pieces(answer):
            size += len(piece)
            if size > self._limits.answer_bytes:
                answer.close()
                raise UpstreamError(f"the upstream's answer is longer than {self._limits.answer_bytes} bytes")
            read.append(piece)
        return b"".join(read)


def pieces(answer: ClientResponse) -> AsyncIterator[bytes]:
    """The body as it comes. If it is compressed, although that was not asked for, it is inflated in small
    pieces: a few bytes may be a gigabyte.

    Raises:
        UpstreamError: It is compressed in another way than by gzip or deflate, or is not whole.
    """
    coding = answer.headers.get("content-encoding", "identity").strip().lower()
    if coding in ("identity", ""):
        return aiter(answer.content.iter_any())
    return _inflated(answer, coding)


async def _inflated(answer: ClientResponse, coding: str) -> AsyncIterator[bytes]:
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise UpstreamError("the upstream's answer is compressed in a way that it was not asked for")
    # gzip or zlib, by its first bytes.
    inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    try:
        async for piece in answer.content.iter_any():
            while piece and not inflater.eof:
                if inflated := inflater.decompress(piece, _INFLATED_BYTES):
                    yield inflated
                piece = inflater.unconsumed_tail
    except zlib.error:
        raise UpstreamError("the upstream's answer cannot be decompressed") from None
    if not inflater.eof:
        raise UpstreamError("the upstream's answer broke off")


class UpstreamSource:
    """One request of a client, sent as often as the driver says.

    Until it streams, its errors are answers; afterwards, they are events.
    """

    def __init__(self, client: Client, exchange: ByteExchange, url: str, headers: CIMultiDict[str]) -> None:
        self._client = client
        self._exchange = exchange
        self._url = url
        self._headers = headers
        self._streams = False

    async def send(self, request: bytes, attempt: int) -> ClientResponse:
        headers = self._headers
        if attempt and (key := headers.get("idempotency-key")) is not None:
            # With the first request's key, a server would repeat its first answer.
            headers = headers.copy()
            headers["idempotency-key"] = f"{key}-{attempt + 1}"
        return await self._client.send("POST", self._url, headers, request)

    def head(self, answer: ClientResponse) -> Head:
        if answer.status < 300 and answer.content_type == "text/html":
            raise UpstreamError("the upstream's answer is a web page: is its URL right, with /v1 at its end?")
        streams = answer.status < 300 and self._exchange.is_stream(answer.headers.get("content-type", ""))
        self._streams = self._streams or streams
        return Head(answer.status, streams)

    async def read_all(self, answer: ClientResponse) -> bytes:
        return await self._client.read(answer)

    def chunks(self, answer: ClientResponse) -> AsyncIterator[bytes]:
        return pieces(answer)

    async def close(self, answer: ClientResponse) -> None:
        answer.release()

    def fail(self, error: Exception) -> bytes:
        if not self._streams:
            raise error
        return self._exchange.error_event(error)
