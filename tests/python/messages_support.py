"""What the tests of the Messages API share: requests and answers, a provider's stream, and a strict host."""

import copy
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from law import law
from wirecall._apis.exchange import Exchange
from wirecall._apis.messages.api import api
from wirecall._text.options import Options
from wirecall._text.parts import ToolCallError

LAW = law(4)
Json = dict[str, Any]

SEARCH = {
    "name": "search",
    "description": "Find pages.",
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
}
NOTE = {
    "type": "custom",
    "name": "note",
    "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
}
WEB = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
BASH = {"type": "bash_20250124", "name": "bash"}
BROWSER = {"type": "browser_toolset_20260801"}
EPHEMERAL = {"type": "ephemeral"}


def request(**given: Any) -> Json:
    basis = {"model": "m", "max_tokens": 9, "tools": [SEARCH, NOTE], "messages": [user("Hello")]}
    return {**basis, **given}


def user(content: Any) -> Json:
    return {"role": "user", "content": content}


def assistant(content: Any) -> Json:
    return {"role": "assistant", "content": content}


def text(text: str, **more: Any) -> Json:
    return {"type": "text", "text": text, **more}


def use(id: str, name: str = "search", input: Any = None, **more: Any) -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": {} if input is None else input, **more}


def result(id: str, content: Any = "done", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def rewritten(given: Json, **options: Any) -> Json:
    before = copy.deepcopy(given)
    exchange = Exchange(api, given, Options(**options))
    assert given == before
    return dict(exchange.request)


def message(content: list[Json], stop: Any = "end_turn", sequence: Any = None, usage: Any = None) -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": sequence,
        "usage": usage or {"input_tokens": 10, "output_tokens": 5},
    }


def events_of(body: Json, size: int) -> list[Json]:
    """The stream of an answer, its texts in chunks of this size."""
    start = {**body, "content": [], "stop_reason": None, "usage": {**body["usage"], "output_tokens": 1}}
    events: list[Json] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(body["content"]):
        deltas: list[Json] = []
        begun = block
        if block["type"] == "text":
            begun = {**block, "text": ""}
            if "citations" in block:
                begun["citations"] = []
                deltas = [{"type": "citations_delta", "citation": one} for one in block["citations"]]
            cut = [block["text"][at : at + size] for at in range(0, len(block["text"]), size)]
            deltas += [{"type": "text_delta", "text": one} for one in cut]
        elif block["type"] == "tool_use":
            begun = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        elif block["type"] == "thinking":
            begun = {**block, "thinking": ""}
            deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}]
        events.append({"type": "content_block_start", "index": index, "content_block": begun})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": body["stop_reason"], "stop_sequence": body["stop_sequence"]}
    usage = {"output_tokens": body["usage"]["output_tokens"]}
    events.append({"type": "message_delta", "delta": delta, "usage": usage})
    events.append({"type": "message_stop"})
    return events


def folded(events: Iterable[Json]) -> Json:
    """The message that a stream adds up to, for a host that insists on the order of events."""
    body: Json | None = None
    blocks: list[Json] = []
    is_open = stopped = False
    inputs = ""
    for event in copy.deepcopy(list(events)):
        kind = event["type"]
        assert not stopped
        if kind == "message_start":
            assert body is None
            body = event["message"]
        elif kind == "content_block_start":
            assert not is_open
            assert event["index"] == len(blocks)
            blocks.append(event["content_block"])
            is_open, inputs = True, ""
        elif kind == "content_block_delta":
            assert is_open
            assert event["index"] == len(blocks) - 1
            delta = event["delta"]
            if delta["type"] == "text_delta":
                assert delta["text"]
                blocks[-1]["text"] += delta["text"]
            elif delta["type"] == "thinking_delta":
                blocks[-1]["thinking"] += delta["thinking"]
            elif delta["type"] == "citations_delta":
                blocks[-1]["citations"].append(delta["citation"])
            else:
                inputs += delta["partial_json"]
        elif kind == "content_block_stop":
            assert is_open
            assert event["index"] == len(blocks) - 1
            is_open = False
            assert blocks[-1].get("text") != ""
            if blocks[-1]["type"] == "tool_use":
                blocks[-1]["input"] = json.loads(inputs)
        elif kind == "message_delta":
            assert not is_open
            assert body is not None
            usage = {**body["usage"], **event["usage"]}
            body = {**body, **event["delta"], "usage": usage}
        elif kind == "message_stop":
            stopped = True
        else:
            assert kind == "ping"
    assert stopped
    assert body is not None
    return {**body, "content": blocks}


@dataclass
class Heard:
    """What the host got: a message or an exception; what was asked in between; what was told."""

    message: Json | None
    failed: str | None
    requests: list[Any]
    told: list[Any]

    def comparable(self) -> Any:
        """Without ids, which are random and only must differ."""
        plain = copy.deepcopy(self.message)
        ids = [block["id"] for block in (plain or {"content": []})["content"] if block["type"] == "tool_use"]
        assert len(set(ids)) == len(ids)
        for block in (plain or {"content": []})["content"]:
            if block["type"] == "tool_use":
                assert re.fullmatch("native|toolu_[A-Za-z0-9]{24}", block["id"])
                block["id"] = ""
        return plain, self.failed, self.requests, self.told


def hear(given: Json, answers: list[Json], size: int | None, **options: Any) -> Heard:
    """Plays the answers, whole (no size) or streamed in chunks; the last one again, if need be."""
    told: list[Any] = []
    exchange = Exchange(api, given, Options(on_event=told.append, **options))
    requests = [exchange.request]
    before = copy.deepcopy(answers)
    heard: Json | None = None
    failed = None
    stream = None if size is None else exchange.stream()
    out: list[Json] = []
    try:
        for attempt in range(10):
            answer = answers[min(attempt, len(answers) - 1)]
            if stream is None:
                read = exchange.whole(answer)
                heard = None if read is None else dict(read)
                again = read is None
            else:
                for event in events_of(answer, size or 1):
                    sent = stream.feed(event)
                    out += [event] if sent is None else sent
                out += stream.end()
                again = stream.should_retry
                if again:
                    exchange.retry()
                else:
                    heard = folded(out)
            if not again:
                break
            requests.append(exchange.request)
        else:
            raise AssertionError("it never stops asking")
    except ToolCallError as error:
        failed = str(error)
    assert answers == before
    return Heard(heard, failed, requests[1:], told)
