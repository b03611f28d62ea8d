"""Law S: a call with one slip is the same call, a call with a repair, or an error. It never vanishes.

Every format that `protocol=` takes, with all that `slips_support` puts into what it writes. The bounds are of
all formats together. The table is printed: `pytest -s`. With WIRECALL_SLIPS_REPORT, a file of that name gets
what is silent, a line of JSON for each slip.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

from slips_support import (
    FORMATS,
    RIGHT,
    SILENT,
    Case,
    Slip,
    Verdict,
    body,
    cases,
    judge,
    of,
    official_cases,
    slips,
)
from wirecall import Message

# Shares of slips that are silent: in what the encoder writes, in what the official templates render, and in
# two calls if the message may go on. They may only go down, to GOAL for all kinds together.
GOAL = 0.005
SHARES: dict[str, dict[Verdict, float]] = {
    "encoded": {
        "wrong": 0.0009,
        "unknown key": 0.0009,
        "vanished": 0.0001,
        "in reasoning": 0.0003,
        "text": 0.0085,
        "named text": 0.0032,
    },
    "may go on": {
        "wrong": 0.0012,
        "unknown key": 0.0014,
        "vanished": 0.0002,
        "in reasoning": 0.0,
        "text": 0.0087,
        "named text": 0.0022,
    },
    "official": {
        "wrong": 0.0012,
        "unknown key": 0.0005,
        "vanished": 0.0002,
        "in reasoning": 0.0,
        "text": 0.0073,
        "named text": 0.0007,
    },
}
# The share of slips that can only be text: no marker is left, and no tool is named.
FREE = 0.03
# Slips in what the encoder writes that give the right call, for each kind of body; at least so many.
RIGHT_CALLS: dict[str, int] = {
    "pairs": 155,
    "JSON object": 4748,
    "element": 292,
    "YAML": 81,
    "parameter": 5752,
    "JSON after a name": 2700,
    "notation": 166,
    "key and value": 1891,
    "argument": 815,
    "Python call": 326,
}


class Judged(NamedTuple):
    case: Case
    slip: Slip
    message: Message
    verdict: Verdict


Table = dict[str, Counter[Verdict]]


class Measured:
    """How often each verdict was given."""

    def __init__(self) -> None:
        self.formats: Table = defaultdict(Counter)
        self.faults: Table = defaultdict(Counter)
        # Of what the encoder writes.
        self.bodies: Table = defaultdict(Counter)
        self.texts: Table = defaultdict(Counter)
        self.silent: list[Judged] = []

    def add(self, text: str, one: Judged) -> None:
        self.texts[text][one.verdict] += 1
        self.formats[one.case.format][one.verdict] += 1
        self.faults[one.slip.fault][one.verdict] += 1
        if one.verdict in SILENT:
            self.silent.append(one)


def judged(case: Case, truncated: bool | None = False) -> Iterator[Judged]:
    made = list(slips(case.text))
    texts = [slip.text for slip in made]
    read = case.tools.parse_many(texts, truncated=truncated, in_reasoning=case.in_reasoning)
    for slip, message in zip(made, read, strict=True):
        yield Judged(case, slip, message, judge(case, slip, message))


def measured() -> Measured:
    made = Measured()
    for format in FORMATS:
        kind = next(body(case) for case in cases(format) if case.name == "two arguments")
        for case in cases(format):
            for one in judged(case):
                made.add("encoded", one)
                made.bodies[kind][one.verdict] += 1
            if case.name == "two calls":
                made.texts["may go on"].update(one.verdict for one in judged(case, truncated=None))
        for case in official_cases(format):
            for one in judged(case):
                made.add("official", one)
    return made


def reported(one: Judged) -> dict[str, Any]:
    return {
        "verdict": one.verdict,
        "format": one.case.format,
        "case": one.case.name,
        "fault": one.slip.fault,
        "token": one.slip.token,
        "in_reasoning": one.case.in_reasoning,
        "original": one.case.text,
        "text": one.slip.text,
        "calls": of(one.message),
        "said": one.message.text,
        "reasoning": one.message.reasoning,
    }


def show(title: str, table: Table) -> None:
    verdicts = get_args(Verdict)
    width = max(map(len, (title, *table)))
    print(f"\n{title:{width}}   slips  silent", *(f"{verdict:>8.8}" for verdict in verdicts))
    for row, counts in sorted(table.items(), key=lambda item: -silent(item[1])):
        numbers = (f"{counts[verdict] or '':>8}" for verdict in verdicts)
        print(f"{row:{width}} {counts.total():7} {silent(counts) / counts.total():7.2%}", *numbers)


def silent(counts: Counter[Verdict]) -> int:
    return sum(counts[verdict] for verdict in SILENT)


def test_nothing_is_silent() -> None:
    found = measured()
    show("format", found.formats)
    show("fault", found.faults)
    show("body", found.bodies)
    show("text", found.texts)
    if report := os.environ.get("WIRECALL_SLIPS_REPORT"):
        lines = [json.dumps(reported(one), ensure_ascii=False) + "\n" for one in found.silent]
        Path(report).write_text("".join(lines), encoding="utf-8")
    for text, counts in found.texts.items():
        for verdict in SILENT:
            assert counts[verdict] <= SHARES[text][verdict] * counts.total(), (text, verdict)
        assert counts["free text"] <= FREE * counts.total()
    for kind, counts in found.bodies.items():
        assert sum(counts[verdict] for verdict in RIGHT) >= RIGHT_CALLS.get(kind, 0), kind
