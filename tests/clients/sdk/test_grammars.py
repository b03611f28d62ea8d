"""`wrap(grammar=…)` with the SDKs: what servers that sample under a grammar get, and what they never get."""

import asyncio
from typing import Any

import anthropic
import openai
import pytest
from pydantic import BaseModel
from server import Answer
from wrapping import BAD, CALL, CALLS, OVER_TEXT, Ask, Play, Seen, got, run
from wrapping_anthropic import ANTHROPIC
from wrapping_openai import (
    CHAT,
    OPENAI,
    RESPONSES,
    responses,
    responses_helper,
    responses_parse,
    responses_stream,
    tool,
)

import wirecall

OVER_RESPONSES = (responses, responses_parse, responses_stream, responses_helper)
kinds = pytest.mark.parametrize("kind", OPENAI.kinds)
servers = pytest.mark.parametrize("name", ["llama.cpp", "vllm"])


def expected(name: str, **choice: Any) -> dict[str, Any]:
    tools = wirecall.Toolset([tool()])
    if name == "llama.cpp":
        return {"grammar": tools.grammar("gbnf", **choice).text}
    return {"structured_outputs": {"structural_tag": tools.grammar("structural_tag", **choice).text}}


def fields(request: Any) -> dict[str, Any]:
    return {key: request.json[key] for key in ("grammar", "structured_outputs") if key in request.json}


@kinds
@servers
@pytest.mark.parametrize("way", [*OPENAI.whole, *OPENAI.streamed])
def test_the_server_gets_a_grammar(play: Play, kind: Any, name: str, way: Ask) -> None:
    server = play([OVER_TEXT], grammars=name)
    client = OPENAI.made(kind, server, {"grammar": name})
    if name == "llama.cpp" and way in OVER_RESPONSES:
        with pytest.raises(openai.BadRequestError, match="takes grammars in chat completions only"):
            run(client, way)
        assert server.requests == []
        return
    assert run(client, way) == Seen("Grüße. ", CALLS, {**OPENAI.whole, **OPENAI.streamed}[way])
    assert server.last.refused is None
    assert fields(server.last) == expected(name)
    assert "stop" not in server.last.json


@kinds
@servers
def test_choices_and_retries(play: Play, kind: Any, name: str) -> None:
    server = play([Answer(BAD), Answer(CALL)], grammars=name)
    choice = {"type": "function", "function": {"name": "go"}}

    async def create(client: Any) -> Seen:
        return await OPENAI.create(client, tool_choice=choice, parallel_tool_calls=False)

    assert run(OPENAI.made(kind, server, {"grammar": name}), create).calls == CALLS[:1]
    named = expected(name, tool_choice="go", parallel=False)
    assert [fields(request) for request in server.requests] == [named, named]


@servers
def test_no_calls_no_grammar(play: Play, name: str) -> None:
    server = play([Answer("Hm."), Answer("Hm.")], grammars=name)
    client = wirecall.wrap(OPENAI.bare(openai.OpenAI, server), grammar=name)  # type: ignore[arg-type]
    client.chat.completions.create(**{**CHAT, "tool_choice": "none"})
    client.chat.completions.create(**CHAT, extra_body={"wirecall": {"grammar": None}})
    assert [fields(request) for request in server.requests] == [{}, {}]
    assert "wirecall" not in server.last.json


class Place(BaseModel):
    name: str


@kinds
@servers
@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"extra_body": {"grammar": 'root ::= "x"'}}, "grammar"),
        ({"extra_body": {"structured_outputs": {"regex": "x"}}}, "structured_outputs"),
        ({"extra_body": {"guided_choice": ["x"]}}, "guided_choice"),
    ],
    ids=str,
)
def test_another_constraint_is_a_bad_request_and_is_not_sent(
    play: Play, kind: Any, name: str, given: Any, key: str
) -> None:
    server = play([], grammars=name)

    async def create(client: Any) -> Any:
        return await OPENAI.create(client, **given)

    with pytest.raises(openai.BadRequestError, match=f"the request has `{key}`, and grammar='{name}'"):
        run(OPENAI.made(kind, server, {"grammar": name}, max_retries=2), create)

    async def parse(client: Any) -> Any:
        return await got(client.chat.completions.parse(**CHAT, response_format=Place))

    with pytest.raises(openai.BadRequestError, match="leave `response_format` out"):
        run(OPENAI.made(kind, server, {"grammar": name}), parse)
    assert server.requests == []


def test_responses_with_a_format(play: Play) -> None:
    server = play([OVER_TEXT], grammars="vllm")
    client = wirecall.wrap(OPENAI.bare(openai.OpenAI, server), grammar="vllm")
    client.responses.create(**RESPONSES, text={"format": {"type": "text"}})
    assert (server.last.json["text"], fields(server.last)) == ({}, expected("vllm"))
    with pytest.raises(openai.BadRequestError, match=r"the request has `text\.format`"):
        client.responses.parse(**RESPONSES, text_format=Place)
    assert len(server.requests) == 1


@pytest.mark.parametrize("kind", ANTHROPIC.kinds)
@servers
def test_anthropic_has_no_field_for_it(play: Play, kind: Any, name: str) -> None:
    server = play([])
    with pytest.raises(
        anthropic.BadRequestError, match="this API has no field for a grammar: use the server"
    ):
        run(ANTHROPIC.made(kind, server, {"grammar": name}, max_retries=2), ANTHROPIC.create)
    assert server.requests == []


@servers
def test_a_protocol_without_a_grammar(name: str) -> None:
    class Own(wirecall.Protocol):
        def parse(self, text: str) -> Any:
            return None

        def format_call(self, name: str, arguments: Any) -> str:
            return name

    client = openai.AsyncOpenAI(api_key="x")
    with pytest.raises(wirecall.ToolError, match="grammar"):
        wirecall.wrap(client, protocol=Own(open="[CALL]", close="[/CALL]"), grammar=name)  # type: ignore[arg-type]
    asyncio.run(client.close())
