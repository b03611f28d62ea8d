"""An agent with the OpenAI SDK. The program uses native tool calls; the model writes text.

OPENAI_API_KEY=… python examples/openai_chat.py
OPENAI_BASE_URL=http://localhost:8000/v1 OPENAI_API_KEY=x MODEL=my-model python examples/openai_chat.py
python examples/openai_chat.py --demo        # no key, no network
"""

from typing import Any, Literal

from demo_server import endpoint
from openai import OpenAI

import wirecall
from wirecall import Toolset

STOCK = {("shirt", "S"): 4, ("shirt", "M"): 0, ("shirt", "L"): 11}


def stock(article: str, size: Literal["S", "M", "L"]) -> int:
    """How many of an article are in stock."""
    return STOCK.get((article, size), 0)


tools = Toolset([stock])
DEMO = [
    (
        "I'll look. ",
        [("stock", {"article": "shirt", "size": "S"}), ("stock", {"article": "shirt", "size": "M"})],
        "broken_json",
    ),
    ("There are four in S and none in M.", []),
]


def main() -> None:
    with endpoint("gpt-4.1-mini", DEMO) as model:
        client = wirecall.wrap(OpenAI(), on_event=lambda notice: print(f"[{notice.kind}: {notice.detail}]"))
        messages: list[Any] = [
            {"role": "system", "content": "You run a shop."},
            {"role": "user", "content": "Do you have the shirt in S or M?"},
        ]
        while True:
            # The SDK's .stream(): text immediately, then the complete message with its calls.
            with client.chat.completions.stream(
                model=model, messages=messages, tools=tools.for_api("chat")
            ) as stream:
                for event in stream:
                    if event.type == "content.delta":
                        print(event.delta, end="", flush=True)
                message = stream.get_final_completion().choices[0].message
            print()
            messages.append(message.to_dict(exclude_none=True))
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                result = tools.run(call)
                print(f"{call.function.name} {call.function.arguments} -> {result}")
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


if __name__ == "__main__":
    main()
