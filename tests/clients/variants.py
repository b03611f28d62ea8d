"""Ways to write and to deliver the events of a stream: each alone, in pairs, and many at once."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from itertools import combinations
from typing import Any

from server import Delivery, EventFormat

# What differs from the default, by the fields of `EventFormat` and `Delivery`.
VALUES: Mapping[str, Sequence[Any]] = {
    "line_end": ("\r\n", "\r", "mixed"),
    "bom": (True,),
    "space": (False,),
    "names": ("none", "message"),
    "ids": ("each", "some", "empty"),
    "retry": (True,),
    "unknown": (True,),
    "comment": ("before", "inside", "block"),
    "rotation": (1, 2, 3, 4),
    "data_lines": (True,),
    "blank_lines": (1, 2),
    "between": ("ping", "empty data", "unknown type"),
    "last": ("no blank line", "missing"),
    "comments": (1, 2),
    # Single bytes; sizes that split events; several events at once; all of them.
    "chunk": (1, range(1, 90), range(300, 900), 1_000_000),
    "gzip": (True,),
}
RANDOM = 400
_FORMAT = {field.name for field in fields(EventFormat)}


@cache
def single() -> list[Delivery]:
    """The default, and each value alone."""
    return [_delivery({}), *(_delivery({name: value}) for name, value in _values())]


@cache
def all() -> list[Delivery]:
    """Each value alone, all pairs of them, and random choices of three to six: always the same ones."""
    pairs = [dict(pair) for pair in combinations(_values(), 2) if pair[0][0] != pair[1][0]]
    combined = [*pairs, *_random(random.Random(0))]
    return [*dict.fromkeys([*single(), *map(_delivery, combined)])]


def _delivery(values: Mapping[str, Any]) -> Delivery:
    form = {name: value for name, value in values.items() if name in _FORMAT}
    rest = {name: value for name, value in values.items() if name not in _FORMAT}
    return Delivery(characters=9, format=EventFormat(**form), **rest)


def _values() -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, values in VALUES.items() for value in values)


def _random(choices: random.Random) -> Iterator[dict[str, Any]]:
    for _ in range(RANDOM):
        names = choices.sample(list(VALUES), choices.randint(3, 6))
        yield {"seed": choices.randrange(1000)} | {name: choices.choice(VALUES[name]) for name in names}
