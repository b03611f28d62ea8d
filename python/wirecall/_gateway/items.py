"""Items of the Responses API that clients refer to by their ids, as the AI SDK does by default."""

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

from wirecall._clients import sse

_DONE = b'"response.output_item.done"'


class ItemMemory:
    """The items that clients got, each for the keys of its client: an id of one client is unknown to others.

    The oldest items are forgotten first.

    Args:
        most: The number of items, over all clients.
        most_bytes: Their size as JSON.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._items: OrderedDict[tuple[bytes, str], bytes] = OrderedDict()
        # Keys of clients are not kept, only their hashes under a secret of this process.
        self._secret = secrets.token_bytes(32)

    def owner(self, keys: Iterable[str]) -> bytes:
        """A keyed hash of the keys of a client."""
        written = "\0".join(keys).encode(errors="surrogateescape")
        return hashlib.blake2b(written, key=self._secret, digest_size=16).digest()

    def keep(self, owner: bytes, item: object) -> None:
        if not isinstance(item, Mapping) or not isinstance(id := item.get("id"), str):
            return
        written = sse.dump(item)
        if len(written) > self._most_bytes:
            return
        self._bytes += len(written) - len(self._items.pop((owner, id), b""))
        self._items[owner, id] = written
        while len(self._items) > self._most or self._bytes > self._most_bytes:
            self._bytes -= len(self._items.popitem(last=False)[1])

    def find(self, owner: bytes, request: Mapping[str, Any]) -> dict[int, bytes]:
        """The items that a request refers to, as JSON, by the places of their references in its input."""
        found: dict[int, bytes] = {}
        given = request.get("input")
        for place, one in enumerate(given if isinstance(given, list) else ()):
            if not isinstance(one, dict) or one.get("type") != "item_reference":
                continue
            if isinstance(id := one.get("id"), str) and (owner, id) in self._items:
                self._items.move_to_end((owner, id))
                found[place] = self._items[owner, id]
        return found


def put(request: Mapping[str, Any], found: Mapping[int, bytes]) -> dict[str, Any]:
    """The request with these items in the places of their references."""
    read = {written: sse.load(written) for written in {*found.values()}}
    items = [read[found[place]] if place in found else one for place, one in enumerate(request["input"])]
    return {**request, "input": items}


class ItemListener:
    """Finds the items in an answer: `whole`, or in the bytes of a stream."""

    def __init__(self, memory: ItemMemory, owner: bytes) -> None:
        self._memory = memory
        self._owner = owner
        self._events: sse.Parser | None = sse.Parser()

    def whole(self, body: bytes) -> None:
        output = (sse.load(body) or {}).get("output")
        for item in output if isinstance(output, list) else ():
            self._memory.keep(self._owner, item)

    def feed(self, piece: bytes) -> None:
        if self._events is None:
            return
        try:
            events = self._events.feed(piece)
        except sse.TooLargeError:
            # Such an item would not be remembered either.
            self._events = None
            return
        for event in events:
            if event.data is not None and _DONE in event.data:
                self._memory.keep(self._owner, (sse.load(event.data) or {}).get("item"))
