"""Endpoints against a server that fails: what is retried, for how long, and what it costs."""

import json
import time
from email.utils import formatdate
from types import SimpleNamespace
from typing import Any

import pytest
from endpoint_support import ASK, KEY, TOOLS, all_modes, asked, both, calling, url
from server import Answer as Reply
from server import Call as Said
from server import Delivery, Failure, Raw
from server import Usage as Tokens

from wirecall_bench.budget import Budget, Usage
from wirecall_bench.endpoints import Endpoint, Tries, retry_after
from wirecall_bench.recording import Api


@both
@all_modes
def test_retries_are_counted_and_cost_nothing(api: Api, mode: str) -> None:
    script = [Failure(429, "Slow down."), Failure(503), calling(mode, usage=Tokens(30, 4))]
    budget = Budget()
    with asked(script, api, mode, budget=budget) as (server, endpoint):
        fields = endpoint.ask(ASK, TOOLS).fields()
    assert fields["status"] == "ok"
    assert [request["status"] for request in fields["requests"]] == [429, 503, 200]
    assert [retry["kind"] for retry in fields["retries"]] == ["http", "http"]
    assert fields["retries"][0]["reason"] == "HTTP 429: Slow down."
    assert fields["usage"] == Usage(30, 4).as_dict() == budget.usage.as_dict()
    assert len(server.requests) == 3


@both
def test_the_times_are_of_the_last_attempt(api: Api) -> None:
    with asked([Failure(429, headers={"retry-after": "0.5"}), Reply("Hello.")], api) as (_, endpoint):
        start = time.perf_counter()
        answer = endpoint.ask(ASK)
        assert time.perf_counter() - start > 0.5
    first, total = answer.times["first_token"], answer.times["total"]
    assert first is not None
    assert total is not None
    assert 0 < first <= total < 0.4


@both
def test_it_waits_as_long_as_the_server_says_and_a_little_more(api: Api) -> None:
    script = [Failure(429, headers={"retry-after": "0.3"}), Failure(503, headers={"retry-after-ms": "200"})]
    with asked([*script, Reply("Hello.")], api) as (_, endpoint):
        waited = [retry["waited"] for retry in endpoint.ask(ASK).retries]
    assert 0.3 <= waited[0] <= 0.45
    assert 0.2 <= waited[1] <= 0.35


def test_a_date_to_wait_for() -> None:
    told = Exception()
    told.response = SimpleNamespace(  # type: ignore[attr-defined]
        headers={"retry-after": formatdate(time.time() + 30, usegmt=True)}
    )
    asked = retry_after(told)
    assert asked is not None
    assert 25 < asked < 31


def test_pauses_grow_and_are_not_all_the_same() -> None:
    script = [Failure(500)] * 5 + [Reply("Hello.")]
    waited = []
    for _ in range(4):
        with asked(script, "openai", tries=Tries(6, 0.02)) as (_, endpoint):
            waited.append([retry["waited"] for retry in endpoint.ask(ASK).retries])
    assert all(0 <= pause <= 0.02 * 2**number for pauses in waited for number, pause in enumerate(pauses))
    assert len({pause for pauses in waited for pause in pauses}) == 20


@both
def test_too_long_a_pause_is_a_failure(api: Api) -> None:
    with asked([Failure(429, headers={"retry-after": "4000"})], api) as (server, endpoint):
        answer = endpoint.ask(ASK)
    assert answer.status == "failed"
    assert len(server.requests) == 1


@both
def test_what_cannot_get_better_is_not_sent_again(api: Api) -> None:
    with asked([Failure(400, "Bad schema.")], api) as (server, endpoint):
        answer = endpoint.ask(ASK, TOOLS)
    assert (answer.status, answer.reason) == ("failed", "HTTP 400: Bad schema.")
    assert answer.usage == Usage()
    assert len(server.requests) == 1


@both
def test_the_attempts_are_limited(api: Api) -> None:
    with asked([Failure(500)] * 10, api) as (server, endpoint):
        answer = endpoint.ask(ASK)
    assert answer.status == "failed"
    assert len(server.requests) == 4
    assert len(answer.retries) == 3


@both
@all_modes
def test_what_breaks_off_is_sent_again_and_its_cost_is_unknown(api: Api, mode: str) -> None:
    budget = Budget()
    script = [calling(mode, delivery=Delivery(cut_after=350)), calling(mode, usage=Tokens(30, 4))]
    with asked(script, api, mode, budget=budget, output=100) as (_, endpoint):
        answer = endpoint.ask(ASK, TOOLS)
    assert answer.status == "ok"
    assert answer.usage.unknown == 1
    assert len(answer.calls) == 1
    # The budget takes it that the lost answer cost all that it could.
    assert budget.usage.output == 104
    assert budget.usage.input > 30


@both
def test_an_error_in_the_stream_is_sent_again(api: Api) -> None:
    broken = Reply("Hel", error=Failure(529, "Overloaded", type="overloaded_error"))
    with asked([broken, Reply("Hello.")], api) as (_, endpoint):
        answer = endpoint.ask(ASK)
    assert answer.status == "ok"
    assert answer.said.text == "Hello."
    assert [retry["kind"] for retry in answer.retries] == ["http"]


def test_an_answer_without_an_end_is_a_failure() -> None:
    half = Raw(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n', content_type="text/event-stream")
    with asked([half] * 4, "openai") as (_, endpoint):
        answer = endpoint.ask(ASK)
    assert answer.status == "failed"
    assert answer.reason is not None
    assert "did not end" in answer.reason
    assert answer.usage.unknown == 4


@pytest.mark.parametrize(
    "event",
    [
        {"choices": "abc"},
        {"choices": [{"delta": {"content": {"a": 1}}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": -1, "function": {"name": "f"}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 10**9, "function": {"name": "f"}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": 7}}]}}]},
        {"choices": [{"delta": {}, "finish_reason": {"a": 1}}]},
        {"choices": [], "usage": {"prompt_tokens": "5", "completion_tokens": 6}},
        {"choices": [], "usage": {"prompt_tokens": -5, "completion_tokens": 6}},
    ],
)
def test_what_is_no_event_of_the_api_is_a_failure(event: dict[str, Any]) -> None:
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    text = "".join(f"data: {json.dumps(one)}\n\n" for one in (event, end))
    budget = Budget(max_tokens=100_000)
    answers = [Raw(text.encode(), content_type="text/event-stream")]
    with asked(answers, "openai", budget=budget, output=100) as (_, endpoint):
        answer = endpoint.ask(ASK, TOOLS)
    fields = answer.fields()
    assert fields["status"] == "failed"
    assert "an event that this API does not have" in fields["reason"]
    assert answer.usage.unknown == 1
    # Nothing is held for it any more, and nobody waits for that.
    assert budget.usage.output == 100


def test_what_is_said_to_have_cost_nothing_has_cost_what_nobody_says() -> None:
    budget = Budget()
    with asked([Reply("Hello.", usage=Tokens(0, 0))], "openai", budget=budget, output=100) as (_, endpoint):
        assert endpoint.ask(ASK).usage.unknown == 1
    assert budget.usage.output == 100


@both
def test_arguments_nested_deeper_than_anyone_reads_are_kept_as_text(api: Api) -> None:
    text = '{"city":' + "[" * 600 + "]" * 600 + "}"
    with asked([Reply([Said("get_weather", text)])], api) as (_, endpoint):
        fields = endpoint.ask(ASK, TOOLS).fields()
    assert fields["calls"] == [{"name": "get_weather", "arguments": text}]
    assert json.dumps(fields)


@both
def test_nobody_is_there(api: Api) -> None:
    with asked([], api) as (server, endpoint):
        pass
    endpoint = Endpoint(api, url(server, api), "m", key=KEY, tries=Tries(2, 0.01))
    answer = endpoint.ask(ASK)
    endpoint.close()
    assert answer.status == "failed"
    assert answer.usage == Usage()


@both
def test_a_silent_server_is_a_failure_of_unknown_cost(api: Api) -> None:
    stalled = Reply("Hello.", delivery=Delivery(cut_after=200, ending="stalled"))
    with asked(lambda _: stalled, api, timeout=0.2, tries=Tries(2, 0.01)) as (server, endpoint):
        answer = endpoint.ask(ASK)
        assert len(server.requests) == 2
    assert answer.status == "failed"
    assert answer.usage.unknown == 2


@both
def test_what_wirecall_asks_again_is_kept(api: Api) -> None:
    bad = Reply('<call>get_weather city="never closed</call>', usage=Tokens(20, 3))
    budget = Budget()
    with asked([bad, calling("wire", usage=Tokens(30, 4))], api, "wire", budget=budget) as (_, endpoint):
        fields = endpoint.ask(ASK, TOOLS).fields()
    assert fields["usage"] == Usage(50, 7).as_dict() == budget.usage.as_dict()
    assert [retry["kind"] for retry in fields["retries"]] == ["model"]
    assert [error["tool"] for error in fields["errors"]] == ["get_weather"]
    assert [request["text"] for request in fields["requests"]] == [
        '<call>get_weather city="never closed</call>',
        "Sure. <call>get_weather city=Lima days=3</call>",
    ]
    assert len({request["sha256"] for request in fields["requests"]}) == 2
    assert len(fields["calls"]) == 1


@both
def test_repairs_and_problems_are_kept_of_the_answer_that_came(api: Api) -> None:
    text = "<call>get_weather city = Lima days=many</call>"
    # The call of the first answer is there when that answer breaks off.
    broken = Reply(text + "." * 4000, delivery=Delivery(cut_after=6000))
    with asked([broken, Reply(text)], api, "wire") as (_, endpoint):
        fields = endpoint.ask(ASK, TOOLS).fields()
    assert len(fields["requests"]) == 2
    assert [repair["detail"] for repair in fields["repairs"]] == ["spaced_equals"]
    assert [problem["tool"] for problem in fields["problems"]] == ["get_weather"]
