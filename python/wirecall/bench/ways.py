"""Ways of asking: a model, a mode, and perhaps an ablation; and which is compared with which."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

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


def baselines(ways: Iterable[Way]) -> dict[Way, Way]:
    """What each way is compared with: an ablation with its mode as it is, a mode with native."""
    ways = list(ways)
    found = {}
    for way in ways:
        other = Way(way.model, way.mode if way.ablation else NATIVE)
        if other != way and other in ways:
            found[way] = other
    return found
