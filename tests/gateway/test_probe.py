"""`canitoolcall probe` against the gateway: nine scenarios, whole, streamed, and compared."""

from collections.abc import Iterator

import pytest
from canitoolcall.probe import probe
from server import Answer, Call, Request, Thinking
from server.answers import Part
from server.conversation import read
from upstream import Upstream, gateway_before, serve, spoken

EVENT = {
    "title": "Design review",
    "start": "2026-10-01T15:00:00Z",
    "attendees": [{"name": "Ana", "email": "ana@example.com"}, {"name": "Bo", "email": "bo@example.com"}],
    "location": {"city": "Berlin", "room": "4.12"},
}
NOTE = {"title": "Grüße aus Zürich", "body": "Café ☕ in 東京 — naïve résumé 🚀"}
# A word of the prompt, and what the model says.
ANSWERS: dict[str, list[Part]] = {
    "in Tokyo": [Call("get_weather", {"city": "Paris"}), Call("get_weather", {"city": "Tokyo"})],
    "Paris right now": [Call("get_weather", {"city": "Paris"})],
    "17 + 25": ["42"],
    "Design review": [Call("create_event", EVENT)],
    "Grüße": [Call("save_note", NOTE)],
    "What time": [Call("get_server_time")],
    "Lisbon": [Call("get_weather", {"city": "Lisbon"})],
    "weather in Paris?": ["It is 18 degrees and clear in Paris."],
    "9.11": [Thinking("9.9 is larger."), Call("record_answer", {"answer": "9.9"})],
}


def answer(request: Request) -> Answer:
    prompt = read(request.json).turns[0].text
    [parts] = [parts for key, parts in ANSWERS.items() if key in prompt]
    return spoken(request, *parts)


@pytest.fixture
def asked() -> Iterator[Upstream]:
    with serve(answer) as upstream:
        yield upstream


def check(url: str, upstream: Upstream) -> None:
    report = probe(f"{url}/v1", "tests", api_key="sk-test-key", timeout_s=30)
    assert upstream.errors == []
    assert report.summary() == {"pass": 27, "fail": 0, "error": 0, "skip": 0}, report.render_text()
    assert [outcome.warnings for outcome in report.outcomes if outcome.warnings] == []
    reasoning = [
        outcome.observed.reasoning_content
        for outcome in report.outcomes
        if outcome.scenario_id == "reasoning-then-call" and outcome.observed is not None
    ]
    assert reasoning == ["9.9 is larger."] * 2


def test_control(asked: Upstream) -> None:
    check(asked.url, asked)


def test_gateway(asked: Upstream) -> None:
    with gateway_before(asked) as gateway:
        check(gateway.url, asked)
    assert not any("tools" in request.json for request in asked.requests)
