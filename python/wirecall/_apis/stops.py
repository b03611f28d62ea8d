"""Which models refuse a stop sequence."""

import re
import threading
from collections.abc import Mapping
from typing import Any

from wirecall._apis.values import listed

# Keys of requests for stop sequences.
KEYS = ("stop", "stop_sequences")

# The name of the parameter, or of what it contains, in an error.
_NAMED = re.compile(rb"(?<![a-z_])stop(?:_(?:sequences?|words))?(?![a-z_])", re.IGNORECASE)
# A longer message quotes the request.
_READ = 64 * 1024
# Servers made with FastAPI answer 422.
_STATUS = (400, 422)


def stops_of(request: Mapping[str, Any]) -> tuple[object, ...]:
    """The stop sequences and stop token ids of a request."""
    given = next(filter(None, map(request.get, KEYS)), None)
    texts = [given] if isinstance(given, str) else listed(given)
    tokens = listed(request.get("stop_token_ids"))
    return tuple(stop for stop in [*texts, *tokens] if isinstance(stop, (str, int)))


def is_refusal(status: int, body: bytes) -> bool:
    """Whether an error says that the request may not have stop sequences."""
    return status in _STATUS and _NAMED.search(body[:_READ]) is not None


def without(request: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """A rewritten request with only the host's own stop sequences; the request itself if it has no others."""
    if all(request.get(key) == given.get(key) for key in KEYS):
        return request
    left = {key: value for key, value in request.items() if key not in KEYS}
    return {**left, **{key: given[key] for key in KEYS if key in given}}


class Refusals:
    """The last `most` models that refused a stop sequence, by base URL and model. Safe for threads."""

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], None] = {}

    def add(self, base_url: str, model: str) -> None:
        with self._lock:
            self._known[base_url, model] = None
            while len(self._known) > self._most:
                del self._known[next(iter(self._known))]

    def has(self, base_url: str, model: str) -> bool:
        return (base_url, model) in self._known

    def clear(self) -> None:
        self._known.clear()


# For the whole process: some applications make a client for each request.
REFUSALS = Refusals()
