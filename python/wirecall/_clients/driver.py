"""What to send, what to read and what to pass on: one exchange, driven without I/O.

    driver = Driver(exchange, host)
    out = drive(driver.first())                     # sends, until there is an answer for the application
    for piece in driver.passed(driver.rest()):      # which may be a stream
        ...

Its generators yield what they want of the host (`Io`) and what goes to the application (`Pass`). What the
host raises goes through them; an error of ours goes to `Host.fail`.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from enum import Enum
from typing import Any, NamedTuple, Protocol

from wirecall._apis.exchange import Exchange
from wirecall._steps import adrive, drive

_END = object()
_SHOWN_OF_AN_ERROR = 500


class Head(NamedTuple):
    """The beginning of an answer.

    Attributes:
        status: The HTTP status.
        streams: The answer is read in chunks.
    """

    status: int = 200
    streams: bool = False

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class Host(Protocol):
    """Where requests are sent. The first four return awaitables in async hosts."""

    def send(self, request: Any, attempt: int) -> Any:
        """Sends a request, and returns its answer.

        Args:
            attempt: As in `Driven`.
        """

    def read(self, chunks: Any, default: object) -> Any:
        """The next chunk: `next` or `anext`."""

    def read_all(self, answer: Any) -> Any:
        """The whole body of an answer."""

    def close(self, answer: Any) -> Any: ...

    def head(self, answer: Any) -> Head: ...

    def chunks(self, answer: Any) -> Any: ...

    def fail(self, error: Exception) -> Any:
        """Raises an error of ours in the form of the host, or returns what the application gets."""


class Driven(ABC):
    """One request and its answers, in the form of a host: bytes or dicts.

    Attributes:
        asks_again: The answer that just ended is not the last: `request` is the next one to send, and its
            answer comes here, too.
        ended: Nothing more goes out, whatever comes: stop reading.
        failure: With `ended`: the error of ours that the application gets after everything else.
    """

    asks_again = False
    ended = False
    failure: Exception | None = None

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    @property
    def request(self) -> Any:
        """What to send now."""
        return self._exchange.request

    @property
    def attempt(self) -> int:
        """0 for the first request; one more for each that differs from the one before."""
        return self._retries + self._exchange.dropped_stop

    @property
    def _retries(self) -> int:
        turn = self._exchange.turn
        return 0 if turn is None else turn.attempt

    def drops_stop(self, error: Exception) -> bool:
        """Whether an error of sending refuses our stop sequence. Then `request` is the same without it."""
        return False

    def reads_error(self, status: int) -> bool:
        """Whether the body of an error with this status is to be given to `answers`."""
        return False

    def answers(self, status: int, body: Any = None) -> bool:
        """Notes the status of an answer, before the rest of it is given.

        Args:
            body: Of an error.

        Returns:
            Whether to send `request`, which has changed, instead of handing the error over: the server
            refused our stop sequence.
        """
        self._exchange.accepted()
        return False

    @abstractmethod
    def whole(self, body: Any) -> Any:
        """The answer with native calls. None: send `request`, and give its answer here.

        Raises:
            CallFailed: As the options say.
        """

    @abstractmethod
    def chunk(self, chunk: Any) -> Any:
        """What goes out for a piece of the stream. Then look at `ended`."""

    @abstractmethod
    def end(self, *, dropped: bool = False) -> Any:
        """The provider's stream is over: what still goes out. Then look at `asks_again`.

        Args:
            dropped: It broke off. Nothing goes out unless the answer was complete: the beginning of a call is
                not text.
        """

    def fail(self, message: str) -> Any:
        """Ends the stream with an error, after what is still to go out."""
        raise NotImplementedError(message)

    def pieces(self, out: Any) -> Iterable[Any]:
        """What goes out, one by one."""
        return (out,) if out else ()

    def finish(self, error: BaseException | None = None) -> None:
        """The answer is over, also where its end was never read: the record goes out.

        Args:
            error: What the application gets instead of it.
        """
        self._exchange.finish(error)


class Io(NamedTuple):
    """A call of a host's method."""

    function: Callable[..., Any]
    given: tuple[Any, ...] = ()

    def now(self) -> Any:
        return self.function(*self.given)

    def later(self) -> Any:
        return self.function(*self.given)


class Pass(NamedTuple):
    """Something goes to the application."""

    out: Any


Streaming = Generator[Io | Pass, Any, None]


class Handover(Enum):
    """How the application gets an answer that `first` does not return whole."""

    STREAM = "stream"
    UNREAD = "unread"


class Driver:
    """Drives one exchange: `first`, and for a streamed answer `rest`.

    Attributes:
        answer: The host's answer that is open, if there is one.
    """

    def __init__(self, exchange: Driven, host: Host) -> None:
        self._exchange = exchange
        self._host = host
        self.answer: Any = None

    def first(self) -> Generator[Io, Any, Any]:
        """Sends the request until there is an answer for the application.

        Returns:
            Its body, or how the application gets it: `rest` passes a stream on; an error that does not
            concern us stays unread.
        """
        exchange, host = self._exchange, self._host
        try:
            while True:
                head = yield from self._send()
                if head.is_success:
                    exchange.answers(head.status)
                    if head.streams:
                        return Handover.STREAM
                    body = yield Io(host.read_all, (self.answer,))
                    try:
                        out = exchange.whole(body)
                    except Exception as error:
                        out = host.fail(error)
                elif exchange.reads_error(head.status):
                    body = yield Io(host.read_all, (self.answer,))
                    out = None if exchange.answers(head.status, body) else body
                else:
                    return Handover.UNREAD
                if out is not None:
                    exchange.finish()
                    return out
        except BaseException as error:
            exchange.finish(error)
            raise

    def rest(self) -> Streaming:
        """Passes on a streamed answer, and the answers to its retries."""
        exchange, host = self._exchange, self._host
        try:
            while True:
                dropped: Exception | None = None
                read = Io(host.read, (host.chunks(self.answer), _END))
                while not exchange.ended:
                    try:
                        chunk = yield read
                    except Exception as error:
                        dropped = error
                        break
                    if chunk is _END:
                        break
                    for out in exchange.pieces(exchange.chunk(chunk)):
                        yield Pass(out)
                yield from self.closing()
                for out in exchange.pieces(exchange.end(dropped=dropped is not None)):
                    yield Pass(out)
                if not exchange.asks_again:
                    if dropped is not None:
                        raise dropped
                    if exchange.failure is not None and (out := host.fail(exchange.failure)):
                        yield Pass(out)
                    return
                head = yield from self._send()
                exchange.answers(head.status)
                if not (head.is_success and head.streams):
                    body = yield Io(host.read_all, (self.answer,))
                    yield Pass(exchange.fail(_failed_retry(head.status, body)))
                    return
        except BaseException as error:
            exchange.finish(error)
            raise
        finally:
            exchange.finish()

    def streamed(self) -> Streaming:
        """`first` and `rest`, for a host whose answers are streams in any case."""
        yield from self.first()
        yield from self.rest()

    def closing(self) -> Generator[Io, Any, None]:
        """Closes the answer that is open, if there is one."""
        if self.answer is not None:
            answer, self.answer = self.answer, None
            yield Io(self._host.close, (answer,))

    def _send(self) -> Generator[Io, Any, Head]:
        while True:
            try:
                self.answer = yield Io(self._host.send, (self._exchange.request, self._exchange.attempt))
            except Exception as error:
                if not self._exchange.drops_stop(error):
                    raise
            else:
                return self._host.head(self.answer)

    def passed(self, steps: Streaming) -> Generator[Any, None, None]:
        """What the steps pass on. A second iterator over the same steps gives the rest. The answer is closed
        in any case."""
        try:
            step = next(steps)
            while True:
                try:
                    found = (yield step.out) if isinstance(step, Pass) else step.now()
                except BaseException as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(found)
        except StopIteration:
            return
        finally:
            drive(self.closing())

    async def apassed(self, steps: Streaming) -> AsyncGenerator[Any, None]:
        """`passed` for async hosts."""
        try:
            step = next(steps)
            while True:
                try:
                    found = (yield step.out) if isinstance(step, Pass) else await step.later()
                except BaseException as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(found)
        except StopIteration:
            return
        finally:
            await adrive(self.closing())


def _failed_retry(status: int, body: bytes) -> str:
    shown = body[:_SHOWN_OF_AN_ERROR].decode(errors="replace")
    return f"The request was retried, and the server answered {status}: {shown}"
