"""Anthropic messages: what is refused, what is answered, and the events of a stream."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from . import checks
from .answers import Answer, Call, Failure, Json, Part, RefusedError, Thinking, compact, new_id, pieces
from .checks import ANTHROPIC_NAME, anthropic_refused
from .delivery import Event

COUNT_KEYS = frozenset(
    [
        "cache_control",
        "messages",
        "model",
        "output_config",
        "speed",
        "system",
        "thinking",
        "tool_choice",
        "tools",
        "user_profile_id",
        "workspace_id",
    ]
)
KEYS = COUNT_KEYS | frozenset(
    [
        "container",
        "diagnostics",
        "inference_geo",
        "max_tokens",
        "metadata",
        "service_tier",
        "stop_sequences",
        "stream",
        "temperature",
        "top_k",
        "top_p",
    ]
)
BETA_KEYS = frozenset(
    [
        "billing_policy",
        "compaction",
        "context_management",
        "fallback_credit_token",
        "fallbacks",
        "mcp_servers",
        "thread",
    ]
)
TOOL_KEYS = {
    *("type", "name", "description", "input_schema", "input_examples", "strict", "cache_control"),
    *("allowed_callers", "defer_loading", "eager_input_streaming"),
}
USER_BLOCKS = {"text", "image", "document", "search_result", "tool_result", "container_upload"}
ASSISTANT_BLOCKS = {"text", "tool_use", "thinking", "redacted_thinking", "server_tool_use"}
ID = re.compile(r"[a-zA-Z0-9_-]+")
FINISH = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


# Checks -----------------------------------------------------------------------------------------------------


def check(body: Json, *, beta: bool = False, counting: bool = False) -> None:
    """Raises `RefusedError` as the API would; turns must alternate, though the API would merge them."""
    known = (COUNT_KEYS if counting else KEYS) | (BETA_KEYS if beta else frozenset())
    for key in checks.unknown_keys(body, known):
        raise RefusedError(f"{key}: Extra inputs are not permitted", key)
    if body.get("thread") is not None:
        details = {"error_code": "thread_unsupported_request"}
        raise RefusedError(
            "thread: Threads are not available. Send the full conversation.", "thread", details=details
        )
    checks.text(body.get("model"), "model", anthropic_refused, empty=False)
    if not counting:
        checks.positive(body.get("max_tokens"), "max_tokens", anthropic_refused)
    marked = _system(body.get("system"))
    names = _tools(body.get("tools"))
    marked += sum("cache_control" in tool for tool in body.get("tools") or ())
    _choice(body.get("tool_choice"), names)
    for index, sequence in enumerate(body.get("stop_sequences") or ()):
        if not checks.text(sequence, f"stop_sequences.{index}", anthropic_refused).strip():
            raise RefusedError("stop_sequences: each stop sequence must contain non-whitespace")
    marked += _messages(
        checks.sequence(body.get("messages"), "messages", anthropic_refused), bool(body.get("tools"))
    )
    if marked > 4:
        raise RefusedError(f"A maximum of 4 blocks with cache_control may be provided. Found {marked}.")


def _system(system: Any) -> int:
    if system is None or isinstance(system, str):
        return 0
    marked = 0
    for index, block in enumerate(checks.sequence(system, "system", anthropic_refused)):
        if checks.mapping(block, f"system.{index}", anthropic_refused).get("type") != "text":
            raise anthropic_refused("Input should be 'text'", f"system.{index}.type")
        if not checks.text(block.get("text"), f"system.{index}.text", anthropic_refused):
            raise RefusedError("system: text content blocks must be non-empty")
        marked += "cache_control" in block
    return marked


def _tools(tools: Any) -> list[str]:
    names = []
    if tools is not None:
        for index, tool in enumerate(checks.sequence(tools, "tools", anthropic_refused, empty=True)):
            path = f"tools.{index}"
            kind = checks.mapping(tool, path, anthropic_refused).get("type")
            names.append(checks.name(tool.get("name"), f"{path}.name", ANTHROPIC_NAME, anthropic_refused))
            if kind in (None, "custom"):
                for key in checks.unknown_keys(tool, TOOL_KEYS):
                    raise RefusedError(f"{path}.custom.{key}: Extra inputs are not permitted", key)
                checks.object_schema(
                    tool.get("input_schema"), f"{path}.custom.input_schema", anthropic_refused
                )
        if len(set(names)) < len(names):
            raise RefusedError("tools: Tool names must be unique.")
    return names


def _choice(choice: Any, names: Sequence[str]) -> None:
    if choice is None:
        return
    kind = checks.mapping(choice, "tool_choice", anthropic_refused).get("type")
    if kind not in ("auto", "any", "tool", "none"):
        raise anthropic_refused(f"Input tag '{kind}' does not match any of the expected tags", "tool_choice")
    if not names:
        raise RefusedError("tool_choice may only be specified while providing tools.", "tool_choice")
    if kind == "tool" and choice.get("name") not in names:
        raise RefusedError(f"Tool '{choice.get('name')}' not found in provided tools", "tool_choice")


def _messages(messages: Sequence[Any], has_tools: bool) -> int:
    """How many cache breakpoints the messages have."""
    marked = 0
    waiting: list[str] = []
    ids: list[str] = []
    for index, message in enumerate(messages):
        path = f"messages.{index}"
        for key in checks.unknown_keys(checks.mapping(message, path, anthropic_refused), ("role", "content")):
            raise RefusedError(f"{path}.{key}: Extra inputs are not permitted", key)
        role = message.get("role")
        if role not in ("user", "assistant"):
            raise RefusedError(
                f'messages: Unexpected role "{role}". Allowed roles are "user" or "assistant".'
            )
        if index == 0 and role != "user":
            raise RefusedError('messages: first message must use the "user" role')
        if role != ("user", "assistant")[index % 2]:
            found = f'found multiple "{role}" roles in a row'
            raise RefusedError(f'messages: roles must alternate between "user" and "assistant", but {found}')
        last = index == len(messages) - 1
        blocks = _blocks(message.get("content"), role, path, last)
        marked += sum("cache_control" in block for block in blocks)
        if any(block["type"] in ("tool_use", "tool_result") for block in blocks) and not has_tools:
            raise RefusedError(
                "Requests which have `tool_use` or `tool_result` blocks in them must define tools."
            )
        results: list[Any] = [block.get("tool_use_id") for block in blocks if block["type"] == "tool_result"]
        for result in results:
            if result not in waiting:
                raise RefusedError(
                    f"{path}: unexpected `tool_use_id` found in `tool_result` blocks: {result}. Each "
                    "`tool_result` block must have a corresponding `tool_use` block in the previous message."
                )
        checks.unique(results, path, anthropic_refused, "ids of `tool_result` blocks")
        first = [block["type"] == "tool_result" for block in blocks[: len(results)]]
        if missing := [id for id in waiting if id not in results] or ([] if all(first) else waiting):
            raise RefusedError(
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a corresponding "
                "`tool_result` block in the next message."
            )
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        ids += waiting
    if waiting:
        raise RefusedError(
            f"messages.{len(messages) - 1}: `tool_use` ids were found without `tool_result` blocks "
            f"immediately after: {', '.join(waiting)}."
        )
    checks.unique(ids, "messages", anthropic_refused, "`tool_use` ids")
    return marked


def _blocks(content: Any, role: str, path: str, last: bool) -> list[Json]:
    if isinstance(content, str):
        if not content.strip() and not (last and role == "assistant"):
            raise RefusedError(f"{path}: {role} messages must have non-empty content")
        if last and role == "assistant" and content != content.rstrip():
            raise RefusedError("messages: final assistant content cannot end with trailing whitespace")
        return [{"type": "text", "text": content}]
    blocks = checks.sequence(
        content, f"{path}.content", anthropic_refused, empty=last and role == "assistant"
    )
    for number, block in enumerate(blocks):
        where = f"{path}.content.{number}"
        kind = checks.mapping(block, where, anthropic_refused).get("type")
        known = USER_BLOCKS if role == "user" else ASSISTANT_BLOCKS
        if kind not in known and not str(kind).endswith("_tool_result"):
            raise anthropic_refused(
                f"Input tag '{kind}' does not match any of the expected tags for {role}", where
            )
        if kind == "text":
            _text(block, where)
        elif kind == "tool_use":
            checks.name(block.get("id"), f"{where}.tool_use.id", ID, anthropic_refused)
            checks.name(block.get("name"), f"{where}.tool_use.name", ANTHROPIC_NAME, anthropic_refused)
            checks.mapping(block.get("input"), f"{where}.tool_use.input", anthropic_refused)
        elif kind == "thinking":
            checks.text(block.get("signature"), f"{where}.thinking.signature", anthropic_refused, empty=False)
        elif kind == "tool_result" and isinstance(block.get("content"), list):
            for inner in block["content"]:
                if checks.mapping(inner, where, anthropic_refused).get("type") == "text":
                    _text(inner, f"{where}.tool_result.content")
    return blocks


def _text(block: Json, where: str) -> None:
    text = checks.text(block.get("text"), f"{where}.text.text", anthropic_refused)
    if not text:
        raise RefusedError("messages: text content blocks must be non-empty")
    if not text.strip():
        raise RefusedError("messages: text content blocks must contain non-whitespace text")


# Answers ----------------------------------------------------------------------------------------------------


def error(failure: Failure) -> Json:
    inner: Json = {
        "type": failure.type or ERRORS.get(failure.status, "api_error"),
        "message": failure.message,
    }
    if failure.details is not None:
        inner["details"] = dict(failure.details)
    return {"type": "error", "error": inner, "request_id": new_id("req_")}


def count(body: Json) -> Json:
    """A number that grows with what the model would read."""
    read = {key: body[key] for key in ("system", "tools", "messages") if key in body}
    return {"input_tokens": len(compact(read)) // 4}


def whole(body: Json, answer: Answer) -> Json:
    content = []
    for part in answer.items:
        block = _block(part)
        if isinstance(part, Call):
            block["input"] = json.loads(part.text)
        elif isinstance(part, Thinking):
            block |= {"thinking": part.text, "signature": part.signature}
        else:
            block["text"] = part if isinstance(part, str) else part.text
        content.append(block)
    usage = {**_usage(answer), "output_tokens": answer.usage.output}
    return {
        **_head(body),
        "content": content,
        "stop_reason": _stop(answer),
        "stop_sequence": None,
        "usage": usage,
    }


def ping() -> Event:
    return Event("ping", {"type": "ping"})


def error_event(failure: Failure) -> Event:
    return _event(error(failure))


def events(body: Json, answer: Answer) -> Iterator[Event]:
    usage = {**_usage(answer), "output_tokens": 1}
    message = {**_head(body), "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield _event({"type": "message_start", "message": message})
    for index, part in enumerate(answer.items):
        yield _event({"type": "content_block_start", "index": index, "content_block": _block(part)})
        if index == 0:
            yield ping()
        for delta in _deltas(part, answer.delivery.characters):
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        if answer.error is None or index < len(answer.items) - 1:
            yield _event({"type": "content_block_stop", "index": index})
    if answer.error is not None:
        yield error_event(answer.error)
        return
    delta = {"stop_reason": _stop(answer), "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": answer.usage.output}})
    yield _event({"type": "message_stop"})


def _event(data: Json) -> Event:
    return Event(data["type"], data)


def _deltas(part: Part, characters: int | None) -> Iterator[Json]:
    if isinstance(part, Call):
        yield {"type": "input_json_delta", "partial_json": ""}
        for piece in pieces("" if part.text == "{}" else part.text, characters):
            yield {"type": "input_json_delta", "partial_json": piece}
    elif isinstance(part, Thinking):
        for piece in pieces(part.text, characters):
            yield {"type": "thinking_delta", "thinking": piece}
        yield {"type": "signature_delta", "signature": part.signature}
    else:
        for piece in pieces(part if isinstance(part, str) else part.text, characters):
            yield {"type": "text_delta", "text": piece}


def _block(part: Part) -> Json:
    """The block as it starts: without what the deltas bring."""
    if isinstance(part, Call):
        return {"type": "tool_use", "id": part.id or new_id("toolu_"), "name": part.name, "input": {}}
    if isinstance(part, Thinking):
        return {"type": "thinking", "thinking": "", "signature": ""}
    return {"type": "text", "text": ""}


def _head(body: Json) -> Json:
    return {"id": new_id("msg_"), "type": "message", "role": "assistant", "model": body["model"]}


def _stop(answer: Answer) -> str:
    finish = answer.finish_of(answer.items)
    return FINISH.get(finish, finish)


def _usage(answer: Answer) -> Json:
    return {
        "input_tokens": answer.usage.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "service_tier": "standard",
    }
