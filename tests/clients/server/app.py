"""The HTTP server: routes, keys, recorded requests, and bodies that are sent as the script says."""

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from aiohttp import web

from . import chat, grammars, messages, responses
from .answers import (
    Answer,
    Delivery,
    Ending,
    EventFormat,
    Failure,
    Json,
    Raw,
    RefusedError,
    Reply,
    compact,
    new_id,
)
from .delivery import chunks, encode, stream
from .grammars import GrammarServer

Api = Literal["chat", "responses", "messages", "count_tokens"]
ROUTES: dict[str, Api] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
    "/v1/messages/count_tokens": "count_tokens",
}
# Seconds in which a client reads what was sent before its connection is reset.
BEFORE_RESET = 0.002


# That of Anthropic is for all other routes.
DIALECTS = {"chat": chat, "responses": responses}


@dataclass
class Request:
    """What a client sent, and what became of it."""

    api: Api
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes
    json: Json = field(default_factory=dict)
    url: str = ""  # as it was asked for: absolute and of another host where the server was used as a proxy
    refused: str | None = None  # why the checks did not take it
    reply: Reply | None = None
    sent: int = 0  # bytes of the reply's body
    written: bytearray = field(default_factory=bytearray, repr=False)  # these, and the error after a cut
    ended: Literal["", "whole", "dropped", "client gone"] = ""

    @property
    def streamed(self) -> bool:
        return bool(self.json.get("stream"))


Source = Callable[[Request], Reply]
Script = Source | Sequence[Reply | Source]


class Server:
    """What a test sees of the server. Its thread writes the lists; they may be read at any time."""

    def __init__(
        self,
        script: Script,
        *,
        checks: bool = True,
        alternate: bool = False,
        refuses_stop: bool = False,
        grammars: GrammarServer | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self.errors: list[BaseException] = []  # what scripts and models raised; the client saw a 500
        self.url = ""
        self.open = 0  # requests that are being answered
        self._script = script
        self._played = 0
        self._checks = checks
        self._alternate = alternate
        self._refuses_stop = refuses_stop
        self._grammars = grammars
        self._stopping = asyncio.Event()
        self._runner: web.AppRunner | None = None

    @property
    def openai_url(self) -> str:
        """The base URL of an OpenAI client; Anthropic's takes `url`."""
        return f"{self.url}/v1"

    @property
    def connections(self) -> int:
        """How many connections clients hold."""
        server = self._runner.server if self._runner is not None else None
        return len(server.connections) if server is not None else 0

    @property
    def last(self) -> Request:
        return self.requests[-1]

    def settle(self, timeout: float = 5.0) -> None:
        """Waits until nothing is being answered: a client sees the end of its answer a little earlier."""
        end = time.monotonic() + timeout
        while self.open:
            if time.monotonic() > end:
                raise TimeoutError(f"{self.open} requests are still being answered")
            time.sleep(0.002)

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        app = web.Application(client_max_size=256 << 20)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1.0, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port, backlog=2048).start()
        self.url = "http://{}:{}".format(*self._runner.addresses[0][:2])

    async def stop(self) -> None:
        self._stopping.set()
        if self._runner is not None:
            await self._runner.cleanup()

    # One request --------------------------------------------------------------------------------------------

    async def _handle(self, http: web.Request) -> web.StreamResponse:
        if http.path not in ROUTES:
            return web.json_response(
                {"error": {"message": f"Invalid URL ({http.method} {http.path})"}}, status=404
            )
        if http.method != "POST":
            return web.json_response({"error": {"message": f"Not allowed: {http.method}"}}, status=405)
        headers = {name.lower(): value for name, value in http.headers.items()}
        request = Request(ROUTES[http.path], http.path, headers, await http.read(), url=str(http.url))
        self.requests.append(request)
        self.open += 1
        try:
            try:
                request.json = _body(request)
                if self._checks:
                    self._check(request, beta=http.query.get("beta") == "true" or "anthropic-beta" in headers)
            except RefusedError as refused:
                request.refused = str(refused)
                request.reply = refused.failure
            else:
                request.reply = self._next(request)
            return await self._send(http, request, request.reply)
        except asyncio.CancelledError:
            request.ended = "client gone"
            raise
        except ConnectionError:
            request.ended = "client gone"
            return web.Response()
        finally:
            self.open -= 1

    def _check(self, request: Request, *, beta: bool) -> None:
        headers = request.headers
        for key in ("stop", "stop_sequences"):
            if self._refuses_stop and request.json.get(key):
                message = f"Unsupported parameter: '{key}' is not supported with this model."
                raise RefusedError(message, key, code="unsupported_parameter")
        if request.api in ("messages", "count_tokens"):
            if not headers.get("x-api-key") and not headers.get("authorization"):
                raise RefusedError("x-api-key header is required", status=401)
            if not headers.get("anthropic-version"):
                raise RefusedError("anthropic-version: header is required")
            messages.check(request.json, beta=beta, counting=request.api == "count_tokens")
            return
        if not headers.get("authorization", "").startswith("Bearer "):
            raise RefusedError("You didn't provide an API key.", status=401)
        added: frozenset[str] = frozenset()
        if self._grammars is not None:
            added = grammars.check(request.json, request.api, self._grammars)
        if request.api == "chat":
            chat.check(request.json, alternate=self._alternate, added=added)
        else:
            responses.check(request.json, added=added)

    def _next(self, request: Request) -> Reply:
        if request.api == "count_tokens":
            return Raw(compact(messages.count(request.json)).encode())
        try:
            source: Reply | Source
            if callable(self._script):
                source = self._script
            else:
                if self._played >= len(self._script):
                    raise IndexError(
                        f"the script has {len(self._script)} answers, and this was one request more"
                    )
                source = self._script[self._played]
                self._played += 1
            return source(request) if callable(source) else source
        except RefusedError as refused:
            request.refused = str(refused)
            return refused.failure
        except Exception as error:
            self.errors.append(error)
            return Failure(500, f"{type(error).__name__}: {error}", headers={"x-should-retry": "false"})

    # Its reply ----------------------------------------------------------------------------------------------

    async def _send(self, http: web.Request, request: Request, reply: Reply) -> web.StreamResponse:
        dialect = DIALECTS.get(request.api, messages)
        id = "request-id" if dialect is messages else "x-request-id"
        headers = {id: new_id("req_"), "content-type": "application/json"}
        status, delivery = 200, Delivery()
        if isinstance(reply, Failure):
            headers |= reply.headers
            status = reply.status
            body = [compact(dialect.error(reply)).encode()]
        elif isinstance(reply, Raw):
            headers |= {"content-type": reply.content_type, **reply.headers}
            status, delivery = reply.status, reply.delivery
            body = [reply.body] if isinstance(reply.body, bytes) else [*reply.body]
        else:
            delivery = reply.delivery
            if request.streamed:
                headers |= {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
                pieces = iter_pieces(request.api, request.json, reply)
                return await self._write(http, request, headers, 200, pieces, delivery)
            body = [compact(dialect.whole(request.json, reply)).encode()]
        return await self._write(http, request, headers, status, iter(body), delivery)

    async def _write(
        self,
        http: web.Request,
        request: Request,
        headers: dict[str, str],
        status: int,
        body: Iterator[bytes],
        delivery: Delivery,
    ) -> web.StreamResponse:
        if delivery.cut_after == 0 and delivery.ending in ("closed", "reset"):
            return await self._end_early(http, request, web.Response(), delivery.ending)
        if delivery.gzip:
            headers["content-encoding"] = "gzip"
        response = web.StreamResponse(status=status, headers=headers)
        response.enable_chunked_encoding()
        await response.prepare(http)
        for chunk in chunks(body, delivery):
            if delivery.delay:
                await asyncio.sleep(delivery.delay)
            await response.write(chunk)
            request.sent += len(chunk)
            request.written += chunk
        if request.sent == delivery.cut_after:
            if delivery.ending == "error":
                dialect = DIALECTS.get(request.api, messages)
                error = b"\n\n" + encode(dialect.error_event(Failure()), EventFormat())
                await response.write(error)
                request.written += error
            return await self._end_early(http, request, response, delivery.ending)
        request.ended = "whole"
        await response.write_eof()
        return response

    async def _end_early(
        self, http: web.Request, request: Request, response: web.StreamResponse, ending: Ending
    ) -> web.StreamResponse:
        """Ends the connection early. Bytes already written arrive, unless it is reset."""
        if ending == "stalled":
            await response.write(b"")
            await self._stopping.wait()
        request.ended = "dropped"
        if ending == "finished":
            await response.write_eof()
        elif (transport := http.transport) is None:
            pass
        elif ending == "reset":
            await asyncio.sleep(BEFORE_RESET)
            connection = transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        else:
            transport.close()
        return response


def _body(request: Request) -> Json:
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        message = "We could not parse the JSON body of your request."
        raise RefusedError(message, status=400) from None
    if not isinstance(body, dict):
        raise RefusedError("The body of the request must be a JSON object.")
    return body


def iter_pieces(api: Api, body: Json, answer: Answer) -> Iterator[bytes]:
    """The body of a streamed answer, in the pieces that are sent one by one.

    Args:
        body: Of the request.
    """
    if api == "chat":
        return stream(chat.events(body, answer), answer.delivery, None)
    if api == "responses":
        return stream(responses.events(body, answer), answer.delivery, None)
    return stream(messages.events(body, answer), answer.delivery, messages.ping())


S = TypeVar("S", bound=Server)


def serve(script: Script, **options: Any) -> AbstractContextManager[Server]:
    """A server in a thread of its own, on a free port, until the block ends. Options are `Server`'s."""
    return in_thread(Server(script, **options))


@contextmanager
def in_thread(server: S) -> Iterator[S]:
    """Runs a server in a thread of its own until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="test server", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
