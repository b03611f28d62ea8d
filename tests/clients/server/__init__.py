"""A local server that speaks OpenAI chat completions, OpenAI Responses and Anthropic messages, for tests.

It plays scripts or asks a model, records requests, checks them as a strict provider does, and fails on
demand.
"""

from .answers import (
    Answer,
    Call,
    Delivery,
    Ending,
    EventFormat,
    Failure,
    Raw,
    Refusal,
    RefusedError,
    Reply,
    Thinking,
    Usage,
)
from .app import Request, Script, Server, in_thread, iter_pieces, serve
from .erring import Asked, ErringModel, Slip
from .model import LostError, NativeModel, Seen, Step, TextModel

__all__ = [
    "Answer",
    "Asked",
    "Call",
    "Delivery",
    "Ending",
    "ErringModel",
    "EventFormat",
    "Failure",
    "LostError",
    "NativeModel",
    "Raw",
    "Refusal",
    "RefusedError",
    "Reply",
    "Request",
    "Script",
    "Seen",
    "Server",
    "Slip",
    "Step",
    "TextModel",
    "Thinking",
    "Usage",
    "in_thread",
    "iter_pieces",
    "serve",
]
