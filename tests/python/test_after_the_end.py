"""Streams that go on after their end, or after an error: nothing is retried, lost, or shown as markup."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import chat_support
import law
import messages_support
import responses_peers
from wirecall._apis.exchange import Exchange
from wirecall._apis.registry import api_named
from wirecall._text.options import Options
from wirecall._tools.definitions import ApiName

Json = dict[str, Any]

GOOD = {
    "chat": "<call>get city=Ulm</call>",
    "messages": "<call>search query=Ulm</call>",
    "responses": "<call>f x=1</call>",
}
BAD = {
    "chat": "<call>get [object]</call>",
    "messages": "<call>search [object]</call>",
    "responses": "<call>f [object]</call>",
}
REQUESTS: dict[ApiName, Json] = {
    "chat": chat_support.asking(),
    "messages": messages_support.request(),
    "responses": responses_peers.REQUEST,
}
ERRORS: dict[str, Json] = {
    "chat": {"error": {"message": "Overloaded", "type": "server_error", "code": None, "param": None}},
    "messages": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    "responses": {
        "type": "error",
        "sequence_number": 0,
        "code": "server_error",
        "message": "Overloaded",
        "param": None,
    },
}
# As some servers write it in every API.
UNTYPED = {"error": {"message": "Overloaded"}}


class Heard(NamedTuple):
    """What an application gets. `reason`: the last one."""

    text: str
    calls: list[str]
    reason: str | None
    retries: bool


def events_of(api: ApiName, text: str, size: int) -> list[Json]:
    if api == "chat":
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        return [chat_support.chunk({"content": piece}) for piece in pieces] + [chat_support.chunk({}, "stop")]
    if api == "messages":
        return messages_support.events_of(messages_support.message([messages_support.text(text)]), size)
    return responses_peers.streamed(responses_peers.response(responses_peers.message(text)), (size,))


def hear(api: ApiName, events: list[Json], **options: Any) -> Heard:
    stream = Exchange(api_named(api), REQUESTS[api], Options(**options)).stream()
    sent: list[Json] = []
    for event in events:
        out = stream.feed(event)
        sent += [event] if out is None else out
    retries = stream.should_retry
    sent += stream.end()
    text, names, reason = "", [], None
    for kind, value in _said(api, sent):
        if kind == "text":
            text += value
        elif kind == "call":
            names.append(value)
        else:
            reason = value
    return Heard(text, names, reason, retries or stream.should_retry)


def _said(api: ApiName, events: list[Json]) -> Iterator[tuple[str, str]]:
    """What events say: texts, names of calls, and reasons for the end."""
    for event in events:
        if api == "chat":
            for choice in event.get("choices", ()):
                yield "text", choice["delta"].get("content") or ""
                for call in choice["delta"].get("tool_calls", ()):
                    if "id" in call:
                        yield "call", call["function"]["name"]
                if choice["finish_reason"]:
                    yield "reason", choice["finish_reason"]
        elif event.get("type") == "content_block_delta" and event["delta"]["type"] == "text_delta":
            yield "text", event["delta"]["text"]
        elif event.get("type") == "content_block_start" and event["content_block"]["type"] == "tool_use":
            yield "call", event["content_block"]["name"]
        elif event.get("type") == "message_delta":
            yield "reason", event["delta"]["stop_reason"]
        elif event.get("type") == "response.output_text.delta":
            yield "text", event["delta"]
        elif event.get("type") == "response.output_item.added" and event["item"]["type"] == "function_call":
            yield "call", event["item"]["name"]
        elif event.get("type") == "response.completed":
            yield "reason", "completed"


@pytest.mark.parametrize("api", REQUESTS)
@pytest.mark.parametrize("typed", [True, False])
def test_nothing_is_retried_after_an_error_was_passed_on(api: ApiName, typed: bool) -> None:
    """Wherever the error is before the end, and whatever was wrong before it or is after it."""
    events = events_of(api, f"Hi {BAD[api]} there", 5)
    assert hear(api, events).retries
    end = next(at for at, event in enumerate(events) if is_end(api, event))
    for at in range(end + 1):
        heard = hear(api, [*events[:at], ERRORS[api] if typed else UNTYPED, *events[at:]])
        assert not heard.retries
        assert BAD[api] not in heard.text


@pytest.mark.parametrize("api", REQUESTS)
@pytest.mark.parametrize(
    ("text", "shown"), [("Hi <cal", "Hi <cal"), ("Hi", "Hi"), ("Hi <call>nothing", "Hi ")]
)
def test_text_is_sent_before_the_error(api: ApiName, text: str, shown: str) -> None:
    """SDKs stop reading at the error."""
    events = events_of(api, text, 3)
    end = next(at for at, event in enumerate(events) if is_end(api, event)) - (3 if api == "responses" else 0)
    stream = Exchange(api_named(api), REQUESTS[api], Options()).stream()
    sent: list[Json] = []
    for event in [*events[:end], ERRORS[api]]:
        out = stream.feed(event)
        sent += [event] if out is None else out
    at = sent.index(ERRORS[api]) if ERRORS[api] in sent else len(sent) - 1
    assert "".join(value for kind, value in _said(api, sent[:at]) if kind == "text") == shown


@pytest.mark.parametrize("api", REQUESTS)
@pytest.mark.parametrize("typed", [True, False])
def test_the_providers_error_is_the_only_one(api: ApiName, typed: bool) -> None:
    """Also if it cuts off a call of which a fragment was sent."""
    error = ERRORS[api] if typed else UNTYPED
    events = events_of(
        api,
        {"chat": "<call>get city=", "messages": "<call>search query=", "responses": '<call>f x={"a":'}[api]
        + '"Ulm',
        5,
    )
    end = next(at for at, event in enumerate(events) if is_end(api, event)) - (3 if api == "responses" else 0)
    stream = Exchange(api_named(api), REQUESTS[api], Options(stream_arguments=True)).stream()
    sent: list[Json] = []
    for event in [*events[:end], error]:
        out = stream.feed(event)
        sent += [event] if out is None else out
    sent += stream.end()
    errors = [event for event in sent if "error" in event or event.get("type") == "error"]
    assert len(errors) == 1
    assert "Overloaded" in str(errors)


def test_what_is_hidden_stays_hidden_after_the_end() -> None:
    events = [*events_of("chat", GOOD["chat"] * 2, 200), *events_of("chat", f"rest {GOOD['chat']}", 200)]
    heard = hear("chat", events, limits={"calls": 1})
    assert heard.text.endswith("The rest of its message is not shown.")


@pytest.mark.parametrize("announced", [True, False])
def test_messages_read_text_of_a_block_that_is_closed_or_was_never_announced(announced: bool) -> None:
    first = events_of("messages", "Yes. ", 200)
    *_, stop = (event for event in first if event["type"] == "content_block_stop")
    delta = {"type": "text_delta", "text": f"So {GOOD['messages']}"}
    late = {"type": "content_block_delta", "index": 0 if announced else 7, "delta": delta}
    heard = hear("messages", [*first[:-1], late, {**stop, "index": late["index"]}, first[-1]])
    assert heard == Heard("Yes. So ", ["search"], "tool_use", False)


@pytest.mark.parametrize("api", REQUESTS)
@pytest.mark.parametrize("stream_arguments", [False, True])
def test_a_second_end_says_what_the_first_one_said(api: ApiName, stream_arguments: bool) -> None:
    events = events_of(api, f"Hi {GOOD[api]}", 7)
    ends = [event for event in events if is_end(api, event)]
    heard = hear(api, [*events, *ends, *ends], stream_arguments=stream_arguments)
    assert (heard.text, len(heard.calls), heard.retries) == ("Hi ", 1, False)
    assert heard.reason == {"chat": "tool_calls", "messages": "tool_use", "responses": "completed"}[api]


def is_end(api: ApiName, event: Json) -> bool:
    if api == "chat":
        return event["choices"][0]["finish_reason"] is not None
    return event["type"] in ("message_delta", "response.completed")


@pytest.mark.laws
@pytest.mark.parametrize("api", REQUESTS)
def test_what_comes_after_the_end_is_read(api: ApiName) -> None:
    """An answer goes on after its first end: texts and calls are those of the same text without that end."""
    rng = law.seeded(47)
    for _ in range(law.count(2000, 10)):
        pieces = rng.choices(
            [GOOD[api], BAD[api], "Hello. ", "a < b ", "<call", "\n\n", "<call>nothing"],
            k=rng.randrange(1, 6),
        )
        size, streams = rng.choice([1, 3, 8, 200]), rng.random() < 0.5
        first, second = events_of(api, "Yes. ", size), events_of(api, "".join(pieces), size)
        options: Json = {"stream_arguments": streams, "max_retries": 0}
        alone = hear(api, second, **options)
        both = hear(api, [*first, *renumbered(api, second)], **options)
        assert not both.retries
        assert both.calls == alone.calls, pieces
        assert both.text.split() == f"Yes. {alone.text}".split(), pieces
        if both.calls and api != "responses":
            assert both.reason == alone.reason


def renumbered(api: ApiName, events: list[Json]) -> list[Json]:
    """The events of a second answer, as a server would append them to the first one."""
    if api == "messages":
        return [
            {**event, "index": event["index"] + 1} if "index" in event else event
            for event in events
            if event["type"] != "message_start"
        ]
    if api == "chat":
        return events
    written = (
        json.dumps(events[2:]).replace('"msg_1"', '"msg_2"').replace('"output_index": 0', '"output_index": 1')
    )
    made: list[Json] = json.loads(written)
    return made


def test_an_exception_in_on_event_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail(notice: object) -> None:
        raise RuntimeError("secret")

    heard = hear("chat", events_of("chat", f"Hi {GOOD['chat']} {BAD['chat']}", 4), on_event=fail)
    assert heard == Heard(heard.text, ["get"], "tool_calls", False)
    assert "on_event raised RuntimeError" in caplog.text
    assert "secret" not in caplog.text
