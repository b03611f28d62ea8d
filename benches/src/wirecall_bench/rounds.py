"""What each contestant takes for each row, in interleaved rounds: for goals, which are judged by the fastest.

Every round runs all contestants of all rows in turn, so that a slow phase of the machine, which may last for
seconds, affects all of them. `timing` times single deltas, where the clock costs more than the delta.
"""

import argparse
import gc
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from wirecall_bench.artifact import processor, version
from wirecall_bench.tables import Table, markdown

# Seconds that one sample should last at least.
_SAMPLE = 0.01
_ROUNDS, _QUICK = 15, 3
_MB = 1 << 20

Run = Callable[[], object]


class Timing(NamedTuple):
    """Seconds for one unit of work, over the rounds."""

    best: float
    median: float


class GoalResult(NamedTuple):
    ratio: float
    shown: str
    met: bool


@dataclass
class Row:
    """One line of a table.

    Attributes:
        unit: What a figure is for, such as "delta".
        goal: In words.
        judge: Compares the figures with the goal.
        contest: What each contestant runs.
        units: How many units of work that is; 1 for those that are missing.
        figures: The times, after `measure`.
        grown: Bytes, for a row about memory, which has no contest.
    """

    work: str
    unit: str
    goal: str
    judge: Callable[["Row"], GoalResult]
    contest: Mapping[str, Run] = field(default_factory=dict)
    units: Mapping[str, int] = field(default_factory=dict)
    figures: dict[str, Timing] = field(default_factory=dict)
    grown: dict[str, int] = field(default_factory=dict)

    def ratio(self, name: str, other: str) -> float:
        return self.figures[name].best / self.figures[other].best

    def kept(self) -> dict[str, Any]:
        ratio, _, met = self.judge(self)
        return {
            "work": self.work,
            "unit": self.unit,
            "seconds": {name: figure._asdict() for name, figure in self.figures.items()},
            "grown": self.grown,
            "goal": self.goal,
            "ratio": ratio,
            "met": met,
        }


def measure(rows: Sequence[Row], rounds: int, clock: Callable[[], float] = perf_counter) -> None:
    """Fill in the figures. Each round begins with another contestant; the garbage collector is off."""
    runs = [
        (row, name, run, max(1, round(_SAMPLE / _seconds(run, 1, clock))), list[float]())
        for row in rows
        for name, run in row.contest.items()
    ]
    for turn in range(rounds):
        for row in rows:
            own = [one for one in runs if one[0] is row]
            first = turn % len(own) if own else 0
            for _, name, run, repeat, samples in (*own[first:], *own[:first]):
                samples.append(_seconds(run, repeat, clock) / repeat / row.units.get(name, 1))
    for row, name, _, _, samples in runs:
        row.figures[name] = Timing(min(samples), median(samples))


def _seconds(run: Run, repeat: int, clock: Callable[[], float]) -> float:
    gc.collect()
    gc.disable()
    try:
        started = clock()
        for _ in range(repeat):
            run()
        return clock() - started
    finally:
        gc.enable()


# The table --------------------------------------------------------------------------------------------------


def shown(row: Row, name: str) -> str:
    """The fastest round, and in brackets the median."""
    if name in row.grown:
        return f"{row.grown[name] / _MB:.1f} MB"
    if (figure := row.figures.get(name)) is None:
        return "-"
    scale, unit = (1e6, "µs") if figure.best < 1e-3 else (1e3, "ms")
    return f"{figure.best * scale:.3g} ({figure.median * scale:.3g}) {unit}"


def table(rows: Sequence[Row], names: Sequence[str], cell: Callable[[Row, str], str] = shown) -> Table:
    """One column for each of these contestants."""
    lines = []
    for row in rows:
        work = f"{row.work}, per {row.unit}" if row.unit else row.work
        _, said, met = row.judge(row)
        lines.append([work, *(cell(row, name) for name in names), said, row.goal, "yes" if met else "NO"])
    return Table("", ["work", *names, "ratio", "goal", "met"], lines, left=len(names) + 4)


# The command ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    cpu: str
    cores: int | None
    python: str
    wirecall: str | None

    def __str__(self) -> str:
        return f"{self.cpu}, {self.cores} cores, {self.python}, wirecall {self.wirecall}"


def machine() -> Machine:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return Machine(processor(), cores, python, version("wirecall"))


def main(
    about: str,
    make: Callable[[], Sequence[Row]],
    show: Callable[[Sequence[Row]], Table],
    arguments: Sequence[str] | None = None,
) -> None:
    """Measure rows and print their table as Markdown.

    Args:
        about: What is measured, for `--help`.
        make: The rows. Nothing is measured if it raises.
        show: The table of measured rows.
        arguments: Those of the process by default.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK} rounds, for a first look")
    parser.add_argument("--rounds", type=int, help=f"how many rounds ({_ROUNDS})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures, in seconds")
    chosen = parser.parse_args(arguments)
    rounds = chosen.rounds or (_QUICK if chosen.quick else _ROUNDS)
    print(f"{machine()}\nfastest of {rounds} interleaved rounds (median)\n", flush=True)
    rows = make()
    measure(rows, rounds)
    print(markdown(show(rows)))
    if chosen.json:
        kept = {"machine": asdict(machine()), "rounds": rounds, "rows": [row.kept() for row in rows]}
        chosen.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
