"""Items of the Responses API that clients refer to by their ids, as the AI SDK does by default."""

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from wirecall._clients import sse

_DONE = b'"response.output_item.done"'


class ItemMemory:
    """The items that clients got, each for the key of its client: an id of one key is unknown to others.

    The oldest items are forgotten first.

    Args:
        most: The number of items, over all keys.
        most_bytes: Their size as JSON.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._items: OrderedDict[tuple[bytes, str], bytes] = OrderedDict()
        # Keys of clients are not kept, only their hashes under a secret of this process.
        self._secret = secrets.token_bytes(32)

    def owner(self, key: str) -> bytes:
        """What stands for the key of a client."""
        return hashlib.blake2b(key.encode(errors="replace"), key=self._secret, digest_size=16).digest()

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

    def resolved(self, owner: bytes, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The request with the items that its references name; the same object if it has none of them."""
        given = request.get("input")
        if not isinstance(given, list):
            return request
        items = [self._item(owner, one) for one in given]
        return (
            request if all(a is b for a, b in zip(items, given, strict=True)) else {**request, "input": items}
        )

    def _item(self, owner: bytes, given: Any) -> Any:
        if not isinstance(given, dict) or given.get("type") != "item_reference":
            return given
        key = owner, str(given.get("id"))
        if key not in self._items:
            return given
        self._items.move_to_end(key)
        return sse.load(self._items[key])


class ItemListener:
    """Finds the items in an answer: `whole`, or in the bytes of a stream."""

    def __init__(self, memory: ItemMemory, owner: bytes) -> None:
        self._memory = memory
        self._owner = owner
        self._events = sse.Parser()

    def whole(self, body: bytes) -> None:
        output = (sse.load(body) or {}).get("output")
        for item in output if isinstance(output, list) else ():
            self._memory.keep(self._owner, item)

    def feed(self, piece: bytes) -> None:
        for event in self._events.feed(piece):
            if event.data is not None and _DONE in event.data:
                self._memory.keep(self._owner, (sse.load(event.data) or {}).get("item"))
