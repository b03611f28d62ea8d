"""The rows of `make bench` with pytest-benchmark, for its saved runs, comparisons and histograms.

python -m pytest benches/python --benchmark-columns=min,median,rounds
"""

from typing import Any

import pytest

from wirecall_bench.goals import rows
from wirecall_bench.rounds import Run

RUNS = [(row.work, name, run) for row in rows() for name, run in row.contest.items()]


@pytest.mark.parametrize(
    ("work", "run"), [(work, run) for work, _, run in RUNS], ids=[f"{name}: {work}" for work, name, _ in RUNS]
)
def test_goal(benchmark: Any, work: str, run: Run) -> None:
    benchmark.group = work
    benchmark(run)
