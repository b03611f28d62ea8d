"""Requests of the Responses API, rewritten: their tools in a manual, calls and results as text."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from wirecall._apis import roles
from wirecall._apis.base import ParsedRequest, Rewrite, UnsupportedRequestError, choice_among
from wirecall._apis.constraints import check_alone, structured_outputs
from wirecall._apis.responses.conversation import REASONING_ID
from wirecall._apis.stops import stops_of
from wirecall._apis.turns import Called, write_parts
from wirecall._apis.values import (
    Json,
    are_same,
    kind_of,
    listed,
    mapping,
    result_text,
    role_of,
    str_or_none,
)
from wirecall._shown import as_str, written
from wirecall._text import manual as manuals
from wirecall._text.grammar import RequestGrammar
from wirecall._text.history import History, PastCall, Turn
from wirecall._text.manual import Manual
from wirecall._text.options import Options
from wirecall._text.response import Choice

# What the server keeps cannot be rewritten: the model would see native calls besides our text.
_HELD_BY_SERVER = {
    "previous_response_id": (
        "with `previous_response_id` the server holds the history, so calls in it cannot be rewritten: "
        "pass the whole history as `input` (with `store=False` if the server should keep nothing)"
    ),
    "conversation": (
        "with `conversation` the server holds the history, so calls in it cannot be rewritten: "
        "pass the whole history as `input` instead"
    ),
    "background": (
        "with `background=True` the answer stays on the server, so calls in it cannot be read: "
        "leave it out, and use stream=True for long answers"
    ),
}
_REFERENCE = (
    "an item of `input` is a reference to an item that the server holds, which cannot be rewritten: "
    "pass the item itself (with `store=False`, SDKs send whole items)"
)
# Parts of a result that a user message may contain, too.
_BESIDE = {"input_image": "", "input_file": ""}
_TEXTS = ("input_text", "output_text", "text")


# Reading requests --------------------------------------------------------------------------------


def parse_request(request: Mapping[str, Any]) -> ParsedRequest:
    tools = _dicts(request.get("tools"))
    ours = [tool for tool in tools if tool.get("type") == "function"]
    native = [tool for tool in tools if tool.get("type") != "function"]
    items = listed(request.get("input"))
    linked = _native_ids(items)
    history = any(_is_call(item) or _is_result(item, linked) for item in items)
    if ours or history:
        _refuse_what_the_server_holds(request, items)
    return ParsedRequest(ours, native, _choice(request), history, stops=stops_of(request))


def _dicts(given: object) -> list[Json]:
    return [one for one in listed(given) if isinstance(one, dict)]


def _items_or_text(request: Mapping[str, Any]) -> list[Any]:
    given = request.get("input")
    return [_message("user", given)] if isinstance(given, str) else [*listed(given)]


def _refuse_what_the_server_holds(request: Mapping[str, Any], items: Iterable[Any]) -> None:
    for key, message in _HELD_BY_SERVER.items():
        if request.get(key):
            raise UnsupportedRequestError(message)
    if any(_is_reference(item) for item in items):
        raise UnsupportedRequestError(_REFERENCE)
    instructions = request.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        raise UnsupportedRequestError(f"`instructions` must be a string, not {type(instructions).__name__}")


def _is_reference(item: object) -> bool:
    held, kind = mapping(item), kind_of(item)
    return kind == "item_reference" or (kind is None and "id" in held and "role" not in held)


def _choice(request: Mapping[str, Any]) -> Choice:
    parallel = request.get("parallel_tool_calls") is not False
    given = request.get("tool_choice")
    if given in ("none", "required"):
        return Choice(given, (), parallel)
    choice = mapping(given)
    if choice.get("type") == "function":
        return choice_among([choice.get("name")], required=True, parallel=parallel)
    if choice.get("type") == "allowed_tools":
        names = [tool.get("name") for tool in _dicts(choice.get("tools")) if kind_of(tool) == "function"]
        return choice_among(names, required=choice.get("mode") == "required", parallel=parallel)
    return Choice("auto", (), parallel)


# Rewriting requests ------------------------------------------------------------------------------


def rewrite_request(given: Rewrite) -> Json:
    request, parsed, manual, history, options = given
    written = dict(request)
    _keep_native_tools(written, parsed)
    said = request.get("input")
    if isinstance(said, str):
        written["input"] = history.user(said)
    elif "input" in request:
        written["input"] = rewrite_items(listed(said), history)
    if manual is not None:
        _add_manual(written, manual, options)
    return written


def constrain(request: Json, parsed: ParsedRequest, grammar: RequestGrammar) -> Json:
    if grammar.server != "vllm":
        raise UnsupportedRequestError(
            f"grammar={grammar.server!r} cannot be sent, because this server takes grammars in chat "
            "completions only: use those, or set the option grammar to None for this request"
        )
    text = mapping(request.get("text"))
    check_alone(request, parsed, grammar, "text.format", text.get("format"))
    made = {**request, **structured_outputs(grammar)}
    if "format" in text:
        # vLLM refuses the two together, even if the format is plain text.
        made["text"] = {key: value for key, value in text.items() if key != "format"}
    return made


def adapt_request(request: Json, options: Options) -> Json:
    new = dict(request)
    instructions = new.pop("instructions", None) if options.system_role == "user" else None
    told = [_message("system", instructions)] if instructions else []
    items = _items_or_text(request)
    adapted = roles.adapted([*told, *items], options, text="input_text")
    if not are_same(adapted, items):
        new["input"] = adapted
    return new


def retry_request(request: Mapping[str, Any], words: str, message: str) -> Json:
    # An answer without words (only reasoning) is not repeated.
    own = [_message("assistant", words)] if words else []
    return {**request, "input": [*_items_or_text(request), *own, _message("user", message)]}


def _keep_native_tools(written: Json, parsed: ParsedRequest) -> None:
    """Removes our tools, and every parameter about them."""
    if not parsed.native:
        for key in ("tools", "tool_choice", "parallel_tool_calls", "max_tool_calls"):
            written.pop(key, None)
        return
    if not parsed.tools:
        return
    written["tools"] = parsed.native
    choice = written.get("tool_choice")
    if choice == "required":
        # Any tool is enough, so the provider must not force one of its own.
        written["tool_choice"] = "auto"
    elif kind_of(choice) == "function":
        written["tool_choice"] = "none"
    elif isinstance(choice, Mapping) and kind_of(choice) == "allowed_tools":
        tools = _dicts(choice.get("tools"))
        native = [tool for tool in tools if tool.get("type") != "function"]
        if not native:
            written["tool_choice"] = "none"
        elif len(native) < len(tools):
            written["tool_choice"] = {**choice, "mode": "auto", "tools": native}


def _add_manual(written: Json, told: Manual, options: Options) -> None:
    """Puts the manual into the system text: `instructions`, a first system message, or new instructions."""
    instructions = written.get("instructions")
    items = written.get("input")
    if (
        not instructions
        and isinstance(items, list)
        and items
        and role_of(items[0]) in ("system", "developer")
    ):
        first = items[0]
        content = first.get("content")
        if isinstance(content, list):
            content = manuals.place(content, told, _text_part, options)
        else:
            content = manuals.join(content if isinstance(content, str) else "", told, options)
        written["input"] = [{**first, "content": content}, *items[1:]]
        return
    written["instructions"] = manuals.join(instructions or "", told, options)


# The history -------------------------------------------------------------------------------------


def rewrite_items(items: Sequence[Any], history: History) -> list[Any]:
    """The items, with calls and results as text; other items are the same objects."""
    linked = _native_ids(items)
    written: list[Any] = []
    left = sum(1 for item in items if role_of(item) == "user")
    for who, run in groupby(items, key=lambda item: _author(item, linked)):
        if who == "model":
            turn = list(run)
            written += _turn(turn, history, reasons=left == 0, last=turn[-1] is items[-1])
        elif who == "result":
            written.append(_results(run, history))
        else:
            others = list(run)
            left -= sum(1 for item in others if role_of(item) == "user")
            written += [_user(item, history) for item in others]
    return written


def _author(item: object, linked: set[str]) -> Literal["model", "result", "host"]:
    """Who wrote an item. Consecutive items of the model are one turn."""
    if _is_result(item, linked):
        return "result"
    if not isinstance(item, Mapping):
        return "host"
    role, kind = role_of(item), item.get("type")
    if role is None and isinstance(kind, str) and kind.endswith(("_output", "_response")):
        return "host"
    return "model" if role in ("assistant", None) else "host"


def _is_call(item: object) -> bool:
    return kind_of(item) == "function_call" and not _stays_native(mapping(item))


def _is_result(item: object, linked: set[str]) -> bool:
    return kind_of(item) == "function_call_output" and _call_id(mapping(item)) not in linked


def _call_id(item: Mapping[str, Any]) -> str | None:
    return str_or_none(item.get("call_id"))


def _stays_native(call: Mapping[str, Any]) -> bool:
    """A call of a native tool: one in a namespace, or one made by a program of the provider."""
    return call.get("namespace") is not None or kind_of(call.get("caller")) == "program"


def _native_ids(items: Iterable[Any]) -> set[str]:
    """The ids of calls that remain native. Their results do, too."""
    calls = (item for item in items if kind_of(item) == "function_call" and _stays_native(item))
    return {id for id in map(_call_id, calls) if id is not None}


def _thought(item: object, history: History) -> str | None:
    """Reasoning that was in a text of an answer; None for any other item."""
    given = mapping(item)
    if given.get("type") != "reasoning" or given.get("encrypted_content"):
        return None
    said = [part.get("text") for part in listed(given.get("content")) if kind_of(part) == "reasoning_text"]
    is_ours = as_str(given.get("id")).startswith(REASONING_ID) or (history.separates and said)
    return "".join(text for text in said if isinstance(text, str)) if is_ours else None


def _turn(run: list[Any], history: History, *, reasons: bool, last: bool) -> list[Any]:
    """A turn of the model, with its calls as text in the message before them. Reasoning that was in a text is
    text again if it `reasons`; otherwise it is left out. If the turn is the `last` one, a message at its end
    may be a prefill, and stays."""
    thoughts = [_thought(item, history) for item in run]
    run = [item for item, thought in zip(run, thoughts, strict=True) if thought is None]
    calls = [item for item in run if _is_call(item)]
    past = [PastCall(_call_id(call), as_str(call.get("name")), call.get("arguments")) for call in calls]
    turn = history.turn(past, "".join(filter(None, thoughts)) if reasons else None)
    made: list[Any] = []
    at = 0
    while at < len(run):
        item = run[at]
        is_call = _is_call(item)
        is_said = role_of(item) == "assistant" and isinstance(item.get("content"), (str, list))
        at += 1
        if not is_call and not is_said:
            made.append(item)
            continue
        # The model wrote both in one message. Separated, they would teach it to stop between them.
        count = int(is_call)
        while at < len(run) and _is_call(run[at]):
            count, at = count + 1, at + 1
        is_framed = history.frames_text and not (last and at == len(run))
        if count or turn.reasoning or is_framed:
            item = _written(item if is_said else _message("assistant", ""), turn, count)
        made.append(item)
    return [_message("assistant", turn.text()), *made] if turn.reasoning else made


def _written(message: Mapping[str, Any], turn: Turn, count: int) -> Json:
    """A message of the model with the turn's reasoning and so many of its calls."""
    content = message["content"]
    if not isinstance(content, str):
        return {**message, "content": write_parts([*content, *[Called()] * count], turn, _output_part)}
    return {**message, "content": turn.text(content, count) if content or count or turn.reasoning else ""}


def _output_part(text: str, _breakpoint: object) -> Json:
    return {"type": "output_text", "text": text, "annotations": []}


def _results(run: Iterable[Mapping[str, Any]], history: History) -> Json:
    """One user message with consecutive results."""
    parts: list[Json] = []
    for item in run:
        content: Any = item.get("output", "")
        beside: list[Json] = []
        if isinstance(content, (list, tuple)) and all(isinstance(kind_of(part), str) for part in content):
            content, beside = result_text(content, history, _part_text, _BESIDE, written)
        text = history.result(_call_id(item), content)
        if parts and kind_of(parts[-1]) == "input_text":
            text = parts.pop()["text"] + "\n" + text
        parts += [_text_part(text), *beside]
    return _message("user", parts[0]["text"] if len(parts) == 1 else parts)


def _part_text(part: Mapping[str, Any]) -> object:
    return part.get("text") if part["type"] in _TEXTS else None


def _user(item: Any, history: History) -> Any:
    """A message of a user, or a result of a native tool, in which nothing can be parsed as a result or a
    call; mostly the same object."""
    if not isinstance(item, Mapping):
        return item
    key = "content" if role_of(item) == "user" else "output"
    if key == "output" and not as_str(item.get("type")).endswith("_output"):
        return item
    given = item.get(key)
    made = history.foreign(given)
    return item if made is given else {**item, key: made}


def _text_part(text: str) -> Json:
    return {"type": "input_text", "text": text}


def _message(role: str, content: object) -> Json:
    return {"role": role, "content": content}
