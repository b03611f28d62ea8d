"""The state of one response, over all its attempts: which calls were handed over, and whether to retry."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Literal, NamedTuple

import wirecall._core as core
from wirecall._kinds import described
from wirecall._text.notices import Notice, NoticeKind
from wirecall._text.options import Options
from wirecall._text.parts import TextPart, ToolCallError
from wirecall._text.record import Outcome
from wirecall._text.recorder import Recorder
from wirecall._tools.detection import SEARCHED
from wirecall._tools.lookalikes import lookalike
from wirecall._tools.toolset import Toolset

log = logging.getLogger("wirecall")


class Choice(NamedTuple):
    """Which calls a request allows.

    Attributes:
        mode: "auto", "none", "required" (any of `names`, or any tool if there are none).
        names: The tools that may be called; empty for all.
        parallel: Whether a response may have more than one call.
    """

    mode: Literal["auto", "none", "required"] = "auto"
    names: tuple[str, ...] = ()
    parallel: bool = True


class _End(NamedTuple):
    """The end of a text: whether it has more than whitespace, and the line breaks at its end."""

    has_words: bool = False
    newlines: int = 0

    def followed_by(self, text: str) -> "_End":
        words = text.rstrip()
        trailing = text[len(words) :].count("\n")
        return _End(True, trailing) if words else _End(self.has_words, self.newlines + trailing)


# Of a text that does not end with whitespace.
_WORDS = _End(True)


@dataclass(eq=False, repr=False, slots=True)
class ResponseState:
    """One request's response. Each of its texts (a choice, a content block) is read by a `TextReader`.

    Attributes:
        alone: One answer was requested; if there are several, none is retried.
        legacy: The host reads the API's older form of a call (chat's `function_call`).
        stops: The stop sequences of the host's own request.
        called: The number of calls handed over. Native calls are included: the API's own code counts them.
        late: The number of calls that violate the schema and are handed over unless the request is retried.
        excused: The end user has been told that a call failed.
        reasoned: The server has separated reasoning itself in this attempt, so no text begins in it.
        attempt: 0 for the first response.
        kept: For the API's own code: what remains of earlier attempts, for whole answers.
        usage: For the API's own code: the usage of earlier attempts.
        repeated: Values of the host's own request that its answer repeats.
    """

    toolset: Toolset
    options: Options
    choice: Choice
    _: KW_ONLY
    alone: bool = True
    legacy: bool = False
    stops: Iterable[object] = ()
    recorder: Recorder | None = None
    repeated: Mapping[str, Any] = field(default_factory=dict)
    called: int = field(default=0, init=False)
    late: int = field(default=0, init=False)
    excused: bool = field(default=False, init=False)
    reasoned: bool = field(default=False, init=False)
    attempt: int = field(default=0, init=False)
    kept: list[object] = field(default_factory=list, init=False)
    usage: list[object] = field(default_factory=list, init=False)
    # What the model wrote in each text of this attempt.
    _source: list[list[str]] = field(default_factory=list, init=False)
    _failures: list[core.CallError] = field(default_factory=list, init=False)
    # The end of all text, over all attempts; where the text of this attempt was held; and whether a blank
    # line is due, because an earlier attempt wrote text.
    _end: _End = field(default=_End(), init=False)
    _held_at: _End | None = field(default=None, init=False)
    _gap: bool = field(default=False, init=False)
    _siblings: "list[ResponseState]" = field(default_factory=list, init=False)
    # What looked like a call in the text, over all attempts and answers.
    _told: list[str] = field(default_factory=list, init=False)
    _over: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.stops = frozenset(self.stops) - {self.stop}

    @property
    def stop(self) -> str | None:
        """The stop sequence of wirecall; None if the protocol has none."""
        return next(iter(self.toolset.result_marks), None)

    @property
    def takes_calls(self) -> bool:
        """Whether calls are handed over: not with `tool_choice` none, where they are text."""
        return self.choice.mode != "none"

    @property
    def reads(self) -> bool:
        """Whether texts are parsed."""
        return self.takes_calls or self.toolset.separates_reasoning

    def new_text(self) -> list[str]:
        """A list for what the model writes in the next text of the response."""
        self._source.append([])
        return self._source[-1]

    def new_parser(self, source: list[str], *, untyped: bool = False) -> core.Parser:
        """A parser for the text with this source. Only the first text of an answer may begin in reasoning.

        Args:
            untyped: Calls of any name are read, without types.
        """
        first = source is self._source[0] and not self.reasoned
        toolset = self.options.toolset([]) if untyped else self.toolset
        return toolset.parser(in_reasoning=self.options.in_reasoning if first else False)

    def sibling(self) -> "ResponseState":
        """A state of its own for one of several answers: their calls are independent, and none is retried."""
        made = replace(self, alone=False)
        made._told = self._told
        self._siblings.append(made)
        return made

    @property
    def outcome(self) -> Outcome:
        states = (self, *self._siblings)
        if not any(state._over for state in states):
            return "closed"
        if any(state.called for state in states):
            return "calls"
        return "bad_call" if any(state._failures for state in states) else "text"

    def was_cut(self, matched: object = None) -> bool | None:
        """The `truncated` of an answer that ended normally or at a stop sequence; None: it may be cut off.

        Args:
            matched: The stop sequence, or the token id, that the server reports; None if it reports none.
        """
        if matched is None:
            # Stop sequences that the server adds itself are invisible.
            return None if self.stops else False
        if isinstance(matched, str):
            return False if matched == self.stop else None
        return None if self.asked_to_stop(matched) else False

    def asked_to_stop(self, matched: object) -> bool:
        """Whether the answer ended at a stop sequence or token of the host's own request."""
        return isinstance(matched, (str, int)) and matched in self.stops

    @property
    def may_retry(self) -> bool:
        """Whether a failure now would be retried, if the options say so."""
        return self.alone and not self.called and not self._over and self.attempt < self.options.max_retries

    def should_retry(self, *, normal: bool) -> bool:
        """Ends the response, once all its readers have finished. True: the request must be retried.

        If more comes after the end (a second end, text after it), this is called again, and returns False:
        the application was told that the response has ended.

        Args:
            normal: It ended normally; a response that was cut off or filtered is not retried.

        Raises:
            ToolCallError: The required call is missing, and the host wants that raised.
        """
        if self._over:
            return False
        self._tell_of_lookalikes()
        missing = normal and self.choice.mode == "required" and not self.called and not self._failures
        if missing:
            self.notify("missing_call", None, described("missing_call"))
            if self.options.on_missing_call == "raise":
                raise ToolCallError(described("missing_call"), for_model=self._missing_message())
        wanted = self.options.on_missing_call == "retry" and missing
        if self._failures:
            wanted = self.options.on_error == "retry"
        if normal and wanted and self.may_retry:
            return True
        self.called += self.late
        self.late = 0
        self._over = True
        return False

    def _tell_of_lookalikes(self) -> None:
        """What looks like a call but is text is easily overlooked. One notice is enough for an exchange."""
        if self.called or self._failures or not self.takes_calls or self.options.code == "text":
            return
        for source in self._source:
            if self._told:
                return
            message = self.toolset.parse("".join(source)[:SEARCHED], in_reasoning=self.options.in_reasoning)
            found = lookalike(self._without_reasoning(message.text), self.toolset.names)
            if found is not None:
                self._told.append(found)
                self.notify("other_format", None, found)

    def _without_reasoning(self, text: str) -> str:
        """The text without reasoning that the options leave in it."""
        for open, close in self.toolset._reasoning_tags:
            _, closed, after = text.rpartition(close)
            if closed:
                text = after
            elif text.lstrip().startswith(open):
                return ""
        return text

    def begin_retry(self) -> tuple[str, str]:
        """Begins the next attempt. Returns what the model wrote, and the message that answers it."""
        words = "".join(piece for text in self._source for piece in text)
        results = [self.toolset.encode_result(error.name, error) for error in self._failures]
        message = "\n".join(results) or self._missing_message()
        reasons = ", ".join(error.kind for error in self._failures) or "missing_call"
        self.attempt += 1
        self._source, self._failures = [], []
        self.late, self.excused, self.reasoned = 0, False, False
        self._end, self._held_at = self._held_at or self._end, None
        self._gap = self._end.has_words
        self.notify("retry", None, reasons)
        return words, message

    def notify(
        self,
        kind: NoticeKind,
        tool: str | None,
        detail: str,
        raw: str | None = None,
        field: str | None = None,
    ) -> None:
        """Tells the host, and the log. Only `raw` may hold what the model or a user wrote."""
        # A name that is not a tool's is what the model wrote.
        tool = tool if tool in self.toolset.names else None
        logged: list[str] = [kind]
        if kind in ("repair", "problem", "error", "other_format"):
            logged.append(detail.partition(":")[0])
        about = ", ".join(filter(None, (tool, field)))
        # Without the option `debug`, nobody else is told that a call was not run.
        level = logging.WARNING if kind == "other_format" else logging.INFO
        log.log(level, "%s%s", " ".join(logged), about and f": {about}")
        self.options.tell(Notice(kind, tool, detail, raw, field), self.recorder)

    def _missing_message(self) -> str:
        """The text for the model."""
        names = " or ".join(self.choice.names) or "at least one tool"
        return f"You did not call a tool. Call {names} in your next message."

    # For readers.

    def notify_problems(self, call: core.CallEnd | core.CallError) -> None:
        for problem in call.problems:
            self.notify("problem", call.name, problem.kind, field=self.declared_field(call, problem))

    def declared_field(self, call: core.CallEnd | core.CallError, problem: core.Problem) -> str:
        """The field of a problem, without names that the schema does not declare."""
        return self.toolset._declared_field(call.name or "", problem.field)

    def notify_error(self, error: core.CallError) -> None:
        self.notify_problems(error)
        self.notify("error", error.name, described(error.kind), error.raw)

    def add_failure(self, error: core.CallError) -> bool:
        """Notes a call that failed. True: what follows is held, because the request may be retried."""
        self.notify_error(error)
        self._failures.append(error)
        holds = self.options.on_error == "retry" and len(self._failures) == 1 and self.may_retry
        if holds:
            self._held_at = self._end
        return holds

    def text(self, text: str) -> TextPart:
        """Text to be shown. The first text of a retry begins a new paragraph."""
        if self._gap and not text.isspace():
            leading = text[: len(text) - len(text.lstrip())]
            text = "\n" * (2 - self._end.newlines - leading.count("\n")) + text
            self._gap = False
        self._end = _WORDS if not text[-1].isspace() else self._end.followed_by(text)
        return TextPart(text)

    def refusal(self, name: str) -> str | None:
        """Why a call may not be handed over; None if it may."""
        if self.choice.names and name not in self.choice.names:
            return f"Only {' or '.join(self.choice.names)} may be called now."
        if not self.choice.parallel and (self.called or self.late):
            return "Write only one call per message. Wait for its result, then call again."
        return None
