"""`wirecall bench report`: the results in artifacts, as Markdown and as one self-contained HTML page.

A document consists of sections with paragraphs, tables and plots; both forms are made from it. Artifacts
contain text from models and servers, so all text is escaped.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import jinja2

from wirecall._cli.console import plural, printable
from wirecall_bench import findings
from wirecall_bench.artifact import BenchError, Cell, Run, read
from wirecall_bench.findings import NO_DIFFERENCE
from wirecall_bench.formats import BASELINE
from wirecall_bench.latency_report import lines, rules
from wirecall_bench.latency_report import tables as latency_tables
from wirecall_bench.offline import Total, tables, totals, unit
from wirecall_bench.outcomes import (
    JUDGED_BY,
    NOTED,
    TOKENS,
    Measure,
    Outcome,
    grouped,
    measured,
    outcomes,
)
from wirecall_bench.plots import bars, growth, pareto, shares_of
from wirecall_bench.request_checks import RequestCheck, request_checks
from wirecall_bench.statistics import Difference, Interval
from wirecall_bench.tables import Table, plain
from wirecall_bench.tables import markdown as grid_of
from wirecall_bench.variants import Variant, baselines, case_of, in_run_order, variant_of

# The meaning of signs in tables and plots.
_INTERVALS, _DASHES = "├─┤", "┄┄"
LEGEND = (
    ("64.2 [60.1, 68.0], N = 16", "a mean, its interval of 95 %, and how many cases it is over"),
    ("+3.1 [+1.0, +5.2]", "a difference from the baseline, paired by case, and its interval"),
    (NO_DIFFERENCE, "the interval spans zero, or chance makes as large a difference"),
    ("blue, orange", "in plots of shares, at most 100 %, and more; elsewhere colours distinguish variants"),
    (_INTERVALS, "in plots, the interval of 95 %"),
    (_DASHES, "in plots, 100 %, or variants that no other beats in both success and tokens"),
    ("bold row", "a sum"),
)
# How many cases with unexpected requests are listed.
_NAMED = 5


@dataclass(frozen=True)
class Figure:
    """A plot as SVG, and its description in words."""

    title: str
    svg: str
    says: str
    # The signs of the legend that the figure has.
    signs: tuple[str, ...] = ()


@dataclass
class Section:
    """One part of a report. Its findings are shown at the beginning of the report."""

    title: str
    findings: list[str] = field(default_factory=list)
    paragraphs: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)


@dataclass
class Report:
    title: str
    sections: list[Section]

    @property
    def findings(self) -> list[str]:
        """All findings, each with the title of its section if there are several."""
        found = [(section.title, text) for section in self.sections for text in section.findings]
        several = len({title for title, _ in found}) > 1
        return [f"{title}. {text}" if several else text for title, text in found]


def report(paths: Sequence[str | Path]) -> Report:
    """The results in artifacts, with one section for each and one section about the runs.

    Raises:
        BenchError: A file cannot be read, or is not an artifact.
    """
    runs = [(Path(path).name, read(path)) for path in paths]
    sections = [_what_was_run(runs)]
    for name, run in runs:
        with _as_written(name, run):
            sections.append(_SECTIONS[run.kind](name, run))
    return Report("wirecall bench", sections)


@contextmanager
def _as_written(name: str, run: Run) -> Iterator[None]:
    """Checks that the artifact has the members that the command writes."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BenchError(
            f"{name} has contents that `wirecall bench {run.kind}` does not write: "
            f"{_what_is_wrong(run, error)}. It was changed, or written by another version: run the "
            "command again"
        ) from error


def _what_is_wrong(run: Run, error: Exception) -> str:
    """The first line that lacks the missing member, if it is a cell; otherwise, the error."""
    if isinstance(error, KeyError):
        for number, cell in zip(run.lines, run.cells, strict=True):
            if error.args[0] not in cell:
                return f"{error} is missing in line {number}"
    return f"{type(error).__name__}: {error}"


def _what_was_run(runs: Iterable[tuple[str, Run]]) -> Section:
    rows = []
    for name, run in runs:
        with _as_written(name, run):
            rows.append(_about(name, run))
    head = ["artifact", "command", "date (UTC)", "versions", "machine", "cells"]
    return Section("What was run", tables=[Table("", head, rows, left=len(head))])


def _about(name: str, run: Run) -> list[str]:
    about = run.header["run"]
    versions = ", ".join(
        f"{what} {version or 'not installed'}" for what, version in about["versions"].items()
    )
    date = about["date"].removesuffix("+00:00").replace("T", " ")
    machine = about["machine"]
    notes = [f"{len(run.cells):,} cells"]
    if run.resumed:
        notes.append(f"resumed {plural(len(run.resumed), 'time')}")
    if run.torn:
        notes.append("the last line is cut off and left out")
    where = f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}"
    return [name, about["command"], date, versions, where, "; ".join(notes)]


# Live and agent ---------------------------------------------------------------------------------------------


def _asked(name: str, run: Run) -> Section:
    """The section of a run that used models."""
    cells = in_run_order(run.cells, run.options)
    found = outcomes(run.kind, cells)
    if not found:
        return Section(f"{run.kind}: {name}", paragraphs=["There are no cells: nothing was run."])
    measures = measured(run.kind, run.cells)
    section = Section(f"{run.kind}: {name}", [findings.of_scores(found, JUDGED_BY[run.kind])])
    section.paragraphs += [
        "A cell is one run of one case with one variant: a model, a mode, and an ablation if there is "
        "one. Intervals are 95 % (bootstrap over cases; repetitions of a case are averaged first). N is the "
        "number of cases of a mean; with few cases, or very similar ones, the true uncertainty is larger "
        "than the interval. A failed cell counts as 0 in every score, and a cell without a verdict as 0 in "
        "that of the judge; skipped cells are in the first table only."
    ]
    section.tables += [
        _counts(found.values()),
        *_means(found.values(), measures),
        *_differences(found, measures),
        *_by_group(run, found),
        *_missed(cells),
        *_requests(cells),
        *_reasons(found.values()),
    ]
    section.figures += _asked_figures(run.kind, found)
    return section


def _counts(found: Iterable[Outcome]) -> Table:
    head = ["variant", "cells", "ok", "failed", "skipped", *NOTED]
    rows = []
    for of in found:
        counts = [of.cells, of.ok, of.failed, of.skipped, *(of.noted[member] for member in NOTED)]
        rows.append([str(of.variant), *map(str, counts)])
    notes = ["ok: an answer came, right or wrong.", "failed: none came.", *_glossary(NOTED.items())]
    return Table("What was asked", head, rows, notes=notes)


def _glossary(words: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{word}: {means}" for word, means in words if means]


def _means(found: Iterable[Outcome], measures: Iterable[Measure]) -> list[Table]:
    found = list(found)
    tables = []
    for title, chosen in _halves(measures):
        head = ["variant", *(head_of(one) for one in chosen)]
        rows = [[str(of.variant), *(_mean(of.interval(one), one) for one in chosen)] for of in found]
        notes = _glossary((one.name, one.means) for one in chosen)
        tables.append(Table(title, head, rows, notes=notes))
    return tables


def _halves(measures: Iterable[Measure]) -> list[tuple[str, list[Measure]]]:
    measures = list(measures)
    halves = [
        ("How right it was", [one for one in measures if one.more]),
        ("What it cost", [one for one in measures if not one.more]),
    ]
    return [(title, chosen) for title, chosen in halves if chosen]


def head_of(measure: Measure) -> str:
    return measure.name if measure.unit in measure.name.split() else f"{measure.name} ({measure.unit})"


def _mean(found: Interval | None, measure: Measure) -> str:
    if found is None:
        return "none, N = 0"
    middle, low, high = (_figure(value, measure) for value in (found.mean, found.low, found.high))
    return f"{middle} [{low}, {high}], N = {found.n}"


def _figure(value: float, measure: Measure, *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    if measure.unit == "%":
        return f"{100 * value:{sign}.1f}"
    return f"{value:{sign},.2f}" if measure.unit in ("s", "steps") else f"{value:{sign},.1f}"


def _differences(found: Mapping[Variant, Outcome], measures: Iterable[Measure]) -> list[Table]:
    pairs = baselines(found)
    if not pairs:
        return []
    tables = []
    for title, chosen in _halves(measures):
        head = ["variant", "baseline", *(head_of(one) for one in chosen)]
        rows = [
            [
                str(variant),
                str(other),
                *(change_text(found[variant].beside(found[other], one), one) for one in chosen),
            ]
            for variant, other in pairs.items()
        ]
        notes = [
            f'Paired by case. "{NO_DIFFERENCE}": the interval spans zero, or signs drawn by lot make as '
            "large a difference more than once in twenty times. Scores in percentage points.",
            "Where there is no difference, one in twenty is shown by chance, at most.",
        ]
        tables.append(Table(f"{title}: the difference", head, rows, left=2, notes=notes))
    return tables


def change_text(change: Difference, measure: Measure) -> str:
    found = change.interval
    unpaired = f", {change.unpaired} unpaired" if change.unpaired else ""
    if found is None:
        return f"{NO_DIFFERENCE}, N = 0{unpaired}"
    span = ", ".join(_figure(end, measure, signed=True) for end in (found.low, found.high))
    says = _figure(found.mean, measure, signed=True) if change.shown else NO_DIFFERENCE
    return f"{says} [{span}], N = {found.n}{unpaired}"


def _by_group(run: Run, found: Mapping[Variant, Outcome]) -> list[Table]:
    groups = grouped(run.kind, run.cells)
    if len(groups) < 2:
        return []
    judged_by = JUDGED_BY[run.kind]
    head = ["variant", *groups]
    rows = [
        [
            str(variant),
            *(
                _mean(own[variant].interval(judged_by), judged_by) if variant in own else "not asked"
                for own in groups.values()
            ),
        ]
        for variant in found
    ]
    return [Table(f"By group: {head_of(judged_by)}", head, rows)]


def _missed(cells: Iterable[Cell]) -> list[Table]:
    """What agents did not complete, most frequent first for each variant."""
    counts: dict[Variant, Counter[tuple[str, str]]] = {}
    for cell in cells:
        for what in cell.get("missed") or ():
            counts.setdefault(variant_of(cell), Counter())[case_of(cell), what] += 1
    rows = [
        [str(variant), task, what, str(count)]
        for variant, found in counts.items()
        for (task, what), count in found.most_common()
    ]
    head = ["variant", "task", "missed", "tries"]
    notes = ["missed: a condition that should hold at the end. tries: the number of runs that missed it."]
    return [Table("What was missed", head, rows, left=3, notes=notes)] if rows else []


def _requests(cells: Iterable[Cell]) -> list[Table]:
    found = request_checks(cells)
    if not found:
        return []
    rows = [
        [
            str(one.variant),
            str(one.other),
            str(len(one.same) + len(one.differ)),
            str(len(one.differ)),
            _as_it_must(one),
        ]
        for one in found
    ]
    head = ["variant", "baseline", "cases of both", "requests that differ", "as required"]
    notes = ["By the SHA-256 of the first request's bytes."]
    return [Table("What was sent differed", head, rows, left=2, notes=notes)]


def _as_it_must(one: RequestCheck) -> str:
    if one.void:
        why = "the request must not change" if one.parsing_only else "nothing was compared there"
        return f"no: {why}: {', '.join(one.void[:_NAMED])}"
    return "yes: it changes how answers are read" if one.parsing_only else "yes"


def _reasons(found: Iterable[Outcome]) -> list[Table]:
    rows = [
        [str(of.variant), reason, str(count)] for of in found for reason, count in of.reasons.most_common()
    ]
    return (
        [Table("Why cells failed, were skipped or not judged", ["variant", "reason", "cells"], rows, left=2)]
        if rows
        else []
    )


def _asked_figures(kind: str, found: Mapping[Variant, Outcome]) -> list[Figure]:
    judge = JUDGED_BY[kind]
    judged = {str(variant): interval for variant, of in found.items() if (interval := of.interval(judge))}
    figures = []
    if judged:
        title = f"{judge.name}: share of cells that are right, with intervals of 95 %"
        svg = bars(judged, scale=100, unit="%", title=title)
        figures.append(Figure(title, svg, _says(judged, judge), (_INTERVALS,)))
    points = {
        str(variant): (tokens, judged[str(variant)])
        for variant, of in found.items()
        if (tokens := of.interval(TOKENS)) and str(variant) in judged
    }
    if len(points) > 1:
        title = "Success against tokens: up and left is better; no other variant beats those on the line"
        svg = pareto(points, title=title, score=head_of(judge))
        figures.append(Figure(title, svg, _says(judged, judge), (_INTERVALS, _DASHES)))
    return figures


def _says(found: Mapping[str, Interval], measure: Measure) -> str:
    return "; ".join(f"{name}: {_mean(interval, measure)}" for name, interval in found.items())


# Offline ----------------------------------------------------------------------------------------------------


def _counted(name: str, run: Run) -> Section:
    """The section of a run that counted tokens. Nothing is random, so there are no intervals."""
    section = Section(f"offline: {name}")
    if not run.cells:
        section.paragraphs.append("There are no cells: nothing was counted.")
        return section
    cached = run.options["cached_price"]
    section.tables += tables(run.cells, cached, each=False)
    for (catalogue, vocabulary), found in _by_catalogue(totals(run.cells, cached)).items():
        section.findings.append(findings.of_counts(catalogue, vocabulary, found))
        title = f"{catalogue}, {unit(vocabulary)}: calls against {BASELINE}, in %"
        shares = {one.format: 100 * one.calls / one.baseline for one in found if one.baseline}
        says = "; ".join(f"{form}: {share:.1f} %" for form, share in shares.items())
        counted = unit(vocabulary).partition(" ")[0]
        counts = {one.format: f"{one.calls:,} {counted}, N = {one.held or one.cases}" for one in found}
        section.figures.append(Figure(title, shares_of(shares, counts, title=title), says, (_DASHES,)))
    return section


def _by_catalogue(found: Iterable[Total]) -> dict[tuple[str, str], list[Total]]:
    grouped: dict[tuple[str, str], list[Total]] = {}
    for one in found:
        grouped.setdefault((one.catalogue, one.vocabulary), []).append(one)
    return grouped


# Latency ----------------------------------------------------------------------------------------------------


def _timed(name: str, run: Run) -> Section:
    """The section of a run that timed parsers."""
    section = Section(f"latency: {name}")
    section.tables += latency_tables(run.cells, run.options)
    if not section.tables:
        section.paragraphs.append("There are no cells: nothing was timed.")
        return section
    section.findings.append(findings.of_times(run.cells))
    section.paragraphs += rules(run.options)
    grown = {who: points for who, points in lines(run.cells).items() if len(points) > 1}
    if grown:
        title = "What a delta costs in a call that grows: median, of calls that were read to the end"
        says = "; ".join(
            f"{who}: {', '.join(f'{time:.3f} µs at {size:,} characters' for size, time in points)}"
            for who, points in grown.items()
        )
        svg = growth(grown, title=title, x="characters of the argument", y="µs of a delta")
        section.figures.append(Figure(title, svg, says))
    return section


_SECTIONS: dict[str, Callable[[str, Run], Section]] = {
    "live": _asked,
    "agent": _asked,
    "offline": _counted,
    "latency": _timed,
}


# Both forms -------------------------------------------------------------------------------------------------


def markdown(document: Report) -> str:
    """The document as GitHub Markdown, with the descriptions of figures."""
    parts = [f"# {document.title}", *map(plain, document.findings)]
    for section in document.sections:
        parts.append(f"## {plain(section.title)}")
        parts += [plain(paragraph) for paragraph in section.paragraphs]
        for table in section.tables:
            parts += [f"### {plain(table.title)}"] if table.title else []
            parts.append(grid_of(table))
            parts += [plain(note) for note in table.notes]
    return printable("\n\n".join(parts) + "\n")


def _legend(document: Report) -> list[tuple[str, str]]:
    """The entries of the legend that the page needs."""
    tables = [table for section in document.sections for table in section.tables]
    figures = [figure for section in document.sections for figure in section.figures]
    cells = [cell for table in tables for row in table.rows for cell in row]
    used = (
        any(re.match(r"[^+\-][^\[]* \[.+\], N = ", cell) for cell in cells if NO_DIFFERENCE not in cell),
        any(re.match(r"[+\-][^\[]* \[.+\], N = ", cell) for cell in cells),
        any(cell.startswith(NO_DIFFERENCE) for cell in cells),
        bool(figures),
        any(_INTERVALS in figure.signs for figure in figures),
        any(_DASHES in figure.signs for figure in figures),
        any(table.sums for table in tables),
    )
    return [entry for entry, is_used in zip(LEGEND, used, strict=True) if is_used]


def html(document: Report) -> str:
    """The document as one page without scripts or external resources, light or dark as the reader prefers."""
    loader = jinja2.PackageLoader("wirecall_bench", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return printable(
        environment.get_template("report.html").render(document=document, legend=_legend(document))
    )
