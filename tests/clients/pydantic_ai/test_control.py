"""pydantic-ai, bare, through the plan with native tool calls: what the wrapped clients are compared with."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai needs Python 3.11", exc_type=ImportError)

import anthropic
import openai
from loops import DEFINITIONS, Log, expected, plan, run_tool
from pydantic_ai import Agent, Tool
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from server import NativeModel, Server, serve


def provided(server: Server, model_type: Any) -> tuple[Any, Any]:
    """The model, and the client that has to be closed."""
    client: Any
    if model_type is AnthropicModel:
        client = anthropic.AsyncAnthropic(base_url=server.url, api_key="x", max_retries=0)
        return client, AnthropicModel("m", provider=AnthropicProvider(anthropic_client=client))
    client = openai.AsyncOpenAI(base_url=server.openai_url, api_key="x", max_retries=0)
    return client, model_type("m", provider=OpenAIProvider(openai_client=client))


def tools(log: Log) -> list[Any]:
    def make(function: dict[str, Any]) -> Any:
        def invoke(**arguments: Any) -> str:
            log.append((function["name"], arguments, run_tool(function["name"], arguments)))
            return log[-1][2]

        description = function.get("description", "d")
        return Tool.from_schema(
            invoke, function["name"], description, function["parameters"], sequential=True
        )

    return [make(definition["function"]) for definition in DEFINITIONS]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("model_type", [OpenAIChatModel, OpenAIResponsesModel, AnthropicModel])
def test_the_plan(model_type: Any, streamed: bool) -> None:
    log: Log = []

    async def run(server: Server) -> str:
        client, model = provided(server, model_type)
        async with client:
            agent = Agent(model, instructions="Be kind.", tools=tools(log))
            if not streamed:
                return str((await agent.run("Go.")).output)
            async with agent.run_stream("Go.") as result:
                return str(await result.get_output())

    with serve(NativeModel(plan(prose=False))) as server:
        final = asyncio.run(run(server))
    assert [request.refused for request in server.requests if request.refused] == []
    assert (log, final) == expected()
