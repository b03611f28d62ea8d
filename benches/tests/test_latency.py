"""`bench latency`: what is planted is found, and what is not measured is said. No time is asserted."""

import gc
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from wirecall._cli.commands import wirecall as cli
from wirecall._tools.toolset import Toolset
from wirecall_bench import latency
from wirecall_bench.artifact import Artifact, BenchError, read
from wirecall_bench.latency import cells
from wirecall_bench.latency_report import lines, slope
from wirecall_bench.memory import grown, peak, reset_peak, resident
from wirecall_bench.peers import Contestant, MissingPackageError, Stream, contestants
from wirecall_bench.report import html, markdown, report
from wirecall_bench.timing import microseconds
from wirecall_bench.workloads import (
    DELTA,
    KB,
    WRITE_FILE,
    Message,
    Workload,
    WorkloadCall,
    code,
    code_call,
    size_of,
    steps,
    workloads,
)

LINUX = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux resets a peak")
CALL = WorkloadCall("write_file", {"path": "a.py", "content": "print('<call>')\n" * 20})
WORK = Workload("code", "1KB", [WRITE_FILE], [Message("Look:", [CALL, CALL])], KB)
RIGHT = next(contestant for contestant in contestants() if contestant.name == "wirecall wire")


class Around:
    """wirecall's parser, with something done to what is fed and returned."""

    def __init__(self, change: Callable[[list[Any]], list[Any]], before: Callable[[], None]) -> None:
        self._parser = Toolset([WRITE_FILE]).parser()
        self._change, self._before = change, before

    def feed(self, delta: str) -> list[Any]:
        self._before()
        return self._change(self._parser.feed(delta))

    def finish(self) -> list[Any]:
        return self._change(self._parser.finish())


def planted(
    name: str,
    change: Callable[[list[Any]], list[Any]] = list,
    before: Callable[[], None] = lambda: None,
) -> Contestant:
    return Contestant(name, "feed", "wire", lambda tools: lambda: Around(change, before), RIGHT.reader)


def no_process(*_: object) -> int:
    """What a parser grows, without a process: that does not know who is planted."""
    return 4096 * 1024


def measured(
    *who: Contestant, workload: Workload = WORK, rounds: int = 1, limit: float = 60, samples: int = 1
) -> list[dict[str, Any]]:
    """The cells; everyone reads once in a round."""
    return cells(workload, who, rounds, limit, samples=samples, grown=no_process)


# Works ------------------------------------------------------------------------------------------------------


def test_a_delta_of_each_text_in_turn_or_one_text_behind_the_other() -> None:
    assert list(steps(["abcdefg", "xy"], in_turn=False)) == [
        (0, "abcd"),
        (0, "efg"),
        (0, None),
        (1, "xy"),
        (1, None),
    ]
    assert list(steps(["abcdefg", "xy", ""], in_turn=True)) == [
        (0, "abcd"),
        (1, "xy"),
        (2, None),
        (0, "efg"),
        (1, None),
        (0, None),
    ]


def test_works_are_the_same_each_time_and_as_long_as_they_say() -> None:
    made = workloads(["1KB", "2MB"], 10)
    assert made == workloads(["1KB", "2MB"], 10)
    assert [str(workload) for workload in made] == [
        "code, 1KB",
        "code, 2MB",
        "markers, 4KB",
        "prose, 256KB",
        "calls, 12 calls",
        "streams, 10 streams",
    ]
    lengths = [len(workload.messages[0].calls[0].arguments["content"]) for workload in made[:3]]
    assert lengths == [KB, 2 * KB * KB, 4 * KB]
    assert len(made[3].messages[0].text) == 256 * KB
    assert len(made[4].messages[0].calls) == 12
    assert len({len(message.text) for message in made[5].messages}) == 10
    assert code(100) == code(1000)[:100]
    assert workloads([], 0)[-1].name == "calls"


@pytest.mark.parametrize("length", ["", "KB", "0KB", "-1KB", "1.5KB", "16", "16kb", "¹KB", "1GB"])
def test_what_is_no_length_is_refused(length: str) -> None:
    with pytest.raises(BenchError, match="is not a length: write a number and KB or MB"):
        size_of(length)


# Who is right -----------------------------------------------------------------------------------------------


def without(type: str) -> Callable[[list[Any]], list[Any]]:
    return lambda events: [event for event in events if event.type != type]


class Other:
    """An event with another member."""

    def __init__(self, event: Any, **members: Any) -> None:
        self.__dict__.update(
            {
                name: getattr(event, name)
                for name in ("type", "index", "name", "delta")
                if hasattr(event, name)
            },
            **members,
        )


def renamed(events: list[Any]) -> list[Any]:
    return [Other(event, name="delete_file") if event.type == "call_start" else event for event in events]


def raising(events: list[Any]) -> list[Any]:
    if any(event.type == "call_end" for event in events):
        raise IndexError("x" * 1000)
    return events


WRONGS = {
    "lost call": (
        lambda events: [e for e in events if getattr(e, "index", 0) == 0],
        "1 calls were found, and 2",
    ),
    "other name": (renamed, "call 1 is not the one that was written"),
    "lost text": (without("text"), "the text is not the one that was written"),
    "lost deltas": (without("arguments_delta"), "the deltas of call 1, joined, are not its arguments"),
    "exception": (raising, "it raised IndexError: xxx"),
}


@pytest.mark.parametrize("name", WRONGS)
def test_a_wrong_parser_is_told_wrong_and_not_timed(name: str) -> None:
    change, reason = WRONGS[name]
    wrong, right = measured(planted(name, change), planted("right"))
    assert (wrong["status"], wrong["correct"], wrong["microseconds"]) == ("wrong", False, None)
    assert wrong["reason"].startswith(reason)
    assert len(wrong["reason"]) < 400
    assert (wrong["samples"], wrong["memory"]) == (0, None)
    assert (right["status"], right["correct"], right["reason"]) == ("ok", True, None)
    assert right["microseconds"]["median"] > 0


def test_in_which_message_it_is_wrong_is_said() -> None:
    workload = Workload("streams", "2 streams", [WRITE_FILE], [Message("a"), Message("b")])
    wrong = planted("w", lambda events: [event for event in events if getattr(event, "text", "") != "b"])
    (cell,) = measured(wrong, workload=workload)
    assert cell["reason"] == "the text in message 2 is not the one that was written"


def test_who_is_missing_is_skipped_and_who_reads_nothing_is_not_judged() -> None:
    def missing(tools: list[Any]) -> Callable[[], Stream]:
        raise MissingPackageError("x is not installed")

    nothing = next(contestant for contestant in contestants() if contestant.name == "no-op")
    absent = Contestant("absent", "", "wire", missing, RIGHT.reader)
    skipped, floor = measured(absent, nothing)
    assert (skipped["status"], skipped["reason"]) == ("skipped", "x is not installed")
    assert (skipped["correct"], skipped["microseconds"], skipped["samples"]) == (None, None, 0)
    assert (floor["status"], floor["correct"]) == ("ok", None)
    assert floor["samples"] > 0


# What is counted --------------------------------------------------------------------------------------------


def test_samples_are_deltas_and_ends() -> None:
    (cell,) = measured(planted("right"), rounds=3, samples=2000)
    text = Toolset([WRITE_FILE]).encode(CALL.name, CALL.arguments)
    deltas = -(-len(f"Look:\n{text}\n{text}") // DELTA)
    assert cell["deltas"] == deltas
    readings, rest = divmod(cell["samples"], deltas + 1)
    assert rest == 0
    # Three rounds with the same number of readings, which are enough.
    assert readings % 3 == 0
    assert 2000 <= cell["samples"] < 2000 + 3 * deltas


def test_everyone_has_their_turn_in_every_round_with_the_collector_off() -> None:
    turns: list[tuple[str, bool]] = []

    def turn(name: str) -> Callable[[], None]:
        return lambda: turns.append((name, gc.isenabled()))

    measured(*(planted(name, before=turn(name)) for name in "abc"), rounds=3)
    order = [turn for turn, before in zip(turns, [None, *turns], strict=False) if turn != before]
    judging, timing = order[:3], order[3:]
    assert judging == [("a", True), ("b", True), ("c", True)]
    assert "".join(name for name, _ in timing) == "abcbcacab"
    assert not any(enabled for _, enabled in timing)
    assert gc.isenabled()


def test_what_takes_too_long_is_cut_off_and_says_how_far_it_came() -> None:
    streams = []

    def prepare(tools: list[Any]) -> Callable[[], Stream]:
        def open_stream() -> Stream:
            streams.append(Around(list, lambda: time.sleep(0.02)))
            return streams[-1]

        return open_stream

    sleeping = Contestant("slow", "feed", "wire", prepare, RIGHT.reader)
    slow, quick = measured(sleeping, planted("quick"), limit=0.5, rounds=3)
    assert (slow["status"], slow["correct"]) == ("cut", None)
    assert 0 < slow["done"] < slow["deltas"]
    # It is judged and timed once: another reading would be cut off, too.
    assert len(streams) == 2
    assert 0 < slow["samples"] < slow["deltas"]
    assert slow["microseconds"]["median"] > 1000
    assert slow["memory"] is None
    assert quick["status"] == "ok"


def test_what_slows_down_later_is_cut_off_then() -> None:
    fed = 0

    def tire() -> None:
        nonlocal fed
        fed += 1
        if fed > 250:
            time.sleep(0.05)

    (cell,) = measured(planted("tired", before=tire), limit=0.5, rounds=2)
    assert cell["deltas"] < 250
    assert (cell["status"], cell["correct"]) == ("cut", True)
    assert 0 < cell["done"] <= cell["deltas"]


def test_what_was_not_judged_to_the_end_is_not_taken_for_right() -> None:
    fed = 0

    def warm_up() -> None:
        nonlocal fed
        fed += 1
        if fed < 13:
            time.sleep(0.05)

    (cell,) = measured(planted("cold", before=warm_up), limit=0.5)
    assert (cell["status"], cell["correct"]) == ("cut", None)
    assert 0 < cell["done"] < 13


def test_percentiles_are_measured_values() -> None:
    first, second = array("q", range(1000, 501_000, 1000)), array("q", range(501_000, 1_001_000, 1000))
    found = microseconds([second, first])
    assert found == {
        "median": 500,
        "p99": 990,
        "p999": 999,
        "mean": 500.5,
        "fastest": 250.5,
        "slowest": 1000,
    }


@pytest.mark.parametrize("power", [0, 0.5, 1, 2])
def test_growth_is_the_power_of_the_length(power: float) -> None:
    points = [(size, 3 * size**power) for size in (1024, 4096, 1 << 20)]
    assert slope(points) == pytest.approx(power, abs=1e-9)
    assert slope(points[:2]) is None


@LINUX
def test_a_peak_is_forgotten() -> None:
    held = bytearray(b"x" * (64 << 20))
    del held
    assert peak() - resident() > 32 << 20
    reset_peak()
    assert peak() - resident() < 32 << 20


@LINUX
@pytest.mark.parametrize("name", ["wirecall hermes", "wirecall wire"])
def test_memory_holds_at_least_the_argument(name: str) -> None:
    contestant = next(one for one in contestants() if one.name == name)
    encode = Toolset([WRITE_FILE], protocol=contestant.reads).encode

    def given(workload: Workload) -> tuple[list[Any], list[Any]]:
        (call,) = workload.messages[0].calls
        return workload.tools, list(steps([encode(call.name, call.arguments)], in_turn=False))

    large = grown(contestant, given(code_call("1KB")), given(code_call("1MB")), 120)
    assert large is not None
    assert large > 1 << 20
    assert grown(contestant, given(code_call("1KB")), given(code_call("1MB")), 0.01) is None


@LINUX
def test_the_peak_of_the_warm_up_is_not_counted() -> None:
    nothing = next(one for one in contestants() if one.name == "no-op")
    large, small = ([WRITE_FILE], [(0, "x" * (64 << 20))]), ([WRITE_FILE], [(0, "x")])
    found = grown(nothing, large, small, 120)
    assert found is not None
    assert found < 32 << 20


# The command ------------------------------------------------------------------------------------------------


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["bench", "latency", *arguments])


def run(
    who: Sequence[Contestant], path: Path, *, rounds: int = 1, limit: float = 10.0, resume: bool = False
) -> int:
    """The command with these contestants, on short works."""
    messages = [Message(f"{number}.", [CALL]) for number in range(3)]
    streams = Workload("streams", "3 streams", [WRITE_FILE], messages)
    works = [code_call("2KB"), code_call("4KB"), WORK, streams]
    options = {"rounds": rounds, "limit": limit, "delta": DELTA}
    return latency.run(works, who, options, path, resume=resume, samples=1, grown=no_process)


@pytest.fixture
def planted_ones() -> list[Contestant]:
    return [planted("wirecall wire"), planted("other", without("text"))]


KEYS = {
    (name, *workload)
    for name in ("wirecall wire", "other")
    for workload in (("code", "2KB"), ("code", "4KB"), ("code", "1KB"), ("streams", "3 streams"))
}


def test_a_run_writes_all_cells_and_shows_them(
    tmp_path: Path, planted_ones: list[Contestant], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "latency.jsonl"
    assert run(planted_ones, path) == 0
    shown = capsys.readouterr().out
    found = read(path)
    assert (found.kind, found.options) == ("latency", {"rounds": 1, "limit": 10.0, "delta": DELTA})
    assert {tuple(cell["key"]) for cell in found.cells} == KEYS | {("clock", "nothing", "-")}
    assert "jiter" in found.header["run"]["versions"]
    # What reads no text right is wrong where there is text, and right where there is none.
    statuses = {cell["length"]: cell["status"] for cell in found.cells if cell["contestant"] == "other"}
    assert statuses == {"2KB": "ok", "4KB": "ok", "1KB": "wrong", "3 streams": "wrong"}
    assert "wrong: the text is not the one that was written" in shown
    assert "Reading the clock takes" in shown
    assert "Goal of wirecall: p99.9 under 20 µs." in shown


def test_a_wrong_wirecall_is_no_success(tmp_path: Path, planted_ones: list[Contestant]) -> None:
    planted_ones[0] = planted("wirecall wire", without("text"))
    assert run(planted_ones, tmp_path / "latency.jsonl") == 1


def test_a_run_that_was_interrupted_is_carried_on(
    tmp_path: Path, planted_ones: list[Contestant], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "latency.jsonl"
    judged: list[str] = []
    patience = 3

    def interrupted(one: Contestant) -> Contestant:
        def prepare(tools: list[Any]) -> Callable[[], Stream]:
            if len(judged) == patience:
                raise KeyboardInterrupt
            judged.append(one.name)
            return one.prepare(tools)

        return replace(one, prepare=prepare)

    who = [interrupted(one) for one in planted_ones]
    with pytest.raises(KeyboardInterrupt):
        run(who, path)
    assert "latency.jsonl; --resume continues from there." in capsys.readouterr().err
    # The clock, and both contestants on the work that was finished.
    assert len(read(path).cells) == 3
    # A work of which one cell is lost is measured again, with everyone.
    path.write_bytes(path.read_bytes()[:-5])
    assert read(path).torn
    kept = path.read_bytes().splitlines()[:3]

    judged, patience = [], 1000
    with pytest.raises(BenchError, match="continue it with --resume"):
        run(who, path)
    assert judged == []
    assert run(who, path, resume=True) == 0
    assert len(judged) == len(KEYS)
    assert path.read_bytes().splitlines()[:3] == kept
    assert {tuple(cell["key"]) for cell in read(path).cells} == KEYS | {("clock", "nothing", "-")}

    judged = []
    assert run(who, path, resume=True) == 0
    assert judged == []
    with pytest.raises(BenchError, match="rounds was 1 and is now 2"):
        run(who, path, rounds=2, resume=True)


def test_what_is_no_length_is_said_before_anything_is_done(tmp_path: Path) -> None:
    path = tmp_path / "latency.jsonl"
    result = invoke("--lengths", "1KB,2XB", "--output", str(path))
    assert result.exit_code != 0
    assert "'2XB' is not a length" in result.output
    assert not path.exists()


def test_the_report_has_everything(tmp_path: Path, planted_ones: list[Contestant]) -> None:
    planted_ones += [
        planted("slow", before=lambda: time.sleep(0.02)),
        Contestant("absent", "", "wire", lambda tools: missing(), RIGHT.reader),
    ]

    def missing() -> Any:
        raise MissingPackageError("x is not installed")

    path = tmp_path / "latency.jsonl"
    assert run(planted_ones, path, limit=0.5) == 0
    found = read(path).cells
    text = markdown(report([path]))
    table = text.split("### A call with an argument of code: µs per delta, median\n")[1]
    head, _, *rows = table.strip().splitlines()[:6]
    assert head == "| contestant | 1KB | 2KB | 4KB | growth |"
    shown = {row.strip("| ").split(" | ")[0]: row.strip("| ").split(" | ")[1:] for row in rows}
    assert shown["absent"] == ["skipped", "skipped", "skipped", "-"]
    assert shown["slow"] == ["cut off", "cut off", "cut off", "-"]
    assert shown["other"][0] == "wrong"
    assert [len(cell) > 3 for cell in shown["wirecall wire"]] == [True] * 4
    assert "| absent | all | skipped: x is not installed |" in text
    assert "| other | code 1KB | wrong: the text is not the one that was written |" in text
    cut = next(cell for cell in found if cell["key"] == ["slow", "code", "4KB"])
    assert f"cut off: after 0.5 s, with {cut['done']:,} of {cut['deltas']:,} deltas" in text
    page = html(report([path]))
    assert page.count("<svg") == 1
    assert set(lines(found)) >= {"wirecall wire", "other"}
    assert "absent" not in lines(found)


def test_an_empty_artifact_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "latency.jsonl"
    with Artifact.create(path, "latency", {"rounds": 1, "limit": 1, "delta": 4}):
        pass
    assert "There are no cells: nothing was timed." in markdown(report([path]))


@LINUX
def test_the_real_ones_run(tmp_path: Path) -> None:
    path = tmp_path / "latency.jsonl"
    options = {"lengths": ["1KB"], "rounds": 1, "streams": 2, "limit": 10.0, "delta": DELTA}
    names = ("wirecall wire", "wirecall hermes")

    def few(who: Contestant, *rest: Any) -> int | None:
        return grown(who, *rest) if who.name in names else None  # a process for each takes long

    works = workloads(["1KB"], 2)
    assert latency.run(works, contestants(), options, path, resume=False, samples=1, grown=few) == 0
    found = read(path)
    ours = [cell for cell in found.cells if cell["contestant"] in names]
    assert [cell["status"] for cell in ours] == ["ok"] * 10
    assert all((cell["memory"] is None) == (cell["work"] not in ("code", "streams")) for cell in ours)
    # By the command: nothing is left to do.
    arguments = ("--lengths", "1KB", "--rounds", "1", "--streams", "2", "--output", str(path))
    result = invoke(*arguments, "--resume")
    assert result.exit_code == 0, result.output
    assert len(read(path).cells) == len(found.cells)
    assert "exists: choose another file, or continue it with --resume" in invoke(*arguments).output
