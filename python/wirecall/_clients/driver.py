"""What to send, what to read and what to pass on: one exchange, driven without I/O of its own.

    driver = Driver(exchange, source)
    out = await driver.first()              # sends, until there is an answer for the application
    async for piece in driver.arest():      # the pieces of a streamed one
        ...

All but the loop over chunks is written once, as coroutines. A sync host runs them with `run`: its source
never waits, so they never suspend. The loop is written twice, because a coroutine for each chunk costs more
than passing the chunk on. Exceptions of a source reach the application unchanged. An error of wirecall is
first given to `Source.fail`, which puts it into the form of the host.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple, Protocol

from wirecall._apis.exchange import Exchange
from wirecall._apis.streams import AnswerStream
from wirecall._sync import run
from wirecall._text.parts import ToolCallError

_SHOWN_OF_AN_ERROR = 500


class Head(NamedTuple):
    """The HTTP status of an answer, and whether it is read in chunks, which no error is."""

    status: int = 200
    streams: bool = False


class Source(Protocol):
    """Where answers come from. The coroutines of a sync one never suspend."""

    async def send(self, request: Any, attempt: int) -> Any:
        """Sends a request, and returns its answer, in a form that is the source's own."""

    def head(self, answer: Any) -> Head: ...

    async def read_all(self, answer: Any) -> Any:
        """The whole body."""

    def chunks(self, answer: Any) -> Any:
        """An iterator for `rest`; an async one for `arest`."""

    async def close(self, answer: Any) -> None: ...

    def fail(self, error: Exception) -> Any:
        """Raises wirecall's error in the form of the host, or returns what the application gets instead."""


class Driven(ABC):
    """One request and its answers, in the form of a host: bytes or dicts.

    Args:
        exchange: The same as dicts of the API.
        on_usage: Gets what the answer to the first request says about usage; retries are longer than what the
            host sent.

    Attributes:
        should_retry: The answer that just ended is not the last: `request` is the next one to send, and its
            answer comes here, too.
        ended: Nothing more is sent to the application, so reading can stop.
        failure: With `ended`: the error of wirecall that the application gets after everything else.
    """

    def __init__(self, exchange: Exchange, on_usage: Callable[[Mapping[str, Any]], None] | None) -> None:
        self._exchange = exchange
        self._on_usage = on_usage
        self._notes_usage = on_usage is not None or exchange.recorder is not None
        self._reader: AnswerStream | None = None
        self.should_retry = False
        self.ended = False
        self.failure: Exception | None = None

    @property
    def request(self) -> Any:
        """What to send now."""
        return self._exchange.request

    @property
    def _retries(self) -> int:
        return 0 if self._exchange.state is None else self._exchange.state.attempt

    @property
    def attempt(self) -> int:
        """0 for the first request; one more for each that differs from the one before."""
        return self._retries + self._exchange.dropped_stop

    def reads_error(self, status: int) -> bool:
        """Whether the body of an error with this status is to be given to `answers`."""
        return False

    def answers(self, status: int, body: Any = None) -> bool:
        """Notes the status, and the body of an error. True: send `request`, now without our stop sequence."""
        self._exchange.accepted()
        return False

    @abstractmethod
    def whole(self, body: Any) -> Any:
        """The answer with native calls. None: send `request`, and give its answer here."""

    @abstractmethod
    def chunk(self, chunk: Any) -> Any:
        """What the application gets for a chunk of the stream. Check `ended` afterwards."""

    @abstractmethod
    def end(self, *, dropped: bool = False) -> Any:
        """Ends the stream, and returns what the application still gets. Check `should_retry` afterwards. If
        the connection dropped, that is nothing unless the answer was complete."""

    def fail(self, message: str) -> Any:
        """Ends the stream with an error, after what is still to go out."""
        raise NotImplementedError(message)

    def pieces(self, out: Any) -> Iterable[Any]:
        """What the application gets, one by one."""
        return (out,) if out else ()

    def finish(self, error: BaseException | None = None) -> None:
        """Delivers the record, whether the answer was read or not. The application gets the error, if any."""
        self._exchange.finish(error)

    def _call_reader(self, read: Callable[..., Any], *given: Any) -> Any:
        """What `read` of the API's reader returns. A call that failed ends the stream, after what is due."""
        try:
            out = read(*given)
        except ToolCallError as error:
            self.failure, self.ended = error, True
            return () if self._reader is None else self._reader.due()
        self.ended = self._reader is not None and self._reader.ended
        return out

    def _record_received(self, given: Any) -> None:
        if self._exchange.recorder is not None:
            self._exchange.recorder.add_received(given)

    def _note_usage(self, given: Mapping[str, Any]) -> None:
        """Notes what an answer, or an event of one, says about usage."""
        usage = self._exchange.api.usage(given) if self._notes_usage else None
        if usage and self._exchange.recorder is not None:
            self._exchange.recorder.add_usage(usage)
        if usage and self._on_usage is not None and self._retries == 0:
            self._on_usage(given)


class Handover(Enum):
    """How the application gets an answer that `Driver.first` does not return whole."""

    STREAM = "stream"
    UNREAD = "unread"


class Driver:
    """Drives one exchange: `first`, then `rest` or `arest` for a stream.

    Attributes:
        answer: The answer of the source that is open, if there is one.
    """

    def __init__(self, exchange: Driven, source: Source) -> None:
        self._exchange = exchange
        self._source = source
        self.answer: Any = None

    async def first(self) -> Any:
        """Sends the request until there is an answer for the application.

        Returns:
            Its body, or how the application gets it: `rest` or `arest` passes a stream on; an error that does
            not concern us stays unread.
        """
        exchange, source = self._exchange, self._source
        try:
            while True:
                head = await self._send()
                if head.streams or head.status < 300:
                    exchange.answers(head.status)
                    if head.streams:
                        return Handover.STREAM
                    body = await source.read_all(self.answer)
                    try:
                        out = exchange.whole(body)
                    except Exception as error:
                        out = source.fail(error)
                elif exchange.reads_error(head.status):
                    body = await source.read_all(self.answer)
                    out = None if exchange.answers(head.status, body) else body
                else:
                    return Handover.UNREAD
                if out is not None:
                    exchange.finish()
                    return out
        except BaseException as error:
            exchange.finish(error)
            raise

    def rest(self) -> Generator[Any, None, None]:
        """Passes on a streamed answer, and the answers to its retries. They are closed in any case. Where
        nothing was sent yet, this begins with `first`. For sync hosts."""
        exchange = self._exchange
        if self.answer is None:
            run(self.first())
        try:
            while True:
                dropped: Exception | None = None
                chunks = self._source.chunks(self.answer)
                while not exchange.ended:
                    try:
                        chunk = next(chunks)
                    except StopIteration:
                        break
                    except Exception as error:
                        dropped = error
                        break
                    yield from exchange.pieces(exchange.chunk(chunk))
                yield from run(self._end(dropped))
                yield from run(self._next(dropped))
                if not exchange.should_retry:
                    return
        except BaseException as error:
            exchange.finish(error)
            raise
        finally:
            exchange.finish()
            run(self.close())

    async def arest(self) -> AsyncGenerator[Any, None]:
        """`rest` for async hosts."""
        exchange = self._exchange
        if self.answer is None:
            await self.first()
        try:
            while True:
                dropped: Exception | None = None
                chunks = self._source.chunks(self.answer)
                while not exchange.ended:
                    try:
                        chunk = await anext(chunks)
                    except StopAsyncIteration:
                        break
                    except Exception as error:
                        dropped = error
                        break
                    for out in exchange.pieces(exchange.chunk(chunk)):
                        yield out
                for out in await self._end(dropped):
                    yield out
                for out in await self._next(dropped):
                    yield out
                if not exchange.should_retry:
                    return
        except BaseException as error:
            exchange.finish(error)
            raise
        finally:
            exchange.finish()
            await self.close()

    async def _end(self, dropped: Exception | None) -> Iterable[Any]:
        """What the application gets after the last chunk of an answer."""
        await self.close()
        return self._exchange.pieces(self._exchange.end(dropped=dropped is not None))

    async def _next(self, dropped: Exception | None) -> Iterable[Any]:
        """Opens the answer to a retry. Otherwise returns what the application gets at the very end."""
        exchange, source = self._exchange, self._source
        if not exchange.should_retry:
            if dropped is not None:
                raise dropped
            out = source.fail(exchange.failure) if exchange.failure is not None else None
            return (out,) if out else ()
        head = await self._send()
        exchange.answers(head.status)
        if head.streams:
            return ()
        body = await source.read_all(self.answer)
        shown = body[:_SHOWN_OF_AN_ERROR].decode(errors="replace")
        return (exchange.fail(f"The request was retried, and the server answered {head.status}: {shown}"),)

    async def close(self) -> None:
        """Closes the answer that is open, if there is one."""
        if self.answer is not None:
            answer, self.answer = self.answer, None
            await self._source.close(answer)

    async def _send(self) -> Head:
        self.answer = await self._source.send(self._exchange.request, self._exchange.attempt)
        return self._source.head(self.answer)
