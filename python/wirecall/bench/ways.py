"""Ways of asking: a model, a mode, and perhaps an ablation; and which is compared with which."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

NATIVE = "native"


@dataclass(frozen=True, order=True)
class Way:
    """How a case was asked. `ablation` is empty where nothing was changed."""

    model: str
    mode: str
    ablation: str = ""

    def __str__(self) -> str:
        return f"{self.model}, {self.mode}" + (f", {self.ablation}" if self.ablation else "")


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
