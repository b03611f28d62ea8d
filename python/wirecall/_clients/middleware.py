"""Middlewares of `wrap`: they get a request before its tools are rewritten, and hear what the answer used."""

import inspect
import logging
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from wirecall._apis.names import ApiName

log = logging.getLogger("wirecall")

_METHODS = ("transform_request", "atransform_request", "answered")


class Middleware(Protocol):
    """What `wrap(client, middleware=[…])` takes. One serves all requests of a client, of any thread and task.

    Requests and answers are the API's own: of chat completions ("chat"), Responses ("responses") or
    Anthropic's Messages ("messages"). A session is what the application calls one conversation, None where
    it does not.
    """

    def transform_request(
        self, request: Mapping[str, Any], /, *, format: ApiName, session: str | None = None
    ) -> Mapping[str, Any]:
        """The request to send instead of one of a sync client: the very object where nothing is to be
        changed. The given one is never mutated. What it raises reaches the caller, and nothing is sent."""

    async def atransform_request(
        self, request: Mapping[str, Any], /, *, format: ApiName, session: str | None = None
    ) -> Mapping[str, Any]:
        """The same for async clients."""

    def answered(self, body: Mapping[str, Any], /, *, format: ApiName, session: str | None = None) -> object:
        """Gets the provider's whole answer, or each event of a streamed one, that says what was used. The
        next event waits for it, so it must be quick. What it raises is logged."""


class Chain:
    """The middlewares of a client, in their order. It has no state.

    Attributes:
        members: They.

    Raises:
        TypeError: One is none.
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

    def transform(
        self, request: Mapping[str, Any], format: ApiName, session: str | None
    ) -> Mapping[str, Any]:
        for member in self.members:
            request = _request(member, member.transform_request(request, format=format, session=session))
        return request

    async def atransform(
        self, request: Mapping[str, Any], format: ApiName, session: str | None
    ) -> Mapping[str, Any]:
        for member in self.members:
            given = await member.atransform_request(request, format=format, session=session)
            request = _request(member, given)
        return request

    def answered(self, body: Mapping[str, Any], format: ApiName, session: str | None) -> None:
        """Tells all of them what was used."""
        for member in self.members:
            try:
                member.answered(body, format=format, session=session)
            except Exception as error:
                # Never with its message, which may hold what a model or a user wrote.
                log.warning("%s.answered raised %s", type(member).__name__, type(error).__name__)


def _request(member: Middleware, given: object) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return given
    advice = ""
    if inspect.iscoroutine(given):
        given.close()
        advice = ": put async code into atransform_request, and wrap an async client"
    raise TypeError(
        f"{type(member).__name__} must return the request as a dict, not {type(given).__name__}{advice}"
    )
