"""openai-agents, bare, through the plan with native tool calls: what the wrapped client is compared with."""

import asyncio
import json
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    FunctionTool,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    set_tracing_disabled,
)
from loops import DEFINITIONS, Log, expected, plan, run_tool
from server import NativeModel, serve


@pytest.fixture(autouse=True)
def no_tracing() -> None:
    """Traces would go to the real API."""
    set_tracing_disabled(True)


def tools(log: Log) -> list[Any]:
    def make(function: dict[str, Any]) -> FunctionTool:
        async def invoke(context: Any, text: str) -> str:
            arguments = json.loads(text)
            log.append((function["name"], arguments, run_tool(function["name"], arguments)))
            return log[-1][2]

        description = function.get("description", "")
        return FunctionTool(
            function["name"], description, function["parameters"], invoke, strict_json_schema=False
        )

    return [make(definition["function"]) for definition in DEFINITIONS]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("model_type", [OpenAIChatCompletionsModel, OpenAIResponsesModel])
def test_the_plan(model_type: Any, streamed: bool) -> None:
    log: Log = []

    async def run(url: str) -> str:
        async with openai.AsyncOpenAI(base_url=url, api_key="x", max_retries=0) as client:
            model = model_type(model="m", openai_client=client)
            agent = Agent(name="a", instructions="Be kind.", model=model, tools=tools(log))
            if not streamed:
                return str((await Runner.run(agent, "Go.", max_turns=20)).final_output)
            result = Runner.run_streamed(agent, "Go.", max_turns=20)
            async for _ in result.stream_events():
                pass
            return str(result.final_output)

    with serve(NativeModel(plan())) as server:
        final = asyncio.run(run(server.openai_url))
    assert [request.refused for request in server.requests if request.refused] == []
    assert (log, final) == expected()
