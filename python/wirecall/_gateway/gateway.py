"""The way of a request through the gateway: checked, routed, rewritten, sent, and its answer read."""

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from aiohttp import ClientError, ClientResponse, web

from wirecall._apis.base import Api
from wirecall._apis.registry import apis
from wirecall._clients import sse
from wirecall._clients.codec import ByteExchange
from wirecall._clients.driver import Driver, Handover
from wirecall._gateway import guard, headers
from wirecall._gateway.items import ItemListener, ItemMemory
from wirecall._gateway.limits import Limits
from wirecall._gateway.metrics import Metrics
from wirecall._gateway.refusals import Refused, UpstreamError, error_body
from wirecall._gateway.routes import ModelRoute, Routes
from wirecall._gateway.upstream import Client, UpstreamSource
from wirecall._shown import shown
from wirecall._sync import aside
from wirecall._text.record import Record
from wirecall._text.recorder import Observer

log = logging.getLogger("wirecall.gateway")

# The base URL of clients ends with it; Anthropic's SDKs add it themselves.
PREFIX = "/v1"
_MODELS = "/models"
# A body of this many bytes is parsed in a thread.
_LARGE = 32 * 1024
_UPSTREAM_ERRORS = (ClientError, TimeoutError, UpstreamError)


class Gateway:
    """Handles the requests of clients.

    Args:
        paths: Other paths that are passed on unchanged, such as `/embeddings`.

    Attributes:
        routes: Replaced as a whole when they are read again.
    """

    def __init__(
        self,
        routes: Routes,
        checks: guard.Guard,
        *,
        limits: Limits,
        metrics: Metrics,
        paths: tuple[str, ...] = (),
    ) -> None:
        self.routes = routes
        self._checks = checks
        self._limits = limits
        self._metrics = metrics
        self._paths = paths
        self._items = ItemMemory(limits.remembered_items, limits.remembered_bytes)
        self._apis = {path: api for api in apis().values() for path in api.routes}
        self._running = 0
        self._client: Client | None = None

    async def start(self) -> None:
        self._client = Client(self._limits)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answers one request. What goes wrong is said in the form of the API that the client speaks."""
        path = request.raw_path.partition("?")[0]
        api = self._apis.get(path.removeprefix(PREFIX))
        try:
            self._checks.check(request)
            if self._running >= self._limits.streams:
                raise Refused(503, "busy", "this gateway serves too many requests", {"retry-after": "1"})
            self._running += 1
            try:
                return await self._checked(request, guard.safe_path(request.raw_path))
            finally:
                self._running -= 1
        except Refused as refused:
            self._metrics.refused(refused.reason)
            log.info("refused: %s", ascii_line(f"{request.method} {path}: {refused}"))
            return _error(api, refused.status, str(refused), refused.reason, refused.headers)
        except web.HTTPRequestEntityTooLarge:
            self._metrics.refused("body_size")
            return _error(api, 413, f"the body is longer than {self._limits.body_bytes} bytes", "body_size")
        except _UPSTREAM_ERRORS as error:
            late = isinstance(error, TimeoutError)
            return _error(api, 504 if late else 502, said_of(error), "upstream")
        except Exception as error:
            # Its message may quote the request.
            log.error("a request failed: %s", type(error).__name__, exc_info=log.isEnabledFor(logging.DEBUG))
            return _error(api, 500, "the gateway failed; its log says more", "gateway")

    async def _checked(self, request: web.Request, path: str) -> web.StreamResponse:
        if guard.is_preflight(request):
            return web.Response(status=204)
        tail = path.removeprefix(PREFIX)
        if tail == path:
            raise Refused(404, "path", f"there is no {path}; base URLs of this gateway end with {PREFIX}")
        if request.method == "POST" and tail in self._apis:
            return await self._answer(request, tail, self._apis[tail])
        if (request.method == "GET" and tail == _MODELS) or tail in self._paths:
            return await self._pass(request, tail, self.routes.first, request.content, None)
        raise Refused(404, "path", f"this gateway does not serve {request.method} {path}")

    # Requests of the APIs.

    async def _answer(self, request: web.Request, tail: str, api: Api) -> web.StreamResponse:
        body, given = await self._body(request)
        started = time.perf_counter()
        model = given.get("model")
        route = self.routes.find(model if isinstance(model, str) else "")
        if route is None:
            raise Refused(404, "model", f"no route serves the model {shown(model)}")
        owner = self._items.owner(headers.credential(request.headers))
        sent: Mapping[str, Any] = given
        if api.name == "responses":
            sent = self._items.resolved(owner, given)
            body = body if sent is given else sse.dump(sent)
        if route.native:
            return await self._pass(request, tail, route, body, api)
        passed = self._headers(request, route, api)
        watch = Watch(route.name, self._metrics)
        url = route.upstream.url + tail
        try:
            exchange = await route.codec.open(url, passed, body, is_async=True, given=sent, observer=watch)
        except Exception as error:
            return self._failed(route, tail, error)
        self._metrics.opened(route.name, time.perf_counter() - started)
        if exchange is None or not exchange.reads:
            body = body if exchange is None else exchange.request
            return await self._pass(request, tail, route, body, api)
        listener = None
        if api.name == "responses" and given.get("store") is not False:
            listener = ItemListener(self._items, owner)
        url += _query(request)
        source = UpstreamSource(self._started(), exchange, url, passed)
        with self._metrics.streams.labels(route.name).track_inprogress():
            return await self._driven(request, route, tail, exchange, source, listener, started)

    async def _body(self, request: web.Request) -> tuple[bytes, dict[str, Any]]:
        """The body, and the JSON object in it."""
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            # Before it is read: a few bytes may be a gigabyte.
            raise Refused(415, "compressed", "the body is compressed: send it without content-encoding")
        if (request.content_length or 0) > self._limits.body_bytes:
            raise Refused(413, "body_size", f"the body is longer than {self._limits.body_bytes} bytes")
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                body = await request.read()
        except TimeoutError:
            raise Refused(408, "body_time", "the body of the request did not arrive in time") from None
        given = await aside(sse.load, body) if len(body) > _LARGE else sse.load(body)
        if given is None:
            raise Refused(400, "body", "the body of the request is not a JSON object")
        return body, given

    async def _driven(
        self,
        request: web.Request,
        route: ModelRoute,
        tail: str,
        exchange: ByteExchange,
        source: UpstreamSource,
        listener: ItemListener | None,
        started: float,
    ) -> web.StreamResponse:
        driver = Driver(exchange, source)
        try:
            out = await driver.first()
            answer: ClientResponse = driver.answer
            self._metrics.first_byte(route.name, time.perf_counter() - started)
            if out is Handover.STREAM:
                source.streaming = True
                return await self._stream(request, driver, exchange, listener)
            body = await self._started().read(answer) if out is Handover.UNREAD else out
            if listener is not None and answer.status < 300:
                listener.whole(body)
            return web.Response(status=answer.status, body=body, headers=headers.to_client(answer.headers))
        except _UPSTREAM_ERRORS:
            raise
        except Exception as error:
            return self._failed(route, tail, error)
        finally:
            await driver.close()

    async def _stream(
        self, request: web.Request, driver: Driver, exchange: ByteExchange, listener: ItemListener | None
    ) -> web.StreamResponse:
        response = _streamed(driver.answer)
        await response.prepare(request)
        try:
            async with aclosing(driver.arest()) as pieces:
                async for piece in pieces:
                    await response.write(piece)
                    if listener is not None:
                        listener.feed(piece)
        except _UPSTREAM_ERRORS as error:
            if _is_gone(request):
                return response
            last = exchange.fail(said_of(error))
            if not last:
                # In the middle of an event: only a connection that breaks tells the client.
                _abort(request)
                return response
            await response.write(last)
        await response.write_eof()
        return response

    def _failed(self, route: ModelRoute, tail: str, error: Exception) -> web.Response:
        """An answer of the codec."""
        reply = route.codec.reply(tail, error)
        if reply.status >= 500:
            log.error("a request failed: %s", type(error).__name__)
        return web.Response(status=reply.status, body=reply.body, content_type="application/json")

    # Requests that pass unchanged.

    async def _pass(
        self, request: web.Request, tail: str, route: ModelRoute, body: Any, api: Api | None
    ) -> web.StreamResponse:
        url = route.upstream.url + tail + _query(request)
        passed = self._headers(request, route, api)
        with self._metrics.streams.labels(route.name).track_inprogress():
            answer = await self._started().send(request.method, url, passed, body)
            try:
                return await self._passed(request, answer)
            finally:
                answer.close() if not answer.content.at_eof() else answer.release()
                self._metrics.ended(route.name, "other" if api is None else api.name, "passed")
                line = f"{request.method} {tail}; passed; {answer.status}"
                log.info("%s: %s", route.name, ascii_line(line))

    async def _passed(self, request: web.Request, answer: ClientResponse) -> web.StreamResponse:
        response = _streamed(answer)
        await response.prepare(request)
        try:
            async for piece in answer.content.iter_any():
                await response.write(piece)
        except _UPSTREAM_ERRORS:
            _abort(request)
            return response
        await response.write_eof()
        return response

    def _headers(self, request: web.Request, route: ModelRoute, api: Api | None) -> Any:
        return headers.to_upstream(
            request.headers,
            key=route.upstream.key,
            ours=bool(self._checks.keys),
            key_header="authorization" if api is None else api.key_header,
        )

    def _started(self) -> Client:
        if self._client is None:
            raise RuntimeError("the gateway has not been started")
        return self._client


class Watch(Observer):
    """Counts an exchange, and writes its line to the log."""

    def __init__(self, route: str, metrics: Metrics) -> None:
        self._route = route
        self._metrics = metrics

    def on_record(self, record: Record) -> None:
        self._metrics.recorded(self._route, record)
        log.info("%s: %s", self._route, ascii_line(str(record)))


def ascii_line(text: str) -> str:
    """A line of the log: names of models and tools are a client's, and may hold anything."""
    return text.encode("ascii", "backslashreplace").decode().translate(_CONTROLS)


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), 127)}


def said_of(error: Exception) -> str:
    """What a client may know of an error of the upstream."""
    if isinstance(error, UpstreamError):
        return str(error)
    if isinstance(error, TimeoutError):
        return "the upstream did not answer in time"
    return f"the upstream cannot be reached, or its answer broke off ({type(error).__name__})"


def _error(
    api: Api | None, status: int, message: str, code: str, more: Mapping[str, str] | None = None
) -> web.Response:
    body = sse.dump(error_body(api, status, message, code))
    return web.Response(status=status, body=body, content_type="application/json", headers=more)


def _streamed(answer: ClientResponse) -> web.StreamResponse:
    passed = headers.to_client(answer.headers)
    if answer.content_type == "text/event-stream":
        # Proxies such as nginx would wait for more of it.
        passed["cache-control"] = "no-cache"
        passed["x-accel-buffering"] = "no"
    return web.StreamResponse(status=answer.status, headers=passed)


def _is_gone(request: web.Request) -> bool:
    """Whether the client has closed the connection. aiohttp then raises what it raises for upstreams."""
    return request.transport is None or request.transport.is_closing()


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def _query(request: web.Request) -> str:
    """The query as it came, with its question mark."""
    _, mark, query = request.raw_path.partition("?")
    return mark + query.partition("#")[0]
