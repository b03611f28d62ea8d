"""An agent whose conversation somebody else holds, here Anthropic's tool runner: its requests are shortened.

ANTHROPIC_API_KEY=… python examples/compact_in_flight.py
python examples/compact_in_flight.py --demo        # no key, no network
"""

from anthropic import Anthropic, beta_tool
from demo_server import warehouse

import wirecall
from wirecall.compaction import Compress, summarizer

# Far less than a real model has.
WINDOW = 2000


def count(text: str) -> float:
    """Tokens, about; wirecall.tokens.tokenizer() counts them where tiktoken is installed."""
    return len(text) / 3


@beta_tool
def label() -> str:
    """The label of the warehouse."""
    return "The label is kestrel-7."


@beta_tool
def shelf(number: int, total: int) -> str:
    """Counts a shelf, and adds to the total so far.

    Args:
        number: Of the shelf.
        total: Of the shelves before it.
    """
    return f"Shelf {number}: the total is {total + number % 5 + 3}. " + "Boxes of oranges and rope. " * 6


@beta_tool
def note(text: str) -> str:
    """Notes something.

    Args:
        text: A sentence.
    """
    return "Noted."


def main() -> None:
    with warehouse("claude-haiku-4-5", count) as model, Anthropic() as bare:
        summarize = Compress(summarizer(bare, model=model, max_tokens=300), keep_share=0.5)
        context = wirecall.compact_context(
            context_window=WINDOW,
            compress=summarize,
            count=count,
            on_event=lambda notice: print(f"[{notice.kind}: {notice.detail}]"),
            # Who can store the shorter conversation does so here; the tool runner cannot.
            on_compress=lambda compressed: None,
        )
        client = wirecall.wrap(bare, middleware=[context])
        runner = client.beta.messages.tool_runner(
            model=model,
            max_tokens=1000,
            system="You count what is in a warehouse.",
            tools=[label, shelf, note],
            messages=[
                {
                    "role": "user",
                    "content": "Count 40 shelves, note every tenth. Then say the label and the total.",
                }
            ],
            # The conversation's name, if there is more than one.
            extra_body={"wirecall": {"session": "warehouse"}},
        )
        for message in runner:
            for block in message.content:
                if block.type == "text":
                    print(block.text)
                elif block.type == "tool_use":
                    print(f"{block.name} {block.input}")


if __name__ == "__main__":
    main()
