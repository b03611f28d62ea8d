"""Whole messages: one with many calls, and many on one thread and on two."""

from __future__ import annotations

from typing import Any

import pytest

import wirecall
import workloads
from contestants import HAND_WRITTEN, WIRECALL, check_whole, read_calls, whole_parser


@pytest.mark.parametrize("contestant", [HAND_WRITTEN, WIRECALL])
def test_bench_parse(benchmark: Any, contestant: str) -> None:
    work = workloads.many_calls()
    benchmark.group = f"parse: {work.title}"
    check_whole(contestant, work)
    parse = whole_parser(contestant, work.tools)
    benchmark(lambda: read_calls(parse(work.text)))


@pytest.mark.parametrize("threads", [1, 2])
def test_bench_parse_many(benchmark: Any, threads: int) -> None:
    works = workloads.messages()
    benchmark.group = f"parse_many: {len(works):,} messages of 2 KB"
    tools = wirecall.Toolset(works[0].tools)
    texts = [work.text for work in works]
    benchmark(lambda: [message.items for message in tools.parse_many(texts, threads=threads)])
