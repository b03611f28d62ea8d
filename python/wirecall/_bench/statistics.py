"""What a sample says about all similar cases: means with intervals, and differences paired by case.

The unit is the case. Repetitions of a case are similar, so they are averaged first, and cases are resampled.
With repetitions as the unit, intervals would be too narrow.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import bootstrap

LEVEL = 0.95
RESAMPLES = 10_000
# Up to this number of pairs, all combinations of signs are enumerated.
_MOST_DRAWN_IN_FULL = 13
_SEED = 20_260_101

Samples = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % bootstrap interval.

    Attributes:
        mean: The mean over cases, each the mean of its repetitions.
        low, high: Equal to the mean if all cases are equal; the sample then says nothing about others.
        n: The number of cases.
    """

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Difference:
    """The difference between two variants, case by case.

    Attributes:
        interval: The second minus the first, over cases that have both; None if there are none.
        unpaired: The number of cases that have only one of them.
        chance: How often the mean is as far from zero if the sign of each pair is random.
    """

    interval: Interval | None
    unpaired: int
    chance: float

    @property
    def shown(self) -> bool:
        """Whether the interval excludes zero, and chance explains the difference at most as often as the
        level says.

        With few cases, or with many equal ones and a few others, bootstrap intervals are too narrow.
        """
        found = self.interval
        return found is not None and self.chance <= 1 - LEVEL and (found.low > 0 or found.high < 0)


def mean(samples: Samples, *, resamples: int = RESAMPLES) -> Interval | None:
    """The mean over cases; None if there are none.

    Args:
        samples: The values of each case, one for each repetition. Cases without values are ignored.
        resamples: How many samples the interval is estimated from.
    """
    return _interval(list(_means(samples).values()), resamples)


def difference(first: Samples, second: Samples, *, resamples: int = RESAMPLES) -> Difference:
    """The second minus the first."""
    ones, others = _means(first), _means(second)
    pairs = [others[case] - ones[case] for case in ones if case in others]
    return Difference(
        _interval(pairs, resamples), len(ones.keys() ^ others.keys()), _chance(pairs, resamples)
    )


def _chance(pairs: Sequence[float], resamples: int) -> float:
    """The sign-flip test. It is exact if two variants are equal, however few pairs there are."""
    sizes = np.abs([pair for pair in pairs if pair])
    if len(sizes) <= _MOST_DRAWN_IN_FULL:
        drawn = np.arange(1 << len(sizes))[:, None] >> np.arange(len(sizes)) & 1
        sums = (2 * drawn - 1) @ sizes
        hits, draws = _as_far(sums, pairs), len(sums)
    else:
        rng = np.random.default_rng(_SEED)
        batch = max(1, 1_000_000 // len(sizes))
        # The observed combination is one of them.
        hits, draws = 1, resamples + 1
        for begin in range(0, resamples, batch):
            count = min(batch, resamples - begin)
            hits += _as_far((2 * rng.integers(0, 2, (count, len(sizes))) - 1) @ sizes, pairs)
    return hits / draws


def _as_far(sums: np.ndarray, pairs: Sequence[float]) -> int:
    # Sums in another order may differ by rounding.
    least = abs(math.fsum(pairs)) - 1e-9 * math.fsum(map(abs, pairs))
    return int((np.abs(sums) >= least).sum())


def _means(samples: Samples) -> dict[str, float]:
    return {case: math.fsum(values) / len(values) for case, values in samples.items() if values}


def _interval(values: Sequence[float], resamples: int) -> Interval | None:
    if not values:
        return None
    middle = math.fsum(values) / len(values)
    if min(values) == max(values):
        return Interval(middle, middle, middle, len(values))
    found = bootstrap(
        (np.asarray(values),),
        np.mean,
        confidence_level=LEVEL,
        n_resamples=resamples,
        # In batches, to limit memory.
        batch=max(1, 1_000_000 // len(values)),
        method="BCa",
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    return Interval(middle, float(found.low), float(found.high), len(values))
