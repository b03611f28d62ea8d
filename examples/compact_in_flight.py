"""Shorten the requests of a tool runner, which keeps the conversation itself (here Anthropic's).

ANTHROPIC_API_KEY=… python examples/compact_in_flight.py
python examples/compact_in_flight.py --demo        # no key, no network
"""

from anthropic import Anthropic, beta_tool
from demo_server import warehouse

import wirecall
from wirecall.compaction import Compress, summarizer

# Much smaller than the window of a real model.
WINDOW = 2000


def count(text: str) -> float:
    """An estimate of the tokens. With tiktoken installed, use wirecall.tokens.tokenizer() instead."""
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
            # A program that owns its conversation would store the shorter list here. The tool runner cannot.
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
            # Names the conversation, in case there are several.
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
