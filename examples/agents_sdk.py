"""Two agents of the OpenAI Agents SDK and a handoff, streamed, with a model that writes calls as text.

OPENAI_API_KEY=… python examples/agents_sdk.py
OPENAI_BASE_URL=http://localhost:8000/v1 OPENAI_API_KEY=x MODEL=my-model python examples/agents_sdk.py --chat
python examples/agents_sdk.py --demo        # no key, no network
"""

import asyncio
import sys

from agents import (
    Agent,
    Runner,
    function_tool,
    set_default_openai_api,
    set_default_openai_client,
    set_tracing_disabled,
)
from demo_server import endpoint
from openai import AsyncOpenAI

import wirecall

DEMO = [
    ("I'll look. ", [("stock", {"article": "shirt", "size": "L"})], "broken_json"),
    ("", [("transfer_to_seller", {})]),
    ("", [("ship", {"article": "shirt", "count": 2, "city": "New York"})]),
    ("Two shirts are on their way to New York.", []),
]


@function_tool
def stock(article: str, size: str) -> int:
    """How many of an article are in stock."""
    return {"S": 4, "M": 0, "L": 11}.get(size, 0)


@function_tool
def ship(article: str, count: int, city: str) -> str:
    """Ship articles to a city."""
    return f"{count} x {article} to {city}"


async def main() -> None:
    with endpoint("gpt-4.1-mini", DEMO, takes=["--chat"]) as model:
        async with AsyncOpenAI() as client:
            set_default_openai_client(wirecall.wrap(client), use_for_tracing=False)
            set_tracing_disabled(True)
            if "--chat" in sys.argv:
                set_default_openai_api("chat_completions")
            seller = Agent("seller", instructions="You sell.", tools=[ship], model=model)
            triage = Agent(
                "triage", instructions="You run a shop.", tools=[stock], handoffs=[seller], model=model
            )
            result = Runner.run_streamed(triage, "Two shirts in L to New York, please.")
            async for event in result.stream_events():
                if event.type == "agent_updated_stream_event":
                    print(f"[{event.new_agent.name}]")
                elif event.type == "run_item_stream_event" and event.item.type == "tool_call_item":
                    print(f"{event.item.raw_item.name} {event.item.raw_item.arguments}")
                elif event.type == "run_item_stream_event" and event.item.type == "tool_call_output_item":
                    print(f"  {event.item.output}")
    print(result.final_output)


if __name__ == "__main__":
    asyncio.run(main())
