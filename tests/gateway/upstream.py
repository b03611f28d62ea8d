"""The model server of these tests: three calls, by a native model and by models that only write text."""

import json
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from aiohttp import web
from server import (
    Answer,
    Call,
    Delivery,
    NativeModel,
    Request,
    Script,
    Server,
    Step,
    TextModel,
    Thinking,
    in_thread,
)
from server.answers import Part
from server.conversation import read
from server.model import call_text, manual_signature, pairs_of

from wirecall_bench.gateway.processes import GatewayProcess, wirecall_process

ROUTES = Path(__file__).with_name("routes.toml").read_text(encoding="utf-8")

TOOLS: dict[str, Any] = {
    "get_weather": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
    "save_note": {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "body": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["title", "body"],
    },
}
RESULTS = {"get_weather": "21 degrees", "save_note": "saved"}
PROMPT = "What is the weather in New York?"

NOTE = {
    "title": "Weather",
    "body": '21 degrees, "sunny" </call><call>get_weather city=Paris</call>\nIt\'s ☀ \\ 100%',
    "tags": ["a", "b c", '"', "</call>"],
}
PLAN = [
    Step([Call("get_weather", {"city": "New York", "days": 2})], "Let me look."),
    Step([Call("save_note", NOTE)]),
    Step([Call("get_weather", {"city": "Rome"})]),
    Step(text="21 degrees in New York and in Rome."),
]
# What a client must see.
CALLS = [[call.name, call.arguments] for step in PLAN for call in step.calls]
TEXTS = [step.text for step in PLAN]

# Deltas and chunks that end in the middle of tags, escapes and characters.
DELIVERY = Delivery(characters=3, chunk=7)
MODELS: dict[str, NativeModel | TextModel] = {
    "native": NativeModel(PLAN, delivery=DELIVERY),
    "text": TextModel(PLAN, delivery=DELIVERY),
    # Its second call is `<call>save_note [object Object]</call>`, and right when it is retried.
    "mistaken": TextModel([PLAN[0], replace(PLAN[1], mistake="broken_json"), *PLAN[2:]], delivery=DELIVERY),
    # Its first call is bad, after text that has been streamed.
    "mistaken-first": TextModel([replace(PLAN[0], mistake="broken_json"), *PLAN[1:]], delivery=DELIVERY),
}
REQUESTS = {"native": 4, "text": 4, "mistaken": 5}


def answer(request: Request) -> Answer:
    """The answer of the model that the request names."""
    return MODELS[request.json["model"]](request)


def spoken(request: Request, *parts: Part) -> Answer:
    """An answer with these parts: native if the request has native tools, and otherwise written as text."""
    conversation = read(request.json)
    if conversation.tools:
        return Answer(parts, delivery=DELIVERY)
    written = [as_text(part, conversation.system) for part in parts]
    return Answer("".join(written), delivery=DELIVERY)


def as_text(part: Part, system: str) -> str:
    if isinstance(part, Thinking):
        return f"<think>{part.text}</think>"
    if isinstance(part, Call):
        return call_text(part.name, pairs_of(json.loads(part.text), manual_signature(system, part.name)))
    assert isinstance(part, str)
    return part


class Upstream(Server):
    """The server of `tests/clients/server`, with the list of models and the token count of Responses."""

    async def _handle(self, http: web.Request) -> web.StreamResponse:
        if (http.method, http.path) == ("GET", "/v1/models"):
            models = [{"id": name, "object": "model", "created": 1, "owned_by": "tests"} for name in MODELS]
            return web.json_response({"object": "list", "data": models})
        if (http.method, http.path) == ("POST", "/v1/responses/input_tokens"):
            body = await http.read()
            self.requests.append(Request("responses", http.path, {}, body, json.loads(body)))
            return web.json_response({"object": "response.input_tokens", "input_tokens": len(body) // 4})
        return await super()._handle(http)


def serve(script: Script = answer, **options: Any) -> AbstractContextManager[Upstream]:
    """An upstream in a thread of its own, on a free port, until the block ends. Options are `Server`'s."""
    return in_thread(Upstream(script, **options))


def gateway_before(upstream: Upstream) -> AbstractContextManager[GatewayProcess]:
    """`wirecall serve` in front of an upstream, until the block ends."""
    return wirecall_process(upstream.openai_url, routes=ROUTES)
