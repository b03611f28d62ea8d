"""A local server that speaks OpenAI chat completions, OpenAI Responses and Anthropic messages, for tests.

It plays scripts or asks a model, records requests, checks them as a strict provider does, and fails on
demand.
"""

from .answers import (
    Answer,
    Call,
    Delivery,
    EventFormat,
    Failure,
    Raw,
    Refusal,
    RefusedError,
    Reply,
    Thinking,
    Usage,
)
from .app import Api, Request, Script, Server, iter_pieces, serve
from .erring import Asked, ErringModel, Slip
from .model import LostError, NativeModel, Seen, Step, TextModel

__all__ = [
    "Answer",
    "Api",
    "Asked",
    "Call",
    "Delivery",
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
    "iter_pieces",
    "serve",
]
