"""Artifacts with planted outcomes, for the tests of the report."""

import random
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from wirecall_bench.artifact import Artifact

Cell = dict[str, Any]


def asked(
    rates: dict[tuple[str, str], float],
    *,
    cases: int = 60,
    repetitions: int = 3,
    seed: int = 1,
    change: Callable[[Cell], None] = lambda cell: None,
) -> Iterable[Cell]:
    """Cells of `bench live`, with the planted share of right answers for each mode and ablation."""
    draw = random.Random(seed)
    for case in range(cases):
        for (mode, ablation), rate in rates.items():
            for repetition in range(repetitions):
                right = draw.random() < rate
                cell: Cell = {
                    "key": ["m", mode, ablation, str(case), str(repetition)],
                    "case": f"case {case}",
                    "group": "odd" if case % 2 else "even",
                    "model": "m",
                    "mode": mode,
                    "ablation": ablation or None,
                    "repetition": repetition,
                    "status": "ok",
                    "reason": None,
                    "scores": {"exact": right, "normalised": right, "judged": None},
                    "usage": {"input": 100 + case, "output": 10, "cached": 0, "unknown": 0},
                    "times": {"first_token": 0.1, "first_call": 0.2, "total": 0.3},
                    "repairs": [],
                    "problems": [],
                    "errors": [],
                    "retries": [],
                    "requests": [{"sha256": sha256(f"{mode}{ablation}{case}".encode()).hexdigest()}],
                }
                change(cell)
                yield cell


def artifact(
    path: Path, cells: Iterable[Cell], kind: Any = "live", options: Mapping[str, Any] | None = None
) -> Path:
    with Artifact.create(path, kind, options or {}) as made:
        for cell in cells:
            made.append(cell)
    return path
