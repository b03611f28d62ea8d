"""A LangChain agent, streamed, with a model that writes calls as text.

OPENAI_API_KEY=… python examples/langchain_agent.py
OPENAI_BASE_URL=http://localhost:8000/v1 OPENAI_API_KEY=x MODEL=my-model python examples/langchain_agent.py
python examples/langchain_agent.py --demo        # no key, no network
"""

from demo_server import endpoint
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessageChunk, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

import wirecall


class Offer(BaseModel):
    """What can be sold."""

    article: str
    sizes: list[str]


DEMO = [
    (
        "I'll look. ",
        [("stock", {"article": "shirt", "size": "S"}), ("stock", {"article": "shirt", "size": "M"})],
    ),
    ("", [("Offer", {"article": "shirt", "sizes": ["S"]})], "broken_quote"),
]


def stock(article: str, size: str) -> int:
    """How many of an article are in stock."""
    return {"S": 4, "M": 0, "L": 11}.get(size, 0)


def main() -> None:
    with endpoint("gpt-4.1-mini", DEMO) as name:
        model = wirecall.wrap(ChatOpenAI(model=name))
        agent = create_agent(
            model, [stock], system_prompt="You run a shop.", response_format=ToolStrategy(Offer)
        )
        question = {"messages": [{"role": "user", "content": "Do you have the shirt in S or M?"}]}
        for mode, payload in agent.stream(question, stream_mode=["messages", "values"]):
            if mode == "values":
                state = payload
            elif isinstance(payload[0], AIMessageChunk):
                print(payload[0].text, end="", flush=True)
            elif isinstance(payload[0], ToolMessage):
                print(f"\n  {payload[0].name}: {payload[0].text}", end="")
    print(f"\n{state['structured_response']!r}")


if __name__ == "__main__":
    main()
