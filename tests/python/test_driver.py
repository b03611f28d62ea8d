"""The driver alone: a source that plays answers, sync or async, and a host that raises or replies."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest

import wirecall
from standin import TOOL, open_sync, stand_ins
from wirecall import ToolCallError, ToolError
from wirecall._apis.base import UnsupportedRequestError
from wirecall._clients import sse
from wirecall._clients.codec import Codec
from wirecall._clients.driver import Driver, Handover, Head
from wirecall._clients.transport import SyncEvents
from wirecall._sync import run
from wirecall._text.options import Options

URL = "https://api.example.com/v1/chat/completions"
CALL = "<call>go to=Graz</call>"
BAD = "<call>go [object Object]</call>"
CALLED = {"call": "go", "arguments": '{"to":"Graz"}'}
# An answer that is complete, and retried.
STOPPED = sse.format_event({"text": BAD}) + sse.format_event({"stop": "stop"})


class DroppedError(Exception):
    pass


class Answer:
    """One of a provider: chunks of a stream, or a whole body. What it `raises` comes after the chunks."""

    def __init__(
        self,
        *chunks: bytes,
        status: int = 200,
        streams: bool = True,
        raises: type[BaseException] | None = None,
    ) -> None:
        self.chunks = chunks
        self.status = status
        self.streams = streams
        self.raises = raises
        self.closed = 0


class Player:
    """Plays answers, and remembers what it was sent.

    Args:
        raises: Whether wirecall's errors are raised; else they are replies.
        is_async: Whether it suspends.
    """

    def __init__(self, *answers: Answer | BaseException, raises: bool = True, is_async: bool = False) -> None:
        self.answers = answers
        self.sent: list[tuple[bytes, int]] = []
        self.raises = raises
        self.is_async = is_async
        self.failed: list[Exception] = []

    async def _wait(self) -> None:
        if self.is_async:
            await asyncio.sleep(0)

    async def send(self, request: bytes, attempt: int) -> Answer:
        await self._wait()
        self.sent.append((request, attempt))
        answer = self.answers[len(self.sent) - 1]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def head(self, answer: Answer) -> Head:
        return Head(answer.status, answer.status < 300 and answer.streams)

    async def read_all(self, answer: Answer) -> bytes:
        await self._wait()
        return b"".join(answer.chunks)

    def chunks(self, answer: Answer) -> Iterator[bytes] | AsyncIterator[bytes]:
        return self._achunks(answer) if self.is_async else _chunks(answer)

    async def _achunks(self, answer: Answer) -> AsyncIterator[bytes]:
        for chunk in _chunks(answer):
            await self._wait()
            yield chunk

    async def close(self, answer: Answer) -> None:
        await self._wait()
        answer.closed += 1

    def fail(self, error: Exception) -> Any:
        self.failed.append(error)
        if self.raises:
            raise error
        return b"the host's form"


def _chunks(answer: Answer) -> Iterator[bytes]:
    yield from answer.chunks
    if answer.raises is not None:
        raise answer.raises


def event(**data: object) -> bytes:
    return sse.format_event(data)


def driver(source: Player, **options: Any) -> Driver:
    body = json.dumps({"tools": [TOOL], "say": ["Hi"]}).encode()
    exchange = open_sync(Codec(Options(**options), stand_ins()), URL, {}, body)
    assert exchange is not None
    return Driver(exchange, source)


def streamed(source: Player, **options: Any) -> list[bytes]:
    """What the application gets, in a sync or an async host."""

    async def read() -> list[bytes]:
        return [piece async for piece in driver(source, **options).arest()]

    found = asyncio.run(read()) if source.is_async else list(driver(source, **options).rest())
    return [piece for piece in found if piece != sse.KEEP_ALIVE]


both = pytest.mark.parametrize("is_async", [False, True])


@both
def test_a_stream_and_its_retry(is_async: bool) -> None:
    answers = [Answer(event(text="So: "), event(text=BAD) + event(stop="stop")), Answer(event(text=CALL))]
    source = Player(*answers, is_async=is_async)
    assert streamed(source) == [event(said="So: "), event(**CALLED), event(stop=None)]
    assert [attempt for _, attempt in source.sent] == [0, 1]
    assert json.loads(source.sent[1][0])["say"][1:3] == ["Hi", "So: " + BAD]
    assert [answer.closed for answer in answers] == [1, 1]


@both
def test_the_first_answer_decides(is_async: bool) -> None:
    def first(*answers: Answer | Exception) -> Any:
        source = Player(*answers, is_async=is_async)
        coroutine = driver(source).first()
        return asyncio.run(coroutine) if is_async else run(coroutine)

    bad = json.dumps({"text": BAD, "stop": "stop"}).encode()
    good = json.dumps({"text": CALL, "stop": "stop"}).encode()
    whole = first(Answer(bad, streams=False), Answer(good, streams=False))
    assert json.loads(whole)["parts"] == [CALLED]
    assert first(Answer()) is Handover.STREAM
    assert first(Answer(b"{}", status=302)) is Handover.UNREAD
    with pytest.raises(DroppedError):
        first(DroppedError())


@both
def test_the_body_of_an_error_is_read_for_what_it_refuses(is_async: bool) -> None:
    source = Player(Answer(b"no", status=500, streams=False), is_async=is_async)
    opened = driver(source, stop_sequence="never")
    out = asyncio.run(opened.first()) if is_async else run(opened.first())
    assert out is Handover.UNREAD
    records: list[Any] = []
    opened = driver(Player(Answer(b"no", status=500), is_async=is_async), on_record=records.append)
    out = asyncio.run(opened.first()) if is_async else run(opened.first())
    assert out == b"no"
    assert [record.outcome for record in records] == ["http_error"]


@both
def test_a_broken_stream_is_closed_and_its_error_raised(is_async: bool) -> None:
    answer = Answer(event(text="Hi <call>go to="), raises=DroppedError)
    source = Player(answer, is_async=is_async)
    with pytest.raises(DroppedError):
        streamed(source)
    assert answer.closed == 1


@both
def test_nothing_is_retried_after_a_call(is_async: bool) -> None:
    source = Player(Answer(event(text=CALL + BAD) + event(stop="stop")), is_async=is_async)
    out = b"".join(streamed(source))
    assert event(**CALLED) in out
    assert len(source.sent) == 1


def test_an_answer_that_broke_when_it_was_complete_is_retried() -> None:
    source = Player(
        Answer(event(text=BAD) + event(stop="stop"), raises=DroppedError), Answer(event(text=CALL))
    )
    assert event(**CALLED) in streamed(source)


@both
@pytest.mark.parametrize("retry", [Answer(b"full", status=503), Answer(b"full", streams=False)])
def test_a_retry_that_cannot_be_read_ends_the_stream(is_async: bool, retry: Answer) -> None:
    source = Player(Answer(STOPPED), retry, is_async=is_async)
    *_, last = streamed(source)
    assert b"The request was retried, and the server answered" in last
    assert b"full" in last


@both
@pytest.mark.parametrize("raises", [None, DroppedError])
def test_a_retry_whose_stream_is_empty_is_an_answer(
    is_async: bool, raises: type[BaseException] | None
) -> None:
    """It is counted, and not sent again."""
    answers = [Answer(STOPPED), Answer(raises=raises), Answer(event(text="Late"))]
    source = Player(*answers, is_async=is_async)
    if raises is None:
        assert streamed(source) == [event(stop=None)]
    else:
        with pytest.raises(raises):
            streamed(source)
    assert len(source.sent) == 2
    assert [answer.closed for answer in answers] == [1, 1, 0]


interrupts = pytest.mark.parametrize("interrupt", [KeyboardInterrupt, asyncio.CancelledError])


@both
@interrupts
def test_an_interrupt_ends_everything(is_async: bool, interrupt: type[BaseException]) -> None:
    """Ctrl-C, or a task that is cancelled: even where a drop would be retried, nothing more is sent."""
    for before in ([], [Answer(STOPPED)]):
        answers = [*before, Answer(STOPPED, raises=interrupt), Answer(event(text=CALL))]
        source = Player(*answers, is_async=is_async)
        records: list[Any] = []
        with pytest.raises(interrupt):
            streamed(source, on_record=records.append)
        assert len(source.sent) == len(before) + 1
        assert [answer.closed for answer in answers] == [*(1 for _ in source.sent), 0]
        assert [record.error for record in records] == [interrupt.__name__]
        # After the bad call of the first answer, it was waiting for its retry.
        assert [record.outcome for record in records] == ["bad_call" if before else "closed"]


@both
@interrupts
def test_an_interrupted_request_is_recorded(is_async: bool, interrupt: type[BaseException]) -> None:
    source = Player(interrupt(), is_async=is_async)
    records: list[Any] = []
    with pytest.raises(interrupt):
        streamed(source, on_record=records.append)
    assert [record.error for record in records] == [interrupt.__name__]


@both
def test_who_leaves_during_a_retry_closes_it(is_async: bool) -> None:
    answers = [Answer(STOPPED), Answer(event(text="So"), event(text=" far")), Answer(event(text="Late"))]
    source = Player(*answers, is_async=is_async)

    async def leave() -> None:
        rest = driver(source).arest()
        while await anext(rest) != event(said="So"):
            pass
        await rest.aclose()

    if is_async:
        asyncio.run(leave())
    else:
        rest = driver(source).rest()
        assert event(said="So") in rest
        rest.close()
    assert len(source.sent) == 2
    assert [answer.closed for answer in answers] == [1, 1, 0]


def test_a_cancelled_task_closes_the_answer_it_waits_for() -> None:
    async def cancel() -> None:
        waiting = asyncio.Event()

        class Stalled(Player):
            async def _achunks(self, answer: Answer) -> AsyncIterator[bytes]:
                yield STOPPED
                if len(self.sent) == 1:
                    waiting.set()
                    await asyncio.Event().wait()

        answer = Answer()
        source = Stalled(answer, Answer(event(text=CALL)), is_async=True)
        records: list[Any] = []

        async def read() -> None:
            async for _ in driver(source, on_record=records.append).arest():
                pass

        task = asyncio.create_task(read())
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (len(source.sent), answer.closed) == (1, 1)
        assert [record.error for record in records] == ["CancelledError"]

    asyncio.run(cancel())


class Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """What a server sends to a client of httpx2."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return _chunks(self._answer)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in _chunks(self._answer):
            yield chunk

    def close(self) -> None:
        self._answer.closed += 1

    async def aclose(self) -> None:
        self.close()


async def post(
    answers: list[Answer], *, is_async: bool, leaves: int | None = None, streams: bool = True
) -> bytes:
    """Reads an answer by a wrapped client of httpx2, or only so many chunks of it."""
    waiting = iter(answers)
    kind = "text/event-stream" if streams else "application/json"

    def play(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": kind}, stream=Body(next(waiting)))

    transport = httpx2.MockTransport(play)
    request = {"tools": [{"type": "function", "function": {"name": "go"}}], "stream": streams}
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **request}
    chunks: list[bytes] = []
    if is_async:
        client = wirecall.wrap(httpx2.AsyncClient(transport=transport))
        async with client.stream("POST", URL, json=body) as response:
            given = response.aiter_raw()
            while len(chunks) != leaves and (chunk := await anext(given, None)) is not None:
                chunks.append(chunk)
    else:
        with wirecall.wrap(httpx2.Client(transport=transport)).stream("POST", URL, json=body) as response:
            chunks.extend(itertools.islice(response.iter_raw(), leaves))
    return b"".join(chunks)


def said(text: str, reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
    return event(choices=[choice])


@both
@pytest.mark.parametrize("leaves", [0, 1])
def test_who_leaves_a_response_closes_the_servers(is_async: bool, leaves: int) -> None:
    answers = [Answer(said("Hi"), said(" there")), Answer(said("Late"))]
    read = asyncio.run(post(answers, is_async=is_async, leaves=leaves))
    assert read.count(b"data:") == leaves
    assert [answer.closed for answer in answers] == [1, 0]


@both
@interrupts
@pytest.mark.parametrize("streams", [True, False])
def test_an_interrupted_response_is_closed(
    is_async: bool, interrupt: type[BaseException], streams: bool
) -> None:
    answers = [Answer(said(BAD, "stop"), raises=interrupt), Answer(said("Late"))]
    with pytest.raises(interrupt):
        asyncio.run(post(answers, is_async=is_async, streams=streams))
    assert [bool(answer.closed) for answer in answers] == [True, False]


def test_who_leaves_early_closes_the_answer() -> None:
    answer = Answer(event(text="Hi"), event(text=" there"))
    records: list[Any] = []
    stream = driver(Player(answer), on_record=records.append).rest()
    assert next(stream) == event(said="Hi")
    stream.close()
    assert answer.closed == 1
    assert [record.outcome for record in records] == ["closed"]

    async def leave() -> None:
        rest = driver(Player(answer, is_async=True)).arest()
        await rest.__anext__()
        await rest.aclose()

    asyncio.run(leave())
    assert answer.closed == 2


def test_a_second_iterator_gives_what_is_left() -> None:
    opened = driver(Player(Answer(event(text="Hi"), event(text=" there"))))
    events = SyncEvents(opened, opened.rest(), opened._exchange, 0.0)  # type: ignore[arg-type]
    first = iter(events)
    assert next(first) == event(said="Hi")
    assert list(events) == [event(said=" there"), event(stop=None)]
    assert list(first) == []


def test_an_iterator_that_is_dropped_closes_the_answer() -> None:
    """Not every HTTP client closes a response that is no longer iterated over."""
    answer = Answer(event(text="Hi"), event(text=" there"))
    opened = driver(Player(answer))
    events = SyncEvents(opened, opened.rest(), opened._exchange, 0.0)  # type: ignore[arg-type]
    for _ in events:
        break
    assert answer.closed == 1
    assert list(events) == []


def test_a_sync_stream_outlives_an_event_loop() -> None:
    answer = Answer(event(text="Hi"), event(text=" there"))
    stream = driver(Player(answer)).rest()

    async def begin() -> bytes:
        return bytes(next(stream))

    assert asyncio.run(begin()) == event(said="Hi")
    assert answer.closed == 0
    assert list(stream) == [event(said=" there"), event(stop=None)]


@both
def test_an_error_of_ours_is_raised_or_handed_over(is_async: bool) -> None:
    answers = [Answer(event(text="Hi ") + event(text=BAD)), Answer(event(text=BAD), streams=False)]
    with pytest.raises(ToolCallError):
        streamed(Player(answers[0], is_async=is_async), on_error="raise")
    source = Player(answers[0], raises=False, is_async=is_async)
    assert streamed(source, on_error="raise") == [event(said="Hi "), b"the host's form"]
    assert [type(error) for error in source.failed] == [ToolCallError]
    whole = Player(Answer(json.dumps({"text": BAD, "stop": "stop"}).encode(), streams=False), raises=False)
    assert run(driver(whole, on_error="raise").first()) == b"the host's form"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnsupportedRequestError("why"), 400),
        (ToolError("why"), 400),
        (TypeError("why"), 400),
        (ToolCallError("why"), 502),
        (KeyError("why"), 500),
    ],
)
@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages"])
def test_every_error_has_a_status_and_a_body(error: Exception, status: int, path: str) -> None:
    reply = Codec(Options()).reply(f"https://api.example.com/v1/{path}", error)
    assert reply.status == status
    body = json.loads(reply.body)
    assert (body.get("type") == "error") == (path == "messages")
    assert body["error"]["message"] == str(error)
    assert body["error"]["type"] == ("invalid_request_error" if status == 400 else "api_error")
