"""Requests of the Messages API, rewritten: their tools in a manual, calls and results as text."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from wirecall._apis import roles
from wirecall._apis.base import ParsedRequest, Rewrite, UnsupportedRequestError, error_body
from wirecall._apis.messages.answer import is_ours, is_text
from wirecall._apis.stops import stops_of
from wirecall._apis.turns import Called, write_parts
from wirecall._apis.values import (
    Json,
    are_same,
    kind_of,
    listed,
    mapping,
    result_text,
    str_or_none,
    text_part,
)
from wirecall._shown import as_str, written
from wirecall._text import manual as manuals
from wirecall._text.history import History, PastCall
from wirecall._text.options import Options
from wirecall._text.response import Choice
from wirecall.errors import ToolError

log = logging.getLogger("wirecall")

# The API refuses a fifth breakpoint.
_BREAKPOINTS = 4
# Parts that both results and users' messages may contain.
_BESIDE = {kind: f"[{kind}]" for kind in ("image", "document", "search_result")}


class UnsupportedThreadError(UnsupportedRequestError):
    """A thread of the Messages API. The SDK understands the error, and sends the whole history instead."""


def refusal(error: Exception) -> Json:
    about = error_body(error)
    if isinstance(error, UnsupportedThreadError):
        about["details"] = {"error_code": "thread_unsupported_request"}
    return {"type": "error", "error": about}


def parse_request(request: Mapping[str, Any]) -> ParsedRequest:
    if request.get("thread") is not None:
        raise UnsupportedThreadError(
            "the server holds the history and the tools of a thread, so they cannot be rewritten: "
            "send the whole conversation without `thread`"
        )
    given = listed(request.get("tools"))
    for tool in given:
        if not isinstance(tool, dict):
            raise ToolError(f"{tool!r:.80} is not a tool: a tool is an object")
    tools = [tool for tool in given if not _is_native(tool)]
    natives = _Natives([tool for tool in given if _is_native(tool)])
    choice = _choice(request.get("tool_choice"), natives)
    blocks = (block for message in listed(request.get("messages")) for block in _blocks(message))
    history = any(map(natives.rewrites, blocks))
    return ParsedRequest(tools, natives.tools, choice, history, stops=stops_of(request))


def rewrite_request(given: Rewrite) -> Json:
    request, parsed, manual, history, options = given
    natives = _Natives(parsed.native)
    new = dict(request)
    if isinstance(request.get("messages"), list):
        new["messages"] = _messages(request["messages"], history, natives)
    if parsed.tools:
        left = {
            "tools": parsed.native or None,
            "tool_choice": _native_choice(new.get("tool_choice"), natives),
        }
        new = {key: value for key, value in {**new, **left}.items() if value is not None or key not in left}
    # Token counting has neither of the two.
    told = manual is not None or parsed.history
    if told and "max_tokens" in request and history.stop is not None:
        given_stops = listed(request.get("stop_sequences"))
        if history.stop not in given_stops:
            new["stop_sequences"] = [*given_stops, history.stop]
    if manual is not None:
        new["system"] = _system(new, manual, parsed, options)
    return new


def adapt_request(request: Json, options: Options) -> Json:
    new = dict(request)
    system = new.pop("system", None) if options.system_role == "user" else None
    told = [{"role": "system", "content": system}] if system else []
    if told or "messages" in request:
        new["messages"] = roles.adapted([*told, *listed(request.get("messages"))], options)
    return new


def retry_request(request: Mapping[str, Any], words: str, message: str) -> Json:
    """Words after a prefill are appended to it. Without words, our answer is appended to the user's last
    message, since the API does not accept empty text."""
    messages = list(request["messages"])
    last = messages[-1] if messages else {}
    if last.get("role") == "assistant":
        if words:
            messages[-1] = {**last, "content": _with_words(last.get("content"), words)}
    elif words.strip():
        messages.append({"role": "assistant", "content": words})
    if messages and messages[-1].get("role") == "user":
        joined = _with_message(messages[-1].get("content"), message)
        messages[-1] = {**messages[-1], "content": joined}
    else:
        messages.append({"role": "user", "content": message})
    return {**request, "messages": messages}


# Tools.


class _Natives:
    """The native tools, and which calls and results are theirs. For one pass through a conversation."""

    def __init__(self, tools: list[Json]) -> None:
        self.tools = tools
        self._names = [tool.get("name") for tool in tools]
        self._types = tuple(as_str(tool.get("type")) for tool in tools)
        self._ids: set[str] = set()

    def has(self, name: object) -> bool:
        return isinstance(name, str) and name in self._names

    def rewrites(self, block: object) -> bool:
        """Whether a block becomes text: a call or result that is not of these tools."""
        held = mapping(block)
        if held.get("type") == "tool_use":
            if not self._owns(held):
                return True
            if isinstance(held.get("id"), str):
                self._ids.add(held["id"])
        elif held.get("type") == "tool_result":
            id = held.get("tool_use_id")
            return not (isinstance(id, str) and id in self._ids)
        return False

    def _owns(self, call: Mapping[str, Any]) -> bool:
        # A family of tools has one definition without a name; its calls contain the name of the family.
        family = call.get("toolset_name")
        if isinstance(family, str) and family:
            return any(type.startswith(family) for type in self._types)
        return self.has(call.get("name"))


def _is_native(tool: Mapping[str, Any]) -> bool:
    """Whether a tool needs the provider: its own tools, and tools that it calls or finds itself."""
    if tool.get("type") not in (None, "custom") and "input_schema" not in tool:
        return True
    callers = tool.get("allowed_callers") or ()
    return tool.get("defer_loading") is True or any(caller != "direct" for caller in callers)


def _choice(given: object, natives: _Natives) -> Choice:
    if not isinstance(given, Mapping):
        return Choice()
    parallel = given.get("disable_parallel_tool_use") is not True
    kind, name = given.get("type"), given.get("name")
    if kind == "none":
        return Choice("none")
    if kind == "any":
        return Choice("required", (), parallel)
    if kind == "tool" and isinstance(name, str) and not natives.has(name):
        return Choice("required", (name,), parallel)
    return Choice("auto", (), parallel)


def _native_choice(given: object, natives: _Natives) -> object:
    """What remains of `tool_choice` for the native tools."""
    if not natives.tools or not isinstance(given, Mapping):
        return None
    if given.get("type") == "none" or (given.get("type") == "tool" and natives.has(given.get("name"))):
        return given
    # The model may answer with a call in text, so a native one cannot be required.
    is_serial = given.get("disable_parallel_tool_use")
    return {"type": "auto", "disable_parallel_tool_use": True} if is_serial else None


# The system text.


def _breakpoint(parsed: ParsedRequest, options: Options) -> object:
    """The cache breakpoint after the manual: that of the tools, or one that the options ask for."""
    moved = [tool["cache_control"] for tool in parsed.tools if tool.get("cache_control")]
    return moved[-1] if moved else {"type": "ephemeral"} if options.cache_manual else None


def _holders(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Everything that may have a cache breakpoint. One at the top level is set by the API, and counts too."""
    yield request
    for key in ("tools", "system"):
        yield from map(mapping, listed(request.get(key)))
    for message in listed(request.get("messages")):
        for block in _blocks(message):
            yield mapping(block)
            yield from map(mapping, _blocks(block))


def _system(
    request: Mapping[str, Any], manual: manuals.Manual, parsed: ParsedRequest, options: Options
) -> object:
    """The system text with the manual. Its form does not depend on the messages, so that it stays cached."""
    system, breakpoint = request.get("system"), _breakpoint(parsed, options)
    text = system if isinstance(system, str) and system.strip() else ""
    if breakpoint is None and not isinstance(system, list):
        return manuals.join(text, manual, options)
    blocks = system if isinstance(system, list) else [text_part(text)] if text else []
    if breakpoint is not None:
        used = sum(1 for holder in _holders(request) if holder.get("cache_control"))
        if used >= _BREAKPOINTS:
            log.debug("no cache breakpoint after the manual: the request already has %d", used)
            breakpoint = None
    # Only the manual itself is the same for every `tool_choice`.
    return manuals.place(blocks, manual, text_part, options, cached=lambda told: text_part(told, breakpoint))


# The messages.


def _messages(given: list[Any], history: History, natives: _Natives) -> list[Any]:
    """The messages, without those that have nothing but reasoning that is left out."""
    last_user = max((at for at, message in enumerate(given) if _speaks(message)), default=-1)
    made = [
        _message(message, history, natives, reasons=at > last_user, last=at == len(given) - 1)
        for at, message in enumerate(given)
    ]
    return [new for new, old in zip(made, given, strict=True) if new is old or new["content"] != []]


def _speaks(message: object) -> bool:
    """Whether a message of the user has more than results."""
    if mapping(message).get("role") != "user":
        return False
    blocks = _blocks(message)
    return not blocks or any(kind_of(block) != "tool_result" for block in blocks)


def _message(message: Any, history: History, natives: _Natives, *, reasons: bool, last: bool) -> Any:
    """A message with its calls and results as text; the message itself if nothing changes. Reasoning that was
    in a text is text again if it `reasons`; otherwise it is left out. A text of the model that is the `last`
    message is a prefill, and stays."""
    if not isinstance(message, Mapping):
        return message
    given = message.get("content")
    role = message.get("role")
    content: object = given
    is_framed = role == "assistant" and not last and history.frames_text
    if role == "assistant" and isinstance(given, list):
        content = _assistant(given, history, natives, reasons=reasons, is_framed=is_framed)
    elif is_framed and isinstance(given, str) and given:
        content = history.turn([]).text(given)
    elif role == "user" and isinstance(given, list):
        content = _user(given, history, natives)
    elif role == "user":
        content = history.foreign(given)
    return message if content is given else {**message, "content": content}


def _assistant(
    blocks: list[Any], history: History, natives: _Natives, *, reasons: bool, is_framed: bool
) -> list[Any]:
    thought: list[str] = []
    if history.separates:
        thought = [as_str(block.get("thinking")) for block in blocks if is_ours(block)]
        blocks = [block for block in blocks if not is_ours(block)] if thought else blocks
    ours = [natives.rewrites(block) and kind_of(block) == "tool_use" for block in blocks]
    if not any(ours) and not thought and not is_framed:
        return blocks
    calls = [block for block, mine in zip(blocks, ours, strict=True) if mine]
    past = [PastCall(str_or_none(one.get("id")), as_str(one.get("name")), one.get("input")) for one in calls]
    turn = history.turn(past, "".join(thought) if reasons else None)
    if not past and not turn.reasoning and not is_framed:
        return blocks
    parts = [
        Called(block.get("cache_control")) if mine else block
        for block, mine in zip(blocks, ours, strict=True)
    ]
    return write_parts(parts, turn, text_part, in_order=history.keeps_order)


def _user(blocks: list[Any], history: History, natives: _Natives) -> list[Any]:
    ours = [natives.rewrites(block) and kind_of(block) == "tool_result" for block in blocks]
    made: list[Any] = []
    natively: list[Any] = []
    theirs = iter(history.foreign([block for block, mine in zip(blocks, ours, strict=True) if not mine]))
    for block, mine in zip(blocks, ours, strict=True):
        if mine:
            made += _result(block, history)
        elif any(ours) and kind_of(block) == "tool_result":
            # The API refuses text before a native result.
            natively.append(next(theirs))
        else:
            made.append(next(theirs))
    changed = [*natively, *_folded(made)]
    return blocks if are_same(blocks, changed) else changed


class _TextLines(NamedTuple):
    texts: list[str]
    breakpoint: object


def _folded(given: Iterable[Any]) -> list[Any]:
    """The blocks. Consecutive lines become one text, up to a cache breakpoint."""
    made: list[Any] = []
    for one in given:
        last = made[-1] if made else None
        if isinstance(one, _TextLines) and isinstance(last, _TextLines) and not last.breakpoint:
            last.texts.extend(one.texts)
            made[-1] = one._replace(texts=last.texts)
        else:
            made.append(one)
    return [
        text_part("\n".join(one.texts), one.breakpoint) if isinstance(one, _TextLines) else one
        for one in made
    ]


def _result(result: Mapping[str, Any], history: History) -> list[Any]:
    """A result as text. Images and documents follow it, and the text says where they were."""
    content = result.get("content")
    breakpoint = result.get("cache_control")
    beside: list[Any] = []
    if isinstance(content, list):
        for block in content:
            if as_str(kind_of(block)) not in _BESIDE:
                breakpoint = breakpoint or mapping(block).get("cache_control")
        content, beside = result_text(
            content, history, lambda block: block["text"] if is_text(block) else None, _BESIDE, written
        )
    elif content is None:
        content = ""
    id, error = str_or_none(result.get("tool_use_id")), result.get("is_error") is True
    return [_TextLines([history.result(id, content, error=error)], breakpoint), *beside]


# Retries.


def _with_words(content: object, words: str) -> object:
    """Appends text to an assistant prefill."""
    if isinstance(content, str):
        return content + words
    blocks = content if isinstance(content, list) else []
    if blocks and is_text(blocks[-1]):
        return [*blocks[:-1], {**blocks[-1], "text": blocks[-1]["text"] + words}]
    return [*blocks, text_part(words)] if words.strip() else blocks


def _with_message(content: object, message: str) -> object:
    """Appends a text to a user's content."""
    if isinstance(content, list):
        return [*content, text_part(message)]
    return f"{content}\n\n{message}" if content else message


def _blocks(holder: object) -> list[Any]:
    content = mapping(holder).get("content")
    return content if isinstance(content, list) else []
