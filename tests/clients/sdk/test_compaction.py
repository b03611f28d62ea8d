"""Histories with the objects that the SDKs return, compacted at every step and taken by a strict server."""

import json
from typing import Any

import anthropic
import openai
from playing import CLIENT
from server import Answer, Call, serve
from server.answers import Thinking

from wirecall.compaction import compact_messages, plan_compaction
from wirecall.compaction._summary import OPENING

STEPS = 12
PARAMETERS = {"type": "object", "properties": {"at": {"type": "integer"}}}
SCRIPT = [
    *(
        Answer([Thinking("hm"), "Looking.", *[Call("look", {"at": at})] * (1 + at % 3)])
        for at in range(STEPS)
    ),
    Answer("Done."),
]


def shorter(history: list[Any]) -> list[Any]:
    plan = plan_compaction(history, keep_recent_turns=2)
    assert plan.repairs == ()
    short = compact_messages(history, lambda asked: f"{len(asked)} messages.", keep_recent_turns=2)
    assert compact_messages(short, lambda asked: "again", keep_recent_turns=2) is short
    assert all(any(one is other for other in history) for one in short if OPENING not in str(one))
    return short


def test_chat_completions() -> None:
    tools: Any = [{"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}]
    history: list[Any] = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Go."}]
    with serve(SCRIPT) as server, openai.OpenAI(base_url=server.openai_url, **CLIENT) as client:
        for _ in SCRIPT:
            said = client.chat.completions.create(model="m", messages=history, tools=tools).choices[0].message
            history.append(said)
            history += [
                {"role": "tool", "tool_call_id": call.id, "content": call.function.arguments}
                for call in said.tool_calls or ()
            ]
            history = shorter(history)
        assert [len(request.json["messages"]) <= 10 for request in server.requests] == [True] * len(SCRIPT)
    assert history[-1].content == "Done."
    assert str(history).count(OPENING) == 1


def test_responses() -> None:
    tools: Any = [{"type": "function", "name": "look", "parameters": PARAMETERS, "strict": False}]
    history: list[Any] = [{"role": "user", "content": "Go."}]
    with serve(SCRIPT) as server, openai.OpenAI(base_url=server.openai_url, **CLIENT) as client:
        for _ in SCRIPT:
            response = client.responses.create(model="m", input=history, tools=tools)
            history += response.output
            history += [
                {"type": "function_call_output", "call_id": item.call_id, "output": item.arguments}
                for item in response.output
                if item.type == "function_call"
            ]
            history = shorter(history)
        assert [len(request.json["input"]) <= 20 for request in server.requests] == [True] * len(SCRIPT)
    assert history[-1].content[0].text == "Done."
    assert str(history).count(OPENING) == 1


def test_messages() -> None:
    tools: Any = [{"name": "look", "input_schema": PARAMETERS}]
    history: list[Any] = [{"role": "user", "content": "Go."}]
    with serve(SCRIPT) as server, anthropic.Anthropic(base_url=server.url, **CLIENT) as client:
        for _ in SCRIPT:
            reply = client.messages.create(model="m", max_tokens=99, messages=history, tools=tools)
            history.append({"role": "assistant", "content": reply.content})
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": json.dumps(block.input)}
                for block in reply.content
                if block.type == "tool_use"
            ]
            if results:
                history.append({"role": "user", "content": results})
            history = shorter(history)
        assert [len(request.json["messages"]) <= 6 for request in server.requests] == [True] * len(SCRIPT)
    assert history[-1]["content"][0].text == "Done."
    assert str(history).count(OPENING) == 1
