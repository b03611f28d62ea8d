"""200 streams at once, with slow readers and clients that leave; `make test-gateway` has 2,000."""

from wirecall_bench.gateway.soak import run_soak


def test_200_streams_lose_nothing() -> None:
    report = run_soak(streams=200, seconds=5)
    assert report.problems() == [], report
