"""Records of exchanges: what was sent, what was received, what was read in it, and when.

Messages, arguments and results are recorded only if the host asks for them; otherwise only their lengths,
hashes and kinds are. Headers, queries and user information of URLs are not recorded, and their secrets are
removed from recorded content.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import NoneType
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from wirecall._dicts import as_dict
from wirecall._shown import written

log = logging.getLogger("wirecall")

Outcome = Literal[
    "calls", "text", "bad_call", "passed", "refused", "http_error", "broken", "failed", "closed"
]
AttemptReason = Literal["first", "retry", "without_stop"]
EventKind = Literal["text", "reasoning", "call_start", "call", "error"]

# Parts of names of headers whose values are secret.
_SECRET_HEADERS = ("auth", "key", "token", "secret", "cookie", "signature", "credential")
# Shorter texts occur by accident in content that is not secret.
_SHORTEST_SECRET = 6
_REDACTED = "[secret]"
_HASH_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageOutline:
    """A message of a request, without its content.

    Attributes:
        role: The role, in the API's words; for an item of Responses without a role, its type.
        kinds: The types of its parts; "text" for plain text.
        length: The length of its content in characters, as compact JSON if it is not text.
        sha256: The first 16 hexadecimal digits of the hash of its content.
    """

    role: str
    kinds: tuple[str, ...]
    length: int
    sha256: str

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""
        return as_dict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEvent:
    """Something that was read in a response.

    Attributes:
        time: Seconds after the start of the record.
        kind: "text" or "reasoning" (consecutive ones are one event), "call_start", "call" (complete) or
            "error".
        tool: The tool, if it is declared.
        text: Which of the response's texts (choices or blocks) it is in, from 0.
        start, end: Offsets in that text, in characters; None for "call_start".
        error: The kind of the error.
        repairs: The names of the repairs.
        problems: The kinds of the problems: what does not fit the schema.
        fields: For each problem, the argument that it is about, as in `Notice`.
        content: With `record_content`: the text or reasoning, the call's arguments, or the raw call of an
            error.
    """

    time: float
    kind: EventKind
    tool: str | None = None
    text: int = 0
    start: int | None = None
    end: int | None = None
    error: str | None = None
    repairs: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    content: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""
        return as_dict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One request to the provider, and its response. Times are seconds after the start of the record.

    Attributes:
        reason: "first", "retry" (of a bad or missing call) or "without_stop" (the server refused the stop
            sequence).
        sent: When the request was ready.
        first_byte, end: When the first and the last byte of the response came; None if none came.
        status: The HTTP status; None without HTTP.
        messages: The messages of the request.
        parameters: Parameters of the request that are numbers, booleans or null, such as `temperature`.
        request_length, request_sha256: The length of the request's JSON in bytes, and its hash.
        request: With `record_content`: the JSON that was sent.
        answer_length, answer_sha256: The length of the raw response in bytes, and its hash.
        answer: With `record_content`: the raw response, including the events of a stream.
        events: What was read in the response.
        usage: The usage that the provider reported.
    """

    reason: AttemptReason
    sent: float
    first_byte: float | None
    end: float | None
    status: int | None
    messages: tuple[MessageOutline, ...]
    parameters: Mapping[str, float | bool | None]
    request_length: int
    request_sha256: str
    request: str | None
    answer_length: int
    answer_sha256: str
    answer: str | None
    events: tuple[RecordEvent, ...]
    usage: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""
        return as_dict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One exchange, from the application's request to the end of its response; for `on_record`.

    `str` of it is one line, without content.

    Attributes:
        api: "chat", "responses" or "messages".
        method, path: The method of the HTTP request, and its path without host and query; None for hosts
            without HTTP.
        model: The model, as the request names it.
        stream: Whether a stream was requested.
        protocol: The name of the protocol of the calls.
        tools: The names of the declared tools.
        grammar_length: The length in characters of the grammar that was sent; None if none was sent.
        started: Wall-clock time, in UTC.
        duration: Seconds, by a monotonic clock.
        attempts: Requests and responses, in order.
        outcome: "calls" (calls were handed over), "text", "bad_call" (a call could not be handed over),
            "passed" (passed on without being rewritten), "refused" (not sent), "http_error", "broken" (the
            connection broke during the response), "failed" (another exception) or "closed" (the application
            closed the stream before its end).
        error: The name of the exception that the application got, or the kind of the call's error.
        usage: The sum of all attempts.
        output: With `record_content`: what the application got, as JSON or as events.
    """

    api: str
    method: str | None
    path: str | None
    model: str | None
    stream: bool
    protocol: str | None
    tools: tuple[str, ...]
    grammar_length: int | None
    started: datetime
    duration: float
    attempts: tuple[Attempt, ...]
    outcome: Outcome
    error: str | None
    usage: Mapping[str, Any]
    output: str | None

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""
        return as_dict(self)

    def __str__(self) -> str:
        where = f"{self.method} {self.path}" if self.path is not None else self.api
        events = self.attempts[-1].events if self.attempts else ()
        called = [event.tool or "unknown" for event in events if event.kind in ("call", "error")]
        said = [
            f"{where} model={self.model}",
            self.outcome + (f" ({self.error})" if self.error is not None else ""),
            *([f"tools called: {', '.join(called)}"] if called else []),
            f"{len(self.attempts)} attempt{'' if len(self.attempts) == 1 else 's'}",
            f"{self.duration:.3f} s",
        ]
        return "; ".join(said)


class Where(NamedTuple):
    """Where a request goes, without secrets.

    Attributes:
        method, path: The method and the path of the request.
        secrets: Texts that must not be recorded: keys in headers, in the query and before the host.
    """

    method: str
    path: str
    secrets: tuple[str, ...] = ()

    @classmethod
    def of(cls, method: str, url: str, headers: Mapping[str, str]) -> "Where":
        parts = urlsplit(url)
        found = [value for _, value in parse_qsl(parts.query)]
        user = parts.netloc.rpartition("@")[0]
        found += [user, *user.split(":", 1), *map(unquote, user.split(":", 1))]
        for name, value in headers.items():
            if any(word in name.lower() for word in _SECRET_HEADERS):
                found += [value, *value.split()]
        long_first = sorted({one for one in found if len(one) >= _SHORTEST_SECRET}, key=len, reverse=True)
        return cls(method.upper(), parts.path, tuple(long_first))

    def redact(self, text: str) -> str:
        """A text without the secrets."""
        for secret in self.secrets:
            text = text.replace(secret, _REDACTED)
        return text


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

    def set_tools(self, tools: Iterable[str], protocol: str) -> None:
        self._fixed.update(tools=tuple(tools), protocol=protocol)

    def set_grammar(self, text: str) -> None:
        self._fixed["grammar_length"] = len(text)

    def begin_attempt(
        self, request: Mapping[str, Any], said: Iterable[tuple[object, object]], reason: AttemptReason
    ) -> None:
        """Begins the next attempt: a request is ready to be sent.

        Args:
            said: The role and the content of everything that the model is told.
        """
        parameters = {
            key: one for key, one in request.items() if isinstance(one, (bool, int, float, NoneType))
        }
        written = _dump(request)
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

    def set_status(self, status: int) -> None:
        self._attempts[-1].status = status

    def add_received(self, given: object) -> None:
        """Adds a piece of the raw response: bytes, or a dict of a host without HTTP."""
        attempt, now = self._attempts[-1], self._now()
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

    def add_output(self, out: object) -> None:
        if self._content and out:
            self._output.append(out if isinstance(out, bytes) else _dump(out))

    def next_text(self) -> int:
        """The number of the response's next text."""
        self._texts += 1
        return self._texts - 1

    def add_text(self, number: int, start: int, said: str, kind: EventKind = "text") -> None:
        events = self._attempts[-1].events
        last = events[-1] if events else None
        if not isinstance(last, _OpenText) or (last.kind, last.number, last.end) != (kind, number, start):
            last = _OpenText(kind, self._now(), number, start, start)
            events.append(last)
        last.end += len(said)
        if self._content:
            last.pieces.append(said)

    def add_event(self, kind: EventKind, tool: str | None, content: str | None = None, **more: Any) -> None:
        tool = tool if tool in self._fixed["tools"] else None
        kept = content if self._content else None
        self._attempts[-1].events.append(
            RecordEvent(time=self._now(), kind=kind, tool=tool, content=kept, **more)
        )

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
        if self._deliver is None:
            return
        try:
            self._deliver(record)
        except Exception as failure:
            # Without its message, which may quote the record.
            log.warning("on_record raised %s", type(failure).__name__)

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
        kinds = [_kind(part.get("type")) if isinstance(part, Mapping) else "text" for part in parts]
        written = content if isinstance(content, str) else _dump(content).decode()
        digest = self._sha256(written.encode(errors="replace")).hexdigest()[:_HASH_DIGITS]
        return MessageOutline(
            role=_kind(role), kinds=tuple(dict.fromkeys(kinds)), length=len(written), sha256=digest
        )


def _kind(given: object) -> str:
    """A role or a type, if it is a short name: anything else may be content."""
    return given if isinstance(given, str) and given.isidentifier() and len(given) <= 32 else "unknown"


def _dump(value: object) -> bytes:
    return written(value).encode(errors="replace")
