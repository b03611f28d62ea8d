"""The cost of a delta: each delta is timed separately, and all contestants take turns."""

import gc
from array import array
from collections.abc import Callable, Sequence
from time import perf_counter_ns

import numpy as np

from wirecall_bench.correctness import Entry
from wirecall_bench.peers import Stream

# The target number of samples: short workloads are parsed several times in a round, within the time limit.
SAMPLES = 20_000


def timed(entry: Entry, limit: float) -> "array[int]":
    """Parse the workload once. Returns the nanoseconds of each step before the time limit."""
    assert entry.open_stream is not None
    streams = [entry.open_stream() for _ in entry.texts]
    feeds, deltas = [], []
    for index, delta in entry.steps:
        feeds.append(streams[index].feed if delta is not None else _end(streams[index]))
        deltas.append(delta or "")
    times = array("q", bytes(8 * len(feeds)))
    done = 0
    clock = perf_counter_ns
    gc.collect()
    gc.disable()
    try:
        until = clock() + int(limit * 1e9)
        for feed, delta in zip(feeds, deltas, strict=True):
            start = clock()
            feed(delta)
            end = clock()
            times[done] = end - start
            done += 1
            if end > until:
                break
    finally:
        gc.enable()
    return times[:done]


def _end(stream: Stream) -> Callable[[str], object]:
    return lambda _: stream.finish()


def clock_alone(samples: int = SAMPLES) -> "array[int]":
    """The cost of the clock itself."""
    clock = perf_counter_ns
    times = array("q", bytes(8 * samples))
    for at in range(samples):
        start = clock()
        end = clock()
        times[at] = end - start
    return times


def measure(
    entries: Sequence[Entry],
    rounds: int,
    limit: float,
    step: Callable[[int, str], None],
    samples: int = SAMPLES,
) -> None:
    """Time every contestant once in each round; a different one starts each time."""
    gc.collect()
    # Some packages create millions of objects, which need not be collected again before each reading.
    gc.freeze()
    try:
        for number in range(rounds):
            first = number % len(entries) if entries else 0
            for entry in (*entries[first:], *entries[:first]):
                step(1, f"{entry.contestant.name}: {entry.workload}")
                # A reading that was cut off would be cut off again.
                if entry.cut is None or not entry.times:
                    _turn(entry, -(-samples // rounds), limit)
    finally:
        gc.unfreeze()


def _turn(entry: Entry, samples: int, limit: float) -> None:
    length = sum(1 for _ in entry.steps)
    until = perf_counter_ns() + int(limit * 1e9)
    for _ in range(-(-samples // length)):
        times = timed(entry, limit)
        entry.times.append(times)
        if len(times) < length:
            entry.cut = len(times)
        if perf_counter_ns() > until:
            break


def microseconds(times: Sequence["array[int]"]) -> dict[str, float]:
    """Percentiles and the mean of all samples, and the mean of the fastest reading."""
    samples = np.concatenate([np.frombuffer(one, dtype=np.int64) for one in times])
    samples.sort()
    # Measured values without interpolation, computed with integers because 99.9 % is not an exact float.
    median, p99, p999 = (samples[-(-len(samples) * thousandth // 1000) - 1] for thousandth in (500, 990, 999))
    figures = {
        "median": median,
        "p99": p99,
        "p999": p999,
        "mean": samples.mean(),
        "fastest": min(sum(one) / len(one) for one in times),
        "slowest": samples[-1],
    }
    return {name: float(value) / 1000 for name, value in figures.items()}
