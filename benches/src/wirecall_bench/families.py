"""Every native format beside wire, per delta: `make bench`.

python -m wirecall_bench.families [--quick] [--rounds N] [--json FILE]

Each format reads messages that its own encoder wrote, in deltas of four characters. Formats take more or
fewer characters for the same message, so figures are per delta. The rows with 64 KB show that the cost of a
delta does not depend on the length of what came before.
"""

from collections.abc import Sequence
from functools import partial

from wirecall import FAMILIES, Toolset
from wirecall_bench.goals import check_calls, feed_all, parallel_calls
from wirecall_bench.peers import WrongResultError
from wirecall_bench.rounds import GoalResult, Row, main, shown
from wirecall_bench.tables import Table
from wirecall_bench.workloads import DELTA, KB, Message, Workload, code_call, prose

# They read one call in a message.
_SINGLE = ("llama-json",)
WIRE, GOAL = "wirecall wire", 1.5
NAMES = [f"wirecall {name}" for name in ("wire", *FAMILIES)]


def works() -> list[tuple[str, Workload]]:
    return [
        ("256 KB of prose", Workload("prose", "256 KB", [], [Message(prose(256 * KB))])),
        ("the same, with 64 KB", Workload("prose", "64 KB", [], [Message(prose(64 * KB))])),
        ("call with a 1 MB argument of code", code_call("1MB")),
        ("the same, with 64 KB", code_call("64KB")),
        ("12 parallel small calls", parallel_calls()),
    ]


def judged(row: Row) -> GoalResult:
    slower = {name: ratio for name in row.figures if (ratio := row.ratio(name, WIRE)) > GOAL}
    worst = max(row.ratio(name, WIRE) for name in row.figures)
    return GoalResult(worst, ", ".join(slower) or f"{worst:.2f} x", not slower)


def rows() -> list[Row]:
    """All rows, after every format has read what it wrote.

    Raises:
        WrongResultError: One of them has not.
    """
    made = []
    for title, workload in works():
        contest, units = {}, {}
        for protocol in ("wire", *FAMILIES):
            [message] = workload.messages
            if protocol in _SINGLE and len(message.calls) > 1:
                continue
            toolset = Toolset(workload.tools, protocol=protocol)
            text = _written(toolset, message)
            _check(protocol, toolset, text, message)
            deltas = [text[at : at + DELTA] for at in range(0, len(text), DELTA)]
            name = f"wirecall {protocol}"
            contest[name] = partial(feed_all, partial(toolset.parser, in_reasoning=False), deltas)
            units[name] = len(deltas)
        made.append(Row(title, "delta", f"at most {GOAL} x", judged, contest, units))
    return made


def _written(toolset: Toolset, message: Message) -> str:
    return toolset.encode_message(message.text, [(call.name, call.arguments) for call in message.calls])


def _check(protocol: str, toolset: Toolset, text: str, message: Message) -> None:
    read = toolset.parse(text, in_reasoning=False)
    check_calls(protocol, read.items, message.calls)
    if read.text.strip() != message.text.strip():
        raise WrongResultError(f"{protocol}: not the text that was written")


def by_format(measured: Sequence[Row]) -> Table:
    """One row for each format, and one for the goal: there are more formats than works."""
    lines = [[name, *(_cell(row, name) for row in measured)] for name in NAMES]
    met = ["yes" if row.judge(row).met else f"NO: {row.judge(row).shown}" for row in measured]
    works = [f"{row.work}, per {row.unit}" for row in measured]
    lines.append([f"met: at most {GOAL} x", *met])
    return Table("", ["format", *works], lines, left=1)


def _cell(row: Row, name: str) -> str:
    if name not in row.figures:
        return ""
    return shown(row, name) if name == WIRE else f"{row.ratio(name, WIRE):.2f} x"


if __name__ == "__main__":
    main("Measure each native format against wire.", rows, by_format)
