"""Tool calling over text for any host, as three hooks over plain chat dicts: no HTTP, no SDK.

A host that has hooks calls `transform_params`, then `wrap_generate` or `wrap_stream` with what it returned;
any other gives its request to one of the two at once. A hook is given the function that sends a request, so
hooks stack: what is sent may be another one's hook.
"""

import functools
import inspect
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wirecall._apis.chat.api import api as chat
from wirecall._apis.exchange import Exchange
from wirecall._apis.streams import AnswerStream
from wirecall._apis.values import Json
from wirecall._clients.middleware import Chain, Middleware
from wirecall._rewriting.options import Options, WrapOptions
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
    _on_usage: Callable[[Mapping[str, Any]], None] | None = field(default=None, repr=False, compare=False)

    def _hears(self, given: Mapping[str, Any]) -> None:
        """Notes an answer, or an event of one, for the record and for the middlewares."""
        self._exchange.hears(given)
        if self._on_usage is not None:
            turn = self._exchange.turn
            # A retry is longer than the request that the middlewares know.
            if turn is None or turn.attempt == 0:
                self._on_usage(given)


class CompactTools:
    """The three hooks; made by `compact_tools`. It keeps nothing of a request, so one serves any number at
    once.

    Every hook takes options as keywords, which apply to this request only, and `session`, which tells the
    middlewares which conversation a request belongs to. Each raises at the call, before anything is sent:
    `ToolError` for a tool definition, `UnsupportedRequestError` for a request that cannot work, `TypeError`
    for an option that does not exist. With middlewares, `awrap_stream` raises when it is iterated.
    """

    def __init__(self, options: Options, middleware: Iterable[Middleware] = ()) -> None:
        self.options = options
        self._chain = Chain(middleware)

    def transform_params(
        self, params: Request, *, session: str | None = None, **overrides: "Unpack[WrapOptions]"
    ) -> Rewritten:
        """Rewrites a request: tools as a manual, calls and results as text. Nothing of ours is in it."""
        options = self._options(overrides)
        return self._rewritten(self._chain.transform(params, "chat", session), options, session)

    async def atransform_params(
        self, params: Request, *, session: str | None = None, **overrides: "Unpack[WrapOptions]"
    ) -> Rewritten:
        """`transform_params` for async hosts, whose middlewares may wait."""
        options = self._options(overrides)
        return self._rewritten(await self._chain.atransform(params, "chat", session), options, session)

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
        rewritten = self._given(params, session, overrides)
        exchange = rewritten._exchange
        with exchange.recording():
            while True:
                answer = _answer(generate(exchange.request))
                rewritten._hears(answer)
                read = exchange.whole(answer)
                if read is not None:
                    exchange.gives(read)
                    return read

    async def awrap_generate(
        self,
        generate: AsyncGenerate,
        params: Request | Rewritten,
        *,
        session: str | None = None,
        **overrides: "Unpack[WrapOptions]",
    ) -> Mapping[str, Any]:
        """`wrap_generate` for an async `generate`."""
        rewritten = await self._agiven(params, session, overrides)
        exchange = rewritten._exchange
        with exchange.recording():
            while True:
                answer = _answer(await generate(exchange.request))
                rewritten._hears(answer)
                read = exchange.whole(answer)
                if read is not None:
                    exchange.gives(read)
                    return read

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
        return _stream(stream, self._given(params, session, overrides))

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
        if self._chain and not isinstance(params, Rewritten):
            self._options(overrides)
            return _astream(stream, functools.partial(self._agiven, params, session, overrides))
        return _astream(stream, self._given(params, session, overrides))

    def _options(self, overrides: WrapOptions) -> Options:
        return self.options.with_overrides(overrides) if overrides else self.options

    def _rewritten(self, request: Request, options: Options, session: str | None) -> Rewritten:
        exchange = Exchange(chat, request, options)
        on_usage = functools.partial(self._chain.answered, format="chat", session=session)
        return Rewritten(exchange.request, exchange.toolset, exchange, on_usage if self._chain else None)

    def _given(self, params: Request | Rewritten, session: str | None, overrides: WrapOptions) -> Rewritten:
        if not isinstance(params, Rewritten):
            return self.transform_params(params, session=session, **overrides)
        if overrides or session is not None:
            raise TypeError("the request is already rewritten: pass the options to transform_params")
        return params

    async def _agiven(
        self, params: Request | Rewritten, session: str | None, overrides: WrapOptions
    ) -> Rewritten:
        if isinstance(params, Rewritten):
            return self._given(params, session, overrides)
        return await self.atransform_params(params, session=session, **overrides)


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


def _answer(body: object) -> Mapping[str, Any]:
    if isinstance(body, Mapping):
        return body
    if inspect.iscoroutine(body):
        body.close()
    name = type(body).__name__
    advice = ": return its model_dump()" if hasattr(body, "model_dump") else ""
    if inspect.isawaitable(body):
        advice = ": use awrap_generate"
    raise TypeError(f"an answer must be a dict in the form of chat completions, not {name}{advice}")


def _read(rewritten: Rewritten, reader: AnswerStream | None, event: Any) -> Iterable[Any]:
    """What goes out instead of a chunk."""
    if isinstance(event, dict):
        rewritten._hears(event)
    read = _rewritten(reader, event)
    for one in read:
        rewritten._exchange.gives(one)
    return read


def _rewritten(reader: AnswerStream | None, event: Any) -> Iterable[Any]:
    if reader is None:
        return (event,)
    if not isinstance(event, dict):
        if hasattr(event, "model_dump"):
            name = type(event).__name__
            raise TypeError(f"a chunk must be a dict, not {name}: yield its model_dump()")
        # No chunk ("[DONE]", a ping): only that of the last answer counts.
        return () if reader.should_retry or reader.ended else (event,)
    made: list[Json] | None = reader.feed(event)
    return (event,) if made is None else made


def _last(exchange: Exchange, reader: AnswerStream) -> Iterable[Json]:
    """What goes out when a source has ended. Where it fails, nothing does: half a call is not text."""
    read = reader.end()
    for one in read:
        exchange.gives(one)
    return read


def _stream(send: Streaming, rewritten: Rewritten) -> Iterator[Any]:
    exchange = rewritten._exchange
    reader = None if exchange.untouched else exchange.stream()
    with exchange.recording():
        while True:
            source = send(exchange.request)
            try:
                chunks = iter(source)
                while reader is None or not reader.ended:
                    try:
                        event = next(chunks)
                    except StopIteration:
                        break
                    yield from _read(rewritten, reader, event)
            finally:
                if callable(close := getattr(source, "close", None)):
                    close()
            if reader is None:
                return
            yield from _last(exchange, reader)
            if not reader.should_retry:
                return
            exchange.ask_again()


async def _astream(
    send: AsyncStreaming, given: Rewritten | Callable[[], Awaitable[Rewritten]]
) -> AsyncIterator[Any]:
    rewritten = given if isinstance(given, Rewritten) else await given()
    exchange = rewritten._exchange
    reader = None if exchange.untouched else exchange.stream()
    with exchange.recording():
        while True:
            sent = send(exchange.request)
            source: AsyncIterable[Any] = await sent if inspect.isawaitable(sent) else sent
            try:
                chunks = source.__aiter__()
                while reader is None or not reader.ended:
                    try:
                        event = await chunks.__anext__()
                    except StopAsyncIteration:
                        break
                    for due in _read(rewritten, reader, event):
                        yield due
            finally:
                close = getattr(source, "aclose", None) or getattr(source, "close", None)
                if callable(close) and inspect.isawaitable(closing := close()):
                    await closing
            if reader is None:
                return
            for due in _last(exchange, reader):
                yield due
            if not reader.should_retry:
                return
            exchange.ask_again()
