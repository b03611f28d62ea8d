"""`make bench`: contestants are right before they are timed, and verdicts say what the figures are."""

import gc
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import oracle
from wirecall import PROTOCOLS, Toolset
from wirecall_bench import goals, planning, protocols
from wirecall_bench.correctness import entries_of
from wirecall_bench.goals import HERMES, JITER, JSON, NO_OP, ONE_THREAD, WIRECALL, at_most, faster, right
from wirecall_bench.peers import (
    Contestant,
    WrongResultError,
    contestants,
    json_calls,
    json_text,
    wirecall_of,
)
from wirecall_bench.rounds import GoalResult, Row, Timing, main, measure, shown, table
from wirecall_bench.workloads import Message, Workload, WorkloadCall, code_call

KNOWN = {contestant.name: contestant for contestant in contestants()}
WHO = [KNOWN[name] for name in (WIRECALL, HERMES, NO_OP)]
WORKLOADS = [
    code_call("4KB"),
    goals.parallel_calls(),
    goals.agent_turn(),
    goals.many_calls(20),
    goals.batch(20),
]


def never(row: Row) -> GoalResult:
    raise AssertionError


def timed(**best: float) -> Row:
    """A row with these figures; names are in lower case, with _ for spaces."""
    names = {"wirecall": WIRECALL, "hermes": HERMES, "no_op": NO_OP, "one": ONE_THREAD}
    figures = {names.get(name, name): Timing(value, 2 * value) for name, value in best.items()}
    return Row("work", "delta", "goal", never, figures=figures)


# Correctness ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_contestants_read_workloads_in_deltas_of_any_size(workload: Workload) -> None:
    for entry in right(workload, WHO):
        if entry.contestant.reader is None:
            continue
        assert entry.open_stream is not None
        text = goals.text_of(entry)
        calls = [call for message in workload.messages for call in message.calls]
        for size in (1, 3, len(text)):
            reader, stream = entry.contestant.reader(), entry.open_stream()
            for at in range(0, len(text), size):
                reader.take(stream.feed(text[at : at + size]))
            reader.take(stream.finish())
            assert reader.message().calls == calls


def test_what_wirecall_writes_is_read_by_others() -> None:
    """The oracle reads wire as the document says, and `json` reads and writes the same Hermes texts."""
    schemas = {tool["name"]: tool["parameters"] for tool in goals.tools()}
    wire, hermes = (Toolset(goals.tools(), protocol=name) for name in ("wire", "hermes"))
    for call in goals.calls():
        text = wire.encode(call.name, call.arguments)
        goals.check_calls("wire", wire.parse(text).items, [call])
        (read,) = oracle.parse(text, schemas)
        assert isinstance(read, oracle.Call)
        assert (read.name, json.loads(read.arguments)) == (call.name, call.arguments)
        text = hermes.encode(call.name, call.arguments)
        assert json_text(call.name, call.arguments) == text
        assert json_calls(text) == [{"name": call.name, "arguments": call.arguments}]


def test_jiter_gets_the_arguments_of_each_call_alone() -> None:
    workload = goals.parallel_calls()
    (entry,) = right(workload, [KNOWN[JITER]])
    (message,) = workload.messages
    assert [json.loads(text) for text in entry.texts] == [call.arguments for call in message.calls]


def test_peers_of_goals_must_be_right(monkeypatch: pytest.MonkeyPatch) -> None:
    who = [KNOWN[name] for name in (WIRECALL, HERMES)]
    assert goals._whole(who).contest.keys() == {WIRECALL, HERMES, JSON}
    assert goals._encode().contest.keys() == {WIRECALL, HERMES, JSON}
    monkeypatch.setattr(goals, "json_calls", lambda text: json_calls(text)[1:])
    with pytest.raises(WrongResultError, match=r"^json: not the calls that were written$"):
        goals._whole(who)
    monkeypatch.setattr(goals, "json_text", lambda name, arguments: json_text(name, {}))
    with pytest.raises(WrongResultError, match=r"^json does not write <tool_call>"):
        goals._encode()


def test_what_is_wrong_is_not_timed() -> None:
    class Deaf:
        def feed(self, delta: str) -> list[Any]:
            return []

        def finish(self) -> list[Any]:
            return []

    deaf = Contestant("deaf", "feed", "wire", lambda tools: Deaf, KNOWN[WIRECALL].reader)
    workload = Workload("one", "one call", goals.tools(), [Message("", goals.calls()[:1])])
    with pytest.raises(WrongResultError, match=r"^deaf on one, one call: 0 calls were found, and 1 were"):
        right(workload, [deaf])
    parsed = Toolset(goals.tools()).parse("no call")
    with pytest.raises(WrongResultError, match=r"^x: not the calls that were written$"):
        goals.check_calls("x", parsed.items, [WorkloadCall("current_time", {"zone": "UTC"})])


def test_workloads_are_as_large_as_they_say() -> None:
    text = goals.text_of(entries_of(goals.many_calls(), [KNOWN[WIRECALL]])[0])
    assert len(text) == pytest.approx(100 * 1024, rel=0.05)
    assert text.count("<call>") == 200
    sizes = [len(text) for text in entries_of(goals.batch(200), [KNOWN[WIRECALL]])[0].texts]
    assert sum(sizes) / len(sizes) == pytest.approx(2048, rel=0.05)
    assert len(goals.parallel_calls().messages[0].calls) == 12


# Rounds -----------------------------------------------------------------------------------------------------


class Clock:
    """Time passes only when something runs."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ran: list[str] = []

    def __call__(self) -> float:
        return self.now

    def run(self, name: str, seconds: float) -> None:
        assert not gc.isenabled()
        self.now += seconds
        self.ran.append(name)


def test_everyone_has_their_turn_in_every_round_with_the_collector_off() -> None:
    clock = Clock()
    row = Row("w", "", "", never, {name: partial(clock.run, name, 0.5) for name in "abc"}, {"b": 4})
    other = Row("x", "", "", never, {"d": partial(clock.run, "d", 0.25)})
    measure([row, other], 3, clock)
    assert gc.isenabled()
    # Once to know how often a sample runs it, then the rounds.
    assert "".join(clock.ran) == "abcd" + "abcd" + "bcad" + "cabd"
    # For one unit of work.
    assert {name: figure.best for name, figure in row.figures.items()} == {"a": 0.5, "b": 0.125, "c": 0.5}
    assert other.figures == {"d": (0.25, 0.25)}


def test_a_sample_is_long_enough_and_the_fastest_round_counts() -> None:
    clock = Clock()
    seconds = iter([1 / 1024, *[1 / 512] * 10, *[1 / 256] * 10, *[1 / 1024] * 10])
    row = Row("w", "", "", never, {"a": lambda: clock.run("a", next(seconds))})
    measure([row], 3, clock)
    assert row.figures == {"a": (1 / 1024, 1 / 512)}


def test_verdicts() -> None:
    row = timed(wirecall=3.0, hermes=4.0, no_op=1.5, json=12.0, one=6.0)
    assert at_most(2, NO_OP)(row) == (2.0, "2.00 x no-op", True)
    assert not at_most(1.9, NO_OP)(row).met
    assert faster(3, JSON, HERMES)(row) == (3.0, "3.00 x as fast", True)
    assert not faster(3.1, JSON, HERMES)(row).met
    assert faster(1.7, ONE_THREAD)(row) == (2.0, "2.00 x as fast", True)


def test_every_protocol_is_compared_with_wire() -> None:
    names = [wirecall_of(name).name for name in PROTOCOLS]
    assert names == protocols.NAMES
    assert protocols.WIRE in names
    fast = timed(**dict.fromkeys(names, 1.0))
    assert protocols.judged(fast) == (1.0, "1.00 x", True)
    fast.figures["wirecall yaml"] = Timing(1.6, 1.6)
    assert protocols.judged(fast) == (1.6, "wirecall yaml", False)


def test_planning_is_judged_by_time_and_growth() -> None:
    def judged(few: float, many: float) -> bool:
        figures = {planning.FEW: Timing(few, few), planning.MANY: Timing(many, many)}
        return planning.judged(Row("w", "", "", never, figures=figures)).met

    assert judged(0.004, 0.04)
    assert not judged(0.006, 0.06)
    assert not judged(0.002, 0.04)
    assert len(planning.conversation("chat", 50)) == 50


def test_the_table_and_the_figures_that_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "figures.json"
    quick = Row("quick", "delta", "at most 9 x no-op", at_most(9, NO_OP), {WIRECALL: int, NO_OP: int})
    memory = Row("memory", "", "less", lambda row: GoalResult(2.0, "2 x", False), grown={WIRECALL: 3 << 19})
    main("About.", lambda: [quick, memory], lambda rows: table(rows, (WIRECALL, NO_OP)), ["--rounds", "1"])
    main(
        "About.",
        lambda: [quick, memory],
        lambda rows: table(rows, (WIRECALL, NO_OP)),
        ["--quick", "--json", str(path)],
    )
    said = capsys.readouterr().out
    assert "fastest of 3 interleaved rounds (median)" in said
    assert "| work | wirecall wire | no-op | ratio | goal | met |" in said
    assert "| memory | 1.5 MB | - | 2 x | less | NO |" in said
    assert shown(timed(wirecall=2.5e-7), WIRECALL) == "0.25 (0.5) µs"
    assert shown(timed(wirecall=0.012), WIRECALL) == "12 (24) ms"
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert kept["rounds"] == 3
    assert [row["work"] for row in kept["rows"]] == ["quick", "memory"]
    assert kept["rows"][0]["met"] is True
    assert kept["rows"][0]["seconds"].keys() == {WIRECALL, NO_OP}
    assert kept["rows"][1]["grown"] == {WIRECALL: 3 << 19}
