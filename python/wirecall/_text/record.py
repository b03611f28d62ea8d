"""Records of exchanges: what was sent, what was received, what was read in it, and when.

Messages, arguments and results are recorded only if the host asks for them; otherwise only their lengths,
hashes and kinds are. Headers, queries and user information of URLs are not recorded, and their secrets are
removed from recorded content.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from wirecall._public import as_dict

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
            closed the stream before its end, or its task was cancelled).
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
