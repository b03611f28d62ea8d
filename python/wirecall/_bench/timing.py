"""What a delta costs: each one timed by itself, all contestants in turn."""

import gc
from array import array
from collections.abc import Callable, Sequence
from time import perf_counter_ns

import numpy as np

from wirecall._bench.correctness import Entry
from wirecall._bench.peers import Stream

# How many samples a cell should have: short works are read several times in a round, while the time lasts.
_SAMPLES = 20_000


def timed(entry: Entry, limit: float) -> "array[int]":
    """Read the work once; the nanoseconds of each step that was done before the time was over."""
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


def clock_alone() -> "array[int]":
    """What timing nothing takes."""
    clock = perf_counter_ns
    times = array("q", bytes(8 * _SAMPLES))
    for at in range(_SAMPLES):
        start = clock()
        end = clock()
        times[at] = end - start
    return times


def measure(entries: Sequence[Entry], rounds: int, limit: float, step: Callable[[int, str], None]) -> None:
    """In each round every contestant in turn; another one begins each time."""
    gc.collect()
    # Some packages bring millions of objects, which are not looked at again before each reading.
    gc.freeze()
    try:
        for number in range(rounds):
            first = number % len(entries) if entries else 0
            for entry in (*entries[first:], *entries[:first]):
                step(1, f"{entry.contestant.name}: {entry.workload}")
                # Where it was cut off, it would be again.
                if entry.cut is None or not entry.times:
                    _turn(entry, rounds, limit)
    finally:
        gc.unfreeze()


def _turn(entry: Entry, rounds: int, limit: float) -> None:
    length = sum(1 for _ in entry.steps)
    until = perf_counter_ns() + int(limit * 1e9)
    for _ in range(-(-_SAMPLES // (rounds * length))):
        times = timed(entry, limit)
        entry.times.append(times)
        if len(times) < length:
            entry.cut = len(times)
        if perf_counter_ns() > until:
            break


def microseconds(times: Sequence["array[int]"]) -> dict[str, float]:
    """What the samples say: percentiles over all of them, the mean, and that of the fastest reading."""
    samples = np.concatenate([np.frombuffer(one, dtype=np.int64) for one in times])
    samples.sort()
    # Values that were measured, none between two of them; in whole numbers, as 99.9 % is no float.
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
