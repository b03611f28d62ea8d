"""The codec in an HTTP client of httpx or httpx2: what `wrap` puts around the one that an SDK has.

The steps of a request are written once, over those of the driver; a sync and an async class perform them.
Retries are sent by the same client with the same headers; an idempotency key gets a number as its suffix.
"""

import datetime
import functools
import time
import weakref
from collections.abc import AsyncIterator, Iterator
from operator import methodcaller
from types import ModuleType
from typing import Any

from wirecall._apis.base import Refused
from wirecall._clients.codec import ByteExchange, Codec, Reply
from wirecall._clients.driver import Driver, Handover, Head, Io
from wirecall._steps import Steps, adrive, drive
from wirecall.errors import both

# Headers about how the old body was transferred.
_OF_THE_OLD_BODY = frozenset({"content-length", "content-encoding", "transfer-encoding"})


class HttpRewriter:
    """What is the same for all requests of one wrapped client.

    Args:
        codec: Rewrites.
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
            joined = both(kind, self._error)
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
        return type(request)(
            request.method,
            request.url,
            headers=headers,
            content=body,
            extensions=dict(request.extensions),
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
            headers=[
                (key, value) for key, value in old.headers.raw if key.decode().lower() not in _OF_THE_OLD_BODY
            ],
            stream=stream,
            request=request,
            extensions=old.extensions,
            history=old.history,
            default_encoding=old.default_encoding,
        )
        new.next_request = old.next_request
        return new

    def whole_response(self, request: Any, old: Any, body: bytes, start: float) -> Any:
        new = self.response(request, old, self.http.ByteStream(body))
        new.elapsed = _since(start)
        return new

    def stream_response(self, request: Any, old: Any, stream: "_Events") -> Any:
        new = self.response(request, old, stream)
        stream.owner = weakref.ref(new)
        return new


_RAW_LENGTHS = frozenset({b"content-length", b"transfer-encoding"})
_IDEMPOTENCY = b"idempotency-key"


def _since(start: float) -> datetime.timedelta:
    return datetime.timedelta(seconds=time.perf_counter() - start)


class _Events:
    """The rewritten bytes of a stream, pulled from the provider's responses.

    Attributes:
        owner: A weak reference to the application's response.
        elapsed: From the request to the end of the stream; None until then.
    """

    owner: Any = None

    def __init__(self, driver: Driver, exchange: ByteExchange, start: float) -> None:
        self._driver = driver
        self._exchange = exchange
        # SDKs that drain a stream iterate it once more, and get the rest.
        self._steps = driver.rest()
        self._start = start
        self.elapsed: datetime.timedelta | None = None

    def _closed(self) -> None:
        self._exchange.finish()
        self.elapsed = _since(self._start)
        response = self.owner() if self.owner is not None else None
        if response is not None:
            response.elapsed = self.elapsed


class SyncEvents(_Events):
    def __iter__(self) -> Iterator[bytes]:
        return self._driver.passed(self._steps)

    def close(self) -> None:
        drive(self._driver.closing())
        self._closed()

    def __del__(self) -> None:
        if self.elapsed is None:
            self.close()


class AsyncEvents(_Events):
    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._driver.apassed(self._steps)

    async def aclose(self) -> None:
        await adrive(self._driver.closing())
        self._closed()


@functools.cache
def _stream_type(kind: type[_Events], base: type) -> Any:
    return type(kind.__name__, (kind, base), {})


class _Host:
    """One request through a wrapped client, which sends it as often as the driver says.

    Args:
        inner: The client that sends.
        request: The application's.
        stream: The application reads the response itself.
        options: For `send` of the client.
    """

    # Of subclasses: what waits for the network.
    read: Any
    close: Any
    read_all: Any
    _read_request: Any
    _pieces: Any
    _stream_types: Any

    def __init__(
        self, inner: Any, rewriter: HttpRewriter, request: Any, stream: bool, options: dict[str, Any]
    ) -> None:
        self._inner = inner
        self._rewriter = rewriter
        self._request = request
        self._stream = stream
        self._options = options
        self._exchange: Any = None

    def steps(self) -> Steps[Any]:
        """Returns the application's response."""
        rewriter, request = self._rewriter, self._request
        body = yield Io(self._read_request, (request,))
        try:
            exchange = yield from rewriter.codec.opening(
                str(request.url), request.headers, body, method=request.method
            )
        except Refused as refused:
            response = rewriter.reply(request, rewriter.codec.refuse(request.url.path, refused))
            return (yield from self._delivered(response))
        except Exception as error:
            raise rewriter.as_sdk_error(error) from error.__cause__
        if exchange is None:
            return (yield Io(self._forward, (request,)))
        if not exchange.reads:
            response = yield Io(self._forward, (rewriter.rewritten(request, exchange.request),))
            response.request = request
            return response
        self._exchange = exchange
        driver, start = Driver(exchange, self), time.perf_counter()
        out = yield from driver.first()
        response = driver.answer
        if out is Handover.STREAM:
            events = _stream_type(*self._stream_types(rewriter.http))(driver, exchange, start)
            response = rewriter.stream_response(request, response, events)
        elif out is not Handover.UNREAD and (self._stream or out is not response.content):
            response = rewriter.whole_response(request, response, out, start)
        return (yield from self._delivered(response))

    def _delivered(self, response: Any) -> Steps[Any]:
        if not self._stream:
            yield Io(self.read_all, (response,))
        return response

    def _forward(self, request: Any) -> Any:
        return self._inner.send(request, stream=self._stream, **self._options)

    def send(self, body: bytes, attempt: int) -> Any:
        request = self._rewriter.rewritten(self._request, body, attempt)
        return self._inner.send(request, stream=True, **self._options)

    def head(self, response: Any) -> Head:
        response.request = self._request
        return Head(response.status_code, self._exchange.is_stream(response.headers.get("content-type", "")))

    def chunks(self, response: Any) -> Any:
        """The decoded bytes; those that are not encoded without the layers that decode."""
        encoded = response.headers.get("content-encoding", "identity").lower() != "identity"
        # Read already, as a host's hook or a transport without a network does.
        decodes = encoded or response.is_stream_consumed
        return self._pieces[decodes](response)

    def fail(self, error: Exception) -> Any:
        raise self._rewriter.as_sdk_error(error) from error.__cause__


class _SyncHost(_Host):
    read: Any = staticmethod(next)
    close: Any = methodcaller("close")
    _read_request = methodcaller("read")
    _pieces = (methodcaller("iter_raw"), methodcaller("iter_bytes"))
    _stream_types = staticmethod(lambda http: (SyncEvents, http.SyncByteStream))

    @staticmethod
    def read_all(response: Any) -> Any:
        try:
            return response.read()
        except BaseException:
            response.close()
            raise


class _AsyncHost(_Host):
    read: Any = staticmethod(anext)
    close: Any = methodcaller("aclose")
    _read_request = methodcaller("aread")
    _pieces = (methodcaller("aiter_raw"), methodcaller("aiter_bytes"))
    _stream_types = staticmethod(lambda http: (AsyncEvents, http.AsyncByteStream))

    @staticmethod
    async def read_all(response: Any) -> Any:
        try:
            return await response.aread()
        except BaseException:
            await response.aclose()
            raise


class SyncTransport:
    """Mixed into a subclass of the host's client class, whose state it shares."""

    __slots__ = ("_wirecall_inner", "_wirecall_rewriter")
    _wirecall_inner: Any
    _wirecall_rewriter: HttpRewriter

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        inner, rewriter = self._wirecall_inner, self._wirecall_rewriter
        if not rewriter.serves(request):
            return inner.send(request, stream=stream, **options)
        return drive(_SyncHost(inner, rewriter, request, stream, options).steps())

    def close(self) -> None:
        self._wirecall_inner.close()

    def __del__(self) -> None:
        # The SDKs' own clients close themselves here; this one is not the owner.
        pass


class AsyncTransport:
    """As `SyncTransport`."""

    __slots__ = ("_wirecall_inner", "_wirecall_rewriter")
    _wirecall_inner: Any
    _wirecall_rewriter: HttpRewriter

    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        inner, rewriter = self._wirecall_inner, self._wirecall_rewriter
        if not rewriter.serves(request):
            return await inner.send(request, stream=stream, **options)
        return await adrive(_AsyncHost(inner, rewriter, request, stream, options).steps())

    async def aclose(self) -> None:
        await self._wirecall_inner.aclose()

    def __del__(self) -> None:
        pass
