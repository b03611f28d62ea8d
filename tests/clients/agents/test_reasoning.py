"""Reasoning that is in the model's text: items of the run, as docs/clients/openai-agents.md says."""

import asyncio
from typing import Any

import agents
import openai
import pytest
from agents import Agent, ReasoningItem, Runner, function_tool
from brief import ANSWERS, CALL, THOUGHT
from server import Answer, Delivery, serve

import wirecall


def model_of(api: str, client: Any) -> agents.Model:
    if api == "responses":
        return agents.OpenAIResponsesModel("a-model", client)
    if api in ("chat", "chat_deepseek"):
        name = "deepseek-r1" if api == "chat_deepseek" else "a-model"
        return agents.OpenAIChatCompletionsModel(name, client)
    return agents.OpenAIChatCompletionsModel(
        "a-model", client, should_replay_reasoning_content=lambda context: True
    )


def ran(api: str, streams: bool) -> tuple[Any, list[str], str]:
    """A run of two answers, the deltas of its reasoning, and its first answer as the model read it again."""

    @function_tool
    def weather(city: str) -> str:
        """The weather."""
        return "hot"

    deltas: list[str] = []

    async def run() -> Any:
        plain = openai.AsyncOpenAI(base_url=server.openai_url, api_key="k", max_retries=0)
        async with wirecall.wrap(plain, reasoning="separate") as client:
            agent = Agent("weather", tools=[weather], model=model_of(api, client))
            if not streams:
                return await Runner.run(agent, "Where to?")
            result = Runner.run_streamed(agent, "Where to?")
            async for event in result.stream_events():
                if event.type == "raw_response_event" and "reasoning" in event.data.type:
                    deltas.append(getattr(event.data, "delta", ""))
            return result

    agents.set_tracing_disabled(True)
    with serve([Answer(text, delivery=Delivery(characters=3)) for text in ANSWERS]) as server:
        result = asyncio.run(run())
        assert server.errors == []
        json = server.last.json
    sent = json["messages"] if api != "responses" else json["input"]
    [again] = [item["content"] for item in sent if item["role"] == "assistant"]
    return result, deltas, again


@pytest.mark.parametrize("streams", [False, True], ids=["run", "run_streamed"])
@pytest.mark.parametrize("api", ["responses", "chat", "chat_deepseek", "chat_replayed"])
def test_separate_reasoning_is_an_item_and_goes_back_where_the_page_says_so(api: str, streams: bool) -> None:
    result, deltas, again = ran(api, streams)
    items = [item.raw_item for item in result.new_items if isinstance(item, ReasoningItem)]
    thoughts = [(item.content or item.summary)[0].text for item in items]
    assert thoughts == ["Go where?", "Arrived."]
    assert all(bool(item.content) == (api == "responses") for item in items)
    assert result.final_output == "Done."
    assert "".join(deltas) == ("Go where?Arrived." if streams else "")
    assert again == (CALL if api == "chat" else f"{THOUGHT}{CALL}")
