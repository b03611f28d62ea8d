"""What the cells of `bench live` and `bench agent` say: each way of asking by itself, and beside another.

Nothing is dropped: a cell that failed has all its scores missed, one without a verdict has missed that one,
and one that was skipped, which says nothing, is counted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from wirecall._bench.artifact import Cell
from wirecall._bench.statistics import Difference, Interval, difference, mean
from wirecall._bench.variants import Variant, case_of, variant_of


@dataclass(frozen=True)
class Measure:
    """Something that cells have a value of.

    Attributes:
        name: Of the member, and in tables.
        means: What it says; empty where the name does.
        unit: "%" for a score: the share of what is right. Else as it is counted.
        more: Whether more of it is better.
        of: The value of a cell that was not skipped; None if it has none.
    """

    name: str
    unit: str
    more: bool
    of: Callable[[Cell], float | None]
    means: str = ""


def _score(name: str, means: str, else_by: str = "") -> Measure:
    """The score of a name; what another score is enough for has it."""

    def of(cell: Cell) -> float | None:
        if cell["status"] != "ok":
            return 0.0
        scores = cell.get("scores") or {}
        found = scores.get(else_by) or scores.get(name)
        if found is None and cell.get("judge"):
            return 0.0
        return None if found is None else float(found)

    return Measure(name, "%", True, of, means)


def _tokens(name: str, *members: str, means: str = "") -> Measure:
    def of(cell: Cell) -> float | None:
        usage = cell["usage"]
        # An answer that nobody counted did not cost nothing.
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
# What a way is judged by, by the kind of its artifact.
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
# The members of a cell of which each entry is counted, and what they are.
NOTED: Mapping[str, str] = {
    "repairs": "near misses in the text of calls that were repaired.",
    "problems": "arguments that were handed over but do not fit the schema.",
    "errors": "calls that could not be read; in native mode, arguments that are not valid JSON.",
    "retries": "requests that were repeated because of a busy server or an unreadable call.",
}


@dataclass
class Outcome:
    """All cells of one way.

    Attributes:
        ok, failed, skipped: Cells.
        values: Of each measure, of each case, one for each repetition.
        reasons: Why cells failed, were skipped or not judged, and how often.
        noted: How many there were of what is `NOTED`.
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
        """This one less the other."""
        return difference(other.values.get(measure.name, {}), self.values.get(measure.name, {}))


def outcomes(kind: str, cells: Iterable[Cell]) -> dict[Variant, Outcome]:
    """The outcome of each way, in the order of the cells."""
    found: dict[Variant, Outcome] = {}
    for cell in cells:
        variant = variant_of(cell)
        _add(found.setdefault(variant, Outcome(variant)), MEASURES[kind], cell)
    return found


def measured(kind: str, cells: Iterable[Cell]) -> list[Measure]:
    """The measures that the run has: a cell that failed has missed only what others were asked for."""
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
