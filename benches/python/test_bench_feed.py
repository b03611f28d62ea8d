"""One message in deltas of four characters: what `feed` costs."""

from __future__ import annotations

from typing import Any

import pytest

import workloads
from contestants import HAND_WRITTEN, NO_OP, WIRECALL, check_feed, feed_all, parser_maker
from workloads import KB, Workload

WORKS = (
    workloads.long_prose(),
    workloads.long_argument(16 * KB),
    workloads.long_argument(KB * KB),
    workloads.parallel_calls(),
    workloads.prose_and_call(),
)


@pytest.mark.parametrize("contestant", [NO_OP, HAND_WRITTEN, WIRECALL])
@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.name)
def test_bench_feed(benchmark: Any, work: Workload, contestant: str) -> None:
    benchmark.group = f"feed: {work.title}"
    if contestant != NO_OP:
        check_feed(contestant, work, workloads.DELTA)
    deltas = work.deltas()
    benchmark.extra_info["deltas"] = len(deltas)
    benchmark(feed_all, parser_maker(contestant, work.tools), deltas)
