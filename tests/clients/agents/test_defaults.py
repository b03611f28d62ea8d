"""A tool with a default under a strict schema, which lists every property in `required`.

What a model leaves out has its default, with native calls and over text alike.
"""

import asyncio
from typing import Any

import agents
import openai
import pytest
from agents import Agent, Runner, function_tool
from server import Answer, Call, serve

import wirecall

APIS = ("chat", "responses")


def run(script: list[Any], api: str, wrap: Any) -> tuple[list[tuple[str, int]], str, list[Any]]:
    """The calls that the tool got, the final output, and the requests."""
    calls = []

    @function_tool
    def get_weather(city: str, days: int = 1) -> str:
        """The weather."""
        calls.append((city, days))
        return "sunny"

    schema = get_weather.params_json_schema
    assert get_weather.strict_json_schema
    assert schema["required"] == ["city", "days"]
    assert schema["properties"]["days"]["default"] == 1

    async def main() -> Any:
        async with wrap(openai.AsyncOpenAI(base_url=server.openai_url, api_key="k", max_retries=0)) as client:
            model: Any = agents.OpenAIResponsesModel("a-model", client)
            if api == "chat":
                model = agents.OpenAIChatCompletionsModel("a-model", client)
            return await Runner.run(
                Agent("weather", tools=[get_weather], model=model), "The weather in Rome?"
            )

    agents.set_tracing_disabled(True)
    with serve(script) as server:
        result = asyncio.run(main())
        assert server.errors == []
        requests = list(server.requests)
    return calls, result.final_output, requests


@pytest.mark.parametrize("options", [{}, {"strict": True}, {"validate": "error"}], ids=str)
@pytest.mark.parametrize("api", APIS)
def test_a_call_without_it_runs(api: str, options: dict[str, Any]) -> None:
    native = [Answer([Call("get_weather", {"city": "Rome"})]), Answer("Sunny.")]
    calls, output, _ = run(native, api, lambda client: client)
    assert (calls, output) == ([("Rome", 1)], "Sunny.")

    text = [Answer("<call>get_weather city=Rome</call>"), Answer("Sunny.")]
    calls, output, requests = run(text, api, lambda client: wirecall.wrap(client, **options))
    assert (calls, output) == ([("Rome", 1)], "Sunny.")
    assert len(requests) == 2  # nothing was asked again
    assert "get_weather city days?:int=1" in requests[0].body.decode()


@pytest.mark.parametrize("api", APIS)
def test_another_value_is_kept(api: str) -> None:
    text = [Answer("<call>get_weather city=Rome days=3</call>"), Answer("Sunny.")]
    assert run(text, api, wirecall.wrap)[0] == [("Rome", 3)]
