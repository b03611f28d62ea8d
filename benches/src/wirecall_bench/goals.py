"""The goals of the parser, with the figures that they are judged by: `make bench`.

python -m wirecall_bench.goals [--quick] [--rounds N] [--json FILE]

Contestants are those of `wirecall bench latency`, and so are some of the workloads. Nothing is timed unless
every contestant has read and written it correctly. Figures are printed and never asserted.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from random import Random
from typing import Any

from wirecall import Toolset
from wirecall.tokens import native_definition
from wirecall_bench import memory
from wirecall_bench.catalogue import Catalogue, packaged
from wirecall_bench.correctness import Entry, entries_of, judge
from wirecall_bench.peers import Contestant, Stream, WrongResultError, contestants, json_calls, json_text
from wirecall_bench.rounds import GoalResult, Row, Run, main, table
from wirecall_bench.workloads import (
    DELTA,
    KB,
    Message,
    Step,
    Tool,
    Workload,
    WorkloadCall,
    code_call,
    prose,
)

WIRECALL, HERMES, HARMONY, NO_OP = "wirecall wire", "wirecall hermes", "wirecall harmony", "no-op"
# Peers that others wrote: jiter reads arguments alone, Python's `json` the same Hermes texts as wirecall.
JITER, JSON = "jiter", "json"
ONE_THREAD = f"{WIRECALL}, 1 thread"
# Seconds that a contestant may take to read a workload once, before anything is timed.
_LIMIT = 600.0

Feed = Callable[[], Stream]


# What is read and written -----------------------------------------------------------------------------------


@cache
def catalogue() -> Catalogue:
    """Thirteen tools of the kinds that agents are given, and nineteen calls."""
    return packaged("goals")


@cache
def tools() -> list[dict[str, Any]]:
    return [native_definition(tool)["function"] for tool in catalogue().tools]


@cache
def calls() -> list[WorkloadCall]:
    return [WorkloadCall(case.tool, case.arguments) for case in catalogue().cases]


def long_prose() -> Workload:
    return Workload("prose", "256 KB of prose", tools(), [Message(prose(256 * KB))])


def parallel_calls(count: int = 12) -> Workload:
    small = [call for call in calls() if len(json.dumps(call.arguments)) < 100]
    chosen = [small[at % len(small)] for at in range(count)]
    return Workload("calls", f"{count} parallel small calls", tools(), [Message("", chosen)])


def agent_turn(size: int = 2000) -> Workload:
    call = next(call for call in calls() if call.name == "send_email" and len(call.arguments) == 4)
    title = f"{size:,} characters of prose, a call with 4 arguments"
    return Workload("turn", title, tools(), [Message(prose(size, seed=3), [call])])


def many_calls(count: int = 200, size: int = 420) -> Workload:
    """Messages with one call each, to be joined to one."""
    random = Random(4)
    messages = [Message(prose(size, seed=100 + at), [random.choice(calls())]) for at in range(count)]
    return Workload("whole", f"100 KB with {count} calls", tools(), messages)


def batch(count: int = 2000, size: int = 2 * KB) -> Workload:
    """Messages with none to three calls after their prose."""
    random = Random(6)
    messages = []
    for number in range(count):
        chosen = [random.choice(calls()) for _ in range(random.randrange(4))]
        messages.append(Message(prose(size - 80 * len(chosen), seed=number), chosen))
    return Workload("batch", f"{count:,} messages of 2 KB", tools(), messages)


def text_of(entry: Entry) -> str:
    """The messages of a workload as one."""
    return "\n".join(entry.texts)


# Correctness ------------------------------------------------------------------------------------------------


def right(workload: Workload, who: Sequence[Contestant]) -> list[Entry]:
    """The contestants on a workload, after each has read it.

    Raises:
        WrongResultError: One of them reads something else than what was written.
    """
    entries = entries_of(workload, who)
    for entry in entries:
        judge(entry, _LIMIT)
        if entry.open_stream is None or (entry.contestant.reader and not entry.correct):
            raise WrongResultError(f"{entry.contestant.name} on {workload}: {entry.reason}")
    return entries


def check_calls(name: str, items: Iterable[Any], expected: Iterable[WorkloadCall]) -> None:
    """Check the items of a whole message.

    Raises:
        WrongResultError: They have other calls.
    """
    found = [WorkloadCall(one.name, json.loads(one.arguments)) for one in items if one.type == "call_end"]
    if found != list(expected):
        raise WrongResultError(f"{name}: not the calls that were written")


# What is timed ----------------------------------------------------------------------------------------------


def feed_all(open_stream: Feed, deltas: Iterable[str]) -> None:
    """One message as a host reads it: a new parser, a feed for each delta, and the end."""
    stream = open_stream()
    feed = stream.feed
    for delta in deltas:
        feed(delta)
    stream.finish()


def feed_each(open_stream: Feed, texts: Iterable[Iterable[str]]) -> None:
    for deltas in texts:
        feed_all(open_stream, deltas)


def read_calls(items: Iterable[Any]) -> int:
    """Reads what a host needs of every call."""
    return sum(len(item.arguments) for item in items if item.type == "call_end")


def deltas_of(text: str) -> list[str]:
    return [text[at : at + DELTA] for at in range(0, len(text), DELTA)]


def streamed(
    workload: Workload,
    who: Sequence[Contestant],
    goal: str,
    judged: Callable[[Row], GoalResult],
    work: str | None = None,
) -> Row:
    """A message in deltas."""
    contest: dict[str, Run] = {}
    units = {}
    for entry in right(workload, who):
        assert entry.open_stream is not None
        deltas = deltas_of(text_of(entry))
        contest[entry.contestant.name] = partial(feed_all, entry.open_stream, deltas)
        units[entry.contestant.name] = len(deltas)
    return Row(work or workload.length, "delta", goal, judged, contest, units)


def at_most(limit: float, other: str) -> Callable[[Row], GoalResult]:
    """wirecall may take this many times as long as the other."""

    def judged(row: Row) -> GoalResult:
        ratio = row.ratio(WIRECALL, other)
        return GoalResult(ratio, f"{ratio:.2f} x {other}", ratio <= limit)

    return judged


def faster(limit: float, other: str, who: str = WIRECALL) -> Callable[[Row], GoalResult]:
    """The other must take at least this many times as long as this parser of wirecall."""

    def judged(row: Row) -> GoalResult:
        ratio = row.ratio(other, who)
        return GoalResult(ratio, f"{ratio:.2f} x as fast", ratio >= limit)

    return judged


def rows() -> list[Row]:
    """All rows, after everyone has read and written everything correctly.

    Raises:
        WrongResultError: Someone has not.
    """
    known = {contestant.name: contestant for contestant in contestants()}
    who = [known[name] for name in (WIRECALL, NO_OP)]
    large = streamed(
        code_call("1MB"),
        who,
        "at most 3 x no-op",
        at_most(3, NO_OP),
        "call with a 1 MB argument of code",
    )

    def constant(row: Row) -> GoalResult:
        grown = {name: large.figures[name].best / row.figures[name].best for name in (WIRECALL, NO_OP)}
        ratio = grown[WIRECALL]
        return GoalResult(ratio, f"{ratio:.2f} x (no-op {grown[NO_OP]:.2f} x)", ratio <= 1.2)

    return [
        streamed(long_prose(), who, "at most 2 x no-op", at_most(2, NO_OP)),
        large,
        streamed(code_call("16KB"), who, "1 MB at most 1.2 x of it", constant, "the same, with 16 KB"),
        _memory(known[WIRECALL]),
        _parallel([known[name] for name in (WIRECALL, HERMES, NO_OP, JITER)]),
        _whole([known[name] for name in (WIRECALL, HERMES)]),
        _whole_call(),
        _encode(),
        _batch(known[WIRECALL]),
    ]


def _memory(contestant: Contestant) -> Row:
    large, warm_up = code_call("1MB"), code_call("16KB")

    def given(workload: Workload) -> tuple[list[Tool], Iterator[Step]]:
        return workload.tools, entries_of(workload, [contestant])[0].steps

    grown = {contestant.name: memory.grown(contestant, given(warm_up), given(large), _LIMIT) or 0}

    def judged(row: Row) -> GoalResult:
        ratio = row.grown[WIRECALL] / large.size
        return GoalResult(ratio, f"{ratio:.2f} x", ratio <= 3)

    return Row("the same, extra memory", "", "at most 3 x the argument", judged, grown=grown)


def _parallel(who: Sequence[Contestant]) -> Row:
    """By message: texts differ in length, and a parser of arguments gets a text for each call."""
    workload = parallel_calls()
    contest: dict[str, Run] = {}
    for entry in right(workload, who):
        assert entry.open_stream is not None
        contest[entry.contestant.name] = partial(
            feed_each, entry.open_stream, [deltas_of(text) for text in entry.texts]
        )
    return Row(workload.length, "message", f"at most 1.4 x {JITER}", at_most(1.4, JITER), contest)


def _whole(who: Sequence[Contestant]) -> Row:
    workload = many_calls()
    expected = [call for message in workload.messages for call in message.calls]
    contest: dict[str, Run] = {}
    for entry in right(workload, who):
        name, text = entry.contestant.name, text_of(entry)
        toolset = Toolset(workload.tools, protocol=entry.contestant.reads)
        check_calls(name, toolset.parse(text).items, expected)
        contest[name] = partial(_parse, toolset, text)
        if name == HERMES:
            if [WorkloadCall(**call) for call in json_calls(text)] != expected:
                raise WrongResultError(f"{JSON}: not the calls that were written")
            contest[JSON] = partial(json_calls, text)
    goal = f"hermes at least 3 x as fast as {JSON}"
    return Row(f"{workload.length}, whole", "message", goal, faster(3, JSON, HERMES), contest)


def _whole_call(most: float = 0.5) -> Row:
    """One long argument, as JSON has it: the same text between markers, after a header and alone."""
    workload = code_call("13KB")
    [call] = workload.messages[0].calls
    arguments = json.dumps(call.arguments)
    named = f'{{"name": "{call.name}", "arguments": {arguments}}}'
    texts = {
        WIRECALL: Toolset(workload.tools).encode(call.name, call.arguments),
        HERMES: f"<tool_call>\n{named}\n</tool_call>",
        HARMONY: f"<|channel|>commentary to=functions.{call.name}<|message|>{arguments}<|call|>",
    }
    contest: dict[str, Run] = {JSON: partial(json.loads, named)}
    for name, text in texts.items():
        toolset = Toolset(workload.tools, protocol=name.removeprefix("wirecall "))
        check_calls(name, toolset.parse(text).items, [call])
        contest[name] = partial(_parse, toolset, text)

    def judged(row: Row) -> GoalResult:
        ratios = {name: row.ratio(name, JSON) for name in texts}
        said = ", ".join(f"{name.removeprefix('wirecall ')} {ratio:.2f} x" for name, ratio in ratios.items())
        return GoalResult(max(ratios.values()), said, max(ratios.values()) <= most)

    return Row("a call with 13 KB of code, whole", "message", f"at most {most} x {JSON}", judged, contest)


def _parse(toolset: Toolset, text: str) -> int:
    return read_calls(toolset.parse(text).items)


def _encode() -> Row:
    toolsets = {name: Toolset(tools(), protocol=name) for name in ("wire", "hermes")}
    for call in calls():
        text = toolsets["hermes"].encode(call.name, call.arguments)
        if text != json_text(call.name, call.arguments):
            raise WrongResultError(f"{JSON} does not write {text}")

    def all_calls(encode: Callable[[str, dict[str, Any]], str]) -> None:
        for call in calls():
            encode(call.name, call.arguments)

    contest: dict[str, Run] = {
        WIRECALL: partial(all_calls, toolsets["wire"].encode),
        HERMES: partial(all_calls, toolsets["hermes"].encode),
        JSON: partial(all_calls, json_text),
    }
    goal = f"hermes at least 4 x as fast as {JSON}"
    return Row(f"encode {len(calls())} calls", "catalogue", goal, faster(4, JSON, HERMES), contest)


def _batch(contestant: Contestant) -> Row:
    workload = batch()
    texts = right(workload, [contestant])[0].texts
    toolset = Toolset(workload.tools)
    parsed = toolset.parse_many(texts, threads=2)
    for message, expected in zip(parsed, workload.messages, strict=True):
        check_calls("parse_many", message.items, expected.calls)

    def on(threads: int) -> Run:
        return lambda: [message.items for message in toolset.parse_many(texts, threads=threads)]

    contest: dict[str, Run] = {ONE_THREAD: on(1), WIRECALL: on(2)}
    judged = faster(1.7, ONE_THREAD)
    title = f"parse_many of {workload.length}, 2 threads"
    return Row(title, "batch", "at least 1.7 x one thread", judged, contest)


if __name__ == "__main__":
    main(
        "Measure wirecall against its baselines and its goals.",
        rows,
        lambda measured: table(measured, (WIRECALL, HERMES, NO_OP, JITER, JSON)),
    )
