"""Many streams through a gateway for some time, with slow readers and clients that leave half way.

One tenth of the streams is read more slowly than the upstream sends. One tenth is closed by its client, and
opened anew, again and again. One in a thousand is a flood that nobody reads: when the buffers of the kernel
are full, with about 8 MB, the gateway must make the upstream wait. All others get answers of up to half a
minute, one after the other, with a chunk a second or more. The answers of all that do not leave must be
complete and correct in the end.

    python -m wirecall_bench.gateway.soak                           # 2,000 streams for 60 s
    python -m wirecall_bench.gateway.soak --streams 5000 --seconds 600
"""

import argparse
import asyncio
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wirecall_bench.gateway.client import StreamClient, connect, expected_answer, request
from wirecall_bench.gateway.plan import StreamPlan, call_pieces
from wirecall_bench.gateway.processes import (
    GatewayProcess,
    UpstreamProcess,
    upstream_process,
    wirecall_process,
)
from wirecall_bench.gateway.upstream import UpstreamCounts

# New streams per second at the start.
_OPENINGS = 250
# Chunks per second of a stream, and at least so many in all.
_RATE, _LEAST_CHUNKS = 1.0, 40
# Seconds that an answer lasts.
_ANSWER = (10.0, 30.0)
# What slow readers request: so many chunks, sent in the first half of the time, and the characters of each.
# They read so many bytes in all that time, and at the end the rest.
_SLOW_CHUNKS, _SLOW_SIZE, _SLOW_READS = 100, 500, 30_000
# More than the kernel buffers.
_FLOOD = StreamPlan(400, 1300, 8000)
# Seconds for which a client stays that leaves, at most to the end.
_STAY = (0.5, 8.0)
# Seconds after the end until everything must have been read.
_PATIENCE = 90.0
# Memory must not grow by more than this part of it, from this second on: before, buffers fill.
MEMORY_GROWTH, MEMORY_AFTER = 0.1, 20.0
# Below this many seconds of samples, a fit says nothing.
_LEAST_FIT = 10.0
_SAMPLE_SECONDS = 0.5
# Files that a process has open besides connections.
_OTHER_FILES = 200
_SEED = 20_260_101


@dataclass
class SoakReport:
    """What happened.

    Attributes:
        outcomes: How many streams were "complete", "left" (by their clients), "broken" (not read to the end,
            or no stream at all) or "wrong" (another text, or other calls, than the upstream sent).
        counts: Those of the upstream after the end.
        memory: The gateway's resident bytes, by seconds after the start.
        processor: Seconds that the gateway used.
        longest: The longest delay of a chunk, of readers that are not slow; seconds.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    counts: UpstreamCounts = field(default_factory=UpstreamCounts)
    memory: list[tuple[float, int]] = field(default_factory=list)
    processor: float = 0.0
    longest: float = 0.0

    @property
    def growth(self) -> float | None:
        """How much memory grew, as part of it, by a line that fits the samples; None for short runs."""
        kept = [(at, size) for at, size in self.memory if at >= MEMORY_AFTER]
        if not kept or (length := kept[-1][0] - kept[0][0]) < _LEAST_FIT:
            return None
        slope, start = np.polyfit([at - kept[0][0] for at, _ in kept], [size for _, size in kept], 1)
        return float(slope * length / start)

    def problems(self) -> list[str]:
        """Sentences about everything that went wrong."""
        outcomes, counts = self.outcomes, self.counts
        found = [f"{outcomes[kind]} streams are {kind}" for kind in ("broken", "wrong") if outcomes[kind]]
        if counts.live:
            found.append(f"{counts.live} streams are still open at the upstream")
        if counts.cut != outcomes["left"]:
            found.append(
                f"{outcomes['left']} clients left, but {counts.cut} streams of the upstream ended early"
            )
        if not counts.paused:
            found.append("the upstream never had to wait for a slow reader")
        if self.growth is not None and self.growth > MEMORY_GROWTH:
            found.append(f"memory grew by {self.growth:.0%} after {MEMORY_AFTER:g} s")
        return found

    def __str__(self) -> str:
        sizes = [size / 2**20 for _, size in self.memory]
        each = self.processor / max(1, self.counts.sent)
        lines = [
            ", ".join(f"{count} {kind}" for kind, count in sorted(self.outcomes.items())),
            f"{self.counts.sent} chunks, {each * 1e6:.0f} µs of the processor each",
            f"longest delay of a chunk {self.longest * 1000:.0f} ms",
            f"memory {sizes[0]:.0f} MB before, {max(sizes):.0f} MB at most, {sizes[-1]:.0f} MB after",
        ]
        if self.growth is not None:
            lines.append(f"memory grew by {self.growth:.1%} after {MEMORY_AFTER:g} s")
        return "\n".join(lines)


def run_soak(streams: int = 2000, seconds: float = 60.0, command: Sequence[str] = ()) -> SoakReport:
    """Soak `wirecall serve`.

    Args:
        streams: How many are open at once.
        seconds: For how long.
        command: Runs wirecall; by default that of this interpreter.

    Raises:
        GatewayProcessError: The gateway does not start, or does not end as it should.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * streams + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed if hard < 0 else min(needed, hard), hard))
    with upstream_process() as upstream, wirecall_process(upstream.url, command=command) as gateway:
        return asyncio.run(_Soak(gateway, upstream, streams, seconds).run())


class _Soak:
    def __init__(
        self, gateway: GatewayProcess, upstream: UpstreamProcess, streams: int, seconds: float
    ) -> None:
        self._gateway = gateway
        self._upstream = upstream
        self._streams = streams
        self._seconds = seconds
        self._report = SoakReport()
        self._rate = max(_RATE, _LEAST_CHUNKS / seconds)
        self._slow_plan = StreamPlan(2 * _SLOW_CHUNKS / seconds, _SLOW_CHUNKS, _SLOW_SIZE)
        self._random = random.Random(_SEED)

    async def run(self) -> SoakReport:
        report, used = self._report, self._gateway.seconds()
        self._started = time.monotonic()
        self._end = self._started + self._seconds
        samples = asyncio.create_task(self._sample())
        tasks = []
        for number in range(self._streams):
            await asyncio.sleep(max(0.0, self._started + number / _OPENINGS - time.monotonic()))
            tasks.append(asyncio.create_task(self._stream(number)))
        await asyncio.gather(*tasks)
        samples.cancel()
        await self._upstream.idle()
        report.counts = await self._upstream.counts()
        report.processor = self._gateway.seconds() - used
        report.memory.append((time.monotonic() - self._started, self._gateway.memory()))
        return report

    def _stream(self, number: int) -> Coroutine[Any, Any, None]:
        if number % 1000 == 2:
            return self._read(_FLOOD, slow=True)
        match number % 10:
            case 0:
                return self._leave()
            case 1:
                return self._read(self._slow_plan, slow=True)
            case _:
                return self._read_on()

    async def _sample(self) -> None:
        """Notes the memory while all streams are open."""
        while (now := time.monotonic()) < self._end:
            self._report.memory.append((now - self._started, self._gateway.memory()))
            await asyncio.sleep(_SAMPLE_SECONDS)

    async def _read_on(self) -> None:
        """Reads one answer after the other, until the end of the time."""
        while (left := self._end - time.monotonic()) > 0:
            chunks = round(self._rate * min(left, self._random.uniform(*_ANSWER))) - len(call_pieces())
            await self._read(StreamPlan(self._rate, max(1, chunks), timed=True))

    async def _read(self, plan: StreamPlan, *, slow: bool = False) -> None:
        """Reads a stream, slowly until the end of the time if `slow`, and checks it."""
        reads = _SLOW_READS / self._seconds if slow else None
        try:
            client = await connect(self._gateway.port, request(plan), keeps=True, slow=reads)
            if slow:
                await asyncio.sleep(self._end - time.monotonic())
                client.hurry()
            await asyncio.wait_for(client.closed, max(0.0, self._end - time.monotonic()) + _PATIENCE)
        except (OSError, TimeoutError):
            self._report.outcomes["broken"] += 1
            return
        answer = client.answer()
        outcome = "broken" if answer is None else "complete" if answer == expected_answer(plan) else "wrong"
        self._report.outcomes[outcome] += 1
        if not slow:
            self._note_delays(client)

    async def _leave(self) -> None:
        """Opens a stream and leaves it, until the end of the time."""
        asked = request(StreamPlan(self._rate, timed=True))
        while time.monotonic() < self._end:
            try:
                client = await connect(self._gateway.port, asked)
                await asyncio.wait_for(client.begun, _PATIENCE)
            except (OSError, TimeoutError):
                self._report.outcomes["broken"] += 1
                return
            stay = min(self._random.uniform(*_STAY), max(0.0, self._end - time.monotonic()))
            await asyncio.sleep(stay)
            self._report.outcomes["broken" if client.closed.done() else "left"] += 1
            self._note_delays(client)
            client.abort()

    def _note_delays(self, client: StreamClient) -> None:
        self._report.longest = max(self._report.longest, *client.delays, 0.0)


def main() -> int:
    parser = argparse.ArgumentParser(description="Soak wirecall serve, and say what went wrong.")
    parser.add_argument("--streams", type=int, default=2000, help="streams that are open at once [2000]")
    parser.add_argument("--seconds", type=float, default=60, help="for how long [60]")
    chosen = parser.parse_args()
    report = run_soak(chosen.streams, chosen.seconds)
    print(report)
    for problem in report.problems():
        print(problem, file=sys.stderr)
    return bool(report.problems())


if __name__ == "__main__":
    sys.exit(main())
