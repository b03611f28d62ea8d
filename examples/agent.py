"""An agent's loop: manual, message, calls, results, next message, until a message has no calls.

A script plays the model, so this runs offline. It first writes an unknown size, then corrects itself.
"""

from typing import Any

from wirecall import CallEnd, CallError, Toolset

STOCK = {("shirt", "S"): 4, ("shirt", "M"): 0, ("shirt", "L"): 11}

tools = Toolset(
    [
        {
            "name": "stock",
            "description": "How many of an article are in stock.",
            "parameters": {
                "type": "object",
                "properties": {
                    "article": {"type": "string"},
                    "size": {"type": "string", "enum": ["S", "M", "L"]},
                },
                "required": ["article", "size"],
            },
        }
    ],
    validate="error",
)

SCRIPT = [
    "I'll check both.\n<call>stock article=shirt size=S</call>\n<call>stock article=shirt size=medium</call>",
    "<call>stock article=shirt size=M</call>",
    "There are four in S and none in M.",
]


def stock(article: str, size: str) -> dict[str, Any]:
    return {"article": article, "size": size, "count": STOCK[article, size]}


def main() -> None:
    messages = [
        {"role": "system", "content": tools.manual()},
        {"role": "user", "content": "Do you have the shirt in S or M?"},
    ]
    for reply in SCRIPT:  # with a real model: the text of its answer to `messages`
        messages.append({"role": "assistant", "content": reply})
        message = tools.parse(reply, truncated=False)
        results = []
        for item in message.items:
            if isinstance(item, CallEnd):
                results.append(tools.encode_result(item.name, stock(**item.args)))
            elif isinstance(item, CallError):
                # Tells the model what is wrong, with a correct example.
                results.append(tools.encode_result(item.name, item))
        if not results:
            break
        messages.append({"role": "user", "content": "\n".join(results)})
    for turn in messages[1:]:
        print(f"{turn['role']}: {turn['content']}\n")


if __name__ == "__main__":
    main()
