"""Threads on tasks: their order, how many at once, and how a run ends."""

import threading
import time

import pytest

from wirecall_bench.workers import each


@pytest.mark.parametrize("concurrency", [1, 3, 20])
def test_every_task_is_done_once_and_begun_in_order(concurrency: int) -> None:
    begun: list[int] = []
    at_once, highest = 0, 0
    lock = threading.Lock()

    def work(task: int) -> None:
        nonlocal at_once, highest
        with lock:
            begun.append(task)
            at_once += 1
            highest = max(highest, at_once)
        time.sleep(0.002)
        with lock:
            at_once -= 1

    each(work, range(60), concurrency=concurrency)
    assert sorted(begun) == list(range(60))
    # Threads take tasks in order; between taking and beginning, as many may overtake as there are.
    assert all(abs(task - place) < concurrency for place, task in enumerate(begun))
    assert highest <= concurrency
    assert highest > 1 or concurrency == 1


def test_an_error_ends_the_run_in_good_order() -> None:
    begun, ended = [], []
    stop = threading.Event()

    def work(task: int) -> None:
        begun.append(task)
        if task == 5:
            raise ValueError("no more")
        time.sleep(0.01)
        ended.append(task)

    with pytest.raises(ValueError, match="no more"):
        each(work, range(1000), concurrency=3, stop=stop)
    assert stop.is_set()
    assert set(begun) == {*ended, 5}
    assert len(begun) < 12


def test_nothing_begins_when_it_is_stopped() -> None:
    stop = threading.Event()
    stop.set()
    each(pytest.fail, ["never"], stop=stop)
