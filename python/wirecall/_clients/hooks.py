"""Tool calling over text for any host, as three hooks over plain dicts of chat completions: no HTTP, no SDK.

A host with hooks of its own calls `transform_params`, then `wrap_generate` or `wrap_stream` with the result;
others call one of the two with their request. A hook is given the function that sends a request, so hooks
stack: that function may call another hook.
"""

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wirecall._apis.chat.api import api as chat
from wirecall._apis.exchange import Exchange
from wirecall._apis.streams import AnswerStream
from wirecall._clients.driver import Driven, Driver, Head
from wirecall._clients.middleware import Middleware, MiddlewareStack
from wirecall._sync import run
from wirecall._text.options import Options, WrapOptions
from wirecall._tools.toolset import Toolset

if TYPE_CHECKING:
    from typing import Unpack

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
    _on_usage: Callable[[Mapping[str, Any]], None] | None = field(default=None, repr=False, compare=False)


class CompactTools:
    """The three hooks; made by `compact_tools`. It has no state, so one serves any number of requests at
    once.

    Every hook takes options as keywords, which apply to this request only, and `session`, which tells the
    middlewares which conversation a request belongs to. Each raises at the call, before anything is sent:
    `ToolError` for a tool definition, `UnsupportedRequestError` for a request that cannot work, `TypeError`
    for an option that does not exist. With middlewares, `awrap_stream` raises when it is iterated.
    """

    def __init__(self, options: Options, middleware: Iterable[Middleware] = ()) -> None:
        self.options = options
        self._stack = MiddlewareStack(middleware)

    def transform_params(
        self, params: Request, *, session: str | None = None, **overrides: "Unpack[WrapOptions]"
    ) -> Rewritten:
        """Rewrites a request: tools as a manual, calls and results as text."""
        return run(self._transformed(params, session, overrides, is_async=False))

    async def atransform_params(
        self, params: Request, *, session: str | None = None, **overrides: "Unpack[WrapOptions]"
    ) -> Rewritten:
        """`transform_params` for async hosts, whose middlewares may wait."""
        return await self._transformed(params, session, overrides, is_async=True)

    def wrap_generate(
        self,
        generate: Generate,
        params: Request | Rewritten,
        *,
        session: str | None = None,
        **overrides: "Unpack[WrapOptions]",
    ) -> Mapping[str, Any]:
        """An answer with native calls.

        Args:
            generate: Sends a request and returns the answer; called again for each retry.
            params: The request, or what `transform_params` made of it.

        Raises:
            ToolCallError: As the options say.
        """
        driver = Driver(self._exchange(params, session, overrides), FunctionSource(generate))
        answer: Mapping[str, Any] = run(driver.first())
        return answer

    async def awrap_generate(
        self,
        generate: AsyncGenerate,
        params: Request | Rewritten,
        *,
        session: str | None = None,
        **overrides: "Unpack[WrapOptions]",
    ) -> Mapping[str, Any]:
        """`wrap_generate` for an async `generate`."""
        exchange = await self._opened(params, session, overrides, is_async=True)
        answer: Mapping[str, Any] = await Driver(exchange, FunctionSource(generate, is_async=True)).first()
        return answer

    def wrap_stream(
        self,
        stream: Streaming,
        params: Request | Rewritten,
        *,
        session: str | None = None,
        **overrides: "Unpack[WrapOptions]",
    ) -> Iterator[Any]:
        """The chunks of an answer, with native calls. What `stream` returns is closed in any case; if it
        fails, its exception is raised, and what was held back is not sent.

        Args:
            stream: Sends a request and returns its chunks; called again for each retry.
            params: The request, or what `transform_params` made of it.

        Raises:
            ToolCallError: From the iterator, as the options say.
        """
        exchange = self._exchange(params, session, overrides)
        return Driver(exchange, FunctionSource(stream, streams=True)).rest()

    def awrap_stream(
        self,
        stream: AsyncStreaming,
        params: Request | Rewritten,
        *,
        session: str | None = None,
        **overrides: "Unpack[WrapOptions]",
    ) -> AsyncIterator[Any]:
        """`wrap_stream` for async chunks; `stream` may be a coroutine function, too. It is not awaited
        itself: `async for chunk in middleware.awrap_stream(stream, params)`."""
        source = FunctionSource(stream, streams=True, is_async=True)
        if not self._stack or isinstance(params, Rewritten):
            return Driver(self._exchange(params, session, overrides), source).arest()
        self._options(overrides)

        async def opened_first() -> AsyncIterator[Any]:
            exchange = await self._opened(params, session, overrides, is_async=True)
            async with aclosing(Driver(exchange, source).arest()) as chunks:
                async for chunk in chunks:
                    yield chunk

        return opened_first()

    def _options(self, overrides: WrapOptions) -> Options:
        return self.options.with_overrides(overrides) if overrides else self.options

    async def _transformed(
        self, params: Request, session: str | None, overrides: WrapOptions, *, is_async: bool
    ) -> Rewritten:
        options = self._options(overrides)
        request = await self._stack.on_request(params, "chat", session, is_async=is_async)
        exchange = Exchange(chat, request, options)
        await exchange.tell_saved(is_async=is_async)
        on_usage = self._stack.usage_listener("chat", session)
        return Rewritten(exchange.request, exchange.toolset, exchange, on_usage)

    def _exchange(
        self, params: Request | Rewritten, session: str | None, overrides: WrapOptions
    ) -> "DictExchange":
        return run(self._opened(params, session, overrides, is_async=False))

    async def _opened(
        self, params: Request | Rewritten, session: str | None, overrides: WrapOptions, *, is_async: bool
    ) -> "DictExchange":
        if not isinstance(params, Rewritten):
            params = await self._transformed(params, session, overrides, is_async=is_async)
        elif overrides or session is not None:
            raise TypeError("the request is already rewritten: pass the options to transform_params")
        return DictExchange(params._exchange, params._on_usage)


def compact_tools(*, middleware: Iterable[Middleware] = (), **options: "Unpack[WrapOptions]") -> CompactTools:
    """The hooks for requests and answers in the form of chat completions.

        tools = compact_tools(on_error="text")
        answer = tools.wrap_generate(send, {"model": ..., "tools": [...], "messages": [...]})

    Args:
        middleware: Each gets every request, in this order, before its tools are rewritten, and the usage of
            each answer.
        options: Those of `WrapOptions`.

    Raises:
        TypeError: A middleware lacks a method, an option does not exist, or its value has another type.
        ValueError: An option that is not one of its choices.
    """
    return CompactTools(Options().with_overrides(options), middleware)


class DictExchange(Driven):
    """One request and its answers, as dicts in the form of chat completions."""

    def __init__(
        self, exchange: Exchange, on_usage: Callable[[Mapping[str, Any]], None] | None = None
    ) -> None:
        super().__init__(exchange, on_usage)
        self._reader = None if exchange.untouched else exchange.stream()

    def whole(self, body: Any) -> Any:
        given = _checked(body)
        self._record_received(given)
        self._note_usage(given)
        read = self._exchange.whole(given)
        if read is not None:
            self._exchange.record_output(read)
        return read

    def chunk(self, chunk: Any) -> Any:
        if self._notes_usage and isinstance(chunk, dict):
            self._record_received(chunk)
            self._note_usage(chunk)
        reader = self._reader
        return self._given((chunk,)) if reader is None else self._call_reader(self._read, reader, chunk)

    def end(self, *, dropped: bool = False) -> Any:
        self.should_retry = False
        reader = self._reader
        if reader is None or self.ended or dropped:
            return ()
        out = self._call_reader(lambda: self._given(reader.end()))
        self.should_retry = reader.should_retry
        if self.should_retry:
            self._exchange.retry()
        return out

    def pieces(self, out: Any) -> Any:
        return out

    def _read(self, reader: AnswerStream, chunk: Any) -> Iterable[Any]:
        """What the application gets for a chunk."""
        if isinstance(chunk, dict):
            made = reader.feed(chunk)
        else:
            if hasattr(chunk, "model_dump"):
                name = type(chunk).__name__
                raise TypeError(f"a chunk must be a dict, not {name}: yield its model_dump()")
            # Not a chunk ("[DONE]", a ping): only that of the last answer counts.
            made = [] if reader.should_retry or reader.ended else None
        return self._given((chunk,) if made is None else made)

    def _given(self, out: Iterable[Any]) -> Iterable[Any]:
        """Puts what the application gets into the form of the host."""
        if self._notes_usage:
            for one in out:
                self._exchange.record_output(one)
        return out


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


class FunctionSource:
    """Answers come from a function of the host.

    Args:
        send: Sends a request, and returns its answer, or its chunks.
        streams: It returns chunks; if `is_async`, it may have to be awaited.
        is_async: It is an async function.
    """

    def __init__(self, send: Callable[[Any], Any], *, streams: bool = False, is_async: bool = False) -> None:
        self._send = send
        self._streams = streams
        self.is_async = is_async

    async def send(self, request: Any, attempt: int) -> Any:
        answer = self._send(request)
        waits = self.is_async and (not self._streams or inspect.isawaitable(answer))
        return await answer if waits else answer

    def head(self, answer: Any) -> Head:
        return Head(streams=self._streams)

    async def read_all(self, answer: Any) -> Any:
        return answer

    def chunks(self, answer: Any) -> Any:
        return aiter(answer) if self.is_async else iter(answer)

    async def close(self, answer: Any) -> None:
        close = (self.is_async and getattr(answer, "aclose", None)) or getattr(answer, "close", None)
        closing = close() if callable(close) else None
        if self.is_async and inspect.isawaitable(closing):
            await closing

    def fail(self, error: Exception) -> Any:
        raise error
