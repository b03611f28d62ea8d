"""What planning a compaction takes, for 1,000 and for 10,000 messages: `make bench`.

python -m wirecall_bench.planning [--quick] [--rounds N] [--json FILE]

Conversations are users, models with one to three calls, and results, as dicts; a tenth of the calls has no
result. Tokens are estimated, since a tokenizer would be most of what is measured.
"""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from wirecall._tools.definitions import API_NAMES
from wirecall.compaction import compact_messages, plan_compaction
from wirecall.compaction._counting import estimate
from wirecall_bench.rounds import GoalResult, Row, main, table

# Seconds for many messages, and how many times those of a tenth of them. In linear time that is 10.
GOAL, LINEAR = 0.05, 15.0
MESSAGES = 10_000
FEW, MANY = f"{MESSAGES // 10:,} messages", f"{MESSAGES:,} messages"
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


def judged(row: Row) -> GoalResult:
    ratio = row.ratio(MANY, FEW)
    return GoalResult(ratio, f"{ratio:.1f}", row.figures[MANY].best <= GOAL and ratio <= LINEAR)


def rows() -> list[Row]:
    made = []
    for title, work in WORKS.items():
        for format in API_NAMES:
            contest = {
                name: partial(work, conversation(format, count))
                for name, count in ((FEW, MESSAGES // 10), (MANY, MESSAGES))
            }
            goal = f"{GOAL * 1000:.0f} ms, linear"
            made.append(Row(f"{title}, {format}", "", goal, judged, contest))
    return made


if __name__ == "__main__":
    main("Measure the planning of compactions.", rows, lambda measured: table(measured, (FEW, MANY)))
