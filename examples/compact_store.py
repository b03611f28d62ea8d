"""An agent that stores its conversation in a file, and shortens the file when it gets too long.

OPENAI_API_KEY=… python examples/compact_store.py conversation.json
python examples/compact_store.py --demo        # no key, no network

The program can be stopped at any time, and continues where the file ends.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from demo_server import DEMO, warehouse
from openai import OpenAI

import wirecall
from wirecall import Toolset
from wirecall.compaction import compact_messages, plan_compaction, summarizer

# The tokens of the conversation, without tools and answer: less than a tenth of a real model's window.
LIMIT = 1500


def count(text: str) -> float:
    """An estimate of the tokens. With tiktoken installed, this is not needed."""
    return len(text) / 3


def label() -> str:
    """The label of the warehouse."""
    return "The label is kestrel-7."


def shelf(number: int, total: int) -> str:
    """Counts a shelf, and adds to the total so far."""
    return f"Shelf {number}: the total is {total + number % 5 + 3}. " + "Boxes of oranges and rope. " * 6


def note(text: str) -> str:
    """Notes something."""
    return "Noted."


tools = Toolset([label, shelf, note])
BEGINNING = [
    {"role": "system", "content": "You count what is in a warehouse."},
    {"role": "user", "content": "Count 40 shelves, note every tenth. Then say the label and the total."},
]


def load(path: Path) -> list[Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else [*BEGINNING]


def store(path: Path, messages: list[Any]) -> None:
    """Replaces the file atomically: if the program is stopped here, the old file remains."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(messages, ensure_ascii=False, indent=1), encoding="utf-8")
    os.replace(new, path)


def run(path: Path) -> None:
    with warehouse("gpt-4.1-mini", count, takes=["FILE"]) as model:
        client = wirecall.wrap(OpenAI())
        summarize = summarizer(client, model=model, max_tokens=300)
        sizes: dict[str, Any] = {"count": count, "max_summary_tokens": 300}
        messages = load(path)
        while True:
            # Shorten to half the limit. Otherwise each new turn would exceed it and cost another summary.
            if plan_compaction(messages, max_tokens=LIMIT, **sizes).to_summarize:
                before = len(messages)
                messages = compact_messages(messages, summarize, max_tokens=LIMIT // 2, **sizes)
                store(path, messages)
                print(f"[{before} messages became {len(messages)}]")
            answer = client.chat.completions.create(
                model=model, messages=messages, tools=tools.for_api("chat")
            )
            message = answer.choices[0].message
            added: list[Any] = [message.to_dict(exclude_none=True)]
            for call in message.tool_calls or ():
                result = tools.run(call)
                print(f"{call.function.name} {call.function.arguments} -> {result[:40]}")
                added.append({"role": "tool", "tool_call_id": call.id, "content": result})
            # Never store a call without its result.
            messages += added
            store(path, messages)
            if not message.tool_calls:
                print(message.content)
                return


def main() -> None:
    if DEMO:
        with tempfile.TemporaryDirectory() as folder:
            run(Path(folder) / "conversation.json")
    elif len(sys.argv) == 2:
        run(Path(sys.argv[1]))
    else:
        sys.exit("usage: compact_store.py FILE, or compact_store.py --demo")


if __name__ == "__main__":
    main()
