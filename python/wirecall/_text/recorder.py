"""Collects the record of an exchange, and tells an observer of it while it runs."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import NoneType
from typing import Any

from wirecall._shown import written
from wirecall._text.notices import Notice, tell
from wirecall._text.record import (
    Attempt,
    AttemptReason,
    EventKind,
    MessageOutline,
    Outcome,
    Record,
    RecordEvent,
    Where,
)

log = logging.getLogger("wirecall")

_HASH_DIGITS = 16


class Observer:
    """Gets what happens in one exchange, while it happens. Each method does nothing here.

    It gets contents, whatever the option `record_content` says, and secrets are not removed from them. What
    happens while a large request is opened comes from another thread. An observer that raises is not told
    anything more.
    """

    def on_request(self, request: Mapping[str, Any]) -> None:
        """Gets what the application sent."""

    def on_attempt(self, reason: AttemptReason, request: Mapping[str, Any]) -> None:
        """Gets what is sent to the provider: the first request, or another one."""

    def on_source(self, text: int, piece: str) -> None:
        """Gets the next piece of what the model wrote. The offsets of events refer to the joined pieces of
        the text with this number. Numbers begin with 0 in each attempt."""

    def on_text(self, kind: EventKind, text: int, start: int, piece: str) -> None:
        """Gets text or reasoning that was read in it, at this offset, in characters."""

    def on_event(self, event: RecordEvent) -> None:
        """Gets an event of another kind. Its content is there only with `record_content`."""

    def on_notice(self, notice: Notice) -> None: ...

    def on_output(self, out: Mapping[str, Any] | bytes) -> None:
        """Gets what the application gets: a whole answer, or the next bytes of a stream."""

    def on_record(self, record: Record) -> None:
        """Gets the record, once the exchange is over."""


@dataclass(slots=True)
class _OpenText:
    """A text, or reasoning, that may continue."""

    kind: EventKind
    time: float
    number: int
    start: int
    end: int
    # Joined once, at the end; empty without `record_content`.
    pieces: list[str] = field(default_factory=list)

    def event(self, content: bool) -> RecordEvent:
        said = "".join(self.pieces) if content else None
        return RecordEvent(
            time=self.time, kind=self.kind, text=self.number, start=self.start, end=self.end, content=said
        )


@dataclass(slots=True)
class _OpenAttempt:
    """An attempt that has not ended."""

    # Fields of `Attempt` that are known when the request is sent.
    fixed: dict[str, Any]
    hash: Any
    first_byte: float | None = None
    end: float | None = None
    status: int | None = None
    length: int = 0
    answer: list[bytes] = field(default_factory=list)
    events: list[RecordEvent | _OpenText] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)


class Recorder:
    """Collects one record, and delivers it once, when the exchange is finished.

    Args:
        deliver: Gets the record; None if it is only logged.
        content: Whether messages, arguments and answers are recorded.
        logs: Whether the record's line goes to the log.
        observer: Is told of everything, while it happens.
    """

    def __init__(
        self,
        deliver: Callable[[Record], object] | None,
        *,
        content: bool,
        logs: bool,
        api: str,
        request: Mapping[str, Any],
        where: Where | None,
        observer: Observer | None = None,
    ) -> None:
        # Loaded only for hosts that want records.
        import hashlib

        self._sha256 = hashlib.sha256
        self._deliver = deliver
        self._content = content
        self._logs = logs
        self._where = where
        model = request.get("model")
        self._fixed: dict[str, Any] = {
            "api": api,
            "method": where.method if where is not None else None,
            "path": where.path if where is not None else None,
            "model": model if isinstance(model, str) else None,
            "stream": request.get("stream") is True,
            "protocol": None,
            "tools": (),
            "grammar_length": None,
        }
        self._attempts: list[_OpenAttempt] = []
        self._output: list[bytes] = []
        self._texts = 0
        self._delivered = False
        self._started = datetime.now(UTC)
        self._start = time.perf_counter()
        self._observer = observer or Observer()
        self._tell(self._observer.on_request, request)

    def _tell(self, method: Callable[..., None], *given: Any) -> None:
        if not tell(method, *given):
            self._observer = Observer()

    def set_tools(self, tools: Iterable[str], protocol: str) -> None:
        self._fixed.update(tools=tuple(tools), protocol=protocol)

    def set_grammar(self, text: str) -> None:
        self._fixed["grammar_length"] = len(text)

    def begin_attempt(
        self,
        request: Mapping[str, Any],
        written: bytes,
        said: Iterable[tuple[object, object]],
        reason: AttemptReason,
    ) -> None:
        """Begins the next attempt: a request is ready to be sent.

        Args:
            written: The request as JSON.
            said: The role and the content of everything that the model is told.
        """
        parameters = {
            key: one for key, one in request.items() if isinstance(one, (bool, int, float, NoneType))
        }
        self._texts = 0
        fixed = {
            "reason": reason,
            "sent": self._now(),
            "messages": tuple(self._outline(role, content) for role, content in said),
            "parameters": parameters,
            "request_length": len(written),
            "request_sha256": self._sha256(written).hexdigest()[:_HASH_DIGITS],
            "request": self._text([written]),
        }
        self._attempts.append(_OpenAttempt(fixed, self._sha256()))
        self._tell(self._observer.on_attempt, reason, request)

    def set_status(self, status: int) -> None:
        self._attempts[-1].status = status

    def add_received(self, given: object) -> None:
        """Adds a piece of the raw response: bytes, or a dict of a host without HTTP."""
        attempt, now = self._attempts[-1], time.perf_counter() - self._start
        raw = given if isinstance(given, bytes) else _dump(given)
        if attempt.first_byte is None:
            attempt.first_byte = now
        attempt.end = now
        attempt.length += len(raw)
        attempt.hash.update(raw)
        if self._content:
            attempt.answer.append(raw)

    def add_usage(self, usage: Mapping[str, Any]) -> None:
        # Counts grow within one response.
        self._attempts[-1].usage.update((key, one) for key, one in usage.items() if one is not None)

    def add_output(self, out: Mapping[str, Any] | bytes) -> None:
        if not out:
            return
        if self._content:
            self._output.append(out if isinstance(out, bytes) else _dump(out))
        self._tell(self._observer.on_output, out)

    def add_source(self, number: int, piece: str) -> None:
        self._tell(self._observer.on_source, number, piece)

    def add_notice(self, notice: Notice) -> None:
        self._tell(self._observer.on_notice, notice)

    def next_text(self) -> int:
        """The number of the response's next text."""
        self._texts += 1
        return self._texts - 1

    def add_text(self, number: int, start: int, said: str, kind: EventKind = "text") -> None:
        events = self._attempts[-1].events
        last = events[-1] if events else None
        if not (
            isinstance(last, _OpenText) and last.end == start and last.number == number and last.kind == kind
        ):
            last = _OpenText(kind, self._now(), number, start, start)
            events.append(last)
        last.end += len(said)
        if self._content:
            last.pieces.append(said)
        self._tell(self._observer.on_text, kind, number, start, said)

    def add_event(self, kind: EventKind, tool: str | None, content: str | None = None, **more: Any) -> None:
        tool = tool if tool in self._fixed["tools"] else None
        kept = content if self._content else None
        event = RecordEvent(time=self._now(), kind=kind, tool=tool, content=kept, **more)
        self._attempts[-1].events.append(event)
        self._tell(self._observer.on_event, event)

    @property
    def failure(self) -> Outcome:
        """The outcome of an exchange that an exception ends now."""
        if not self._attempts:
            return "refused"
        last = self._attempts[-1]
        return "broken" if last.status is not None or last.first_byte is not None else "failed"

    @property
    def usages(self) -> list[Mapping[str, Any]]:
        return [attempt.usage for attempt in self._attempts]

    def finish(self, outcome: Outcome, error: str | None, usage: Mapping[str, Any]) -> None:
        """Ends the exchange and delivers the record. Only the first call has an effect."""
        if self._delivered:
            return
        self._delivered = True
        attempts = tuple(map(self._finished, self._attempts))
        if attempts and (attempts[-1].status or 0) >= 400 and outcome not in ("broken", "failed"):
            outcome = "http_error"
        if error is None and attempts:
            error = next((event.error for event in attempts[-1].events if event.error is not None), None)
        record = Record(
            **self._fixed,
            started=self._started,
            duration=self._now(),
            attempts=attempts,
            outcome=outcome,
            error=error,
            usage=dict(usage),
            output=self._text(self._output),
        )
        if self._logs:
            log.debug("%s", record)
        self._tell(self._observer.on_record, record)
        if self._deliver is not None:
            tell(self._deliver, record, name="on_record")

    def _finished(self, attempt: _OpenAttempt) -> Attempt:
        return Attempt(
            **attempt.fixed,
            first_byte=attempt.first_byte,
            end=attempt.end,
            status=attempt.status,
            answer_length=attempt.length,
            answer_sha256=attempt.hash.hexdigest()[:_HASH_DIGITS],
            answer=self._text(attempt.answer),
            events=tuple(map(self._event, attempt.events)),
            usage=attempt.usage,
        )

    def _now(self) -> float:
        return time.perf_counter() - self._start

    def _text(self, pieces: list[bytes]) -> str | None:
        return self._scrubbed(b"".join(pieces).decode(errors="replace")) if self._content else None

    def _event(self, event: RecordEvent | _OpenText) -> RecordEvent:
        # A text is joined before it is searched, since a secret may be split between pieces.
        event = event.event(self._content) if isinstance(event, _OpenText) else event
        return event if event.content is None else replace(event, content=self._scrubbed(event.content))

    def _scrubbed(self, text: str) -> str:
        return text if self._where is None else self._where.redact(text)

    def _outline(self, role: object, content: object) -> MessageOutline:
        parts = content if isinstance(content, (list, tuple)) else [content]
        kinds = [as_kind(part.get("type")) if isinstance(part, Mapping) else "text" for part in parts]
        written = content if isinstance(content, str) else _dump(content).decode()
        digest = self._sha256(written.encode(errors="replace")).hexdigest()[:_HASH_DIGITS]
        return MessageOutline(
            role=as_kind(role), kinds=tuple(dict.fromkeys(kinds)), length=len(written), sha256=digest
        )


def as_kind(given: object) -> str:
    """A role or a type, if it is a short name: anything else may be content."""
    return given if isinstance(given, str) and given.isidentifier() and len(given) <= 32 else "unknown"


def _dump(value: object) -> bytes:
    return written(value).encode(errors="replace")
