"""Requests to upstreams: one HTTP client for all, and the source of the driver's answers."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from multidict import CIMultiDict
from yarl import URL

from wirecall._clients.codec import ByteExchange
from wirecall._clients.driver import Head
from wirecall._gateway.limits import Limits
from wirecall._gateway.refusals import UpstreamError

# Servers built on uvicorn, such as vLLM, close idle connections after 5 seconds; a request on one that is
# just being closed would be lost.
_IDLE_SECONDS = 4.0


class Client:
    """The HTTP client: no proxies of the environment, no cookies, no redirects. Open it in the event loop."""

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
            trust_env=False,
        )

    async def close(self) -> None:
        await self._session.close()

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: Any) -> ClientResponse:
        """Sends a request; returns its answer, which is not read yet.

        Raises:
            UpstreamError: The answer is a redirect.
            aiohttp.ClientError, TimeoutError: There is none.
        """
        answer = await self._session.request(
            method, URL(url, encoded=True), headers=headers, data=body, allow_redirects=False
        )
        if 300 <= answer.status < 400:
            answer.close()
            raise UpstreamError(
                f"the upstream answered with a redirect ({answer.status}), which is not followed"
            )
        return answer

    async def read(self, answer: ClientResponse) -> bytes:
        """A whole body.

        Raises:
            UpstreamError: It is longer than the limit.
        """
        pieces, size = [], 0
        async for piece in answer.content.iter_any():
            size += len(piece)
            if size > self._limits.answer_bytes:
                answer.close()
                raise UpstreamError(f"the upstream's answer is longer than {self._limits.answer_bytes} bytes")
            pieces.append(piece)
        return b"".join(pieces)


class UpstreamSource:
    """One request of a client, sent as often as the driver says.

    Attributes:
        streaming: The client gets a stream, whose head has been sent.
    """

    def __init__(self, client: Client, exchange: ByteExchange, url: str, headers: CIMultiDict[str]) -> None:
        self._client = client
        self._exchange = exchange
        self._url = url
        self._headers = headers
        self.streaming = False

    async def send(self, request: bytes, attempt: int) -> ClientResponse:
        headers = self._headers
        if attempt and (key := headers.get("idempotency-key")) is not None:
            # With the first request's key, a server would repeat its first answer.
            headers = headers.copy()
            headers["idempotency-key"] = f"{key}-{attempt + 1}"
        return await self._client.send("POST", self._url, headers, request)

    def head(self, answer: ClientResponse) -> Head:
        streams = answer.status < 300 and self._exchange.is_stream(answer.headers.get("content-type", ""))
        return Head(answer.status, streams)

    async def read_all(self, answer: ClientResponse) -> bytes:
        return await self._client.read(answer)

    def chunks(self, answer: ClientResponse) -> AsyncIterator[bytes]:
        return aiter(answer.content.iter_any())

    async def close(self, answer: ClientResponse) -> None:
        # What is not read to its end is not worth waiting for.
        answer.release() if answer.content.at_eof() else answer.close()

    def fail(self, error: Exception) -> bytes:
        if not self.streaming:
            raise error
        return self._exchange.error_event(error)
