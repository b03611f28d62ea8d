"""A streamed chat answer: its chunks, with native calls."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from wirecall._apis.base import Json, listed, summed
from wirecall._kinds import described
from wirecall._rewriting.parts import (
    CallAborted,
    CallFinished,
    CallFragment,
    CallOpened,
    CallPart,
    Hold,
    Part,
    TextPart,
    ToolCallError,
)
from wirecall._rewriting.reader import TextReader
from wirecall._rewriting.response import ResponseState

_IDENTITY = ("id", "created", "model", "system_fingerprint")
_READ = frozenset({"content", "tool_calls", "function_call"})


def is_normal(reason: object) -> bool:
    """Whether the answer stopped by itself."""
    return reason in ("stop", "tool_calls", "function_call")


def is_whole(choice: Mapping[str, Any], answer: Mapping[str, Any], turn: ResponseState) -> bool:
    """Whether a choice stopped normally, and not at a stop sequence of the host's request."""
    return is_normal(choice.get("finish_reason")) and not turn.asked_to_stop(_matched(choice, answer))


def is_cut(choice: Mapping[str, Any], answer: Mapping[str, Any], turn: ResponseState) -> bool | None:
    """The `truncated` of a choice: None if it may be cut off."""
    reason = choice.get("finish_reason")
    if reason == "stop":
        return turn.was_cut(_matched(choice, answer))
    return True if reason == "length" else False if is_normal(reason) else None


def _matched(choice: Mapping[str, Any], answer: Mapping[str, Any]) -> object:
    """The stop sequence or token id that vLLM, SGLang or llama.cpp reports."""
    verbose = answer.get("__verbose")
    for holder in (choice, answer, verbose if isinstance(verbose, Mapping) else {}):
        for key in ("stop_reason", "matched_stop", "stopping_word"):
            matched = holder.get(key)
            # Some servers report a normal end as an empty text or a name.
            if isinstance(matched, (str, int)) and matched not in ("", "stop", "end_turn", "eos"):
                return matched
    return None


def finish_reason(reason: object, called: bool, legacy: bool) -> object:
    """The finish reason of an answer in which we found calls, or none."""
    if called and reason in ("stop", "function_call"):
        return "function_call" if legacy else "tool_calls"
    return reason


class _State:
    """One choice. What it holds back are its own deltas.

    Attributes:
        turn: Its own, where there are several choices.
        calls: Calls that went out, native ones included: the next one's index.
        ours: Whether one of them was found in text.
        native: The index under which a native call goes out, by its own.
        held: None while everything goes out at once.
        late: A call is held that is sent if the request is not retried.
        mark: The number of calls sent before the answer was held.
        refused: The model said that it will not answer.
        ended: Its finish reason came.
    """

    def __init__(self, index: object, turn: ResponseState) -> None:
        self.index = index
        self.turn = turn
        self.calls = 0
        self.ours = False
        self.native: dict[object, int] = {}
        self.begin()

    def begin(self) -> None:
        """The next attempt begins."""
        self.reader: TextReader = TextReader(self.turn)
        self.held: list[Json] | None = None
        self.late = False
        self.mark = self.calls
        self.refused = False
        self.ended = False


class _Broken(ToolCallError):
    """A call failed after its first fragment went out."""


class ChatStream:
    """One streamed answer: see `dialects.base.Stream`.

    Each choice is read on its own; of several none is asked for again.
    """

    def __init__(self, turn: ResponseState, error: Callable[[Exception], Json]) -> None:
        self._turn = turn
        self._error = error
        self._states: dict[object, _State] = {}
        self._attempt = turn.attempt
        self._asks = False
        self._ended = False
        self._usage: object = None
        # Of the first chunk, for those of later attempts; and what the last chunk said beside its choices.
        self._identity: Json | None = None
        self._last: Json = {}

    @property
    def should_retry(self) -> bool:
        return self._asks and self._turn.attempt == self._attempt

    @property
    def ended(self) -> bool:
        return self._ended

    @property
    def holds(self) -> bool:
        return any(state.held is not None or state.reader.holds for state in self._states.values())

    def feed(self, event: Json) -> list[Json] | None:
        if self._ended:
            return []
        if not self._turn.reads:
            return None
        self._begin()
        if isinstance(event.get("usage"), Mapping):
            self._usage = event["usage"]
        if self._asks:
            return []
        choices = listed(event.get("choices"))
        if event.get("error") and not choices and self.holds:
            return [*self._due(), event]
        if self._identity is None and choices:
            self._identity = {key: event[key] for key in _IDENTITY if key in event}
        if "error" not in event:
            self._last = event
        made: list[Json] = []
        changed = False
        for choice in choices:
            try:
                read = self._choice(choice, event, made) if isinstance(choice, Mapping) else False
            except _Broken as broken:
                return self._break(made, broken)
            if not read:
                made.append(choice)
            changed = changed or read
        if self.should_retry:
            return self._events(event, made, None)
        return self._events(event, made, event.get("usage")) if changed else self._as_it_is(event)

    def end(self) -> list[Json]:
        if self._ended or not self._turn.reads:
            return []
        self._begin()
        if self._asks:
            return []
        made: list[Json] = []
        for state in self._states.values():
            if state.ended:
                continue
            state.ended = True
            try:
                self._parts(state, state.reader.finish(truncated=None), {}, made)
                state.turn.should_retry(normal=False)
            except _Broken as broken:
                return self._break(made, broken)
            _release(state, made)
        return self._events(self._behind_last(), made, None)

    def _due(self) -> list[Json]:
        """The provider's error ends the answer, and clients read no further: what is held goes in front."""
        try:
            due = self.end()
        except ToolCallError:
            due = []  # The provider's own error says more.
        self._ended = True
        return due

    # Attempts.

    def _begin(self) -> None:
        """Takes up the next attempt, if there is one."""
        if self._turn.attempt == self._attempt:
            return
        self._attempt = self._turn.attempt
        self._asks = False
        self._turn.usage.append(self._usage)
        self._usage = None
        for state in self._states.values():
            state.begin()

    # Events.

    def _as_it_is(self, event: Json) -> list[Json] | None:
        if not self._attempt or "error" in event:
            return None
        return [self._renewed(event, event.get("usage"))]

    def _renewed(self, event: Json, usage: object) -> Json:
        """The event as one of the first attempt's answer, whose usage is that of all attempts."""
        if not self._attempt:
            return event
        known = {key: value for key, value in (self._identity or {}).items() if key in event}
        made = {**event, **known}
        if isinstance(usage, Mapping):
            made["usage"] = summed([*self._turn.usage, usage])
        return made

    def _events(self, event: Json, choices: list[Json], usage: object) -> list[Json]:
        """One event for each choice's delta; the usage goes with the last one."""
        base = {key: value for key, value in event.items() if key not in ("choices", "usage")}
        if "usage" in event:
            base["usage"] = None
        events = [{**base, "choices": [choice]} for choice in choices]
        if usage is not None:
            if not events:
                events.append({**base, "choices": []})
            events[-1]["usage"] = usage
        return [self._renewed(made, made.get("usage")) for made in events]

    def _break(self, made: list[Json], error: _Broken) -> list[Json]:
        self._ended = True
        return [*self._events(self._behind_last(), made, None), self._error(error)]

    def _behind_last(self) -> Json:
        """What an event of our own says beside its choices: what the last one said."""
        return {key: value for key, value in self._last.items() if key not in ("choices", "usage")}

    # One choice.

    def _choice(self, choice: Mapping[str, Any], event: Json, made: list[Json]) -> bool:
        """Appends what goes out instead of a choice. False: the very choice does."""
        index = choice.get("index", 0)
        if isinstance(index, (list, dict)):
            return False  # No place that a choice can have.
        state = self._states.get(index)
        if state is None:
            alone = self._turn.alone and not self._states
            state = self._states[index] = _State(index, self._turn if alone else self._turn.sibling())
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            delta = {}
        reason = choice.get("finish_reason")
        state.refused = state.refused or bool(delta.get("refusal"))
        if state.ended:
            if reason is None or finish_reason(reason, state.ours, state.turn.legacy) == reason:
                return False
            made.append({**choice, "finish_reason": finish_reason(reason, state.ours, state.turn.legacy)})
            return True
        content = delta.get("content")
        if not isinstance(content, (str, list, tuple)):
            content = None
        native = listed(delta.get("tool_calls"))
        function = delta.get("function_call")
        free = state.held is None and reason is None and not self._attempt
        if free and not content and not native and function is None:
            return False
        parts: list[Part | Json] = []
        for text in [content] if isinstance(content, str) else listed(content):
            if isinstance(text, Mapping) and text.get("type") == "text":
                text = text.get("text")
            # A server's own kind of content (reasoning, in a list) passes.
            parts += state.reader.feed(text) if isinstance(text, str) else [{"content": [text]}]
        if free and not native and function is None and isinstance(content, str):
            (same,) = parts if len(parts) == 1 else (None,)
            if isinstance(same, TextPart) and same.text == content:
                return False
        lead = _lead(choice, delta, attempt=self._attempt)
        self._parts(state, parts, lead, made)
        if native or function is not None:
            self._native(state, native, function, lead, made)
        if reason is None:
            if lead:
                _send(state, {}, lead, made)
            return True
        state.ended = True
        before = len(made)
        self._parts(state, state.reader.finish(truncated=is_cut(choice, event, state.turn)), lead, made)
        if state.turn.should_retry(normal=is_whole(choice, event, state.turn) and not state.refused):
            self._asks = True
            state.held = None
            state.calls = state.mark
            return True
        state.ours = state.ours or state.late
        mapped = finish_reason(reason, state.ours, state.turn.legacy)
        quiet = not content and not native and function is None and state.held is None
        if quiet and len(made) == before and mapped == reason and not self._attempt:
            return False
        if lead.get("delta"):
            _send(state, {}, lead, made)
        _release(state, made)
        made.append({**_bare(state), **lead, "delta": {}, "finish_reason": mapped})
        return True

    def _parts(self, state: _State, parts: Iterable[Part | Json], lead: Json, made: list[Json]) -> None:
        for part in parts:
            if isinstance(part, TextPart):
                _send(state, {"content": part.text}, lead, made)
            elif isinstance(part, Hold):
                # What came with the chunk itself does not wait.
                if lead:
                    _send(state, {}, lead, made)
                state.held = state.held or []
                state.mark = state.calls
            elif isinstance(part, (CallPart, CallOpened)):
                if isinstance(part, CallPart) and part.late:
                    state.late = True
                else:
                    _release(state, made)
                    state.ours = True
                _send(state, _first(state, part.id, part.name), lead, made)
                if isinstance(part, CallPart):
                    _send(state, _fragment(state, part.arguments), lead, made)
                    state.calls += 1
            elif isinstance(part, CallFragment):
                _send(state, _fragment(state, part.delta), lead, made)
            elif isinstance(part, CallFinished):
                state.calls += 1
            elif isinstance(part, CallAborted):
                raise _Broken(described(part.error.kind), part.error)
            else:
                _send(state, part, lead, made)

    def _native(
        self, state: _State, calls: Iterable[Any], function: object, lead: Json, made: list[Json]
    ) -> None:
        """Calls that the model makes natively pass, with the indexes that are free."""
        for call in calls:
            if not isinstance(call, Mapping):
                continue
            key = call.get("index")
            if not isinstance(key, (int, str)):
                id = call.get("id")
                key = id if isinstance(id, str) and id else next(reversed(state.native), None)
            if key not in state.native:
                _release(state, made)
                state.native[key] = state.calls
                state.calls += 1
                state.turn.called += 1
            _send(state, {"tool_calls": [{**call, "index": state.native[key]}]}, lead, made)
        if function is not None:
            _release(state, made)
            if isinstance(function, Mapping) and function.get("name"):
                state.turn.called += 1
            _send(state, {"function_call": function}, lead, made)


def _lead(choice: Mapping[str, Any], delta: Mapping[str, Any], *, attempt: int) -> Json:
    """What else a chunk says of its choice: it goes with the first delta that is made of the chunk. Empty
    where there is nothing to be said."""
    rest = {key: value for key, value in delta.items() if key not in _READ and value is not None}
    if attempt:
        rest.pop("role", None)  # said in the first attempt
    elif "content" in delta and not delta["content"]:
        rest["content"] = delta["content"]
    beside = {
        key: value
        for key, value in choice.items()
        if key not in ("index", "delta", "finish_reason") and value is not None
    }
    said = rest if rest.keys() != {"content"} else {}
    return {**beside, "delta": said} if said else beside


def _send(state: _State, delta: Json, lead: Json, made: list[Json]) -> None:
    """Sends a delta, or holds it; with what is still in `lead`, which is empty then."""
    sent = {**_bare(state), **lead, "delta": {**lead.get("delta", {}), **delta}}
    lead.clear()
    (made if state.held is None else state.held).append(sent)


def _release(state: _State, made: list[Json]) -> None:
    if state.held is not None:
        made.extend(state.held)
        state.held = None


def _bare(state: _State) -> Json:
    return {"index": state.index, "delta": {}, "finish_reason": None}


def _first(state: _State, id: str, name: str) -> Json:
    function = {"name": name, "arguments": ""}
    if state.turn.legacy:
        return {"function_call": function}
    return {"tool_calls": [{"index": state.calls, "id": id, "type": "function", "function": function}]}


def _fragment(state: _State, delta: str) -> Json:
    function = {"arguments": delta}
    if state.turn.legacy:
        return {"function_call": function}
    return {"tool_calls": [{"index": state.calls, "function": function}]}
