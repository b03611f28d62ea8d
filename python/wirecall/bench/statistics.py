"""What a sample says of all cases like it: means with intervals, differences that are paired by case.

The unit is the case. Repetitions of one case are alike, so they are averaged first, and cases are what is
drawn anew: with repetitions as the unit, an interval would shrink with each of them and promise too much.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import bootstrap

LEVEL = 0.95
RESAMPLES = 10_000
# With fewer pairs, signs that all agree are no rarity: 2 / 2^5 is more than 1 - LEVEL.
FEWEST_PAIRS = 6
_SEED = 20_260_101

Samples = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Interval:
    """A mean and its bootstrap interval of 95 %.

    Attributes:
        mean: Over cases, each the mean of its repetitions.
        low, high: Both the mean where all cases are alike: then the sample does not say how far others
            may lie.
        n: Cases.
    """

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Difference:
    """What a second way does beside a first, case by case.

    Attributes:
        interval: Of the second less the first, over cases that have both; None without any.
        unpaired: Cases that have one of them only; they say nothing here.
    """

    interval: Interval | None
    unpaired: int

    @property
    def shown(self) -> bool:
        """Whether the interval leaves out zero, with pairs enough for that to mean anything."""
        found = self.interval
        return found is not None and found.n >= FEWEST_PAIRS and (found.low > 0 or found.high < 0)


def mean(samples: Samples) -> Interval | None:
    """The mean over cases; None without any.

    Args:
        samples: The values of each case, one for each repetition. Cases without values are left out.
    """
    return _interval(list(_means(samples).values()))


def difference(first: Samples, second: Samples) -> Difference:
    """The second less the first."""
    ones, others = _means(first), _means(second)
    pairs = [others[case] - ones[case] for case in ones if case in others]
    return Difference(_interval(pairs), len(ones.keys() ^ others.keys()))


def _means(samples: Samples) -> dict[str, float]:
    return {case: math.fsum(values) / len(values) for case, values in samples.items() if values}


def _interval(values: Sequence[float]) -> Interval | None:
    if not values:
        return None
    middle = math.fsum(values) / len(values)
    if min(values) == max(values):
        return Interval(middle, middle, middle, len(values))
    found = bootstrap(
        (np.asarray(values),),
        np.mean,
        confidence_level=LEVEL,
        n_resamples=RESAMPLES,
        # So many at once that memory stays small.
        batch=max(1, 1_000_000 // len(values)),
        method="BCa",
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    return Interval(middle, float(found.low), float(found.high), len(values))
