"""A pydantic-ai agent with typed output, with a model that writes calls as text.

OPENAI_API_KEY=… python examples/pydantic_ai_agent.py
python examples/pydantic_ai_agent.py --demo        # no key, no network
"""

import asyncio

from demo_server import endpoint
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import wirecall

STOCK = {"S": 4, "M": 0, "L": 11}


class Offer(BaseModel):
    """What can be sold."""

    article: str
    sizes: list[str]


DEMO = [
    ("", [("stock", {"article": "shirt", "size": "small"}), ("stock", {"article": "shirt", "size": "M"})]),
    ("", [("stock", {"article": "shirt", "size": "S"})], "unknown_tool"),
    ("", [("final_result", {"article": "shirt", "sizes": ["S"]})]),
]


async def stock(article: str, size: str) -> int:
    """How many of an article are in stock.

    Args:
        article: Its name.
        size: S, M or L.
    """
    if size not in STOCK:
        raise ModelRetry(f"There is no size {size}; there are S, M and L.")
    return STOCK[size]


async def main() -> None:
    with endpoint("gpt-4.1-mini", DEMO) as model:
        async with AsyncOpenAI() as client:
            provider = OpenAIProvider(openai_client=wirecall.wrap(client))
            agent = Agent(
                OpenAIChatModel(model, provider=provider),
                output_type=Offer,
                instructions="You run a shop.",
                tools=[stock],
            )
            result = await agent.run("Do you have the shirt in S or M?")
    for message in result.all_messages():
        for part in message.parts:
            if part.part_kind == "tool-call":
                print(f"{part.tool_name} {part.args_as_dict()}")
            elif part.part_kind in ("tool-return", "retry-prompt"):
                print(f"  {part.content}")
    print(repr(result.output))


if __name__ == "__main__":
    asyncio.run(main())
