"""Streamed answers of chat completions, with native calls."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import wirecall._core as core
from wirecall._apis.base import error_body
from wirecall._apis.streams import AnswerStream, PartWriter, is_text
from wirecall._apis.values import Json, listed, mapping, sum_usage
from wirecall._kinds import described
from wirecall._text.hold import HoldBuffer
from wirecall._text.parts import ToolCallError
from wirecall._text.reader import TextReader
from wirecall._text.response import ResponseState

_IDENTITY = ("id", "created", "model", "system_fingerprint")
# Keys of a choice, and of its delta, that are written anew.
_WRITTEN = frozenset({"index", "delta", "finish_reason"})
_READ = frozenset({"content", "tool_calls", "function_call"})


# Finish reasons of answers that stopped by themselves.
_NORMAL = ("stop", "tool_calls", "function_call")


def is_whole(choice: Mapping[str, Any], answer: Mapping[str, Any], state: ResponseState) -> bool:
    """Whether a choice stopped normally, and not at a stop sequence of the host's request."""
    return choice.get("finish_reason") in _NORMAL and not state.asked_to_stop(_matched(choice, answer))


def is_cut(choice: Mapping[str, Any], answer: Mapping[str, Any], state: ResponseState) -> bool | None:
    """The `truncated` of a choice: None if it may be cut off."""
    reason = choice.get("finish_reason")
    if reason == "stop":
        return state.was_cut(_matched(choice, answer))
    return True if reason == "length" else False if reason in _NORMAL else None


def _matched(choice: Mapping[str, Any], answer: Mapping[str, Any]) -> object:
    """The stop sequence or token id that vLLM, SGLang or llama.cpp reports."""
    for holder in (choice, answer, mapping(answer.get("__verbose"))):
        for key in ("stop_reason", "matched_stop", "stopping_word"):
            matched = holder.get(key)
            # Some servers report a normal end as an empty text or a name.
            if isinstance(matched, (str, int)) and matched not in ("", "stop", "end_turn", "eos"):
                return matched
    return None


def finish_reason(reason: object, called: bool, legacy: bool) -> object:
    """The finish reason of an answer, depending on whether calls were found in its text."""
    if called and reason in ("stop", "function_call"):
        return "function_call" if legacy else "tool_calls"
    return reason


def stream_error(error: Exception) -> Json:
    said = {**error_body(error), "param": None, "code": None}
    if isinstance(error, ToolCallError):
        said["type"], said["code"] = "invalid_tool_call", error.error and error.error.kind
    return {"error": said}


class _AbortedError(ToolCallError):
    """A call failed after its first fragment was sent."""


class _Choice(PartWriter):
    """One choice, and the deltas that are made from it.

    Attributes:
        state: Its own, if there are several choices.
        lead: The other fields of a chunk. They go with the first delta that is made from it.
        calls: Number of calls that were sent, native ones included: the next one's index.
        ours: Whether one of them was parsed from text.
        native: The index under which a native call is sent, by the call's own index.
        late: A held call is sent unless the request is retried.
        mark: The number of calls sent before the answer was held.
        refused: The model refused to answer.
        ended: Its finish reason came, and nothing after it.
        sent_reason: The finish reason that was sent; None until then.
    """

    def __init__(self, index: object, state: ResponseState, send: Callable[[Json], object]) -> None:
        self.index = index
        self.state = state
        self.buffer = HoldBuffer(send)
        self.lead: Json = {}
        self.calls = 0
        self.ours = False
        self.native: dict[object, int] = {}
        self.sent_reason: object = None
        self.begin()

    def begin(self) -> None:
        """Begins the next attempt."""
        self.reader = TextReader(self.state)
        self.buffer.drop()
        self.late = False
        self.mark = self.calls
        self.refused = False
        self.ended = False

    def send(self, delta: Json, **more: Any) -> None:
        lead, self.lead = self.lead, {}
        made = {"index": self.index, "delta": {}, "finish_reason": None, **lead}
        self.buffer.put({**made, "delta": {**lead.get("delta", {}), **delta}, **more})

    def say(self, text: str) -> None:
        self.send({"content": text})

    def reason(self, text: str) -> None:
        self.send({"reasoning_content": text})

    def hold(self) -> None:
        # What else the chunk says is not held.
        if self.lead:
            self.send({})
        self.buffer.hold()
        self.mark = self.calls

    def open_call(self, id: str, name: str, *, late: bool) -> None:
        self.late = self.late or late
        self.ours = self.ours or not late
        function = {"name": name, "arguments": ""}
        call = {"index": self.calls, "id": id, "type": "function", "function": function}
        self.send({"function_call": function} if self.state.legacy else {"tool_calls": [call]})

    def fragment(self, json_text: str) -> None:
        function = {"arguments": json_text}
        call = {"index": self.calls, "function": function}
        self.send({"function_call": function} if self.state.legacy else {"tool_calls": [call]})

    def close_call(self) -> None:
        self.calls += 1

    def abort(self, error: core.CallError) -> None:
        raise _AbortedError(described(error.kind), error)

    def native_calls(self, calls: Iterable[Any], function: object) -> None:
        """Passes the model's native calls, with the next free indexes."""
        for call in calls:
            if not isinstance(call, Mapping):
                continue
            key = call.get("index")
            if not isinstance(key, (int, str)):
                id = call.get("id")
                key = id if isinstance(id, str) and id else next(reversed(self.native), None)
            if key not in self.native:
                self.buffer.release()
                self.native[key] = self.calls
                self.calls += 1
                self.state.called += 1
            self.send({"tool_calls": [{**call, "index": self.native[key]}]})
        if function is not None:
            self.buffer.release()
            if mapping(function).get("name"):
                self.state.called += 1
            self.send({"function_call": function})

    def finish(self, truncated: bool | None, *, normal: bool) -> bool:
        """Ends the answer. True: the request must be retried."""
        self.ended = True
        self.write(self.reader.finish(truncated=truncated))
        return self.state.should_retry(normal=normal and not self.refused)


class ChatStream(AnswerStream):
    """One streamed answer. Each choice is read on its own; if there are several, none is retried."""

    def __init__(self, state: ResponseState) -> None:
        super().__init__(state)
        self._choices: dict[object, _Choice] = {}
        # The choices to send for the last event.
        self._made: list[Json] = []
        self._usage: object = None
        # Fields of the first chunk, for chunks of later attempts; and the last chunk.
        self._identity: Json | None = None
        self._last: Json = {}
        # Of the event whose text is `text`: the choice, and what the event says.
        self._like: tuple[_Choice, Mapping[str, Any], Mapping[str, Any]] | None = None

    @property
    def holds(self) -> bool:
        return any(choice.buffer.holds or choice.reader.holds for choice in self._choices.values())

    def _begin(self) -> None:
        self.text = None
        self._state.usage.append(self._usage)
        self._usage = None
        for choice in self._choices.values():
            choice.begin()

    def feed(self, event: Json) -> list[Json] | None:
        self.text = None
        if not self._state.reads:
            return None
        is_over = self._is_over()
        if self.ended:
            return []
        if isinstance(event.get("usage"), Mapping):
            self._usage = event["usage"]
        if is_over:
            return []
        choices = listed(event.get("choices"))
        if event.get("error"):
            holds = self.holds
            due = self._before_error()
            self._state.should_retry(normal=False)
            if holds or due:
                # Clients stop reading at an error.
                self.ended = True
            return [*due, event] if due else None
        if self._identity is None and choices:
            self._identity = {key: event[key] for key in _IDENTITY if key in event}
        if "error" not in event:
            self._last = event
        self._made.clear()
        changed = False
        for choice in choices:
            try:
                is_read = isinstance(choice, Mapping) and self._choice(choice, event)
            except _AbortedError as error:
                return self._abort(error)
            if not is_read:
                self._made.append(choice)
            changed = changed or is_read
        if self.should_retry:
            return self._events(event, None)
        if len(choices) != 1 or "error" in event or event.get("usage"):
            self.text = None
        if changed:
            return self._events(event, event.get("usage"))
        return None if not self._attempt or "error" in event else [self._renewed(event)]

    def feed_text(self, text: str) -> list[Json] | None:
        assert self._like is not None
        choice, given, delta = self._like
        try:
            parts = choice.reader.feed(text)
            if is_text(parts, text) and not choice.buffer.holds:
                return None
            self._made.clear()
            choice.lead = _lead(given, delta, self._attempt)
            choice.write(parts)
        except _AbortedError as error:
            return self._abort(error)
        if choice.lead:
            choice.send({})
        return self._events(self._last, None)

    def due(self) -> list[Json]:
        return self._events(self._after_last(), None)

    def end(self) -> list[Json]:
        self.text = None
        if not self._state.reads or self._is_over():
            return []
        self._made.clear()
        for choice in self._choices.values():
            if choice.ended:
                continue
            choice.lead = {}
            try:
                choice.finish(None, normal=False)
            except _AbortedError as error:
                return self._abort(error)
            choice.buffer.release()
            renamed = finish_reason(choice.sent_reason, choice.ours, choice.state.legacy)
            if renamed != choice.sent_reason:
                choice.sent_reason = renamed
                choice.send({}, finish_reason=renamed)
        return self._events(self._after_last(), None)

    # Events.

    def _renewed(self, event: Json) -> Json:
        """The event as part of the first attempt's answer. Its usage is that of all attempts."""
        if not self._attempt:
            return event
        known = {key: value for key, value in (self._identity or {}).items() if key in event}
        made = {**event, **known}
        if isinstance(event.get("usage"), Mapping):
            made["usage"] = sum_usage([*self._state.usage, event["usage"]])
        return made

    def _events(self, event: Json, usage: object) -> list[Json]:
        """One event for each choice's delta; the usage goes with the last one."""
        base = {key: value for key, value in event.items() if key not in ("choices", "usage")}
        if "usage" in event:
            base["usage"] = None
        events = [{**base, "choices": [choice]} for choice in self._made]
        if usage is not None:
            if not events:
                events.append({**base, "choices": []})
            events[-1]["usage"] = usage
        return [*map(self._renewed, events)]

    def _abort(self, error: _AbortedError) -> list[Json]:
        self.ended = True
        return [*self._events(self._after_last(), None), stream_error(error)]

    def _after_last(self) -> Json:
        """The other fields of an event that we make: those of the last chunk."""
        return {key: value for key, value in self._last.items() if key not in ("choices", "usage")}

    # One choice.

    def _choice(self, given: Mapping[str, Any], event: Json) -> bool:
        """Makes what is sent instead of a choice. False: the choice must be sent unchanged."""
        index = given.get("index", 0)
        if isinstance(index, (list, dict)):
            return False  # A choice cannot have such an index.
        choice = self._choices.get(index)
        if choice is None:
            alone = self._state.alone and not self._choices
            state = self._state if alone else self._state.sibling()
            choice = self._choices[index] = _Choice(index, state, self._made.append)
        delta = mapping(given.get("delta"))
        reason = given.get("finish_reason")
        choice.refused = choice.refused or bool(delta.get("refusal"))
        choice.state.reasoned = choice.state.reasoned or has_reasoning(delta)
        content = delta.get("content")
        if not isinstance(content, (str, list, tuple)):
            content = None
        native = listed(delta.get("tool_calls"))
        function = delta.get("function_call")
        says = bool(content or native or function is not None)
        if choice.ended and not says:
            renamed = finish_reason(reason, choice.ours, choice.state.legacy)
            if reason is None or renamed == reason:
                return False
            self._made.append({**given, "finish_reason": renamed})
            return True
        choice.ended = False
        free = not choice.buffer.holds and reason is None and not self._attempt
        if free and not says:
            return False
        if isinstance(content, str):
            if content and reason is None and not (native or function is not None or self._attempt):
                self.text, self._like = content, (choice, given, delta)
            parts = choice.reader.feed(content)
            if free and not native and function is None and is_text(parts, content):
                return False
            choice.lead = _lead(given, delta, self._attempt)
            choice.write(parts)
        else:
            choice.lead = _lead(given, delta, self._attempt)
            for part in listed(content):
                text = part.get("text") if mapping(part).get("type") == "text" else part
                if isinstance(text, str):
                    choice.write(choice.reader.feed(text))
                else:
                    # Content that only this server has (reasoning, in a list) passes unchanged.
                    choice.send({"content": [text]})
        if native or function is not None:
            choice.native_calls(native, function)
        if reason is None:
            if choice.lead:
                choice.send({})
            return True
        before = len(self._made)
        if choice.finish(is_cut(given, event, choice.state), normal=is_whole(given, event, choice.state)):
            self._retries = True
            choice.buffer.drop()
            choice.calls = choice.mark
            return True
        choice.ours = choice.ours or choice.late
        renamed = finish_reason(reason, choice.ours, choice.state.legacy)
        choice.sent_reason = renamed
        quiet = not says and not choice.buffer.holds
        if quiet and len(self._made) == before and renamed == reason and not self._attempt:
            return False
        if choice.lead.get("delta"):
            choice.send({})
        choice.buffer.release()
        choice.send({}, finish_reason=renamed)
        return True


def has_reasoning(message: Mapping[str, Any]) -> bool:
    """Whether the server has separated reasoning itself, in a message or a delta."""
    return bool(message.get("reasoning_content") or message.get("reasoning"))


def _lead(choice: Mapping[str, Any], delta: Mapping[str, Any], attempt: int) -> Json:
    """Everything else that a chunk says about its choice."""
    rest = {key: value for key, value in delta.items() if key not in _READ and value is not None}
    if attempt:
        rest.pop("role", None)  # The first attempt had it.
    elif "content" in delta and not delta["content"]:
        rest["content"] = delta["content"]
    beside = {key: value for key, value in choice.items() if key not in _WRITTEN and value is not None}
    said = rest if rest.keys() != {"content"} else {}
    return {**beside, "delta": said} if said else beside
