"""Parts of a response: what each API's answers and streams are written from, whole or streamed."""

from dataclasses import dataclass

import wirecall._core as core


class ToolCallError(Exception):
    """A call failed or is missing, and `on_error` or `on_missing_call` is "raise".

    `str()` is a sentence for the developer, which contains nothing that the model wrote.

    Attributes:
        error: The `CallError`; None where the call that `tool_choice` requires is missing.
        for_model: The text for the model, so that it corrects the call: for a `CallError`, its message.
    """

    def __init__(
        self, message: str, error: "core.CallError | None" = None, *, for_model: str | None = None
    ) -> None:
        super().__init__(message)
        self.error = error
        self.for_model: str | None = for_model if error is None else error.message


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text to be shown; not empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """Reasoning that is separate from the text; not empty."""

    text: str


@dataclass(frozen=True, slots=True)
class CallPart:
    """A complete call. `arguments` is compact JSON text, or with `on_error="native"` possibly what the
    model wrote instead.

    Attributes:
        late: Its arguments violate the schema, so the request may be retried instead. It is held like
            everything after `Hold`, and does not release it.
    """

    id: str
    name: str
    arguments: str
    late: bool = False


@dataclass(frozen=True, slots=True)
class CallOpened:
    """With `stream_arguments`: a call whose fragments follow, then `CallFinished` or `CallAborted`."""

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
    """A call failed after its first fragment was sent: the stream must end with the API's error."""

    error: core.CallError


@dataclass(frozen=True, slots=True)
class Raised:
    """With `on_error="raise"`, in streams: the application gets the parts before it, then the exception."""

    error: ToolCallError


@dataclass(frozen=True, slots=True)
class Hold:
    """Nothing that follows is sent until a call is handed over or the response has ended, because the
    request may be retried."""


Part = (
    TextPart
    | ReasoningPart
    | CallPart
    | CallOpened
    | CallFragment
    | CallFinished
    | CallAborted
    | Raised
    | Hold
)
