"""What goes wrong on the way looks to the SDKs as it does with a real provider."""

import json
import re
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import anthropic
import httpx2
import openai
import pytest
import variants
from sampling import sample
from server import Answer, Delivery, Ending, Failure, Raw, Server, iter_pieces
from streaming import APIS, ApiName

Play = Callable[..., Server]
USER = [{"role": "user", "content": "hi"}]
TEXT = "Grüße an alle, die dies lesen. " * 4

OPENAI_LOST = (openai.APIConnectionError, httpx2.TransportError)
ANTHROPIC_LOST = (anthropic.APIConnectionError, httpx2.TransportError)


def chat(server: Server, **options: Any) -> str:
    with openai.OpenAI(base_url=server.openai_url, api_key="x", **{"max_retries": 0, **options}) as client:
        stream = client.chat.completions.create(model="m", messages=USER, stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in stream)


def responses(server: Server, **options: Any) -> str:
    with openai.OpenAI(base_url=server.openai_url, api_key="x", **{"max_retries": 0, **options}) as client:
        stream = client.responses.create(model="m", input="hi", stream=True)
        return "".join(event.delta for event in stream if event.type == "response.output_text.delta")


def messages(server: Server, **options: Any) -> str:
    with (
        anthropic.Anthropic(base_url=server.url, api_key="x", **{"max_retries": 0, **options}) as client,
        client.messages.stream(model="m", max_tokens=9, messages=USER) as stream,
    ):
        return "".join(stream.text_stream)


streams = pytest.mark.parametrize("ask", [chat, responses, messages])
Ask = Callable[..., str]


@streams
@pytest.mark.parametrize("after", [0, 1, 400, 1200])
def test_dropped_connections(play: Play, ask: Ask, after: int) -> None:
    server = play([Answer(TEXT, delivery=Delivery(cut_after=after))])
    with pytest.raises(OPENAI_LOST + ANTHROPIC_LOST):
        ask(server)
    server.settle()
    assert (server.last.ended, server.last.sent) == ("dropped", after)


@streams
def test_a_stall_is_a_timeout(play: Play, ask: Ask) -> None:
    server = play([Answer(TEXT, delivery=Delivery(cut_after=700, ending="stalled"))])
    start = time.monotonic()
    with pytest.raises((openai.APITimeoutError, anthropic.APITimeoutError, httpx2.TimeoutException)):
        ask(server, timeout=0.3)
    assert time.monotonic() - start < 5
    server.settle()
    assert (server.last.ended, server.last.sent) == ("client gone", 700)


@streams
def test_a_body_may_end_inside_a_character(play: Play, ask: Ask) -> None:
    server = play([Answer(TEXT, delivery=Delivery(half_utf8=True))])
    with pytest.raises(UnicodeDecodeError):
        ask(server)
    server.settle()
    assert server.last.ended == "whole"


@streams
def test_events_may_be_malformed(play: Play, ask: Ask) -> None:
    garbage = b'event: content_block_delta\ndata: {"oh\n\n'
    server = play([Answer(TEXT, delivery=Delivery(garbage=garbage))])
    with pytest.raises(ValueError, match="Unterminated string"):
        ask(server)


@pytest.mark.parametrize(
    ("ask", "error"), [(chat, openai.APIError), (responses, None), (messages, anthropic.APIStatusError)]
)
def test_errors_inside_a_stream(play: Play, ask: Ask, error: type[Exception] | None) -> None:
    server = play([Answer(TEXT, error=Failure(529, "Overloaded"))])
    if error is None:  # the SDK hands the event over
        assert ask(server) == TEXT
    else:
        with pytest.raises(error, match="Overloaded"):
            ask(server)


@streams
@pytest.mark.parametrize(
    ("status", "name"), [(401, "AuthenticationError"), (429, "RateLimitError"), (500, "InternalServerError")]
)
def test_statuses(play: Play, ask: Ask, status: int, name: str) -> None:
    server = play([Failure(status, "not now", headers={"x-why": "because"})])
    sdk: Any = anthropic if ask is messages else openai
    with pytest.raises(getattr(sdk, name), match="not now") as caught:
        ask(server)
    assert caught.value.response.headers["x-why"] == "because"
    assert caught.value.request_id


def test_a_client_that_leaves_is_noticed(play: Play) -> None:
    server = play([Answer(TEXT * 100, delivery=Delivery(characters=1, delay=0.01))])
    with (
        openai.OpenAI(base_url=server.openai_url, api_key="x") as client,
        client.chat.completions.create(model="m", messages=USER, stream=True) as stream,
    ):
        next(iter(stream))
        assert server.open == 1
    server.settle()
    assert server.last.ended == "client gone"


def test_a_whole_answer_may_be_cut_off(play: Play) -> None:
    server = play([Answer(TEXT, delivery=Delivery(cut_after=40))])
    with (
        openai.OpenAI(base_url=server.openai_url, api_key="x", max_retries=0) as client,
        pytest.raises(OPENAI_LOST),
    ):
        client.responses.create(model="m", input="hi")


def test_any_bytes_can_be_the_reply(play: Play) -> None:
    server = play([Raw(b"<html>Bad gateway</html>", 502, "text/html")])
    with pytest.raises(openai.InternalServerError) as caught:
        chat(server)
    assert caught.value.status_code == 502


def test_a_script_that_is_over_is_an_error_of_the_test(play: Play) -> None:
    server = play([])
    with pytest.raises(openai.InternalServerError, match="the script has 0 answers"):
        chat(server, max_retries=2)
    assert [type(error) for error in server.errors] == [IndexError]


# Cuts and chunks ----------------------------------------------------------------------------------------

BODY = b"data: 0123456789\n\n" * 2
# What httpx2 raises at each end of a connection.
ENDINGS: dict[Ending, type[Exception] | None] = {
    "finished": None,
    "closed": httpx2.RemoteProtocolError,
    "reset": httpx2.ReadError,
    "stalled": httpx2.ReadTimeout,
    "error": httpx2.RemoteProtocolError,
}
CHAT = {"model": "m", "messages": USER, "stream": True}


def received(server: Server, chunks: list[bytes]) -> None:
    """Adds what a client without an SDK receives, up to the exception."""
    headers, timeout = {"authorization": "Bearer x"}, httpx2.Timeout(5, read=0.1)
    url = f"{server.openai_url}/chat/completions"
    with httpx2.stream("POST", url, json=CHAT, headers=headers, timeout=timeout) as response:
        for chunk in response.iter_raw():
            chunks.append(chunk)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("after", [0, 1, 17, len(BODY)])
def test_a_body_ends_after_any_byte_in_any_way(play: Play, ending: Ending, after: int) -> None:
    server = play([Raw(BODY, delivery=Delivery(cut_after=after, ending=ending, chunk=1))])
    chunks: list[bytes] = []
    expected = ENDINGS[ending]
    if expected is None:
        received(server, chunks)
    else:
        with pytest.raises(expected):
            received(server, chunks)
    body = b"".join(chunks)
    server.settle()
    written = bytes(server.last.written)
    assert (server.last.sent, written[:after]) == (after, BODY[:after])
    assert written[after:].startswith(b'\n\ndata: {"error":' if ending == "error" else b"")
    # A reset may overtake the last bytes.
    assert written.startswith(body) if ending == "reset" else written == body
    assert server.last.ended == ("client gone" if ending == "stalled" else "dropped")


def test_gzip_may_be_cut_off(play: Play) -> None:
    server = play([Answer(TEXT, delivery=Delivery(gzip=True, cut_after=500, ending="finished"))])
    assert TEXT.startswith(chat(server))
    server.settle()
    assert server.last.sent == 500


def test_chunks_have_random_sizes(play: Play) -> None:
    server = play([Raw(BODY * 9, delivery=Delivery(chunk=range(2, 50), seed=seed)) for seed in (1, 1, 2)])
    sizes = []
    for _ in range(3):
        chunks: list[bytes] = []
        received(server, chunks)
        assert b"".join(chunks) == BODY * 9
        sizes.append([*map(len, chunks)])
    assert sizes[0] == sizes[1] != sizes[2]
    assert all(size in range(2, 50) for size in sizes[0][:-1])


# Forms of events ----------------------------------------------------------------------------------------


class Spec(NamedTuple):
    """An event as the specification reads it: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

    name: str
    data: str
    id: str


def specified(body: bytes) -> list[Spec]:
    events, name, data, id = [], "", list[str](), ""
    text = body.decode().removeprefix("\ufeff")
    *lines, rest = re.split("\r\n|\n|\r", text)
    assert rest == ""
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "":
            if data:
                events.append(Spec(name, "\n".join(data), id))
            name, data = "", []
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            id = value
    return events


@pytest.mark.laws
@pytest.mark.parametrize("api", APIS)
def test_events_are_the_same_in_every_form(api: ApiName) -> None:
    plain = [event for event in specified(body(api, Delivery(characters=9))) if "ping" not in event.data]
    for delivery in sample(variants.all(), 60, f"forms {api}"):
        form = delivery.format
        events = [event for event in specified(body(api, delivery)) if event.data and not says_nothing(event)]
        whole = plain if form.last == "whole" else plain[:-1]
        assert [shape(event) for event in events] == [shape(event) for event in whole], delivery
        names = {event.name for event in events}
        assert {"none": names == {""}, "message": names == {"message"}}.get(form.names, True)
        assert any(event.id for event in events) == (form.ids in ("each", "some"))


def body(api: ApiName, delivery: Delivery) -> bytes:
    asked = {"model": "m", "messages": [], "input": "", "stream": True}
    return b"".join(iter_pieces(api, asked, Answer(TEXT, delivery=delivery)))


def says_nothing(event: Spec) -> bool:
    return event.data != "[DONE]" and json.loads(event.data).get("type") in ("ping", "future")


def shape(event: Spec) -> Any:
    """The data without its ids and times."""
    if event.data == "[DONE]":
        return event.data
    return re.sub(r"[0-9a-f]{24}|[0-9]{10}", "", json.dumps(json.loads(event.data)))
