"""What the streamed answers of all APIs share: attempts, and how parts are written."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import wirecall._core as core
from wirecall._apis.values import Json
from wirecall._text.hold import HoldBuffer
from wirecall._text.parts import (
    CallFinished,
    CallFragment,
    CallOpened,
    CallPart,
    Hold,
    Part,
    Raised,
    ReasoningPart,
    TextPart,
    ToolCallError,
)
from wirecall._text.response import ResponseState


def is_text(parts: list[Part], text: str) -> bool:
    """Whether this text is all that was read, so that the provider's event can be sent as it is."""
    return len(parts) == 1 and isinstance(part := parts[0], TextPart) and part.text == text


class PartWriter(ABC):
    """Writes the parts of a text as an API's events.

    Attributes:
        buffer: Holds events back while the request may be retried.
    """

    buffer: HoldBuffer[Any]

    @abstractmethod
    def say(self, text: str) -> None: ...

    @abstractmethod
    def reason(self, text: str) -> None: ...

    @abstractmethod
    def open_call(self, id: str, name: str, *, late: bool) -> None: ...

    @abstractmethod
    def fragment(self, json_text: str) -> None: ...

    @abstractmethod
    def close_call(self) -> None: ...

    @abstractmethod
    def abort(self, error: core.CallError) -> None:
        """Ends the stream with an error: fragments of a call were sent, and it failed."""

    def hold(self) -> None:
        self.buffer.hold()

    def arguments(self, json_text: str) -> str:
        """The arguments of a whole call as the API has them."""
        return json_text

    def write(self, parts: Iterable[Part]) -> None:
        for part in parts:
            if isinstance(part, TextPart):
                self.say(part.text)
            elif isinstance(part, ReasoningPart):
                self.reason(part.text)
            elif isinstance(part, CallFragment):
                self.fragment(part.delta)
            elif isinstance(part, (CallPart, CallOpened)):
                late = isinstance(part, CallPart) and part.late
                if not late:
                    self.buffer.release()
                self.open_call(part.id, part.name, late=late)
                if isinstance(part, CallPart):
                    self.fragment(self.arguments(part.arguments))
                    self.close_call()
            elif isinstance(part, CallFinished):
                self.close_call()
            elif isinstance(part, Hold):
                self.hold()
            elif isinstance(part, Raised):
                raise part.error
            else:
                self.abort(part.error)
                return


class AnswerStream(ABC):
    """One streamed answer, or several where the request is retried: they become one.

    Attributes:
        ended: It was ended with an error (a call failed after its first fragment): nothing more is sent.
        text: The text of the last event, if `feed_text` reads events that differ from it in this text only.
    """

    text: str | None = None

    def __init__(self, state: ResponseState) -> None:
        self._state = state
        self._attempt = state.attempt
        self._retries = False
        self.ended = False

    @property
    def should_retry(self) -> bool:
        """`Exchange.retry` must make the next request. The events of its answer are fed here, too."""
        return self._retries and self._state.attempt == self._attempt

    @property
    @abstractmethod
    def holds(self) -> bool:
        """A call or an error is held back: send comments, against timeouts. Not valid once it has `ended`."""

    @abstractmethod
    def feed(self, event: Json) -> list[Json] | None:
        """Reads one event of the provider (the JSON of its data).

        Returns:
            The events to send instead, in order; often none. None: the event itself must be sent, unchanged.
        """

    def feed_text(self, text: str) -> list[Json] | None:
        """`feed` for an event that differs from the last one in its `text` only."""
        raise NotImplementedError

    def due(self) -> list[Json]:
        """The events that `feed` or `end` had made before it raised an exception."""
        return []

    @abstractmethod
    def end(self) -> list[Json]:
        """Ends the stream, and returns what is due. An answer without its closing events was cut off."""

    def _is_over(self) -> bool:
        """Whether what comes is dropped: the stream ended, or is retried. Begins the next attempt, if any."""
        if self._attempt != self._state.attempt:
            self._attempt = self._state.attempt
            self._retries = False
            self._begin()
        return self.ended or self._retries

    def _begin(self) -> None:  # noqa: B027
        """Begins the next attempt. The first event may do all that is needed."""

    def _before_error(self) -> list[Json]:
        """Ends the answer before the provider's error, which says more than ours. Returns what is due."""
        try:
            due = self.end()
        except ToolCallError:
            due = []
        return [one for one in due if "error" not in one and one.get("type") != "error"]
