"""What the tests of chat completions share: requests, a provider's answers, and a strict client."""

import copy
from collections.abc import Iterable
from typing import Any

from wirecall._apis.chat.api import api as chat
from wirecall._apis.exchange import Exchange
from wirecall._text.options import Options

Json = dict[str, Any]

# --- requests


def tool(name: str, **more: Any) -> Json:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return {"type": "function", "function": {"name": name, "parameters": parameters, **more}}


GET, SET = tool("get"), tool("set")
SEARCH = {"type": "custom", "custom": {"name": "search"}}
USER = {"role": "user", "content": "Hello"}


def call(id: str | None, name: str = "get", arguments: object = '{"city":"Ulm"}') -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(id: str, content: Any = "21", **more: Any) -> Json:
    return {"role": "tool", "tool_call_id": id, "content": content, **more}


def said(*calls: Json, **more: Any) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def conversation(*contents: str) -> list[Json]:
    """A system text and what followed it, in turn by the user and the model."""
    roles = ["system", *["user", "assistant"] * len(contents)]
    return [{"role": role, "content": text} for role, text in zip(roles, contents, strict=False)]


def asking(*messages: Json, tools: Any = (GET, SET), **more: Any) -> Json:
    return {"model": "m", "messages": list(messages) or [USER], "tools": list(tools), **more}


def rewritten(request: Json, **options: Any) -> Json:
    before = copy.deepcopy(request)
    made = Exchange(chat, request, Options(**options)).request
    assert request == before
    assert isinstance(made, dict)
    return made


def history(*messages: Json, **options: Any) -> list[Any]:
    """The messages, rewritten, without the manual."""
    found = rewritten(asking(*messages), **options)["messages"]
    assert found[0]["role"] == "system"
    return found[1:]


# --- answers

GOOD, OTHER, BAD = "<call>get city=Ulm</call>", "<call>set city=Bonn</call>", "<call>get city</call>"
ULM = {"name": "get", "arguments": '{"city":"Ulm"}'}
BASE = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def exchange(request: Json | None = None, **options: Any) -> Exchange:
    return Exchange(chat, request or asking(), Options(**options))


def body(*contents: Any, reason: str = "stop", **more: Any) -> Json:
    choices = [
        {"index": at, "message": {"role": "assistant", "content": content, **more}, "finish_reason": reason}
        for at, content in enumerate(contents)
    ]
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}


def chunk(delta: Json, reason: str | None = None, *, index: int = 0, **more: Any) -> Json:
    return {**BASE, "choices": [{"index": index, "delta": delta, "finish_reason": reason}], **more}


def chunks(texts: Iterable[str], reason: str = "stop", *, index: int = 0) -> list[Json]:
    return [
        chunk({"role": "assistant", "content": ""}, index=index),
        *[chunk({"content": text}, index=index) for text in texts],
        chunk({}, reason, index=index),
    ]


def whole(
    content: Any, *, request: Json | None = None, reason: str = "stop", options: Any = (), **more: Any
) -> Json:
    """The one choice of an answer that is not asked for again."""
    given = body(content, reason=reason, **more)
    before = copy.deepcopy(given)
    found = exchange(request, **dict(options)).whole(given)
    assert given == before
    assert found is not None
    return found["choices"][0]


def streamed(events: Iterable[Json], *, request: Json | None = None, **options: Any) -> list[Json]:
    stream = exchange(request, **options).stream()
    made = []
    for event in events:
        before = copy.deepcopy(event)
        out = stream.feed(event)
        assert event == before
        made += [event] if out is None else out
    made += stream.end()
    assert not stream.should_retry
    return made


def accumulated(events: Iterable[Json]) -> dict[int, Json]:
    """What a client makes of chunks; it refuses what clients trip over."""
    found: dict[int, Json] = {}
    for event in events:
        for choice in event["choices"]:
            state = found.setdefault(
                choice["index"], {"content": "", "calls": [], "reason": None, "reasoning": ""}
            )
            assert state["reason"] is None, "a delta behind the finish reason"
            delta = choice["delta"]
            state["content"] += delta.get("content") or ""
            state["reasoning"] += delta.get("reasoning_content") or ""
            for call in delta.get("tool_calls", ()):
                function = call["function"]
                if call["index"] == len(state["calls"]):
                    assert call.keys() == {"index", "id", "type", "function"}
                    assert call["type"] == "function"
                    assert function.keys() == {"name", "arguments"}
                    assert function["arguments"] == ""
                    state["calls"].append([function["name"], "", call["id"]])
                else:
                    assert call.keys() == {"index", "function"}
                    assert function.keys() == {"arguments"}
                    assert call["index"] == len(state["calls"]) - 1
                    state["calls"][-1][1] += function["arguments"]
            state["reason"] = choice["finish_reason"]
    return found
