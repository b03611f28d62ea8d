"""Requests of chat completions, rewritten: their tools in a manual, calls and results as text."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from wirecall._apis import roles
from wirecall._apis.base import ParsedRequest, Rewrite, UnsupportedRequestError, choice_among
from wirecall._apis.constraints import check_alone, structured_outputs
from wirecall._apis.stops import stops_of
from wirecall._apis.turns import Called, write_parts
from wirecall._apis.values import Json, listed, mapping, omitted, result_text, text_part
from wirecall._shown import as_str
from wirecall._text import manual as manuals
from wirecall._text.grammar import RequestGrammar
from wirecall._text.history import History, PastCall
from wirecall._text.options import Options
from wirecall._text.response import Choice

# Roles of messages that are a result.
_RESULTS = ("tool", "function")
_GONE = frozenset({"tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"})
_MOST_STOPS = 4
# Reasoning models of OpenAI and xAI, which answer 400 to any `stop`.
_REFUSES_STOP = re.compile(r"(?:^|[/:.])(?:o[1-9](?:$|-)|gpt-[5-9]|grok-(?:3-mini|4))")
# Parts that a user message can contain; other parts of a result are only named in its text.
_CARRIED = {
    "image_url": "[image beside this result]",
    "input_audio": "[audio beside this result]",
    "file": "[file beside this result]",
}
_TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
# Keys of a tool message that become the result's text; all others are kept on the user message.
_OF_RESULT = frozenset({"role", "content", "tool_call_id", "name", "is_error", "cache_control"})


# Reading requests -----------------------------------------------------------------------------


def parse_request(request: Mapping[str, Any]) -> ParsedRequest:
    messages = listed(request.get("messages"))
    if not messages:
        return ParsedRequest([], [], Choice(), history=False)
    given, functions = listed(request.get("tools")), listed(request.get("functions"))
    tools = [tool for tool in given if _is_ours(tool)]
    native = [tool for tool in given if not _is_ours(tool)]
    legacy = bool(functions) and not tools
    tools += functions
    choice = _choice(request, legacy) if tools else Choice()
    kept = _native_ids(messages)
    history = any(_is_history(message, kept) for message in messages)
    answers = request.get("n") or 1
    return ParsedRequest(tools, native, choice, history, answers, legacy, stops_of(request))


def _is_ours(tool: object) -> bool:
    """Whether this is a function, not one of the provider's own tools. Invalid tools are ours to refuse."""
    if not isinstance(tool, Mapping):
        return True
    kind = tool.get("type")
    if kind is None:
        return "function" in tool or "name" in tool
    return kind in ("function", "object") or "input_schema" in tool


def _choice(request: Mapping[str, Any], legacy: bool) -> Choice:
    # A legacy answer has room for one call.
    parallel = request.get("parallel_tool_calls") is not False and not legacy
    given = request.get("function_call" if legacy else "tool_choice")
    if given is None or given == "auto":
        return Choice(parallel=parallel)
    if given == "none":
        return Choice("none", parallel=parallel)
    if given in ("required", "any"):
        return Choice("required", parallel=parallel)
    if not isinstance(given, Mapping):
        raise UnsupportedRequestError(f"tool_choice is {given!r}, which is not a form of chat completions")
    if given.get("type") != "allowed_tools":
        names = [_name(given)] if _is_ours(given) or legacy else []
        return choice_among(names, required=True, parallel=parallel)
    inner = mapping(given.get("allowed_tools"))
    names = [_name(tool) for tool in listed(inner.get("tools")) if _is_ours(tool)]
    return choice_among(names, required=inner.get("mode") == "required", parallel=parallel)


def _native_choice(given: object) -> object:
    """What remains of `tool_choice` for the provider's own tools."""
    if given in ("required", "any"):
        return "auto"  # A call in text is enough.
    if not isinstance(given, Mapping):
        return given
    if given.get("type") == "allowed_tools":
        inner = mapping(given.get("allowed_tools"))
        allowed = listed(inner.get("tools"))
        native = [tool for tool in allowed if not _is_ours(tool)]
        if not native:
            return "none"
        mode = inner.get("mode") if len(native) == len(allowed) else "auto"
        return {**given, "allowed_tools": {**inner, "mode": mode, "tools": native}}
    return "none" if _is_ours(given) else given


def _name(tool: object) -> object:
    if not isinstance(tool, Mapping):
        return getattr(tool, "__name__", None)
    return mapping(tool.get("function", tool)).get("name")


# Rewriting requests ----------------------------------------------------------------------------


def rewrite_request(given: Rewrite) -> Json:
    request, parsed, manual, history, options = given
    made = {key: value for key, value in request.items() if key not in _GONE}
    if parsed.native:
        for key in ("tools", "tool_choice", "parallel_tool_calls"):
            if key in request:
                made[key] = request[key]
        if parsed.tools:
            made["tools"] = parsed.native
            if "tool_choice" in request:
                made["tool_choice"] = _native_choice(request["tool_choice"])
    made["messages"] = messages(listed(request["messages"]), history)
    if manual is not None:
        made["messages"] = _with_manual(made["messages"], manual, options)
        _stop(made, history.stop, options)
    return made


def constrain(request: Json, parsed: ParsedRequest, grammar: RequestGrammar) -> Json:
    check_alone(request, parsed, grammar, "response_format", request.get("response_format"))
    if grammar.server == "vllm":
        return {**request, **structured_outputs(grammar)}
    return {**request, "grammar": grammar.text}


def adapt_request(request: Json, options: Options) -> Json:
    return {**request, "messages": roles.adapted(listed(request["messages"]), options)}


def retry_request(request: Mapping[str, Any], words: str, message: str) -> Json:
    # Servers refuse an assistant's message without content; two of a user's may follow each other.
    own = [{"role": "assistant", "content": words}] if words else []
    answered = [*listed(request["messages"]), *own, {"role": "user", "content": message}]
    return {**request, "messages": answered}


def _stop(made: Json, mark: str | None, options: Options) -> None:
    refuses = _REFUSES_STOP.search(as_str(made.get("model", "")).lower()) is not None
    if mark is None or (refuses and options.stop_sequence == "auto"):
        return
    given = made.get("stop")
    if not isinstance(given, (str, list, tuple, type(None))):
        return  # The provider refuses it.
    stops = [given] if isinstance(given, str) else listed(given)
    if mark not in stops and len(stops) < _MOST_STOPS:
        made["stop"] = [*stops, mark]


def _with_manual(given: list[Any], manual: manuals.Manual, options: Options) -> list[Any]:
    """The messages with the manual in the first one. Its place must not change when messages are appended, or
    the cached prompt is lost: so a later system message does not get it."""
    if mapping(given[0]).get("role") in ("system", "developer"):
        return [_joined(given[0], manual, options), *given[1:]]
    return [{"role": "system", "content": str(manual)}, *given]


def _joined(message: Mapping[str, Any], manual: manuals.Manual, options: Options) -> Json:
    content = message.get("content")
    if isinstance(content, (list, tuple)):
        return {**message, "content": manuals.place(content, manual, text_part, options)}
    text = content if isinstance(content, str) else ""
    if message.get("cache_control") is None or not manual.rules:
        return {**message, "content": manuals.join(text, manual, options)}
    # A breakpoint on a message applies to its only part. The rules come after it.
    made = {key: value for key, value in message.items() if key != "cache_control"}
    cached = manuals.join(text, manuals.Manual(manual.text, ""), options)
    parts = [{**text_part(cached), "cache_control": message["cache_control"]}] if cached else []
    return {**made, "content": [*parts, text_part(manual.rules)]}


# Messages --------------------------------------------------------------------------------------


def messages(given: Sequence[Any], history: History) -> list[Any]:
    """The messages, without native calls.

    Consecutive results become one user message. A user's own message after them remains a separate message:
    chat allows that, and its name and breakpoints stay where they are. Calls of the provider's own tools
    remain native, and so do their results, directly after them.
    """
    native = _native_ids(given)
    made: list[Any] = []
    results: list[Mapping[str, Any]] = []
    # None, which is removed again, ends a run of results.
    last_user = max((at for at, one in enumerate(given) if mapping(one).get("role") == "user"), default=-1)
    for at, message in enumerate([*given, None]):
        role = mapping(message).get("role")
        if role in _RESULTS and _id(message.get("tool_call_id")) not in native:
            results.append(message)
            continue
        if results and role not in _RESULTS:
            made.append(_results(results, history))
            results = []
        if role == "assistant":
            message = _assistant(message, history, reasons=at > last_user, last=at == len(given) - 1)
        elif role == "user" or role in _RESULTS:
            message = _foreign(message, history)
        made.append(message)
    return made[:-1]


def _is_history(message: object, native: set[str]) -> bool:
    given = mapping(message)
    if given.get("role") in _RESULTS:
        return _id(given.get("tool_call_id")) not in native
    calls = listed(given.get("tool_calls"))
    is_ours = given.get("function_call") is not None or not all(map(_is_native, calls))
    return given.get("role") == "assistant" and is_ours


def _is_native(call: object) -> bool:
    """Whether it is a call of one of the provider's own tools."""
    return isinstance(call, Mapping) and call.get("type") not in (None, "function")


def _native_ids(given: Sequence[Any]) -> set[str]:
    calls = (call for message in given for call in listed(mapping(message).get("tool_calls")))
    return {id for call in calls if _is_native(call) and (id := _id(call.get("id"))) is not None}


def _id(value: object) -> str | None:
    return None if value is None else as_str(value)


def _assistant(
    message: Mapping[str, Any], history: History, *, reasons: bool, last: bool
) -> Mapping[str, Any]:
    """A message of the model, with its calls as text. Reasoning that was in a text is text again if it
    `reasons`; otherwise it is left out. A text that is the `last` message may be a prefill, so it stays."""
    calls = listed(message.get("tool_calls"))
    ours = [call for call in calls if not _is_native(call)]
    past = [_past(call) for call in ours]
    if message.get("function_call") is not None:
        past.append(_past({"function": message["function_call"]}))
    thought = message.get("reasoning_content") if history.separates else None
    content = message.get("content")
    is_text = isinstance(content, (str, list, tuple)) and len(content) > 0
    is_framed = is_text and not last and history.frames_text
    if not past and not isinstance(thought, str) and not is_framed:
        return message
    turn = history.turn(past, thought if reasons and isinstance(thought, str) else None)
    gone = ("tool_calls", "function_call", *(["reasoning_content"] if thought is not None else []))
    made = {key: value for key, value in message.items() if key not in gone}
    if not (past or turn.reasoning or is_framed):
        made["content"] = content or ""
    elif isinstance(content, (list, tuple)):
        made["content"] = write_parts([*content, *[Called()] * len(past)], turn, text_part)
    else:
        made["content"] = turn.text(as_str(content) if content else "")
    if len(ours) < len(calls):
        made["tool_calls"] = [call for call in calls if _is_native(call)]
    return made


def _past(call: object) -> PastCall:
    given = mapping(call)
    function = given.get("function")
    if not isinstance(function, Mapping):
        return PastCall(None, "unknown", call)
    id, name = _id(given.get("id")), _id(function.get("name"))
    return PastCall(id, "unknown" if name is None else name, function.get("arguments"))


def _foreign(message: Mapping[str, Any], history: History) -> Mapping[str, Any]:
    changed = {
        key: made
        for key in ("content", "name")
        if key in message and (made := history.foreign(message[key])) is not message[key]
    }
    return {**message, **changed} if changed else message


# Results ---------------------------------------------------------------------------------------


def _results(run: Sequence[Mapping[str, Any]], history: History) -> Json:
    """Consecutive results, as one user message."""
    parts: list[Json] = []
    others: Json = {}
    for message in run:
        for part in _result(message, history):
            if parts and parts[-1].keys() == part.keys() == {"type", "text"}:
                part = text_part(parts.pop()["text"] + "\n" + part["text"])
            parts.append(part)
        others.update((key, value) for key, value in message.items() if key not in _OF_RESULT)
    alone = len(parts) == 1 and parts[0].keys() == {"type", "text"}
    return {**others, "role": "user", "content": parts[0]["text"] if alone else parts}


def _result(message: Mapping[str, Any], history: History) -> list[Json]:
    """One result: its text, followed by the parts beside it."""
    content: Any = message.get("content")
    beside: list[Json] = []
    marks: Json = {}
    if content is None:
        content = ""
    elif isinstance(content, (list, tuple)) and all(map(_is_part, content)):
        for part in content:
            if not isinstance(part, str) and isinstance(_part_text(part), str):
                marks.update((key, part[key]) for key in part.keys() - {"type", _TEXTS[part["type"]]})
        content, beside = result_text(content, history, _part_text, _CARRIED, omitted)
    if "cache_control" in message:
        marks["cache_control"] = message["cache_control"]
    id, name = _id(message.get("tool_call_id")), _id(message.get("name"))
    text = history.result(id, content, name=name, error=message.get("is_error") is True)
    return [{**text_part(text), **marks}, *beside]


def _part_text(part: str | Mapping[str, Any]) -> object:
    return part if isinstance(part, str) else part.get(_TEXTS.get(part["type"], ""))


def _is_part(part: object) -> bool:
    return isinstance(part, str) or (isinstance(part, Mapping) and isinstance(part.get("type"), str))
