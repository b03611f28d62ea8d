"""The gateway with 2,000 streams at once, for a minute."""

from wirecall_bench.gateway.soak import run_soak


def test_soak_of_2000_streams_loses_nothing_and_keeps_no_memory() -> None:
    report = run_soak(streams=2000, seconds=60)
    print(report)
    assert report.problems() == []
