"""What the tests of stored conversations share: a conversation, and summarizers."""

from typing import Any

Json = dict[str, Any]


def chat(turns: int = 6) -> list[Json]:
    said = [{"role": ("user", "assistant")[at % 2], "content": f"says {at}"} for at in range(turns)]
    return [{"role": "system", "content": "Be kind."}, *said]


def hello(asked: list[dict[str, str]]) -> str:
    return "Hello"


def never(asked: list[dict[str, str]]) -> str:
    raise AssertionError("nothing is to be summarised")


CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "seen"}
