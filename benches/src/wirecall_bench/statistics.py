"""What a sample says about all similar cases: means with intervals, and differences paired by case.

The unit is the case. Repetitions of a case are similar, so they are averaged first, and cases are resampled.
With repetitions as the unit, intervals would be too narrow.
"""

import math
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass

import numpy as np
from scipy.stats import bootstrap, permutation_test

LEVEL = 0.95
RESAMPLES = 10_000
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


def mean(samples: Samples, resamples: int = RESAMPLES) -> Interval | None:
    """The mean over cases; None if there are none.

    Args:
        samples: The values of each case, one for each repetition. Cases without values are ignored.
        resamples: How many the bootstrap draws.
    """
    return _interval(list(_means(samples).values()), resamples)


def difference(first: Samples, second: Samples, resamples: int = RESAMPLES) -> Difference:
    """The second minus the first.

    Args:
        first, second, resamples: As for `mean`.
    """
    ones, others = _means(first), _means(second)
    pairs = [others[case] - ones[case] for case in ones if case in others]
    unpaired = len(ones.keys() ^ others.keys())
    return Difference(_interval(pairs, resamples), unpaired, _chance(pairs, resamples))


def holm(chances: Sequence[float]) -> list[float]:
    """Chances of several differences, corrected by Holm's method: how often the smallest of them would be as
    small if there were no differences at all, and so on."""
    order = sorted(range(len(chances)), key=lambda index: chances[index])
    corrected, largest = [0.0] * len(chances), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, chances[index] * (len(chances) - rank)))
        corrected[index] = largest
    return corrected


def _chance(pairs: Sequence[float], resamples: int) -> float:
    """The sign-flip test. It is exact if two variants are equal, however few pairs there are."""
    unequal = np.array([pair for pair in pairs if pair])
    if len(unequal) < 2:
        return 1.0
    found = permutation_test(
        (unequal,),
        np.mean,
        # Of one sample: signs are changed. All combinations if there are no more than `resamples`.
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=_batch(unequal),
        rng=np.random.default_rng(_SEED),
    )
    return float(found.pvalue)


def _batch(values: Sized) -> int:
    """How many resamples are drawn at once, to limit memory."""
    return max(1, 1_000_000 // len(values))


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
        batch=_batch(values),
        method="BCa",
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    return Interval(middle, float(found.low), float(found.high), len(values))
