"""The results of `bench live` and `bench agent`: each variant on its own, and compared with another.

Nothing is dropped: a failed cell counts as missed in all scores, a cell without a verdict counts as missed in
that score, and skipped cells, which have no results, are counted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from wirecall_bench.artifact import Cell
from wirecall_bench.statistics import Difference, Interval, difference, mean
from wirecall_bench.variants import Variant, case_of, variant_of


@dataclass(frozen=True)
class Measure:
    """A value that cells have.

    Attributes:
        name: The name of the member, and of the column.
        means: An explanation; empty if the name is clear.
        unit: "%" for a score, which is the share of correct answers. Otherwise the unit of the count.
        more: Whether higher values are better.
        of: Returns the value of a cell that was not skipped; None if it has none.
    """

    name: str
    unit: str
    more: bool
    of: Callable[[Cell], float | None]
    means: str = ""


def _score(name: str, means: str, else_by: str = "") -> Measure:
    """A score by its name. Stricter scores imply looser ones."""

    def of(cell: Cell) -> float | None:
        if cell["status"] != "ok":
            return 0.0
        scores = cell.get("scores") or {}
        found = scores.get(else_by) or scores.get(name)
        if found is None and else_by and cell.get("judge"):
            return 0.0
        return None if found is None else float(found)

    return Measure(name, "%", True, of, means)


def _is_well_formed(cell: Cell) -> float | None:
    if cell["status"] != "ok":
        return 0.0
    # Arguments that are not an object are text that could not be read.
    calls = cell.get("calls")
    if calls is None:
        return None
    return float(bool(calls) and all(isinstance(call["arguments"], dict) for call in calls))


def _tokens(name: str, *members: str, means: str = "") -> Measure:
    def of(cell: Cell) -> float | None:
        usage = cell["usage"]
        # Unknown usage is not zero usage.
        unknown = usage.get("unknown") or not usage["input"]
        return None if unknown else float(sum(usage[member] for member in members))

    return Measure(name, "tokens", False, of, means)


def _time(name: str, member: str, means: str = "") -> Measure:
    return Measure(name, "s", False, lambda cell: (cell.get("times") or {}).get(member), means)


TOKENS = _tokens(
    "tokens",
    "input",
    "output",
    means="input and output of all requests of a cell, retries included, as the server counts them.",
)
_COST = (TOKENS, _tokens("input tokens", "input"), _tokens("output tokens", "output"))
# The measure that variants are judged by, for each kind of artifact.
JUDGED_BY = {
    "live": _score(
        "normalised",
        "equal up to what the schema does not distinguish: 2 and 2.0, whitespace around a text, a default "
        "that is stated explicitly.",
    ),
    "agent": _score(
        "success",
        "the final state and the final answer are what the task asks for, whatever calls led there.",
    ),
}
MEASURES: Mapping[str, tuple[Measure, ...]] = {
    "live": (
        _score("exact", "one call, of the right tool, with exactly the expected arguments."),
        JUDGED_BY["live"],
        _score("judged", "normalised, or equal in the judgement of the judging model.", "normalised"),
        _score(
            "share",
            "the share of the members of the arguments, expected or given, that are equal as for normalised; "
            "0 for another tool, or more or fewer calls.",
        ),
        _score("valid", "one call, of the right tool, with arguments that match its schema."),
        _score("tool", "one call, of the right tool."),
        _score("called", "one call."),
        Measure(
            "well-formed",
            "%",
            True,
            _is_well_formed,
            "there are calls, and all of them could be read to their end.",
        ),
        *_COST,
        _time("first token", "first_token"),
        _time("first call", "first_call", "until the arguments of the first call were complete."),
        _time("total", "total"),
    ),
    "agent": (
        JUDGED_BY["agent"],
        Measure("steps", "steps", False, lambda cell: cell.get("steps"), "answers of the model in a task."),
        *_COST,
        _time("total", "total"),
    ),
}
# The members of a cell whose entries are counted, with their titles.
NOTED: Mapping[str, str] = {
    "repairs": "near misses in the text of calls that were repaired.",
    "problems": "delivered arguments that do not match the schema.",
    "errors": "calls that could not be parsed; in native mode, arguments that are not valid JSON.",
    "retries": "requests that were repeated because of a busy server or an invalid call.",
}


@dataclass
class Outcome:
    """All cells of one variant.

    Attributes:
        ok, failed, skipped: The number of cells.
        values: For each measure and case, one value for each repetition.
        reasons: Why cells failed, were skipped or not judged, with counts.
        noted: The number of entries in each member that `NOTED` names.
    """

    variant: Variant
    ok: int = 0
    failed: int = 0
    skipped: int = 0
    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)

    @property
    def cells(self) -> int:
        return self.ok + self.failed + self.skipped

    def interval(self, measure: Measure) -> Interval | None:
        return mean(self.values.get(measure.name, {}))

    def beside(self, other: "Outcome", measure: Measure) -> Difference:
        """This outcome minus the other one."""
        return difference(other.values.get(measure.name, {}), self.values.get(measure.name, {}))


def outcomes(kind: str, cells: Iterable[Cell]) -> dict[Variant, Outcome]:
    """The outcome of each variant, in the order of the cells."""
    found: dict[Variant, Outcome] = {}
    for cell in cells:
        variant = variant_of(cell)
        _add(found.setdefault(variant, Outcome(variant)), MEASURES[kind], cell)
    return found


def measured(kind: str, cells: Iterable[Cell]) -> list[Measure]:
    """The measures that the run has. A failed cell has missed only what other cells were asked for."""
    cells = [cell for cell in cells if cell["status"] == "ok"]
    judged = any((cell.get("scores") or {}).get("judged") is not None for cell in cells)
    return [
        measure
        for measure in MEASURES[kind]
        if any(measure.of(cell) is not None for cell in cells) and (judged or measure.name != "judged")
    ]


def grouped(kind: str, cells: Iterable[Cell]) -> dict[str, dict[Variant, Outcome]]:
    """The outcomes within each group of cases."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(str(cell.get("group") or "-"), []).append(cell)
    return {group: outcomes(kind, own) for group, own in groups.items()}


def _add(outcome: Outcome, measures: Iterable[Measure], cell: Cell) -> None:
    status = cell["status"]
    if status == "skipped":
        outcome.skipped += 1
    elif status == "ok":
        outcome.ok += 1
    else:
        outcome.failed += 1
    if status != "ok":
        outcome.reasons[f"{status}: {cell.get('reason') or 'no reason given'}"] += 1
    elif (judge := cell.get("judge")) and judge["same"] is None:
        outcome.reasons[f"not judged: {judge.get('reason') or 'no reason given'}"] += 1
    for member in NOTED:
        outcome.noted[member] += len(cell.get(member) or ())
    if status == "skipped":
        return
    case = case_of(cell)
    for measure in measures:
        value = measure.of(cell)
        if value is not None:
            outcome.values.setdefault(measure.name, {}).setdefault(case, []).append(value)
