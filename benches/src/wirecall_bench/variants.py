"""Variants: a model, a mode and perhaps an ablation; and which variants are compared."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from wirecall_bench.artifact import Cell
from wirecall_bench.modes import NATIVE, mode_of


class Variant(NamedTuple):
    """How a case or task is run. `ablation` is empty if nothing is changed."""

    model: str
    mode: str
    ablation: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, self))

    @property
    def members(self) -> dict[str, str | None]:
        """The members of a cell."""
        return {"model": self.model, "mode": self.mode, "ablation": self.ablation or None}


def variant_of(cell: Mapping[str, Any]) -> Variant:
    return Variant(cell["model"], cell["mode"], cell.get("ablation") or "")


def case_of(cell: Mapping[str, Any]) -> str:
    return str(cell.get("case") or cell.get("task"))


def in_run_order(cells: Iterable[Cell], options: Mapping[str, Any]) -> list[Cell]:
    """The cells grouped by variant, in the order of the run's options."""

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
    """The variant that each one is compared with.

    An ablation is compared with its mode, a mode with its baseline, or with native if that was not run.
    """
    variants = list(variants)
    found = {}
    for variant in variants:
        modes = (variant.mode,) if variant.ablation else (mode_of(variant.mode).baseline, NATIVE)
        others = (Variant(variant.model, mode) for mode in modes)
        if (other := next((one for one in others if one in variants), variant)) != variant:
            found[variant] = other
    return found
