"""An application with a plain HTTP client, wrapped, and a provider that plays a script: for the three APIs,
sync and async, whole and streamed."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
from server import Answer, Failure, chat, messages, responses
from server.answers import EventFormat, compact
from server.delivery import encode

import wirecall

Json = dict[str, Any]
DIALECTS: dict[str, Any] = {"chat": chat, "responses": responses, "messages": messages}
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
SCHEMA = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["to"],
}
CALL = '<call>go to="Graz"</call>'
BAD = "<call>go [object Object]</call>"


@dataclass(frozen=True)
class Broken:
    """An answer whose connection breaks after so many of its events."""

    answer: Answer
    events: int


@dataclass(frozen=True)
class Host:
    """A way to ask."""

    api: str
    asynchronous: bool
    stream: bool

    def __str__(self) -> str:
        return f"{self.api}-{'async' if self.asynchronous else 'sync'}-{'stream' if self.stream else 'whole'}"

    def body(self, text: str = "Where to?", **more: Any) -> Json:
        """A request of this API, with the tool `go`."""
        function = {"name": "go", "description": "Go there.", "parameters": SCHEMA}
        said = [{"role": "user", "content": text}]
        body: Json = {"model": "m", "stream": self.stream}
        if self.api == "chat":
            body |= {"messages": said, "tools": [{"type": "function", "function": function}]}
            if self.stream:
                body["stream_options"] = {"include_usage": True}
        elif self.api == "responses":
            body |= {"input": said, "tools": [{"type": "function", **function}]}
        else:
            tool = {"name": "go", "description": "Go there.", "input_schema": SCHEMA}
            body |= {"messages": said, "tools": [tool], "max_tokens": 99}
        return {**body, **more}

    def past(self, arguments: Json, result: str) -> list[Json]:
        """A call and its result, as the history of this API has them."""
        if self.api == "messages":
            use = {"type": "tool_use", "id": "toolu_1", "name": "go", "input": arguments}
            answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": result}
            return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [answer]}]
        text = json.dumps(arguments)
        if self.api == "chat":
            call = {"id": "call_1", "type": "function", "function": {"name": "go", "arguments": text}}
            return [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "call_1", "content": result},
            ]
        return [
            {"type": "function_call", "call_id": "call_1", "name": "go", "arguments": text},
            {"type": "function_call_output", "call_id": "call_1", "output": result},
        ]

    def ask(
        self,
        script: Sequence[Answer | Failure | Broken],
        body: Json | None = None,
        *,
        url: str = "https://api.example.com",
        query: str = "",
        headers: Json | None = None,
        reads: int | None = None,
        sent: list[httpx2.Request] | None = None,
        pieces: list[bytes] | None = None,
        **options: Any,
    ) -> bytes:
        """What the application reads.

        Args:
            reads: So many pieces of the stream are read before it is closed; None for all.
            sent: Gets the requests that the provider is sent.
            pieces: Gets what is read, also if the stream breaks.
        """
        pieces = [] if pieces is None else pieces
        provider = _Provider(self, script, [] if sent is None else sent)
        given = {
            "url": f"{url}{PATHS[self.api]}{query}",
            "json": self.body() if body is None else body,
            "headers": headers,
        }
        if self.asynchronous:
            return asyncio.run(_aread(provider, given, options, reads, pieces))
        with (
            wirecall.wrap(httpx2.Client(transport=httpx2.MockTransport(provider)), **options) as client,
            client.stream("POST", **given) as response,
        ):
            for piece in response.iter_bytes():
                pieces.append(piece)
                if len(pieces) == reads:
                    break
            return b"".join(pieces)


HOSTS = [
    Host(api, asynchronous, stream)
    for api in PATHS
    for asynchronous in (False, True)
    for stream in (False, True)
]
STREAMS = [host for host in HOSTS if host.stream]


async def _aread(provider: Any, given: Json, options: Json, reads: int | None, pieces: list[bytes]) -> bytes:
    client = wirecall.wrap(httpx2.AsyncClient(transport=httpx2.MockTransport(provider)), **options)
    async with client, client.stream("POST", **given) as response:
        async for piece in response.aiter_bytes():
            pieces.append(piece)
            if len(pieces) == reads:
                break
        return b"".join(pieces)


class _Provider:
    def __init__(self, host: Host, script: Sequence[Answer | Failure | Broken], sent: list[Any]) -> None:
        self._host = host
        self._script = iter(script)
        self._sent = sent

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self._sent.append(request)
        reply = next(self._script)
        dialect = DIALECTS[self._host.api]
        if isinstance(reply, Failure):
            error = (messages if dialect is messages else chat).error(reply)
            return httpx2.Response(reply.status, json=error)
        answer = reply.answer if isinstance(reply, Broken) else reply
        if not self._host.stream:
            return httpx2.Response(200, json=json.loads(compact(dialect.whole(body, answer))))
        events = [encode(event, EventFormat()) for event in dialect.events(body, answer)]
        pieces = _pieces(events, reply.events if isinstance(reply, Broken) else None)
        headers = {"content-type": "text/event-stream"}
        content: Any = _later(pieces) if self._host.asynchronous else pieces
        return httpx2.Response(200, headers=headers, content=content)


def _pieces(events: list[bytes], breaks_after: int | None) -> Iterator[bytes]:
    for number, event in enumerate(events):
        if number == breaks_after:
            raise httpx2.ReadError("The connection broke.")
        yield event


async def _later(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


Ask = Callable[..., bytes]
