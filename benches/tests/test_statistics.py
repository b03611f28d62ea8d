"""Intervals and differences, against what was planted."""

import math

import pytest

from wirecall_bench.statistics import difference, holm, mean

np = pytest.importorskip("numpy")

# Few enough for a test, and enough for what is asserted.
RESAMPLES = 1000


def planted(
    seed: int, cases: int, repetitions: int, rate: float, spread: float = 0.0
) -> dict[str, list[float]]:
    """Successes of cases, each with a rate of its own around `rate`."""
    draw = np.random.default_rng(seed)
    rates = np.clip(draw.normal(rate, spread, cases), 0, 1)
    return {
        f"case {at}": [float(draw.random() < own) for _ in range(repetitions)] for at, own in enumerate(rates)
    }


def test_the_interval_holds_the_planted_mean_about_as_often_as_it_says():
    rounds = 300
    held = 0
    for seed in range(rounds):
        found = mean(planted(seed, 60, 3, 0.7), RESAMPLES)
        assert found is not None
        held += found.low <= 0.7 <= found.high
    # 95 % are 285; four standard deviations of the count are 15.
    assert held >= 270


def test_repetitions_are_not_taken_for_cases():
    few = {f"case {at}": [float(at % 2)] for at in range(20)}
    often = {case: values * 50 for case, values in few.items()}
    assert mean(few) == mean(often)


def test_a_planted_difference_is_found_and_a_planted_null_is_not():
    found = missed = invented = 0
    rounds = 200
    for seed in range(rounds):
        native = planted(3 * seed, 80, 3, 0.75)
        better = planted(3 * seed + 1, 80, 3, 0.9)
        same = planted(3 * seed + 2, 80, 3, 0.75)
        change = difference(native, better, RESAMPLES)
        found += change.shown and change.interval is not None and change.interval.low > 0
        missed += not change.shown
        invented += difference(native, same, RESAMPLES).shown
    assert found >= 195, missed
    # 5 % of 200 are 10; four standard deviations are 12.
    assert invented <= 22


def test_pairs_see_what_a_comparison_of_two_means_would_not():
    # Every case differs from all others far more than the two ways do.
    native = {f"case {at}": [float(100 * at)] for at in range(40)}
    other = {case: [value + 1 + (at % 3) / 10] for at, (case, (value,)) in enumerate(native.items())}
    change = difference(native, other)
    assert change.shown
    assert change.interval is not None
    assert change.interval.high < 2
    alone = mean(other)
    assert alone is not None
    assert alone.high - alone.low > 500


def test_few_pairs_show_nothing_however_much_they_agree():
    # Six signs that agree are a chance of 2 / 2^6.
    for pairs in range(8):
        first = {str(at): [0.0] for at in range(pairs)}
        second = {str(at): [1.0] for at in range(pairs)}
        assert difference(first, second).shown == (pairs >= 6)


def test_pairs_that_are_alike_make_no_difference_of_a_few_others():
    first = {str(at): [0.0] for at in range(20)}
    for better in range(8):
        second = {case: [float(int(case) < better)] for case in first}
        change = difference(first, second)
        assert change.shown == (better >= 6)
        assert change.chance == (2 / 2**better if better else 1.0)


@pytest.mark.parametrize("cases", [6, 12, 24])
@pytest.mark.parametrize("draw", ["yes or no", "skewed"])
def test_a_null_of_few_cases_is_shown_as_rarely_as_is_said(cases, draw):
    shown, rounds = 0, 150
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        drawn = rng.random((2, cases)) < 0.2 if draw == "yes or no" else rng.lognormal(size=(2, cases))
        first, second = ({str(at): [float(value)] for at, value in enumerate(row)} for row in drawn)
        shown += difference(first, second, RESAMPLES).shown
    # 5 % of 150 are 7.5; three standard deviations are 8. The interval alone shows up to 28.
    assert shown <= 15


def test_cases_of_one_side_are_counted_and_left_out():
    change = difference({"a": [1.0], "b": [2.0], "none": []}, {"b": [5.0], "c": [7.0], "none": [1.0]})
    assert change.interval is not None
    assert (change.interval.mean, change.interval.n, change.unpaired) == (3.0, 1, 3)
    nothing = difference({"a": [1.0]}, {"b": [1.0]})
    assert (nothing.interval, nothing.unpaired, nothing.shown) == (None, 2, False)


def test_values_that_are_alike_have_an_interval_without_width():
    found = mean({str(at): [0.1, 0.1, 0.1] for at in range(7)})
    assert found is not None
    assert found.low == found.high == found.mean
    assert math.isclose(found.mean, 0.1)
    assert mean({}) is None


def test_the_same_sample_has_the_same_interval():
    sample = planted(1, 50, 2, 0.6)
    assert mean(sample) == mean(dict(sample))


def test_chances_of_several_differences_are_corrected() -> None:
    """By hand: the smallest of four counts four times, and none is smaller than one before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([0.03]) == [0.03]
    assert holm([]) == []
