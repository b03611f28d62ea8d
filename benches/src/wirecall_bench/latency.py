"""`wirecall bench latency`: the cost of a delta, for each parser and each workload.

A cell is one contestant on one workload. First the contestant must parse the workload correctly; otherwise it
is not timed. Then all contestants take turns in every round, so that a slow phase of the machine affects all
of them. Finally a separate process parses the workload once more, to measure its memory.
"""

import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wirecall._core import OPT_LEVEL
from wirecall_bench import memory
from wirecall_bench.artifact import Artifact, Cell
from wirecall_bench.correctness import Entry, entries_of, judge
from wirecall_bench.duration import cost_of, estimate, in_words
from wirecall_bench.latency_report import CLOCK, rules, tables
from wirecall_bench.peers import LIBRARIES, Contestant, contestants, written
from wirecall_bench.progress import progress
from wirecall_bench.tables import show
from wirecall_bench.timing import SAMPLES, clock_alone, measure, microseconds
from wirecall_bench.workloads import DELTA, Workload, code_call, steps, workloads

SLOW_BUILD = (
    f"warning: wirecall was compiled with opt-level {OPT_LEVEL}, so its figures mean nothing. Compile it "
    "with optimisation: make build PROFILE=release, or pip install . in a clone."
)
# The warm-up before memory is measured, and the workloads on which it is measured.
_WARM_UP = "4KB"
_HELD = ("code", "streams")
# As `memory.grown`, which starts processes.
Grown = Callable[..., int | None]


def command(
    *,
    lengths: Sequence[str],
    rounds: int,
    streams: int,
    limit: float,
    output: Path,
    resume: bool,
    samples: int = SAMPLES,
) -> int:
    """Run `wirecall bench latency` and return its exit code."""
    options = {
        "lengths": list(lengths),
        "rounds": rounds,
        "streams": streams,
        "limit": limit,
        "delta": DELTA,
    }
    who = contestants()

    def announce(left: Sequence[Workload]) -> None:
        costs = [(contestant, cost) for contestant in who if (cost := cost_of(contestant)) is not None]
        seconds = estimate(left, costs, rounds=rounds, limit=limit, samples=samples, held=_HELD)
        print(f"bench latency: this takes {in_words(seconds)} on this machine.", file=sys.stderr, flush=True)
        if OPT_LEVEL != "3":
            print(SLOW_BUILD, file=sys.stderr, flush=True)

    everything = workloads(lengths, streams)
    return run(everything, who, options, output, resume=resume, samples=samples, announce=announce)


def run(
    everything: Sequence[Workload],
    who: Sequence[Contestant],
    options: Mapping[str, Any],
    output: Path,
    *,
    resume: bool,
    samples: int = SAMPLES,
    grown: Grown = memory.grown,
    announce: Callable[[Sequence[Workload]], None] = lambda left: None,
) -> int:
    """Run contestants on workloads, write the artifact, and show it. Returns the exit code.

    Before the first one, `announce` gets the workloads that are not in the artifact.
    """
    rounds, limit = options["rounds"], options["limit"]
    begin = Artifact.resume if resume else Artifact.create
    with begin(output, "latency", options, libraries=LIBRARIES) as artifact:
        left = [workload for workload in everything if not _is_done(artifact, workload, who)]
        if left:
            announce(left)
        each = len(who) * (rounds + 2)
        done = each * (len(everything) - len(left))
        with progress(each * len(everything), "bench latency", done=done, still=True) as shown:
            artifact.append(_clock_cell([clock_alone(samples) for _ in range(rounds)]))
            for workload in left:
                for found in cells(workload, who, rounds, limit, shown.step, samples=samples, grown=grown):
                    artifact.append(found)
        kept = list(artifact.cells.values())
    show(tables(kept, options))
    for rule in rules(options):
        print(rule)
    ours = (found for found in kept if found["contestant"].startswith("wirecall"))
    return 1 if any(found["status"] == "wrong" for found in ours) else 0


def _is_done(artifact: Artifact, workload: Workload, who: Sequence[Contestant]) -> bool:
    return all((contestant.name, workload.name, workload.length) in artifact.cells for contestant in who)


def cells(
    workload: Workload,
    who: Sequence[Contestant],
    rounds: int,
    limit: float,
    step: Callable[[int, str], None] = lambda count, note: None,
    *,
    samples: int = SAMPLES,
    grown: Grown = memory.grown,
) -> list[Cell]:
    """Run all contestants on one workload.

    Args:
        limit: The time limit of one reading, in seconds.
        step: Called before each part of the work with a number of steps (`rounds` + 2 for each contestant)
            and a description.
        samples: The target number of samples for each contestant.
        grown: Measures memory.
    """
    entries = entries_of(workload, who)
    for entry in entries:
        step(1, f"{entry.contestant.name} on {workload}: is it right")
        judge(entry, limit)
    able = [entry for entry in entries if entry.open_stream is not None and entry.correct is not False]
    step((rounds + 1) * (len(entries) - len(able)), "")
    measure(able, rounds, limit, step, samples)
    for entry in able:
        step(1, f"{entry.contestant.name} on {workload}: memory")
        if entry.cut is None and workload.name in _HELD:
            entry.memory = _memory(entry, limit, grown)
    return [_cell(entry) for entry in entries]


def _memory(entry: Entry, limit: float, grown: Grown) -> int | None:
    warm_up = code_call(_WARM_UP)
    texts = [text for text, _ in written(warm_up, entry.contestant.reads)]
    before = (warm_up.tools, steps(texts, in_turn=False))
    # Longer than in this process: the new one must start and import its modules.
    return grown(entry.contestant, before, (entry.workload.tools, entry.steps), 10 * limit + 120)


def _cell(entry: Entry) -> Cell:
    """The results of one contestant on one workload.

    - `status`: "ok", "cut" (the time limit was reached after `done` steps), "wrong" (not timed) or "skipped";
      `reason` for the last two
    - `correct`: None if unknown, because the reading was cut off or nothing is parsed
    - `deltas`: of one reading; `samples`: deltas and ends of messages that were timed
    - `microseconds`: None if nothing was timed; includes the clock's own time
    - `memory`: bytes, or None
    """
    contestant, workload = entry.contestant, entry.workload
    return {
        **_place(contestant.name, workload.name, workload.length),
        "size": workload.size,
        "reads": contestant.reads,
        "what": contestant.what,
        "status": _status(entry),
        "reason": entry.reason,
        "correct": entry.correct,
        "deltas": sum(delta is not None for _, delta in entry.steps),
        "done": entry.cut,
        "samples": sum(map(len, entry.times)),
        "microseconds": microseconds(entry.times) if entry.times else None,
        "memory": entry.memory,
    }


def _status(entry: Entry) -> str:
    if entry.open_stream is None:
        return "skipped"
    if entry.correct is False:
        return "wrong"
    return "ok" if entry.cut is None else "cut"


def _clock_cell(times: Sequence["array[int]"]) -> Cell:
    found = {"status": "ok", "samples": sum(map(len, times)), "microseconds": microseconds(times)}
    return {**_place(CLOCK, "nothing", "-"), **found}


def _place(contestant: str, workload: str, length: str) -> Cell:
    return {
        "key": [contestant, workload, length],
        "contestant": contestant,
        "work": workload,
        "length": length,
    }
