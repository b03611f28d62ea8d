"""The codec in an HTTP client of httpx or httpx2: what `wrap` puts around the one that an SDK has.

All I/O of the package is here, once sync and once async. An answer is asked for again by the client that
asked first, with the same headers; an idempotency key gets a number behind it.
"""

import datetime
import functools
import time
import weakref
from collections.abc import AsyncIterator, Iterator
from types import ModuleType
from typing import Any

from wirecall._apis.base import UnsupportedRequestError
from wirecall._clients.codec import ByteExchange, Codec, Reply
from wirecall.errors import both

# They say how the bytes travelled, which are others now.
_OF_THE_OLD_BODY = frozenset({"content-length", "content-encoding", "transfer-encoding"})
_SHOWN_OF_AN_ERROR = 500


class Layer:
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

    def open(self, request: Any, body: bytes) -> ByteExchange | Reply | None:
        try:
            return self.codec.open(str(request.url), request.headers, body, method=request.method)
        except Exception as error:
            return self._not_opened(request, error)

    async def aopen(self, request: Any, body: bytes) -> ByteExchange | Reply | None:
        try:
            return await self.codec.aopen(str(request.url), request.headers, body, method=request.method)
        except Exception as error:
            return self._not_opened(request, error)

    def _not_opened(self, request: Any, error: Exception) -> Reply:
        if isinstance(error, UnsupportedRequestError):
            return self.codec.refuse(request.url.path, error)
        raise self.as_sdk_error(error) from error.__cause__

    def whole(self, exchange: ByteExchange, body: bytes) -> bytes | None:
        try:
            return exchange.whole(body)
        except Exception as error:
            raise self.as_sdk_error(error) from error.__cause__

    def as_sdk_error(self, error: Exception) -> Exception:
        """The same exception, of the SDK's class, too: whoever catches either, catches it."""
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

    def rewritten(self, request: Any, exchange: ByteExchange) -> Any:
        headers = [(key, value) for key, value in request.headers.raw if key.lower() not in _RAW_LENGTHS]
        if exchange.attempt:
            # Another request than the first: under its key a server would answer with the first answer.
            again = b"-%d" % (exchange.attempt + 1)
            headers = [(key, value + again * (key.lower() == _IDEMPOTENCY)) for key, value in headers]
        return type(request)(
            request.method,
            request.url,
            headers=headers,
            content=exchange.request,
            extensions=dict(request.extensions),
        )

    def refusal(self, request: Any, reply: Reply) -> Any:
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


def is_events(response: Any, exchange: ByteExchange) -> bool:
    """SDKs read what they asked for as events, whatever a server calls it, and so must we."""
    content_type: str = response.headers.get("content-type", "")
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "text/event-stream" or (exchange.streams and not kind.endswith("json"))


class SyncAttachment:
    """Mixed into a subclass of the host's client class, whose state it shares."""

    __slots__ = ("_wirecall_inner", "_wirecall_layer")
    _wirecall_inner: Any
    _wirecall_layer: Layer

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        inner, layer = self._wirecall_inner, self._wirecall_layer
        exchange = layer.open(request, request.read()) if layer.serves(request) else None
        if exchange is None:
            return inner.send(request, stream=stream, **options)
        if isinstance(exchange, Reply):
            return _read(layer.refusal(request, exchange), stream)
        if not exchange.reads:
            response = inner.send(layer.rewritten(request, exchange), stream=stream, **options)
            response.request = request
            return response
        try:
            return self._exchanged(request, exchange, stream, options)
        except BaseException as error:
            exchange.finish(error)
            raise

    def _exchanged(self, request: Any, exchange: ByteExchange, stream: bool, options: dict[str, Any]) -> Any:
        inner, layer = self._wirecall_inner, self._wirecall_layer
        start = time.perf_counter()
        while True:
            response = inner.send(layer.rewritten(request, exchange), stream=True, **options)
            response.request = request
            if not response.is_success:
                if not exchange.reads_error(response.status_code):
                    return _read(response, stream)
                body = (_read(response, stream=False)).content
                if exchange.answers(response.status_code, body):
                    continue
                exchange.finish()
                return layer.whole_response(request, response, body, start) if stream else response
            exchange.answers(response.status_code)
            if is_events(response, exchange):
                send = functools.partial(inner.send, stream=True, **options)
                events = _stream_type(SyncEvents, layer.http.SyncByteStream)(
                    layer, exchange, request, response, send, start
                )
                return _read(layer.stream_response(request, response, events), stream)
            given = _read(response, stream=False).content
            body = layer.whole(exchange, given)
            if body is given and not stream:
                return response
            if body is not None:
                return _read(layer.whole_response(request, response, body, start), stream)

    def close(self) -> None:
        self._wirecall_inner.close()

    def __del__(self) -> None:
        # The SDKs' own clients close themselves here; this one is not the owner.
        pass


def _read(response: Any, stream: bool) -> Any:
    if not stream:
        try:
            response.read()
        except BaseException:
            response.close()
            raise
    return response


class AsyncAttachment:
    """As `SyncAttachment`."""

    __slots__ = ("_wirecall_inner", "_wirecall_layer")
    _wirecall_inner: Any
    _wirecall_layer: Layer

    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        inner, layer = self._wirecall_inner, self._wirecall_layer
        exchange = await layer.aopen(request, await request.aread()) if layer.serves(request) else None
        if exchange is None:
            return await inner.send(request, stream=stream, **options)
        if isinstance(exchange, Reply):
            return await _aread(layer.refusal(request, exchange), stream)
        if not exchange.reads:
            response = await inner.send(layer.rewritten(request, exchange), stream=stream, **options)
            response.request = request
            return response
        try:
            return await self._exchanged(request, exchange, stream, options)
        except BaseException as error:
            exchange.finish(error)
            raise

    async def _exchanged(
        self, request: Any, exchange: ByteExchange, stream: bool, options: dict[str, Any]
    ) -> Any:
        inner, layer = self._wirecall_inner, self._wirecall_layer
        start = time.perf_counter()
        while True:
            response = await inner.send(layer.rewritten(request, exchange), stream=True, **options)
            response.request = request
            if not response.is_success:
                if not exchange.reads_error(response.status_code):
                    return await _aread(response, stream)
                body = (await _aread(response, stream=False)).content
                if exchange.answers(response.status_code, body):
                    continue
                exchange.finish()
                return layer.whole_response(request, response, body, start) if stream else response
            exchange.answers(response.status_code)
            if is_events(response, exchange):
                send = functools.partial(inner.send, stream=True, **options)
                events = _stream_type(AsyncEvents, layer.http.AsyncByteStream)(
                    layer, exchange, request, response, send, start
                )
                return await _aread(layer.stream_response(request, response, events), stream)
            given = (await _aread(response, stream=False)).content
            body = layer.whole(exchange, given)
            if body is given and not stream:
                return response
            if body is not None:
                return await _aread(layer.whole_response(request, response, body, start), stream)

    async def aclose(self) -> None:
        await self._wirecall_inner.aclose()

    def __del__(self) -> None:
        pass


async def _aread(response: Any, stream: bool) -> Any:
    if not stream:
        try:
            await response.aread()
        except BaseException:
            await response.aclose()
            raise
    return response


class _Events:
    """The rewritten bytes of a stream, pulled from the provider's response."""

    owner: Any = None

    def __init__(
        self, layer: Layer, exchange: ByteExchange, request: Any, response: Any, send: Any, start: float
    ) -> None:
        self._layer = layer
        self._exchange = exchange
        self._request = request
        self._response = response
        self._send = send
        self._start = start
        # Of the current response. SDKs that drain a stream iterate it once more, and get the rest.
        self._chunks: Any = None
        self.elapsed: datetime.timedelta | None = None

    def _next_request(self) -> Any:
        return self._layer.rewritten(self._request, self._exchange)

    def _goes_on(self, dropped: Exception | None) -> bool:
        """Whether the model is asked again, now that an answer has ended.

        Args:
            dropped: What broke it off.

        Raises:
            Exception: `dropped`, or the exchange's failure.
        """
        if self._exchange.should_retry:
            return True
        if dropped is not None:
            raise dropped
        if self._exchange.failure is not None:
            raise self._layer.as_sdk_error(self._exchange.failure)
        return False

    def _can_be_read(self) -> bool:
        """Whether the stream can go on with the answer to the second question."""
        return bool(self._response.is_success and is_events(self._response, self._exchange))

    def _failed(self, body: bytes) -> bytes:
        """What ends the stream where that answer is none."""
        shown = body[:_SHOWN_OF_AN_ERROR].decode(errors="replace")
        status = self._response.status_code
        return self._exchange.fail(f"The request was retried, and the server answered {status}: {shown}")

    def _closed(self) -> None:
        self._exchange.finish()
        self.elapsed = _since(self._start)
        response = self.owner() if self.owner is not None else None
        if response is not None:
            response.elapsed = self.elapsed


def _pieces(response: Any) -> Iterator[bytes]:
    """The decoded bytes; those that are not encoded without the layers that decode."""
    pieces: Iterator[bytes] = response.iter_bytes() if _needs_layers(response) else response.iter_raw()
    return pieces


def _apieces(response: Any) -> AsyncIterator[bytes]:
    pieces: AsyncIterator[bytes] = response.aiter_bytes() if _needs_layers(response) else response.aiter_raw()
    return pieces


def _needs_layers(response: Any) -> bool:
    """Encoded, or read already, as a host's hook or a transport without a network does."""
    encoded = response.headers.get("content-encoding", "identity").lower() != "identity"
    return bool(encoded or response.is_stream_consumed)


class SyncEvents(_Events):
    def __iter__(self) -> Iterator[bytes]:
        exchange = self._exchange
        try:
            while True:
                dropped: Exception | None = None
                chunks = self._chunks = self._chunks or _pieces(self._response)
                while not exchange.ended:
                    try:
                        chunk = next(chunks)
                    except StopIteration:
                        break
                    except Exception as error:
                        dropped = error
                        break
                    if out := exchange.chunk(chunk):
                        yield out
                if out := exchange.end() if dropped is None else exchange.abort():
                    yield out
                if not self._goes_on(dropped):
                    return
                self._response.close()
                self._response, self._chunks = self._send(self._next_request()), None
                exchange.answers(self._response.status_code)
                if not self._can_be_read():
                    yield self._failed(self._response.read())
                    return
        except BaseException as error:
            exchange.finish(error)
            raise
        finally:
            self.close()

    def close(self) -> None:
        self._response.close()
        self._closed()

    def __del__(self) -> None:
        if self.elapsed is None:
            self.close()


class AsyncEvents(_Events):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        exchange = self._exchange
        try:
            while True:
                dropped: Exception | None = None
                chunks = self._chunks = self._chunks or _apieces(self._response)
                while not exchange.ended:
                    try:
                        chunk = await anext(chunks)
                    except StopAsyncIteration:
                        break
                    except Exception as error:
                        dropped = error
                        break
                    if out := exchange.chunk(chunk):
                        yield out
                if out := exchange.end() if dropped is None else exchange.abort():
                    yield out
                if not self._goes_on(dropped):
                    return
                await self._response.aclose()
                self._response, self._chunks = await self._send(self._next_request()), None
                exchange.answers(self._response.status_code)
                if not self._can_be_read():
                    yield self._failed(await self._response.aread())
                    return
        except BaseException as error:
            exchange.finish(error)
            raise
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        await self._response.aclose()
        self._closed()


@functools.cache
def _stream_type(kind: type[_Events], base: type) -> Any:
    return type(kind.__name__, (kind, base), {})
