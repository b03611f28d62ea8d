"""Bytes in, bytes out: what a client's HTTP layer does with the APIs. There is no I/O.

    exchange = await Codec(options).open(url, headers, body, is_async=True)     # None: nothing to do with it
    send exchange.request, and by the content type of the answer
        exchange.whole(body); if None, send exchange.request again
        exchange.chunk(bytes) for each, exchange.end() once; if should_retry, send exchange.request again

Middlewares get a request once, in `open`, and what its answer says about usage. If there is nothing else to
do with an answer, each chunk is passed on at once, unchanged.
"""

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from wirecall._apis.base import Api, UnsupportedRequestError, openai_refusal
from wirecall._apis.exchange import Exchange
from wirecall._apis.registry import Route, find_route
from wirecall._clients import sse
from wirecall._clients.byte_exchange import ByteExchange
from wirecall._clients.middleware import MiddlewareStack
from wirecall._sync import aside
from wirecall._text.options import Options
from wirecall._text.parts import ToolCallError
from wirecall._text.record import Where
from wirecall._text.recorder import Observer

# The key of a request's body that changes options for this request; it never reaches the provider.
OVERRIDES = "wirecall"
# Beside the options: the application's name of the conversation.
_SESSION = "session"

# A body of this many bytes takes a millisecond to rewrite, so that is done in a thread. Reading it would not
# gain from one: the decoder of JSON holds the interpreter.
_LARGE = 32 * 1024


class Reply(NamedTuple):
    """An answer of our own, instead of the provider's."""

    status: int
    body: bytes


class Codec:
    """Opens exchanges. It has no state: one serves any number of requests at once.

    Args:
        options: The host's.
        apis: Used instead of the built-in ones.
        stack: The host's middlewares. They do not get requests for token counts.
        accepted: The options that a request may change with the key `wirecall` of its body; None for all. A
            request that changes another one is refused.
        max_event_bytes: The longest event of a streamed answer.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        options: Options,
        apis: Mapping[str, Api] | None = None,
        stack: MiddlewareStack | None = None,
        *,
        accepted: Collection[str] | None = None,
        max_event_bytes: int = sse.MAX_EVENT_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.options = options
        self._clock = clock
        self._apis = apis
        self._accepted = accepted
        self._stack = stack or MiddlewareStack()
        self._max_event_bytes = max_event_bytes

    async def open(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        method: str = "POST",
        is_async: bool,
        given: Mapping[str, Any] | None = None,
        observer: Observer | None = None,
    ) -> "ByteExchange | None":
        """Rewrites a request. None: it is sent as it is, and so is its answer.

        Args:
            url: Or its path. The API is chosen by how the path ends.
            headers: A body that is compressed, or signed, cannot be rewritten.
            is_async: Whether this may wait: for middlewares, and for a thread in which a large request is
                rewritten. Otherwise it never suspends.
            given: The JSON object in the body, of a host that has read it.
            observer: Is told what happens in the exchange, while it happens.

        Raises:
            UnsupportedRequestError: The request cannot work over text, its body is compressed or signed, or
                it changes options that it may not.
            ToolError: A tool definition cannot work.
            TypeError, ValueError: The overrides are not options.
            Exception: Of a middleware.
        """
        route = self._route(url, method)
        lower = {name.lower(): value for name, value in headers.items()}
        if route is None:
            return None
        if lower.get("content-encoding", "identity").lower() != "identity":
            raise UnsupportedRequestError(
                "the body of the request is compressed, so it cannot be rewritten: send it without "
                "content-encoding",
                status=415,
            )
        is_large = is_async and len(body) > _LARGE
        if given is None:
            given = sse.load(body)
        if given is None:
            return None
        api, base_url, answers = route
        # Overrides must not reach the provider, so a request with them cannot be sent unchanged.
        options, session, overridden = self.options, None, OVERRIDES in given
        if overridden:
            given = dict(given)
            options, session = self._overridden(given.pop(OVERRIDES))
        request: Mapping[str, Any] = given
        on_usage = None
        if self._stack and answers:
            request = await self._stack.on_request(given, api.name, session, is_async=is_async)
            on_usage = self._stack.usage_listener(api.name, session)
        where = Where.of(method, url, headers)

        own = None if overridden or request is not given else body

        def rewrite() -> Exchange:
            served = base_url, str(request.get("model"))
            exchange = Exchange(api, request, options, where, served=served, body=own, observer=observer)
            exchange.written  # noqa: B018  (writing it takes long, too)
            return exchange

        # The functions of a host may not expect a thread.
        in_thread = is_large and not options.calls_host
        exchange = await _rewritten_aside(rewrite) if in_thread else rewrite()
        await exchange.tell_saved(is_async=is_async)
        same = exchange.written is body
        reads = answers and not (exchange.untouched and on_usage is None and exchange.recorder is None)
        if same and not reads:
            return None
        if not same and lower.get("authorization", "").startswith("AWS4-"):
            exchange.finish()
            raise UnsupportedRequestError(
                "The body of this request is signed (AWS Signature 4), so it cannot be rewritten. "
                "Use a client that authenticates with an API key."
            )
        return ByteExchange(
            exchange,
            where,
            reads=reads,
            on_usage=on_usage,
            max_event_bytes=self._max_event_bytes,
            keep_alive=options.keep_alive,
            clock=self._clock,
        )

    def _overridden(self, given: object) -> tuple[Options, str | None]:
        """The request's options, and its session."""
        if not isinstance(given, Mapping):
            raise TypeError(
                f'the body\'s key "{OVERRIDES}" must be an object of options, not {type(given).__name__}'
            )
        session = given.get(_SESSION)
        if session is not None and not isinstance(session, str):
            raise TypeError(f"{_SESSION} must be a str, not {type(session).__name__}")
        others = {name: value for name, value in given.items() if name != _SESSION}
        if self._accepted is not None and (refused := others.keys() - self._accepted):
            allowed = ", ".join(sorted(self._accepted)) or "none"
            raise UnsupportedRequestError(
                f'the body\'s key "{OVERRIDES}" sets {", ".join(sorted(refused))}; '
                f"this server accepts: {allowed}"
            )
        return self.options.with_overrides(others), session

    def serves(self, url: str, method: str = "POST") -> bool:
        """Whether `open` looks at such a request; the bodies of others need not be read."""
        return self._route(url, method) is not None

    def reply(self, url: str, error: Exception) -> Reply:
        """An error in the form of the API, for a host that replies where others raise."""
        route = self._route(url, "POST")
        body = (openai_refusal if route is None else route.api.refusal)(error)
        # Exceptions for requests, tools and options are ValueErrors and TypeErrors. Only a request is nested
        # too deeply: answers are read as far as they can be.
        status = 400 if isinstance(error, (ValueError, TypeError, RecursionError)) else 500
        status = error.status if isinstance(error, UnsupportedRequestError) else status
        return Reply(502 if isinstance(error, ToolCallError) else status, sse.dump(body))

    def _route(self, url: str, method: str) -> Route | None:
        return find_route(url, self._apis) if method.upper() == "POST" else None


async def _rewritten_aside(rewrite: Callable[[], Exchange]) -> Exchange:
    """Rewrites in a thread. If nobody waits for it any more, the exchange is finished all the same."""
    abandoned = False
    made: list[Exchange] = []

    def run() -> Exchange:
        exchange = rewrite()
        made.append(exchange)
        if abandoned:
            exchange.finish()
        return exchange

    try:
        return await aside(run)
    except BaseException:
        abandoned = True
        for exchange in made:
            exchange.finish()
        raise
