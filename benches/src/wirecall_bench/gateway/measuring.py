"""Measurements of gateways under load: time of the processor, delays and memory.

All of them take turns: a round measures each gateway once, and each round begins with another one. Figures of
one round are compared with each other only, because the speed of a shared machine changes.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

from wirecall_bench.gateway.client import StreamClient, connect, expected_answer, request
from wirecall_bench.gateway.plan import CALL, StreamPlan
from wirecall_bench.gateway.processes import GatewayProcess, GatewayProcessError, UpstreamProcess

# Seconds between the last opened stream and the measurement, and until a gateway must pass a first chunk on.
_SETTLE, _PATIENCE = 0.5, 30.0
# Seconds between two new streams, when the first token is measured.
_FIRST_TOKEN_EACH = 0.05
# An answer of which only the start is measured: the rest follows at once.
SHORT = StreamPlan(2000, 3)

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class ChunkLoad:
    """Streams that are open at once.

    Attributes:
        rate: Chunks per second of each.
        timed: Whether the plan is.
        chunks: How many chunks of text an answer has; with 0, streams are closed while text flows.
        spread: Seconds over which they are opened, so that they send at different times.
    """

    streams: int
    rate: float
    chunks: int = 0
    timed: bool = False
    spread: float = 1.5

    @property
    def plan(self) -> StreamPlan:
        return StreamPlan(self.rate, self.chunks, timed=self.timed)


@dataclass(frozen=True)
class CostSample:
    """One window of time.

    Attributes:
        cost: Seconds of the processor for each chunk that the upstream sent.
        rate: Chunks per second that it sent.
    """

    cost: float
    rate: float


async def check(target: GatewayProcess, *, codec: bool) -> None:
    """A gateway must pass answers on correctly before it is measured.

    Raises:
        GatewayProcessError: It does not.
    """
    plan = StreamPlan(100, 50)
    client = await connect(target.port, request(plan), keeps=True)
    await asyncio.wait_for(client.closed, _PATIENCE)
    answer, expected = client.answer(), expected_answer(plan)
    if not codec:
        expected = expected._replace(text=plan.text + CALL, calls=(), finish_reason="stop")
    if answer != expected:
        raise GatewayProcessError(f"{target.name} answers {answer}, not {expected}")


async def rounds(
    targets: Sequence[T], count: int, measure: Callable[[T], Coroutine[Any, Any, R]]
) -> list[list[R]]:
    """What `measure` returns for each target, by round; each round begins with another target."""
    out = []
    for number in range(count):
        first = number % len(targets)
        order = [*range(first, len(targets)), *range(first)]
        measured = {at: await measure(targets[at]) for at in order}
        out.append([measured[at] for at in range(len(targets))])
    return out


@asynccontextmanager
async def open_streams(
    target: GatewayProcess, upstream: UpstreamProcess, asked: bytes, count: int, spread: float
) -> AsyncIterator[list[StreamClient]]:
    """Streams that have got their first chunk. At the end, they are closed.

    Raises:
        GatewayProcessError: One gets no chunk, or is still open at the upstream after the end.
    """
    clients: list[StreamClient] = []
    try:
        started = perf_counter()
        for number in range(count):
            await asyncio.sleep(max(0.0, started + spread * number / count - perf_counter()))
            clients.append(await connect(target.port, asked))
        for client in clients:
            await asyncio.wait_for(client.begun, _PATIENCE)
            if client.first is None:
                raise GatewayProcessError(f"{target.name} does not answer")
        yield clients
    finally:
        for client in clients:
            client.abort()
    if not await upstream.idle():
        raise GatewayProcessError(f"{target.name} does not close streams whose readers are gone")


async def chunk_cost(
    target: GatewayProcess, upstream: UpstreamProcess, load: ChunkLoad, seconds: float
) -> CostSample:
    """The cost of a chunk of text, in streams that were opened before and are closed after the window."""
    async with open_streams(target, upstream, request(load.plan), load.streams, load.spread):
        await asyncio.sleep(_SETTLE)
        return await _during(target, upstream, asyncio.sleep(seconds))


async def answer_cost(target: GatewayProcess, upstream: UpstreamProcess, load: ChunkLoad) -> CostSample:
    """The cost of a chunk in whole answers: with their requests, their calls and their ends."""
    asked = request(load.plan)

    async def answers() -> None:
        async with open_streams(target, upstream, asked, load.streams, load.spread) as clients:
            for client in clients:
                await client.closed

    return await _during(target, upstream, answers())


async def _during(
    target: GatewayProcess, upstream: UpstreamProcess, work: Coroutine[Any, Any, None]
) -> CostSample:
    before, used, started = (await upstream.counts()).sent, target.seconds(), perf_counter()
    await work
    used, took = target.seconds() - used, perf_counter() - started
    sent = (await upstream.counts()).sent - before
    return CostSample(used / sent, sent / took)


async def first_tokens(
    asked: Sequence[tuple[GatewayProcess, bytes]], count: int, each: float = _FIRST_TOKEN_EACH
) -> list[list[float]]:
    """Seconds from the request to the first chunk, of this many streams to each target, which take turns."""
    out: list[list[float]] = [[] for _ in asked]
    due = perf_counter()
    for _ in range(count):
        for (target, wanted), found in zip(asked, out, strict=True):
            due += each
            await asyncio.sleep(max(0.0, due - perf_counter()))
            client = await connect(target.port, wanted)
            await asyncio.wait_for(client.closed, _PATIENCE)
            if client.first is None:
                raise GatewayProcessError(f"{target.name} does not answer")
            found.append(client.first)
    return out


async def chunk_delays(
    target: GatewayProcess,
    upstream: UpstreamProcess,
    load: ChunkLoad,
    seconds: float,
    opened: bytes | None,
) -> list[float]:
    """The seconds from the upstream to the client, of each chunk of running streams.

    Args:
        opened: A request that is opened once a second beside them, over and over; None for none.
    """
    async with open_streams(target, upstream, request(load.plan), load.streams, load.spread) as clients:
        await asyncio.sleep(_SETTLE)
        for client in clients:
            client.delays.clear()
        for _ in range(round(seconds)):
            if opened is not None:
                await connect(target.port, opened)
            await asyncio.sleep(1)
        return [delay for client in clients for delay in client.delays]


async def idle_memory(target: GatewayProcess, upstream: UpstreamProcess, streams: int) -> float:
    """The bytes of memory of each stream that has got its first chunk and waits for the next one."""
    # What is loaded or cached with the first requests belongs to no stream.
    async with open_streams(target, upstream, request(StreamPlan(0)), streams // 10, 1):
        await asyncio.sleep(_SETTLE)
    before = target.memory()
    async with open_streams(target, upstream, request(StreamPlan(0)), streams, streams / 200):
        await asyncio.sleep(_SETTLE)
        return (target.memory() - before) / streams
