"""One table: every goal, the figures it is judged by, and whether it is met.

    python benches/python/report.py [--quick] [--json FILE] [--rounds N]

Every round runs all contestants of all rows in turn, so that a slow spell of the machine, which may last for
seconds, meets all of them and spoils no row. Each cell is the fastest round, and in brackets the median.
Goals are judged by the fastest, the one least disturbed. Nothing is timed before it was checked to be right,
and no time is asserted.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import wirecall
import workloads
from contestants import (
    HAND_WRITTEN,
    NO_OP,
    WIRECALL,
    WrongResultError,
    check_encode,
    check_feed,
    check_many,
    check_whole,
    encoder,
    feed_all,
    parser_maker,
    read_calls,
    whole_parser,
)
from wirecall_bench.artifact import processor, version
from workloads import KB, Workload

SAMPLE = 0.01  # seconds that one sample should last at least
ONE_THREAD = f"{WIRECALL}, 1 thread"
JUDGED = (WIRECALL, HAND_WRITTEN)
Run = Callable[[], object]


@dataclass
class Figure:
    """Seconds for one unit of work, over the rounds."""

    best: float
    median: float


@dataclass
class Row:
    """One line of the table: who runs what, and, once it ran, how it went."""

    work: str
    unit: str
    goal: str
    contest: Mapping[str, Run]
    units: int = 1
    figures: dict[str, Figure] = field(default_factory=dict)
    ratio: float | None = None
    shown: str = "-"  # the ratio, in words
    met: bool | None = None
    grown: dict[str, Any] = field(default_factory=dict)
    shares: dict[str, int] = field(default_factory=dict)  # units of each contestant, where they differ

    def judge(self, ratio: float, shown: str, met: bool) -> None:
        self.ratio, self.shown, self.met = ratio, shown, met

    def at_most(self, limit: float, against: str) -> None:
        """wirecall may take `limit` times as long as the other."""
        ratio = self.figures[WIRECALL].best / self.figures[against].best
        self.judge(ratio, f"{ratio:.2f} x {against}", ratio <= limit)

    def faster(self, limit: float) -> None:
        """The hand-written code must take at least `limit` times as long as wirecall."""
        ratio = self.figures[HAND_WRITTEN].best / self.figures[WIRECALL].best
        self.judge(ratio, f"{ratio:.1f} x faster", ratio >= limit)

    def kept(self) -> dict[str, Any]:
        figures = {name: asdict(figure) for name, figure in self.figures.items()}
        return {
            "work": self.work,
            "unit": self.unit,
            "seconds": figures,
            "grown": self.grown,
            "goal": self.goal,
            "ratio": self.ratio,
            "met": self.met,
        }


def measure(rows: Sequence[Row], rounds: int) -> None:
    """In each round every row, in each row every contestant in turn; the garbage collector rests."""
    repeats: dict[tuple[int, str], int] = {}
    samples: dict[tuple[int, str], list[float]] = {}
    for number, row in enumerate(rows):
        for name, run in row.contest.items():
            started = perf_counter()
            run()
            repeats[number, name] = max(1, round(SAMPLE / (perf_counter() - started)))
            samples[number, name] = []
    for turn in range(rounds):
        for number, row in enumerate(rows):
            names = list(row.contest)
            first = turn % len(names) if names else 0
            for name in names[first:] + names[:first]:
                run, repeat = row.contest[name], range(repeats[number, name])
                gc.collect()
                gc.disable()
                try:
                    started = perf_counter()
                    for _ in repeat:
                        run()
                    elapsed = perf_counter() - started
                finally:
                    gc.enable()
                samples[number, name].append(elapsed / len(repeat) / row.units)
    for (number, name), times in samples.items():
        rows[number].figures[name] = Figure(min(times), median(times))


class Report:
    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.prose = self.feeding(workloads.long_prose(), "at most 2 x no-op")
        self.large = self.feeding(workloads.long_argument(KB * KB), "at most 3 x no-op")
        self.small = self.feeding(workloads.long_argument(16 * KB), "1 MB at most 1.2 x of it")
        self.small.work = "the same, with 16 KB"
        self.memory = Row("the same, extra memory", "", "at most 3 x the argument", {})
        self.parallel = self.feeding(workloads.parallel_calls(), "at least 4 x faster")
        self.mixed = self.feeding(workloads.prose_and_call(), "at least 4 x faster")
        self.whole = self.parsing()
        self.encode = self.encoding()
        self.many = self.batching()
        self.rows = [
            self.prose,
            self.large,
            self.small,
            self.memory,
            self.parallel,
            self.mixed,
            self.whole,
            self.encode,
            self.many,
        ]

    def feeding(self, work: Workload, goal: str) -> Row:
        deltas = work.deltas()

        def run(contestant: str) -> Run:
            make = parser_maker(contestant, work.tools)
            return lambda: feed_all(make, deltas)

        contest = {name: run(name) for name in (WIRECALL, NO_OP, HAND_WRITTEN)}
        return Row(work.title, "delta", goal, contest, len(deltas))

    def parsing(self) -> Row:
        work = workloads.many_calls()

        def run(contestant: str) -> Run:
            parse = whole_parser(contestant, work.tools)
            return lambda: read_calls(parse(work.text))

        contest = {name: run(name) for name in JUDGED}
        return Row(f"{work.title}, whole", "message", "at least 8 x faster", contest)

    def encoding(self) -> Row:
        catalogue = workloads.encode_catalogue()
        calls = catalogue.calls

        def run(contestant: str) -> Run:
            encode = encoder(contestant, catalogue.tools)

            def all_calls() -> None:
                for name, arguments in calls:
                    encode(name, arguments)

            return all_calls

        contest = {name: run(name) for name in JUDGED}
        title = f"encode {len(calls)} calls, {catalogue.source}"
        return Row(title, "catalogue", "at least 5 x faster", contest)

    def batching(self) -> Row:
        works = workloads.messages()
        texts = [work.text for work in works]
        parse = whole_parser(HAND_WRITTEN, works[0].tools)
        tools = wirecall.Toolset(works[0].tools)

        def on(threads: int) -> Run:
            return lambda: [message.items for message in tools.parse_many(texts, threads=threads)]

        contest: dict[str, Run] = {
            HAND_WRITTEN: lambda: [read_calls(parse(text)) for text in texts],
            ONE_THREAD: on(1),
            WIRECALL: on(2),
        }
        title = f"parse_many of {len(texts):,} messages of 2 KB, 2 threads"
        return Row(title, "batch", "at least 1.7 x one thread", contest)

    def check(self) -> None:
        """Everyone reads and writes what is expected, before anyone is timed."""
        for contestant in JUDGED:
            for work in (
                workloads.long_prose(),
                workloads.long_argument(16 * KB),
                workloads.parallel_calls(),
                workloads.prose_and_call(),
                workloads.many_calls(),
            ):
                for size in (1, 3, workloads.DELTA, None):
                    check_feed(contestant, work, size)
            check_feed(contestant, workloads.long_argument(KB * KB), workloads.DELTA)
            check_whole(contestant, workloads.many_calls())
            for work in workloads.messages():
                check_whole(contestant, work)
            for catalogue in (workloads.own_catalogue(), workloads.encode_catalogue()):
                check_encode(contestant, catalogue)
        check_many(2)

    def run(self) -> None:
        measure(self.rows, self.rounds)
        self.memory.grown = {name: grown_by(name, KB * KB) for name in JUDGED}
        self.judge()

    def judge(self) -> None:
        self.prose.at_most(2, NO_OP)
        self.large.at_most(3, NO_OP)
        large, small = self.large.figures, self.small.figures
        growth = {name: large[name].best / small[name].best for name in (WIRECALL, NO_OP)}
        shown = f"{growth[WIRECALL]:.2f} x (no-op {growth[NO_OP]:.2f} x)"
        self.small.judge(growth[WIRECALL], shown, growth[WIRECALL] <= 1.2)
        grown = self.memory.grown[WIRECALL]["ratio"]
        self.memory.judge(grown, f"{grown:.2f} x", grown <= 3)
        self.parallel.faster(4)
        self.mixed.faster(4)
        self.whole.faster(8)
        self.encode.faster(5)
        one, two = self.many.figures[ONE_THREAD].best, self.many.figures[WIRECALL].best
        self.many.judge(one / two, f"{one / two:.2f} x one thread ({one * 1e3:.1f} ms)", one / two >= 1.7)


def grown_by(contestant: str, size: int) -> dict[str, Any]:
    script = Path(__file__).with_name("memory.py")
    command = [sys.executable, str(script), contestant, str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    grown: dict[str, Any] = json.loads(done.stdout)
    return grown


def machine() -> dict[str, Any]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": processor(),
        "cores": cores,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "wirecall": version("wirecall"),
    }


def _time(figure: Figure | None, unit: str) -> str:
    if figure is None:
        return "-"
    scale, name, digits = (1e6, "us", 3) if unit == "delta" else (1e6, "us", 1)
    if unit == "batch":
        scale, name = 1e3, "ms"
    return f"{figure.best * scale:.{digits}f} ({figure.median * scale:.{digits}f}) {name}"


def table(rows: Sequence[Row]) -> str:
    head = ["work", WIRECALL, NO_OP, HAND_WRITTEN, "ratio", "goal", "met"]
    lines = [head]
    for row in rows:
        work = f"{row.work}, per {row.unit}" if row.unit == "delta" else row.work
        if row.unit:
            cells = [_time(row.figures.get(name), row.unit) for name in (WIRECALL, NO_OP, HAND_WRITTEN)]
        else:
            grown = (row.grown.get(name) for name in (WIRECALL, NO_OP, HAND_WRITTEN))
            cells = [f"{g['growth'] / KB / KB:.1f} MB" if g else "-" for g in grown]
        met = "-" if row.met is None else "yes" if row.met else "NO"
        lines.append([work, *cells, row.shown, row.goal, met])
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    written = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    return "\n".join([written[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *written[1:]])


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(description="Measure wirecall against its baselines and its goals.")
    options.add_argument("--quick", action="store_true", help="3 rounds, for a first look")
    options.add_argument("--rounds", type=int, help="how many rounds (15)")
    options.add_argument("--json", type=Path, metavar="FILE", help="keep the figures, in seconds")
    chosen = options.parse_args(arguments)
    report = Report(chosen.rounds or (3 if chosen.quick else 15))
    about = machine()
    print(f"{about['cpu']}, {about['cores']} cores, {about['python']}, wirecall {about['wirecall']}")
    print(f"fastest of {report.rounds} interleaved rounds (median); deltas of {workloads.DELTA} characters\n")
    try:
        report.check()
    except WrongResultError as wrong:
        print(f"wrong, so not measured: {wrong}", file=sys.stderr)
        return 1
    report.run()
    print(table(report.rows))
    if chosen.json:
        kept = {"machine": about, "rounds": report.rounds, "rows": [row.kept() for row in report.rows]}
        chosen.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
