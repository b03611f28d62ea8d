"""A loop written by hand with litellm, streamed, with a model that writes calls as text.

OPENAI_API_KEY=… python examples/litellm_provider.py
ANTHROPIC_API_KEY=… MODEL=anthropic/my-model python examples/litellm_provider.py
python examples/litellm_provider.py --demo        # no key, no network
"""

import json

from demo_server import endpoint
from litellm import completion, stream_chunk_builder

from wirecall.integrations.litellm import register

DEMO = [
    (
        "I'll look. ",
        [("stock", {"article": "shirt", "size": "S"}), ("stock", {"article": "shirt", "size": "L"})],
    ),
    ("", [("ship", {"article": "shirt", "count": 2, "city": "New York"})], "broken_quote"),
    ("Two shirts are on their way to New York.", []),
]


def stock(article: str, size: str) -> int:
    return {"S": 4, "M": 0, "L": 11}.get(size, 0)


def ship(article: str, count: int, city: str) -> str:
    return f"{count} x {article} to {city}"


def tool(name: str, description: str, **types: str) -> dict:
    properties = {field: {"type": kind} for field, kind in types.items()}
    parameters = {"type": "object", "properties": properties, "required": list(types)}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


TOOLS = [
    tool("stock", "How many of an article are in stock.", article="string", size="string"),
    tool("ship", "Ship articles to a city.", article="string", count="integer", city="string"),
]


def main() -> None:
    register()
    with endpoint("openai/gpt-4.1-mini", DEMO) as model:
        inner = model if "/" in model else f"openai/{model}"
        messages: list = [{"role": "user", "content": "Two shirts in L to New York, please."}]
        while True:
            chunks = []
            for chunk in completion(f"wirecall/{inner}", messages, tools=TOOLS, stream=True):
                chunks.append(chunk)
                print(chunk.choices[0].delta.content or "", end="", flush=True)
            print()
            message = stream_chunk_builder(chunks).choices[0].message
            messages.append(message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
            if not message.tool_calls:
                return
            for call in message.tool_calls:
                result = {"stock": stock, "ship": ship}[call.function.name](
                    **json.loads(call.function.arguments)
                )
                print(f"{call.function.name} {call.function.arguments}\n  {result}")
                messages.append({"role": "tool", "tool_call_id": call.id, "content": str(result)})


if __name__ == "__main__":
    main()
