"""The output of an answer of the Responses API: its items, and the events about them.

The reader of an answer (`stream`) writes to an `Output`, item by item. It numbers items and events, opens a
message when its first text comes, and closes it before anything else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, takewhile
from typing import Any

from wirecall._apis.responses.conversation import REASONING_ID
from wirecall._apis.values import Json, listed, mapping
from wirecall._text.reader import TextReader, random_id


@dataclass(eq=False)
class Source:
    """A message of the model, which may become several messages and calls.

    Attributes:
        item, final: The message as it was announced, and as it was closed.
        texts: Its text parts, by their index.
        others: Where its other parts are: see `_Message.place`.
        shown, messages: How many items it became, and how many of these are messages.
    """

    item: Mapping[str, Any]
    final: Mapping[str, Any] | None = None
    texts: dict[int, "Text"] = field(default_factory=dict)
    others: dict[int, Json] = field(default_factory=dict)
    shown: int = 0
    messages: int = 0


@dataclass(eq=False)
class Text:
    """A text part of a message.

    Attributes:
        part, final: The part as it was announced, and as it was closed.
        annotations, logprobs: All of them, as they came.
        unsent: The logprobs that were in no delta yet.
        shown: How many parts it became.
    """

    reader: TextReader
    part: Mapping[str, Any]
    final: Mapping[str, Any] | None = None
    annotations: list[Any] = field(default_factory=list)
    logprobs: list[Any] = field(default_factory=list)
    unsent: list[Any] = field(default_factory=list)
    shown: int = 0
    finished: bool = False


@dataclass(eq=False)
class _Part:
    """The open text part. `leads`: it begins where `of` does, so positions in it are valid."""

    of: Text
    leads: bool
    joined: list[Text] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


@dataclass(eq=False)
class _Message:
    """The open message. `source` is None if the next answer's text may be appended to it."""

    source: Source | None
    template: Mapping[str, Any]
    id: str
    index: int
    content: list[Any] = field(default_factory=list)
    part: _Part | None = None

    @property
    def place(self) -> Json:
        """The position of its last part, as events have it."""
        return {"item_id": self.id, "output_index": self.index, "content_index": len(self.content)}


class Output:
    """The items of one answer, over all its attempts.

    Attributes:
        sequence: The number of the next event.
        ended: All further events are dropped.
    """

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.events: list[Json] = []
        self.sequence = 0
        self.ended = False
        self._ids: set[str] = set()
        self._message: _Message | None = None
        # The open item of reasoning, and its text.
        self._reasoning: Json | None = None
        self._reasoned: list[str] = []
        self._call: Json = {}
        self._arguments: list[str] = []

    # Events

    def send(self, event: Json) -> None:
        """Sends an event; the same object if its number is right."""
        if self.ended:
            return
        if event.get("sequence_number") != self.sequence:
            event = {**event, "sequence_number": self.sequence}
        self.sequence += 1
        self.events.append(event)

    def _send(self, kind: str, **fields: Any) -> None:
        self.send({"type": kind, "sequence_number": self.sequence, **fields})

    def forward(self, event: Json, index: int) -> None:
        """Sends an event of the provider about an item that now has this index."""
        self.send(event if event.get("output_index") == index else {**event, "output_index": index})

    # Items that pass unchanged

    def begin(self, item: object, event: Json | None) -> int:
        """Begins an item, and returns its index."""
        self.close_message("completed")
        self.items.append(item)
        index = len(self.items) - 1
        if event is not None:
            self.forward(event, index)
        return index

    def finish(self, index: int, item: object, event: Json) -> None:
        self.items[index] = item
        self.forward(event, index)

    # Text

    def say(self, source: Source, text: Text, said: str, base: Json | None, logprobs: list[Any]) -> None:
        """Sends text. `base` is the event that it came with, if there is one."""
        message = self._open_part(source, text)
        assert message.part is not None
        message.part.texts.append(said)
        fields = {**message.place, "delta": said, "logprobs": logprobs}
        if base is None:
            self._send("response.output_text.delta", **fields)
        else:
            changed = {key: value for key, value in fields.items() if key not in base or base[key] != value}
            self.send({**base, **changed} if changed else base)

    def other_part(self, source: Source, index: int, part: object, event: Json | None) -> None:
        """Sends a part that is not text, such as a refusal."""
        message = self._open(source)
        self._close_part(message)
        source.others[index] = message.place
        message.content.append(part)
        self.about_part(source, index, event or {"type": "response.content_part.added", "part": part})
        if event is None:
            self.about_part(source, index, {"type": "response.content_part.done", "part": part})

    def about_part(self, source: Source, index: int, event: Json) -> None:
        """Sends an event about such a part."""
        place, message = source.others[index], self._message
        is_done = event.get("type") == "response.content_part.done"
        if is_done and message is not None and message.id == place["item_id"]:
            message.content[place["content_index"]] = event.get("part")
        self.send(event if place.items() <= event.items() else {**event, **place})

    def about_message(self, source: Source, event: Json) -> None:
        """Sends an unknown event about a message."""
        message = self._message
        if message is None or message.source is not source:
            self.forward(event, len(self.items))
        else:
            self.forward({**event, "item_id": message.id} if "item_id" in event else event, message.index)

    def end(self, source: Source, status: str) -> None:
        """Ends a message of the model."""
        if source.shown == 0:
            # Nothing of it is shown, so it is sent empty.
            self._open(source)
            for text in source.texts.values():
                self._open_part(source, text)
        if self._message is not None and self._message.source is source:
            self.close_message(status)

    def leave_open(self) -> None:
        """For a retry: its first text may be appended to the open message."""
        if self._message is not None:
            self._message.source = None

    # Reasoning that was in a text

    def reason(self, text: Text, said: str) -> None:
        text.unsent = []
        if self._reasoning is None:
            id = REASONING_ID + random_id()
            item = {"id": id, "type": "reasoning", "summary": [], "content": [], "status": "in_progress"}
            index = self.begin(item, None)
            self._reasoning, self._reasoned = item, []
            self._send("response.output_item.added", output_index=index, item=item)
            part = {"type": "reasoning_text", "text": ""}
            self._send("response.content_part.added", **self._reasoning_place(item), part=part)
        self._reasoned.append(said)
        self._send("response.reasoning_text.delta", **self._reasoning_place(self._reasoning), delta=said)

    def _close_reasoning(self) -> None:
        if self._reasoning is None:
            return
        item, self._reasoning = self._reasoning, None
        part = {"type": "reasoning_text", "text": "".join(self._reasoned)}
        place = self._reasoning_place(item)
        self._send("response.reasoning_text.done", **place, text=part["text"])
        self._send("response.content_part.done", **place, part=part)
        done = {**item, "content": [part], "status": "completed"}
        self.items[-1] = done
        self._send("response.output_item.done", output_index=place["output_index"], item=done)

    def _reasoning_place(self, item: Json) -> Json:
        # It is the last item as long as it is open.
        return {"item_id": item["id"], "output_index": len(self.items) - 1, "content_index": 0}

    # Calls

    def begin_call(self, source: Source, text: Text, id: str, name: str) -> None:
        source.shown += 1
        text.shown += 1
        self._call = {
            "type": "function_call",
            "id": "fc_" + id.removeprefix("call_"),
            "call_id": id,
            "name": name,
            "arguments": "",
            "status": "in_progress",
        }
        self._arguments = []
        index = self.begin(self._call, None)
        self._send("response.output_item.added", output_index=index, item=self._call)

    def fragment(self, delta: str) -> None:
        self._arguments.append(delta)
        place = {"item_id": self._call["id"], "output_index": len(self.items) - 1}
        self._send("response.function_call_arguments.delta", **place, delta=delta)

    def end_call(self) -> None:
        index, arguments = len(self.items) - 1, "".join(self._arguments)
        told = {"item_id": self._call["id"], "output_index": index, "name": self._call["name"]}
        self._send("response.function_call_arguments.done", **told, arguments=arguments)
        self.items[index] = {**self._call, "arguments": arguments, "status": "completed"}
        self._send("response.output_item.done", output_index=index, item=self.items[index])

    # The open message

    def _open(self, source: Source) -> _Message:
        message = self._message
        if message is not None and message.source is None:
            message.source = source
            source.shown += 1
        if message is not None and message.source is source:
            return message
        self.close_message("completed")
        source.shown += 1
        source.messages += 1
        id = self._new_id(source)
        item = {**source.item, "id": id, "content": []}
        if "status" in item:
            item["status"] = "in_progress"
        self.items.append(item)
        self._message = _Message(source, source.item, id, len(self.items) - 1)
        self._send("response.output_item.added", output_index=self._message.index, item=item)
        return self._message

    def _new_id(self, source: Source) -> str:
        """The model's own id for the first message that its message becomes, then with a number added."""
        own = source.item.get("id")
        own = own if isinstance(own, str) and own else "msg_0"
        ids = (own if number == 1 else f"{own}_{number}" for number in count(source.messages))
        id = next(id for id in ids if id not in self._ids)
        self._ids.add(id)
        return id

    def _open_part(self, source: Source, text: Text) -> _Message:
        joins = self._message is not None and self._message.source is None
        message = self._open(source)
        if message.part is not None:
            if message.part.of is text or text in message.part.joined:
                return message
            if joins:
                message.part.joined.append(text)
                text.shown += 1
                return message
            self._close_part(message)
        message.part = _Part(text, leads=text.shown == 0)
        text.shown += 1
        part = {**text.part, "text": "", "annotations": []}
        if "logprobs" in part:
            part["logprobs"] = []
        self._send("response.content_part.added", **message.place, part=part)
        return message

    def _close_part(self, message: _Message) -> None:
        if message.part is None:
            return
        part, annotated = _finished(message.part)
        place = message.place
        for number, annotation in enumerate(annotated):
            told = {**place, "annotation_index": number, "annotation": annotation}
            self._send("response.output_text.annotation.added", **told)
        logprobs = part.get("logprobs") or []
        self._send("response.output_text.done", **place, text=part["text"], logprobs=logprobs)
        self._send("response.content_part.done", **place, part=part)
        message.content.append(part)
        message.part = None

    def close_message(self, status: str) -> None:
        """Closes the open message, or the open reasoning, if there is one."""
        self._close_reasoning()
        message = self._message
        if message is None:
            return
        self._close_part(message)
        self._message = None
        source = message.source
        final = source.final if source is not None else None
        basis = message.template if final is None else final
        item = {**basis, "id": message.id, "content": message.content}
        if "status" in item:
            item["status"] = status
        # An unchanged message remains the same object.
        self.items[message.index] = final if item == final else item
        self._send("response.output_item.done", output_index=message.index, item=self.items[message.index])


# Annotations and logprobs of a text -------------------------------------------------------------


def _finished(part: _Part) -> tuple[Mapping[str, Any], Sequence[Any]]:
    """A text part in its final form, and its annotations.

    Positions count from the beginning of the model's own text. They are valid only before its first call;
    after it, annotations and logprobs are left out.
    """
    said = "".join(part.texts)
    text = part.of
    final = text.final
    if final is not None and part.leads and said == final.get("text"):
        return final, listed(final.get("annotations"))
    annotations, logprobs = text.annotations, text.logprobs
    if final is not None:
        annotations, logprobs = list(listed(final.get("annotations"))), list(listed(final.get("logprobs")))
    if not part.leads:
        annotations, logprobs = [], []
    elif said != (read := text.reader.source):
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(said, read, strict=False)))
        annotations = [one for one in annotations if _fits(one, same)]
        logprobs = _fitting(logprobs, said)
    written = {**(text.part if final is None else final), "text": said, "annotations": annotations}
    if logprobs or "logprobs" in written:
        written["logprobs"] = logprobs
    return written, annotations


def _fits(annotation: object, same: int) -> bool:
    """Whether the text that an annotation is about is shown. Without a position, it is valid anywhere.

    Args:
        same: How many characters are shown as the model wrote them.
    """
    about = mapping(annotation)
    place = about.get("end_index")
    if place is None and about.get("type") == "file_citation":
        place = about.get("index")
    return not isinstance(place, int) or place <= same


def _fitting(logprobs: list[Any], said: str) -> list[Any]:
    """The logprobs of the tokens that are shown, up to the first that is not."""
    position = 0
    for shown, one in enumerate(logprobs):
        token = mapping(one).get("token")
        if not isinstance(token, str) or not said.startswith(token, position):
            return logprobs[:shown]
        position += len(token)
    return logprobs
