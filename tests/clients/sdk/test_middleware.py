"""`wrap(client, middleware=[…])` around the SDKs: who gets the request, who hears the usage, what passes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import handwritten
import httpx2
import pytest
from application import PLAN, native, planned, texts
from server import Answer, Delivery, Failure, Raw, serve
from wrapping import NATIVE, OVER_TEXT, USER, Play, Sdk, got, inside, run
from wrapping import items as streamed
from wrapping_anthropic import ANTHROPIC
from wrapping_openai import OPENAI

import wirecall

Request = Mapping[str, Any]
APIS = {"chat": OPENAI, "responses": OPENAI, "messages": ANTHROPIC}
CLIENTS = [(sdk, kind) for sdk in (OPENAI, ANTHROPIC) for kind in sdk.kinds]

kinds = pytest.mark.parametrize(("sdk", "kind"), CLIENTS, ids=[kind.__name__ for _, kind in CLIENTS])


class Noting:
    """Notes all that it is given; changes requests."""

    def __init__(self, change: Callable[[Any], Any] = lambda request: request) -> None:
        self.change = change
        self.asked: list[tuple[Any, ...]] = []
        self.heard: list[tuple[Any, ...]] = []

    def on_request(self, request: Request, *, api: str, session: str | None = None) -> Request:
        self.asked.append(("sync", api, session))
        return self.change(request)

    async def aon_request(self, request: Request, *, api: str, session: str | None = None) -> Request:
        await asyncio.sleep(0)
        self.asked.append(("async", api, session))
        return self.change(request)

    def on_usage(self, body: Request, *, api: str, session: str | None = None) -> None:
        for held in (body, body.get("response"), body.get("message")):
            if isinstance(held, Mapping) and held.get("usage"):
                self.heard.append((held["usage"], api, session))


def fed(heard: list[tuple[Any, ...]], session: str | None = None) -> int:
    """How often the tokens of a request were told."""
    for usage, _, told in heard:
        assert told == session
        assert usage.get("prompt_tokens", usage.get("input_tokens", 11)) == 11
    return sum("prompt_tokens" in usage or "input_tokens" in usage for usage, _, _ in heard)


@pytest.mark.parametrize("over", ["text", "native"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("api", APIS)
def test_each_request_is_theirs_and_each_usage(api: str, asynchronous: bool, stream: bool, over: str) -> None:
    """Also where nothing is rewritten."""
    noting = Noting()
    more: dict[str, Any] = {"extra_body": {"wirecall": {"session": "s"}}}
    if api == "chat" and stream:
        more["stream_options"] = {"include_usage": True}
    script = texts() if over == "text" else native()
    with serve(script) as server:
        used = wirecall.wrap(
            APIS[api].bare(APIS[api].kinds[asynchronous], server),
            middleware=[noting],
            native_when=lambda request: over == "native",
        )
        if asynchronous:

            async def looped() -> Any:
                async with used:
                    return await handwritten.loop_async(used, api, stream=stream, **more)

            seen = asyncio.run(looped())
        else:
            with used:
                seen = handwritten.loop(used, api, stream=stream, **more)
        assert [request.refused for request in server.requests] == [None] * len(script)
        assert all("wirecall" not in request.json for request in server.requests)
    assert [turn[:2] for turn in seen.turns] == planned()
    assert noting.asked == [("async" if asynchronous else "sync", api, "s")] * len(PLAN)
    assert fed(noting.heard, "s") == len(PLAN)


@kinds
def test_a_request_that_nobody_changes_is_sent_as_it_was(play: Play, sdk: Sdk, kind: Any) -> None:
    server = play([NATIVE, NATIVE, OVER_TEXT])
    given = run(lambda: sdk.bare(kind, server), sdk.create)
    untouched = {"middleware": [Noting()], "native_when": lambda request: True}
    assert run(sdk.made(kind, server, untouched), sdk.create) == given
    assert server.requests[0].body == server.requests[1].body

    def shorter(request: Any) -> Any:
        return {**request, "max_tokens": 7}

    assert run(sdk.made(kind, server, {"middleware": [Noting(shorter)]}), sdk.create) == given
    assert server.last.json["max_tokens"] == 7
    assert "tools" not in server.last.json


USAGE = b'{"usage":  {"prompt_tokens": 11},\t"x": "\\u00fc"}'
KINDS = [httpx2.Client, httpx2.AsyncClient]


@pytest.mark.parametrize("chunk", [3, None])
@pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", USAGE),
        ("text/event-stream", b": hi\r\n\r\ndata: " + USAGE + b"\n\ndata: [DONE]\n\ndata: half"),
    ],
    ids=["whole", "events"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_passes_byte_for_byte(
    play: Play, kind: Any, content_type: str, body: bytes, gzip: bool, chunk: int | None
) -> None:
    noting = Noting()
    delivery = Delivery(gzip=gzip, chunk=chunk)
    server = play(lambda _: Raw(body, content_type=content_type, headers={"x-own": "1"}, delivery=delivery))
    asked = {
        "url": f"{server.openai_url}/chat/completions",
        "headers": {"authorization": "Bearer x"},
        "json": {"model": "m", "messages": USER},
    }

    async def ask(client: Any) -> None:
        whole = await got(client.post(**asked))
        async with inside(client.stream("POST", **asked)) as response:
            read = [piece async for piece in pieces(response)]
        for given in (whole, response):
            assert (given.status_code, given.headers["x-own"]) == (200, "1")
        assert whole.content == b"".join(read) == body
        if content_type == "application/json":
            assert whole.headers.get("content-encoding") == ("gzip" if gzip else None)

    run(lambda: wirecall.wrap(kind(), middleware=[noting]), ask)
    assert fed(noting.heard) == 2


async def pieces(response: Any) -> AsyncIterator[bytes]:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        async for piece in response.aiter_bytes():
            yield piece
    else:
        for piece in response.iter_bytes():
            yield piece


@kinds
@pytest.mark.parametrize("over", ["text", "native"])
def test_what_streams_does_not_wait(play: Play, sdk: Sdk, kind: Any, over: str) -> None:
    """A server that falls silent in the middle of its answer: what it said is there, and nothing hangs."""
    server = play([Answer("Some words and more " * 40, delivery=Delivery(cut_after=2500, ending="stalled"))])

    async def ask(client: Any) -> int:
        count = 0
        with contextlib.suppress(*sdk.timeout):
            async for _ in streamed(await sdk.events(client)):
                count += 1
        return count

    options = {"middleware": [Noting()], "native_when": lambda request: over == "native"}
    assert run(sdk.made(kind, server, options, timeout=0.5), ask) > 5


@kinds
def test_what_it_raises_is_the_callers_and_not_retried(play: Play, sdk: Sdk, kind: Any) -> None:
    def fail(request: Any) -> Any:
        raise KeyError("no store")

    server = play([])
    for change, error in ((fail, KeyError), (lambda request: None, TypeError)):
        with pytest.raises(error) as caught:
            run(sdk.made(kind, server, {"middleware": [Noting(change)]}, max_retries=2), sdk.create)
        assert isinstance(caught.value, sdk.error)
    assert server.requests == []


@kinds
def test_it_may_ask_a_model_of_the_same_sdk(play: Play, sdk: Sdk, kind: Any) -> None:
    """As a summariser does; what that fails with is the SDK's own exception, and is not asked again."""
    server = play([Failure(429, "Too many.")])
    noting = Noting()
    original = sdk.bare(kind, server)

    async def asks(request: Any, **_: Any) -> Any:
        return await sdk.create(original)

    noting.aon_request = asks  # type: ignore[method-assign]
    noting.change = lambda request: sdk.create(original).send(None)
    with pytest.raises(sdk.module.RateLimitError, match="Too many"):
        run(lambda: wirecall.wrap(original, middleware=[noting]), sdk.create)
    assert len(server.requests) == 1


@kinds
def test_token_counts_are_not_theirs(play: Play, sdk: Sdk, kind: Any) -> None:
    if not hasattr(kind, "messages"):
        pytest.skip("openai counts tokens elsewhere")
    server = play([])
    noting = Noting()

    async def ask(client: Any) -> Any:
        return await got(client.messages.count_tokens(model="m", messages=USER))

    assert run(sdk.made(kind, server, {"middleware": [noting]}), ask).input_tokens > 0
    assert (noting.asked, noting.heard) == ([], [])
