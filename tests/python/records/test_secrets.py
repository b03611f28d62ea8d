"""Generated conversations with marked secrets: nothing of them is in logs, exceptions, notices or records.

Keys are never there. What was said is in the raw call of a notice, and in records that were asked for it.
"""

import logging
import random
from typing import Any

import httpx2
import pytest
from hosts import HOSTS, Broken, Host
from server import Answer, Failure

from law import count, seeded
from wirecall import Notice, Record, ToolCallError


class Marks:
    """Texts that occur nowhere else, of two kinds."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.keys: list[str] = []
        self.said: list[str] = []

    def key(self) -> str:
        return self._new(self.keys)

    def word(self) -> str:
        return self._new(self.said)

    def _new(self, marks: list[str]) -> str:
        marks.append("".join(self._draw.choices("bcdfghjkmnpqrstvwxz", k=12)))
        return marks[-1]


def calls(marks: Marks) -> list[str]:
    """Calls, good and bad, each with a mark in it."""
    word = marks.word
    return [
        f'<call>go to="{word()}"</call>',
        f'<call>go to="{word()}" days={word()}</call>',
        f'<call>go to="{word()}" {word()}=1</call>',
        f"<call>{word()} to=x</call>",
        f"<call>go [{word()} Object]</call>",
        f'<call>go {{"to": "{word()}",,}}</call>',
        f'<call>go to="{word()}" to="{word()}"</call>',
        f'<call>go to="{word()}',
        f'<call>go To={word()} extra={{"{word()}": [}}</call>',
        f'<call name="go" {word()}="x"/>',
        f'<tool-result name="go">{word()}</tool-result>',
        f'<call>{{"name": "{word()}"}}</call>',
        f"{word()} <call>go to=`{word()}` {word()}` days=`{word()}`</call>",
    ]


def options(draw: random.Random) -> dict[str, Any]:
    return {
        "on_error": draw.choice(["retry", "text", "raise", "native"]),
        "validate": draw.choice(["report", "error"]),
        "strict": draw.random() < 0.3,
        "stream_arguments": draw.random() < 0.3,
        "emit_raw_on_error": draw.random() < 0.2,
        "recover": draw.random() < 0.2,
        "debug": draw.random() < 0.7,
    }


def conversation(host: Host, marks: Marks, draw: random.Random) -> dict[str, Any]:
    body = host.body(f"Where is {marks.word()}?")
    said = body["input" if host.api == "responses" else "messages"]
    if draw.random() < 0.7:
        said += host.past({"to": marks.word(), marks.word(): {marks.word(): 1}}, marks.word())
    if draw.random() < 0.5:
        system = f"You know {marks.word()}."
        if host.api == "chat":
            said.insert(0, {"role": "system", "content": [{"type": "text", "text": system}]})
        else:
            body["instructions" if host.api == "responses" else "system"] = system
    if draw.random() < 0.2:
        body["tool_choice"] = {"chat": "required", "responses": "required", "messages": {"type": "any"}}[
            host.api
        ]
    return body


def script(host: Host, marks: Marks, draw: random.Random) -> list[Any]:
    answers: list[Any] = []
    for _ in range(4):
        text = f"I say {marks.word()}. " + " ".join(draw.sample(calls(marks), draw.choice([0, 1, 1, 2])))
        answer = Answer(text, finish=draw.choice([None, None, None, "length"]))
        ends = draw.random()
        if ends < 0.1:
            # Servers quote the key that they refuse.
            answers.append(Failure(draw.choice([400, 401, 500]), f"Wrong: {' '.join(marks.keys)}"))
        elif ends < 0.2 and host.stream:
            answers.append(Broken(answer, draw.randrange(1, 12)))
        else:
            answers.append(answer)
    return answers


def everything(error: BaseException | None) -> str:
    """What an exception says, with its causes."""
    said = ""
    while error is not None:
        said += f"{error}\n{error!r}\n"
        error = error.__cause__ or error.__context__
    return said


@pytest.mark.laws
@pytest.mark.parametrize("host", HOSTS, ids=str)
@pytest.mark.parametrize("content", [False, True])
def test_nothing_secret_is_told(host: Host, content: bool, caplog: pytest.LogCaptureFixture) -> None:
    draw = seeded(42)
    caplog.set_level(1, "wirecall")
    logging.getLogger("httpx2").setLevel(logging.ERROR)  # it logs addresses itself
    told = 0
    for _ in range(count(2000, 50)):
        marks = Marks(draw)
        notices: list[Notice] = []
        records: list[Record] = []
        user, password = marks.key(), marks.key()
        headers = {"Authorization": f"Bearer {marks.key()}", "x-api-key": marks.key(), "Cookie": marks.key()}
        body, answers = conversation(host, marks, draw), script(host, marks, draw)
        failure = ""
        out = b""
        try:
            out = host.ask(
                answers,
                body,
                url=f"https://{user}:{password}@api.example.com",
                query=f"?key={marks.key()}",
                headers=headers,
                on_event=notices.append,
                on_record=records.append,
                record_content=content,
                **options(draw),
            )
        except (ToolCallError, httpx2.ReadError) as error:
            failure = everything(error)
        [record] = records
        told += len(notices)
        clean = caplog.text + failure + "".join(repr(notice._replace(raw=None)) for notice in notices)
        clean += str(record) + ("" if content else repr(record))
        for mark in marks.keys + marks.said:
            assert mark not in clean
        for mark in marks.keys:
            assert mark not in repr(record)
            # The provider's own error passes; one that we put into a stream does not quote it.
            assert mark.encode() not in out or (record.outcome == "http_error" and len(record.attempts) == 1)
        if content and record.attempts:
            assert marks.said[0] in repr(record)
        caplog.clear()
    assert told
