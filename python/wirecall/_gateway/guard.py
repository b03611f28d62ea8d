"""Access checks, before a body is read: hosts, origins and keys."""

import hmac
import ipaddress
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote_plus, urlsplit

from aiohttp import web

from wirecall._gateway import headers
from wirecall._gateway.errors import ConfigError, Refused

# An address of IPv6 in brackets, or a name or another address; a port may follow. Options have no brackets.
_HOST = re.compile(r"\[([^\[\]]*)\](?::\d*)?|([^:\[\]@/]*)(?::\d*)?")


def is_loopback(host: str) -> bool:
    """Whether a host, with or without its port, is this machine."""
    address = _address(host)
    return host_name(host) == "localhost" if address is None else address.is_loopback


def host_name(host: str) -> str:
    """The name or address in a `host` header, in lower case; all of it if it is of no known form."""
    found = _HOST.fullmatch(host)
    return (host if found is None else found[1] or found[2]).lower()


def is_preflight(request: web.Request) -> bool:
    """Whether this is a preflight request of CORS."""
    return request.method == "OPTIONS" and "origin" in request.headers


@dataclass(frozen=True, kw_only=True)
class Guard:
    """The checks of the port for clients.

    Attributes:
        keys: The gateway's own keys; without them, everybody on this machine may ask.
        hosts: Names under which it is reached, besides loopback.
        origins: Web pages that may ask.
        open: Without keys, everybody may ask, under any name.
    """

    keys: tuple[str, ...] = field(default=(), repr=False)
    hosts: Collection[str] = ()
    origins: Collection[str] = ()
    open: bool = False

    def __post_init__(self) -> None:
        for origin in self.origins:
            parts = urlsplit(origin)
            if parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}":
                raise ConfigError(f"{origin!r} is not an origin, such as https://app.example")
        for name in self.hosts:
            if host_name(name) != name or not name:
                raise ConfigError(f"{name!r} is not the name of a host, such as gateway.internal")

    def check(self, request: web.Request) -> None:
        """Raises:
        Refused: The request is not passed on.
        """
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site", "none")
        # Images and links of a page have no origin.
        is_page = origin is not None or site not in ("none", "same-origin")
        if is_page and origin not in self.origins:
            raise Refused(
                403,
                "origin",
                "web pages may not use this gateway; its operator can list them with --allow-origin",
            )
        if is_preflight(request):
            return  # It has no key, and asks for nothing.
        if self.keys:
            if any(key in unquote_plus(request.raw_path) for key in self.keys):
                # It would be passed on.
                raise Refused(400, "key", "send the key in a header, not in the URL")
            given = headers.client_key(request.headers)
            if not _is_one_of(given, self.keys):
                what = "is not one of this gateway" if given else "is missing"
                how = "send a key of this gateway as a bearer token, or as x-api-key"
                raise Refused(401, "key", f"the API key {what}: {how}")
        elif not (self.open or is_loopback(request.host) or host_name(request.host) in self.hosts):
            # A name that an attacker's page has bound to this machine.
            raise Refused(
                403, "host", "this gateway does not serve the host of the request; list it with --allow-host"
            )

    async def allow_origin(self, request: web.Request, response: web.StreamResponse) -> None:
        """Lets a browser give the answer to a page that is listed."""
        origin = request.headers.get("origin")
        if origin is not None and origin in self.origins:
            response.headers["access-control-allow-origin"] = origin
            response.headers.add("vary", "origin")
            if is_preflight(request):
                response.headers["access-control-allow-methods"] = "GET, POST"
                wanted = request.headers.get("access-control-request-headers", "")
                response.headers["access-control-allow-headers"] = wanted


def check_admin(request: web.Request, *, token: str | None, hosts: Iterable[str]) -> None:
    """The checks of the admin port: no page of another site, no name that was bound to this machine.

    Raises:
        Refused: The request gets no answer.
    """
    host = request.host
    if _address(host) is None and host_name(host) not in ("localhost", *hosts):
        raise Refused(403, "host", "this port does not serve the host of the request")
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site", "none")
    if origin not in (None, f"{request.scheme}://{host}") or site not in ("none", "same-origin"):
        raise Refused(403, "origin", "this port does not answer to other web pages")
    if token is not None and not _is_one_of(headers.client_key(request.headers), [token]):
        raise Refused(401, "key", "send the admin token as a bearer token")


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host_name(host))
    except ValueError:
        return None


def _is_one_of(given: str, keys: Iterable[str]) -> bool:
    # In constant time: all are compared.
    found = [hmac.compare_digest(given.encode(errors="replace"), key.encode()) for key in keys]
    return any(found)
