"""One wrapped chat model: what it answers, how it streams, and what `wrap` leaves alone."""

import asyncio
from collections.abc import Callable
from importlib import metadata
from typing import Any

import pytest
from brief import TOOLS
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import ConfigurableField
from langchain_openai import ChatOpenAI
from pydantic import BaseModel
from server import Answer, Delivery, Failure, Server

import wirecall

KINDS = ["chat", "responses", "anthropic"]
WRITTEN = "Now. <call>weather city=Austin</call> <call>weather city=Boston days=2</call>"
CALLS = [("weather", {"city": "Austin"}), ("weather", {"city": "Boston", "days": 2})]


class Person(BaseModel):
    """Who it is."""

    name: str
    age: int


PERSON = '<call>Person name="Ann Lee" age=41</call>'


def calls(message: Any) -> list[tuple[str, Any]]:
    return [(call["name"], call["args"]) for call in message.tool_calls]


async def _gathered(stream: Any) -> list[Any]:
    return [chunk async for chunk in stream]


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch", "stream", "astream"])
@pytest.mark.parametrize("kind", KINDS)
def test_bound_tools(play: Callable[..., Server], model: Callable[..., Any], kind: str, way: str) -> None:
    server = play(lambda _: Answer(WRITTEN, delivery=Delivery(characters=3)))
    bare = model(kind, server)
    wrapped = wirecall.wrap(bare)
    assert type(wrapped) is type(bare)
    bound = wrapped.bind_tools(TOOLS)
    if way == "batch":
        answers = bound.batch(["Hi", "Hello", "Hey"])
    elif way in ("invoke", "ainvoke"):
        answers = [bound.invoke("Hi") if way == "invoke" else asyncio.run(bound.ainvoke("Hi"))]
    else:
        chunks = list(bound.stream("Hi")) if way == "stream" else asyncio.run(_gathered(bound.astream("Hi")))
        pieces = [piece for chunk in chunks for piece in chunk.tool_call_chunks]
        assert [piece["name"] for piece in pieces if piece["name"]] == ["weather", "weather"]
        assert len({piece["id"] for piece in pieces if piece["id"]}) == 2
        answer = chunks[0]
        for chunk in chunks[1:]:
            answer += chunk
        assert isinstance(answer, AIMessageChunk)
        answers = [answer]
    for answer in answers:
        assert calls(answer) == CALLS
        assert answer.text.strip() == "Now."
        assert answer.invalid_tool_calls == []
    assert not any("tools" in request.json for request in server.requests)


@pytest.mark.parametrize("kind", KINDS)
def test_the_model_itself_is_left_alone(
    play: Callable[..., Server], model: Callable[..., Any], kind: str
) -> None:
    server = play(lambda _: Answer("Fine."))
    bare = model(kind, server)
    wirecall.wrap(bare)
    assert bare.bind_tools(TOOLS).invoke("Hi").text == "Fine."
    assert len(server.last.json["tools"]) == len(TOOLS)
    other = model(kind, server)
    other.bind_tools(TOOLS).invoke("Hi")
    assert "tools" in server.last.json, "clients that models share must not be changed"


@pytest.mark.parametrize("kind", KINDS)
def test_structured_output_by_function_calling(
    play: Callable[..., Server], model: Callable[..., Any], kind: str
) -> None:
    server = play(lambda _: Answer(PERSON))
    structured = wirecall.wrap(model(kind, server)).with_structured_output(Person, method="function_calling")
    assert structured.invoke("Who?") == Person(name="Ann Lee", age=41)
    assert asyncio.run(structured.ainvoke("Who?")) == Person(name="Ann Lee", age=41)
    assert list(structured.stream("Who?"))[-1] == Person(name="Ann Lee", age=41)
    assert not any("tools" in request.json for request in server.requests)


def test_structured_output_without_tools_stays_native(
    play: Callable[..., Server], model: Callable[..., Any]
) -> None:
    server = play(lambda _: Answer('{"name":"Ann Lee","age":41}'))
    structured = wirecall.wrap(model("chat", server)).with_structured_output(Person)
    assert structured.invoke("Who?") == Person(name="Ann Lee", age=41)
    assert server.last.json["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("kind", KINDS)
def test_retries_are_the_clients(play: Callable[..., Server], model: Callable[..., Any], kind: str) -> None:
    server = play([Failure(500), Answer(WRITTEN)])
    wrapped = wirecall.wrap(model(kind, server, max_retries=1))
    assert calls(wrapped.bind_tools(TOOLS).invoke("Hi")) == CALLS


def test_options_are_those_of_wrap(play: Callable[..., Server], model: Callable[..., Any]) -> None:
    server = play([Answer("<call>nothing</call>")])
    heard: list[wirecall.Notice] = []
    wrapped = wirecall.wrap(model("chat", server), on_error="text", on_event=heard.append)
    assert "<tool-error" in wrapped.bind_tools(TOOLS).invoke("Hi").text
    assert "error" in [notice.kind for notice in heard]


def test_models_that_share_connections_keep_their_own_options(
    play: Callable[..., Server], model: Callable[..., Any]
) -> None:
    server = play(lambda _: Answer("<call>nothing</call>"))
    bare = model("chat", server)
    shown = wirecall.wrap(bare, on_error="text").bind_tools(TOOLS)
    handed = wirecall.wrap(bare, on_error="native").bind_tools(TOOLS)
    assert "<tool-error" in shown.invoke("Hi").text
    # Its arguments can be read, though there is no such tool.
    assert [(call["name"], call["args"]) for call in handed.invoke("Hi").tool_calls] == [("nothing", {})]
    assert "<tool-error" in shown.invoke("Hi").text


def test_a_configured_model_is_wrapped_still(play: Callable[..., Server], model: Callable[..., Any]) -> None:
    server = play(lambda _: Answer(WRITTEN))
    wrapped = wirecall.wrap(model("chat", server)).configurable_fields(
        temperature=ConfigurableField("temperature")
    )
    answer = wrapped.with_config(configurable={"temperature": 0.5}).bind_tools(TOOLS).invoke("Hi")
    assert calls(answer) == CALLS
    assert server.last.json["temperature"] == 0.5


def test_a_model_with_an_async_key_has_one_client(play: Callable[..., Server]) -> None:
    server = play(lambda _: Answer(WRITTEN))

    async def key() -> str:
        return "sk-later"

    wrapped = wirecall.wrap(ChatOpenAI(model="gpt-4o", base_url=server.openai_url, api_key=key))
    assert calls(asyncio.run(wrapped.bind_tools(TOOLS).ainvoke("Hi"))) == CALLS
    assert server.last.headers["authorization"] == "Bearer sk-later"


def test_the_servers_history_is_refused(play: Callable[..., Server], model: Callable[..., Any]) -> None:
    server = play(lambda _: Answer(WRITTEN))
    wrapped = wirecall.wrap(model("responses", server)).bind_tools(TOOLS)
    with pytest.raises(Exception, match="previous_response_id"):
        wrapped.invoke("Hi", previous_response_id="resp_1")
    assert server.requests == []


def test_what_cannot_be_wrapped_is_said(play: Callable[..., Server], model: Callable[..., Any]) -> None:
    server = play([])
    with pytest.raises(TypeError, match="before bind_tools"):
        wirecall.wrap(model("chat", server).bind_tools(TOOLS))


def test_an_old_package_is_said(
    play: Callable[..., Server], model: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = model("chat", play([]))
    monkeypatch.setattr(metadata, "version", lambda _: "0.3.1")
    with pytest.raises(ImportError, match=r"langchain-openai 0\.3\.1 is too old"):
        wirecall.wrap(chat)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("kind", KINDS)
def test_middlewares_get_its_requests(
    play: Callable[..., Server], model: Callable[..., Any], kind: str, way: str
) -> None:
    class Noting:
        asked, heard = 0, 0

        def on_request(self, request: Any, *, api: str, session: str | None = None) -> Any:
            assert session == "s"
            assert api == {"anthropic": "messages"}.get(kind, kind)
            assert "tools" in request
            Noting.asked += 1
            return request

        async def aon_request(self, request: Any, **told: Any) -> Any:
            return self.on_request(request, **told)

        def on_usage(self, body: Any, *, api: str, session: str | None = None) -> None:
            assert body["usage"]
            Noting.heard += 1

    server = play([Answer(WRITTEN)])
    wrapped = wirecall.wrap(model(kind, server), middleware=(one for one in [Noting()]))
    bound = wrapped.bind_tools(TOOLS).bind(extra_body={"wirecall": {"session": "s"}})
    answer = bound.invoke("Hi") if way == "invoke" else asyncio.run(bound.ainvoke("Hi"))
    assert calls(answer) == CALLS
    assert (Noting.asked, Noting.heard) == (1, 1)
