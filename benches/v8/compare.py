"""wirecall against the reference's stream parser under Node (V8): `make bench-v8 CHECKOUT=PATH`.

PATH is a checkout of ai-sdk-wire-middleware (TheGreatAxios). Both parse the same deltas of the workloads of
`wirecall_bench.goals` in turns; V8 has compiled its parser before. Its `TransformStream` is replaced by
direct calls that push into an array. Events are dropped after each delta, or kept until the message ends.
Both must read the calls that were written: a workload that the reference reads otherwise is not measured.
It ends a call at the first CLOSE, so the long argument has no marks here.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from wirecall import Toolset
from wirecall_bench.goals import (
    WIRECALL,
    agent_turn,
    feed_all,
    long_prose,
    many_calls,
    parallel_calls,
    right,
    text_of,
)
from wirecall_bench.peers import contestants
from wirecall_bench.workloads import DELTA, Message, Tool, Workload, WorkloadCall, code_call

HERE = Path(__file__).resolve().parent
SAMPLE = 0.03  # seconds that one sample should last at least
WARM = 1.0  # seconds before the first sample, for V8's compiler
DROPPED, KEPT = "dropped", "kept"
# Seconds for this many messages.
Run = Callable[[int], float]


class Node:
    """The reference, with one workload."""

    def __init__(self, command: Sequence[str], tools: list[Tool], deltas: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.read: dict[str, Any] = self._ask({"tools": tools, "deltas": deltas})

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("the reference failed; see above")
        return json.loads(answer)

    def run(self, how: str) -> Run:
        def run(times: int) -> float:
            seconds: float = self._ask({"kept": how == KEPT, "times": times})["seconds"]
            return seconds

        return run

    def close(self) -> None:
        self._process.communicate()


@contextmanager
def resting() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def without_marks(work: Workload) -> Workload:
    [[call]] = [message.calls for message in work.messages]
    arguments = {key: value.replace("call>", "cell>") for key, value in call.arguments.items()}
    return replace(work, messages=[Message("", [WorkloadCall(call.name, arguments)])])


def feeding(tools: Toolset, deltas: Sequence[str], how: str) -> Run:
    make = tools.parser

    def keep() -> None:
        events: list[Any] = []
        parser = make()
        feed_into = parser.feed_into
        for delta in deltas:
            feed_into(delta, events)
        events += parser.finish()

    message = keep if how == KEPT else lambda: feed_all(make, deltas)

    def run(times: int) -> float:
        with resting():
            started = perf_counter()
            for _ in range(times):
                message()
            return perf_counter() - started

    return run


def measure(runs: Sequence[Run], rounds: int) -> list[list[float]]:
    """Seconds per message: the contestants take turns, and who begins changes."""
    repeats = []
    for run in runs:
        spent, times = 0.0, 0
        while spent < WARM:
            spent += run(1)
            times += 1
        repeats.append(max(1, round(SAMPLE * times / spent)))
    samples: list[list[float]] = [[] for _ in runs]
    for turn in range(rounds):
        for at in range(len(runs)):
            contestant = (at + turn) % len(runs)
            times = repeats[contestant]
            samples[contestant].append(runs[contestant](times) / times)
    return samples


def shown(seconds: Sequence[float], deltas: int) -> str:
    """Nanoseconds for each delta: the fastest round, and the median."""
    return f"{min(seconds) / deltas * 1e9:.0f} ({median(seconds) / deltas * 1e9:.0f})"


def compare(work: Workload, command: Sequence[str], rounds: int) -> list[str]:
    title = f"{work.name}, {work.length}"
    [entry] = right(work, [one for one in contestants() if one.name == WIRECALL])
    text = text_of(entry)
    deltas = [text[at : at + DELTA] for at in range(0, len(text), DELTA)]
    node = Node(command, work.tools, deltas)
    try:
        calls = [[call.name, call.arguments] for message in work.messages for call in message.calls]
        if node.read["errors"] or node.read["calls"] != calls:
            why = (node.read["errors"] or ["its arguments are not those that were written"])[0]
            return [f"| {title} | | | | the reference reads it otherwise: {why} |"]
        lines = []
        for how in (DROPPED, KEPT):
            ours, theirs = measure([feeding(Toolset(work.tools), deltas, how), node.run(how)], rounds)
            cells = [shown(times, len(deltas)) for times in (ours, theirs)]
            lines.append(f"| {title} | {how} | {cells[0]} | {cells[1]} | {min(ours) / min(theirs):.2f} |")
        return lines
    finally:
        node.close()


def main() -> None:
    options = argparse.ArgumentParser(description="Compare wirecall with its reference under Node.")
    options.add_argument("reference", type=Path, help="a checkout of ai-sdk-wire-middleware")
    options.add_argument("--esbuild", type=Path, required=True, help="the folder of the npm package")
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--rows", default="", help="only workloads with this in their titles")
    chosen = options.parse_args()
    package = json.loads((chosen.reference / "package.json").read_text(encoding="utf-8"))
    paths = [str(path.resolve()) for path in (chosen.reference, chosen.esbuild)]
    command = ["node", str(HERE / "reference.mjs"), *paths]
    node = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    print(f"{package['name']} {package['version']}, Node {node}, Python {sys.version.split()[0]}")
    print(f"nanoseconds for a delta of {DELTA} characters")
    print(f"fastest of {chosen.rounds} interleaved rounds (median)\n")
    print("| work | events | wirecall | V8 | ratio |\n|---|---|---|---|---|")
    works = (
        long_prose(),
        without_marks(code_call("1MB")),
        without_marks(code_call("16KB")),
        parallel_calls(),
        agent_turn(),
        many_calls(),
    )
    for work in works:
        if chosen.rows in f"{work.name}, {work.length}":
            print("\n".join(compare(work, command, chosen.rounds)), flush=True)


if __name__ == "__main__":
    main()
