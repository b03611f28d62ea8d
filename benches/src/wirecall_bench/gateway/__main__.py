"""What `wirecall serve` costs: `make bench-gateway`.

    python -m wirecall_bench.gateway                    # all tables, about 12 minutes
    python -m wirecall_bench.gateway --only idle        # one of them
    python -m wirecall_bench.gateway --litellm FILE     # the command `litellm` to compare with

Gateways with and without the codec run beside each other and take turns. benches/README.md says what each
figure means.
"""

import argparse
import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from wirecall_bench.gateway import measuring
from wirecall_bench.gateway.client import HISTORY_CALLS, MANY_TOOLS, TOOLS, request
from wirecall_bench.gateway.measuring import SHORT, ChunkLoad, CostSample, check, rounds
from wirecall_bench.gateway.processes import (
    GatewayProcess,
    litellm_process,
    upstream_process,
    wirecall_process,
)
from wirecall_bench.local_server import free_port
from wirecall_bench.rounds import machine
from wirecall_bench.statistics import Interval, mean
from wirecall_bench.tables import Table, markdown

FULL = ChunkLoad(streams=250, rate=16)
DIFFERENT = ChunkLoad(streams=250, rate=16, timed=True)
WHOLE = ChunkLoad(streams=250, rate=16, chunks=100)
# What LiteLLM bears on one processor.
LIGHT = ChunkLoad(streams=50, rate=10)
# How much longer than a window its answers are.
_LEFT_SECONDS = 6
RUNNING = ChunkLoad(streams=50, rate=20, timed=True)
CHUNK_GOAL, FIRST_TOKEN_GOAL = 1.8, 2.5
IDLE_STREAMS = 1000

Kept = dict[str, Any]


class GatewayBench:
    """The processes of a run, and its measurements.

    Args:
        count: How many rounds.
        seconds: The length of one window.
        litellm: The command of LiteLLM; None to leave it out.
    """

    def __init__(self, count: int, seconds: float, litellm: Path | None) -> None:
        self._count = count
        self._seconds = seconds
        self._litellm = litellm

    def run(self, names: Sequence[str]) -> Iterator[tuple[Table, Kept]]:
        """The table and the raw figures of each of these measurements."""
        measures: dict[str, Callable[[], Coroutine[Any, Any, tuple[Table, Kept]]]] = {
            "chunks": self.chunks,
            "litellm": self.litellm,
            "first": self.first_token,
            "delays": self.delays,
            "idle": self.idle,
        }
        with ExitStack() as stack:
            self._upstream = stack.enter_context(upstream_process())
            self._off = stack.enter_context(wirecall_process(self._upstream.url, codec=False))
            self._on = stack.enter_context(wirecall_process(self._upstream.url))
            asyncio.run(check(self._off, codec=False))
            asyncio.run(check(self._on, codec=True))
            for name in names:
                if name != "litellm" or self._litellm is not None:
                    yield asyncio.run(measures[name]())

    async def chunks(self) -> tuple[Table, Kept]:
        rows, kept = [], {}
        targets = (self._off, self._on)
        works = {
            "text": FULL,
            "text, chunks differ in other fields": DIFFERENT,
            f"answers of {WHOLE.plan.sent} chunks": WHOLE,
        }
        for title, load in works.items():

            async def measured(target: GatewayProcess, load: ChunkLoad = load) -> CostSample:
                if load.chunks:
                    return await measuring.answer_cost(target, self._upstream, load)
                return await measuring.chunk_cost(target, self._upstream, load, self._seconds)

            found = await rounds(targets, self._count, measured)
            ratio = _interval([on.cost / off.cost for off, on in found])
            rate = fmean(sample.rate for both in found for sample in both)
            costs = [_microseconds(sample.cost for sample in column) for column in zip(*found, strict=True)]
            goal = (f"at most {CHUNK_GOAL}", _met(ratio, CHUNK_GOAL)) if load is FULL else ("", "")
            rows.append([title, str(load.streams), f"{rate:,.0f}", *costs, _shown(ratio), *goal])
            kept[title] = [[vars(sample) for sample in both] for both in found]
        head = ["work", "streams", "chunks/s", "codec off, µs", "codec on, µs", "on / off", "goal", "met"]
        return Table("Processor time per chunk", head, rows), kept

    async def litellm(self) -> tuple[Table, Kept]:
        assert self._litellm is not None
        # LiteLLM may go on reading answers whose clients have left, so they must end.
        load = replace(LIGHT, chunks=round(LIGHT.rate * (self._seconds + _LEFT_SECONDS)))
        names = [load.plan.model]
        with litellm_process(self._upstream, self._litellm, names, free_port()) as litellm:

            async def measured(target: GatewayProcess) -> CostSample:
                return await measuring.chunk_cost(target, self._upstream, load, self._seconds)

            found = await rounds((self._off, self._on, litellm), self._count, measured)
            memory = litellm.memory() / 2**20, self._on.memory() / 2**20
        costs = [_microseconds(sample.cost for sample in column) for column in zip(*found, strict=True)]
        rate = fmean(sample.rate for all_three in found for sample in all_three)
        ratio = _interval([litellm.cost / on.cost for _, on, litellm in found])
        notes = [f"Resident memory: LiteLLM {memory[0]:.0f} MB, codec on {memory[1]:.0f} MB."]
        head = ["streams", "chunks/s", "codec off, µs", "codec on, µs", "LiteLLM, µs", "LiteLLM / on"]
        row = [str(LIGHT.streams), f"{rate:,.0f}", *costs, _shown(ratio)]
        kept = {"rounds": [[vars(sample) for sample in one] for one in found], "megabytes": memory}
        return Table("Processor time per chunk, beside LiteLLM", head, [row], notes=notes), kept

    async def first_token(self) -> tuple[Table, Kept]:
        direct = GatewayProcess("direct", self._upstream.port)
        many, few = request(SHORT, tools=MANY_TOOLS), request(SHORT)
        asked = [(direct, many), (self._off, many), (self._on, few), (self._on, many)]
        titles = ["direct", "codec off", f"codec on, {TOOLS} tools", f"codec on, {MANY_TOOLS} tools"]
        await measuring.first_tokens(asked, 5)
        found = [await measuring.first_tokens(asked, 40) for _ in range(self._count)]
        medians = [[float(np.median(seconds)) for seconds in one] for one in found]
        added = _interval([(one[3] - one[0]) / (one[1] - one[0]) for one in medians])
        rows = []
        for at, title in enumerate(titles):
            seconds = np.concatenate([one[at] for one in found]) * 1000
            median, high = np.percentile(seconds, (50, 99))
            more = "" if at == 0 else f"{fmean(one[at] - one[0] for one in medians) * 1000:.2f}"
            last = at == len(titles) - 1
            goal = [_shown(added), f"at most {FIRST_TOKEN_GOAL}", _met(added, FIRST_TOKEN_GOAL)]
            rows.append([title, f"{median:.2f}", f"{high:.2f}", more, *(goal if last else ["", "", ""])])
        head = ["first token", "p50, ms", "p99, ms", "added, ms", "added, on / off", "goal", "met"]
        return Table("First token", head, rows), {"titles": titles, "seconds": found}

    async def delays(self) -> tuple[Table, Kept]:
        large = request(SHORT, tools=MANY_TOOLS, history=HISTORY_CALLS)
        cases = [(target, opened) for target in (self._off, self._on) for opened in (None, large)]

        async def measured(case: tuple[GatewayProcess, bytes | None]) -> list[float]:
            return await measuring.chunk_delays(case[0], self._upstream, RUNNING, self._seconds, case[1])

        found = await rounds(cases, max(1, self._count // 2), measured)
        rows, kept = [], []
        for at, (target, opened) in enumerate(cases):
            each = [np.percentile(np.array(one[at]) * 1000, (50, 99, 99.9)) for one in found]
            longest = max(max(one[at]) for one in found) * 1000
            figures = [f"{fmean(column):.2f}" for column in zip(*each, strict=True)]
            opens = "none" if opened is None else f"1/s, {len(opened) / 1000:.0f} KB"
            rows.append([target.name, opens, *figures, f"{longest:.2f}"])
            kept.append([list(map(float, one)) for one in each])
        head = ["delay of chunks", "openings", "p50, ms", "p99, ms", "p99.9, ms", "longest, ms"]
        title = f"Delays of {RUNNING.streams} running streams"
        return Table(title, head, rows), {"percentiles": kept}

    async def idle(self) -> tuple[Table, Kept]:
        found = []
        for codec in (False, True):
            # A fresh one: another would fill memory that it has already.
            with wirecall_process(self._upstream.url, codec=codec) as target:
                found.append(await measuring.idle_memory(target, self._upstream, IDLE_STREAMS) / 1024)
        row = [str(IDLE_STREAMS), *(f"{each:.1f}" for each in found)]
        head = ["idle streams", "codec off, KiB each", "codec on, KiB each"]
        return Table("Memory of idle streams", head, [row]), {"kibibytes": found}


def _interval(values: Sequence[float]) -> Interval:
    found = mean({str(at): [value] for at, value in enumerate(values)})
    assert found is not None
    return found


def _shown(ratio: Interval) -> str:
    return f"{ratio.mean:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def _met(ratio: Interval, goal: float) -> str:
    return "yes" if ratio.mean <= goal else "NO"


def _microseconds(seconds: Iterator[float]) -> str:
    return f"{fmean(seconds) * 1e6:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Measure what `wirecall serve` costs.",
        epilog="Nothing else should run on the machine: gateway, upstream and clients take two processors.",
    )
    every = ("chunks", "litellm", "first", "delays", "idle")
    parser.add_argument("--only", nargs="+", choices=every, default=every, help="these tables only")
    parser.add_argument("--litellm", type=Path, metavar="FILE", help="the command litellm to compare with")
    parser.add_argument("--rounds", type=int, default=8, help="how many rounds [8]")
    parser.add_argument("--seconds", type=float, default=6, help="seconds of each window [6]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures, in seconds")
    chosen = parser.parse_args()
    print(f"{machine()}\n{chosen.rounds} rounds, windows of {chosen.seconds:g} s\n", flush=True)
    kept: Kept = {}
    bench = GatewayBench(chosen.rounds, chosen.seconds, chosen.litellm)
    for table, figures in bench.run(chosen.only):
        print("\n".join([table.title, "", markdown(table), *table.notes, ""]), flush=True)
        kept[table.title] = figures
    if chosen.json:
        chosen.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
