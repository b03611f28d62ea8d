"""Middlewares get a request before its tools are rewritten, and what its answer says about usage."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from wirecall._text.notices import tell
from wirecall._tools.definitions import ApiName

_METHODS = ("on_request", "aon_request", "on_usage")


class Middleware(Protocol):
    """What `wrap(client, middleware=[…])` takes. One serves all requests of a client, of any thread and task.

    Requests and answers are those of the API: chat completions ("chat"), Responses ("responses") or
    Anthropic's Messages ("messages"). A session is the application's name of a conversation, or None.
    """

    def on_request(
        self, request: Mapping[str, Any], /, *, api: ApiName, session: str | None = None
    ) -> Mapping[str, Any]:
        """Returns the request that a sync client sends instead: the same object if nothing is to be changed.
        It must not change the given one. What it raises reaches the caller, and nothing is sent."""

    async def aon_request(
        self, request: Mapping[str, Any], /, *, api: ApiName, session: str | None = None
    ) -> Mapping[str, Any]:
        """`on_request` for async clients."""

    def on_usage(self, body: Mapping[str, Any], /, *, api: ApiName, session: str | None = None) -> object:
        """Gets the provider's whole answer, or the events of a streamed one, if it reports usage. The next
        event waits for it, so it must be quick. What it raises is logged."""


class MiddlewareStack:
    """The middlewares of a client, in their order. It has no state.

    Raises:
        TypeError: One is not a middleware.
    """

    def __init__(self, given: Iterable[Middleware] = ()) -> None:
        try:
            self.members = tuple(given)
        except TypeError:
            name = type(given).__name__
            raise TypeError(f"middleware must be a list of middlewares, not {name}") from None
        for member in self.members:
            kind = member if isinstance(member, type) else type(member)
            if member is kind:
                raise TypeError(f"{kind.__name__} is a class; pass an instance as middleware")
            missing = [name for name in _METHODS if not callable(getattr(member, name, None))]
            if missing:
                raise TypeError(
                    f"{kind.__name__} is not a middleware: it has no {' and no '.join(missing)}"
                    " (see wirecall.Middleware)"
                )

    def __bool__(self) -> bool:
        return bool(self.members)

    async def on_request(
        self, request: Mapping[str, Any], api: ApiName, session: str | None, *, is_async: bool
    ) -> Mapping[str, Any]:
        """The request as the last one returns it."""
        for member in self.members:
            if is_async:
                given = await member.aon_request(request, api=api, session=session)
            else:
                given = member.on_request(request, api=api, session=session)
            request = _request(member, given)
        return request

    def usage_listener(self, api: ApiName, session: str | None) -> Callable[[Mapping[str, Any]], None] | None:
        """A function that passes usage to all members; None if there are none."""
        return functools.partial(self._on_usage, api=api, session=session) if self.members else None

    def _on_usage(self, body: Mapping[str, Any], *, api: ApiName, session: str | None) -> None:
        for member in self.members:
            name = f"{type(member).__name__}.on_usage"
            tell(member.on_usage, body, name=name, api=api, session=session)


def _request(member: Middleware, given: object) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return given
    advice = ""
    if inspect.iscoroutine(given):
        given.close()
        advice = ": put async code into aon_request, and wrap an async client"
    raise TypeError(
        f"{type(member).__name__} must return the request as a dict, not {type(given).__name__}{advice}"
    )
