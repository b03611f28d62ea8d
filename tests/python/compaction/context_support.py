"""What the tests of requests in flight share: conversations, and a model that summarises them."""

import copy
from typing import Any

from wirecall.compaction._summary import INTRODUCTION

Json = dict[str, Any]


def talk(*texts: str) -> list[Any]:
    """Users and assistants, by turns."""
    return [
        {"role": "assistant" if number % 2 else "user", "content": text} for number, text in enumerate(texts)
    ]


FOUR = talk("1", "2", "3", "4")
SUMMARY = {"role": "user", "content": f"{INTRODUCTION}They counted."}


class Summarizer:
    """Remembers what it is asked, and says what it is told to."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []

    def __call__(self, messages: Any) -> Any:
        self.asked.append(messages)
        answer = self.answers.pop(0) if self.answers else "They counted."
        if isinstance(answer, BaseException):
            raise answer
        return answer


def send(context: Any, messages: list[Any], session: str | None = None) -> list[Any]:
    before = copy.deepcopy(messages)
    params = {"model": "m", "messages": messages}
    made = context.on_request(params, api="chat", session=session)
    assert messages == before
    assert (made is params) == (made["messages"] is messages)
    return made["messages"]


def words(text: str) -> int:
    return len(text.split())
