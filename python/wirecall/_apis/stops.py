"""Which models refuse a stop sequence, as servers have said."""

import re
import threading
from collections.abc import Mapping
from typing import Any

from wirecall._apis.values import listed

# Where requests have stop sequences.
KEYS = ("stop", "stop_sequences")

# An error that names the parameter, or what it is.
_NAMED = re.compile(rb"(?<![a-z_])stop(?:_(?:sequences?|words))?(?![a-z_])", re.IGNORECASE)
# A message that is longer echoes something.
_READ = 64 * 1024
# 422 is what servers made with FastAPI answer.
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
    """A rewritten request with the stop sequences of the host's own; the very request if it has no others."""
    if all(request.get(key) == given.get(key) for key in KEYS):
        return request
    left = {key: value for key, value in request.items() if key not in KEYS}
    return {**left, **{key: given[key] for key in KEYS if key in given}}


class Refusals:
    """Models that refused one, by base URL and model. Safe for threads.

    Args:
        most: How many are remembered; the one that was noted first is forgotten first.
    """

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
        with self._lock:
            return (base_url, model) in self._known

    def clear(self) -> None:
        with self._lock:
            self._known.clear()


# Of this process: applications make a client for each request, too.
REFUSALS = Refusals()
