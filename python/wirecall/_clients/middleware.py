"""Middlewares of `wrap`: they get a request before its tools are rewritten, and hear what the answer used."""

import inspect
import logging
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from wirecall._apis.base import DialectName
from wirecall._steps import Steps

log = logging.getLogger("wirecall")

_METHODS = ("transform_request", "atransform_request", "answered")


class Middleware(Protocol):
    """What `wrap(client, middleware=[…])` takes. One serves all requests of a client, of any thread and task.

    Requests and answers are the API's own: of chat completions ("chat"), Responses ("responses") or
    Anthropic's Messages ("messages"). A session is what the application calls one conversation, None where
    it does not.
    """

    def transform_request(
        self, request: Mapping[str, Any], /, *, format: DialectName, session: str | None = None
    ) -> Mapping[str, Any]:
        """The request to send instead of one of a sync client: the very object where nothing is to be
        changed. The given one is never mutated. What it raises reaches the caller, and nothing is sent."""

    async def atransform_request(
        self, request: Mapping[str, Any], /, *, format: DialectName, session: str | None = None
    ) -> Mapping[str, Any]:
        """The same for async clients."""

    def answered(
        self, body: Mapping[str, Any], /, *, format: DialectName, session: str | None = None
    ) -> object:
        """Gets the provider's whole answer, or each event of a streamed one, that says what was used. The
        next event waits for it, so it must be quick. What it raises is logged."""


class OnRequest(NamedTuple):
    """The step of a request through one middleware."""

    member: Middleware
    request: Mapping[str, Any]
    format: DialectName
    session: str | None

    def now(self) -> object:
        return self.member.transform_request(self.request, format=self.format, session=self.session)

    async def later(self) -> object:
        return await self.member.atransform_request(self.request, format=self.format, session=self.session)


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
        self, request: Mapping[str, Any], format: DialectName, session: str | None
    ) -> Steps[Mapping[str, Any]]:
        """The request as the last one returns it."""
        for member in self.members:
            request = _request(member, (yield OnRequest(member, request, format, session)))
        return request

    def answered(self, body: Mapping[str, Any], format: DialectName, session: str | None) -> None:
        """Tells all of them, if this says what was used."""
        if not _says_usage(body):
            return
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


def _says_usage(body: Mapping[str, Any]) -> bool:
    """At the top, or in what an event carries: `response` of Responses, `message` of Messages."""
    carried = (body, body.get("response"), body.get("message"))
    return any(isinstance(one, Mapping) and one.get("usage") for one in carried)
