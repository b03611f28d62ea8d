"""Budgets: sums, prices, and limits that are not passed, whatever runs at once."""

import random
import threading
import time

import pytest

from wirecall_bench.budget import Budget, BudgetReachedError, Prices, Usage


def test_usage_is_summed() -> None:
    total = Usage(10, 5, 2) + Usage(1, 1, 0, unknown=1)
    assert total == Usage(11, 6, 2, 1)
    assert Usage.of(total.as_dict()) == total


def test_cached_input_has_a_price_of_its_own() -> None:
    usage = Usage(input=1_000_000, output=100_000, cached=400_000)
    assert Prices(2.0, 10.0).usd(usage) == pytest.approx(3.0)
    assert Prices(2.0, 10.0, cached=0.5).usd(usage) == pytest.approx(2.4)


def test_what_was_spent_is_what_was_settled() -> None:
    budget = Budget(prices={"a": Prices(1.0, 2.0), "b": Prices(3.0, 4.0)})
    budget.add("b", Usage(1000, 0))
    for _ in range(3):
        budget.settle(budget.reserve("a", 400, 100), Usage(50, 20))
    assert budget.usage == Usage(1150, 60)
    assert budget.usd == pytest.approx((150 * 1 + 60 * 2 + 1000 * 3) / 1e6)


def test_without_a_price_there_are_no_dollars() -> None:
    budget = Budget(prices={"a": Prices(1.0, 2.0)})
    budget.settle(budget.reserve("b", 4, 1), Usage(1, 1))
    assert budget.usd is None


def test_unknown_usage_counts_as_what_was_set_aside() -> None:
    budget = Budget()
    budget.settle(budget.reserve("a", 400, 100), None)
    assert budget.usage == Usage(201, 100)


def test_the_limit_is_reached_before_it_is_passed() -> None:
    budget = Budget(max_tokens=1000)
    first = budget.reserve("a", 800, 500)  # 401 + 500
    budget.settle(first, Usage(200, 100))
    budget.settle(budget.reserve("a", 300, 500), Usage(100, 500))  # 151 + 500 of 700
    with pytest.raises(BudgetReachedError):
        budget.reserve("a", 100, 100)
    assert budget.reached
    # What would fit is refused, too: the run is over.
    with pytest.raises(BudgetReachedError):
        budget.reserve("a", 2, 1)


def test_earlier_parts_of_the_run_count() -> None:
    budget = Budget(max_tokens=1000)
    budget.add("a", Usage(600, 300))
    with pytest.raises(BudgetReachedError):
        budget.reserve("a", 100, 100)


def test_dollars_are_a_limit() -> None:
    budget = Budget(max_usd=1.0, prices={"a": Prices(1.0, 10.0)})
    budget.settle(budget.reserve("a", 2, 90_000), Usage(1, 90_000))
    with pytest.raises(BudgetReachedError):
        budget.reserve("a", 2, 20_000)


def test_what_a_provider_counts_more_is_learned() -> None:
    budget = Budget(max_tokens=10_000)
    budget.settle(budget.reserve("a", 100, 0), Usage(300, 0))
    assert budget.reserve("a", 100, 0).usage.input == 301
    assert budget.reserve("b", 100, 0).usage.input == 51


def test_who_does_not_fit_waits_for_those_that_hold_the_rest() -> None:
    budget = Budget(max_tokens=1000)
    held = budget.reserve("a", 2, 900)
    got: list[object] = []
    waiting = threading.Thread(target=lambda: got.append(budget.reserve("a", 2, 500)))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    budget.settle(held, Usage(2, 100))
    waiting.join(5)
    assert len(got) == 1


@pytest.mark.parametrize("seed", range(5))
def test_threads_do_not_pass_the_limit(seed: int) -> None:
    budget = Budget(max_tokens=50_000)
    dice = random.Random(seed)
    highest = 0

    def work() -> None:
        nonlocal highest
        while True:
            size, output = dice.randrange(1, 4000), dice.randrange(1, 2000)
            try:
                reservation = budget.reserve("a", size, output)
            except BudgetReachedError:
                return
            time.sleep(0.0001)
            actual = Usage(dice.randrange(0, size // 2 + 1), dice.randrange(0, output + 1))
            budget.settle(reservation, None if dice.random() < 0.1 else actual)
            highest = max(highest, budget.usage.input + budget.usage.output)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert 40_000 < highest <= 50_000
