"""Every protocol that a manual can teach beside wire, on the same prose and calls: `make bench`.

python -m wirecall_bench.protocols [--quick] [--rounds N] [--json FILE]

Each protocol reads what its own encoder wrote, in deltas and whole, and writes. Other formats take more
characters for the same calls, so a message has more deltas; streams are compared by delta, whole messages by
message.
"""

from collections.abc import Iterator
from functools import partial

from wirecall import PROTOCOLS, Toolset
from wirecall_bench.goals import (
    check_calls,
    long_prose,
    many_calls,
    parallel_calls,
    read_calls,
    right,
    streamed,
    text_of,
)
from wirecall_bench.peers import wirecall_of
from wirecall_bench.rounds import GoalResult, Row, main, shown, table
from wirecall_bench.workloads import Workload, WorkloadCall, code_call

WIRE, GOAL = "wirecall wire", 1.5
NAMES = [f"wirecall {name}" for name in PROTOCOLS]


def judged(row: Row) -> GoalResult:
    slower = {name: ratio for name in row.figures if (ratio := row.ratio(name, WIRE)) > GOAL}
    worst = max(row.ratio(name, WIRE) for name in row.figures)
    return GoalResult(worst, ", ".join(slower) or f"{worst:.2f} x", not slower)


def works() -> Iterator[tuple[str, Workload]]:
    yield "256 KB of prose", long_prose()
    yield "call with a 1 MB argument of code", code_call("1MB")
    yield "the same, with 16 KB", code_call("16KB")
    yield "12 parallel small calls", parallel_calls()
    yield "200 calls between prose", many_calls()


def rows() -> list[Row]:
    """All rows, after every protocol has read everything that it wrote.

    Raises:
        WrongResultError: One of them has not.
    """
    goal = f"at most {GOAL} x"
    who = [wirecall_of(name) for name in PROTOCOLS]
    made = []
    for title, workload in works():
        made.append(streamed(workload, who, goal, judged, f"{title}, streamed"))
        calls = [call for message in workload.messages for call in message.calls]
        if not calls:
            continue
        reads, writes = {}, {}
        for entry in right(workload, who):
            name, text = entry.contestant.name, text_of(entry)
            toolset = Toolset(workload.tools, protocol=entry.contestant.reads)
            check_calls(name, toolset.parse(text).items, calls)
            reads[name] = partial(_read, toolset, text)
            writes[name] = partial(_write, toolset, calls)
        made.append(Row(f"{title}, whole", "message", goal, judged, reads))
        made.append(Row(f"{title}, written", "message", goal, judged, writes))
    return made


def _read(toolset: Toolset, text: str) -> int:
    return read_calls(toolset.parse(text).items)


def _write(toolset: Toolset, calls: list[WorkloadCall]) -> None:
    for call in calls:
        toolset.encode(call.name, call.arguments)


def _cell(row: Row, name: str) -> str:
    return shown(row, name) if name == WIRE else f"{row.ratio(name, WIRE):.2f} x"


if __name__ == "__main__":
    main("Measure each protocol against wire.", rows, lambda measured: table(measured, NAMES, _cell))
