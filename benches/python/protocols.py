"""One table: every protocol beside wire, on the same calls.

    python benches/python/protocols.py [--quick] [--rounds N] [--json FILE]

The same prose and the same calls, written by each protocol's own encoder, are read in deltas and whole, and
written. Rows are as in report.py: interleaved rounds, the fastest, judged against wire in the same run. Other
formats take more characters for the same calls, so a message has more deltas; streams are compared by delta,
whole messages by message.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import wirecall
import workloads
from contestants import feed_all, read_calls
from report import Row, machine, measure
from workloads import CALLS, DELTA, KB, TOOLS, WRITE_FILE

WIRE, GOAL = "wire", 1.5
Call = tuple[str, dict[str, Any]]


def message(toolset: wirecall.Toolset, calls: Sequence[Call], prose: int) -> str:
    """Calls with pieces of prose of so many characters between them."""
    parts: list[str] = []
    for number, (name, arguments) in enumerate(calls):
        parts += [workloads.prose(prose, seed=number), "\n", toolset.encode(name, arguments), "\n"]
    return "".join(parts)


def works() -> Iterator[tuple[str, Sequence[dict[str, Any]], Sequence[Call], int]]:
    """A title, tools, calls, and how much prose comes before each."""
    random = Random(4)
    yield "256 KB of prose", TOOLS, (), 0
    yield "call with a 1 MB argument of code", [WRITE_FILE], [_large(KB * KB)], 0
    yield "the same, with 16 KB", [WRITE_FILE], [_large(16 * KB)], 0
    yield "12 parallel small calls", TOOLS, [call for call in CALLS if len(json.dumps(call[1])) < 100][:12], 0
    yield "200 calls between prose", TOOLS, [random.choice(CALLS) for _ in range(200)], 300


def _large(size: int) -> Call:
    return "write_file", {"path": "src/app.py", "content": workloads.code(size)}


def rows() -> Iterator[Row]:
    for title, tools, calls, prose in works():
        sets = {name: wirecall.Toolset(tools, protocol=name) for name in wirecall.PROTOCOLS}
        texts = {name: message(toolset, calls, prose) for name, toolset in sets.items()}
        if not calls:
            texts = dict.fromkeys(sets, workloads.prose(256 * KB))
        for name, toolset in sets.items():
            check(name, toolset, texts[name], calls)
        streams = {}
        deltas = {
            name: [text[at : at + DELTA] for at in range(0, len(text), DELTA)] for name, text in texts.items()
        }
        for name, toolset in sets.items():
            streams[name] = _each(feed_all, toolset.parser, deltas[name])
        row = Row(f"{title}, streamed", "delta", f"at most {GOAL} x {WIRE}", streams)
        row.shares = {name: len(parts) for name, parts in deltas.items()}
        yield row
        if calls:
            contest = {name: _each(_whole, toolset, texts[name]) for name, toolset in sets.items()}
            yield Row(f"{title}, whole", "message", f"at most {GOAL} x {WIRE}", contest)
            contest = {name: _each(_encode, toolset, calls) for name, toolset in sets.items()}
            yield Row(f"{title}, written", "message", f"at most {GOAL} x {WIRE}", contest)


def _each(function: Callable[..., object], *arguments: object) -> Callable[[], object]:
    return lambda: function(*arguments)


def _whole(toolset: wirecall.Toolset, text: str) -> int:
    return read_calls(toolset.parse(text).items)


def _encode(toolset: wirecall.Toolset, calls: Sequence[Call]) -> None:
    for name, arguments in calls:
        toolset.encode(name, arguments)


def check(name: str, toolset: wirecall.Toolset, text: str, calls: Sequence[Call]) -> None:
    """Nothing is timed before it is right."""
    read = [(call.name, call.args) for call in toolset.parse(text).calls]
    if read != list(calls):
        raise SystemExit(f"{name} does not read what it wrote, so nothing is measured")


def seconds(row: Row, name: str) -> float:
    return row.figures[name].best / row.shares.get(name, 1)


def table(measured: Sequence[Row]) -> str:
    names = list(wirecall.PROTOCOLS)
    lines = ["| work | " + " | ".join(names) + " | worst | goal met |", "|---" * (len(names) + 3) + "|"]
    for row in measured:
        wire = seconds(row, WIRE)
        ratios = {name: seconds(row, name) / wire for name in names}
        cells = [
            f"{seconds(row, name) * 1e6:,.3f} us" if name == WIRE else f"{ratios[name]:.2f} x"
            for name in names
        ]
        worst = max(ratios.values())
        met = "yes" if worst <= GOAL else "NO: " + ", ".join(name for name in names if ratios[name] > GOAL)
        lines.append(f"| {row.work}, per {row.unit} | " + " | ".join(cells) + f" | {worst:.2f} x | {met} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(description="Measure each protocol against wire.")
    options.add_argument("--quick", action="store_true", help="3 rounds, for a first look")
    options.add_argument("--rounds", type=int, help="how many rounds (15)")
    options.add_argument("--json", type=Path, metavar="FILE", help="keep the figures, in seconds")
    chosen = options.parse_args(arguments)
    rounds = chosen.rounds or (3 if chosen.quick else 15)
    about = machine()
    print(
        f"{about['cpu']}, {about['cores']} cores, {about['python']}; fastest of {rounds} interleaved rounds\n"
    )
    measured = list(rows())
    measure(measured, rounds)
    print(table(measured))
    if chosen.json:
        kept = {"machine": about, "rounds": rounds, "rows": [row.kept() for row in measured]}
        chosen.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
