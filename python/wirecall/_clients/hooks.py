"""Tool calling over text for any host, as three hooks over plain chat dicts: no HTTP, no SDK.

A host that has hooks calls `transform_params`, then `wrap_generate` or `wrap_stream` with what it returned;
any other gives its request to one of the two at once. A hook is given the function that sends a request, so
middlewares stack: what is sent may be another one's hook.
"""

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wirecall._apis.base import Json
from wirecall._apis.chat.api import chat
from wirecall._apis.exchange import Exchange
from wirecall._clients.driver import Driven, Driver, Head
from wirecall._rewriting.answer import CallFailed
from wirecall._rewriting.options import Options, WrapOptions
from wirecall._steps import adrive, drive
from wirecall._tools.toolset import Toolset

if TYPE_CHECKING:
    from typing_extensions import Unpack

Request = Mapping[str, Any]
Generate = Callable[[Any], Mapping[str, Any]]
AsyncGenerate = Callable[[Any], Awaitable[Mapping[str, Any]]]
Streaming = Callable[[Any], Iterable[Any]]
AsyncStreaming = Callable[[Any], "AsyncIterable[Any] | Awaitable[AsyncIterable[Any]]"]


@dataclass(frozen=True)
class Rewritten:
    """A request, rewritten; it serves one answer.

    Attributes:
        params: What to send: the same object if nothing has to be rewritten.
        toolset: Its tools, compiled; None if nothing has to be rewritten.
    """

    params: Mapping[str, Any]
    toolset: Toolset | None
    _exchange: Exchange = field(repr=False, compare=False)


class CompactTools:
    """The three hooks; made by `compact_tools`. It keeps nothing of a request, so one serves any number at
    once.

    Every hook takes options as keywords, which apply to this request only. Each raises at the call, before
    anything is sent: `ToolError` for a tool definition and `Refused` for a request that cannot work,
    `TypeError` for an option that does not exist.
    """

    def __init__(self, options: Options) -> None:
        self.options = options

    def transform_params(self, params: Request, **overrides: "Unpack[WrapOptions]") -> Rewritten:
        """Rewrites a request: tools as a manual, calls and results as text. Nothing of ours is in it."""
        chosen = self.options.with_overrides(overrides) if overrides else self.options
        exchange = Exchange(chat, params, chosen)
        return Rewritten(exchange.request, exchange.toolset, exchange)

    def wrap_generate(
        self, generate: Generate, params: Request | Rewritten, **overrides: "Unpack[WrapOptions]"
    ) -> Mapping[str, Any]:
        """An answer with native calls.

        Args:
            generate: Sends a request and returns the answer; called again for each retry.
            params: The request, or what `transform_params` made of it.

        Raises:
            CallFailed: As the options say.
        """
        found: Mapping[str, Any] = drive(
            Driver(self._exchange(params, overrides), SyncHost(generate)).first()
        )
        return found

    async def awrap_generate(
        self, generate: AsyncGenerate, params: Request | Rewritten, **overrides: "Unpack[WrapOptions]"
    ) -> Mapping[str, Any]:
        """`wrap_generate` for an async `generate`."""
        found: Mapping[str, Any] = await adrive(
            Driver(self._exchange(params, overrides), AsyncHost(generate)).first()
        )
        return found

    def wrap_stream(
        self, stream: Streaming, params: Request | Rewritten, **overrides: "Unpack[WrapOptions]"
    ) -> Iterator[Any]:
        """The chunks of an answer, with native calls. What `stream` returns is closed in any case; if it
        fails, its exception is raised, and what was held back is not sent.

        Args:
            stream: Sends a request and returns its chunks; called again for each retry.
            params: The request, or what `transform_params` made of it.

        Raises:
            CallFailed: From the iterator, as the options say.
        """
        driver = Driver(self._exchange(params, overrides), SyncHost(stream, streams=True))
        return driver.passed(driver.streamed())

    def awrap_stream(
        self, stream: AsyncStreaming, params: Request | Rewritten, **overrides: "Unpack[WrapOptions]"
    ) -> AsyncIterator[Any]:
        """`wrap_stream` for async chunks; `stream` may be a coroutine function, too. It is not awaited
        itself: `async for chunk in middleware.awrap_stream(stream, params)`."""
        driver = Driver(self._exchange(params, overrides), AsyncHost(stream, streams=True))
        return driver.apassed(driver.streamed())

    def _exchange(self, params: Request | Rewritten, overrides: WrapOptions) -> "DictExchange":
        if not isinstance(params, Rewritten):
            params = self.transform_params(params, **overrides)
        elif overrides:
            raise TypeError("the request is already rewritten: pass the options to transform_params")
        return DictExchange(params._exchange)


def compact_tools(**options: "Unpack[WrapOptions]") -> CompactTools:
    """A middleware for requests and answers in the form of chat completions.

        tools = compact_tools(on_error="text")
        answer = tools.wrap_generate(send, {"model": ..., "tools": [...], "messages": [...]})

    Args:
        options: Those of `WrapOptions`.

    Raises:
        TypeError: An option that does not exist, or whose value has another type.
        ValueError: An option that is not one of its choices.
    """
    return CompactTools(Options().with_overrides(options))


class DictExchange(Driven):
    """One request and its answers, as dicts in the form of chat completions."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(exchange)
        self._reader = None if exchange.untouched else exchange.stream()

    def whole(self, body: Any) -> Any:
        given = _checked(body)
        self._exchange.hears(given)
        read = self._exchange.whole(given)
        if read is not None:
            self._exchange.gives(read)
        return read

    def chunk(self, chunk: Any) -> list[Any]:
        if isinstance(chunk, dict):
            self._exchange.hears(chunk)
        return self._passing(lambda: self._read(chunk))

    def end(self, *, dropped: bool = False) -> list[Any]:
        self.asks_again = False
        if self._reader is None or self.ended or dropped:
            return []
        out = self._passing(self._reader.end)
        self.asks_again = self._reader.asks_again
        if self.asks_again:
            self._exchange.ask_again()
        return out

    def pieces(self, out: Any) -> Any:
        return out

    def _passing(self, read: Callable[[], Iterable[Any]]) -> list[Any]:
        try:
            out = [self._given(one) for one in read()]
        except CallFailed as error:
            self._failed(error)
            return []
        self.ended = self._reader is not None and self._reader.ended
        return out

    def _read(self, chunk: Any) -> Iterable[Any]:
        """What goes out instead of a chunk."""
        reader = self._reader
        if reader is None:
            return (chunk,)
        if not isinstance(chunk, dict):
            if hasattr(chunk, "model_dump"):
                name = type(chunk).__name__
                raise TypeError(f"a chunk must be a dict, not {name}: yield its model_dump()")
            # Not a chunk ("[DONE]", a ping): only that of the last answer counts.
            return () if reader.asks_again or reader.ended else (chunk,)
        made: list[Json] | None = reader.feed(chunk)
        return (chunk,) if made is None else made

    def _given(self, out: Any) -> Any:
        """What goes out, in the form of the host."""
        self._exchange.gives(out)
        return out

    def _failed(self, error: Exception) -> None:
        self.failure, self.ended = error, True


def _checked(body: object) -> Mapping[str, Any]:
    if isinstance(body, Mapping):
        return body
    if inspect.iscoroutine(body):
        body.close()
    name = type(body).__name__
    advice = ": return its model_dump()" if hasattr(body, "model_dump") else ""
    if inspect.isawaitable(body):
        advice = ": use awrap_generate"
    raise TypeError(f"an answer must be a dict in the form of chat completions, not {name}{advice}")


class SyncHost:
    """Where requests are sent by a function.

    Args:
        send: Returns an answer, or its chunks.
        streams: It returns chunks.
    """

    read: Any = staticmethod(next)
    chunks: Any = staticmethod(iter)

    def __init__(self, send: Callable[[Any], Any], *, streams: bool = False) -> None:
        self._send = send
        self._head = Head(streams=streams)

    def head(self, answer: Any) -> Head:
        return self._head

    def fail(self, error: Exception) -> Any:
        raise error

    def send(self, request: Any, attempt: int) -> Any:
        return self._send(request)

    def read_all(self, answer: Any) -> Any:
        return answer

    def close(self, answer: Any) -> Any:
        if callable(close := getattr(answer, "close", None)):
            close()


class AsyncHost(SyncHost):
    """As `SyncHost`. A function that returns chunks may be a coroutine function, too."""

    read: Any = staticmethod(anext)
    chunks: Any = staticmethod(aiter)

    async def send(self, request: Any, attempt: int) -> Any:
        given = self._send(request)
        waits = not self._head.streams or inspect.isawaitable(given)
        return await given if waits else given

    async def read_all(self, answer: Any) -> Any:
        return answer

    async def close(self, answer: Any) -> Any:
        close = getattr(answer, "aclose", None) or getattr(answer, "close", None)
        if callable(close) and inspect.isawaitable(closing := close()):
            await closing
