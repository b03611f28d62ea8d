"""LangChain, bare, through the plan with native tool calls: what the wrapped models are compared with."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from loops import DEFINITIONS, Log, expected, plan, run_tool
from server import NativeModel, Server, serve


def chat(server: Server) -> Any:
    return ChatOpenAI(model="m", base_url=server.openai_url, api_key="x", max_retries=0)


def responses(server: Server) -> Any:
    return ChatOpenAI(
        model="m", base_url=server.openai_url, api_key="x", max_retries=0, use_responses_api=True
    )


def messages(server: Server) -> Any:
    return ChatAnthropic(model="m", base_url=server.url, api_key="x", max_retries=0, max_tokens=99)


def tools(log: Log) -> list[Any]:
    def make(function: dict[str, Any]) -> StructuredTool:
        def invoke(**arguments: Any) -> str:
            log.append((function["name"], arguments, run_tool(function["name"], arguments)))
            return log[-1][2]

        return StructuredTool.from_function(
            invoke,
            name=function["name"],
            description=function.get("description", "d"),
            args_schema=function["parameters"],
        )

    return [make(definition["function"]) for definition in DEFINITIONS]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("make", [chat, responses, messages])
def test_the_plan(make: Any, asynchronous: bool, streamed: bool) -> None:
    log: Log = []
    start: Any = {"messages": [{"role": "user", "content": "Go."}]}

    async def run(server: Server) -> str:
        agent = create_agent(make(server), tools(log), system_prompt="Be kind.")
        config: Any = {"recursion_limit": 99}
        state: Any = None
        if streamed and asynchronous:
            async for _, value in agent.astream(start, config, stream_mode=["messages", "values"]):
                state = value
        elif streamed:
            for _, value in agent.stream(start, config, stream_mode=["messages", "values"]):
                state = value
        else:
            state = await agent.ainvoke(start, config) if asynchronous else agent.invoke(start, config)
        return str(state["messages"][-1].text)

    with serve(NativeModel(plan())) as server:
        final = asyncio.run(run(server))
    assert [request.refused for request in server.requests if request.refused] == []
    # Parallel calls run in threads.
    assert (sorted(log, key=repr), final) == (sorted(expected()[0], key=repr), expected()[1])
