"""Endpoints against the local server: what is sent, what is counted, and where the key may be."""

import hashlib
import itertools
import json
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest
from endpoint_support import ASK, KEY, TOOLS, all_modes, asked, both, calling
from server import Answer as Reply
from server import Call as Said
from server import Delivery, EventFormat, Failure, Request, Thinking
from server import Usage as Tokens

from wirecall_bench.answers import Answer, arguments_of
from wirecall_bench.artifact import BenchError
from wirecall_bench.budget import Budget, Usage
from wirecall_bench.endpoints import Endpoint, Tries
from wirecall_bench.recording import Api, ChatAnswer, MessagesAnswer, ReceivedCall


@both
@all_modes
def test_an_answer_and_all_that_is_kept_of_it(api: Api, mode: str) -> None:
    script = [calling(mode, usage=Tokens(321, 45), delivery=Delivery(delay=0.002))]
    with asked(script, api, mode) as (server, endpoint):
        answer = endpoint.ask(ASK, TOOLS)
    fields = answer.fields()
    assert fields["status"] == "ok"
    assert fields["reason"] is None
    assert fields["calls"] == [{"name": "get_weather", "arguments": {"city": "Lima", "days": 3}}]
    assert fields["usage"] == {"input": 321, "output": 45, "cached": 0, "unknown": 0}
    assert fields["finish"] == {"openai": "tool_calls", "anthropic": "tool_use"}[api]
    assert fields["retries"] == fields["repairs"] == fields["problems"] == fields["errors"] == []
    # The model's own text, with the calls that it wrote in it.
    assert fields["text"] == "".join(part for part in script[0].items if isinstance(part, str))
    times = fields["times"]
    assert 0 < times["first_token"] < times["first_call"] <= times["total"] < 5
    (request,) = fields["requests"]
    assert request["body"].encode() == server.last.body
    assert request["sha256"] == hashlib.sha256(server.last.body).hexdigest()
    assert request["status"] == 200
    assert server.last.headers["accept-encoding"] == "identity"
    json.dumps(fields, allow_nan=False)


@both
@all_modes
def test_native_sends_tools_and_the_others_a_manual(api: Api, mode: str) -> None:
    with asked([calling(mode)], api, mode) as (server, endpoint):
        endpoint.ask(ASK, TOOLS)
        told = [message["content"] for message in server.last.json["messages"] if message["role"] == "system"]
        system = json.dumps(server.last.json.get("system", told))
        assert ("tools" in server.last.json) == (mode == "native")
        assert ("get_weather" in system) == (mode != "native")


@both
@all_modes
def test_what_is_prepared_is_what_is_sent(api: Api, mode: str) -> None:
    with asked([calling(mode)], api, mode) as (server, endpoint):
        prepared = endpoint.prepare(ASK, TOOLS)
        assert not server.requests
        answer = endpoint.ask(ASK, TOOLS)
    assert prepared.body.encode() == server.last.body
    assert prepared.sha256 == answer.exchanges[0].sha256


@both
@all_modes
def test_a_loop_goes_on_with_the_results(api: Api, mode: str) -> None:
    with asked([calling(mode), Reply("It is sunny.")], api, mode) as (server, endpoint):
        first = endpoint.ask(ASK, TOOLS)
        results = [{"role": "tool", "tool_call_id": call.id, "content": "sunny"} for call in first.calls]
        second = endpoint.ask([*ASK, first.message(), *results], TOOLS)
        assert second.status == "ok"
        assert second.said.text == "It is sunny."
        assert second.calls == []
        assert second.times["first_call"] is None
        assert not server.errors
        assert "sunny" in server.last.body.decode()


def test_calls_that_are_no_json_go_back_to_anthropic() -> None:
    with asked([Reply([Said("get_weather", '{"city": ')]), Reply("Sorry.")], "anthropic") as (_, endpoint):
        first = endpoint.ask(ASK, TOOLS)
        assert first.fields()["errors"] == [{"tool": "get_weather", "detail": 'not_json: {"city": '}]
        assert first.fields()["calls"] == [{"name": "get_weather", "arguments": '{"city": '}]
        results = [{"role": "tool", "tool_call_id": call.id, "content": "no JSON"} for call in first.calls]
        assert endpoint.ask([*ASK, first.message(), *results], TOOLS).status == "ok"


@both
def test_a_call_without_arguments(api: Api) -> None:
    with asked([Reply([Said("get_weather", "")])], api) as (_, endpoint):
        answer = endpoint.ask(ASK, TOOLS)
    assert answer.fields()["calls"] == [{"name": "get_weather", "arguments": {}}]
    assert answer.times["first_call"] is not None


@both
def test_the_first_call_is_timed_when_it_is_whole(api: Api) -> None:
    """The same for a call that comes in pieces and one that comes at once: what an application can act on."""
    script = [Reply([Said("get_weather", {"city": "Lima"}), "x" * 200], delivery=Delivery(delay=0.005))]
    with asked(script, api) as (_, endpoint):
        times = endpoint.ask(ASK, TOOLS).times
    assert times["total"] is not None
    assert times["first_call"] is not None
    assert times["total"] - times["first_call"] > 0.1


@both
def test_reasoning_is_kept_apart(api: Api) -> None:
    with asked([Reply([Thinking("Hm. "), "Hello."])], api) as (_, endpoint):
        fields = endpoint.ask(ASK).fields()
    assert (fields["text"], fields["reasoning"]) == ("Hello.", "Hm. ")


DELIVERIES = [
    Delivery(characters=1, chunk=7),
    Delivery(characters=None, gzip=True, chunk=50),
    Delivery(format=EventFormat(line_end="\r\n"), comments=2),
    Delivery(format=EventFormat(line_end="\r"), chunk=1),
]


@both
@all_modes
@pytest.mark.parametrize("delivery", DELIVERIES)
def test_however_it_travels_the_same_is_heard(api: Api, mode: str, delivery: Delivery) -> None:
    script = calling(mode, usage=Tokens(321, 45), delivery=delivery)
    with asked([script], api, mode) as (_, endpoint):
        fields = endpoint.ask(ASK, TOOLS).fields()
    assert fields["calls"] == [{"name": "get_weather", "arguments": {"city": "Lima", "days": 3}}]
    assert fields["text"] == "".join(part for part in script.items if isinstance(part, str))
    assert fields["usage"] == Usage(321, 45).as_dict()


def test_cached_input_is_part_of_the_input() -> None:
    chat = ChatAnswer()
    details = {"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 80}}
    chat.take(0.0, {"choices": [], "usage": details})
    assert chat.usage == Usage(100, 9, 80)
    messages = MessagesAnswer()
    start = {"input_tokens": 15, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 5}
    messages.take(0.0, {"type": "message_start", "message": {"usage": {**start, "output_tokens": 1}}})
    messages.take(0.0, {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}})
    assert messages.usage == Usage(100, 9, 80)


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": 1e999}', "[1]", '"text"', "[" * 100_000])
def test_arguments_that_are_no_object_stay_text(text: str) -> None:
    assert arguments_of(ReceivedCall("", "f", text)) == text


# Limits and ends --------------------------------------------------------------------------------------------


@both
@all_modes
def test_nothing_is_sent_that_could_pass_the_budget(api: Api, mode: str) -> None:
    budget = Budget(max_tokens=2000)
    with asked(lambda _: calling(mode, usage=Tokens(100, 50)), api, mode, budget=budget, output=500) as (
        server,
        endpoint,
    ):
        answers = [endpoint.ask(ASK, TOOLS) for _ in range(20)]
    done = [answer for answer in answers if answer.status == "ok"]
    assert {(answer.status, answer.reason) for answer in answers[len(done) :]} == {("skipped", "budget")}
    assert 0 < len(done) < 13
    assert len(server.requests) == len(done)
    assert budget.usage == Usage(100 * len(done), 50 * len(done))
    assert budget.reached


def test_the_budget_also_holds_where_wirecall_asks_again() -> None:
    bad = Reply('<call>get_weather city="never closed</call>', usage=Tokens(200, 500))
    budget = Budget(max_tokens=1200)
    with asked([bad], "openai", "wire", budget=budget, output=500) as (server, endpoint):
        answer = endpoint.ask(ASK, TOOLS)
    assert (answer.status, answer.reason) == ("skipped", "budget")
    assert answer.usage == budget.usage == Usage(200, 500)
    assert len(server.requests) == 1


@both
def test_the_output_is_limited(api: Api) -> None:
    with asked(lambda _: Reply("Hello."), api, output=77) as (server, endpoint):
        endpoint.ask(ASK)
        assert server.last.json[{"openai": "max_completion_tokens", "anthropic": "max_tokens"}[api]] == 77
    with asked(lambda _: Reply("Hello."), "openai", output=77, output_parameter="max_tokens") as (
        server,
        endpoint,
    ):
        endpoint.ask(ASK)
        assert server.last.json["max_tokens"] == 77
        assert "max_completion_tokens" not in server.last.json


@both
def test_parameters_are_sent(api: Api) -> None:
    with asked(lambda _: Reply("Hello."), api, parameters={"temperature": 0.5}) as (server, endpoint):
        endpoint.ask(ASK)
        assert server.last.json["temperature"] == 0.5


def test_an_end_of_the_run_ends_a_pause() -> None:
    stop = threading.Event()
    script = [Failure(429, headers={"retry-after": "60"})]
    with asked(script, "openai", stop=stop) as (server, endpoint):
        threading.Timer(0.3, stop.set).start()
        start = time.perf_counter()
        answer = endpoint.ask(ASK)
        assert time.perf_counter() - start < 10
        assert (answer.status, answer.reason) == ("skipped", "interrupted")
        assert endpoint.ask(ASK).status == "skipped"
    assert len(server.requests) == 1


# Keys -------------------------------------------------------------------------------------------------------


def test_the_key_is_not_kept_as_the_name_of_an_argument() -> None:
    with asked([Reply([Said("get_weather", {KEY: 1, "city": KEY})])], "openai") as (_, endpoint):
        fields = endpoint.ask(ASK, TOOLS).fields()
    assert fields["calls"][0]["arguments"] == {"[key]": 1, "city": "[key]"}
    assert KEY not in json.dumps(fields)


def test_a_word_that_stands_for_a_key_is_not_struck_out() -> None:
    """ "none" is what many give a server that wants no key; an argument may be just that."""
    with asked([Reply([Said("get_weather", {"city": "none"})])], "openai", key="none") as (_, endpoint):
        fields = endpoint.ask(ASK, TOOLS).fields()
    assert fields["calls"][0]["arguments"] == {"city": "none"}


@both
def test_the_key_is_sent_and_kept_nowhere(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    script: Sequence[Any] = [Failure(500, f"Not with {KEY}!"), Reply(f"Your key is {KEY}.")]
    with asked(script, api) as (server, endpoint):
        answer = endpoint.ask(ASK)
        assert any(KEY in value for value in server.last.headers.values())
    assert KEY not in json.dumps(answer.fields())
    assert "Your key is [key]." in json.dumps(answer.fields())
    assert KEY not in repr(answer.reason)
    # What the server writes itself, the HTTP libraries may log, but not what was sent.
    assert f"Bearer {KEY}" not in caplog.text


@both
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_ends_the_run_and_is_not_shown(api: Api, status: int) -> None:
    with (
        asked([Failure(status, f"Incorrect API key provided: {KEY[:8]}***")], api) as (_, endpoint),
        pytest.raises(BenchError, match=f"rejected the key for a-model .HTTP {status}") as info,
    ):
        endpoint.ask(ASK)
    assert "***" not in str(info.value)


def test_an_empty_account_ends_the_run() -> None:
    failure = Failure(429, "You exceeded your current quota.", code="insufficient_quota")
    with asked([failure], "openai") as (server, endpoint), pytest.raises(BenchError, match="exceeded"):
        endpoint.ask(ASK)
    assert len(server.requests) == 1


def test_where_nobody_listens_the_reason_says_so() -> None:
    with closing(Endpoint("openai", "http://127.0.0.1:1/v1", "m", "native", key="k", tries=Tries(1))) as made:
        answer = made.ask([{"role": "user", "content": "Hi"}])
    assert answer.status == "failed"
    assert "refused" in (answer.reason or "")


def test_an_address_without_its_scheme_is_refused() -> None:
    with pytest.raises(BenchError, match="begins with http"):
        Endpoint("openai", "localhost:8000/v1", "m", "native", key="k")


@pytest.mark.parametrize("where", ["http://me:secret@localhost/v1", "http://localhost/v1?key=secret"])
@pytest.mark.parametrize("scheme", ["http:", "htp:", "wss:", ""])
def test_an_address_with_a_key_is_refused(where: str, scheme: str) -> None:
    with pytest.raises(BenchError, match="keys come from the environment") as info:
        Endpoint("openai", where.replace("http:", scheme), "m", key=KEY)
    assert "secret" not in str(info.value)


@pytest.mark.parametrize(
    "where", ["sk-secret", "http:/secret/v1", "secret:8000", "http://[secret", "ftp://secret"]
)
def test_a_wrong_address_is_not_shown(where: str) -> None:
    """It may be a key, given in the wrong place."""
    with pytest.raises(BenchError, match="base URL") as info:
        Endpoint("openai", where, "m", key=KEY)
    assert "secret" not in str(info.value)


def test_natively_there_are_no_options() -> None:
    with pytest.raises(BenchError, match="no such option"):
        Endpoint("openai", "http://localhost/v1", "m", key=KEY, options={"syntax": "json"})


# Threads ----------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("mode", ["native", "wire"])
def test_threads_do_not_mix_what_they_ask(api: Api, mode: str) -> None:
    def echo(request: Request) -> Reply:
        number = int(json.dumps(request.json["messages"][-1]).partition("number ")[2].partition(".")[0])
        call = f"<call>get_weather city=Lima days={number}</call>"
        native = [Said("get_weather", {"city": "Lima", "days": number})]
        return Reply(call if mode == "wire" else native, usage=Tokens(number, 1))

    answers: dict[int, Answer] = {}
    numbers = itertools.count(1)
    with asked(echo, api, mode) as (_, endpoint):

        def work() -> None:
            while (number := next(numbers)) <= 60:
                message = {"role": "user", "content": f"This is number {number}."}
                answers[number] = endpoint.ask([message], TOOLS)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(answers) == 60
    for number, answer in answers.items():
        assert answer.fields()["calls"][0]["arguments"]["days"] == number
        assert answer.usage == Usage(number, 1)
        assert f"number {number}." in answer.exchanges[0].body
