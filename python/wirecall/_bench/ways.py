"""Ways of asking: a model, a mode, and perhaps an ablation; and which is compared with which."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from wirecall._bench.artifact import Cell

NATIVE = "native"


class Way(NamedTuple):
    """How a case or task is asked. `ablation` is empty where nothing is changed."""

    model: str
    mode: str
    ablation: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, self))

    @property
    def members(self) -> dict[str, str | None]:
        """Of a cell."""
        return {"model": self.model, "mode": self.mode, "ablation": self.ablation or None}


def way_of(cell: Mapping[str, Any]) -> Way:
    return Way(cell["model"], cell["mode"], cell.get("ablation") or "")


def case_of(cell: Mapping[str, Any]) -> str:
    return str(cell.get("case") or cell.get("task"))


def as_asked_for(cells: Iterable[Cell], options: Mapping[str, Any]) -> list[Cell]:
    """The cells of one way after those of another, ways in the order in which the run's options name them."""

    def place(cell: Cell) -> tuple[int, ...]:
        way = way_of(cell)
        named = (
            (way.model, options.get("models", ())),
            (way.mode, options.get("modes", ())),
            (way.ablation, ["", *options.get("ablations", ())]),
        )
        return tuple(list(names).index(name) if name in names else len(names) for name, names in named)

    return sorted(cells, key=place)


def baselines(ways: Iterable[Way]) -> dict[Way, Way]:
    """What each way is compared with: an ablation with its mode as it is, a mode with native."""
    ways = list(ways)
    found = {}
    for way in ways:
        other = Way(way.model, way.mode if way.ablation else NATIVE)
        if other != way and other in ways:
            found[way] = other
    return found
