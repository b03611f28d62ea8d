"""An agent's loop: manual, message, calls, results, next message, until a message has no calls.

A script plays the model, so this runs offline. It first writes an unknown size, then corrects itself.
"""

from typing import Literal

from arguments import check_arguments

from wirecall import Toolset

STOCK = {("shirt", "S"): 4, ("shirt", "M"): 0, ("shirt", "L"): 11}


def stock(article: str, size: Literal["S", "M", "L"]) -> dict[str, str | int]:
    """How many of an article are in stock."""
    return {"article": article, "size": size, "count": STOCK[article, size]}


tools = Toolset([stock], validate="error")

SCRIPT = [
    "I'll check both.\n<call>stock article=shirt size=S</call>\n<call>stock article=shirt size=medium</call>",
    "<call>stock article=shirt size=M</call>",
    "There are four in S and none in M.",
]


def main() -> None:
    messages = [
        {"role": "system", "content": tools.manual()},
        {"role": "user", "content": "Do you have the shirt in S or M?"},
    ]
    for reply in SCRIPT:  # with a real model: the text of its answer to `messages`
        messages.append({"role": "assistant", "content": reply})
        message = tools.parse(reply, truncated=False)
        # Errors tell the model what is wrong, with a correct example.
        calls = (*message.calls, *message.errors)
        if not calls:
            break
        results = [tools.encode_result(call.name, tools.run(call)) for call in calls]
        messages.append({"role": "user", "content": "\n".join(results)})
    for turn in messages[1:]:
        print(f"{turn['role']}: {turn['content']}\n")


if __name__ == "__main__":
    check_arguments()
    main()
