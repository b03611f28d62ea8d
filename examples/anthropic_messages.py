"""An agent with Anthropic's SDK and its tool runner. The functions are native tools; the model writes text.

ANTHROPIC_API_KEY=… python examples/anthropic_messages.py
python examples/anthropic_messages.py --demo        # no key, no network
"""

from anthropic import Anthropic, beta_tool
from anthropic.lib.tools import ToolError
from demo_server import endpoint

import wirecall

STOCK = {("shirt", "S"): 4, ("shirt", "M"): 0, ("shirt", "L"): 11}

DEMO = [
    (
        "I'll look. ",
        [("stock", {"article": "shirt", "size": "XL"}), ("stock", {"article": "shirt", "size": "L"})],
    ),
    ("There is no XL; eleven are there in L.", []),
]


@beta_tool
def stock(article: str, size: str) -> str:
    """How many of an article are in stock.

    Args:
        article: Its name.
        size: S, M or L.
    """
    if (article, size) not in STOCK:
        raise ToolError(f"There is no {article} in {size}.")
    return str(STOCK[article, size])


def main() -> None:
    with endpoint("claude-haiku-4-5", DEMO) as model:
        client = wirecall.wrap(Anthropic(), cache_manual=True)
        runner = client.beta.messages.tool_runner(
            model=model,
            max_tokens=1000,
            system="You run a shop.",
            tools=[stock],
            messages=[{"role": "user", "content": "Do you have the shirt in XL or L?"}],
        )
        for message in runner:
            for block in message.content:
                if block.type == "text":
                    print(block.text)
                elif block.type == "tool_use":
                    print(f"{block.name} {block.input}")


if __name__ == "__main__":
    main()
