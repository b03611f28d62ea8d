"""One message of a model: its text as it arrives, and the deltas that the server sends."""

from collections.abc import Iterable, Iterator
from typing import Any

from wirecall._core import ArgumentsDelta, CallEnd, CallError, CallStart, Reasoning, Text
from wirecall._serving.reports import Reports
from wirecall._tools.toolset import Toolset


class CallDelta:
    """A piece of a call.

    Attributes:
        index: The position of the call among those of the message, from 0.
        id: The id, in the first piece of a call; otherwise None.
        name: The tool's name, in the first piece of a call; otherwise None.
        arguments: The next part of the arguments, as JSON.
    """

    __slots__ = ("arguments", "id", "index", "name")

    def __init__(self, index: int, id: str | None, name: str | None, arguments: str) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.arguments = arguments


class Delta:
    """A piece of a message: reasoning, text and calls, as far as they have arrived.

    Several events make one delta. Their order between the three kinds is lost, as it is in the APIs.
    """

    __slots__ = ("calls", "reasoning", "text")

    def __init__(self, text: str = "", calls: list[CallDelta] | None = None) -> None:
        self.text = text
        self.reasoning = ""
        self.calls = [] if calls is None else calls

    def add(self, other: "Delta") -> None:
        """Append a later delta."""
        self.text += other.text
        self.reasoning += other.reasoning
        self.calls += other.calls


class MessageReader:
    """Reads one message. Each piece of text gives a delta; `finish` gives the last one.

    A call that cannot be read is text, also if a part of it was sent. A call that the end of the message has
    cut off is dropped: servers say with the finish reason that a message was cut.
    """

    def __init__(
        self,
        toolset: Toolset,
        reports: Reports,
        *,
        in_reasoning: bool | None = None,
        held: bool = False,
        request: str | None = None,
    ) -> None:
        """
        Args:
            toolset: The tools of the request.
            reports: Is told of calls and errors.
            in_reasoning: Whether the prompt has opened the reasoning; None if that is not known.
            held: Calls are sent when they are complete, in one piece.
            request: The id of the request, for warnings.
        """
        self._parser = toolset.parser(in_reasoning=in_reasoning)
        self._names = frozenset(toolset.names)
        self._reports, self._request = reports, request
        self._held = held
        self._ended = False
        # The calls of which something was sent. They are numbered anew, because some are never sent.
        self._sent = 0
        # The call that is being sent has failed before anything of it was sent.
        self._unsent = False
        self.broken: set[int] = set()
        """The indices of calls of which a part was sent, and that ended in an error."""
        # The index of the call that is being sent, and the events of those that follow it.
        self._open: int | None = None
        self._later: dict[int, list[Any]] = {}

    def feed(self, text: str) -> Delta:
        """The delta of a piece of text. After the end, it is text."""
        if self._ended:
            return Delta(text)
        events = self._parser.feed(text)
        # Nearly all of them, which must be fast.
        if len(events) == 1:
            event: Any = events[0]
            kind = type(event)
            if kind is Text:
                return Delta(event.text)
            if kind is ArgumentsDelta and event.index == self._open:
                return Delta(calls=[CallDelta(self._sent - 1, None, None, event.delta)])
        return self._delta(events)

    def finish(self, *, truncated: bool | None = None) -> Delta:
        """The delta of the end. Once more, it is empty.

        Args:
            truncated: False if the model has ended its message, True if it was cut; None if that is unknown.
        """
        if self._ended:
            return Delta()
        self._ended = True
        return self._delta(self._parser.finish(truncated=truncated), ended=True)

    def whole(self, text: str, *, truncated: bool | None = None) -> Delta:
        """All of a message in one delta, in which calls are complete."""
        self._held = True
        delta = self.feed(text)
        delta.add(self.finish(truncated=truncated))
        return delta

    def _delta(self, events: Iterable[Any], *, ended: bool = False) -> Delta:
        delta = Delta()
        calls = delta.calls
        for event in events if self._held else self._in_sequence(events):
            kind = type(event)
            if kind is Text:
                delta.text += event.text
            elif kind is ArgumentsDelta:
                if self._held:
                    continue
                index = self._sent - 1
                if calls and calls[-1].index == index:
                    calls[-1].arguments += event.delta
                else:
                    calls.append(CallDelta(index, None, None, event.delta))
            elif kind is CallStart:
                if not self._held:
                    calls.append(CallDelta(self._sent, event.id, event.name, ""))
                    self._sent += 1
            elif kind is Reasoning:
                delta.reasoning += event.text
            elif kind is CallEnd:
                if self._held:
                    calls.append(CallDelta(self._sent, event.id, event.name, event.arguments))
                    self._sent += 1
                known = not self._names or event.name in self._names
                self._reports.call(event, known=known, request=self._request)
            elif kind is CallError:
                cut = ended and event.kind == "incomplete_call"
                if not (self._held or self._unsent or event.index is None):
                    self.broken.add(self._sent - 1)
                if not cut:
                    delta.text += event.raw
                self._reports.error(event, cut=cut, request=self._request)
        return delta

    def _in_sequence(self, events: Iterable[Any]) -> Iterator[Any]:
        """Events in which a call ends before the next one begins.

        Formats that write calls as a list end all of them with the list. Servers and clients close a call
        when the next one begins, and would lose the rest of its arguments.
        """
        for event in events:
            kind = type(event)
            if kind is Text or kind is Reasoning or event.index is None:
                yield event
            elif event.index == self._open or (self._open is None and not self._later):
                yield event
                self._open = None if kind is CallEnd or kind is CallError else event.index
            elif kind is CallError:
                self._later.pop(event.index, None)
                self._unsent = True
                yield event
                self._unsent = False
            else:
                self._later.setdefault(event.index, []).append(event)
        # Only now, because a list that is cut fails with all of its calls.
        while self._open is None and self._later:
            index = next(iter(self._later))
            waiting = self._later.pop(index)
            yield from waiting
            self._open = None if type(waiting[-1]) is CallEnd else index
