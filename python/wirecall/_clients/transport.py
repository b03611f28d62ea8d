"""The codec in an HTTP client of httpx or httpx2: what `wrap` puts around the one that an SDK has.

The way of a request is written once, over the driver; sync and async clients differ in what they wait for.
Retries are sent by the same client with the same headers; an idempotency key gets a number as its suffix.
"""

import datetime
import functools
import time
import weakref
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from wirecall._apis.base import UnsupportedRequestError
from wirecall._clients.byte_exchange import ByteExchange
from wirecall._clients.codec import Codec, Reply
from wirecall._clients.driver import Driver, Handover, Head
from wirecall._sync import run
from wirecall.errors import combined

# Headers about how the old body was transferred.
_OF_THE_OLD_BODY = frozenset({b"content-length", b"content-encoding", b"transfer-encoding"})


class HttpRewriter:
    """What is the same for all requests of one wrapped client.

    Args:
        http: The module httpx or httpx2.
        error: The SDK's base exception: what is derived from it reaches the caller unchanged, and is not
            retried.
    """

    def __init__(self, codec: Codec, http: ModuleType, error: type[Exception] | None = None) -> None:
        self.codec = codec
        self.http = http
        self._error: Any = error

    def serves(self, request: Any) -> bool:
        return self.codec.serves(request.url.path, request.method)

    def as_sdk_error(self, error: Exception) -> Exception:
        """The same exception, which is also one of the SDK: `except` of either class catches it."""
        if self._error is None or isinstance(error, self._error):
            return error
        try:
            kind: Any = type(error)
            joined = combined(kind, self._error)
            twin: Exception = joined.__new__(joined, *error.args)
        except TypeError:
            return error
        twin.__dict__.update(error.__dict__)
        return twin.with_traceback(error.__traceback__)

    def rewritten(self, request: Any, body: bytes, attempt: int = 0) -> Any:
        """The request with another body."""
        headers = [(key, value) for key, value in request.headers.raw if key.lower() not in _RAW_LENGTHS]
        if attempt:
            # With the first request's key, a server would repeat its first answer.
            suffix = b"-%d" % (attempt + 1)
            headers = [(key, value + suffix * (key.lower() == _IDEMPOTENCY)) for key, value in headers]
        extensions = dict(request.extensions)
        return type(request)(
            request.method, request.url, headers=headers, content=body, extensions=extensions
        )

    def reply(self, request: Any, reply: Reply) -> Any:
        """A response of our own."""
        headers = {"content-type": "application/json"}
        stream = self.http.ByteStream(reply.body)
        response = self.http.Response(reply.status, headers=headers, stream=stream, request=request)
        response.elapsed = datetime.timedelta()
        return response

    def response(self, request: Any, old: Any, stream: Any) -> Any:
        """The provider's response with another body."""
        new = self.http.Response(
            old.status_code,
            headers=[(key, value) for key, value in old.headers.raw if key.lower() not in _OF_THE_OLD_BODY],
            stream=stream,
            request=request,
            extensions=old.extensions,
            history=old.history,
            default_encoding=old.default_encoding,
        )
        new.next_request = old.next_request
        return new


_RAW_LENGTHS = frozenset({b"content-length", b"transfer-encoding"})
_IDEMPOTENCY = b"idempotency-key"


def _since(start: float) -> datetime.timedelta:
    return datetime.timedelta(seconds=time.perf_counter() - start)


class _RewrittenStream:
    """The rewritten bytes of a stream, pulled from the provider's responses."""

    # A weak reference to the application's response.
    owner: Any = None

    def __init__(self, driver: Driver, rest: Any, exchange: ByteExchange, start: float) -> None:
        self._driver = driver
        # SDKs that drain a stream iterate it once more, and get what is left.
        self._rest = rest
        self._exchange = exchange
        self._start = start
        # From the request to the end of the stream; None until then.
        self.elapsed: datetime.timedelta | None = None

    def _closed(self) -> None:
        self._exchange.finish()
        self.elapsed = _since(self._start)
        response = self.owner() if self.owner is not None else None
        if response is not None:
            response.elapsed = self.elapsed


class SyncEvents(_RewrittenStream):
    def __iter__(self) -> Iterator[bytes]:
        # Who stops iterating closes what is left.
        yield from self._rest

    def close(self) -> None:
        run(self._driver.close())
        self._closed()

    def __del__(self) -> None:
        if self.elapsed is None:
            self.close()


class AsyncEvents(_RewrittenStream):
    def __aiter__(self) -> AsyncIterator[bytes]:
        rest: AsyncIterator[bytes] = self._rest
        return rest

    async def aclose(self) -> None:
        await self._driver.close()
        self._closed()


@functools.cache
def _stream_type(http: ModuleType, is_async: bool) -> Any:
    kinds = (AsyncEvents, http.AsyncByteStream) if is_async else (SyncEvents, http.SyncByteStream)
    return type(kinds[0].__name__, kinds, {})


@dataclass(eq=False)
class _HttpSource:
    """One request of the application. The inner client sends it as often as the driver says."""

    _inner: Any
    _rewriter: HttpRewriter
    _request: Any
    # Whether the application reads the response itself.
    _stream: bool
    _options: dict[str, Any]
    is_async: bool
    _exchange: Any = None

    async def respond(self) -> Any:
        """The response for the application."""
        rewriter, request = self._rewriter, self._request
        body = await request.aread() if self.is_async else request.read()
        url, method = str(request.url), request.method
        try:
            exchange = await rewriter.codec.open(
                url, request.headers, body, method=method, is_async=self.is_async
            )
        except UnsupportedRequestError as error:
            return await self._delivered(rewriter.reply(request, rewriter.codec.reply(url, error)))
        except Exception as error:
            raise rewriter.as_sdk_error(error) from error.__cause__
        if exchange is None:
            return await self._sent(request, stream=self._stream)
        if not exchange.reads:
            response = await self._sent(rewriter.rewritten(request, exchange.request), stream=self._stream)
            response.request = request
            return response
        self._exchange = exchange
        driver, start = Driver(exchange, self), time.perf_counter()
        out = await driver.first()
        response = driver.answer
        if out is Handover.STREAM:
            rest = driver.arest() if self.is_async else driver.rest()
            events = _stream_type(rewriter.http, self.is_async)(driver, rest, exchange, start)
            response = rewriter.response(request, response, events)
            events.owner = weakref.ref(response)
        elif out is not Handover.UNREAD and (self._stream or out is not response.content):
            response = rewriter.response(request, response, rewriter.http.ByteStream(out))
            response.elapsed = _since(start)
        return await self._delivered(response)

    async def _delivered(self, response: Any) -> Any:
        if not self._stream:
            await self.read_all(response)
        return response

    async def _sent(self, request: Any, *, stream: bool) -> Any:
        sent = self._inner.send(request, stream=stream, **self._options)
        return await sent if self.is_async else sent

    async def send(self, request: bytes, attempt: int) -> Any:
        return await self._sent(self._rewriter.rewritten(self._request, request, attempt), stream=True)

    def head(self, answer: Any) -> Head:
        answer.request = self._request
        streams = self._exchange.is_stream(answer.headers.get("content-type", ""))
        return Head(answer.status_code, answer.is_success and streams)

    async def read_all(self, answer: Any) -> Any:
        try:
            return await answer.aread() if self.is_async else answer.read()
        except BaseException:
            await self.close(answer)
            raise

    def chunks(self, answer: Any) -> Any:
        """The decoded bytes; those that are not encoded without the layers that decode."""
        encoded = answer.headers.get("content-encoding", "identity").lower() != "identity"
        # Read already, as a host's hook or a transport without a network does.
        if encoded or answer.is_stream_consumed:
            return answer.aiter_bytes() if self.is_async else answer.iter_bytes()
        return answer.aiter_raw() if self.is_async else answer.iter_raw()

    async def close(self, answer: Any) -> None:
        await answer.aclose() if self.is_async else answer.close()

    def fail(self, error: Exception) -> Any:
        raise self._rewriter.as_sdk_error(error) from error.__cause__


class Transport:
    """Mixed into a subclass of the host's client class, whose state it shares."""

    __slots__ = ("_wirecall_inner", "_wirecall_rewriter")
    _wirecall_inner: Any
    _wirecall_rewriter: HttpRewriter

    def __del__(self) -> None:
        # The SDKs' own clients close themselves here; this one is not the owner.
        pass


class SyncTransport(Transport):
    __slots__ = ()

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        inner, rewriter = self._wirecall_inner, self._wirecall_rewriter
        if not rewriter.serves(request):
            return inner.send(request, stream=stream, **options)
        source = _HttpSource(inner, rewriter, request, stream, options, is_async=False)
        return run(source.respond())

    def close(self) -> None:
        self._wirecall_inner.close()


class AsyncTransport(Transport):
    __slots__ = ()

    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        inner, rewriter = self._wirecall_inner, self._wirecall_rewriter
        if not rewriter.serves(request):
            return await inner.send(request, stream=stream, **options)
        source = _HttpSource(inner, rewriter, request, stream, options, is_async=True)
        return await source.respond()

    async def aclose(self) -> None:
        await self._wirecall_inner.aclose()
