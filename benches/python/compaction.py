"""One table: what planning a compaction takes, for 1,000 and for 10,000 messages.

    python benches/python/compaction.py [--rounds N] [--messages N]

Conversations are users, models with one to three calls, and results, as dicts; a tenth of the calls has no
result. Tokens are estimated, since a tokenizer would be most of what is measured. The first column is for a
tenth of the messages, so linear time is a ratio of 10.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable
from random import Random
from time import perf_counter
from typing import Any

from report import machine
from wirecall._apis.names import API_NAMES
from wirecall.compaction import compact_messages, plan_compaction
from wirecall.compaction._counting import estimate

GOAL, LINEAR = 50.0, 15.0
PROSE = "What the model says here is about as long as what models say between two calls, or a little longer. "


def conversation(format: str, messages: int) -> list[Any]:
    random = Random(messages)
    made: list[Any] = []
    while len(made) < messages:
        text = PROSE * random.randrange(1, 6)
        ids = [f"call_{len(made)}_{number}" for number in range(random.choice((0, 1, 1, 2, 3)))]
        answered = [id for id in ids if random.random() < 0.9]
        made += {"chat": chat, "responses": responses, "messages": messages_}[format](text, ids, answered)
    return made[:messages]


def chat(text: str, ids: list[str], answered: list[str]) -> list[Any]:
    function = {"name": "look", "arguments": '{"at": "src/app.py", "from": 10, "to": 20}'}
    said: dict[str, Any] = {"role": "assistant", "content": text}
    if ids:
        said["tool_calls"] = [{"id": id, "type": "function", "function": function} for id in ids]
    results = [{"role": "tool", "tool_call_id": id, "content": text} for id in answered]
    return [{"role": "user", "content": text}, said, *results]


def responses(text: str, ids: list[str], answered: list[str]) -> list[Any]:
    called = {"type": "function_call", "name": "look", "arguments": '{"at": "src/app.py", "from": 10}'}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return [
        {"type": "message", "role": "user", "content": text},
        {"type": "reasoning", "id": "rs", "summary": []},
        {"type": "message", "role": "assistant", "content": content},
        *({**called, "call_id": id} for id in ids),
        *({"type": "function_call_output", "call_id": id, "output": text} for id in answered),
    ]


def messages_(text: str, ids: list[str], answered: list[str]) -> list[Any]:
    called = {"type": "tool_use", "name": "look", "input": {"at": "src/app.py", "from": 10, "to": 20}}
    results = [{"type": "tool_result", "tool_use_id": id, "content": text} for id in answered]
    return [
        {"role": "user", "content": text},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": text}, *({**called, "id": id} for id in ids)],
        },
        *([{"role": "user", "content": results}] if results else []),
    ]


def never(asked: object) -> str:
    raise AssertionError("nothing is to be summarised")


WORKS: dict[str, Callable[[list[Any]], object]] = {
    "planned by turns": lambda given: plan_compaction(given, keep_recent_turns=20),
    "planned by tokens": lambda given: plan_compaction(given, max_tokens=8000, count=estimate),
    "planned by tokens, all fit": lambda given: plan_compaction(given, max_tokens=1e9, count=estimate),
    "nothing is old enough": lambda given: compact_messages(given, never, keep_recent_turns=1e9),
}


def fastest(work: Callable[[list[Any]], object], given: list[Any], rounds: int) -> float:
    """Milliseconds."""
    times = []
    for _ in range(rounds):
        gc.collect()
        gc.disable()
        start = perf_counter()
        work(given)
        times.append(perf_counter() - start)
        gc.enable()
    return 1000 * min(times)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--messages", type=int, default=10_000)
    options = parser.parse_args()
    print(machine())
    print(f"milliseconds, the fastest of {options.rounds} rounds\n")
    few = options.messages // 10
    print(f"| work | {few:,} messages | {options.messages:,} messages | ratio | goal | met |")
    print("|---|---|---|---|---|---|")
    for title, work in WORKS.items():
        for format in API_NAMES:
            small = fastest(work, conversation(format, few), options.rounds)
            large = fastest(work, conversation(format, options.messages), options.rounds)
            ratio = large / small
            met = "yes" if large <= GOAL and ratio <= LINEAR else "NO"
            print(f"| {title}, {format} | {small:.2f} | {large:.1f} | {ratio:.1f} | {GOAL:.0f} ms | {met} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
