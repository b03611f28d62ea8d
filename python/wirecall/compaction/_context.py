"""Keeps each request within a context window; what an application stores stays unchanged."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wirecall._apis.registry import api_named
from wirecall._apis.values import are_same, dict_of
from wirecall._sync import run
from wirecall._tools.definitions import ApiName
from wirecall._tools.option_types import checked
from wirecall.compaction._checks import at_least
from wirecall.compaction._compression import Compress, Compressed, ContextNotice
from wirecall.compaction._compressor import Compressor, Trim
from wirecall.compaction._counting import Count
from wirecall.compaction._durable import AsyncSummarize
from wirecall.compaction._host import ASYNC, NEEDS_ASYNC, SYNC, Host
from wirecall.compaction._pruning import EXPLANATION, Clear, Prune, cleared
from wirecall.compaction._sessions import Sessions
from wirecall.compaction._truncation import Truncate, truncated

Request = Mapping[str, Any]

# No window is larger, and it fits into a float, whatever a server reports.
_MAX_FED = 10**12


@dataclass(eq=False, repr=False)
class CompactContext:
    """A middleware for `wrap` and `compact_tools`; made by `compact_context`. One serves any number of
    requests at once, in threads and in tasks.

    Its input is never mutated; messages that need no change stay the same objects, and a request that needs
    none is returned itself.

    Every method takes a session: the id of a conversation, a str. Requests without one share the default
    session.
    """

    _trim: Trim
    _compressor: Compressor | None
    _clear: Clear | None
    _sessions: Sessions

    def on_request(self, request: Request, *, api: ApiName, session: str | None = None) -> Request:
        """The request to send; the very request if nothing has to change.

        Args:
            request: Its JSON, with "messages", or "input" for Responses.
            api: "chat", "responses" or "messages".

        Raises:
            TypeError: The summarizer is async.
        """
        if self._compressor is not None and _is_async(self._compressor.options.summarize):
            raise TypeError(f"the summarizer cannot be used here: {NEEDS_ASYNC}")
        return run(self._transform(request, api, session, SYNC))

    async def aon_request(self, request: Request, *, api: ApiName, session: str | None = None) -> Request:
        """`on_request` for async hosts; the summarizer may be sync, too."""
        return await self._transform(request, api, session, ASYNC)

    def on_usage(self, body: object, *, api: ApiName, session: str | None = None) -> None:
        """Feeds the usage in an answer, or in an event of a streamed one."""
        if found := api_named(api).input_tokens(dict_of(body)):
            self.feed(found, session=session)

    def feed(self, input_tokens: int, *, session: str | None = None) -> None:
        """Sets how many tokens the provider counted in the last request. One check uses it."""
        at_least("input_tokens", input_tokens, 0)
        if self._compressor is None or self._compressor.is_busy:
            return
        state = self._sessions.of(session)
        with state.lock:
            state.fed = min(input_tokens, _MAX_FED)

    def reset(self, *, session: str | None = None) -> None:
        """Forgets everything about a session: failures, usage and summaries."""
        self._sessions.forget(session)

    async def _transform(self, request: Request, name: ApiName, session: str | None, host: Host) -> Request:
        api = api_named(name)
        given = request.get(api.messages_key)
        compressor = self._compressor
        if not isinstance(given, (list, tuple)) or not given or (compressor and compressor.is_busy):
            return request
        format = api.message_format
        if api.is_held_by_server(request):
            # The server has the calls of these results, so none may be left out.
            rule = self._trim.truncate
            return request if rule is None else api.with_messages(request, truncated(format, given, rule))
        if compressor is None:
            messages = self._trim.apply(format, given).messages
        else:
            state = self._sessions.of(session)
            messages = await compressor.compress(api, request, state, self._trim, host)
        if self._clear is None:
            return api.with_messages(request, messages)
        clear = cleared(format, messages, self._clear.kept)
        return api.with_messages(request, clear, None if are_same(clear, messages) else EXPLANATION)


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
    """A middleware that shortens requests, in this order: truncate, prune, compress, clear.

        context = compact_context(
            context_window=128_000,
            compress=summarizer(client, model="a-small-one"),
            truncate=Truncate(20_000, head=2_000, tail=2_000),
        )
        tools = compact_tools(middleware=[context])
        answer = tools.wrap_generate(send, params, session="user-7")

    A summary is remembered in its session, with the messages that it replaces: later requests that begin with
    them use it again, until they are too long once more. If no summary can be made, a notice replaces the
    messages; the third failure in a row turns summaries off in the session until `reset`. After each summary
    or failure, one check is skipped. With a `count`, the check after a summary is made, but ignores the
    provider's count.

    Args:
        context_window: The maximum number of tokens of a request. Required with `compress`, and not allowed
            without it.
        compress: Summarises older turns of requests that have more tokens: what `compact_messages` takes as
            `summarize`, or a `Compress`.
        truncate: Shortens large tool results.
        prune: Leaves out reasoning and calls; several rules apply one after the other.
        clear: Replaces old tool results with placeholders.
        count: Returns the number of tokens of a text, such as `wirecall.tokens.tokenizer()`. Without it, what
            was fed is used, or else an estimate, and `keep_turns` turns are kept.
        usage: What is compared with the window: the larger one of our own count and of what the provider
            reported for the last request ("max"), the provider's count if there is one ("fed"), or our own
            count ("own").
        on_compress: Gets what can be stored instead of the request's messages; may be async in async hosts.
            Its exceptions are only logged.
        on_event: Gets every `ContextNotice`. Its exceptions are only logged.
        max_sessions: How many sessions are remembered; the least recently used one is forgotten first.

    Raises:
        TypeError: `compress` and `context_window` without each other, or an option of a wrong type.
        ValueError: An option that is not one of its choices.
    """
    if compress is not None and not isinstance(compress, Compress):
        compress = Compress(compress)
    if context_window is not None:
        at_least("context_window", context_window, 1)
    compressor = None
    if compress is not None and context_window is not None:
        compressor = Compressor(
            compress, context_window, count, usage, on_compress, on_event, clears=clear is not None
        )
    elif compress is not None:
        raise TypeError("compress needs context_window, the most tokens of a request, such as 128_000")
    elif context_window is not None:
        raise TypeError("context_window needs compress, which summarises requests with more tokens")
    rules: list[Any] = [] if prune is None else [*prune] if isinstance(prune, (list, tuple)) else [prune]
    for rule in rules:
        if not isinstance(rule, Prune):
            raise TypeError(f"prune must be a Prune, not {type(rule).__name__}")
    at_least("max_sessions", max_sessions, 1)
    return CompactContext(Trim(truncate, rules), compressor, clear, Sessions(max_sessions))


def _is_async(given: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(type(given).__call__)
