"""How long `bench latency` says that it takes. No time is asserted, except that a sleep is not shorter."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wirecall._core import OPT_LEVEL
from wirecall_bench.duration import Cost, cost_of, estimate, in_words
from wirecall_bench.latency import SLOW_BUILD
from wirecall_bench.peers import Contestant, MissingPackageError, Stream, contestants
from wirecall_bench.workloads import DELTA, KB, WRITE_FILE, Message, Workload, workloads

WIRE = next(one for one in contestants() if one.name == "wirecall wire")
JSON = next(one for one in contestants() if one.name == "jiter")
TEXT = Workload("prose", "4KB", [WRITE_FILE], [Message("x" * 4 * KB)])
DELTAS = KB + 1  # 4KB in deltas of four characters, and the end


def seconds(
    cost: Cost,
    *works: Workload,
    contestant: Contestant = WIRE,
    rounds: int = 1,
    limit: float = 1000.0,
    samples: int = 1,
    held: tuple[str, ...] = (),
) -> float:
    given = works or [TEXT]
    return estimate(given, [(contestant, cost)], rounds=rounds, limit=limit, samples=samples, held=held)


def test_estimate_of_one_round_is_judging_and_one_reading() -> None:
    assert seconds(Cost(0.01, 0)) == pytest.approx(2 * 0.01 * DELTAS)
    # A delta costs more, the more there are before it: half of the last one in the mean.
    assert seconds(Cost(0, 0.0001)) == pytest.approx(2 * 0.0001 * DELTAS**2 / 2)


def test_estimate_counts_rounds_and_the_readings_for_the_samples() -> None:
    one = 0.001 * DELTAS
    assert seconds(Cost(0.001, 0), rounds=5) == pytest.approx(6 * one)
    assert seconds(Cost(0.001, 0), rounds=2, samples=10 * DELTAS) == pytest.approx(11 * one)
    assert seconds(Cost(0.001, 0), rounds=2, samples=10 * DELTAS, limit=1.5 * one) == pytest.approx(6 * one)


def test_estimate_of_a_reading_over_the_limit_is_two_limits() -> None:
    """One when it is judged, and one when it is timed: later rounds leave it out."""
    assert seconds(Cost(1, 0), limit=10, rounds=7, samples=20_000) == 20


def test_estimate_of_memory_is_another_reading_and_a_process() -> None:
    without, with_it = (seconds(Cost(0.001, 0), held=held) for held in ((), ("prose",)))
    assert with_it > without + 0.001 * DELTAS


def test_estimate_leaves_out_texts_that_a_contestant_does_not_read() -> None:
    assert seconds(Cost(1, 0), contestant=JSON) == 0


def test_estimate_grows_with_lengths_rounds_streams_and_contestants() -> None:
    cost = Cost(1e-5, 1e-9)

    def of(lengths: list[str], rounds: int, streams: int, who: int) -> float:
        costs = [(WIRE, cost)] * who
        works, held = workloads(lengths, streams), ("code", "streams")
        return estimate(works, costs, rounds=rounds, limit=10, samples=20_000, held=held)

    least = of(["1KB"], 1, 10, 1)
    assert of(["1KB", "64KB"], 1, 10, 1) > least
    assert of(["1KB"], 9, 10, 1) > least
    assert of(["1KB"], 1, 100, 1) > least
    assert of(["1KB"], 1, 10, 2) == pytest.approx(2 * least)


class Sleeping:
    """wirecall's parser, which first waits at each delta."""

    def __init__(self, stream: Stream, wait: Callable[[int], float]) -> None:
        self._stream, self._wait, self._fed = stream, wait, 0

    def feed(self, delta: str) -> object:
        time.sleep(self._wait(self._fed))
        self._fed += 1
        return self._stream.feed(delta)

    def finish(self) -> object:
        return self._stream.finish()


def sleeping(wait: Callable[[int], float]) -> Contestant:
    def prepare(tools: list[Any]) -> Callable[[], Stream]:
        open_stream = WIRE.prepare(tools)
        return lambda: Sleeping(open_stream(), wait)

    return replace(WIRE, prepare=prepare)


def test_cost_is_at_least_what_a_delta_sleeps() -> None:
    cost = cost_of(sleeping(lambda fed: 0.0002))
    assert cost is not None
    for deltas in (KB // DELTA, 4 * KB // DELTA):
        assert cost.reading([deltas]) >= 0.9 * 0.0002 * deltas


def test_cost_of_deltas_that_cost_more_and_more_grows() -> None:
    cost = cost_of(sleeping(lambda fed: 1e-6 * fed))
    assert cost is not None
    assert cost.growing > 5e-7


def test_cost_of_what_is_missing_or_wrong_is_none() -> None:
    def missing(tools: list[Any]) -> Callable[[], Stream]:
        raise MissingPackageError("x is not installed")

    class Silent:
        def feed(self, delta: str) -> list[Any]:
            return []

        def finish(self) -> list[Any]:
            return []

    assert cost_of(replace(WIRE, prepare=missing)) is None
    assert cost_of(replace(WIRE, prepare=lambda tools: Silent)) is None


@pytest.mark.parametrize(
    ("given", "words"),
    [(0, "about 1 minute"), (80, "about 1 minute"), (100, "about 2 minutes"), (3600, "about 60 minutes")],
)
def test_duration_in_words_is_in_minutes(given: float, words: str) -> None:
    assert in_words(given) == words


def test_command_says_how_long_it_takes_before_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "latency.jsonl"
    command = [sys.executable, "-m", "wirecall", "bench", "latency", "--lengths", "1KB", "--rounds", "1"]
    command += ["--streams", "0", "--limit", "0.05", "--output", str(path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    first, *lines = done.stderr.splitlines()
    assert re.fullmatch(r"bench latency: this takes about \d+ minutes? on this machine\.", first)
    slow = [line for line in lines if line.startswith("warning: wirecall was compiled with opt-level ")]
    assert slow == ([] if OPT_LEVEL == "3" else [SLOW_BUILD])
    assert lines[len(slow)].startswith("bench latency: 0 of ")
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    # Nothing is left to do.
    again = subprocess.run([*command, "--resume"], capture_output=True, encoding="utf-8", timeout=300)
    assert "this takes" not in again.stderr
