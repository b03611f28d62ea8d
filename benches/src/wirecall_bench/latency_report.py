"""The results of `bench latency`: tables, and how the cost of a delta grows with the length of a call."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from wirecall_bench.artifact import Cell
from wirecall_bench.tables import Table

# The contestant of the cell that measures the clock itself.
CLOCK = "clock"
# This project's goal for interleaved streams, in microseconds.
GOAL = 20.0
_MB = 1 << 20
# Linux counts the memory of a process in steps of up to 64 pages.
_LEAST_MEMORY = _MB // 4
# With fewer lengths, a slope is meaningless.
_FEWEST_LENGTHS = 3
_FIGURES = {"median": "median", "p99": "p99", "p999": "p99.9", "mean": "mean", "slowest": "slowest"}


def rules(options: Mapping[str, Any]) -> list[str]:
    """How it was measured, for readers of the tables."""
    return [
        '"code" is a call with one long argument, "markers" one whose argument contains markers of calls, '
        '"prose" has no call, "calls" are small calls in one message, "streams" are concurrent messages of '
        "prose and a call, read one delta at a time in turn.",
        f"A message comes in deltas of {options['delta']} characters. Each delta is timed separately, and so "
        "is the end of a message; the cost of the clock is not subtracted. Each round times every parser "
        f"once ({options['rounds']} rounds), with the garbage collector off. A parser is timed only on texts "
        "that it reads correctly.",
        '"reads" is the format of the calls. "arguments" are what providers stream for a call: a parser of '
        "these does not have to find calls, names and text.",
        f"A reading that takes longer than {options['limit']:g} s is cut off: whether the rest would be "
        "correct is unknown, and the figures are those of its first deltas, which are the cheapest.",
    ]


def tables(cells: Sequence[Cell], options: Mapping[str, Any]) -> list[Table]:
    """All tables. A cell that was not timed gives the reason."""
    measured = [cell for cell in cells if cell["contestant"] != CLOCK]
    code = [cell for cell in measured if cell["work"] == "code"]
    if not measured:
        return []
    found = [_who(measured, _clock(cells))]
    if code:
        found += [_growth(code), _memory(code)]
    for workload, length in dict.fromkeys((cell["work"], cell["length"]) for cell in measured):
        chosen = [cell for cell in measured if (cell["work"], cell["length"]) == (workload, length)]
        found.append(_workload(workload, length, chosen))
    return found + _reasons(measured, options["limit"])


def lines(cells: Iterable[Cell]) -> dict[str, list[tuple[float, float]]]:
    """For each contestant, the lengths of calls that it parsed completely and the median cost of a delta."""
    found: dict[str, list[tuple[float, float]]] = {}
    for cell in cells:
        if cell["contestant"] != CLOCK and cell["work"] == "code" and cell["status"] == "ok":
            found.setdefault(cell["contestant"], []).append((cell["size"], cell["microseconds"]["median"]))
    return found


def slope(points: Sequence[tuple[float, float]]) -> float | None:
    """The exponent with which the cost of a delta grows with the length: 0 is constant, 1 is proportional."""
    if len(points) < _FEWEST_LENGTHS:
        return None
    logs = np.log(np.array(points, dtype=float))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def _who(cells: Iterable[Cell], notes: Sequence[str]) -> Table:
    rows = {cell["contestant"]: [cell["contestant"], cell["reads"], cell["what"]] for cell in cells}
    head = ["contestant", "reads", "is called for each delta"]
    return Table("Contestants", head, list(rows.values()), left=3, notes=notes)


def _growth(code: Sequence[Cell]) -> Table:
    slopes = {name: slope(points) for name, points in lines(code).items()}
    rows = [
        [*row, "-" if (power := slopes.get(row[0])) is None else f"{power:.2f}"]
        for row in _by_length(code, lambda cell: time_text(cell["microseconds"]["median"]))
    ]
    notes = [
        "Growth: the slope on logarithmic axes, over lengths that were read to the end. 0: a delta costs the "
        "same however long the call is; 1: it costs twice as much in a call that is twice as long. "
        f"-: fewer than {_FEWEST_LENGTHS} lengths were read to the end.",
    ]
    return Table(
        "A call with an argument of code: µs per delta, median",
        ["contestant", *_lengths(code), "growth"],
        rows,
        notes=notes,
    )


def _memory(code: Sequence[Cell]) -> Table:
    rows = _by_length(code, lambda cell: _bytes(cell["memory"]))
    notes = ["Growth of a fresh process that has read a call before, with all results still referenced."]
    return Table("The same: memory", ["contestant", *_lengths(code)], rows, notes=notes)


def _by_length(code: Sequence[Cell], shown: Callable[[Cell], str]) -> list[list[str]]:
    lengths = _lengths(code)
    rows = []
    for name in dict.fromkeys(cell["contestant"] for cell in code):
        own = {cell["length"]: cell for cell in code if cell["contestant"] == name}
        rows.append([name, *(_shown(own.get(length), shown) for length in lengths)])
    return rows


def _lengths(code: Iterable[Cell]) -> list[str]:
    sizes = {cell["length"]: cell["size"] for cell in code}
    return sorted(sizes, key=lambda length: sizes[length])


def _shown(cell: Cell | None, shown: Callable[[Cell], str]) -> str:
    if cell is None:
        return "-"
    return shown(cell) if cell["status"] == "ok" else STATUSES[cell["status"]]


STATUSES = {"cut": "cut off", "wrong": "wrong", "skipped": "skipped"}


def _workload(workload: str, length: str, cells: Sequence[Cell]) -> Table:
    rows = []
    for cell in cells:
        figures, samples = cell["microseconds"], f"{cell['samples']:,}"
        times = [time_text(figures[name]) if figures else "-" for name in _FIGURES]
        rows.append([cell["contestant"], _judged(cell), samples, *times, _bytes(cell["memory"])])
    head = ["contestant", "right", "N", *_FIGURES.values(), "memory"]
    return Table(f"{workload}, {length}: µs per delta", head, rows, left=2, notes=_goal(workload, cells))


def _judged(cell: Cell) -> str:
    if cell["status"] != "ok":
        return STATUSES[cell["status"]]
    return "yes" if cell["correct"] else "reads nothing"


def _goal(workload: str, cells: Sequence[Cell]) -> list[str]:
    if workload != "streams":
        return []
    found = {
        cell["contestant"]: cell["microseconds"]["p999"]
        for cell in cells
        if cell["contestant"].startswith("wirecall") and cell["status"] == "ok"
    }
    said = (
        f"{name} {time_text(value)} µs, {'met' if value < GOAL else 'NOT met'}"
        for name, value in found.items()
    )
    return [f"One thread reads all of them. Goal of wirecall: p99.9 under {GOAL:g} µs. {'; '.join(said)}."]


def _reasons(cells: Sequence[Cell], limit: float) -> list[Table]:
    """One row for each contestant and reason, with all workloads that it applies to."""
    found: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if cell["status"] == "ok":
            continue
        reason = cell["reason"]
        if cell["status"] == "cut":
            reason = f"after {limit:g} s, with {cell['done']:,} of {cell['deltas']:,} deltas"
        why = f"{STATUSES[cell['status']]}: {reason}"
        found.setdefault((cell["contestant"], why), []).append(f"{cell['work']} {cell['length']}")
    if not found:
        return []
    everything = len({(cell["work"], cell["length"]) for cell in cells})
    rows = [
        [name, "all" if len(workloads) == everything else ", ".join(workloads), why]
        for (name, why), workloads in found.items()
    ]
    return [Table("What was wrong, cut off or skipped", ["contestant", "works", "why"], rows, left=3)]


def _clock(cells: Iterable[Cell]) -> list[str]:
    for cell in cells:
        if cell["contestant"] == CLOCK:
            figures = cell["microseconds"]
            return [
                f"Reading the clock takes {time_text(figures['median'])} µs "
                f"(p99.9 {time_text(figures['p999'])} µs), which is in all figures."
            ]
    return []


def time_text(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:,.1f}"


def _bytes(size: int | None) -> str:
    if size is None:
        return "-"
    return f"{size / _MB:,.2f} MB" if size >= _LEAST_MEMORY else f"< {_LEAST_MEMORY / _MB:.2f} MB"
