"""What a dialect is: one API's requests, answers and streams, read and written as the host's own dicts.

A dialect is stateless; what changes while an answer is read lives in its `Stream` and in the `ResponseState`.
Nothing that is given is ever mutated; what a dialect does not know stays where it is, the same object.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from wirecall._rewriting.history import History
from wirecall._rewriting.manual import Manual
from wirecall._rewriting.options import Options
from wirecall._rewriting.response import Choice, ResponseState

Json = dict[str, Any]
DialectName = Literal["chat", "responses", "messages"]


class Asked(NamedTuple):
    """What a request asks for.

    Attributes:
        tools: Tool definitions that can be rewritten, in any form that `Toolset` takes.
        native: Tool dicts of the provider's own (web search, code interpreter), which stay.
        choice: What `tool_choice` and its siblings say.
        history: The messages hold calls or results.
        answers: How many answers are asked for (`n`).
        legacy: The host reads the API's older form of a call (chat's `function_call`).
        stops: Stop sequences, and ids of stop tokens.
    """

    tools: list[Json]
    native: list[Json]
    choice: Choice
    history: bool
    answers: int = 1
    legacy: bool = False
    stops: tuple[object, ...] = ()


class Refused(ValueError):
    """A request that cannot work over text, such as one whose history is held by the server.

    Attributes:
        body: The answer that says so, where it is not the usual one.
    """

    body: Json | None = None


class ThreadRefused(Refused):
    """A thread of the Messages API. Its SDK knows the answer, and sends the whole history instead."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        details = {"error_code": "thread_unsupported_request"}
        error = {"type": "invalid_request_error", "message": message, "details": details}
        self.body = {"type": "error", "error": error}


def listed(value: object) -> Sequence[Any]:
    """A list of a request or an answer; () for what is none."""
    return value if isinstance(value, (list, tuple)) else ()


def stops_of(request: Mapping[str, Any]) -> tuple[object, ...]:
    """The stop sequences and stop token ids of a request."""
    given = request.get("stop") or request.get("stop_sequences")
    texts = [given] if isinstance(given, str) else listed(given)
    tokens = listed(request.get("stop_token_ids"))
    return tuple(stop for stop in [*texts, *tokens] if isinstance(stop, (str, int)))


def as_json(value: object) -> str:
    """What only a native result can hold, as text, so that nothing is lost."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        return repr(value)


def described(part: Mapping[str, Any]) -> str:
    """What a part is that is left out, for the model: its type, and what it is called."""
    source = part.get("source")
    holders = [
        part,
        *(value for value in (source, part.get(str(part.get("type")))) if isinstance(value, Mapping)),
    ]
    keys = ("name", "filename", "title", "mime_type", "media_type")
    named = [holder[key] for holder in holders for key in keys if isinstance(holder.get(key), str)]
    return f"[left out: {', '.join([str(part.get('type')), *named])}]"


def summed(usages: Iterable[object]) -> Json:
    """The usage of several answers, as one: numbers are added and lists joined, also those in details; else
    the last one counts."""
    total: Json = {}
    for usage in usages:
        if not isinstance(usage, Mapping):
            continue
        for name, given in usage.items():
            before = total.get(name)
            if isinstance(given, Mapping):
                total[name] = summed([before, given])
            elif all(map(_is_number, (before, given))) or (
                isinstance(before, list) and isinstance(given, list)
            ):
                total[name] = before + given
            elif given is not None or name not in total:
                total[name] = given
    return total


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Stream(Protocol):
    """One streamed answer, or several where the model is asked again: they become one."""

    @property
    def should_retry(self) -> bool:
        """The answer that just ended is not the last: `Exchange.ask_again` makes the next request,
        and its events come next."""

    @property
    def ended(self) -> bool:
        """The stream was ended with an error (a call failed after its first fragment); nothing more is
        to be sent."""

    def feed(self, event: Json) -> list[Json] | None:
        """Reads one event as the provider sent it (the JSON of its data).

        Returns:
            The events to send instead, in order; often none. None: send the very event, unchanged.
        """

    def end(self) -> list[Json]:
        """The provider's stream is over. What was held and is due goes out; an answer without its
        closing events was cut off."""

    @property
    def holds(self) -> bool:
        """A call or an error is held back: a comment keeps idle timeouts away. Not to be asked once it
        has `ended`."""


class Dialect(Protocol):
    """One API."""

    @property
    def name(self) -> DialectName: ...

    def read(self, request: Mapping[str, Any]) -> Asked:
        """What the request asks for.

        Raises:
            Refused: It cannot be rewritten (a history that the server holds); says what to do.
        """

    def rewrite(
        self,
        request: Mapping[str, Any],
        asked: Asked,
        manual: Manual | None,
        history: History,
        options: Options,
    ) -> Json:
        """The request as the model shall see it: the manual in its system text, no tools but the
        native ones, calls and results as text.

        Args:
            manual: None where there is none (no tools, or `tool_choice` none).
        """

    def adapt(self, request: Json, options: Options) -> Json:
        """The rewritten `request` for a model that knows no system role, or wants turns to alternate, as
        `system_role` and `merge_user_turns` say."""

    def again(self, request: Mapping[str, Any], words: str, message: str) -> Json:
        """The rewritten `request`, with the model's own words and our answer to them behind it."""

    def whole(self, body: Mapping[str, Any], turn: ResponseState) -> Json | None:
        """A whole answer with native calls. None: `turn` asks again (the parts that stay are kept in
        `turn.kept`)."""

    def stream(self, turn: ResponseState) -> Stream:
        """A reader of a streamed answer."""

    def error(self, error: Exception) -> Json:
        """The event that ends a stream with an error."""
