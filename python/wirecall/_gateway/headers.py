"""Which headers pass through the gateway: all but those that are about one connection, or about the way."""

from collections.abc import Iterable, Mapping

from multidict import CIMultiDict, CIMultiDictProxy

# Of one connection (RFC 9110, 7.6.1), of the body as it came, and what says who asks and from where.
_CONNECTION = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer"),
        *("transfer-encoding", "upgrade", "content-length", "content-encoding", "via"),
    }
)
_REQUEST = _CONNECTION | {
    *("host", "accept-encoding", "expect", "proxy-authorization"),
    *("cookie", "forwarded", "origin", "referer", "x-real-ip"),
}
_RESPONSE = _CONNECTION | {"set-cookie", "alt-svc", "server", "date"}
_REQUEST_PREFIXES = ("x-forwarded-", "sec-")
_CREDENTIALS = ("authorization", "x-api-key")


def to_upstream(
    given: CIMultiDictProxy[str], *, key: str | None, ours: bool, key_header: str
) -> CIMultiDict[str]:
    """The headers of a request to the upstream.

    Args:
        key: Replaces the client's key, in the header in which that came.
        ours: The client's key is one of the gateway, and must not leave it.
        key_header: Where the key is sent if the client sent none.
    """
    passed = _passing(given, _REQUEST, _REQUEST_PREFIXES)
    name = key_header
    for one in _CREDENTIALS:
        if (ours or key is not None) and one in passed:
            name = one
            passed.popall(one)
    if key is not None:
        passed[name] = key if name == "x-api-key" else f"Bearer {key}"
    passed["accept-encoding"] = "identity"
    return passed


def to_client(given: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """The headers of an answer to the client."""
    return _passing(given, _RESPONSE, ())


def credential(given: Mapping[str, str]) -> str:
    """The key that a client sent; empty if there is none."""
    scheme, _, token = given.get("authorization", "").partition(" ")
    return given.get("x-api-key") or (token.strip() if scheme.lower() == "bearer" else "")


def _passing(
    given: CIMultiDictProxy[str], dropped: frozenset[str], prefixes: tuple[str, ...]
) -> CIMultiDict[str]:
    named = frozenset(_named(given.getall("connection", ())))
    passed: CIMultiDict[str] = CIMultiDict()
    for name, value in given.items():
        lower = name.lower()
        if lower not in dropped and lower not in named and not lower.startswith(prefixes or "\0"):
            passed.add(name, value)
    return passed


def _named(values: Iterable[str]) -> Iterable[str]:
    """The headers that `connection` says are about this connection."""
    return (name.strip().lower() for value in values for name in value.split(","))
