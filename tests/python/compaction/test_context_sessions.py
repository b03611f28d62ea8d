"""A thousand sessions at once, on threads and in tasks: each has its own state, as if it were alone."""

import asyncio
import gc
import random
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from wirecall import compact_context
from wirecall.compaction._sessions import Sessions

SESSIONS, TURNS = 1000, 8
Trace = list[Any]


def messages_of(session: int, turns: int) -> list[Any]:
    """What all of them have in common is the first message; and some never differ at all."""
    texts = ["hello", *(f"{session % 500}: {number} " + "word " * (session % 7) for number in range(turns))]
    return [
        {"role": "assistant" if number % 2 else "user", "content": text} for number, text in enumerate(texts)
    ]


def summary(asked: Any) -> str:
    """Says what it has read; every seventh session has a bad day."""
    if any(one["content"].startswith("6: ") for one in asked):
        raise RuntimeError("down")
    return f"read {len(asked)}: {asked[1]['content'][:8]}"


async def asummary(asked: Any) -> str:
    await asyncio.sleep(0)
    return summary(asked)


def count(text: str) -> int:
    return len(text.split())


def context_of(summarize: Any, most: int = SESSIONS) -> Any:
    return compact_context(context_window=90, compress=summarize, count=count, max_sessions=most)


def fed(session: int, turn: int) -> int:
    return random.Random(session * 100 + turn).randrange(200)


def step(context: Any, session: int, turn: int) -> Any:
    name = f"s{session}"
    made = context.on_request({"messages": messages_of(session, turn)}, api="chat", session=name)["messages"]
    context.feed(fed(session, turn), session=name)
    return [one["content"] for one in made]


async def astep(context: Any, session: int, turn: int) -> Any:
    name = f"s{session}"
    params = {"messages": messages_of(session, turn)}
    made = (await context.aon_request(params, api="chat", session=name))["messages"]
    await asyncio.sleep(0)
    context.feed(fed(session, turn), session=name)
    return [one["content"] for one in made]


@pytest.fixture(scope="module")
def alone() -> list[Trace]:
    traces = []
    for session in range(SESSIONS):
        context = context_of(summary)
        traces.append([step(context, session, turn) for turn in range(1, TURNS)])
    assert any("read" in str(trace) for trace in traces)
    assert any("could not be" in str(trace) for trace in traces)
    return traces


def test_on_threads(alone: list[Trace]) -> None:
    context = context_of(summary)
    traces: list[Trace] = [[] for _ in range(SESSIONS)]
    start = threading.Barrier(8)

    def work(first: int) -> None:
        start.wait(10)
        for turn in range(1, TURNS):
            for session in range(first, SESSIONS, 8):
                traces[session].append(step(context, session, turn))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert traces == alone


def test_in_tasks(alone: list[Trace]) -> None:
    context = context_of(asummary)

    async def talk(session: int) -> Trace:
        return [await astep(context, session, turn) for turn in range(1, TURNS)]

    async def main() -> list[Trace]:
        return await asyncio.gather(*map(talk, range(SESSIONS)))

    assert asyncio.run(main()) == alone


def test_threads_and_tasks_share_a_context(alone: list[Trace]) -> None:
    context = context_of(summary)
    traces: list[Trace] = [[] for _ in range(SESSIONS)]

    async def talk(session: int) -> None:
        for turn in range(1, TURNS):
            traces[session].append(await astep(context, session, turn))

    async def main() -> None:
        await asyncio.gather(*map(talk, range(0, SESSIONS, 2)))

    def work() -> None:
        for turn in range(1, TURNS):
            for session in range(1, SESSIONS, 2):
                traces[session].append(step(context, session, turn))

    thread = threading.Thread(target=work)
    thread.start()
    asyncio.run(main())
    thread.join(60)
    assert traces == alone


def test_one_session_on_many_threads_loses_nothing() -> None:
    asked = []

    def summarize(messages: Any) -> str:
        asked.append(messages)
        return "A summary."

    context = context_of(summarize)
    longest = messages_of(3, 200)
    rounds = threading.Barrier(6)
    made: list[Any] = []

    def work(_: int) -> None:
        for size in range(2, 200, 6):
            rounds.wait(10)
            made.append(
                (
                    size,
                    context.on_request({"messages": longest[:size]}, api="chat", session="s")["messages"],
                )
            )

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    for size, messages in made:
        assert messages[-1] is longest[size - 1]
        assert sum(count(one["content"]) + 4 for one in messages) <= 90
    # Six at once were asked for, one was made.
    once = context_of(summarize)
    before = len(asked)
    for size in range(2, 200, 6):
        once.on_request({"messages": longest[:size]}, api="chat", session="s")
    assert before == len(asked) - before


def test_more_sessions_than_are_remembered_are_still_served() -> None:
    context = context_of(summary, most=16)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda session: step(context, session, 40), range(7, 400, 7)))
    assert all(sum(count(text) + 4 for text in one) <= 130 for one in made)


def test_no_more_sessions_are_kept_than_are_remembered() -> None:
    sessions = Sessions(16)
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda number: weakref.ref(sessions.of(str(number))), range(400)))
    gc.collect()
    assert sum(session() is not None for session in opened) == 16
