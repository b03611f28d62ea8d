"""The findings of a run in sentences: which format or parser won by how much, if a difference was shown."""

from collections.abc import Iterable, Mapping, Sequence

from wirecall._cli.console import plural
from wirecall_bench.artifact import Cell
from wirecall_bench.formats import ARGUMENTS_ALONE, BASELINE
from wirecall_bench.latency_report import CLOCK, STATUSES, time_text
from wirecall_bench.offline import Total, unit
from wirecall_bench.outcomes import Measure, Outcome
from wirecall_bench.peers import ARGUMENTS
from wirecall_bench.statistics import Difference
from wirecall_bench.variants import Variant, baselines

NO_DIFFERENCE = "no difference shown"
# This project's format.
_OURS = "wire"
# How many differences, and comparisons without one, are named; the tables have all.
_NAMED, _FEW = 4, 2


def of_scores(found: Mapping[Variant, Outcome], judge: Measure) -> str:
    """Which variants were right more often than those that they are compared with."""
    differ, same = [], []
    for variant, other in baselines(found).items():
        change = found[variant].beside(found[other], judge)
        if change.shown:
            differ.append(_difference(variant, other, change))
        else:
            same.append(f"{variant} against {other.mode}")
    if len(same) <= _FEW:
        alike = f"{NO_DIFFERENCE} for {'; '.join(same)}"
    else:
        alike = f"{NO_DIFFERENCE} in {'the other' if differ else 'any of'} {len(same)} comparisons"
    if differ:
        said = f"{_some(differ)}{f'. {alike[0].upper() + alike[1:]}' if same else ''}"
    elif same:
        said = alike
    else:
        means = ((of.variant, of.interval(judge)) for of in found.values())
        shares = [f"{variant} {100 * mean.mean:.1f} %, N = {mean.n}" for variant, mean in means if mean]
        said = f"{_some(shares) or 'none'}. There is nothing to compare"
    return f"Right answers ({judge.name}): {said}."


def _difference(variant: Variant, other: Variant, change: Difference) -> str:
    found = change.interval
    assert found is not None
    points, low, high = (100 * part for part in (found.mean, found.low, found.high))
    way = "above" if points > 0 else "below"
    return (
        f"{variant} is {abs(points):.1f} percentage points {way} {other.mode} "
        f"[{low:+.1f}, {high:+.1f}], N = {found.n}"
    )


def _some(parts: Sequence[str]) -> str:
    more = len(parts) - _NAMED
    return "; ".join([*parts[:_NAMED], *([f"and {more} more"] if more > 0 else [])])


def of_counts(catalogue: str, vocabulary: str, found: Iterable[Total]) -> str:
    """Which format costs least for the calls of a catalogue."""
    place = f"Calls of {catalogue}, in {unit(vocabulary)}"
    able = [
        total
        for total in found
        if total.format not in (BASELINE, ARGUMENTS_ALONE) and total.held == total.cases and total.baseline
    ]
    if not able:
        return f"{place}: no format besides {BASELINE} can write them all."
    best = min(able, key=lambda total: total.calls)
    sentence = (
        f"{place}: of the {plural(len(able), 'format')} that can write them all, {best.format} costs least, "
        f"{_against_baseline(best)} {BASELINE}, the shortest form in JSON"
    )
    ours = next((total for total in able if total.format == _OURS), best)
    return f"{sentence}." if ours == best else f"{sentence}; {_OURS} costs {_against_baseline(ours)} it."


def _against_baseline(total: Total) -> str:
    share = 100 * (total.calls - total.baseline) / total.baseline
    return f"{abs(share):.1f} % {'more' if share > 0 else 'less'} than"


def of_times(cells: Iterable[Cell]) -> str:
    """Which parser takes the least time for a delta, in the longest call that at least two could read."""
    by_length: dict[str, list[Cell]] = {}
    for cell in sorted((one for one in cells if one["contestant"] != CLOCK), key=lambda one: one["size"]):
        if cell["work"] == "code":
            by_length.setdefault(cell["length"], []).append(cell)
    compared = [length for length, found in by_length.items() if len(_timed(found)) > 1]
    if not compared:
        return f"{NO_DIFFERENCE.capitalize()}: no two parsers read the same call with code to its end."
    found = by_length[compared[-1]]
    first, *others = _timed(found)
    least = _median(first)
    longer = "; ".join(f"{_name(cell)} {_times(_median(cell) / least)}" for cell in others)
    absent = [
        f"{cell['contestant']} ({STATUSES[cell['status']]})" for cell in found if cell["status"] != "ok"
    ]
    return (
        f"In a call with {compared[-1]} of code, {_name(first)} takes the least time for a delta: "
        f"{time_text(least)} µs (median). The others take a multiple of it: {longer}."
        + (f" Not compared: {', '.join(absent)}." if absent else "")
    )


def _timed(cells: Iterable[Cell]) -> list[Cell]:
    """The parsers that were timed, fastest first. The no-op reads nothing, so it is left out."""
    return sorted((cell for cell in cells if cell["status"] == "ok" and cell["correct"]), key=_median)


def _median(cell: Cell) -> float:
    return float(cell["microseconds"]["median"])


def _name(cell: Cell) -> str:
    return f"{cell['contestant']} (arguments only)" if cell["reads"] == ARGUMENTS else str(cell["contestant"])


def _times(ratio: float) -> str:
    return f"{ratio:.1f} times" if ratio < 10 else f"{ratio:,.0f} times"
