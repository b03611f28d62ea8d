"""What goes through the provider beside calls: parameters, usage, errors, options."""

import asyncio
import gc
import importlib
from collections.abc import Callable
from importlib import metadata
from types import GeneratorType
from typing import Any

import litellm
import openai
import pytest
from brief import TOOLS
from litellm.integrations.custom_logger import CustomLogger
from server import Answer, Call, Delivery, Failure, Server, Thinking, Usage

import wirecall
from wirecall.integrations import litellm as integration
from wirecall.integrations.litellm import _Provider as Provider
from wirecall.integrations.litellm import register

Run = Callable[[Any], Any]
USER = [{"role": "user", "content": "Hi"}]
PING = "<call>ping</call>"
WEATHER = "<call>weather city=Austin</call>"


def request(server: Server, model: str, **given: Any) -> dict[str, Any]:
    address = server.url if "anthropic/" in model else server.openai_url
    defaults = {"messages": USER, "tools": TOOLS, "api_base": address, "api_key": "sk-test", "timeout": 20}
    return {**defaults, **given}


def ask(server: Server, model: str = "wirecall/openai/gpt-4o", **given: Any) -> Any:
    return litellm.completion(model=model, **request(server, model, **given))


async def stream(
    server: Server, asynchronous: bool, model: str = "wirecall/openai/gpt-4o", **given: Any
) -> list[Any]:
    if not asynchronous:
        return list(ask(server, model, stream=True, **given))
    reply: Any = await litellm.acompletion(model=model, stream=True, **request(server, model, **given))
    return [chunk async for chunk in reply]


def names(message: Any) -> list[str]:
    return [call.function.name for call in message.tool_calls or ()]


def test_parameters_reach_the_inner_model(play: Callable[..., Server], provider: Provider) -> None:
    server = play([Answer(PING)])
    ask(
        server,
        temperature=0.5,
        seed=7,
        max_tokens=50,
        stop=["END"],
        user="me",
        reasoning_effort="low",
        allowed_openai_params=["user", "reasoning_effort"],
        extra_headers={"x-mine": "1"},
        extra_body={"metadata": {"shelf": "3"}},
        api_key="sk-other",
        drop_params=True,
        metadata={"trace": "t"},
        tool_choice="required",
        parallel_tool_calls=False,
    )
    sent, headers = server.last.json, server.last.headers
    assert sent["model"] == "gpt-4o"
    assert (sent["temperature"], sent["seed"], sent["max_tokens"], sent["metadata"]) == (
        0.5,
        7,
        50,
        {"shelf": "3"},
    )
    assert (sent["user"], sent["reasoning_effort"]) == ("me", "low")
    assert "END" in sent["stop"]
    assert (headers["x-mine"], headers["authorization"]) == ("1", "Bearer sk-other")
    known = {
        "model",
        "messages",
        "temperature",
        "seed",
        "max_tokens",
        "metadata",
        "user",
        "reasoning_effort",
        "stop",
    }
    assert set(sent) <= known | {"stream"}
    assert "ping" in sent["messages"][0]["content"]


@pytest.mark.parametrize("inner", ["openai/gpt-4o", "anthropic/claude-sonnet-5", "openai/some-new-model"])
def test_drop_params_leaves_the_tools(
    play: Callable[..., Server], provider: Provider, monkeypatch: pytest.MonkeyPatch, inner: str
) -> None:
    monkeypatch.setattr(litellm, "drop_params", True)
    server = play([Answer(PING)])
    answer = ask(server, f"wirecall/{inner}", tool_choice={"type": "function", "function": {"name": "ping"}})
    assert names(answer.choices[0].message) == ["ping"]
    assert "ping" in str(server.last.json["messages"][0]) + str(server.last.json.get("system"))


def test_settings_of_the_request_are_those_of_the_inner_call(
    play: Callable[..., Server], provider: Provider
) -> None:
    server = play([Answer(PING)])
    model = "wirecall/anthropic/claude-sonnet-5"
    with pytest.raises(litellm.UnsupportedParamsError):
        ask(server, model, logit_bias={"1": 1})
    assert names(ask(server, model, logit_bias={"1": 1}, drop_params=True).choices[0].message) == ["ping"]


@pytest.mark.parametrize(
    ("name", "inner", "kind"),
    [
        ("llama.cpp", "openai/m", "gbnf"),
        *(("vllm", f"{one}/m", "structural_tag") for one in ("openai", "hosted_vllm")),
    ],
)
def test_a_grammar_reaches_the_inner_model(
    play: Callable[..., Server], name: Any, inner: str, kind: Any
) -> None:
    register(grammar=name)
    server = play([Answer("<call>ping"), Answer(PING)], grammars=name)
    answer = ask(server, f"wirecall/{inner}", tool_choice="required")
    assert names(answer.choices[0].message) == ["ping"]
    text = wirecall.Toolset(TOOLS).grammar(kind, tool_choice="required").text
    sent = {"grammar": text} if kind == "gbnf" else {"structured_outputs": {kind: text}}
    assert all(sent.items() <= asked.json.items() for asked in server.requests)
    assert not any(asked.refused for asked in server.requests)
    with pytest.raises(litellm.BadRequestError, match="the request has `guided_choice`"):
        ask(server, f"wirecall/{inner}", extra_body={"guided_choice": ["x"]})
    assert len(server.requests) == 2


def test_a_model_without_stop_sequences_gets_none(play: Callable[..., Server], provider: Provider) -> None:
    server = play([Answer(PING), Answer(PING)])
    ask(server, "wirecall/openai/gpt-4o")
    assert server.last.json["stop"] == ["<tool-result"]
    answer = ask(server, "wirecall/perplexity/sonar")
    assert "stop" not in server.last.json
    assert names(answer.choices[0].message) == ["ping"]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("streams", [False, True])
def test_a_model_that_refuses_them_is_asked_without(
    play: Callable[..., Server], run: Run, provider: Provider, asynchronous: bool, streams: bool
) -> None:
    server = play([Answer(PING)] * 2, refuses_stop=True)
    model = "wirecall/openai/gpt-4o"

    async def asked() -> str:
        if streams:
            return "".join(map(str, await stream(server, asynchronous, model)))
        given = request(server, model)
        return str(
            await litellm.acompletion(model=model, **given)
            if asynchronous
            else litellm.completion(model=model, **given)
        )

    for _ in range(2):
        assert "ping" in run(asked())
    assert [one.refused is not None for one in server.requests] == [True, False, False]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_each_exchange_has_a_record(play: Callable[..., Server], run: Run, asynchronous: bool) -> None:
    found: list[wirecall.Record] = []
    register(on_record=found.append)
    server = play([Answer(PING), Answer("<call>ping [object Object]</call>"), Answer(PING)])
    ask(server)
    run(stream(server, asynchronous))
    whole, streamed = found
    assert (whole.outcome, whole.path, len(whole.attempts)) == ("calls", None, 1)
    assert (streamed.outcome, [one.reason for one in streamed.attempts]) == ("calls", ["first", "retry"])
    assert "sk-test" not in repr(found)


@pytest.mark.parametrize("options", [{"max_retry": 1}, {"max_retries": "1"}])
def test_options_are_checked(options: Any) -> None:
    with pytest.raises(TypeError, match="max_retries"):
        register(**options)


def test_usage_of_all_attempts_is_summed(play: Callable[..., Server], provider: Provider) -> None:
    server = play([Answer('<call>note text="', usage=Usage(10, 3)), Answer(PING, usage=Usage(20, 4))])
    answer = ask(server)
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (30, 7)
    assert names(answer.choices[0].message) == ["ping"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_streamed_usage_is_the_providers(
    play: Callable[..., Server], run: Run, provider: Provider, asynchronous: bool
) -> None:
    server = play([Answer('Hm. <call>note text="', usage=Usage(10, 3)), Answer(PING, usage=Usage(20, 4))])
    chunks = run(stream(server, asynchronous, stream_options={"include_usage": True}))
    usages = [chunk.usage for chunk in chunks if getattr(chunk, "usage", None) is not None]
    assert [(usage.prompt_tokens, usage.completion_tokens) for usage in usages] == [(30, 7)]
    finishes = [choice.finish_reason for chunk in chunks for choice in chunk.choices if choice.finish_reason]
    assert finishes == ["tool_calls"]
    assert (
        "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices).strip() == "Hm."
    )


@pytest.mark.parametrize("asynchronous", [False, True])
def test_several_calls_stream_with_their_indexes(
    play: Callable[..., Server], run: Run, provider: Provider, asynchronous: bool
) -> None:
    written = "Now. <call>weather city=Austin</call><call>weather city=Boston days=2</call>"
    server = play([Answer(written, delivery=Delivery(characters=None))])
    chunks = run(stream(server, asynchronous))
    deltas = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
    assert [call.index for call in deltas if call.id] == [0, 1]
    assert {call.index for call in deltas} == {0, 1}
    joined = [
        "".join(call.function.arguments or "" for call in deltas if call.index == index) for index in (0, 1)
    ]
    assert joined == ['{"city":"Austin"}', '{"city":"Boston","days":2}']


def test_reasoning_and_length_pass(play: Callable[..., Server], provider: Provider) -> None:
    server = play([Answer([Thinking("hmm"), PING]), Answer('<call>note text="abc', "length")])
    first = ask(server).choices[0]
    assert (first.message.reasoning_content, names(first.message)) == ("hmm", ["ping"])
    second = ask(server).choices[0]
    assert (second.finish_reason, names(second.message)) == ("length", [])


def test_nothing_to_rewrite_is_left_alone(play: Callable[..., Server], provider: Provider) -> None:
    server = play([Answer("Hello.")])
    answer = ask(server, tools=None)
    assert answer.choices[0].message.content == "Hello."
    assert server.last.json["messages"] == USER


def test_messages_may_be_litellms_objects(play: Callable[..., Server], provider: Provider) -> None:
    server = play([Answer(WEATHER), Answer("Fine.")], checks=False)
    message = ask(server).choices[0].message
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "21 degrees"}
    ask(server, messages=[*USER, message, result])
    sent = server.last.json["messages"]
    assert [entry["role"] for entry in sent] == ["system", "user", "assistant", "user"]
    assert sent[2]["content"] == WEATHER
    assert sent[3]["content"] == '<tool-result name="weather">21 degrees</tool-result>'


def test_native_calls_of_the_model_pass(play: Callable[..., Server], provider: Provider) -> None:
    server = play([Answer([Call("ping", {})])])
    assert names(ask(server).choices[0].message) == ["ping"]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("model", ["wirecall/openai/gpt-4o", "wirecall/anthropic/claude-sonnet-5"])
def test_failures_are_tried_again(
    play: Callable[..., Server], run: Run, provider: Provider, model: str, asynchronous: bool
) -> None:
    server = play([Failure(500), Answer(PING)])
    chunks = run(stream(server, asynchronous, model, num_retries=1))
    deltas = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
    assert [call.function.name for call in deltas if call.function.name] == ["ping"]
    server = play([Failure(429), Answer(PING)])
    assert names(ask(server, model, num_retries=1).choices[0].message) == ["ping"]


@pytest.mark.parametrize("inner", ["openai/gpt-4o", "anthropic/claude-sonnet-5"])
@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
def test_errors_are_those_of_the_inner_model(
    play: Callable[..., Server], provider: Provider, inner: str, status: int
) -> None:
    server = play(lambda _: Failure(status, type="authentication_error" if status == 401 else None))
    for streamed in (False, True):
        with pytest.raises(openai.APIError) as bare:
            ask(server, inner, stream=streamed, max_retries=0)
        with pytest.raises(openai.APIError) as wrapped:
            ask(server, f"wirecall/{inner}", stream=streamed, max_retries=0)
        assert type(wrapped.value) is type(bare.value)
        assert wrapped.value.status_code == bare.value.status_code == status
        assert "The server had an error" in str(wrapped.value)


def test_timeouts_pass(play: Callable[..., Server], provider: Provider) -> None:
    server = play([Answer(PING, delivery=Delivery(cut_after=0, ending="stalled"))])
    with pytest.raises(litellm.Timeout):
        ask(server, timeout=0.3, max_retries=0)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_call_failed_reaches_the_caller(play: Callable[..., Server], run: Run, asynchronous: bool) -> None:
    register(on_error="raise")
    server = play(lambda _: Answer("<call>nothing</call>"))
    with pytest.raises(wirecall.ToolCallError) as caught:
        ask(server)
    assert caught.value.error is not None
    assert caught.value.error.name == "nothing"
    assert isinstance(caught.value, litellm.BadRequestError)
    with pytest.raises(wirecall.ToolCallError):
        run(stream(server, asynchronous))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_streamed_arguments(play: Callable[..., Server], run: Run, asynchronous: bool) -> None:
    register(stream_arguments=True)
    server = play([Answer('<call>note text="abc def"</call>'), Answer('<call>note text="abc def')])
    chunks = run(stream(server, asynchronous))
    deltas = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
    assert "".join(call.function.arguments or "" for call in deltas) == '{"text":"abc def"}'
    assert len(deltas) > 2
    with pytest.raises(wirecall.ToolCallError):
        run(stream(server, asynchronous))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_reasoning(play: Callable[..., Server], run: Run, asynchronous: bool) -> None:
    register(reasoning="separate")
    text = f"<think>\nWhere?\n</think>\n\n{WEATHER}"
    server = play([Answer(text), Answer(text)])
    message = ask(server).choices[0].message
    # litellm itself takes `<think>` out of whole answers, and leaves the line breaks.
    assert (message.reasoning_content.strip(), names(message)) == ("Where?", ["weather"])
    chunks = run(stream(server, asynchronous))
    deltas = [getattr(chunk.choices[0].delta, "reasoning_content", None) or "" for chunk in chunks]
    assert "".join(deltas) == "Where?"
    kept = {key: message[key] for key in ("role", "content", "tool_calls", "reasoning_content")}
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "sun"}
    server = play([Answer("Sun.")])
    ask(server, messages=[*USER, kept, result])
    sent = server.last.json["messages"][-2]
    assert "reasoning_content" not in sent
    assert [line for line in sent["content"].splitlines() if line] == [*text.splitlines()[:3], WEATHER]


def test_several_choices(play: Callable[..., Server], provider: Provider) -> None:
    server = play(lambda _: Answer(PING, others=["No."]))
    first, second = ask(server, n=2).choices
    assert (first.finish_reason, names(first.message)) == ("tool_calls", ["ping"])
    assert (second.finish_reason, second.message.content) == ("stop", "No.")
    chunks = list(ask(server, n=2, stream=True))
    texts = [choice.delta.content or "" for chunk in chunks for choice in chunk.choices if choice.index == 1]
    assert "".join(texts) == "No."
    choices = [choice for chunk in chunks for choice in chunk.choices if choice.index == 0]
    assert [
        call.function.name for choice in choices for call in choice.delta.tool_calls or () if call.id
    ] == ["ping"]
    assert "".join(choice.delta.content or "" for choice in choices) == ""


def test_a_bad_tool_is_said_before_anything_is_sent(play: Callable[..., Server], provider: Provider) -> None:
    server = play([])
    bad = {"type": "function", "function": {"name": "a b", "parameters": {"type": "object"}}}
    with pytest.raises(wirecall.ToolError, match="a b"):
        ask(server, tools=[bad])
    with pytest.raises(TypeError, match="on_eror"):
        ask(server, wirecall={"on_eror": "text"})
    assert server.requests == []


def test_options_of_one_request_stay_here(play: Callable[..., Server], provider: Provider) -> None:
    server = play([Answer("<call>nothing</call>"), Answer(PING)])
    answer = ask(server, wirecall={"on_error": "text"})
    assert "<tool-error" in answer.choices[0].message.content
    assert "wirecall" not in str(server.last.json)
    assert names(ask(server).choices[0].message) == ["ping"]


def test_two_names_with_options_of_their_own(play: Callable[..., Server]) -> None:
    register(on_error="native")
    register("compact", on_error="text")
    register("compact", on_error="text", manual_header="MINE")
    assert [item["provider"] for item in litellm.custom_provider_map] == ["wirecall", "compact"]
    server = play([Answer("<call>nothing</call>"), Answer("<call>nothing</call>")])
    assert names(ask(server).choices[0].message) == ["nothing"]
    assert names(ask(server, "compact/openai/gpt-4o").choices[0].message) == []
    assert "MINE" in server.last.json["messages"][0]["content"]
    with pytest.raises(TypeError, match="no_such"):
        register(no_such=1)


def test_callbacks_hear_of_each_request_once(
    play: Callable[..., Server], run: Run, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Any] = []

    class Logger(CustomLogger):
        async def async_log_success_event(
            self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
        ) -> None:
            if "gpt-4o-mini" not in kwargs["model"]:
                return  # of another test
            heard.append(
                (
                    kwargs["custom_llm_provider"],
                    names(response_obj.choices[0].message),
                    kwargs["response_cost"],
                )
            )

    monkeypatch.setattr(litellm, "callbacks", [Logger()])
    server = play([Answer('<call>note text="'), Answer(PING)])

    async def ask_once() -> None:
        await litellm.acompletion(
            model="wirecall/openai/gpt-4o-mini",
            messages=USER,
            tools=TOOLS,
            api_base=server.openai_url,
            api_key="sk-test",
        )
        for _ in range(100):
            await asyncio.sleep(0.02)
            if heard:
                break
        await asyncio.sleep(0.2)

    run(ask_once())
    assert [entry[:2] for entry in heard] == [("wirecall", ["ping"])]
    assert heard[0][2] > 0


def test_a_client_that_goes_closes_the_inner_stream(
    play: Callable[..., Server], run: Run, provider: Provider
) -> None:
    server = play([Answer("word " * 2000, delivery=Delivery(characters=5, delay=0.01))])

    async def ask_once() -> None:
        answer = await litellm.acompletion(
            model="wirecall/openai/gpt-4o",
            messages=USER,
            tools=TOOLS,
            api_base=server.openai_url,
            api_key="sk-test",
            stream=True,
        )
        async for _ in answer:
            break
        await answer.aclose()

    run(ask_once())
    server.settle()
    assert server.last.ended == "client gone"


def test_a_sync_stream_that_is_dropped_closes_the_inner_one(
    play: Callable[..., Server], provider: Provider
) -> None:
    server = play([Answer("word " * 2000, delivery=Delivery(characters=5, delay=0.01))])
    answer = ask(server, stream=True)
    next(answer)
    answer.completion_stream.close()
    server.settle()
    assert server.last.ended == "client gone"


@pytest.mark.parametrize("inner", ["openai/gpt-4o", "anthropic/claude-sonnet-5"])
def test_no_inner_stream_is_left_to_the_garbage_collector(
    play: Callable[..., Server], provider: Provider, inner: str
) -> None:
    """It closes connections while httpx holds their lock, and hangs: seen in a stream of litellm's own."""
    server = play(lambda _: Answer(PING))
    before = _open_streams()
    gc.disable()
    try:
        for _ in range(3):
            list(ask(server, f"wirecall/{inner}", stream=True))
        assert [item for item in _open_streams() if item not in before] == []
    finally:
        gc.enable()


def _open_streams() -> list[Any]:
    generators = [item for item in gc.get_objects() if isinstance(item, GeneratorType)]
    return [item for item in generators if item.gi_frame and "httpx" in item.gi_code.co_filename]


def test_the_router_serves_it(play: Callable[..., Server], provider: Provider) -> None:
    server = play([Answer(PING)])
    params = {"model": "wirecall/openai/gpt-4o", "api_base": server.openai_url, "api_key": "sk-test"}
    router = litellm.Router(model_list=[{"model_name": "mine", "litellm_params": params}])
    assert names(router.completion("mine", USER, tools=TOOLS).choices[0].message) == ["ping"]


def test_an_old_or_missing_litellm_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: "1.99.9")
    with pytest.raises(ImportError, match=r"litellm 1\.99\.9 is too old"):
        importlib.reload(integration)

    def missing(_: str) -> str:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(ImportError, match=r"litellm is not installed; .*: pip install 'litellm>=1\.100'"):
        importlib.reload(integration)
