"""Reads one text of a response: what is shown to the user, and what is a call."""

import string
from collections.abc import Iterable
from typing import Any

import wirecall._core as core
from wirecall._kinds import ErrorKind, described
from wirecall._text.parts import (
    CallAborted,
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
from wirecall._text.record import EventKind
from wirecall._text.response import ResponseState
from wirecall._text.untyped import UntypedReader

_Event = core.Text | core.Reasoning | core.CallStart | core.ArgumentsDelta | core.CallEnd | core.CallError


# Sentences for the end user in place of a failed call, by the kind of the error. A call that was cut off has
# none.
_EXCUSES: dict[ErrorKind, str] = {
    "unknown_tool": "The assistant tried to call a tool that does not exist.",
    "duplicate_argument": "The assistant tried to call a tool, but gave an argument twice.",
    "invalid_arguments": "The assistant tried to call a tool, but the arguments do not fit the tool.",
    "too_large": "The assistant tried to call a tool, but the call was too large.",
    "too_deep": "The assistant tried to call a tool, but its arguments were nested too deeply.",
    "forged_result": "The assistant wrote a tool result itself. It is not real.",
    "not_allowed": "The assistant tried to call a tool that may not be called now.",
    "too_many_calls": "The assistant made too many tool calls. The rest of its message is not shown.",
}
# For all other kinds: the call is not well-formed.
_EXCUSE = "The assistant tried to call a tool, but the call could not be read."
# Text after these is not shown: the model made it up, or it contains calls that were not parsed.
_MUTING = ("forged_result", "too_many_calls")


class TextReader:
    """Reads one text of a response: `feed` it as it arrives, then `finish`. What comes later is a new text.

    Whitespace before, between and after calls is dropped; other text passes unchanged. If no calls are taken,
    only reasoning is separated, and calls are text.

    Args:
        response: The state of the response.
        prefix: The prefix of call ids; 24 random letters and digits follow.
        fragments: False for whole answers: nothing is sent before a call is complete, so `stream_arguments`
            has no effect, and a bad call is raised at once.
    """

    def __init__(self, response: ResponseState, prefix: str = "call_", *, fragments: bool = True) -> None:
        self._response = response
        self._recorder = response.recorder
        self._prefix = prefix
        self._fragments = fragments
        self._streams_arguments = fragments and response.options.stream_arguments
        self._begin()
        # Of the text since the last call: its leading whitespace, and whether anything was sent.
        self._blank: list[str] = []
        self._speaks = False
        self._after_call = False
        # With strip_preamble, until a call comes: text, which is then dropped, and errors (True), which stay.
        self._preamble: list[tuple[str, bool]] = []
        # The rest of the text is not shown.
        self._muted = False
        # The last character sent as text, and whether it ends a sentence of our own, which is kept apart.
        self._tail = ""
        self._apart = False

    def _begin(self) -> None:
        # For the record: which of the response's texts this is, and how much of it was read.
        self._number = 0 if self._recorder is None else self._recorder.next_text()
        self._at = 0
        self._pieces = self._response.new_text()
        self._length = 0
        # Made when text comes, since the server may separate reasoning itself before.
        self._parser: core.Parser | None = None
        # Made when a call of an unknown tool is handed over.
        self._untyped: UntypedReader | None = None
        self._finished = self._truncated = False
        # A call is being written, and nothing of it was sent; by index, why calls may not be handed over.
        self.holds = False
        self._refusals: dict[int, str] = {}
        # With stream_arguments: the call without a fragment yet, and its index; the index of the call that is
        # open, and how many characters of its arguments were sent. Calls of a list may start before an
        # earlier one has ended. Only one is streamed at a time; the others are handed over whole.
        self._opening: tuple[int, CallOpened] | None = None
        self._open: int | None = None
        self._sent = 0

    @property
    def source(self) -> str:
        """All text that was fed."""
        return "".join(self._pieces)

    def feed(self, text: str) -> list[Part]:
        """Returns the parts that are certain now."""
        if self._finished:
            self._begin()
        self._pieces.append(text)
        self._length += len(text)
        if self._recorder is not None:
            self._recorder.add_source(self._number, text)
        if not self._response.reads:
            self._record_text(text)
            return [TextPart(text)] if text else []
        if self._parser is None:
            self._parser = self._response.new_parser(self._pieces)
        return self._read(self._parser.feed(text))

    def finish(self, *, truncated: bool | None) -> list[Part]:
        """Ends the text.

        Args:
            truncated: False if it is known to be complete. One that may be cut off is read as one that was.
        """
        if self._parser is None or self._finished:
            return []
        self._finished, self._truncated = True, truncated is not False
        parts = self._read(self._parser.finish(truncated=self._truncated))
        if self._preamble:
            parts.append(self._response.text("".join(text for text, _ in self._preamble)))
        if self._blank and not self._after_call:
            parts.append(self._response.text("".join(self._blank)))
        self._preamble, self._blank = [], []
        return parts

    def _read(self, events: Iterable[_Event]) -> list[Part]:
        parts: list[Part] = []
        for event in events:
            if isinstance(event, core.Text):
                self._record_text(event.text)
                self._text(event.text, parts)
            elif isinstance(event, core.Reasoning):
                self._reason(event, parts)
            elif not self._response.takes_calls:
                if isinstance(event, (core.CallEnd, core.CallError)):
                    self._at = event.start
                    source = self._source_of(event.start, event.end)
                    self._record_text(source)
                    self._text(source, parts)
            elif isinstance(event, core.ArgumentsDelta):
                self._fragment(event, parts)
            elif isinstance(event, core.CallStart):
                self._start(event)
            else:
                self.holds = False
                if isinstance(event, core.CallEnd):
                    self._end(event, parts)
                else:
                    self._fail(event, parts)
                if parts and isinstance(parts[-1], Raised):
                    break
                if event.index is not None:
                    self._refusals.pop(event.index, None)
        return parts

    # Text.

    def _reason(self, event: core.Reasoning, parts: list[Part]) -> None:
        if self._recorder is not None:
            self._recorder.add_text(self._number, event.start, event.text, "reasoning")
        self._at = event.end
        if not self._muted:
            parts.append(ReasoningPart(event.text))

    def _text(self, text: str, parts: list[Part]) -> None:
        if self._muted:
            return
        if self._response.options.strip_preamble:
            if not self._after_call:
                self._preamble.append((text, False))
        elif self._speaks:
            self._send(text, parts)
        elif text.isspace():
            self._blank.append(text)
        else:
            self._speak(text, parts)

    def _speak(self, text: str, parts: list[Part]) -> None:
        self._send("".join(self._blank) + text, parts)
        self._blank, self._speaks = [], True

    def _send(self, text: str, parts: list[Part]) -> None:
        if self._apart and not text[0].isspace():
            text = " " + text
        self._apart, self._tail = False, text[-1]
        parts.append(self._response.text(text))

    def _show(self, text: str, parts: list[Part], *, apart: bool = False) -> None:
        """Shows an error as text; `apart` separates it from the text around it."""
        if self._response.options.strip_preamble and not self._after_call:
            self._preamble.append((text, True))
            return
        tail = "" if self._blank else self._tail
        self._speak(f"\n\n{text}" if apart and tail not in ("", "\n") else text, parts)
        self._apart = apart

    # Calls.

    def _start(self, event: core.CallStart) -> None:
        self.holds = self._open is None
        if self._recorder is not None:
            self._recorder.add_event("call_start", event.name, text=self._number)
        self._refuse(event)
        refused = event.index in self._refusals
        if self._streams_arguments and not refused and self._open is None and self._opening is None:
            self._opening = event.index, CallOpened(self._id(event.id), event.name)

    def _refuse(self, event: core.CallStart | core.CallEnd) -> None:
        if (refusal := self._response.refusal(event.name)) is not None:
            self._refusals[event.index] = refusal

    def _fragment(self, event: core.ArgumentsDelta, parts: list[Part]) -> None:
        if self._opening is not None and self._opening[0] == event.index:
            self._hand_over(parts)
            self.holds = False
            parts.append(self._opening[1])
            self._opening, self._open, self._sent = None, event.index, 0
        if self._open == event.index:
            self._sent += len(event.delta)
            parts.append(CallFragment(event.delta))

    def _end(self, event: core.CallEnd, parts: list[Part]) -> None:
        self._at = event.end
        response = self._response
        if self._open != event.index:
            # Another call of its list may have ended since it started.
            self._refuse(event)
        for repair in event.repairs:
            response.notify("repair", event.name, repair)
        response.notify_problems(event)
        if response.options.complete_calls_only and "missing_close" in event.repairs:
            self._fail(self._as_error(event, "incomplete_call", "The call is not closed."), parts)
        elif (refusal := self._refusals.get(event.index)) is not None:
            self._fail(self._as_error(event, "not_allowed", refusal), parts)
        else:
            self._record("call", event, event.arguments, repairs=event.repairs)
            if self._open == event.index:
                self._open = None
                parts.append(CallFinished())
                return
            self._unopen(event.index)
            self._hand_over(parts)
            parts.append(CallPart(self._id(event.id), event.name, event.arguments))

    def _unopen(self, index: int | None) -> None:
        """The call of this index ended before a fragment of it was sent."""
        if self._opening is not None and self._opening[0] == index:
            self._opening = None

    def _as_error(self, event: core.CallEnd, kind: ErrorKind, message: str) -> core.CallError:
        """A `CallError` for a call that was read but may not be handed over."""
        raw = self._source_of(event.start, event.end)
        return core.CallError(event.index, event.id, event.name, kind, message, raw, event.start, event.end)

    def _fail(self, error: core.CallError, parts: list[Part]) -> None:
        response, self._at = self._response, error.end
        self._unopen(error.index)
        self._record("error", error, error.raw, error=error.kind)
        options = response.options
        mode = options.on_error
        self._muted = self._muted or (error.kind in _MUTING and not options.emit_raw_on_error)
        # A call that was read completely goes to the host's own validation, unless the host forbade it.
        refused = error.index is not None and error.index in self._refusals
        native = None if refused else error.arguments
        if self._open is not None and self._open == error.index:
            self._open = None
            response.notify_error(error)
            if native is None or mode not in ("retry", "native"):
                parts.append(CallAborted(error))
            else:
                parts += [CallFragment(native[self._sent :]), CallFinished()]
            return
        late = mode == "retry" and response.may_retry
        if response.add_failure(error):
            parts.append(Hold())
        if mode == "raise":
            failure = ToolCallError(described(error.kind), error)
            if not self._fragments:
                raise failure
            parts.append(Raised(failure))
            return
        if mode == "native" and native is None and _may_be_raw(error):
            native = self._untyped_arguments(error) or error.raw
        if options.emit_raw_on_error and mode != "native":
            self._show(error.raw, parts)
        elif mode == "text":
            self._show(response.toolset.encode_result(error.name, error), parts)
        elif native is not None:
            self._hand_over(parts, late=late)
            id = self._id(error.id or random_id())
            parts.append(CallPart(id, error.name or "unknown", native, late))
        elif error.kind != "incomplete_call" and not response.excused:
            # One sentence is enough, however many calls failed.
            response.excused = True
            kind = "not_allowed" if refused else error.kind
            self._show(_EXCUSES.get(kind, _EXCUSE), parts, apart=True)

    def _untyped_arguments(self, error: core.CallError) -> str | None:
        """The arguments of a complete call of an unknown tool, as JSON; None for all other errors."""
        if error.kind != "unknown_tool":
            return None
        if self._untyped is None:
            self._untyped = UntypedReader(self._response.new_parser(self._pieces, untyped=True))
        return self._untyped.arguments(self._pieces, error, ended=self._finished, truncated=self._truncated)

    def _hand_over(self, parts: list[Part], *, late: bool = False) -> None:
        self._response.late += late
        self._response.called += not late
        if errors := "".join(text for text, is_error in self._preamble if is_error):
            parts.append(self._response.text(errors))
        self._preamble = []
        self._blank, self._speaks, self._after_call = [], False, True

    def _id(self, id: str) -> str:
        return self._prefix + id.removeprefix("call_")

    def _source_of(self, start: int, end: int) -> str:
        """The source between two offsets. Only the last pieces are joined: a call has just ended."""
        at, pieces = self._length, []
        for piece in reversed(self._pieces):
            at -= len(piece)
            pieces.append(piece)
            if at <= start:
                break
        return "".join(reversed(pieces))[start - at : end - at]

    # The record.

    def _record_text(self, text: str) -> None:
        if self._recorder is not None and text:
            if self._at + len(text) != self._length:
                # Markers and whitespace before it are in no event.
                self._at += max(0, self._source_of(self._at, self._length).find(text))
            self._recorder.add_text(self._number, self._at, text)
        self._at += len(text)

    def _record(
        self, kind: EventKind, event: core.CallEnd | core.CallError, content: str, **more: Any
    ) -> None:
        if self._recorder is not None:
            where: Any = {"text": self._number, "start": event.start, "end": event.end}
            problems = {
                "problems": tuple(problem.kind for problem in event.problems),
                "fields": tuple(self._response.declared_field(event, problem) for problem in event.problems),
            }
            self._recorder.add_event(kind, event.name, content, **where, **problems, **more)


def _may_be_raw(error: core.CallError) -> bool:
    """Whether a bad call may be handed over as it was written."""
    if error.kind == "incomplete_call":
        return error.name is not None
    # Forged results and forbidden calls are never handed over.
    return error.kind not in ("forged_result", "not_allowed")


def random_id() -> str:
    """24 random letters and digits."""
    # Loads OpenSSL, which is rarely needed.
    import secrets

    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(24))
