"""Requests in flight in their hosts: sessions, hooks, sync and async, several at once."""

import asyncio
import copy
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from context_support import FOUR, SUMMARY, Json, Summarizer, send, talk, words

import wirecall
from wirecall import compact_context
from wirecall.compaction import Compress, Truncate
from wirecall.compaction._compressor import NOTICE, Compressor, Trim
from wirecall.compaction._context import CompactContext
from wirecall.compaction._sessions import Sessions


def test_sessions_are_their_own(caplog: pytest.LogCaptureFixture) -> None:
    context = compact_context(context_window=100, compress=Summarizer())
    context.feed(1000, session="a")
    assert send(context, FOUR) is FOUR
    assert send(context, FOUR, "b") is FOUR
    assert send(context, FOUR, "a") is not FOUR
    assert send(context, FOUR, "b") is FOUR
    assert not caplog.text


def test_an_id_that_is_none_means_the_default_session(caplog: pytest.LogCaptureFixture) -> None:
    context = compact_context(context_window=100, compress=Summarizer())
    context.feed(1000, session=7)
    for wrong in (7, "", " ", [], b"x"):
        assert send(context, FOUR, wrong) is not FOUR
    assert send(context, FOUR) == [SUMMARY, FOUR[3]]
    assert caplog.text.count("A session id must be a non-empty str") == 1


def test_the_session_that_was_used_longest_ago_is_forgotten() -> None:
    context = compact_context(context_window=100, compress=Summarizer(), max_sessions=3)
    for name in "abc":
        context.feed(1000, session=name)
    context.feed(1000, session="a")
    context.feed(1000, session="d")  # b goes
    found = {name: send(context, FOUR, name) is not FOUR for name in "acd"}
    assert found == {"a": True, "c": True, "d": True}
    assert send(context, FOUR, "b") is FOUR
    # Of many, the last 256 are kept. The last is asked first: a new session would end another.
    context = compact_context(context_window=100, compress=Summarizer())
    for number in range(1000):
        context.feed(1000, session=str(number))
    kept = [number for number in range(999, -1, -1) if send(context, FOUR, str(number)) is not FOUR]
    assert kept == [*range(999, 743, -1)]


async def _asummarize(messages: Any) -> str:
    await asyncio.sleep(0)
    return "They counted."


class _Async:
    async def __call__(self, messages: Any) -> str:
        return await _asummarize(messages)


@pytest.mark.parametrize("summarize", [_asummarize, _Async(), lambda messages: _asummarize(messages)])
def test_an_async_summarizer_needs_an_async_hook(summarize: Any) -> None:
    context = compact_context(context_window=100, compress=summarize)
    context.feed(1000)
    with pytest.raises(TypeError, match="use an async client"):
        context.on_request({"messages": FOUR}, api="chat")
    # It has counted for nothing.
    made = asyncio.run(context.aon_request({"messages": FOUR}, api="chat"))
    assert made["messages"] == [SUMMARY, FOUR[3]]


def test_async_hosts_may_have_sync_functions_and_async_ones() -> None:
    stored = []

    async def on_compress(found: Any) -> None:
        await asyncio.sleep(0)
        stored.append(found)

    for summarize in (Summarizer(), _asummarize):
        context = compact_context(context_window=100, compress=summarize, on_compress=on_compress)
        context.feed(1000)
        made = asyncio.run(context.aon_request({"messages": FOUR}, api="chat"))
        assert made["messages"] == [SUMMARY, FOUR[3]]
    assert len(stored) == 2


def test_an_async_on_compress_in_a_sync_host_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def on_compress(found: Any) -> None: ...

    context = compact_context(context_window=100, compress=Summarizer(), on_compress=on_compress)
    context.feed(1000)
    assert send(context, FOUR) == [SUMMARY, FOUR[3]]
    assert "on_compress failed: AsyncFunctionError: it is async" in caplog.text


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit()])
def test_who_interrupts_a_summary_leaves_all_as_it_was(error: BaseException) -> None:
    context = compact_context(context_window=100, compress=Summarizer(error))
    context.feed(1000)
    with pytest.raises(type(error)):
        send(context, FOUR)
    assert send(context, FOUR) == [SUMMARY, FOUR[3]]


def test_a_request_that_is_cancelled_leaves_all_as_it_was() -> None:
    asked = []

    async def summarize(messages: Any) -> str:
        asked.append(messages)
        await asyncio.sleep(0 if len(asked) > 1 else 60)
        return "They counted."

    async def main() -> None:
        context = compact_context(context_window=100, compress=summarize)
        context.feed(1000)
        before = copy.deepcopy(FOUR)
        task = asyncio.create_task(context.aon_request({"messages": FOUR}, api="chat"))
        waiting = asyncio.create_task(context.aon_request({"messages": FOUR}, api="chat"))
        while not asked:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert before == FOUR
        # Who waited for it makes it.
        assert (await waiting)["messages"] == [SUMMARY, FOUR[3]]
        assert len(asked) == 2

    asyncio.run(main())


def test_a_summary_that_takes_too_long_is_a_failure() -> None:
    async def summarize(messages: Any) -> str:
        await asyncio.wait_for(asyncio.sleep(60), 0.01)
        return "never"

    context = compact_context(context_window=100, compress=summarize)
    context.feed(1000)
    made = asyncio.run(context.aon_request({"messages": FOUR}, api="chat"))
    assert made["messages"][0]["content"] == NOTICE


def test_a_summarizer_may_send_through_the_same_context() -> None:
    asked = []

    def summarize(messages: Any) -> str:
        asked.append(messages)
        context.feed(10**6)  # of its own answer
        params = {"messages": messages * 100}
        assert context.on_request(params, api="chat") is params
        return "They counted."

    context = compact_context(context_window=100, compress=summarize, count=words)
    context.feed(1000)
    assert send(context, FOUR) == [SUMMARY, FOUR[3]]
    longer = [*FOUR, *talk("5", "6")]
    send(context, longer)
    assert send(context, longer) == [SUMMARY, *longer[3:]]
    assert len(asked) == 1


def body(text: str, tokens: int) -> Json:
    return {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1},
    }


def chunks(text: str, tokens: int) -> list[Json]:
    def chunk(delta: Json, reason: str | None) -> Json:
        return {"id": "1", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    usage = {"id": "1", "choices": [], "usage": {"prompt_tokens": tokens, "completion_tokens": 1}}
    return [chunk({"role": "assistant", "content": text}, None), chunk({}, "stop"), usage]


GET = {
    "type": "function",
    "function": {
        "name": "get",
        "description": "Get it.",
        "parameters": {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]},
    },
}


class Host:
    """Sends requests in one of four ways, through the hooks of tools and a context."""

    def __init__(self, context: Any, way: str) -> None:
        self.way = way
        self.tools = wirecall.compact_tools(middleware=[context])
        self.sent: list[Any] = []
        self.closed = 0

    def _read(self, params: Any) -> int:
        assert "tools" not in params
        self.sent.append(params["messages"])
        return 10 * len(params["messages"])

    def generate(self, params: Any) -> Json:
        return body("<call>get of=x</call>", self._read(params))

    async def agenerate(self, params: Any) -> Json:
        await asyncio.sleep(0)
        return self.generate(params)

    def stream(self, params: Any) -> Iterator[Json]:
        try:
            yield from chunks("<call>get of=x</call>", self._read(params))
        finally:
            self.closed += 1

    async def astream(self, params: Any) -> AsyncIterator[Json]:
        try:
            for chunk in chunks("<call>get of=x</call>", self._read(params)):
                await asyncio.sleep(0)
                yield chunk
        finally:
            self.closed += 1

    def ask(self, messages: list[Any]) -> Any:
        params = {"model": "m", "messages": messages, "tools": [GET]}
        found: Any
        if self.way == "whole":
            found = self.tools.wrap_generate(self.generate, params)
            return found["choices"][0]["message"]["tool_calls"]
        if self.way == "streamed":
            found = [*self.tools.wrap_stream(self.stream, params)]
        else:
            found = asyncio.run(self._aask(params))
            if self.way == "async whole":
                return found["choices"][0]["message"]["tool_calls"]
        calls: list[Any] = []
        for chunk in found:
            for choice in chunk["choices"]:
                calls += choice["delta"].get("tool_calls") or []
        return calls

    async def _aask(self, params: Json) -> Any:
        if self.way == "async whole":
            return await self.tools.awrap_generate(self.agenerate, params)
        return [chunk async for chunk in self.tools.awrap_stream(self.astream, params)]


@pytest.mark.parametrize("way", ["whole", "streamed", "async whole", "async streamed"])
def test_it_is_a_middleware_of_compact_tools(way: str) -> None:
    summarize = Summarizer()
    context = compact_context(context_window=100, compress=summarize, usage="fed")
    host = Host(context, way)
    messages: list[Any] = [{"role": "system", "content": "s"}, {"role": "user", "content": "go"}]
    for number in range(20):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "get", "arguments": '{"of":"x"}'},
        }
        found, *_ = host.ask(messages)
        assert found["function"]["name"] == "get"
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "r"},
        ]
    sizes = [len(sent) for sent in host.sent]
    assert max(sizes) <= 14
    assert len(summarize.asked) >= 2
    assert host.closed in (0, 20)
    assert bool(host.closed) == ("streamed" in way)


def test_a_stream_is_closed_with_its_host() -> None:
    host = Host(compact_context(truncate=Truncate(10)), "streamed")
    stream = host.tools.wrap_stream(lambda params: host.stream({"messages": []}), {"messages": FOUR})
    next(stream)
    stream.close()  # type: ignore[attr-defined]

    async def main() -> None:
        async def source(params: Any) -> Any:
            return host.astream({"messages": []})

        stream = host.tools.awrap_stream(source, {"messages": FOUR})
        await stream.__anext__()
        await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(main())
    assert host.closed == 2


def test_two_requests_at_once_make_one_summary_of_the_same() -> None:
    asked = []
    goes = threading.Event()

    def summarize(messages: Any) -> str:
        asked.append(messages)
        goes.wait(10)
        return "They counted."

    context = compact_context(context_window=100, compress=summarize, count=words)
    messages = talk(*["word " * 40] * 4)
    made: list[Any] = []
    threads = [threading.Thread(target=lambda: made.append(send(context, messages, "s"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    while not asked:
        goes.wait(0.001)
    # Another conversation of the same session waits for nothing, whatever both begin with.
    goes.wait(0.05)
    for others in (FOUR, messages[:2], [messages[0], *FOUR]):
        assert send(context, others, "s") is others
    assert not made
    goes.set()
    for thread in threads:
        thread.join(10)
    assert len(asked) == 1
    assert made == [[SUMMARY, *messages[3:]]] * 8


def test_tasks_wait_for_the_same_summary() -> None:
    asked = []

    async def summarize(messages: Any) -> str:
        asked.append(messages)
        await asyncio.sleep(0.01)
        return "They counted."

    async def main() -> None:
        context = compact_context(context_window=100, compress=summarize, count=words)
        messages = talk(*["word " * 40] * 4)
        made = await asyncio.gather(
            *(context.aon_request({"messages": messages}, api="chat") for _ in range(20))
        )
        assert all(one["messages"] == [SUMMARY, *messages[3:]] for one in made)
        assert len(asked) == 1

    asyncio.run(main())


def waiting(summarize: Any, seconds: float) -> CompactContext:
    """A context whose requests wait at most so long for the summary of another."""
    compressor = Compressor(Compress(summarize), 100, words, "max", None, None, seconds)
    return CompactContext(Trim(None, ()), compressor, None, Sessions(256))


def test_a_sync_hook_in_a_loop_waits_for_no_task() -> None:
    asked = []

    def summarize(messages: Any) -> Any:
        asked.append(messages)
        return _slow() if len(asked) == 1 else "They counted."

    async def _slow() -> str:
        await asyncio.sleep(0.01)
        return "They counted."

    async def main() -> None:
        context = waiting(summarize, 10)
        messages = talk(*["word " * 40] * 4)
        task = asyncio.create_task(context.aon_request({"messages": messages}, api="chat"))
        while not asked:
            await asyncio.sleep(0)
        # It would wait in vain for what this very thread has to do.
        start = time.monotonic()
        assert send(context, messages) == [SUMMARY, *messages[3:]]
        assert time.monotonic() - start < 5
        assert (await task)["messages"] == [SUMMARY, *messages[3:]]
        assert len(asked) == 2

    asyncio.run(main())


def test_a_summary_that_was_made_while_tokens_were_counted_is_used() -> None:
    summarize = Summarizer()
    messages = talk(*["word " * 40] * 4)
    others: list[Any] = []

    def count(text: str) -> int:
        if not others:
            others.append(None)
            others.append(send(context, messages))
        return words(text)

    context = compact_context(context_window=100, compress=summarize, count=count)
    assert send(context, messages) == others[1] == [SUMMARY, *messages[3:]]
    assert len(summarize.asked) == 1


def test_who_has_waited_too_long_makes_a_summary_itself() -> None:
    begun, goes = threading.Event(), threading.Event()
    asked = []

    def summarize(messages: Any) -> str:
        asked.append(messages)
        if len(asked) == 1:
            begun.set()
            goes.wait(10)
        return "They counted."

    async def main() -> Any:
        return await context.aon_request({"messages": messages}, api="chat")

    context = waiting(summarize, 0.01)
    messages = talk(*["word " * 40] * 4)
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(send(context, messages)))
    thread.start()
    begun.wait(10)
    made.append(send(context, messages))
    context.reset()
    made.append(asyncio.run(main())["messages"])
    goes.set()
    thread.join(10)
    assert made == [[SUMMARY, *messages[3:]]] * 3
    assert len(asked) == 3


def test_a_summary_that_was_begun_while_tokens_were_counted_is_waited_for() -> None:
    begun = threading.Event()
    asked, made, threads = [], [], []
    messages = talk(*["word " * 40] * 4)

    def summarize(given: Any) -> str:
        asked.append(given)
        begun.set()
        time.sleep(0.05)
        return "They counted."

    def count(text: str) -> int:
        if not threads:
            threads.append(threading.Thread(target=lambda: made.append(send(context, messages))))
            threads[0].start()
            begun.wait(10)
        return words(text)

    context = compact_context(context_window=100, compress=summarize, count=count)
    made.append(send(context, messages))
    threads[0].join(10)
    assert made == [[SUMMARY, *messages[3:]]] * 2
    assert len(asked) == 1
