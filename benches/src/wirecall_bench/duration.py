"""Estimates how long `bench latency` takes, from the cost of short readings on this machine."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wirecall._cli.console import plural
from wirecall_bench.correctness import entries_of, judge
from wirecall_bench.peers import Contestant, written
from wirecall_bench.timing import timed
from wirecall_bench.workloads import DELTA, Workload, code_call

# The calls that are read for the estimate, the second several times as long as the first.
_SHORT, _LONG = "1KB", "4KB"
# The time limit of such a reading, in seconds, and how many are tried: the fastest one counts.
_LIMIT = 1.0
_TRIES = 3
# The start of a process that measures memory, in seconds.
_PROCESS = 0.5


@dataclass(frozen=True)
class Cost:
    """The seconds of one delta: `fixed`, and `growing` for each earlier delta of its text."""

    fixed: float
    growing: float

    def reading(self, deltas: Iterable[int]) -> float:
        """The seconds of reading texts with these numbers of deltas."""
        return sum(number * (self.fixed + self.growing * number / 2) for number in deltas)


def cost_of(contestant: Contestant) -> Cost | None:
    """What a contestant costs; None if it is not timed, because it is missing or wrong."""
    means = []
    for length in (_SHORT, _LONG):
        (entry,) = entries_of(code_call(length), [contestant])
        judge(entry, _LIMIT)
        if entry.open_stream is None or entry.correct is False:
            return None
        tries = [timed(entry, _LIMIT) for _ in range(_TRIES)]
        means.append((len(tries[0]), min(sum(times) / len(times) for times in tries) / 1e9))
    (short, quick), (long, slow) = means
    # The mean is the cost of a delta in the middle of the text.
    growing = max(0.0, 2 * (slow - quick) / (long - short)) if long > short else 0.0
    return Cost(max(0.0, quick - growing * short / 2), growing)


def estimate(
    works: Sequence[Workload],
    costs: Sequence[tuple[Contestant, Cost]],
    *,
    rounds: int,
    limit: float,
    samples: int,
    held: Sequence[str],
) -> float:
    """The seconds that the contestants take for these workloads.

    Args:
        limit: The time limit of one reading, in seconds.
        samples: The target number of samples for each contestant.
        held: The names of the workloads on which memory is measured.
    """
    seconds = 0.0
    for work in works:
        for contestant, cost in costs:
            deltas = [-(-len(text) // DELTA) + 1 for text, _ in written(work, contestant.reads)]
            if not deltas:
                continue
            reading = cost.reading(deltas)
            if reading > limit:  # It is cut off when it is judged, and when it is timed for the first time.
                seconds += 2 * limit
                continue
            readings = -(-samples // rounds) / sum(deltas)
            # A round ends with the reading that passes the limit.
            seconds += reading + rounds * min(math.ceil(readings) * reading, limit + reading)
            if work.name in held:
                seconds += _PROCESS + reading
    return seconds


def in_words(seconds: float) -> str:
    return f"about {plural(max(1, round(seconds / 60)), 'minute')}"
