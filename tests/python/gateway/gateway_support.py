"""A gateway in this process before a scripted upstream, for tests of its rules."""

import asyncio
import functools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ParamSpec

from aiohttp import ClientSession, ClientTimeout, web
from yarl import URL

from wirecall._gateway.demo import TOOL as TOOL
from wirecall._gateway.guard import Guard
from wirecall._gateway.limits import Limits
from wirecall._gateway.server import GatewaySettings, serve

Json = dict[str, Any]
P = ParamSpec("P")
CALL = '<call>get_weather city="New York" days=2</call>'
BAD = "Look. <call>get_weather [object Object]</call>"
ARGUMENTS = {"city": "New York", "days": 2}


def running(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Runs an async test; one that hangs says so."""

    @functools.wraps(test)
    def run(*args: P.args, **given: P.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **given), 60))

    return run


def asking(said: str = "call", *, stream: bool = False, **more: Any) -> Json:
    """A request of chat completions; the scripted upstream does what the user says."""
    return {
        "model": "m",
        "stream": stream,
        "tools": [TOOL],
        "messages": [{"role": "user", "content": said}],
        **more,
    }


def event(delta: Json, reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def events(body: bytes) -> list[Any]:
    """The data of a stream's events, without comments."""
    found = [line[6:] for line in body.decode().splitlines() if line.startswith("data: ")]
    return [one if one == "[DONE]" else json.loads(one) for one in found]


def deltas(body: bytes) -> list[Json]:
    return [one["choices"][0]["delta"] for one in events(body) if one != "[DONE]" and one.get("choices")]


@dataclass
class Seen:
    """A request that reached the upstream. `names` are those of its headers, as often as they came."""

    method: str
    path: str
    headers: dict[str, str]
    names: list[str]
    body: bytes

    @property
    def json(self) -> Json:
        read: Json = json.loads(self.body)
        return read


Script = Callable[[web.Request, Seen], Awaitable[web.StreamResponse]]


@dataclass
class Scripted:
    """The upstream. `running` are the requests that it answers just now."""

    script: Script
    seen: list[Seen] = field(default_factory=list)
    running: int = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        names = [name.lower() for name in request.headers]
        one = Seen(request.method, request.raw_path, headers, names, await request.read())
        self.seen.append(one)
        self.running += 1
        try:
            return await self.script(request, one)
        finally:
            self.running -= 1

    async def idle(self) -> None:
        """Waits until nothing runs."""
        async with asyncio.timeout(10):
            while self.running:
                await asyncio.sleep(0.01)


def whole(text: str, **more: Any) -> web.Response:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return web.json_response(
        {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage, **more}
    )


async def streaming(request: web.Request, **headers: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream", **headers})
    await response.prepare(request)
    return response


async def call(request: web.Request, seen: Seen) -> web.StreamResponse:
    """The script of most tests: the model writes one call."""
    if request.method == "GET":
        return web.json_response({"object": "list", "data": [{"id": "m"}]})
    if not seen.json.get("stream"):
        return whole(f"Look. {CALL}")
    response = await streaming(request)
    for piece in ("Look. ", CALL[:20], CALL[20:]):
        await response.write(event({"content": piece}))
    await response.write(event({}, "stop") + b"data: [DONE]\n\n")
    return response


@dataclass
class Running:
    """A gateway and what is around it.

    Attributes:
        url: The gateway's, with `/v1`.
        admin: The admin port's.
    """

    url: str
    admin: str
    upstream: Scripted
    session: ClientSession
    task: "asyncio.Task[None]"

    async def post(self, body: Any, path: str = "/chat/completions", **more: Any) -> tuple[int, bytes]:
        status, said, _ = await self.ask("POST", path, json=body, **more)
        return status, said

    async def ask(self, method: str, path: str, **more: Any) -> tuple[int, bytes, Mapping[str, str]]:
        async with self.session.request(method, URL(self.url + path, encoded=True), **more) as answer:
            return answer.status, await answer.read(), answer.headers

    async def metrics(self) -> dict[str, float]:
        async with self.session.get(self.admin + "/metrics") as answer:
            lines = (await answer.text()).splitlines()
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"}

    async def raw(self, data: bytes, port: str | None = None) -> bytes:
        """What comes for these bytes, until the connection is closed."""
        host, _, number = (port or self.url).removeprefix("http://").partition("/")[0].partition(":")
        reader, writer = await asyncio.open_connection(host, int(number))
        try:
            writer.write(data)
            async with asyncio.timeout(20):
                return await reader.read(-1)
        finally:
            writer.close()


@asynccontextmanager
async def scripted(script: Script = call) -> AsyncIterator[tuple[Scripted, str]]:
    """An upstream; gives it and its base URL."""
    upstream = Scripted(script)
    application = web.Application(client_max_size=1 << 28)
    application.router.add_route("*", "/{path:.*}", upstream.handle)
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield upstream, f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def gateway(
    script: Script = call,
    *,
    target: str | None = None,
    key: str | None = None,
    without_upstream: bool = False,
    config: Path | None = None,
    **more: Any,
) -> AsyncIterator[Running]:
    """A gateway before an upstream with this script.

    Args:
        target: The base URL of another upstream.
        key: Replaces the keys of clients.
        without_upstream: Only the routes of the configuration have one.
        more: Settings, and those of the guard.
    """
    guarding = {one.name for one in fields(Guard)} & more.keys()
    guard = Guard(**{name: more.pop(name) for name in guarding})
    limits = Limits(**{"drain_seconds": 0.2, **more.pop("limits", {})})
    async with scripted(script) as (upstream, url):
        settings = GatewaySettings(
            upstream=None if without_upstream else target or url,
            upstream_key=key,
            config=config,
            guard=guard,
            port=0,
            admin_port=0,
            limits=limits,
            **more,
        )
        ready: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(serve(settings, lambda *urls: ready.set_result(urls)))
        await asyncio.wait({ready, task}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        base, admin = ready.result()
        async with ClientSession(timeout=ClientTimeout(total=30), auto_decompress=False) as session:
            try:
                yield Running(f"{base}/v1", admin, upstream, session, task)
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
