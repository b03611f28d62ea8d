"""Endpoints against the local server: what is sent, what is counted, and what becomes of failures."""

import hashlib
import itertools
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from email.utils import formatdate
from types import SimpleNamespace
from typing import Any

import pytest
from server import Answer as Reply
from server import Call as Said
from server import Delivery, Failure, Raw, Request, Server, Thinking, serve
from server import Usage as Tokens
from server.app import Script

from wirecall._bench.artifact import BenchError
from wirecall._bench.budget import Budget, Usage
from wirecall._bench.endpoints import Answer, Endpoint, Tries, arguments_of, retry_after
from wirecall._bench.recording import Api, Call, ChatSaid, MessagesSaid

KEY = "sk-test-1234567890"
APIS: tuple[Api, ...] = ("openai", "anthropic")
MODES = ("native", "wire", "hermes")
TOOLS = [
    {
        "name": "get_weather",
        "description": "The weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    }
]
ASK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather in Lima?"}]
QUICK = Tries(attempts=4, first=0.01)


def url(server: Server, api: Api) -> str:
    return server.openai_url if api == "openai" else server.url


@contextmanager
def asked(
    script: Script, api: Api, mode: str = "native", **options: Any
) -> Iterator[tuple[Server, Endpoint]]:
    with serve(script) as server:
        options = {"key": KEY, "tries": QUICK, **options}
        endpoint = Endpoint(api, url(server, api), "a-model", mode, **options)
        try:
            yield server, endpoint
        finally:
            endpoint.close()


def calling(mode: str, **options: Any) -> Reply:
    """The right call, after some prose."""
    texts = {
        "wire": "Sure. <call>get_weather city=Lima days=3</call>",
        "hermes": 'Sure. <tool_call>{"name":"get_weather","arguments":{"city":"Lima","days":3}}</tool_call>',
    }
    native = ["Sure. ", Said("get_weather", {"city": "Lima", "days": 3})]
    return Reply(texts.get(mode, native), **options)


both = pytest.mark.parametrize("api", APIS)
all_modes = pytest.mark.parametrize("mode", MODES)


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
    Delivery(line_end="\r\n", comments=2),
    Delivery(line_end="\r", chunk=1),
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
    chat = ChatSaid()
    details = {"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 80}}
    chat.take(0.0, {"choices": [], "usage": details})
    assert chat.usage == Usage(100, 9, 80)
    messages = MessagesSaid()
    start = {"input_tokens": 15, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 5}
    messages.take(0.0, {"type": "message_start", "message": {"usage": {**start, "output_tokens": 1}}})
    messages.take(0.0, {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}})
    assert messages.usage == Usage(100, 9, 80)


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": 1e999}', "[1]", '"text"', "[" * 100_000])
def test_arguments_that_are_no_object_stay_text(text: str) -> None:
    assert arguments_of(Call("", "f", text)) == text


# Retries ----------------------------------------------------------------------------------------------------


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
    script = [calling(mode, delivery=Delivery(drop_after=350)), calling(mode, usage=Tokens(30, 4))]
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
    stalled = Reply("Hello.", delivery=Delivery(stall_after=200))
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
    broken = Reply(text + "." * 4000, delivery=Delivery(drop_after=6000))
    with asked([broken, Reply(text)], api, "wire") as (_, endpoint):
        fields = endpoint.ask(ASK, TOOLS).fields()
    assert len(fields["requests"]) == 2
    assert [repair["detail"] for repair in fields["repairs"]] == ["spaced_equals"]
    assert [problem["tool"] for problem in fields["problems"]] == ["get_weather"]


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
