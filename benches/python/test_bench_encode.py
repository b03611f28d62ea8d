"""Writing calls: a catalogue of nineteen."""

from __future__ import annotations

from typing import Any

import pytest

import workloads
from contestants import HAND_WRITTEN, WIRECALL, check_encode, encoder


@pytest.mark.parametrize("contestant", [HAND_WRITTEN, WIRECALL])
def test_bench_encode(benchmark: Any, contestant: str) -> None:
    catalogue = workloads.encode_catalogue()
    benchmark.group = f"encode: {len(catalogue.calls)} calls, {catalogue.source}"
    check_encode(contestant, catalogue)
    encode = encoder(contestant, catalogue.tools)

    def all_calls() -> None:
        for name, arguments in catalogue.calls:
            encode(name, arguments)

    benchmark(all_calls)
