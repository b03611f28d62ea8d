"""OpenAI Responses: what is refused, what is answered, and the events of a stream."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from . import checks
from .answers import Answer, Call, Failure, Json, Part, Refusal, RefusedError, Thinking, new_id, pieces
from .chat import definition
from .chat import error as error
from .checks import OPENAI_NAME, openai_refused
from .delivery import Event

KEYS = frozenset(
    [
        "access_programs",
        "background",
        "context_management",
        "conversation",
        "image",
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "model",
        "moderation",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    ]
)
TOOLS = frozenset(
    [
        "apply_patch",
        "code_interpreter",
        "computer",
        "computer_use_preview",
        "custom",
        "file_search",
        "function",
        "image_generation",
        "local_shell",
        "mcp",
        "namespace",
        "programmatic_tool_calling",
        "shell",
        "tool_search",
        "web_search",
        "web_search_preview",
    ]
)
INPUT_PARTS = {"input_text", "input_image", "input_file"}
OUTPUT_PARTS = {"output_text", "refusal"}
INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
# What `create` may set and the response repeats, with its default.
ECHOED: Json = {
    "background": False,
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None},
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
}


# Checks -----------------------------------------------------------------------------------------------------


def check(body: Json, *, added: frozenset[str] = frozenset()) -> None:
    """Raises `RefusedError` as the API would. Nothing is stored, so no history can be continued by its id.

    `added` are parameters that the API does not have, and a server adds.
    """
    for key in checks.unknown_keys(body, KEYS | added):
        raise RefusedError(f"Unknown parameter: '{key}'.", key, code="unknown_parameter")
    checks.text(body.get("model"), "model", openai_refused, empty=False)
    if (previous := body.get("previous_response_id")) is not None:
        message = f"Previous response with id '{previous}' not found."
        raise RefusedError(message, "previous_response_id", code="previous_response_not_found")
    if body.get("conversation") is not None:
        raise RefusedError("Conversation not found.", "conversation", status=404)
    if body.get("instructions") is not None:
        checks.text(body["instructions"], "instructions", openai_refused)
    names = _tools(body.get("tools"))
    choice = body.get("tool_choice")
    if choice is not None and not body.get("tools"):
        if choice != "none" and choice != "auto":
            raise RefusedError(
                f"Tool choice '{choice}' must be specified with 'tools' parameter.", "tool_choice"
            )
    elif isinstance(choice, dict) and choice.get("type") == "function" and choice.get("name") not in names:
        raise RefusedError(
            f"Tool choice '{choice.get('name')}' not found in 'tools' parameter.", "tool_choice"
        )
    if body.get("stream_options") is not None and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise RefusedError(message, "stream_options")
    if body.get("max_output_tokens") is not None:
        checks.positive(body["max_output_tokens"], "max_output_tokens", openai_refused)
    if not isinstance(body.get("input"), str):
        _input(checks.sequence(body.get("input"), "input", openai_refused))


def _tools(tools: Any) -> list[str]:
    names = []
    for index, tool in enumerate(
        checks.sequence(tools, "tools", openai_refused, empty=True) if tools else ()
    ):
        path = f"tools[{index}]"
        kind = checks.mapping(tool, path, openai_refused).get("type")
        if kind not in TOOLS:
            raise openai_refused(f"'{kind}' is no type of a tool.", f"{path}.type")
        if kind == "function":
            known = (
                "type",
                "name",
                "description",
                "parameters",
                "strict",
                "defer_loading",
                "output_schema",
                "allowed_callers",
            )
            names.append(definition(tool, path, keys=known))
            if "parameters" not in tool:
                raise RefusedError(f"Missing required parameter: '{path}.parameters'.", f"{path}.parameters")
    checks.unique(names, "tools", openai_refused, "names")
    return names


def _input(items: Sequence[Any]) -> None:
    calls: dict[str, None] = {}
    answered: set[str] = set()
    spoken = False  # somebody else than the system
    for index, item in enumerate(items):
        path = f"input[{index}]"
        kind = checks.mapping(item, path, openai_refused).get("type", "message")
        if kind == "message":
            role = item.get("role")
            if role not in ("user", "assistant", "system", "developer"):
                raise openai_refused(f"'{role}' is no role.", f"{path}.role")
            if role in ("system", "developer") and spoken:
                raise openai_refused("system message must be at the beginning.", f"{path}.role")
            spoken = spoken or role in ("user", "assistant")
            _content(item, role, path)
        elif kind == "function_call":
            spoken = True
            id = checks.text(item.get("call_id"), f"{path}.call_id", openai_refused, empty=False)
            checks.name(item.get("name"), f"{path}.name", OPENAI_NAME, openai_refused)
            checks.text(item.get("arguments"), f"{path}.arguments", openai_refused)
            if id in calls:
                raise openai_refused(f"duplicate call_id '{id}'.", f"{path}.call_id")
            calls[id] = None
        elif kind == "function_call_output":
            id = checks.text(item.get("call_id"), f"{path}.call_id", openai_refused, empty=False)
            if id not in calls:
                raise RefusedError(f"No tool call found for function call output with call_id {id}.", "input")
            if id in answered:
                raise RefusedError(f"Duplicate function call output for call_id {id}.", "input")
            if not isinstance(item.get("output"), str):
                checks.sequence(item.get("output"), f"{path}.output", openai_refused)
            answered.add(id)
        elif not isinstance(kind, str):
            raise openai_refused("expected a string.", f"{path}.type")
    if missing := [id for id in calls if id not in answered]:
        raise RefusedError(f"No tool output found for function call {missing[0]}.", "input")


def _content(item: Json, role: str, path: str) -> None:
    for key in checks.unknown_keys(item, ("type", "role", "content", "id", "status", "phase")):
        raise RefusedError(f"Unknown parameter: '{path}.{key}'.", f"{path}.{key}", code="unknown_parameter")
    content = item.get("content")
    if isinstance(content, str):
        return
    kinds = OUTPUT_PARTS if role == "assistant" else INPUT_PARTS
    for number, part in enumerate(checks.sequence(content, f"{path}.content", openai_refused, empty=True)):
        where = f"{path}.content[{number}]"
        kind = checks.mapping(part, where, openai_refused).get("type")
        if kind not in kinds:
            supported = ", ".join(f"'{name}'" for name in sorted(kinds))
            raise openai_refused(f"'{kind}'. Supported values are: {supported}.", f"{where}.type")
        if kind in ("input_text", "output_text"):
            checks.text(part.get("text"), f"{where}.text", openai_refused)


# Answers ----------------------------------------------------------------------------------------------------


def whole(body: Json, answer: Answer) -> Json:
    items = [_finished(kind, id, parts) for kind, id, parts in _items(answer.items)]
    return _ended(_response(body), answer, items)


def error_event(failure: Failure) -> Event:
    return Event("error", {"type": "error", "sequence_number": 0, **_error(failure)})


def _error(failure: Failure) -> Json:
    return {"code": failure.code or "server_error", "message": failure.message, "param": failure.param}


def events(body: Json, answer: Answer) -> Iterator[Event]:
    for number, (name, data) in enumerate(_events(body, answer)):
        yield Event(name, {"type": name, "sequence_number": number, **data})


def _events(body: Json, answer: Answer) -> Iterator[tuple[str, Json]]:
    response = _response(body)
    yield "response.created", {"response": response}
    yield "response.in_progress", {"response": response}
    items = []
    for index, (kind, id, parts) in enumerate(_items(answer.items)):
        item = _finished(kind, id, parts)
        yield "response.output_item.added", {"output_index": index, "item": _started(item)}
        place = {"item_id": id, "output_index": index}
        inner = {"message": _message, "function_call": _call, "reasoning": _reasoning}[kind]
        yield from inner(place, parts, answer.delivery.characters)
        yield "response.output_item.done", {"output_index": index, "item": item}
        items.append(item)
    if answer.error is not None:
        failure = answer.error
        yield "error", _error(failure)
        code = {"code": "server_error", "message": failure.message}
        yield (
            "response.failed",
            {"response": {**response, "status": "failed", "error": code, "output": items}},
        )
        return
    ended = _ended(response, answer, items)
    yield f"response.{ended['status']}", {"response": ended}


def _message(place: Json, parts: Sequence[Part], characters: int | None) -> Iterator[tuple[str, Json]]:
    for index, part in enumerate(parts):
        at = {**place, "content_index": index}
        text = part if isinstance(part, str) else part.text
        refusal = isinstance(part, Refusal)
        finished = _part(part)
        empty = {**finished, "refusal" if refusal else "text": ""}
        name = "refusal" if refusal else "output_text"
        more: Json = {} if refusal else {"logprobs": []}
        yield "response.content_part.added", {**at, "part": empty}
        for piece in pieces(text, characters):
            yield f"response.{name}.delta", {**at, "delta": piece, **more}
        yield f"response.{name}.done", {**at, "refusal" if refusal else "text": text, **more}
        yield "response.content_part.done", {**at, "part": finished}


def _call(place: Json, parts: Sequence[Part], characters: int | None) -> Iterator[tuple[str, Json]]:
    (call,) = parts
    assert isinstance(call, Call)
    for piece in pieces(call.text, characters):
        yield "response.function_call_arguments.delta", {**place, "delta": piece}
    yield "response.function_call_arguments.done", {**place, "name": call.name, "arguments": call.text}


def _reasoning(place: Json, parts: Sequence[Part], characters: int | None) -> Iterator[tuple[str, Json]]:
    (thinking,) = parts
    assert isinstance(thinking, Thinking)
    at = {**place, "summary_index": 0}
    yield "response.reasoning_summary_part.added", {**at, "part": {"type": "summary_text", "text": ""}}
    for piece in pieces(thinking.text, characters):
        yield "response.reasoning_summary_text.delta", {**at, "delta": piece}
    yield "response.reasoning_summary_text.done", {**at, "text": thinking.text}
    yield (
        "response.reasoning_summary_part.done",
        {**at, "part": {"type": "summary_text", "text": thinking.text}},
    )


def _items(parts: Sequence[Part]) -> list[tuple[str, str, list[Part]]]:
    """Kind, id and parts of each item: texts side by side are the parts of one message."""
    items: list[tuple[str, str, list[Part]]] = []
    for part in parts:
        if isinstance(part, Call):
            items.append(("function_call", new_id("fc_"), [part]))
        elif isinstance(part, Thinking):
            items.append(("reasoning", new_id("rs_"), [part]))
        elif items and items[-1][0] == "message":
            items[-1][2].append(part)
        else:
            items.append(("message", new_id("msg_"), [part]))
    return items


def _finished(kind: str, id: str, parts: Sequence[Part]) -> Json:
    item: Json = {"id": id, "type": kind}
    (first, *_) = parts
    if isinstance(first, Call):
        call_id = first.id or new_id("call_")
        item |= {"status": "completed", "call_id": call_id, "name": first.name, "arguments": first.text}
    elif isinstance(first, Thinking):
        item["summary"] = [{"type": "summary_text", "text": first.text}]
        item["encrypted_content"] = first.signature
    else:
        item |= {"status": "completed", "role": "assistant", "content": [_part(part) for part in parts]}
    return item


def _started(item: Json) -> Json:
    """The item as it is added: nothing in it yet."""
    empty: Json = {
        "message": {"content": []},
        "function_call": {"arguments": ""},
        "reasoning": {"summary": []},
    }
    status = {"status": "in_progress"} if "status" in item else {}
    return {**item, **empty[item["type"]], **status}


def _part(part: Part) -> Json:
    if isinstance(part, Refusal):
        return {"type": "refusal", "refusal": part.text}
    assert isinstance(part, str)
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": part}


def _response(body: Json) -> Json:
    return {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": body["model"],
        "output": [],
        "usage": None,
        "user": None,
        **{key: default if body.get(key) is None else body[key] for key, default in ECHOED.items()},
    }


def _ended(response: Json, answer: Answer, items: list[Json]) -> Json:
    reason = INCOMPLETE.get(answer.finish_of(answer.items))
    usage = answer.usage
    if reason is not None and items and "status" in items[-1]:
        items = [*items[:-1], {**items[-1], "status": "incomplete"}]
    return {
        **response,
        "status": "completed" if reason is None else "incomplete",
        "incomplete_details": None if reason is None else {"reason": reason},
        "output": items,
        "usage": {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input + usage.output,
        },
    }
