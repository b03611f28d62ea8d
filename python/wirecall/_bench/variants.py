"""Ways of asking: a model, a mode, and perhaps an ablation; and which is compared with which."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from wirecall._bench.artifact import Cell

NATIVE = "native"


class Variant(NamedTuple):
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


def variant_of(cell: Mapping[str, Any]) -> Variant:
    return Variant(cell["model"], cell["mode"], cell.get("ablation") or "")


def case_of(cell: Mapping[str, Any]) -> str:
    return str(cell.get("case") or cell.get("task"))


def in_run_order(cells: Iterable[Cell], options: Mapping[str, Any]) -> list[Cell]:
    """The cells of one way after those of another, ways in the order in which the run's options name them."""

    def place(cell: Cell) -> tuple[int, ...]:
        variant = variant_of(cell)
        named = (
            (variant.model, options.get("models", ())),
            (variant.mode, options.get("modes", ())),
            (variant.ablation, ["", *options.get("ablations", ())]),
        )
        return tuple(list(names).index(name) if name in names else len(names) for name, names in named)

    return sorted(cells, key=place)


def baselines(variants: Iterable[Variant]) -> dict[Variant, Variant]:
    """What each way is compared with: an ablation with its mode as it is, a mode with native."""
    variants = list(variants)
    found = {}
    for variant in variants:
        other = Variant(variant.model, variant.mode if variant.ablation else NATIVE)
        if other != variant and other in variants:
            found[variant] = other
    return found
