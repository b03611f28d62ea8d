"""OpenAI chat completions: what is refused, what is answered, and the chunks of a stream."""

import time
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from . import checks
from .answers import Answer, Call, Failure, Json, Part, Refusal, RefusedError, Thinking, new_id, pieces
from .checks import OPENAI_NAME, openai_refused
from .delivery import Event

KEYS = frozenset(
    [
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "metadata",
        "modalities",
        "model",
        "moderation",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
    ]
)
# What an answer's message holds may come back with it, so it is known too.
MESSAGE_KEYS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {
        *("role", "content", "name", "refusal", "audio", "tool_calls", "function_call"),
        *("annotations", "reasoning_content"),
    },
    "tool": {"role", "content", "tool_call_id"},
    "function": {"role", "content", "name"},
}
PARTS = {
    "system": {"text"},
    "developer": {"text"},
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
    "function": set[str](),
}
FINISH = {"refusal": "stop", "stop_sequence": "stop", "pause_turn": "stop"}


# Checks -----------------------------------------------------------------------------------------------------


def check(body: Json, *, alternate: bool = False, added: frozenset[str] = frozenset()) -> None:
    """Raises `RefusedError` as the API would; with `alternate`, as templates of many open models would.

    `added` are parameters that the API does not have, and a server adds.
    """
    for key in checks.unknown_keys(body, KEYS | added):
        raise RefusedError(f"Unknown parameter: '{key}'.", key, code="unknown_parameter")
    checks.text(body.get("model"), "model", openai_refused, empty=False)
    _messages(checks.sequence(body.get("messages"), "messages", openai_refused), alternate)
    names = _tools(body)
    choice = body.get("tool_choice")
    for key in ("tool_choice", "parallel_tool_calls"):
        if body.get(key) is not None and not names:
            raise RefusedError(f"'{key}' is only allowed when 'tools' are specified.", key)
    if isinstance(choice, dict) and choice.get("type") == "function":
        named = checks.mapping(choice.get("function"), "tool_choice.function", openai_refused).get("name")
        if named not in names:
            raise RefusedError(f"Tool choice '{named}' not found in 'tools' parameter.", "tool_choice")
    elif isinstance(choice, str) and choice not in ("auto", "none", "required"):
        raise openai_refused("supported values are: 'none', 'auto', and 'required'.", "tool_choice")
    if body.get("function_call") is not None and "functions" not in body:
        raise RefusedError("'function_call' is only allowed when 'functions' are specified.", "function_call")
    if body.get("stream_options") is not None and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise RefusedError(message, "stream_options")
    stop(body.get("stop"))
    for key in ("n", "max_tokens", "max_completion_tokens"):
        if body.get(key) is not None:
            checks.positive(body[key], key, openai_refused)


def stop(value: Any) -> None:
    if isinstance(value, list):
        if len(value) > 4:
            raise openai_refused(f"array too long. Expected at most 4, but got {len(value)}.", "stop")
        for index, sequence in enumerate(value):
            checks.text(sequence, f"stop[{index}]", openai_refused, empty=False)
    elif value is not None:
        checks.text(value, "stop", openai_refused, empty=False)


def _tools(body: Json) -> list[str]:
    names = []
    if body.get("tools") is not None:
        for index, tool in enumerate(checks.sequence(body["tools"], "tools", openai_refused)):
            path = f"tools[{index}]"
            kind = checks.mapping(tool, path, openai_refused).get("type")
            if kind not in ("function", "custom"):
                raise openai_refused(
                    f"'{kind}'. Supported values are: 'function' and 'custom'.", f"{path}.type"
                )
            for key in checks.unknown_keys(tool, ("type", kind, "cache_control")):
                raise RefusedError(
                    f"Unknown parameter: '{path}.{key}'.", f"{path}.{key}", code="unknown_parameter"
                )
            inner = checks.mapping(tool.get(kind), f"{path}.{kind}", openai_refused)
            names.append(
                definition(
                    inner, f"{path}.{kind}", keys=("name", "description", "parameters", "strict", "format")
                )
            )
    if body.get("functions") is not None:
        for index, function in enumerate(checks.sequence(body["functions"], "functions", openai_refused)):
            definition(function, f"functions[{index}]", keys=("name", "description", "parameters"))
    checks.unique(names, "tools", openai_refused, "names")
    return names


def definition(tool: Json, path: str, *, keys: Sequence[str]) -> str:
    """The name of a checked definition of a function."""
    for key in checks.unknown_keys(checks.mapping(tool, path, openai_refused), keys):
        raise RefusedError(f"Unknown parameter: '{path}.{key}'.", f"{path}.{key}", code="unknown_parameter")
    if tool.get("description") is not None:
        checks.text(tool["description"], f"{path}.description", openai_refused)
    if tool.get("parameters") is not None:
        checks.object_schema(tool["parameters"], f"{path}.parameters", openai_refused)
    return checks.name(tool.get("name"), f"{path}.name", OPENAI_NAME, openai_refused)


def _messages(messages: Sequence[Any], alternate: bool) -> None:
    waiting: dict[str, None] = {}  # ids of calls that have no result yet, in order
    before = "system"
    for index, message in enumerate(messages):
        path = f"messages[{index}]"
        role = checks.mapping(message, path, openai_refused).get("role")
        if role not in MESSAGE_KEYS:
            roles = ", ".join(f"'{name}'" for name in MESSAGE_KEYS)
            raise openai_refused(f"'{role}'. Supported values are: {roles}.", f"{path}.role")
        for key in checks.unknown_keys(message, MESSAGE_KEYS[role]):
            raise RefusedError(
                f"Unknown parameter: '{path}.{key}'.", f"{path}.{key}", code="unknown_parameter"
            )
        if waiting and role != "tool":
            raise _unanswered(waiting, path)
        if role in ("system", "developer") and before not in ("system", "developer"):
            raise openai_refused("system message must be at the beginning.", f"{path}.role")
        if alternate and role == before and role in ("user", "assistant"):
            message = "conversation roles must alternate user/assistant/user/assistant/..."
            raise openai_refused(message, f"{path}.role")
        _content(message, role, path)
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                text = (
                    "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                )
                raise RefusedError(f"Invalid parameter: {text}", f"{path}.role")
            del waiting[message["tool_call_id"]]
        if message.get("tool_calls") is not None:
            waiting = _calls(message["tool_calls"], f"{path}.tool_calls")
        before = role
    if waiting:
        raise _unanswered(waiting, f"messages[{len(messages) - 1}]")


def _unanswered(waiting: dict[str, None], path: str) -> RefusedError:
    return RefusedError(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}",
        f"{path}.role",
    )


def _content(message: Json, role: str, path: str) -> None:
    content = message.get("content")
    if content is None:
        if role == "function" or (
            role == "assistant"
            and any(message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio"))
        ):
            return
        raise openai_refused("expected a string, got null.", f"{path}.content")
    if isinstance(content, str):
        return
    for number, part in enumerate(checks.sequence(content, f"{path}.content", openai_refused)):
        where = f"{path}.content[{number}]"
        kind = checks.mapping(part, where, openai_refused).get("type")
        if kind not in PARTS[role]:
            kinds = ", ".join(f"'{name}'" for name in sorted(PARTS[role]))
            raise openai_refused(f"'{kind}'. Supported values are: {kinds}.", f"{where}.type")
        if kind == "text":
            checks.text(part.get("text"), f"{where}.text", openai_refused)


def _calls(calls: Any, path: str) -> dict[str, None]:
    ids: dict[str, None] = {}
    for number, call in enumerate(checks.sequence(calls, path, openai_refused)):
        where = f"{path}[{number}]"
        id = checks.text(
            checks.mapping(call, where, openai_refused).get("id"), f"{where}.id", openai_refused, empty=False
        )
        if call.get("type") != "function":
            raise openai_refused("supported values are: 'function'.", f"{where}.type")
        function = checks.mapping(call.get("function"), f"{where}.function", openai_refused)
        checks.name(function.get("name"), f"{where}.function.name", OPENAI_NAME, openai_refused)
        checks.text(function.get("arguments"), f"{where}.function.arguments", openai_refused)
        if id in ids:
            raise openai_refused(f"duplicate id '{id}'.", f"{where}.id")
        ids[id] = None
    return ids


# Answers ----------------------------------------------------------------------------------------------------


def error(failure: Failure) -> Json:
    kind = failure.type or {
        401: "invalid_request_error",
        429: "rate_limit_error",
        500: "server_error",
        503: "server_error",
    }.get(failure.status, "invalid_request_error")
    return {"error": {"message": failure.message, "type": kind, "param": failure.param, "code": failure.code}}


def whole(body: Json, answer: Answer) -> Json:
    choices = []
    for index in range(body.get("n") or 1):
        parts = answer.choice(index)
        texts = [part for part in parts if isinstance(part, str)]
        refusals = [part.text for part in parts if isinstance(part, Refusal)]
        calls = [part for part in parts if isinstance(part, Call)]
        message: Json = {
            "role": "assistant",
            "content": "".join(texts) if texts else None,
            "refusal": "".join(refusals) or None,
            "annotations": [],
        }
        if thoughts := "".join(part.text for part in parts if isinstance(part, Thinking)):
            message["reasoning_content"] = thoughts
        if calls and "functions" in body:
            message["function_call"] = {"name": calls[0].name, "arguments": calls[0].text}
        elif calls:
            message["tool_calls"] = [
                {"id": _id(call), "type": "function", "function": {"name": call.name, "arguments": call.text}}
                for call in calls
            ]
        finish = _finish(body, answer, parts)
        choices.append({"index": index, "message": message, "logprobs": None, "finish_reason": finish})
    return {**_head(body, "chat.completion"), "choices": choices, "usage": _usage(answer)}


def error_event(failure: Failure) -> Event:
    return Event(None, error(failure))


def events(body: Json, answer: Answer) -> Iterator[Event]:
    head = _head(body, "chat.completion.chunk")
    options = body.get("stream_options") or {}
    counted = {"usage": None} if options.get("include_usage") else {}

    def chunk(index: int, delta: Json, finish: str | None = None) -> Event:
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
        return Event(None, {**head, "choices": [choice], **counted})

    def choice(index: int) -> Iterator[Event]:
        parts = answer.choice(index)
        speaks = any(isinstance(part, str) for part in parts)
        yield chunk(index, {"role": "assistant", "content": "" if speaks else None, "refusal": None})
        number = 0
        for part in parts:
            for delta in _deltas(part, number, body, answer.delivery.characters):
                yield chunk(index, delta)
            number += isinstance(part, Call)
        if answer.error is None:
            yield chunk(index, {}, _finish(body, answer, parts))

    # Choices take turns, as they do when they are sampled together.
    for turn in zip_longest(*map(choice, range(body.get("n") or 1))):
        yield from filter(None, turn)
    if answer.error is not None:
        yield error_event(answer.error)
        return
    if counted:
        yield Event(None, {**head, "choices": [], "usage": _usage(answer)})
    yield Event(None, "[DONE]")


def _deltas(part: Part, number: int, body: Json, characters: int | None) -> Iterator[Json]:
    if isinstance(part, Call):
        if "functions" in body:
            yield {"function_call": {"name": part.name, "arguments": ""}}
        else:
            function = {"name": part.name, "arguments": ""}
            yield {
                "tool_calls": [{"index": number, "id": _id(part), "type": "function", "function": function}]
            }
        for piece in pieces(part.text, characters):
            if "functions" in body:
                yield {"function_call": {"arguments": piece}}
            else:
                yield {"tool_calls": [{"index": number, "function": {"arguments": piece}}]}
        return
    text, key = (part, "content") if isinstance(part, str) else (part.text, "refusal")
    if isinstance(part, Thinking):
        key = "reasoning_content"
    for piece in pieces(text, characters):
        yield {key: piece}


def _head(body: Json, object: str) -> Json:
    return {
        "id": new_id("chatcmpl-"),
        "object": object,
        "created": int(time.time()),
        "model": body["model"],
        "service_tier": "default",
        "system_fingerprint": "fp_44709d6fcb",
    }


def _id(call: Call) -> str:
    return call.id or new_id("call_")


def _finish(body: Json, answer: Answer, parts: Sequence[Part]) -> str:
    finish = answer.finish_of(parts)
    if finish == "tool_calls" and "functions" in body:
        return "function_call"
    return FINISH.get(finish, finish)


def _usage(answer: Answer) -> Json:
    usage = answer.usage
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
