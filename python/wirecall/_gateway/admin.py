"""The port for operators: metrics."""

from collections.abc import Awaitable, Callable, Collection

from aiohttp import web

from wirecall._gateway import guard
from wirecall._gateway.errors import Refused
from wirecall._gateway.metrics import Metrics

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


def application(metrics: Metrics, *, token: str | None, hosts: Collection[str]) -> web.Application:
    """The application of the admin port.

    Args:
        token: Has to come with each request; None on loopback.
        hosts: Names under which it is reached, besides loopback and addresses.
    """

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            guard.check_admin(request, token=token, hosts=hosts)
        except Refused as refused:
            return web.Response(status=refused.status, text=f"{refused}\n", headers=_HEADERS)
        response = await handler(request)
        response.headers.update(_HEADERS)
        return response

    async def show_metrics(_: web.Request) -> web.Response:
        return web.Response(body=metrics.text(), content_type="text/plain", charset="utf-8")

    made = web.Application(middlewares=[guarded])
    made.router.add_get("/metrics", show_metrics)
    return made
