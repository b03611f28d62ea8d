"""The limits of the gateway."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of the gateway. Each refusal says which one it was.

    Attributes:
        body_bytes: The body of a request. Images come in it, in base64.
        body_seconds: From the headers of a request to the end of its body.
        header_seconds: From the first byte of a request to the end of its headers; idle connections are
            closed after as long.
        answer_bytes: A whole answer of an upstream, which is held in memory.
        streams: Requests that run at the same time.
        connect_seconds: A connection to an upstream.
        silence_seconds: The upstream sends nothing, or a client reads nothing.
        drain_seconds: How long running requests may take once the process has been told to end.
        remembered_items, remembered_bytes: Items of the Responses API, over all keys.
    """

    body_bytes: int = 32 * 1024 * 1024
    body_seconds: float = 15.0
    header_seconds: float = 15.0
    answer_bytes: int = 64 * 1024 * 1024
    streams: int = 4096
    connect_seconds: float = 10.0
    silence_seconds: float = 600.0
    drain_seconds: float = 20.0
    remembered_items: int = 10_000
    remembered_bytes: int = 64 * 1024 * 1024
