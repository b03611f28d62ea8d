"""Streamed answers of the Responses API, with native calls.

A whole answer is read as a stream whose items arrive complete.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import wirecall._core as core
from wirecall._apis.responses.conversation import NATIVE_CALLS
from wirecall._apis.responses.output import Output, Source, Text
from wirecall._apis.streams import AnswerStream, PartWriter
from wirecall._apis.values import Json, kind_of, listed, mapping, str_or_none, sum_usage
from wirecall._kinds import described
from wirecall._text.hold import HoldBuffer
from wirecall._text.parts import Part, ToolCallError
from wirecall._text.reader import TextReader
from wirecall._text.response import ResponseState

_STARTS = ("response.created", "response.in_progress", "response.queued")
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def stream_error(error: Exception, sequence_number: int = 0) -> Json:
    failed = error.error if isinstance(error, ToolCallError) else None
    return {
        "type": "error",
        "code": failed.kind if failed is not None else "server_error",
        "message": str(error),
        "param": None,
        "sequence_number": sequence_number,
    }


class ResponsesStream(AnswerStream, PartWriter):
    """A streamed answer, or several that become one. Without `fragments`, it reads whole answers."""

    def __init__(self, state: ResponseState, *, fragments: bool = True) -> None:
        super().__init__(state)
        self._fragments = fragments
        self._out = Output()
        # What is written unless the request is retried: see `_do`.
        self.buffer = HoldBuffer(lambda act: act())
        self._started = False
        self._response_id: object = None
        self._begin()

    def _begin(self) -> None:
        # The provider reported an error, which says more than one of ours.
        self._failed = False
        self._refused = False
        self._sources: dict[int, Source] = {}
        # Messages that are not finished; and the one that was closed, and waits for what follows it.
        self._open: list[int] = []
        self._closed: int | None = None
        # The announced items, and the indexes of those that are not messages.
        self._announced: set[int] = set()
        self._places: dict[int, int] = {}

    @property
    def holds(self) -> bool:
        return self.buffer.holds or any(
            text.reader.holds for source in self._sources.values() for text in source.texts.values()
        )

    def feed(self, event: Json) -> list[Json] | None:
        if self._is_over():
            return []
        if not self._started:
            self._started = True
            first = event.get("sequence_number")
            self._out.sequence = first if isinstance(first, int) else 0
        self._read(event)
        sent = self._sent()
        return None if len(sent) == 1 and sent[0] is event else sent

    def due(self) -> list[Json]:
        return self._sent()

    def end(self) -> list[Json]:
        if self._is_over():
            return []
        if not self._failed:
            self._finish("failed", None)
        return self._sent()

    def read_whole(self, body: Mapping[str, Any], status: str) -> Json | None:
        """Reads a whole answer as if it were streamed."""
        self._is_over()
        read = self._close(body, status)
        self._sent()
        return read if read is None or isinstance(read, dict) else dict(read)

    def _sent(self) -> list[Json]:
        sent, self._out.events = self._out.events, []
        return sent

    # Events

    def _read(self, event: Json) -> None:
        kind = event.get("type")
        index = event.get("output_index")
        if kind in _STARTS:
            if self._attempt == 0:
                begun = mapping(event.get("response"))
                self._note_id(begun)
                own = self._own(begun)
                self._out.send(event if own is begun else {**event, "response": own})
        elif isinstance(kind, str) and kind in _ENDS:
            response = event.get("response")
            self._failed = self._failed or kind == "response.failed"
            read = self._close(mapping(response), kind.removeprefix("response."))
            if read is not None:
                same = read is response or not isinstance(response, Mapping)
                self._out.send(event if same else {**event, "response": read})
        elif kind == "error" or event.get("error"):
            self._failed = True
            with suppress(ToolCallError):
                self._finish("failed", None)
            self._out.send(event)
        elif not isinstance(index, int):
            self._out.send(event)
        elif kind == "response.output_item.added":
            self._item_added(index, event.get("item"), event)
        elif kind == "response.output_item.done":
            self._item_done(index, event.get("item"), event)
        else:
            if self._closed is not None and self._closed != index:
                self._settle()
            if kind == "response.output_text.delta" and index not in self._announced:
                # A text of a message that was never announced.
                self._item_added(index, {**_MESSAGE, "id": event.get("item_id")}, event)
            if index in self._sources:
                self._message_event(self._sources[index], event)
            else:
                self._do(self._forward, index, event)

    def _note_id(self, response: Mapping[str, Any]) -> None:
        if self._response_id is None:
            self._response_id = response.get("id")

    # Items

    def _do(self, act: Callable[..., object], *args: Any) -> None:
        """Calls what writes, or holds it back."""
        if self.buffer.holds:
            self.buffer.put(partial(act, *args))
        else:
            act(*args)

    def _forward(self, index: int, event: Json) -> None:
        self._out.forward(event, self._places.get(index, index))

    def _begin_item(self, index: int, item: object, event: Json) -> None:
        self._places[index] = self._out.begin(item, event)

    def _finish_item(self, index: int, item: object, event: Json) -> None:
        self._out.finish(self._places[index], item, event)

    def _item_added(self, index: int, item: object, event: Json) -> None:
        self._settle()
        self._announced.add(index)
        if isinstance(item, Mapping) and item.get("type") == "message":
            if index not in self._sources:
                self._sources[index] = Source(item)
                self._open.append(index)
            return
        if kind_of(item) in NATIVE_CALLS:
            self._state.called += 1
            self.buffer.release()
        elif kind_of(item) == "reasoning":
            self._state.reasoned = True
        self._do(self._begin_item, index, item, event)

    def _item_done(self, index: int, item: object, event: Json) -> None:
        if index not in self._announced:
            self._item_added(index, item, {**event, "type": "response.output_item.added"})
        if self._closed != index:
            self._settle()
        if index not in self._sources:
            self._do(self._finish_item, index, item, event)
        elif index in self._open and isinstance(item, Mapping):
            source = self._sources[index]
            for number, part in enumerate(listed(item.get("content"))):
                self._part_done(source, number, part)
            source.final = item
            self._closed = index

    def _settle(self) -> None:
        """Finishes the message that was closed: something follows it, so its text was not cut off."""
        index, self._closed = self._closed, None
        if index is None:
            return
        source = self._sources[index]
        self._finish_texts(source, _status(source) == "incomplete")
        self._open.remove(index)
        self._do(self._out.end, source, _status(source) or "completed")

    # Messages

    def _message_event(self, source: Source, event: Json) -> None:
        kind, index = event.get("type"), event.get("content_index")
        if not isinstance(index, int):
            self._do(self._out.about_message, source, event)
        elif kind == "response.content_part.added":
            self._part_added(source, index, event.get("part"), event)
        elif kind == "response.output_text.delta":
            text = self._text(source, index, _NO_TEXT)
            logprobs = event.get("logprobs")
            if isinstance(logprobs, list):
                text.logprobs += logprobs
                text.unsent += logprobs
            delta = event.get("delta")
            self._feed(source, text, delta if isinstance(delta, str) else "", event)
        elif kind == "response.output_text.annotation.added" and index in source.texts:
            source.texts[index].annotations.append(event.get("annotation"))
        elif kind == "response.output_text.done":
            self._complete(source, self._text(source, index, _NO_TEXT), event.get("text"))
        elif kind == "response.content_part.done" and index not in source.others:
            self._part_done(source, index, event.get("part"))
        elif index in source.others:
            self._do(self._out.about_part, source, index, event)
        else:
            self._do(self._out.about_message, source, event)

    def _part_added(self, source: Source, index: int, part: object, event: Json | None) -> None:
        if isinstance(part, Mapping) and part.get("type") == "output_text":
            self._text(source, index, part)
            return
        self._refused = self._refused or kind_of(part) == "refusal"
        self._finish_texts(source, False)
        # Its position is known when it is written, which may be later.
        source.others[index] = {}
        self._do(self._out.other_part, source, index, part, event)

    def _part_done(self, source: Source, index: int, part: object) -> None:
        if isinstance(part, Mapping) and part.get("type") == "output_text":
            text = self._text(source, index, part)
            text.final = part
            self._complete(source, text, part.get("text"))
        elif index not in source.others and index not in source.texts:
            self._part_added(source, index, part, None)

    def _text(self, source: Source, index: int, part: Mapping[str, Any]) -> Text:
        if index not in source.texts:
            self._finish_texts(source, False)
            source.texts[index] = Text(TextReader(self._state, fragments=self._fragments), part)
        return source.texts[index]

    def _complete(self, source: Source, text: Text, given: object) -> None:
        """Reads what a closed text has and no delta had."""
        read = text.reader.source
        if isinstance(given, str) and len(given) > len(read) and given.startswith(read):
            self._feed(source, text, given[len(read) :], None)

    def _feed(self, source: Source, text: Text, delta: str, event: Json | None) -> None:
        # A server may send more after the end.
        text.finished = text.finished and self._failed
        if not text.finished:
            self._write(source, text, text.reader.feed(delta), event)

    def _finish_texts(self, source: Source, truncated: bool | None) -> None:
        for text in source.texts.values():
            if not text.finished:
                text.finished = True
                self._write(source, text, text.reader.finish(truncated=truncated), None)

    def _write(self, source: Source, text: Text, parts: Iterable[Part], event: Json | None) -> None:
        """Writes the parts of a text. `event` is the event that they came with."""
        self._writing = source, text
        self._event = event
        self.write(parts)

    def say(self, text: str) -> None:
        source, part = self._writing
        logprobs, part.unsent = part.unsent, []
        self._do(self._out.say, source, part, text, self._event, logprobs)
        self._event = None

    def reason(self, text: str) -> None:
        self._do(self._out.reason, self._writing[1], text)

    def open_call(self, id: str, name: str, *, late: bool) -> None:
        self._do(self._out.begin_call, *self._writing, id, name)

    def fragment(self, json_text: str) -> None:
        self._do(self._out.fragment, json_text)

    def close_call(self) -> None:
        self._do(self._out.end_call)

    def abort(self, error: core.CallError) -> None:
        # A call cannot be taken back once a part of it is sent.
        if not self._failed:
            self._out.send(stream_error(ToolCallError(described(error.kind), error), self._out.sequence))
            self.ended = self._out.ended = True

    # The end

    def _close(self, response: Mapping[str, Any], status: str) -> Mapping[str, Any] | None:
        """Returns the response with native calls; None if the request is retried."""
        if self._attempt == 0:
            self._note_id(response)
        output = listed(response.get("output"))
        if not self._announced:
            # A whole answer; or none of its items was streamed.
            for index, item in enumerate(output):
                done = {"type": "response.output_item.done", "output_index": index, "item": item}
                self._item_done(index, item, done)
        cut = mapping(response.get("incomplete_details")).get("reason") == "max_output_tokens"
        truncated = self._state.was_cut() if status == "completed" else (cut or None)
        usage = response.get("usage")
        if self._finish(status, truncated):
            self._state.usage.append(usage)
            return None
        changed: Json = {}
        if (output or self._out.items) and output != self._out.items:
            changed["output"] = list(self._out.items)
        if self._attempt:
            changed["id"] = self._response_id
        if total := sum_usage([*self._state.usage, usage] if self._state.usage else []):
            changed["usage"] = total
        return self._own({**response, **changed} if changed else response)

    def _own(self, response: Mapping[str, Any]) -> Mapping[str, Any]:
        """The response with what the application asked for, where the server repeats what it was sent."""
        repeated = self._state.repeated.items()
        changed = {key: value for key, value in repeated if key in response and response[key] != value}
        return {**response, **changed} if changed else response

    def _finish(self, status: str, truncated: bool | None) -> bool:
        """Ends the answer. True: the request must be retried."""
        still_open = [self._sources[index] for index in self._open]
        for source in self._sources.values():
            self._finish_texts(source, _status(source) == "incomplete" or truncated)
        if self._state.should_retry(normal=status == "completed" and not self._refused):
            self.buffer.drop()
            self._out.leave_open()
            self._retries = True
            return True
        self.buffer.release()
        for source in still_open:
            otherwise = "completed" if status == "completed" else "incomplete"
            self._out.end(source, _status(source) or otherwise)
        self._out.close_message("completed")
        return False


_NO_TEXT: Json = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
_MESSAGE: Json = {"id": None, "type": "message", "role": "assistant", "status": "in_progress", "content": []}


def _status(source: Source) -> str | None:
    """The status of a message that was closed."""
    return str_or_none(mapping(source.final).get("status"))
