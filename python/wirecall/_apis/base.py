"""What an API is: its requests, answers, streams and conversations, read and written as the host's own dicts.

An `Api` is stateless; what changes while an answer is read is in its stream and the `ResponseState`. Nothing
that is given is ever mutated; what an API's code does not know stays where it is, the same object.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from wirecall._apis.conversation import Message, MessageFormat
from wirecall._apis.streams import AnswerStream
from wirecall._apis.values import Json, are_same, dict_of, listed, mapping, text_part
from wirecall._shown import as_str
from wirecall._text.grammar import RequestGrammar
from wirecall._text.history import History
from wirecall._text.manual import Manual
from wirecall._text.options import Options
from wirecall._text.response import Choice, ResponseState
from wirecall._tools.definitions import ApiName


class UnsupportedRequestError(ValueError):
    """A request that cannot work over text, such as one whose history is held by the server.

    Attributes:
        status: The HTTP status of an answer that says so.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class ParsedRequest(NamedTuple):
    """What a request asks for.

    Attributes:
        tools: Tool definitions that can be rewritten, in any form that `Toolset` takes.
        native: Tool dicts of the provider's own (web search, code interpreter), which stay.
        history: Whether the messages hold calls or results.
        answers: How many answers are requested (`n`).
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


class Rewrite(NamedTuple):
    """A request, and what it is rewritten with. `manual`: None without tools, or with `tool_choice` none."""

    request: Mapping[str, Any]
    parsed: ParsedRequest
    manual: Manual | None
    history: History
    options: Options


def error_body(error: Exception) -> Json:
    """What the bodies of all APIs say about an error of wirecall."""
    # Exceptions for requests, tools and options are ValueErrors or TypeErrors.
    kind = "invalid_request_error" if isinstance(error, (ValueError, TypeError)) else "api_error"
    return {"type": kind, "message": str(error)}


def openai_refusal(error: Exception) -> Json:
    """The body of an error as OpenAI's APIs have it."""
    return {"error": {**error_body(error), "param": None, "code": "wirecall_refused"}}


def choice_among(names: Sequence[object], *, required: bool, parallel: bool) -> Choice:
    """A choice among these tools. Without names, only the provider's own tools may be called."""
    if not names:
        return Choice("none", parallel=parallel)
    return Choice("required" if required else "auto", tuple(map(str, names)), parallel)


def refuse_grammar(request: Json, parsed: ParsedRequest, grammar: RequestGrammar) -> Json:
    """`Api.constrain` of an API in which no server takes a grammar."""
    raise UnsupportedRequestError(
        f"grammar={grammar.server!r} cannot be sent, because this API has no field for a grammar: use the "
        "server's chat completions, or set the option grammar to None for this request"
    )


@dataclass(frozen=True, kw_only=True)
class Api:
    """One API. Everything that is known of it is in the folder of its name.

    Attributes:
        routes: The endings of its paths, and whether the answer there is one of the model's: a token count is
            not.
        parse_request: Reads what a request asks for. Raises `UnsupportedRequestError` if it cannot be
            rewritten.
        rewrite_request: Returns the request that is sent to the model: the manual in its system text, no
            tools but the native ones, calls and results as text.
        constrain: Adds a grammar to a rewritten request. Raises `UnsupportedRequestError` if the API has no
            field for it, or if the request constrains the model in another way, too.
        adapt_request: Adapts a rewritten request to models without a system role, or with alternating turns.
        retry_request: Returns the rewritten request, followed by what the model wrote and our answer to it.
        read_answer: Returns a whole answer with native calls. None: the request is retried, and what remains
            of the answer is in `ResponseState.kept`.
        open_stream: Returns a reader of a streamed answer.
        stream_error: Returns the event that ends a stream with an error.
        refusal: Returns the body of an answer that is an error of wirecall.
        names_events: Whether events of a stream are named by their type.
        messages_key: Where a request has its messages.
        system_key: Where a request has its system text, if that is not one of the messages.
        tool_keys: Where a request has definitions of tools.
        held_keys: What a request says if the server holds the messages before those in the request.
        usage_key: What the usage is in, in some events of a stream.
        repeated_keys: What a whole answer repeats of its request, and whether an answer without it has null.
        key_header: Where clients send their API key: "authorization", or "x-api-key" without "Bearer".
        input_tokens_keys: The counts of a usage that add up to the tokens of the request; the first one is in
            every usage.
        output_tokens_key: The count of the answer's tokens in a usage.
    """

    name: ApiName
    routes: Mapping[str, bool]
    message_format: MessageFormat
    parse_request: Callable[[Mapping[str, Any]], ParsedRequest]
    rewrite_request: Callable[[Rewrite], Json]
    adapt_request: Callable[[Json, Options], Json]
    retry_request: Callable[[Mapping[str, Any], str, str], Json]
    read_answer: Callable[[Mapping[str, Any], ResponseState], Json | None]
    open_stream: Callable[[ResponseState], AnswerStream]
    stream_error: Callable[[Exception], Json]
    constrain: Callable[[Json, ParsedRequest, RequestGrammar], Json] = refuse_grammar
    refusal: Callable[[Exception], Json] = openai_refusal
    names_events: bool = True
    messages_key: str = "messages"
    system_key: str | None = None
    tool_keys: tuple[str, ...] = ("tools",)
    held_keys: tuple[str, ...] = ()
    usage_key: str | None = None
    repeated_keys: Mapping[str, bool] = field(default_factory=dict)
    key_header: Literal["authorization", "x-api-key"] = "authorization"
    input_tokens_keys: tuple[str, ...] = ("input_tokens",)
    output_tokens_key: str = "output_tokens"

    def outline(self, request: Mapping[str, Any]) -> Iterator[tuple[object, object]]:
        """The role and the content of everything that a request says to the model."""
        if self.system_key is not None and self.system_key in request:
            yield "system", request[self.system_key]
        said = request.get(self.messages_key, ())
        if not isinstance(said, (list, tuple)):
            yield "user", said
        for message in listed(said):
            if not isinstance(message, Mapping):
                yield "unknown", message
            elif "role" in message:
                yield message["role"], message.get("content")
            else:
                yield message.get("type"), message

    def user_part_types(self, request: Mapping[str, Any]) -> frozenset[str]:
        """The types of all parts in a request's user messages."""
        users = (one for one in listed(request.get(self.messages_key)) if mapping(one).get("role") == "user")
        parts = (part for user in users for part in listed(user.get("content")))
        return frozenset(str(part.get("type")) for part in parts if isinstance(part, Mapping))

    def usage(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """The usage in an answer, or in an event of a stream."""
        usage = answer.get("usage")
        if not usage and self.usage_key is not None and (inner := answer.get(self.usage_key)):
            usage = dict_of(inner).get("usage")
        return dict_of(usage) if usage else {}

    def input_tokens(self, answer: Mapping[str, Any]) -> int:
        """The number of tokens of the request, from its answer or an event; 0 if it is not reported."""
        usage = self.usage(answer)
        if not isinstance(usage.get(self.input_tokens_keys[0]), int):
            return 0
        counts = (usage.get(key) for key in self.input_tokens_keys)
        return sum(count for count in counts if isinstance(count, int) and count > 0)

    def output_tokens(self, answer: Mapping[str, Any]) -> int:
        """The number of tokens of the answer; 0 if it is not reported."""
        count = self.usage(answer).get(self.output_tokens_key)
        return count if isinstance(count, int) and count > 0 else 0

    def is_held_by_server(self, request: Mapping[str, Any]) -> bool:
        """Whether the messages of a request are only what is new."""
        return any(request.get(key) for key in self.held_keys)

    def with_messages(
        self, request: Mapping[str, Any], messages: Sequence[Message], note: str | None = None
    ) -> Mapping[str, Any]:
        """The request with other messages; the request itself if they are the same objects.

        Args:
            note: Added to the system text. It is left out if that would be one of the messages, and is not.
        """
        if note is not None and self.system_key is None:
            messages = self._noted(messages, note)
        given = request[self.messages_key]
        if are_same(messages, given):
            return request
        made = {**request, self.messages_key: list(messages)}
        if note is not None and self.system_key is not None:
            made[self.system_key] = _with_note(request.get(self.system_key), note)
        return made

    def _noted(self, messages: Sequence[Message], note: str) -> Sequence[Message]:
        for index, message in enumerate(messages):
            given = dict_of(message)
            if self.message_format.inspect(given).role == "system":
                noted = {**given, "content": _with_note(given.get("content"), note)}
                return [*messages[:index], noted, *messages[index + 1 :]]
        return messages


def _with_note(system: object, note: str) -> object:
    if isinstance(system, (list, tuple)):
        return [*system, text_part(note)]
    return f"{as_str(system)}\n\n{note}" if system else note
