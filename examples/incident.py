"""Print the record of one exchange, to find out why an answer was wrong.

OPENAI_API_KEY=… python examples/incident.py
python examples/incident.py --demo        # no key, no network
"""

import json
from typing import Any

from demo_server import endpoint
from openai import OpenAI

import wirecall
from wirecall import Attempt, Record

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
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
        },
    }
]
DEMO = [("I'll look. ", [("stock", {"article": "shirt", "size": "S"})], "broken_json")]


def main() -> None:
    records: list[Record] = []
    with endpoint("gpt-4.1-mini", DEMO) as model:
        # Without record_content, the record has lengths and hashes instead of texts, so it is safe to keep.
        client = wirecall.wrap(OpenAI(), on_record=records.append, record_content=True)
        client.chat.completions.create(
            model=model,
            messages=[
                {"role": "system", "content": "You run a shop."},
                {"role": "user", "content": "Do you have the shirt in S?"},
            ],
            tools=TOOLS,
        )
    print_record(records[0])


def print_record(record: Record) -> None:
    print(f"{record.started:%Y-%m-%d %H:%M:%S} UTC  {record}")
    print(f"tokens: {', '.join(f'{name} {n}' for name, n in record.usage.items() if isinstance(n, int))}")
    print("\nTIMELINE (seconds; offsets in the model's text)")
    for number, attempt in enumerate(record.attempts, 1):
        print_attempt(number, attempt)
    line(record.duration, f"end: {record.outcome}")
    last = record.attempts[-1]
    print("\nWHAT THE MODEL SAW")
    for message in json.loads(last.request or "{}").get("messages", []):
        print(indented(f"[{message['role']}] {message['content']}"))
    print("\nWHAT IT WROTE")
    for attempt in record.attempts:
        answer = json.loads(attempt.answer or "{}")
        print(indented(answer["choices"][0]["message"]["content"]))
    print("\nWHAT CAME OUT")
    message = json.loads(record.output or "{}")["choices"][0]["message"]
    print(indented(json.dumps(message, indent=2, ensure_ascii=False)))


def print_attempt(number: int, attempt: Attempt) -> None:
    said = f"{len(attempt.messages)} messages, {attempt.request_length} bytes"
    line(attempt.sent, f"request {number} ({attempt.reason}): {said}")
    if attempt.first_byte is not None:
        line(attempt.first_byte, f"status {attempt.status}, {attempt.answer_length} bytes")
    for event in attempt.events:
        what = f"{event.kind} {event.tool or ''}".rstrip()
        where = "" if event.start is None else f" {event.start}..{event.end}"
        notes = [note for note in (event.error, *event.repairs, *event.problems) if note is not None]
        line(event.time, f"{what}{where} {' '.join(notes)}".rstrip())


def line(time: float, text: str) -> None:
    print(f"  {time:8.3f}  {text}")


def indented(text: str) -> str:
    return "\n".join(f"  {one}" for one in text.splitlines())


if __name__ == "__main__":
    main()
