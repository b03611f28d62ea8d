"""The process: listens, reads its routes again on SIGHUP, and ends gracefully on SIGTERM."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import http_parser, web

from wirecall._gateway import admin, routes
from wirecall._gateway.errors import ConfigError
from wirecall._gateway.gateway import Gateway
from wirecall._gateway.guard import Guard, is_loopback
from wirecall._gateway.limits import Limits
from wirecall._gateway.metrics import Metrics

log = logging.getLogger("wirecall.gateway")

# aiohttp logs what it cannot read, which may be a key, and as often as a client wants.
_QUIET = logging.getLogger("wirecall.gateway.http")
_QUIET.setLevel(logging.CRITICAL)

# A thread that rewrites a large request must not keep the event loop waiting for longer.
_SWITCH_SECONDS = 0.0005


@dataclass(frozen=True, kw_only=True)
class GatewaySettings:
    """How the gateway is started.

    Attributes:
        upstream: The base URL of the server for models without a route.
        upstream_key: Replaces the keys of clients there.
        config: The file with routes.
        options: Options of `wrap` for all routes.
        accepted: Options that clients may change in a request's body.
        guard: Who may ask.
        paths: Paths below `/v1` that are passed on unchanged.
        admin_token: Has to be sent to the admin port; demanded if that is not on loopback.
    """

    upstream: str | None = None
    upstream_key: str | None = field(default=None, repr=False)
    config: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    accepted: frozenset[str] = frozenset()
    host: str = "127.0.0.1"
    port: int = 4300
    admin_host: str = "127.0.0.1"
    admin_port: int = 4301
    guard: Guard = field(default_factory=Guard)
    admin_token: str | None = field(default=None, repr=False)
    paths: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not (is_loopback(self.host) or self.guard.keys or self.guard.open):
            raise ConfigError(
                f"everybody who reaches {self.host} could use the upstream: set keys in the environment "
                "variable WIRECALL_SERVE_KEYS, or say --open"
            )
        if not is_loopback(self.admin_host) and self.admin_token is None:
            raise ConfigError("an admin port that others can reach needs WIRECALL_SERVE_ADMIN_TOKEN")
        routes.check_accepted(self.accepted)
        for path in self.paths:
            if not path.startswith("/") or path.startswith("/v1/"):
                raise ConfigError(f"{path!r} must begin with / and without /v1, such as /embeddings")

    def load_routes(self) -> routes.Routes:
        return routes.load(self.config, self.upstream, self.options, self.accepted, key=self.upstream_key)


async def serve(settings: GatewaySettings, ready: Callable[[str, str], None]) -> None:
    """Serves until the process is told to end.

    Args:
        ready: Gets the base URLs of both ports, once they listen.

    Raises:
        ConfigError: The routes cannot be used, or a port cannot be listened on.
    """
    if http_parser.HttpRequestParser is http_parser.HttpRequestParserPy:  # type: ignore[misc, unused-ignore]
        # The parser in Python accepts more than RFC 9112 allows.
        raise ConfigError("aiohttp has no C parser here: install a wheel of it for this platform")
    metrics = Metrics()
    loaded = settings.load_routes()
    gateway = Gateway(loaded, settings.guard, limits=settings.limits, metrics=metrics, paths=settings.paths)
    switch_seconds = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    ending = asyncio.Event()
    runner = _runner(_application(gateway, settings.guard, settings.limits), settings.limits)
    operators = admin.application(metrics, token=settings.admin_token, hosts=settings.guard.hosts)
    admin_runner = web.AppRunner(operators, access_log=None, shutdown_timeout=1.0)
    try:
        await runner.setup()
        await admin_runner.setup()
        url = await _listen(runner, settings.host, settings.port)
        admin_url = await _listen(admin_runner, settings.admin_host, settings.admin_port)
        _on_signals(ending, None if settings.config is None else lambda: reload(gateway, settings))
        ready(url, admin_url)
        await ending.wait()
        log.info("ending; running requests have %g s", settings.limits.drain_seconds)
    finally:
        await runner.cleanup()
        await admin_runner.cleanup()
        await gateway.close()
        sys.setswitchinterval(switch_seconds)


def reload(gateway: Gateway, settings: GatewaySettings) -> None:
    """Reads the routes again. If they cannot be used, the old ones stay."""
    try:
        gateway.routes = settings.load_routes()
    except ConfigError as error:
        log.error("the old routes stay: %s", error)
    else:
        log.info("read the routes again: %s", ", ".join(one.name for one in gateway.routes.routes))


def _application(gateway: Gateway, checks: Guard, limits: Limits) -> web.Application:
    async def healthy(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    made = web.Application(client_max_size=limits.body_bytes)
    made.router.add_get("/healthz", healthy)
    made.router.add_get("/readyz", healthy)
    made.router.add_route("*", "/{path:.*}", gateway.handle)
    made.on_response_prepare.append(checks.allow_origin)
    return made


def _runner(application: web.Application, limits: Limits) -> web.AppRunner:
    return web.AppRunner(
        application,
        access_log=None,
        logger=_QUIET,
        # A client that goes away ends its handler, and that the upstream's request.
        handler_cancellation=True,
        # aiohttp waits for it twice: for what runs, and for what it has cancelled then.
        shutdown_timeout=limits.drain_seconds / 2,
        keepalive_timeout=limits.header_seconds,
        # Bodies that are compressed are refused, not read.
        auto_decompress=False,
    )


async def _listen(runner: web.AppRunner, host: str, port: int) -> str:
    site = web.TCPSite(runner, host.strip("[]"), port, backlog=1024)
    try:
        await site.start()
    except OSError as error:
        said = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error)
        raise ConfigError(
            f"cannot listen on {host}:{port}: {said}; --port and --admin-port 0 take free ones"
        ) from error
    address = runner.addresses[0]
    shown = f"[{address[0]}]" if ":" in address[0] else address[0]
    return f"http://{shown}:{address[1]}"


def _on_signals(ending: asyncio.Event, reload: Callable[[], None] | None) -> None:
    """Windows has no signals in its event loop: Ctrl-C ends the process there, and nothing is read again."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def end() -> None:
        if ending.is_set() and task is not None:
            task.cancel()  # Told twice, it ends at once.
        ending.set()

    with suppress(NotImplementedError, RuntimeError):
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, end)
        if reload is not None:
            loop.add_signal_handler(signal.SIGHUP, reload)
