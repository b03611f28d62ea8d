"""`wirecall bench offline`: the cost of definitions and calls in every format, and whether calls round-trip.

A cell is one definition or one call, in one format, counted in one vocabulary. Everything else is computed
from cells, so an artifact contains all results.
"""

import json
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from wirecall.tokens import saved
from wirecall_bench.artifact import Artifact, Cell
from wirecall_bench.catalogue import BUILT_IN, Catalogue, catalogues
from wirecall_bench.formats import BASELINE, Format, InexpressibleError, Writing, formats, round_trip
from wirecall_bench.tables import Table, show
from wirecall_bench.vocabularies import CHARACTERS, Vocabulary, vocabularies

# The versions of these distributions affect the results.
LIBRARIES = ("tiktoken", "tokenizers", "toon-format")
# The format whose losses are listed.
OURS = "wire"
# How many of these cases are listed.
_NAMED = 12
# The name of the cell for all definitions, as they are sent.
ALL = "*"


def command(
    *,
    paths: Sequence[str],
    encodings: Sequence[str],
    tokenizers: Sequence[str],
    cached_price: float,
    only_totals: bool,
    output: str | None,
    as_json: bool,
    which: Sequence[Format] | None = None,
) -> int:
    """Run `wirecall bench offline` and return its exit code. `which` is as for `cells`."""
    measured = catalogues(paths or (BUILT_IN,))
    counted = vocabularies([name for names in encodings for name in names.split(",") if name], tokenizers)
    chosen = options(measured, counted, cached_price)
    found = []
    with ExitStack() as stack:
        artifact = None
        if output is not None:
            artifact = stack.enter_context(Artifact.create(output, "offline", chosen, libraries=LIBRARIES))
        for cell in cells(measured, counted, which):
            found.append(cell)
            if artifact is not None:
                artifact.append(cell)
    if as_json:
        said = {
            "options": chosen,
            "totals": [asdict(total) for total in totals(found, cached_price)],
            "groups": [asdict(group) for group in groups(found)],
        }
        sys.stdout.write(json.dumps(said if only_totals else {**said, "cells": found}) + "\n")
    else:
        show(tables(found, cached_price, each=not only_totals))
    return 1 if any(cell["round_trip"] is False for cell in found) else 0


def cells(
    catalogues: Iterable[Catalogue], vocabularies: Sequence[Vocabulary], which: Sequence[Format] | None = None
) -> Iterator[Cell]:
    """Count everything.

    A cell has `key` (what, catalogue, name, format, vocabulary), each of these also as a member, and

    - `what`: "definitions" (all as they are sent; the name is `ALL`), "tool" (one of them) or "call"
    - `group`: of a call, else None
    - `tokens`, `characters`: None for a call that the format cannot express
    - `round_trip`: whether a call parses as what was written; None if the format cannot express it. `reason`
      says why not.
    """
    for catalogue in catalogues:
        for form in formats() if which is None else which:
            for what, name, text, members in _texts(catalogue, form.of(catalogue.tools)):
                for vocabulary in vocabularies:
                    place = {"what": what, "catalogue": catalogue.name, "name": name}
                    place |= {"format": form.name, "vocabulary": vocabulary.name}
                    tokens, characters = (None, None) if text is None else (vocabulary.count(text), len(text))
                    counted = {"tokens": tokens, "characters": characters}
                    yield {"key": list(place.values()), **place, **members, **counted}


def _texts(catalogue: Catalogue, writing: Writing) -> Iterator[tuple[str, str, str | None, dict[str, Any]]]:
    """The kind and name of each text, the text, and further members of the cell."""
    nothing = {"group": None, "round_trip": None, "reason": None}
    yield "definitions", ALL, writing.definitions(), nothing
    for tool in catalogue.tools:
        yield "tool", tool.name, writing.definition(tool), nothing
    for case in catalogue.cases:
        survives, reason = round_trip(writing, case.tool, case.arguments)
        try:
            text = writing.call(case.tool, case.arguments)
        except InexpressibleError:
            text = None
        yield "call", case.name, text, {"group": case.group, "round_trip": survives, "reason": reason}


def options(
    catalogues: Sequence[Catalogue], vocabularies: Sequence[Vocabulary], cached: float
) -> dict[str, Any]:
    """Everything that determines the cells, and what `totals` needs in addition; for the artifact."""
    return {
        "catalogues": [
            {"name": catalogue.name, "tools": len(catalogue.tools), "cases": len(catalogue.cases)}
            for catalogue in catalogues
        ],
        "vocabularies": [vocabulary.name for vocabulary in vocabularies],
        "cached_price": cached,
    }


@dataclass(frozen=True)
class Pays:
    """The number of calls, at least and at most, for which a conversation costs no more than a native one.

    `first` is None if that is never the case; `last` is None if it stays so.
    """

    first: int | None
    last: int | None = None

    def __str__(self) -> str:
        if self.first is None:
            return "never"
        return f"from call {self.first}" if self.last is None else f"up to call {self.last}"


@dataclass(frozen=True)
class Total:
    """The cost of one format for one catalogue in one vocabulary.

    Attributes:
        definitions: All definitions, as they are sent.
        cases, held, round_trips: The number of calls, of those that the format can express, and of those that
            round-trip.
        calls: All calls that can be written.
        baseline: The same calls in `BASELINE`.
        pays, pays_cached: Compared with `BASELINE`: at full price, and with the price of the cache for tokens
            that an earlier request sent.
    """

    catalogue: str
    vocabulary: str
    format: str
    definitions: int
    cases: int
    held: int
    round_trips: int
    calls: int
    baseline: int
    pays: Pays
    pays_cached: Pays


@dataclass(frozen=True)
class GroupTotal:
    """The cost of the calls in one group that both formats can express.

    Attributes:
        costlier: How many of them cost more than in `BASELINE`.
    """

    catalogue: str
    vocabulary: str
    format: str
    group: str
    cases: int
    calls: int
    baseline: int
    costlier: int

    @property
    def loses(self) -> bool:
        return self.calls > self.baseline


def totals(cells: Sequence[Cell], cached: float) -> list[Total]:
    """One total for each catalogue, vocabulary and format, in the order of the cells.

    Args:
        cached: The price of a cached token as a fraction of the normal price.
    """
    native = {_place(cell): cell for cell in cells if cell["format"] == BASELINE}
    found = []
    for (catalogue, vocabulary, form), own in _grouped(cells, "catalogue", "vocabulary", "format").items():
        (definitions,) = (cell for cell in own if cell["what"] == "definitions")
        calls = [cell for cell in own if cell["what"] == "call"]
        pairs = _pairs(calls, native)
        ours, theirs = sum(ours for ours, _ in pairs), sum(theirs for _, theirs in pairs)
        extra = definitions["tokens"] - native[_place(definitions)]["tokens"]
        each = (theirs - ours) / len(pairs) if pairs else 0.0
        found.append(
            Total(
                catalogue,
                vocabulary,
                form,
                definitions["tokens"],
                len(calls),
                sum(cell["round_trip"] is not None for cell in calls),
                sum(cell["round_trip"] is True for cell in calls),
                ours,
                theirs,
                break_even(extra, each),
                break_even(extra, each, cached),
            )
        )
    return found


def groups(cells: Sequence[Cell]) -> list[GroupTotal]:
    """One total for each catalogue, vocabulary, format and group of calls, in the order of the cells."""
    native = {_place(cell): cell for cell in cells if cell["format"] == BASELINE}
    calls = [cell for cell in cells if cell["what"] == "call"]
    found = []
    members = ("catalogue", "vocabulary", "format", "group")
    for (catalogue, vocabulary, form, group), own in _grouped(calls, *members).items():
        pairs = _pairs(own, native)
        ours, theirs = sum(ours for ours, _ in pairs), sum(theirs for _, theirs in pairs)
        costlier = sum(a > b for a, b in pairs)
        found.append(GroupTotal(catalogue, vocabulary, form, group, len(pairs), ours, theirs, costlier))
    return found


def break_even(extra: float, each: float, cached: float = 1.0) -> Pays:
    """The number of calls after which a format has paid for its definitions.

    In the modelled conversation, each request sends the definitions and all previous calls, and is answered
    with one call. Tokens that an earlier request sent cost `cached` of their price. Results are left out,
    because they are the same in all formats.

    Args:
        extra: Tokens by which the definitions exceed native ones; negative if there are fewer.
        each: Tokens saved by each call; negative if it costs more.
        cached: The price of a cached token as a fraction; 1 means no cache.
    """

    def ahead(calls: int) -> bool:
        sent = 1 + cached * (calls - 1)
        # Each call is written once. It is new in the next request, and cached in later ones.
        written = 2 * calls - 1 + cached * (calls - 1) * (calls - 2) / 2
        return each * written >= extra * sent

    if extra <= 0 <= each:
        return Pays(1)
    if extra >= 0 >= each:
        return Pays(None)
    # Calls grow faster than definitions: from some number on, they alone decide.
    turns = 1 + bisect_left(range(1, 1 << 60), True, key=lambda calls: ahead(calls) != (extra < 0))
    if extra > 0:
        return Pays(turns)
    return Pays(1, turns - 1) if turns > 1 else Pays(None)


def _pairs(calls: Iterable[Cell], native: dict[Any, Cell]) -> list[tuple[int, int]]:
    """The tokens of each call that can be written, and its cost in `BASELINE`."""
    return [(cell["tokens"], native[_place(cell)]["tokens"]) for cell in calls if cell["tokens"] is not None]


def _place(cell: Cell) -> tuple[Any, ...]:
    """The subject of a cell, without the format."""
    return tuple(cell[member] for member in ("what", "catalogue", "name", "vocabulary"))


def _grouped(cells: Iterable[Cell], *members: str) -> dict[tuple[Any, ...], list[Cell]]:
    found: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        found.setdefault(tuple(cell[member] for member in members), []).append(cell)
    return found


# For people -------------------------------------------------------------------------------------------------


def tables(cells: Sequence[Cell], cached: float, *, each: bool = True) -> Iterator[Table]:
    """All results, for each catalogue and vocabulary. Totals come last, where a terminal shows them.

    Args:
        cached: As for `totals`.
        each: Whether to include the cost of each definition and call.
    """
    sums, kinds = totals(cells, cached), groups(cells)
    yield _legend({total.format for total in sums}, cached)
    for place, found in _grouped(cells, "catalogue", "vocabulary").items():
        catalogue, vocabulary = place
        about = f"{catalogue}, {unit(vocabulary)}"
        here = [total for total in sums if (total.catalogue, total.vocabulary) == place]
        if each:
            yield _each(f"Definitions: {about}", "tool", found, {t.format: t.definitions for t in here})
            yield _each(f"Calls: {about}", "call", found, {t.format: t.calls for t in here})
        of_groups = [kind for kind in kinds if (kind.catalogue, kind.vocabulary) == place]
        yield _groups(f"Calls by group: {about}", of_groups)
        yield from _losses(f"Calls that cost more in {OURS} than in {BASELINE}: {about}", found)
        yield from _failures(f"Calls that do not read back as they were written: {about}", found)
        yield _totals(f"Totals: {about}", here)


def _legend(names: set[str], cached: float) -> Table:
    return Table(
        "Formats",
        ["format", "a call"],
        [[form.name, form.what] for form in formats() if form.name in names],
        left=2,
        notes=[
            "named, arguments, python and toon have no delimiters, which a call in running text would need.",
            f"saved: how much less calls cost than in {BASELINE}, over the calls that the format can write.",
            "read back: of the calls that the format can write, those that are read back as written.",
            f"pays: from or up to which call a conversation costs no more than in {BASELINE}, definitions "
            "included, if each request sends these and all earlier calls, and is answered with one call.",
            f"pays, cached: the same if what an earlier request already sent costs {cached:g} of its price.",
        ],
    )


def unit(vocabulary: str) -> str:
    """The unit of a vocabulary's counts."""
    return vocabulary if vocabulary == CHARACTERS else f"tokens of {vocabulary}"


def _each(title: str, what: str, cells: Sequence[Cell], sums: dict[str, int]) -> Table:
    """One row for each tool or call, one column for each format. Formats with equal numbers share one."""
    numbers: dict[str, dict[str, int | None]] = {name: {} for name in sums}
    for cell in cells:
        if cell["what"] == what:
            numbers[cell["format"]][cell["name"]] = cell["tokens"]
    columns: list[str] = []
    notes = []
    for name in numbers:
        first = next((c for c in columns if (numbers[c], sums[c]) == (numbers[name], sums[name])), None)
        if first is None:
            columns.append(name)
        else:
            notes.append(f"{name}: as {first}.")
    rows = [
        [row, *("-" if numbers[column][row] is None else str(numbers[column][row]) for column in columns)]
        for row in numbers[BASELINE]
    ]
    label = "all, as sent" if what == "tool" else "all"
    rows.append([label, *(str(sums[column]) for column in columns)])
    return Table(title, [what, *columns], rows, sums=1, notes=notes)


def _groups(title: str, kinds: Sequence[GroupTotal]) -> Table:
    names = list(dict.fromkeys(kind.format for kind in kinds))
    rows = []
    loses = []
    for group in dict.fromkeys(kind.group for kind in kinds):
        of = {kind.format: kind for kind in kinds if kind.group == group}
        native, ours = of[BASELINE], of[OURS]
        rows.append(
            [
                group or "(none)",
                str(native.cases),
                str(native.calls),
                *(saved(of[name].baseline, of[name].calls) or "-" for name in names if name != BASELINE),
                f"{ours.costlier} of {ours.cases}",
            ]
        )
        if ours.loses:
            loses.append(group or "(none)")
    head = [
        "group",
        "calls",
        BASELINE,
        *(name for name in names if name != BASELINE),
        f"{OURS} costs more in",
    ]
    where = ", ".join(loses) if loses else "no group"
    return Table(
        title,
        head,
        rows,
        notes=[f"Percent: saved against {BASELINE}. {OURS} costs more than {BASELINE} in: {where}."],
    )


def _losses(title: str, cells: Sequence[Cell]) -> Iterator[Table]:
    """The calls that cost more in our format than in the baseline, the worst first."""
    native = {cell["name"]: cell for cell in cells if (cell["what"], cell["format"]) == ("call", BASELINE)}
    ours = [cell for cell in cells if (cell["what"], cell["format"]) == ("call", OURS)]
    lost = [
        (cell["tokens"] - native[cell["name"]]["tokens"], cell)
        for cell in ours
        if cell["tokens"] is not None and cell["tokens"] > native[cell["name"]]["tokens"]
    ]
    lost.sort(key=lambda pair: -pair[0])
    if not lost:
        return
    rows = [
        [cell["name"], cell["group"], str(native[cell["name"]]["tokens"]), str(cell["tokens"]), f"+{more}"]
        for more, cell in lost[:_NAMED]
    ]
    notes = [f"And {len(lost) - _NAMED} more."] if len(lost) > _NAMED else []
    yield Table(title, ["call", "group", BASELINE, OURS, "more"], rows, left=2, notes=notes)


def _failures(title: str, cells: Sequence[Cell]) -> Iterator[Table]:
    failed = [cell for cell in cells if cell["round_trip"] is False]
    if failed:
        rows = [[cell["name"], cell["format"], cell["reason"]] for cell in failed]
        yield Table(title, ["call", "format", "why"], rows, left=3)


def _totals(title: str, here: Sequence[Total]) -> Table:
    rows = [
        [
            total.format,
            str(total.definitions),
            str(total.calls),
            saved(total.baseline, total.calls) or "-",
            f"{total.round_trips} of {total.held}" if total.held else "-",
            *("-" if total.format == BASELINE else str(pays) for pays in (total.pays, total.pays_cached)),
            str(total.cases - total.held or ""),
        ]
        for total in here
    ]
    head = ["format", "definitions", "calls", "saved", "read back", "pays", "pays, cached", "cannot hold"]
    return Table(title, head, rows)
