"""Requests kept within a context window, one by one; what an application stores stays as it is.

    context = compact_context(context_window=128_000, compress=summarize, count=tokenizer())
    answer = context.wrap_generate(send, params, session="user-7")

It stacks with `compact_tools`, and stands in front of it:

    context.wrap_generate(lambda params: tools.wrap_generate(send, params), params)
"""

import inspect
import math
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

from wirecall._apis.conversation import INTRODUCTION, ConversationFormat, Message, at_least, log
from wirecall._apis.names import ApiName
from wirecall._apis.registry import api_named
from wirecall._apis.values import dict_of
from wirecall._tools.option_types import checked
from wirecall.compaction._compression import Compress, Compressed, ContextNotice, Kind
from wirecall.compaction._counting import Count, estimate, tokens_of
from wirecall.compaction._durable import AsyncSummarize
from wirecall.compaction._planning import Conversation, joined, turns_of
from wirecall.compaction._pruning import EXPLANATION, Clear, Prune, cleared, pruned
from wirecall.compaction._requests import Request, are_same, beside
from wirecall.compaction._sessions import Remembered, Session, Sessions, digests, making, recalled
from wirecall.compaction._steps import ASYNC, Call, Misused, Steps, Wait, adrive, drive
from wirecall.compaction._summary import cleaned, question, wrapped
from wirecall.compaction._truncation import Truncate, truncated

# The third failure in a row opens the breaker.
FAILURES = 3
# The firing at which it is said that nobody keeps what is summarised.
_TELLING = 3
# No window is so large, and a float can be made of it, whatever a server says.
_MOST_FED = 10**12
# What stands for messages that could not be summarised.
NOTICE = (
    "[Earlier messages of this conversation are left out here, because they did not fit and could not be "
    "summarised. Continue from what follows.]"
)


class CompactContext:
    """Made by `compact_context`. One serves any number of requests at once, in threads and in tasks.

    Nothing that is given is ever mutated; messages that need no change stay the same objects, and a request
    that needs none is returned itself.

    Every method takes a session: the id of a conversation, a str. Requests without one share the default
    session.
    """

    def __init__(
        self,
        *,
        context_window: int | None,
        compress: Compress | None,
        truncate: Truncate | None,
        prune: Sequence[Prune],
        clear: Clear | None,
        count: Count | None,
        usage: Literal["max", "fed", "own"],
        on_compress: Callable[[Compressed], object] | None,
        on_event: Callable[[ContextNotice], object] | None,
        max_sessions: int,
    ) -> None:
        self._window = context_window or 0
        self._compress = compress
        self._truncate = truncate
        self._prune = prune
        self._clear = clear
        self._count = count
        self._usage = usage
        self._on_compress = on_compress
        self._on_event = on_event
        self._sessions = Sessions(max_sessions)
        # Taken once, for good.
        self._untold = threading.Lock()

    def transform_params(self, params: Request, *, session: str | None = None) -> Request:
        """The request of chat completions as it is to be sent; `params` itself where nothing changes.

        Raises:
            TypeError: The summarizer is async.
        """
        return self.transform_request(params, format="chat", session=session)

    async def atransform_params(self, params: Request, *, session: str | None = None) -> Request:
        """`transform_params` for async hosts; the summarizer may be sync, too."""
        return await self.atransform_request(params, format="chat", session=session)

    def transform_request(self, request: Request, *, format: ApiName, session: str | None = None) -> Request:
        """A request of any API as it is to be sent; the very request where nothing is to be changed.

        Args:
            request: Its JSON, with "messages", or "input" for Responses.
            format: "chat", "responses" or "messages".

        Raises:
            TypeError: The summarizer is async.
        """
        if self._compress is not None and _is_async(self._compress.summarize):
            raise TypeError(f"the summarizer cannot be used here: {ASYNC}")
        return drive(self._transform(request, format, session))

    async def atransform_request(
        self, request: Request, *, format: ApiName, session: str | None = None
    ) -> Request:
        """`transform_request` for async hosts; the summarizer may be sync, too."""
        return await adrive(self._transform(request, format, session))

    def wrap_generate(
        self, generate: Callable[[Any], Mapping[str, Any]], params: Request, *, session: str | None = None
    ) -> Mapping[str, Any]:
        """Sends a request of chat completions, and remembers what its answer says about usage.

        Args:
            generate: Sends a request and returns the answer.
            params: The request.
        """
        answer = generate(self.transform_params(params, session=session))
        self.answered(answer, format="chat", session=session)
        return answer

    async def awrap_generate(
        self,
        generate: Callable[[Any], Awaitable[Mapping[str, Any]]],
        params: Request,
        *,
        session: str | None = None,
    ) -> Mapping[str, Any]:
        """`wrap_generate` for an async `generate`."""
        answer = await generate(await self.atransform_params(params, session=session))
        self.answered(answer, format="chat", session=session)
        return answer

    def wrap_stream(
        self, stream: Callable[[Any], Any], params: Request, *, session: str | None = None
    ) -> Iterator[Any]:
        """`wrap_generate` for an answer in chunks, which go out as they come. What `stream` returns is closed
        in any case."""
        return self._stream(stream, self.transform_params(params, session=session), session)

    async def awrap_stream(
        self, stream: Callable[[Any], Any], params: Request, *, session: str | None = None
    ) -> AsyncIterator[Any]:
        """`wrap_stream` for async chunks; `stream` may be a coroutine function, too. It is not awaited
        itself: `async for chunk in context.awrap_stream(stream, params)`."""
        source = stream(await self.atransform_params(params, session=session))
        if inspect.isawaitable(source):
            source = await source
        try:
            async for chunk in source:
                self.answered(chunk, format="chat", session=session)
                yield chunk
        finally:
            close = getattr(source, "aclose", None) or getattr(source, "close", None)
            if callable(close) and inspect.isawaitable(closing := close()):
                await closing

    def feed(self, input_tokens: int, *, session: str | None = None) -> None:
        """Says how many tokens the provider counted in the last request. One check looks at it."""
        at_least("input_tokens", input_tokens, 0)
        if self not in _busy.get():
            state = self._sessions.of(session)
            with state.lock:
                state.fed = min(input_tokens, _MOST_FED)

    def answered(self, answer: object, *, format: ApiName, session: str | None = None) -> None:
        """Feeds what an answer, or an event of a streamed one, says about the tokens of its request."""
        found = api_named(format).input_tokens(dict_of(answer))
        if found:
            self.feed(found, session=session)

    def reset(self, *, session: str | None = None) -> None:
        """Forgets all about a session: failures, usage and summaries."""
        self._sessions.forget(session)

    def _stream(self, stream: Callable[[Any], Any], params: Request, session: str | None) -> Iterator[Any]:
        source = stream(params)
        try:
            for chunk in source:
                self.answered(chunk, format="chat", session=session)
                yield chunk
        finally:
            if callable(close := getattr(source, "close", None)):
                close()

    def _transform(self, request: Request, format: ApiName, session: str | None) -> Steps[Request]:
        api = api_named(format)
        given = request.get(api.messages_key)
        # What summarises may send through this very context.
        if self in _busy.get() or not isinstance(given, (list, tuple)) or not given:
            return request
        of = api.conversation
        if api.is_held_by_server(request):
            # Results whose calls are there cannot be left out.
            left = list(given) if self._truncate is None else truncated(of, given, self._truncate)
            return api.with_messages(request, left)
        if self._compress is None:
            left = self._lighter(of, given, None).messages
        else:
            state = self._sessions.of(session)
            left = yield from self._compressed(of, request, given, state, self._compress)
        if self._clear is None:
            return api.with_messages(request, left)
        clear = cleared(of, left, self._clear.kept)
        return api.with_messages(request, clear, None if are_same(clear, left) else EXPLANATION)

    def _lighter(
        self, of: ConversationFormat, given: Sequence[Message], remembered: Remembered | None
    ) -> "_Light":
        """With a summary for what is summarised already, truncated and pruned."""
        start = 0 if remembered is None else remembered.length
        messages = list(given[start:])
        origins = list(range(start, len(given)))
        if remembered is not None:
            front = [*_system(of, given[:start]), of.user(wrapped(remembered.text))]
            messages, origins = [*front, *messages], [*([-1] * len(front)), *origins]
        if self._truncate is not None:
            messages = truncated(of, messages, self._truncate)
        for rule in self._prune:
            left = pruned(of, messages, rule)
            origins = [origin for origin, message in zip(origins, left, strict=True) if message is not None]
            messages = [message for message in left if message is not None]
        return _Light(messages, origins)

    def _compressed(
        self,
        of: ConversationFormat,
        request: Request,
        given: Sequence[Message],
        state: Session,
        compress: Compress,
    ) -> Steps[list[Message]]:
        around = beside(request, self._count or estimate)
        waits = True
        while True:
            with state.lock:
                version, known, jobs = state.version, state.remembered, [*state.jobs]
            other = making(jobs, given) if waits else None
            if other is not None:
                waits = yield Wait(other.done)
                continue
            remembered = recalled(known, given)
            light = self._lighter(of, given, remembered)
            own = around + sum(map(self._weight, light.messages))
            with state.lock:
                if version == state.version:  # else another request makes a summary, or has made one
                    tokens = self._tokens(state, own)
                    job = state.check(given, over=tokens > self._window)
                    break
        fired = None
        if job is not None:
            try:
                scale = max(1, tokens / max(own, 1))
                fired = yield from self._fire(of, given, state, compress, light, around, scale)
            except BaseException:  # cancelled, or the summarizer does not fit the hook
                with state.lock:
                    state.undo(job)
                raise
            finally:
                with state.lock:
                    state.end(job)
                job.done.set_result(None)
        if fired is not None:
            return fired
        if remembered is None:
            return light.messages
        conversation = _cut(of, light.messages)
        recent = joined(of, conversation.turns, ended=True)
        return [*conversation.system, *conversation.summary, *recent]

    def _tokens(self, state: Session, own: float) -> float:
        """What a check looks at."""
        if state.failures >= FAILURES:
            return 0
        if state.skips:
            # What was fed is of an earlier request; a counter knows what is to be sent now.
            return own if self._count is not None and self._usage != "fed" and not state.failures else 0
        if state.fed is None or self._usage == "own":
            return own
        return max(own, state.fed) if self._usage == "max" and self._count is not None else state.fed

    def _fire(
        self,
        of: ConversationFormat,
        given: Sequence[Message],
        state: Session,
        compress: Compress,
        light: "_Light",
        around: float,
        scale: float,
    ) -> Steps[list[Message] | None]:
        """The conversation with a summary of its older turns, or a notice that there is none; None if there
        are no older turns."""
        conversation = _cut(of, light.messages)
        allowed = min(compress.max_summary_tokens, max(1, self._window // 4))
        always = [*conversation.system, of.user(INTRODUCTION)]
        fixed = allowed + scale * (around + sum(map(self._weight, always)))
        room = min(math.floor(compress.keep_share * self._window), self._window - fixed)
        kept = self._kept(conversation, compress, room / scale)
        old, recent = conversation.turns[:-kept], conversation.turns[-kept:]
        if not old:
            return None
        failure: Exception | None = None
        try:
            asked = question(
                [*conversation.summary, *joined(of, old, ended=True)],
                instructions=compress.instructions,
                tool_result_stub_threshold=compress.tool_result_stub_threshold,
                max_summary_tokens=allowed,
                format=of.name,
            )
            if not asked:
                return None
            count = light.origins[recent[0].at]
            # Now: an application may edit its messages while a summary is made of them as they are.
            (digest,) = digests(given, [count])
            text = cleaned((yield _Summarize(self, Call(compress.summarize, asked))))
        except Misused:
            raise
        except Exception as error:
            text, failure = "", error
        tail = joined(of, recent, ended=True)
        if not text:
            self._failed(state, failure)
            return [*conversation.system, *conversation.summary, of.user(NOTICE), *tail]
        yield from self._succeeded(of, given, state, Remembered(count, digest, text))
        return [*conversation.system, of.user(wrapped(text)), *tail]

    def _kept(self, conversation: Conversation, compress: Compress, room: float) -> int:
        """How many turns at the end stay."""
        if self._count is None:
            return compress.keep_turns
        kept, taken = 0, 0.0
        for turn in reversed(conversation.turns):
            taken += sum(map(self._weight, turn.messages(conversation.format, ended=True)))
            if kept >= compress.keep_turns and taken > room:
                break
            kept += 1
        return kept

    def _failed(self, state: Session, failure: Exception | None) -> None:
        """It was raised, or, None, the summary is empty."""
        with state.lock:
            state.skips = True
            state.firings += 1
            state.failures += 1
            opened = state.failures == FAILURES
        why = "the summary is empty" if failure is None else _logged(failure)
        log.warning("A conversation could not be summarised: %s", why)
        self._tell("failed", state.id, why if failure is None else f"{type(failure).__name__}: {failure}")
        if opened:
            said = f"{FAILURES} failures in a row: summaries are off in this session until reset()"
            log.warning("%s", said)
            self._tell("opened", state.id, said)

    def _succeeded(
        self, of: ConversationFormat, given: Sequence[Message], state: Session, made: Remembered
    ) -> Steps[None]:
        count, text = made.length, made.text
        with state.lock:
            state.skips = True
            state.firings += 1
            state.failures = 0
            state.remember(made)
            often = state.firings >= _TELLING
        if often and self._on_compress is None and self._untold.acquire(blocking=False):
            log.warning(
                "A conversation was summarised %d times, and the summaries are not stored: pass on_compress "
                "and store what it receives, or shorten the stored conversation with compact_messages",
                state.firings,
            )
        if self._on_compress is not None:
            recent = joined(of, _cut(of, given[count:]).turns, ended=False)
            messages = [*_system(of, given), of.user(wrapped(text)), *recent]
            try:
                yield Call(self._on_compress, Compressed(state.id, of.name, messages, text, count))
            except Exception as error:
                log.warning("on_compress failed: %s", _logged(error))
        self._tell("compressed", state.id, f"a summary replaces the first {count} messages")

    def _tell(self, kind: Kind, session: str | None, detail: str) -> None:
        if self._on_event is None:
            return
        try:
            self._on_event(ContextNotice(kind, session, detail))
        except Exception as error:
            log.warning("on_event failed: %s", _logged(error))

    def _weight(self, message: Message) -> float:
        return tokens_of(message, self._count or estimate)


@checked
def compact_context(
    *,
    context_window: int | None = None,
    compress: Compress | AsyncSummarize | None = None,
    truncate: Truncate | None = None,
    prune: Prune | Sequence[Prune] | None = None,
    clear: Clear | None = None,
    count: Count | None = None,
    usage: Literal["max", "fed", "own"] = "max",
    on_compress: Callable[[Compressed], object] | None = None,
    on_event: Callable[[ContextNotice], object] | None = None,
    max_sessions: int = 256,
) -> CompactContext:
    """A middleware that makes requests smaller, in this order: truncate, prune, compress, clear.

        context = compact_context(
            context_window=128_000,
            compress=summarizer(client, model="a-small-one"),
            truncate=Truncate(20_000, head=2_000, tail=2_000),
        )
        answer = context.wrap_generate(send, params, session="user-7")

    A summary is remembered in its session, with the messages that it stands for: later requests that begin
    with these get it without asking again, until they are too long once more. If it cannot be made, a notice
    stands in its place; at the third failure in a row a breaker opens, and nothing is
    summarised in the session until `reset`. Behind each summary or failure, one check is left out; with a
    `count`, behind a summary only what was fed is.

    Args:
        context_window: Tokens that a request may have. Needed with `compress`, and only there.
        compress: Makes a summary of older turns where a request has more: what `compact_messages` takes as
            `summarize`, or a `Compress`.
        truncate: Shortens large results of tools.
        prune: Leaves out reasoning and calls; several rules count one after the other.
        clear: Puts placeholders for old results of tools.
        count: Tokens of a text, such as `wirecall.tokens.tokenizer()`. Without one, what was fed is looked
            at, or else an estimate, and of the turns `keep_turns` stay.
        usage: What is compared with the window: the larger one of our own count and of what providers say
            about the last request ("max"), what they say, if they do ("fed"), or our own count ("own").
        on_compress: Gets what can be stored instead of the request's messages; may be async in async hosts.
            An exception is logged only.
        on_event: Gets every `ContextNotice`. An exception is logged only.
        max_sessions: How many sessions are remembered; the one that was used longest ago is forgotten first.

    Raises:
        TypeError: `compress` and `context_window` without each other, or an option of a wrong type.
        ValueError: An option that is none of its choices.
    """
    if compress is not None and not isinstance(compress, Compress):
        compress = Compress(compress)
    if context_window is not None:
        at_least("context_window", context_window, 1)
    elif compress is not None:
        raise TypeError("compress needs context_window, the most tokens of a request, such as 128_000")
    if compress is None and context_window is not None:
        raise TypeError("context_window needs compress, which summarises requests with more tokens")
    rules: list[Any] = [] if prune is None else [*prune] if isinstance(prune, (list, tuple)) else [prune]
    for rule in rules:
        if not isinstance(rule, Prune):
            raise TypeError(f"prune must be a Prune, not {type(rule).__name__}")
    at_least("max_sessions", max_sessions, 1)
    return CompactContext(
        context_window=context_window,
        compress=compress,
        truncate=truncate,
        prune=rules,
        clear=clear,
        count=count,
        usage=usage,
        on_compress=on_compress,
        on_event=on_event,
        max_sessions=max_sessions,
    )


class _Light(NamedTuple):
    """Messages, and which of those given each one was; -1 for none."""

    messages: list[Message]
    origins: list[int]


# Whose summaries are being made here: what is sent meanwhile is theirs.
_busy: ContextVar[tuple[CompactContext, ...]] = ContextVar("wirecall_summarising", default=())


class _Summarize(NamedTuple):
    context: CompactContext
    call: Call

    def now(self) -> Any:
        token = _busy.set((*_busy.get(), self.context))
        try:
            return self.call.now()
        finally:
            _busy.reset(token)

    async def later(self) -> Any:
        token = _busy.set((*_busy.get(), self.context))
        try:
            return await self.call.later()
        finally:
            _busy.reset(token)


def _logged(error: Exception) -> str:
    """What a log may say of it: what providers and stores raise may quote the conversation."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, Misused) else name


def _is_async(given: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(type(given).__call__)


def _cut(of: ConversationFormat, messages: Sequence[Message]) -> Conversation:
    return turns_of(of, messages, [dict_of(message) for message in messages])


def _system(of: ConversationFormat, messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if of.see(dict_of(message)).role == "system"]
