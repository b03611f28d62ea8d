"""Streams with two calls, as an application reads them from a bare and from a wrapped client.

A test asks a server with a `Case`: what is streamed, and how. `Clients` gives the outcome of each kind of
client. `agrees` compares the outcome of a wrapped client with the text that arrived.
"""

import asyncio
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import count
from types import SimpleNamespace
from typing import Any, Literal

import anthropic
import httpx2
import openai
from playing import CLIENT
from server import Answer, Call, Delivery, EventFormat, Raw, Request, Server, iter_pieces, serve
from server.delivery import chunks
from wrapping import BAD
from wrapping_anthropic import ASKED
from wrapping_openai import CHAT, RESPONSES

import wirecall

ApiName = Literal["chat", "responses", "messages"]
# The options of a wrapped client that passes on a call while it is written.
STREAMED = (("stream_arguments", True),)
REQUESTS: dict[ApiName, dict[str, Any]] = {"chat": CHAT, "responses": RESPONSES, "messages": ASKED}
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
HEADERS = {"authorization": "Bearer x", "x-api-key": "x", "anthropic-version": "2023-06-01"}
APIS: tuple[ApiName, ...] = ("chat", "responses", "messages")
KINDS = ("sync", "async")

CALLS = [("go", {"to": "Graz 🎈"}), ("go", {"to": "Wien"})]
TEXT = 'Grüße du. <call>go to="Graz 🎈"</call> Und nun <call>go to=Wien</call> fertig.'
TEXTS = ("Grüße du. ", " Und nun ", " fertig.")
NATIVE = (TEXTS[0], Call(*CALLS[0]), TEXTS[1], Call(*CALLS[1]), TEXTS[2])


@dataclass
class Outcome:
    """What the application has seen when the stream ends.

    Attributes:
        text: The visible text.
        calls: Name and arguments of each call, as JSON text.
        closed: The places in `calls` of those that the API has ended.
        finish: Why the answer ended.
        reported: An event of the stream says that it failed.
        error: The exception that ended the stream.
    """

    text: str = ""
    calls: dict[Any, list[str]] = field(default_factory=dict)
    closed: set[Any] = field(default_factory=set)
    finish: str | None = None
    reported: bool = False
    error: Exception | None = None

    @property
    def failure(self) -> str | None:
        """The type of the exception."""
        return None if self.error is None else type(self.error).__name__

    @property
    def finished_calls(self) -> list[tuple[str, Any]]:
        """The calls that the application runs: those that were ended, or whose arguments are whole."""
        calls = [(key in self.closed, name, _load(text)) for key, (name, text) in self.calls.items()]
        return [(name, arguments) for closed, name, arguments in calls if closed or arguments is not None]

    def add(self, api: ApiName, event: Any) -> None:
        """Reads one event of the stream, which may be of any type."""
        {"chat": self._chat, "responses": self._responses, "messages": self._messages}[api](event)

    def _chat(self, chunk: Any) -> None:
        for choice in _get(chunk, "choices") or ():
            delta = choice.delta
            self.text += _get(delta, "content") or ""
            self.finish = _get(choice, "finish_reason") or self.finish
            for call in _get(delta, "tool_calls") or ():
                self._fragment(call.index, _get(call.function, "name"), _get(call.function, "arguments"))

    def _responses(self, event: Any) -> None:
        kind = _get(event, "type")
        if kind == "response.output_text.delta":
            self.text += event.delta
        elif kind == "response.output_item.added" and event.item.type == "function_call":
            self._fragment(event.output_index, event.item.name, event.item.arguments)
        elif kind == "response.function_call_arguments.delta":
            self._fragment(event.output_index, None, event.delta)
        elif kind == "response.output_item.done" and event.item.type == "function_call":
            assert self.calls[event.output_index] == [event.item.name, event.item.arguments]
            self.closed.add(event.output_index)
        elif kind in ("response.completed", "response.incomplete"):
            self.finish = event.response.status
            items = [item for item in event.response.output if item.type == "function_call"]
            assert [*self.calls.values()] == [[item.name, item.arguments] for item in items]
        elif kind in ("error", "response.failed"):
            self.reported = True

    def _messages(self, event: Any) -> None:
        kind = _get(event, "type")
        if kind == "content_block_start" and event.content_block.type == "tool_use":
            self._fragment(event.index, event.content_block.name, None)
        elif kind == "content_block_delta" and event.delta.type == "text_delta":
            self.text += event.delta.text
        elif kind == "content_block_delta" and event.delta.type == "input_json_delta":
            self._fragment(event.index, None, event.delta.partial_json)
        elif kind == "content_block_stop" and event.index in self.calls:
            self.closed.add(event.index)
        elif kind == "message_delta":
            self.finish = event.delta.stop_reason

    def _fragment(self, key: Any, name: str | None, arguments: str | None) -> None:
        call = self.calls.setdefault(key, ["", ""])
        call[0] += name or ""
        call[1] += arguments or ""


def _get(value: Any, name: str) -> Any:
    return getattr(value, name, None)


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


# The text that arrived --------------------------------------------------------------------------------------

# Until the tool's name ends, it is still open whether this is a call.
_CALL = re.compile("<call>go .*?(</call>|$)", re.DOTALL)
# What may be the beginning of a call, or the whitespace around one.
_HELD = re.compile(r"\s*(<(c(a(l(l(>(go?)?)?)?)?)?)?)?$")


def arrived(api: ApiName, body: bytes) -> Outcome:
    """What is in the events that are complete in the start of a body, up to one that is not JSON."""
    outcome = Outcome()
    for block in body.split(b"\n\n")[:-1]:
        data = b"\n".join(line[6:] for line in block.split(b"\n") if line.startswith(b"data: "))
        try:
            outcome.add(api, parsed(data))
        except ValueError:
            break
    return outcome


def parsed(data: bytes | str) -> Any:
    """The JSON of an event, with attributes as the SDKs' events have them."""
    return json.loads(data, object_hook=lambda value: SimpleNamespace(**value))


def visible(text: str) -> str:
    """The start of `TEXT`, without its calls."""
    return _CALL.sub("", text)


def whole_calls(text: str) -> list[tuple[str, Any]]:
    """The calls that are complete in the start of `TEXT`."""
    return CALLS[: text.count("</call>")]


def agrees(wrapped: Outcome, text: str, *, unfinished: bool) -> bool:
    """Whether a wrapped client has seen what it must when this text, the start of `TEXT`, arrived.

    No call that was cut runs, and each whole call does. No text is lost but what may belong to a call.

    Args:
        unfinished: Whether the application may see a part of a call.
    """
    most = visible(text)
    least = _HELD.sub("", most)
    calls = wrapped.finished_calls
    return (
        most.startswith(wrapped.text)
        and wrapped.text.startswith(least)
        and calls == whole_calls(text)
        and (unfinished or len(calls) == len(wrapped.calls))
    )


def agrees_later(wrapped: Outcome, text: str, *, unfinished: bool) -> bool:
    """Whether it has seen what it must when this text arrived, or this and more."""
    texts = (TEXT[:size] for size in range(len(text), len(TEXT) + 1))
    return any(agrees(wrapped, text, unfinished=unfinished) for text in texts)


# Cases ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One request and its answer.

    Attributes:
        native: With native calls; otherwise over text.
        retried: A wrapped client gets a bad call first. This is the answer to its retry.
        options: Those of `wrap`, for a wrapped client.
        timeout: Seconds for which the client waits for the next bytes.
    """

    api: ApiName
    kind: str
    delivery: Delivery
    native: bool = False
    retried: bool = False
    options: tuple[tuple[str, Any], ...] = ()
    timeout: float = 10

    @property
    def pieces(self) -> tuple[bytes, ...]:
        """The body as the server sends it before it is compressed and cut. It is always the same."""
        uncut = replace(self.delivery, cut_after=None, ending="closed", chunk=None, gzip=False)
        return _pieces(self.api, self.native, uncut)

    @property
    def size(self) -> int:
        """How many bytes are sent if nothing goes wrong."""
        return sum(map(len, chunks(self.pieces, replace(self.delivery, cut_after=None))))

    @property
    def chunks(self) -> list[bytes]:
        """What is sent before the connection ends."""
        return [*chunks(self.pieces, self.delivery)]

    @property
    def sent(self) -> bytes:
        """All of it, decompressed."""
        body = b"".join(self.chunks)
        return zlib.decompressobj(wbits=31).decompress(body) if self.delivery.gzip else body


@cache
def _pieces(api: ApiName, native: bool, delivery: Delivery) -> tuple[bytes, ...]:
    return tuple(iter_pieces(api, REQUESTS[api], Answer(NATIVE if native else TEXT, delivery=delivery)))


@cache
def bad_call(api: ApiName) -> tuple[bytes, ...]:
    return tuple(iter_pieces(api, REQUESTS[api], Answer(BAD)))


class Clients:
    """A server, and clients that ask it, for any number of cases. `streaming_clients` makes them."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._http = self._stack.enter_context(httpx2.Client())
        self.server: Server = self._stack.enter_context(serve(self._reply))
        self._numbers = count()
        self._cases: dict[str, Case] = {}
        self._waiting: set[str] = set()
        self._clients: dict[tuple[type, bool], Any] = {}
        self._loop = asyncio.new_event_loop()

    def close(self) -> None:
        for (kind, is_wrapped), client in self._clients.items():
            if not is_wrapped and "Async" in kind.__name__:
                self._loop.run_until_complete(client.close())
            elif not is_wrapped:
                client.close()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()
        self._stack.close()

    def bare(self, case: Case) -> Outcome:
        return self._ask(case, is_wrapped=False)

    def wrapped(self, case: Case) -> Outcome:
        return self._ask(case, is_wrapped=True)

    def at_once(self, cases: Sequence[Case]) -> list[tuple[Outcome, Outcome]]:
        """The outcomes of bare and wrapped clients, for cases that wait most of the time."""

        async def one(case: Case, is_wrapped: bool) -> Outcome:
            if case.kind == "async":
                return await self._ask_async(case, is_wrapped)
            return await asyncio.to_thread(self._ask_sync, case, is_wrapped)

        async def all() -> list[tuple[Outcome, Outcome]]:
            asked = [asyncio.gather(one(case, False), one(case, True)) for case in cases]
            return [(bare, wrapped) for bare, wrapped in await asyncio.gather(*asked)]

        for case in cases:
            self._client(case, True)
        return self._loop.run_until_complete(all())

    def rewritten(self, case: Case) -> list[bytes]:
        """The chunks that a wrapped HTTP client gets."""
        url, headers = f"{self.server.url}{PATHS[case.api]}", {**HEADERS, "x-case": str(next(self._numbers))}
        self._cases[headers["x-case"]] = case
        client = wirecall.wrap(self._http, keep_alive=0)
        request = {**REQUESTS[case.api], "stream": True}
        with client.stream("POST", url, headers=headers, json=request) as response:
            return [*response.iter_raw()]

    def _reply(self, request: Request) -> Raw:
        # A long law must not keep all requests.
        self.server.requests.clear()
        number = request.headers["x-case"]
        case = self._cases[number]
        if number in self._waiting:
            self._waiting.remove(number)
            return Raw(b"".join(bad_call(case.api)), content_type="text/event-stream")
        return Raw(case.pieces, content_type="text/event-stream", delivery=case.delivery)

    def _ask(self, case: Case, *, is_wrapped: bool) -> Outcome:
        if case.kind == "async":
            return self._loop.run_until_complete(self._ask_async(case, is_wrapped))
        return self._ask_sync(case, is_wrapped)

    def _ask_sync(self, case: Case, is_wrapped: bool) -> Outcome:
        with self._asking(case, is_wrapped) as (outcome, ask), ask() as stream:
            for event in stream:
                outcome.add(case.api, event)
        return outcome

    async def _ask_async(self, case: Case, is_wrapped: bool) -> Outcome:
        with self._asking(case, is_wrapped) as (outcome, ask):
            async with await ask() as stream:
                async for event in stream:
                    outcome.add(case.api, event)
        return outcome

    @contextmanager
    def _asking(self, case: Case, is_wrapped: bool) -> Iterator[tuple[Outcome, Callable[[], Any]]]:
        """The outcome, which gets the exception of the block, and what asks for a stream."""
        outcome, number = Outcome(), str(next(self._numbers))
        client = self._client(case, is_wrapped)
        ask = (client.chat.completions if case.api == "chat" else getattr(client, case.api)).create
        given: dict[str, Any] = {"stream": True, "extra_headers": {"x-case": number}}
        given["timeout"] = httpx2.Timeout(10, read=case.timeout)
        if is_wrapped and case.options:
            given["extra_body"] = {"wirecall": dict(case.options)}
        self._cases[number] = case
        if is_wrapped and case.retried:
            self._waiting.add(number)
        try:
            yield outcome, partial(ask, **REQUESTS[case.api], **given)
        except AssertionError:
            raise
        except Exception as error:
            # The traceback would keep the stream open.
            outcome.error = error.with_traceback(None)
            outcome.error.__context__ = outcome.error.__cause__ = None
        finally:
            del self._cases[number]

    def _client(self, case: Case, is_wrapped: bool) -> Any:
        module: Any = anthropic if case.api == "messages" else openai
        name = "Anthropic" if case.api == "messages" else "OpenAI"
        kind = getattr(module, f"Async{name}" if case.kind == "async" else name)
        if (kind, is_wrapped) not in self._clients:
            if is_wrapped:
                bare = self._client(case, False)
                self._clients[kind, True] = wirecall.wrap(bare, keep_alive=0)
            else:
                url = self.server.url if case.api == "messages" else self.server.openai_url
                self._clients[kind, False] = kind(**CLIENT, base_url=url)
        return self._clients[kind, is_wrapped]


@contextmanager
def streaming_clients() -> Iterator[Clients]:
    clients = Clients()
    try:
        yield clients
    finally:
        clients.close()


@contextmanager
def explained(case: Case, **outcomes: Outcome) -> Iterator[None]:
    """Adds the case and the outcomes to the message of an assertion."""
    try:
        yield
    except AssertionError as error:
        differs = [f"{name}={value!r}" for name, value in _differs(case)]
        lines = [f"{name}: {outcome}" for name, outcome in outcomes.items()]
        raise AssertionError("\n  ".join([f"{error}", ", ".join(differs), *lines])) from None


def _differs(case: Case) -> Iterator[tuple[str, Any]]:
    """What is not as by default."""
    for value, default in ((case, None), (case.delivery, Delivery()), (case.delivery.format, EventFormat())):
        for name, given in vars(value).items():
            if name not in ("delivery", "format") and (default is None or given != getattr(default, name)):
                yield name, given
