"""Who may ask, and for what: hosts, origins, keys and paths. It is checked before a body is read."""

import hmac
import ipaddress
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from aiohttp import web

from wirecall._gateway import headers
from wirecall._gateway.refusals import Refused


def is_loopback(host: str) -> bool:
    """Whether a host, with or without its port, is this machine."""
    name = host_name(host)
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def host_name(host: str) -> str:
    """The name or address in a `host` header, in lower case."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower() if host.count(":") <= 1 else host


def is_preflight(request: web.Request) -> bool:
    """Whether a browser asks whether a page may ask."""
    return request.method == "OPTIONS" and "origin" in request.headers


def safe_path(raw: str) -> str:
    """The path of a request as it came, if no server can resolve it to another one.

    Raises:
        Refused: It has dot segments, backslashes or empty segments, encoded or not, or it is no path.
    """
    path = raw.partition("?")[0]
    # Servers and proxies decode once or twice.
    for seen in (path, unquote(path), unquote(unquote(path))):
        segments = seen.split("/")
        if not seen.startswith("/") or "\\" in seen or {".", ".."} & {*segments} or "" in segments[1:-1]:
            raise Refused(400, "path", "the path is not one that this gateway serves")
    return path


@dataclass(frozen=True, kw_only=True)
class Guard:
    """The checks of the port for clients.

    Attributes:
        keys: The gateway's own keys; without them, everybody on this machine may ask.
        hosts: Names under which it is reached, besides loopback.
        origins: Web pages that may ask.
        open: Without keys, everybody may ask, under any name.
    """

    keys: tuple[str, ...] = ()
    hosts: Collection[str] = ()
    origins: Collection[str] = ()
    open: bool = False

    def check(self, request: web.Request) -> None:
        """Raises:
        Refused: The request is not passed on.
        """
        origin = request.headers.get("origin")
        if origin is not None and origin not in self.origins:
            raise Refused(
                403,
                "origin",
                "web pages may not use this gateway; its operator can list them with --allow-origin",
            )
        if is_preflight(request):
            return  # It has no key, and asks for nothing.
        if self.keys:
            self._check_key(headers.credential(request.headers))
        elif not (self.open or is_loopback(request.host) or host_name(request.host) in self.hosts):
            # A name that an attacker's page has bound to this machine.
            raise Refused(
                403, "host", "this gateway does not serve the host of the request; list it with --allow-host"
            )

    async def allow_origin(self, request: web.Request, response: web.StreamResponse) -> None:
        """Lets the browser show an answer to a page that may ask."""
        origin = request.headers.get("origin")
        if origin is not None and origin in self.origins:
            response.headers["access-control-allow-origin"] = origin
            response.headers["vary"] = "origin"
            if is_preflight(request):
                response.headers["access-control-allow-methods"] = "GET, POST"
                wanted = request.headers.get("access-control-request-headers", "")
                response.headers["access-control-allow-headers"] = wanted

    def _check_key(self, given: str) -> None:
        # All are compared, so that the time says nothing.
        found = [hmac.compare_digest(given.encode(errors="replace"), key.encode()) for key in self.keys]
        if not any(found):
            raise Refused(401, "key", "the API key is not one of this gateway")


def check_admin(request: web.Request, *, token: str | None, hosts: Iterable[str]) -> None:
    """The checks of the admin port: no page of another site, no name that was bound to this machine.

    Raises:
        Refused: The request gets no answer.
    """
    host = request.host
    if not (is_loopback(host) or _is_address(host_name(host)) or host_name(host) in hosts):
        raise Refused(403, "host", "this port does not serve the host of the request")
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site", "none")
    if origin not in (None, f"{request.scheme}://{host}") or site not in ("none", "same-origin"):
        raise Refused(403, "origin", "this port does not answer to other web pages")
    if token is not None:
        given = headers.credential(request.headers)
        if not hmac.compare_digest(given.encode(errors="replace"), token.encode()):
            raise Refused(401, "key", "send the admin token as a bearer token")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
