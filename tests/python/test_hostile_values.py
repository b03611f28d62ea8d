"""Values that no provider accepts, anywhere in a request: it is rewritten all the same, and recorded."""

import math
from typing import Any

import pytest

from wirecall._apis.exchange import Exchange
from wirecall._apis.registry import api_named
from wirecall._shown import encodable, shown
from wirecall._text.options import Options
from wirecall._text.record import Record
from wirecall._tools.definitions import ApiName

Json = dict[str, Any]

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"name": "get", "parameters": PARAMETERS}
LONE = "\ud83d"


class Broken:
    def __repr__(self) -> str:
        raise KeyError("repr")


def nested(levels: int, *, in_lists: bool) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value] if in_lists else {"a": value}
    return value


VALUES = {
    "a lone surrogate": LONE,
    "a lone surrogate in text": f"a{LONE}b",
    "a lone surrogate as key": {LONE: 1},
    "lists 3,000 deep": nested(3000, in_lists=True),
    "objects 3,000 deep": nested(3000, in_lists=False),
    "NaN": math.nan,
    "5,000 digits": 10**5000,
    "bytes": b"x",
    "an object": Broken(),
    "None": None,
}


def chat(place: str, value: Any) -> Json:
    call: Json = {"id": "c", "type": "function", "function": {"name": "get", "arguments": "{}"}}
    result: Json = {"role": "tool", "tool_call_id": "c", "content": "done"}
    said: Json = {"role": "assistant", "content": "hi", "tool_calls": [call]}
    user: Json = {"role": "user", "content": "x"}
    system: Json = {"role": "system", "content": "s"}
    match place:
        case "id":
            call["id"] = result["tool_call_id"] = value
        case "name":
            call["function"]["name"] = value
        case "arguments":
            call["function"]["arguments"] = value
        case "argument":
            call["function"]["arguments"] = {"city": value, "more": [value]}
        case "content":
            said["content"] = value
        case "part":
            said["content"] = [{"type": "text", "text": value}]
        case "result":
            result["content"] = value
        case "result part":
            result["content"] = [{"type": "text", "text": value}]
        case "result name":
            result |= {"name": value, "tool_call_id": "unknown"}
        case "user":
            user |= {"content": value, "name": value}
        case "user part":
            user["content"] = [{"type": "text", "text": value}]
        case "system":
            system["content"] = value
        case "reasoning":
            said["reasoning_content"] = value
        case "unknown":
            said["x"] = call["x"] = result["x"] = value
    tools = [{"type": "function", "function": FUNCTION}]
    return {"model": "m", "messages": [system, user, said, result], "tools": tools}


def messages(place: str, value: Any) -> Json:
    call: Json = {"type": "tool_use", "id": "c", "name": "get", "input": {}}
    result: Json = {"type": "tool_result", "tool_use_id": "c", "content": "done"}
    said: Any = [{"type": "text", "text": "hi"}, call]
    user: Any = "x"
    system: Any = "s"
    match place:
        case "id":
            call["id"] = result["tool_use_id"] = value
        case "name" | "result name":
            call["name"] = value
        case "arguments":
            call["input"] = value
        case "argument":
            call["input"] = {"city": value, "more": [value]}
        case "content":
            said = value
        case "part":
            said[0]["text"] = value
        case "result":
            result["content"] = value
        case "result part":
            result["content"] = [{"type": "text", "text": value}]
        case "user":
            user = value
        case "user part":
            user = [{"type": "text", "text": value}]
        case "system":
            system = value
        case "reasoning":
            said.insert(0, {"type": "thinking", "thinking": value, "signature": ""})
        case "unknown":
            call["x"] = result["x"] = value
    turns = [("user", user), ("assistant", said), ("user", [result])]
    return {
        "model": "m",
        "max_tokens": 9,
        "system": system,
        "messages": [{"role": role, "content": content} for role, content in turns],
        "tools": [{"name": "get", "input_schema": PARAMETERS}],
    }


def responses(place: str, value: Any) -> Json:
    call: Json = {"type": "function_call", "call_id": "c", "name": "get", "arguments": "{}"}
    result: Json = {"type": "function_call_output", "call_id": "c", "output": "done"}
    said: Json = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
    user: Json = {"role": "user", "content": "x"}
    reasoning: list[Json] = []
    match place:
        case "id":
            call["call_id"] = result["call_id"] = value
        case "name" | "result name":
            call["name"] = value
        case "arguments":
            call["arguments"] = value
        case "argument":
            call["arguments"] = {"city": value, "more": [value]}
        case "content":
            said["content"] = value
        case "part":
            said["content"][0]["text"] = value
        case "result":
            result["output"] = value
        case "result part":
            result["output"] = [{"type": "input_text", "text": value}]
        case "user":
            user["content"] = value
        case "user part":
            user["content"] = [{"type": "input_text", "text": value}]
        case "system":
            user = {"role": "system", "content": value}
        case "reasoning":
            content = [{"type": "reasoning_text", "text": value}]
            reasoning = [{"type": "reasoning", "id": "rs_wirecall_1", "summary": [], "content": content}]
        case "unknown":
            call["x"] = result["x"] = value
    tools = [{"type": "function", **FUNCTION}]
    return {"model": "m", "input": [user, *reasoning, said, call, result], "tools": tools}


PLACES = (
    *(
        "id",
        "name",
        "arguments",
        "argument",
        "content",
        "part",
        "result",
        "result part",
        "result name",
        "user",
    ),
    *("user part", "system", "reasoning", "unknown"),
)
PROTOCOLS = ("wire", "hermes", "yaml", "harmony")
REQUESTS = {"chat": chat, "messages": messages, "responses": responses}


@pytest.mark.parametrize("number", range(len(VALUES)), ids=VALUES)
@pytest.mark.parametrize("api", REQUESTS)
def test_no_history_is_rejected(api: ApiName, number: int) -> None:
    value = [*VALUES.values()][number]
    # Each value is in each format, in different places.
    for at, place in enumerate(PLACES, number):
        records: list[Record] = []
        options = Options(
            protocol=PROTOCOLS[at % len(PROTOCOLS)],
            reasoning="separate",
            on_record=records.append,
            record_content=True,
        )
        exchange = Exchange(api_named(api), REQUESTS[api](place, value), options)
        exchange.finish()
        assert exchange.toolset is not None
        assert len(records) == 1, place


@pytest.mark.parametrize("api", REQUESTS)
def test_a_call_with_a_lone_surrogate_in_its_id_is_still_a_call(api: ApiName) -> None:
    """Only the surrogate is replaced, and the result belongs to its call."""
    request = Exchange(api_named(api), REQUESTS[api]("id", LONE), Options()).request
    written = str(request["input" if api == "responses" else "messages"])
    assert "<call>get</call>" in written
    assert '<tool-result name="get">done</tool-result>' in written


def test_only_deep_values_are_abbreviated() -> None:
    """Down to a level, whole: sizes are not limited."""
    assert shown(["x" * 5000, 1.5, {"a": None}]) == repr(["x" * 5000, 1.5, {"a": None}])
    deep = shown({"a": "y" * 5000, "b": nested(3000, in_lists=True)})
    assert "y" * 5000 in deep
    assert deep.endswith("[[...]" + "]" * (deep.count("[") - 1) + "}")
    assert shown([10**5000]) == f"[{hex(10**5000)}]"
    assert "Broken" in shown([Broken()])


def test_only_lone_surrogates_are_replaced() -> None:
    assert encodable("a\u00e9\U0001f388") == "a\u00e9\U0001f388"
    assert encodable(f"a{LONE}b") == "a\ufffdb"
    assert encodable("\ud83c\udf88") == "\U0001f388"
