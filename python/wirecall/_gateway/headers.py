"""Which headers pass: all but those of one connection, and those that proxies and browsers add."""

from collections.abc import Collection, Mapping

from multidict import CIMultiDict, CIMultiDictProxy

# Of one connection (RFC 9110, 7.6.1), and of the body as it was transferred.
_CONNECTION = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer"),
        *("transfer-encoding", "upgrade", "content-length", "content-encoding", "via"),
    }
)
# Conditions would make answers without a body.
_REQUEST = _CONNECTION | {
    *("host", "accept-encoding", "expect", "proxy-authorization", "if-none-match", "if-modified-since"),
    *("cookie", "forwarded", "origin", "referer", "x-real-ip"),
}
# Also what a server says about its own name, which browsers would take for the gateway's.
_RESPONSE = _CONNECTION | {
    *("set-cookie", "alt-svc", "server", "date", "strict-transport-security", "clear-site-data"),
    *("content-digest", "content-md5", "digest", "repr-digest"),
}
_REQUEST_PREFIXES = ("x-forwarded-", "sec-")
_RESPONSE_PREFIXES = ("access-control-",)
_KEYS = ("authorization", "x-api-key")
# Where other clients send theirs, such as Azure's and Google's.
_IDENTITIES = (*_KEYS, "api-key", "x-goog-api-key")


def to_upstream(
    given: CIMultiDictProxy[str], *, key: str | None, own: Collection[str], key_header: str
) -> CIMultiDict[str]:
    """The headers of a request to the upstream.

    Args:
        key: Replaces the client's key, in the header in which that came.
        own: The gateway's own keys, of which none may leave it.
        key_header: Where the key is sent if the client sent none.
    """
    passed = _passing(given, _REQUEST, _REQUEST_PREFIXES)
    name = key_header
    for one in _KEYS:
        if (own or key is not None) and one in passed:
            name = one
            passed.popall(one)
    for other in {one for one, value in passed.items() if any(secret in value for secret in own)}:
        passed.popall(other, None)
    if key is not None:
        passed[name] = key if name == "x-api-key" else f"Bearer {key}"
    passed["accept-encoding"] = "identity"
    return passed


def to_client(given: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """The headers of an answer to the client."""
    return _passing(given, _RESPONSE, _RESPONSE_PREFIXES)


def client_key(given: Mapping[str, str]) -> str:
    """The key that a client sent; empty if there is none."""
    scheme, _, token = given.get("authorization", "").partition(" ")
    return given.get("x-api-key") or (token.strip() if scheme.lower() == "bearer" else "")


def identity(given: CIMultiDictProxy[str]) -> list[str]:
    """Everything in which a client may have sent a key, unread."""
    return [f"{name}:{value}" for name in _IDENTITIES for value in given.getall(name, ())]


def _passing(
    given: CIMultiDictProxy[str], dropped: frozenset[str], prefixes: tuple[str, ...]
) -> CIMultiDict[str]:
    # What `connection` names is about this connection, too.
    named = {name.strip().lower() for value in given.getall("connection", ()) for name in value.split(",")}
    return CIMultiDict(
        (name, value)
        for name, value in given.items()
        if (lower := name.lower()) not in dropped | named and not lower.startswith(prefixes)
    )
