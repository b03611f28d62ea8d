"""One answer of a model, read: what is text, what is a call, what is asked for again. It knows no API.

A `ResponseState` is one request's answer, over all its attempts. Each text of it (a choice, a content block)
has a `TextReader` of its own, whose parts the dialect writes as its API does; whole or streamed, the parts
are the same.
"""

import logging
import string
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import wirecall._core as core
from wirecall._rewriting.options import Notice, NoticeKind, Options
from wirecall._rewriting.record import EventKind, Outcome, Recorder
from wirecall._tools.kinds import ErrorKind, described
from wirecall._tools.toolset import Toolset

log = logging.getLogger("wirecall")

_Event = core.Text | core.CallStart | core.ArgumentsDelta | core.CallEnd | core.CallError


class ToolCallError(Exception):
    """A call that cannot be handed over, raised where the host wants it so (`on_error="raise"`).

    Attributes:
        error: The `CallError`; None where the call that `tool_choice` asked for is missing.
    """

    def __init__(self, message: str, error: "core.CallError | None" = None) -> None:
        super().__init__(message)
        self.error = error


class Choice(NamedTuple):
    """What a request says of calls.

    Attributes:
        mode: "auto", "none", "required" (any of `names`, or any tool where there are none).
        names: The tools that may be called; empty for all.
        parallel: Whether an answer may have more than one call.
    """

    mode: Literal["auto", "none", "required"] = "auto"
    names: tuple[str, ...] = ()
    parallel: bool = True


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text to be shown; not empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A complete call. `arguments` is compact JSON text, with `on_error="native"` perhaps what the
    model wrote instead.

    Attributes:
        late: Its arguments violate the schema, so the request may be retried instead. It is held with what
            follows `Hold`, and does not release it.
    """

    id: str
    name: str
    arguments: str
    late: bool = False


@dataclass(frozen=True, slots=True)
class CallOpened:
    """With `stream_arguments`: a call, whose fragments follow, then `CallFinished` or `CallAborted`."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallFragment:
    delta: str


@dataclass(frozen=True, slots=True)
class CallFinished:
    pass


@dataclass(frozen=True, slots=True)
class CallAborted:
    """A call failed after its first fragment went out: the stream must end with the API's error."""

    error: core.CallError


@dataclass(frozen=True, slots=True)
class Hold:
    """From here on nothing goes out, until a call does or the answer has ended: it may be asked for
    again."""


class _End(NamedTuple):
    """The end of a text: whether there is more than whitespace in it, and the line breaks at its end."""

    spoken: bool = False
    newlines: int = 0

    def followed_by(self, text: str) -> "_End":
        words = text.rstrip()
        trailing = text[len(words) :].count("\n")
        return _End(True, trailing) if words else _End(self.spoken, self.newlines + trailing)


Part = TextPart | Call | CallOpened | CallFragment | CallFinished | CallAborted | Hold


class ResponseState:
    """One request's answer.

    Args:
        toolset: What the request's tools were compiled to.
        options: The host's.
        choice: What the request says of calls.
        alone: One answer was asked for; of several none is asked for again.
        legacy: The host reads the API's older form of a call (chat's `function_call`).
        stops: The stop sequences of the host's own request.
        recorder: Gets what is read, if a record is wanted.

    Attributes:
        called: Calls handed over, native ones of the model included: the dialect counts those itself.
        attempt: 0 for the first answer.
        kept: The dialect's own: what stays of earlier attempts, for whole answers.
        usage: The dialect's own: usage of earlier attempts.
    """

    def __init__(
        self,
        toolset: Toolset,
        options: Options,
        choice: Choice,
        *,
        alone: bool = True,
        legacy: bool = False,
        stops: tuple[object, ...] = (),
        recorder: Recorder | None = None,
    ) -> None:
        self.recorder = recorder
        self.toolset = toolset
        self.options = options
        self.choice = choice
        self.called = 0
        self.attempt = 0
        self.kept: list[object] = []
        self.usage: list[object] = []
        self.alone = alone
        self.legacy = legacy
        # What each reader of the attempt heard.
        self._heard: list[list[str]] = []
        self._failures: list[core.CallError] = []
        # Number of calls that violate the schema and are handed over if the request is not retried.
        self._late = 0
        self._excused = False
        # The end of all text so far, over all attempts; where the text of this attempt was held; and whether
        # a blank line is due, because an earlier attempt said something.
        self._end = _End()
        self._held_at: _End | None = None
        self._gap = False
        self._stops = frozenset(stops) - {toolset.result_marks[0]}
        self._siblings: list[ResponseState] = []
        self._over = False

    @property
    def reads(self) -> bool:
        """Whether calls are looked for: not with `tool_choice` none."""
        return self.choice.mode != "none"

    def reader(self, prefix: str = "call_", *, fragments: bool = True) -> "TextReader":
        """A reader of one text of the answer.

        Args:
            prefix: That of ids: 24 random letters and digits follow.
            fragments: False for whole answers, where `stream_arguments` means nothing: nothing has gone
                out before a call's end.
        """
        heard: list[str] = []
        self._heard.append(heard)
        return TextReader(self, heard, prefix, fragments and self.options.stream_arguments)

    def sibling(self) -> "ResponseState":
        """A turn of its own for one of several answers: what one of them calls says nothing of the others,
        and none is asked for again."""
        made = ResponseState(
            self.toolset,
            self.options,
            self.choice,
            alone=False,
            legacy=self.legacy,
            stops=tuple(self._stops),
            recorder=self.recorder,
        )
        self._siblings.append(made)
        return made

    @property
    def outcome(self) -> Outcome:
        """What became of the answer, for its record."""
        turns = (self, *self._siblings)
        if not any(turn._over for turn in turns):
            return "closed"
        if any(turn.called for turn in turns):
            return "calls"
        return "bad_call" if any(turn._failures for turn in turns) else "text"

    def was_cut(self, matched: object = None) -> bool | None:
        """The `truncated` of an answer that stopped by itself or at a stop sequence; None: it may be cut off.

        Args:
            matched: The stop sequence, or the token id, that the server reports; None if it reports none.
        """
        if matched is None:
            # Stop sequences that the server adds by itself are invisible.
            return None if self._stops else False
        if isinstance(matched, str):
            return False if matched == self.toolset.result_marks[0] else None
        return None if matched in self._stops else False

    def asked_to_stop(self, matched: object) -> bool:
        """Whether the answer ended at a stop sequence or token of the host's own request."""
        return isinstance(matched, (str, int)) and matched in self._stops

    def ends(self, *, normal: bool) -> bool:
        """The answer has ended, and all its readers have finished. True: it is to be asked for again.

        Args:
            normal: It stopped by itself; what was cut off or filtered is not asked for again.

        Raises:
            ToolCallError: The call that was asked for is missing, and the host wants that raised.
        """
        missing = normal and self.choice.mode == "required" and not self.called and not self._failures
        if missing:
            self.tell("missing_call", None, self._missing_message())
            if self.options.on_missing_call == "raise":
                raise ToolCallError(self._missing_message())
        wanted = (
            self.options.on_error == "retry"
            if self._failures
            else self.options.on_missing_call == "retry" and missing
        )
        if normal and wanted and self._may_ask_again():
            return True
        self.called += self._late
        self._late = 0
        self._over = True
        return False

    def again(self) -> tuple[str, str]:
        """Begins the next attempt. Returns the model's own words, and what to answer."""
        words = "".join(text for heard in self._heard for text in heard)
        if self._failures:
            texts = [self.toolset.encode_result(error.name, error) for error in self._failures]
            message = "\n".join(texts)
        else:
            message = self._missing_message()
        reasons = ", ".join(error.kind for error in self._failures) or "missing_call"
        self.attempt += 1
        self._heard, self._failures = [], []
        self._late, self._excused = 0, False
        self._end, self._held_at = self._held_at or self._end, None
        self._gap = self._end.spoken
        self.tell("retry", None, reasons)
        return words, message

    def tell(self, kind: NoticeKind, tool: str | None, detail: str, raw: str | None = None) -> None:
        """Tells the host, and the log. What the model or a user wrote is in `raw` only."""
        # A name that is no tool's is what the model wrote.
        tool = tool if tool in self.toolset.names else None
        named: list[str] = [kind]
        if kind in ("repair", "problem", "error"):
            named.append(detail.partition(":")[0])
        log.info("%s%s", " ".join(named), "" if tool is None else f": {tool}")
        if self.options.on_event is not None:
            self.options.on_event(Notice(kind, tool, detail, raw))

    def _may_ask_again(self) -> bool:
        return self.alone and not self.called and self.attempt < self.options.max_retries

    def _missing_message(self) -> str:
        if self.choice.names:
            names = " or ".join(self.choice.names)
            return f"You did not call a tool. Call {names} in your next message."
        return "You did not call a tool. Call at least one tool in your next message."

    # What readers report.

    def _failed(self, error: core.CallError) -> bool:
        """Notes a failure. True: what follows is held, because the answer may be asked for again."""
        self.tell("error", error.name, described(error.kind), error.raw)
        self._failures.append(error)
        holds = self.options.on_error == "retry" and len(self._failures) == 1 and self._may_ask_again()
        if holds:
            self._held_at = self._end
        return holds

    def _said(self, text: str) -> TextPart:
        """A text to be shown. The first one of a retry begins a paragraph of its own."""
        if self._gap and not text.isspace():
            leading = text[: len(text) - len(text.lstrip())]
            text = "\n" * (2 - self._end.newlines - leading.count("\n")) + text
            self._gap = False
        self._end = self._end.followed_by(text)
        return TextPart(text)

    def _refusal(self, name: str) -> str | None:
        """Why a call may not be handed over, if so."""
        if self.choice.names and name not in self.choice.names:
            return f"Only {' or '.join(self.choice.names)} may be called now."
        if not self.choice.parallel and (self.called or self._late):
            return "Write only one call per message. Wait for its result, then call again."
        return None


def _excuse(kind: str) -> str:
    """The sentence shown to the end user in place of a call that cannot be handed over."""
    if kind == "forged_result":
        return "The assistant wrote a tool result itself. It is not real."
    if kind == "not_allowed":
        return "The assistant tried to call a tool that may not be called now."
    return "The assistant tried to call a tool, but the call could not be read."


class TextReader:
    """Reads one text of an answer: `feed` what comes, then `finish`.

    Blank text between, in front of and behind calls is dropped; other text goes out as it was.
    """

    def __init__(self, turn: ResponseState, heard: list[str], prefix: str, fragments: bool) -> None:
        self._turn = turn
        self._record = turn.recorder
        # For the record: which of the answer's texts this is, and how much of it was read.
        self._number = 0 if self._record is None else self._record.next_text()
        self._at = 0
        # The rest of the text follows a forged result, and is not shown.
        self._forged = False
        self._heard = heard
        self._length = 0
        self._prefix = prefix
        self._fragments = fragments
        self._parser = turn.toolset.parser() if turn.reads else None
        # Of the text since the last call: what is blank so far, and whether anything went out.
        self._blank: list[str] = []
        self._speaks = False
        self._behind_call = False
        # With strip_preamble, until a call comes: text, which it drops, and errors (True), which it does not.
        self._preamble: list[tuple[str, bool]] = []
        # With stream_arguments: the call that has no fragment yet, and whether one is open.
        self._begun: CallOpened | None = None
        self._open = False
        # Characters of its arguments that were sent.
        self._sent = 0
        # The last character sent as text. A sentence of ours is separated from the text before and after it.
        self._tail = ""
        self._apart = False
        self._refused: str | None = None
        self._inside = False

    @property
    def heard(self) -> str:
        """All that was fed."""
        return "".join(self._heard)

    @property
    def holds(self) -> bool:
        """A call is being written, and nothing of it has gone out."""
        return self._inside

    def feed(self, text: str) -> list[Part]:
        """The parts that are certain now."""
        self._heard.append(text)
        self._length += len(text)
        if self._parser is None:
            self._note_text(text)
            return [TextPart(text)] if text else []
        return self._read(self._parser.feed(text))

    def finish(self, *, truncated: bool | None) -> list[Part]:
        """The text is over.

        Args:
            truncated: True if it was cut off, False if it is known to be complete.
        """
        if self._parser is None:
            return []
        parts = self._read(self._parser.finish(truncated=truncated))
        if self._preamble:
            parts.append(self._turn._said("".join(text for text, _ in self._preamble)))
        if self._blank and not self._behind_call:
            parts.append(self._turn._said("".join(self._blank)))
        self._preamble, self._blank = [], []
        return parts

    def _read(self, events: Iterable[_Event]) -> list[Part]:
        parts: list[Part] = []
        for event in events:
            if isinstance(event, core.Text):
                self._note_text(event.text)
                self._say(event.text, parts)
            elif isinstance(event, core.ArgumentsDelta):
                self._fragment(event.delta, parts)
            elif isinstance(event, core.CallStart):
                self._start(event)
            elif isinstance(event, core.CallEnd):
                self._inside = False
                self._end(event, parts)
                self._refused = None
            else:
                self._inside = False
                self._fail(event, parts)
                self._refused = None
        return parts

    def _note_text(self, text: str) -> None:
        if self._record is not None and text:
            self._record.text(self._number, self._at, text)
        self._at += len(text)

    def _say(self, text: str, parts: list[Part]) -> None:
        if self._forged:
            return
        if self._turn.options.strip_preamble:
            if not self._behind_call:
                self._preamble.append((text, False))
        elif self._speaks:
            self._tell(text, parts)
        elif text.isspace():
            self._blank.append(text)
        else:
            self._speak(text, parts)

    def _speak(self, text: str, parts: list[Part]) -> None:
        self._tell("".join(self._blank) + text, parts)
        self._blank, self._speaks = [], True

    def _tell(self, text: str, parts: list[Part]) -> None:
        if self._apart and not text[0].isspace():
            text = " " + text
        self._apart, self._tail = False, text[-1]
        parts.append(self._turn._said(text))

    def _hand_over(self, parts: list[Part]) -> None:
        self._turn.called += 1
        if errors := "".join(text for text, is_error in self._preamble if is_error):
            parts.append(self._turn._said(errors))
        self._preamble = []
        self._blank, self._speaks, self._behind_call = [], False, True

    def _source(self, start: int, end: int) -> str:
        """What was heard between two offsets. The last texts are enough: a call has just ended."""
        at, texts = self._length, []
        for text in reversed(self._heard):
            at -= len(text)
            texts.append(text)
            if at <= start:
                break
        return "".join(reversed(texts))[start - at : end - at]

    def _id(self, id: str) -> str:
        return self._prefix + id.removeprefix("call_")

    def _start(self, event: core.CallStart) -> None:
        self._inside = True
        if self._record is not None:
            self._record.event("call_start", event.name, text=self._number)
        self._refused = self._turn._refusal(event.name)
        if self._fragments and self._refused is None:
            self._begun = CallOpened(self._id(event.id), event.name)

    def _fragment(self, delta: str, parts: list[Part]) -> None:
        if self._begun is not None:
            self._hand_over(parts)
            self._inside = False
            parts.append(self._begun)
            self._begun, self._open, self._sent = None, True, 0
        if self._open:
            self._sent += len(delta)
            parts.append(CallFragment(delta))

    def _end(self, event: core.CallEnd, parts: list[Part]) -> None:
        self._at = event.end
        for repair in event.repairs:
            self._turn.tell("repair", event.name, repair)
        for problem in event.problems:
            self._turn.tell("problem", event.name, problem.kind)
        if self._turn.options.complete_calls_only and "missing_close" in event.repairs:
            self._fail(self._made(event, "incomplete_call", "The call is not closed."), parts)
        elif self._refused is not None:
            self._fail(self._made(event, "not_allowed", self._refused), parts)
        else:
            problems = tuple(problem.kind for problem in event.problems)
            self._note("call", event, event.arguments, repairs=event.repairs, problems=problems)
            if self._open:
                self._open = False
                parts.append(CallFinished())
                return
            self._begun = None
            self._hand_over(parts)
            parts.append(Call(self._id(event.id), event.name, event.arguments))

    def _note(self, kind: EventKind, event: core.CallEnd | core.CallError, content: str, **more: Any) -> None:
        """Notes a call, or an error, for the record."""
        if self._record is not None:
            where: Any = {"text": self._number, "start": event.start, "end": event.end}
            self._record.event(kind, event.name, content, **where, **more)

    def _made(self, event: core.CallEnd, kind: ErrorKind, message: str) -> core.CallError:
        """A `CallError` for a call that was read but may not be handed over."""
        raw = self._source(event.start, event.end)
        return core.CallError(event.index, event.id, event.name, kind, message, raw, event.start, event.end)

    def _fail(self, error: core.CallError, parts: list[Part]) -> None:
        turn, self._begun, self._at = self._turn, None, error.end
        self._note("error", error, error.raw, error=error.kind)
        mode = turn.options.on_error
        # What follows an invented result rests on it.
        self._forged = error.kind == "forged_result" and not turn.options.emit_raw_on_error
        # A call that was read completely goes to the host's own validation, unless the host forbade it.
        native = None if self._refused is not None else error.arguments
        if self._open:
            self._open = False
            turn.notify("error", error.name, described(error.kind), error.raw)
            if native is None or mode not in ("retry", "native"):
                parts.append(CallAborted(error))
                return
            parts += [CallFragment(native[self._sent :]), CallFinished()]
            return
        late = mode == "retry" and turn._may_ask_again()
        if turn._failed(error):
            parts.append(Hold())
        if mode == "raise":
            raise ToolCallError(described(error.kind), error)
        # Forged results and forbidden calls are never handed over.
        if mode == "native" and native is None and error.kind not in ("forged_result", "not_allowed"):
            native = error.raw
        if turn.options.emit_raw_on_error and mode != "native":
            self._show(error.raw, parts)
        elif mode == "text":
            self._show(turn.toolset.encode_result(error.name, error), parts)
        elif native is not None:
            self._native(error, native, late, parts)
        elif error.kind != "incomplete_call" and not turn._excused:
            # One sentence is enough, however many calls could not be read.
            turn._excused = True
            self._show(_excuse("not_allowed" if self._refused is not None else error.kind), parts, apart=True)

    def _native(self, error: core.CallError, arguments: str, late: bool, parts: list[Part]) -> None:
        called = self._turn.called
        self._hand_over(parts)
        if late:
            self._turn.called = called
            self._turn._late += 1
        id = self._id(error.id or _random_id())
        parts.append(Call(id, error.name or "unknown", arguments, late))

    def _show(self, text: str, parts: list[Part], *, apart: bool = False) -> None:
        """Shows an error as text; `apart` separates it from the text around it."""
        if self._turn.options.strip_preamble and not self._behind_call:
            self._preamble.append((text, True))
            return
        tail = "" if self._blank else self._tail
        self._speak(f"\n\n{text}" if apart and tail not in ("", "\n") else text, parts)
        self._apart = apart


def _random_id() -> str:
    # Loads OpenSSL, for what hardly any host asks for.
    import secrets

    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(24))
