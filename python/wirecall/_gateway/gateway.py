"""Handles requests: checks, routes, rewrites and sends them, and reads their answers."""

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from aiohttp import ClientConnectorDNSError, ClientConnectorError, ClientError, ClientResponse, web
from multidict import CIMultiDict

from wirecall._apis.base import Api
from wirecall._apis.registry import apis
from wirecall._clients import sse
from wirecall._clients.byte_exchange import ByteExchange
from wirecall._clients.codec import OVERRIDES
from wirecall._clients.driver import Driver, Handover
from wirecall._gateway import guard, headers, items
from wirecall._gateway.downstream import Downstream
from wirecall._gateway.errors import Refused, UpstreamError, error_body
from wirecall._gateway.limits import Limits
from wirecall._gateway.metrics import Metrics
from wirecall._gateway.routes import ModelRoute, Routes
from wirecall._gateway.upstream import Client, UpstreamSource, pieces
from wirecall._shown import shown
from wirecall._text.notices import Notice
from wirecall._text.record import Record
from wirecall._text.recorder import Observer

log = logging.getLogger("wirecall.gateway")

# The base URL of clients ends with it; Anthropic's SDKs add it themselves.
PREFIX = "/v1"
_MODELS = "/models"
_UPSTREAM_ERRORS = (ClientError, TimeoutError, UpstreamError)
_SHOWN_OF_A_MODEL = 100
# Characters of a line of the log: names in it are as long as a client wants.
_LINE = 500
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), 127)}


class Gateway:
    """Handles the requests of clients. Make it in the event loop.

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
        self._items = items.ItemMemory(limits.remembered_items, limits.remembered_bytes)
        self._apis = {path: api for api in apis().values() for path in api.routes}
        self._running = 0
        self._client = Client(limits)
        self._downstream = Downstream(limits.silence_seconds)

    async def close(self) -> None:
        await self._downstream.close()
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
                return await self._checked(request, path)
            finally:
                self._running -= 1
        except Refused as refused:
            self._metrics.refused(refused.reason)
            log.info("refused: %s", ascii_line(f"{request.method} {path}: {refused}"))
            return _error(api, refused.status, str(refused), refused.reason, refused.headers)
        except Exception as error:
            return _error(api, *_failure(request, error))

    async def _checked(self, request: web.Request, path: str) -> web.StreamResponse:
        if guard.is_preflight(request):
            return web.Response(status=204)
        tail = path.removeprefix(PREFIX)
        if tail == path:
            raise Refused(404, "path", f"there is no {path}: base URLs of this gateway end with {PREFIX}")
        if tail.startswith(f"{PREFIX}/"):
            raise Refused(404, "path", f"this client adds {PREFIX} itself: leave it out of its base URL")
        if request.method == "POST" and tail in self._apis:
            return await self._answer(request, tail, self._apis[tail])
        if (request.method == "GET" and tail == _MODELS) or tail in self._paths:
            body = await self._read(request)
            return await self._pass(request, tail, self.routes.default, body, None)
        raise Refused(
            404,
            "path",
            f"this gateway does not serve {request.method} {path}; "
            f"its operator can pass it on with --allow-path {tail}",
        )

    async def _read(self, request: web.Request) -> bytes:
        """The body of a request."""
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            # Before it is read: a few bytes may be a gigabyte.
            raise Refused(415, "compressed", "the body is compressed: send it without content-encoding")
        too_long = Refused(413, "body_size", f"the body is longer than {self._limits.body_bytes} bytes")
        if (request.content_length or 0) > self._limits.body_bytes:
            raise too_long
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                return await request.read()
        except TimeoutError:
            raise Refused(408, "body_time", "the body of the request did not arrive in time") from None
        except web.HTTPRequestEntityTooLarge:
            raise too_long from None

    # Requests of the APIs.

    async def _answer(self, request: web.Request, tail: str, api: Api) -> web.StreamResponse:
        body = await self._read(request)
        started = time.perf_counter()
        given = sse.load(body)
        if given is None:
            raise Refused(400, "body", "the body of the request is not a JSON object")
        model = given.get("model")
        route = self.routes.find(model if isinstance(model, str) else "")
        if route is None:
            raise Refused(404, "model", f"no route serves the model {shown(model)[:_SHOWN_OF_A_MODEL]}")
        owner = self._items.owner(headers.identity(request.headers))
        if found := self._items.find(owner, given) if api.name == "responses" else None:
            given, body = self._with_items(given, found)
        if route.native:
            if given.pop(OVERRIDES, None) is not None:
                body = sse.dump(given)
            return await self._pass(request, tail, route, body, api)
        passed = self._headers(request, route, api)
        url = route.upstream.url + tail
        watch = Watch(route.name, self._metrics)
        try:
            exchange = await route.codec.open(url, passed, body, is_async=True, given=given, observer=watch)
        except Exception as error:
            if not watch.ended:
                self._metrics.ended(route.name, api.name, "refused")
            return _refusal(route, tail, error)
        self._metrics.opened(route.name, time.perf_counter() - started)
        if exchange is None or not exchange.reads:
            body = body if exchange is None else exchange.request
            return await self._pass(request, tail, route, body, api)
        listener = None
        if api.name == "responses" and given.get("store") is not False:
            listener = items.ItemListener(self._items, owner)
        source = UpstreamSource(self._client, exchange, url + _query(request), passed)
        driver = Driver(exchange, source)
        with self._metrics.streams.labels(route.name).track_inprogress():
            try:
                out = await driver.first()
                self._metrics.first_byte(route.name, time.perf_counter() - started)
                if out is Handover.STREAM:
                    return await self._stream(request, driver, exchange, listener)
                return await self._whole(driver.answer, out, route, listener)
            except BaseException as error:
                # If the client leaves before the driver has begun to read a stream, the driver is not told.
                exchange.finish(error)
                if isinstance(error, _UPSTREAM_ERRORS) or not isinstance(error, Exception):
                    raise
                return _refusal(route, tail, error)
            finally:
                await driver.close()

    def _with_items(
        self, given: Mapping[str, Any], found: Mapping[int, bytes]
    ) -> tuple[dict[str, Any], bytes]:
        """The request with the items that it refers to, and its JSON."""
        size = sum(map(len, found.values()))
        if size > self._limits.body_bytes:
            raise Refused(413, "body_size", f"its items are longer than {self._limits.body_bytes} bytes")
        made = items.put(given, found)
        return made, sse.dump(made)

    async def _whole(
        self, answer: ClientResponse, out: Any, route: ModelRoute, listener: items.ItemListener | None
    ) -> web.Response:
        body: bytes = await self._client.read(answer) if out is Handover.UNREAD else out
        if listener is not None and answer.status < 300:
            listener.whole(body)
        if answer.status >= 400:
            body = _without_key(body, route)
        return web.Response(status=answer.status, body=body, headers=headers.to_client(answer.headers))

    async def _stream(
        self,
        request: web.Request,
        driver: Driver,
        exchange: ByteExchange,
        listener: items.ItemListener | None,
    ) -> web.StreamResponse:
        async with self._downstream.begin(request, driver.answer) as stream:
            try:
                async with aclosing(driver.arest()) as rest:
                    async for piece in rest:
                        await stream.write(piece)
                        if listener is not None:
                            listener.feed(piece)
            except Exception as error:
                # The head has been sent, so that it cannot be another answer.
                if not stream.is_gone:
                    if last := exchange.fail(_failure(request, error)[1]):
                        await stream.write(last)
                    else:
                        # In the middle of an event: only a connection that breaks tells the client.
                        stream.abort()
            return await stream.end()

    # Requests that pass unchanged.

    async def _pass(
        self, request: web.Request, tail: str, route: ModelRoute, body: bytes, api: Api | None
    ) -> web.StreamResponse:
        url = route.upstream.url + tail + _query(request)
        passed = self._headers(request, route, api)
        has_body = request.method not in ("GET", "HEAD") and bool(body)
        with self._metrics.streams.labels(route.name).track_inprogress():
            self._metrics.ended(route.name, "other" if api is None else api.name, "passed")
            answer = await self._client.send(request.method, url, passed, body if has_body else None)
            line = f"{request.method} {PREFIX}{tail}"
            try:
                if answer.status >= 400:
                    return await self._whole(answer, Handover.UNREAD, route, None)
                return await self._passed(request, answer)
            finally:
                answer.release()
                log.info("%s: %s", route.name, ascii_line(f"{line}; passed; {answer.status}"))

    async def _passed(self, request: web.Request, answer: ClientResponse) -> web.StreamResponse:
        async with self._downstream.begin(request, answer) as stream:
            try:
                async for piece in pieces(answer):
                    await stream.write(piece)
            except _UPSTREAM_ERRORS:
                stream.abort()
            return await stream.end()

    def _headers(self, request: web.Request, route: ModelRoute, api: Api | None) -> CIMultiDict[str]:
        return headers.to_upstream(
            request.headers,
            key=route.upstream.key,
            own=self._checks.keys,
            key_header="authorization" if api is None else api.key_header,
        )


class Watch(Observer):
    """Counts an exchange, and writes its line to the log.

    Attributes:
        ended: It was counted.
    """

    def __init__(self, route: str, metrics: Metrics) -> None:
        self._route = route
        self._metrics = metrics
        self.ended = False

    def on_notice(self, notice: Notice) -> None:
        if notice.kind == "other_format":
            # The first thing to look for where an agent waits for a call.
            said = f"the text looks like a call in the format {notice.detail}: see --protocol"
            log.warning("%s: %s", self._route, said)

    def on_record(self, record: Record) -> None:
        self.ended = True
        status = record.attempts[-1].status if record.attempts else None
        more = f"; status {status}" if record.outcome == "http_error" else ""
        log.info("%s: %s", self._route, ascii_line(f"{record}{more}"))
        self._metrics.recorded(self._route, record)


def _query(request: web.Request) -> str:
    """The query as it came, with its question mark."""
    _, mark, query = request.raw_path.partition("?")
    return mark + query.partition("#")[0]


def ascii_line(text: str) -> str:
    """A line of the log: names of models and tools are a client's, and may hold anything."""
    return text[:_LINE].encode("ascii", "backslashreplace").decode().translate(_CONTROLS)


def _failure(request: web.Request, error: Exception) -> tuple[int, str, str]:
    """Logs a failure. Returns what the client is told: the status, the message and the code."""
    name = type(error).__name__
    if isinstance(error, UpstreamError):
        status, message = 502, str(error)
    elif isinstance(error, TimeoutError):
        status, message = 504, "the upstream did not answer in time"
    elif isinstance(error, ClientConnectorDNSError):
        status, message = 502, "the name of the upstream's host is unknown"
    elif isinstance(error, ClientConnectorError):
        status, message = 502, f"cannot connect to the upstream: {error.strerror}"
    elif isinstance(error, ClientError):
        status, message = 502, "the upstream's answer broke off"
    else:
        # Its own message may quote the request.
        status, message = 500, "the gateway failed; its log says more"
    path = request.raw_path.partition("?")[0]
    line = ascii_line(f"{request.method} {path}: {status} {message} ({name})")
    log.warning("failed: %s", line, exc_info=status == 500 and log.isEnabledFor(logging.DEBUG))
    return status, message, "gateway" if status == 500 else "upstream"


def _refusal(route: ModelRoute, tail: str, error: Exception) -> web.Response:
    """The codec's answer to an error that concerns the client; raises all others."""
    reply = route.codec.reply(tail, error)
    if reply.status == 500:
        raise error
    log.info("%s: refused: %s", route.name, ascii_line(str(error)))
    return web.Response(status=reply.status, body=reply.body, content_type="application/json")


def _without_key(body: bytes, route: ModelRoute) -> bytes:
    """An error of the upstream, which may repeat the operator's key."""
    key = route.upstream.key
    return body if key is None else body.replace(key.encode(), b"[secret]")


def _error(
    api: Api | None, status: int, message: str, code: str, more: Mapping[str, str] | None = None
) -> web.Response:
    body = sse.dump(error_body(api, status, message, code))
    return web.Response(status=status, body=body, content_type="application/json", headers=more)
