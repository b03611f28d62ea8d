"""HTTP traffic: the requests as sent, the answers as received, and when.

Hooks of the HTTP client see all requests, including those that `wrap` makes for retries. Headers and URLs are
not recorded, so no keys are.
"""

import hashlib
import json
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import httpx2

from wirecall._clients import sse
from wirecall_bench.budget import Budget, Reservation, Usage

Api = Literal["openai", "anthropic"]


# More calls than any answer has. A larger index would create that many calls.
_MOST_CALLS = 1000


class NotSentError(Exception):
    """Stops a request that is only prepared, not sent."""


class MalformedAnswerError(Exception):
    """The server sent something that is not an event of the API."""


@dataclass
class ReceivedCall:
    """A call as the application receives it. `arguments` should be JSON text."""

    id: str
    name: str
    arguments: str = ""


# Answers of both APIs ---------------------------------------------------------------------------------------


@dataclass
class ReceivedAnswer:
    """An answer, built event by event, with times of `time.perf_counter`.

    Attributes:
        first: When the first piece of text, reasoning or a call arrived.
        first_call: When the arguments of the first call were complete.
        ended: Whether the answer is complete.
    """

    text: str = ""
    reasoning: str = ""
    calls: list[ReceivedCall] = field(default_factory=list)
    finish: str | None = None
    usage: Usage | None = None
    first: float | None = None
    first_call: float | None = None
    ended: bool = False

    def take(self, now: float, event: dict[str, Any]) -> None:
        """Process one event.

        Raises:
            MalformedAnswerError: It is not an event of this API; the answer is then incomplete.
        """
        try:
            self._take(now, event)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            self.ended = False
            raise MalformedAnswerError(
                f"the answer contains an event that this API does not have: {type(error).__name__}: {error}"
            ) from error

    def _take(self, now: float, event: dict[str, Any]) -> None:
        raise NotImplementedError

    def _says(self, now: float, text: str = "", reasoning: str = "") -> None:
        self.text += text
        self.reasoning += reasoning
        if self.first is None and (text or reasoning):
            self.first = now

    def _calls(self, now: float, call: ReceivedCall, piece: str) -> None:
        call.arguments += piece
        self.first = now if self.first is None else self.first
        if self.first_call is None and call is self.calls[0] and piece.rstrip().endswith("}"):
            try:
                json.loads(call.arguments)
            except ValueError:
                return
            self.first_call = now

    def _finishes(self, now: float, reason: str) -> None:
        self.finish = _word(reason)
        if self.calls and self.first_call is None:
            self.first_call = now


class ChatAnswer(ReceivedAnswer):
    """An answer of chat completions."""

    def _take(self, now: float, event: dict[str, Any]) -> None:
        if usage := event.get("usage"):
            details = usage.get("prompt_tokens_details") or {}
            self.usage = Usage(
                _tokens(usage.get("prompt_tokens")),
                _tokens(usage.get("completion_tokens")),
                _tokens(details.get("cached_tokens")),
            )
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or {}
            reasoning = delta.get("reasoning_content") or delta.get("reasoning") or ""
            self._says(now, (delta.get("content") or "") + (delta.get("refusal") or ""), reasoning)
            for part in delta.get("tool_calls") or ():
                function = part.get("function") or {}
                self._calls(now, self._call(part, function), function.get("arguments") or "")
            if reason := choice.get("finish_reason"):
                self._finishes(now, reason)
                self.ended = True

    def _call(self, part: dict[str, Any], function: dict[str, Any]) -> ReceivedCall:
        index: int = part.get("index", 0)
        if not 0 <= index < _MOST_CALLS:
            raise ValueError(f"a call has the index {index}")
        while index >= len(self.calls):
            self.calls.append(ReceivedCall("", ""))
        call = self.calls[index]
        call.id = call.id or _word(part.get("id"))
        call.name = call.name or _word(function.get("name"))
        return call


class MessagesAnswer(ReceivedAnswer):
    """An answer of Anthropic's Messages API."""

    def _take(self, now: float, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "message_start":
            self._uses(event["message"].get("usage") or {})
        elif kind == "content_block_start":
            block = event["content_block"]
            if block.get("type") == "tool_use":
                self.calls.append(ReceivedCall(_word(block["id"]), _word(block["name"])))
                self._calls(now, self.calls[-1], "")
            self._says(now, block.get("text") or "", block.get("thinking") or "")
        elif kind == "content_block_delta":
            delta = event["delta"]
            self._says(now, delta.get("text") or "", delta.get("thinking") or "")
            if (piece := delta.get("partial_json")) is not None:
                self._calls(now, self.calls[-1], piece)
        elif kind == "message_delta":
            self._uses(event.get("usage") or {})
            if reason := event["delta"].get("stop_reason"):
                self._finishes(now, reason)
        elif kind == "message_stop":
            self.ended = True

    def _uses(self, usage: dict[str, Any]) -> None:
        """Counts are those of the whole answer so far. The input count does not include tokens read from or
        written to the cache.
        """
        before = self.usage or Usage()
        cached = usage.get("cache_read_input_tokens")
        fresh = usage.get("input_tokens")
        read = before.input
        if fresh is not None:
            read = sum(map(_tokens, (fresh, cached, usage.get("cache_creation_input_tokens"))))
        written = usage.get("output_tokens")
        self.usage = Usage(
            read,
            before.output if written is None else _tokens(written),
            before.cached if cached is None else _tokens(cached),
        )


def _tokens(count: object) -> int:
    if count is None:
        return 0
    if not isinstance(count, int) or count < 0:
        raise ValueError(f"{count!r} is not a number of tokens")
    return count


def _word(word: object) -> str:
    if word is not None and not isinstance(word, str):
        raise TypeError(f"{word!r} is not a string")
    return word or ""


_SAID: dict[Api, type[ReceivedAnswer]] = {"openai": ChatAnswer, "anthropic": MessagesAnswer}


def reader(api: Api) -> ReceivedAnswer:
    """Processes the events of an answer of this API."""
    return _SAID[api]()


# What is recorded -------------------------------------------------------------------------------------------


@dataclass
class HttpExchange:
    """One HTTP request and its answer.

    Attributes:
        path: The path of the URL.
        body: The request's body.
        sha256: The SHA-256 of the body.
        sent: When the request was sent, by `time.perf_counter`.
        status: None if there was no answer.
        chunks: The bytes of the answer, with their arrival times.
    """

    path: str
    body: str
    sha256: str
    sent: float
    status: int | None = None
    chunks: list[tuple[float, bytes]] = field(default_factory=list)
    encoding: str = ""
    _said: ReceivedAnswer | None = None

    def said(self, api: Api) -> ReceivedAnswer:
        """The model's own answer, before anything was parsed in it. Only valid after the answer has ended."""
        if self._said is None:
            self._said = reader(api)
            parser, now = sse.Parser(), self.sent
            with suppress(MalformedAnswerError):
                for now, data in self._decoded():
                    _take(self._said, now, parser.feed(data))
                _take(self._said, now, parser.finish())
        return self._said

    def usage(self, api: Api) -> Usage:
        """The usage; nothing if the provider refused the request.

        The usage of an answer that broke off is unknown. So is a reported usage without input tokens, as no
        request is empty.
        """
        if self.status is None or not 200 <= self.status < 300:
            return Usage()
        said = self.said(api)
        if said.usage is None or not said.usage.input or not said.ended:
            return replace(said.usage or Usage(), unknown=1)
        return said.usage

    def _decoded(self) -> list[tuple[float, bytes]]:
        if self.encoding in ("", "identity"):
            return self.chunks
        # Only these encodings are decoded; none was requested.
        packed = zlib.decompressobj(zlib.MAX_WBITS | 32)
        try:
            return [(now, packed.decompress(data)) for now, data in self.chunks]
        except zlib.error:
            return []


def _take(said: ReceivedAnswer, now: float, events: list[sse.Event]) -> None:
    for event in events:
        if event.data is not None and (value := sse.load(event.data)) is not None:
            said.take(now, value)


class Kept(NamedTuple):
    """What is recorded of one ask."""

    exchanges: list[HttpExchange]
    reservations: dict[int, Reservation]
    only_prepare: bool


class HttpRecorder:
    """Hooks for the HTTP client of one endpoint. A thread's requests belong to what the thread asks.

    Args:
        api: The API of the answers.
        model: The model, for the budget.
        output: Maximum tokens of one answer.
        budget: Checked before anything is sent.
    """

    def __init__(self, api: Api, model: str, output: int, budget: Budget) -> None:
        self._api = api
        self._model = model
        self._output = output
        self._budget = budget
        self._local = threading.local()
        self.hooks = {"request": [self._sends], "response": [self._receives]}

    @contextmanager
    def recording(self, *, only_prepare: bool = False) -> Iterator[list[HttpExchange]]:
        """Records the exchanges of this thread. `only_prepare` raises `NotSentError` instead of sending."""
        kept = self._local.kept = Kept([], {}, only_prepare)
        try:
            yield kept.exchanges
        finally:
            for exchange in kept.exchanges:
                self._settle(kept, exchange)
            self._local.kept = None

    def _sends(self, request: httpx2.Request) -> None:
        kept: Kept = self._local.kept
        body = request.read()
        exchange = HttpExchange(
            request.url.path, body.decode(), hashlib.sha256(body).hexdigest(), time.perf_counter()
        )
        if kept.only_prepare:
            kept.exchanges.append(exchange)
            raise NotSentError
        reservation = self._budget.reserve(self._model, len(body), self._output)
        exchange.sent = time.perf_counter()
        kept.reservations[id(exchange)] = reservation
        kept.exchanges.append(exchange)

    def _receives(self, response: httpx2.Response) -> None:
        kept: Kept = self._local.kept
        exchange = kept.exchanges[-1]
        exchange.status = response.status_code
        exchange.encoding = response.headers.get("content-encoding", "").lower()
        stream = response.stream
        assert isinstance(stream, httpx2.SyncByteStream)
        response.stream = _Tee(stream, exchange, lambda: self._settle(kept, exchange))

    def _settle(self, kept: Kept, exchange: HttpExchange) -> None:
        """Once for each: when the answer was read, or was given up."""
        reservation = kept.reservations.pop(id(exchange), None)
        if reservation is not None:
            usage = exchange.usage(self._api)
            self._budget.settle(reservation, None if usage.unknown else usage)


class _Tee(httpx2.SyncByteStream):
    """Records the bytes of an answer on their way to the SDK."""

    def __init__(self, stream: httpx2.SyncByteStream, exchange: HttpExchange, closed: Any) -> None:
        self._stream = stream
        self._exchange = exchange
        self._closed = closed

    def __iter__(self) -> Iterator[bytes]:
        for data in self._stream:
            self._exchange.chunks.append((time.perf_counter(), data))
            yield data

    def close(self) -> None:
        self._stream.close()
        self._closed()
