"""What goes wrong on the way looks to the SDKs as it does with a real provider."""

import time
from collections.abc import Callable
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from server import Answer, Delivery, Failure, Raw, Server

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
