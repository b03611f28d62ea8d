"""The result of asking a model once, and the part of it that a cell keeps."""

import json
import math
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from wirecall._text.notices import Notice
from wirecall_bench.budget import Usage
from wirecall_bench.recording import Api, HttpExchange, ReceivedAnswer, ReceivedCall

T = TypeVar("T")
Status = Literal["ok", "failed", "skipped"]

# The nesting limit of the protocols in this package.
_DEEPEST = 128
# A shorter key is a placeholder for servers that need none; it is not removed from texts.
_SHORTEST_SECRET = 8


@dataclass(frozen=True)
class Answer:
    """The result of asking once.

    Attributes:
        status: "skipped" if the answer was not completed because the budget was reached or the run was
            stopped.
        reason: Why the status is not "ok".
        said: What the application received.
        times: Seconds of the last attempt, without pauses, until the "first_token", until the arguments of
            the "first_call" were complete, and in "total". None for what did not happen.
        exchanges: Every HTTP request of all attempts.
        notices: The notices of `wirecall`.
        retries: What was retried, and why: kind "http" with the seconds "waited", or kind "model" for retries
            by `wirecall`.
        api: The API of the exchanges.
    """

    status: Status
    reason: str | None
    said: ReceivedAnswer
    times: dict[str, float | None]
    exchanges: list[HttpExchange]
    notices: list[Notice]
    retries: list[dict[str, Any]]
    api: Api
    _secret: str = field(repr=False)

    @property
    def calls(self) -> list[ReceivedCall]:
        return self.said.calls

    @property
    def usage(self) -> Usage:
        """The sum over all requests, as reported by the server."""
        return sum((exchange.usage(self.api) for exchange in self.exchanges), Usage())

    @property
    def raw(self) -> str:
        """The model's last answer, as the model wrote it."""
        return self.exchanges[-1].said(self.api).text if self.exchanges else ""

    def message(self) -> dict[str, Any]:
        """The answer as a message for the history."""
        message: dict[str, Any] = {"role": "assistant", "content": self.said.text or None}
        if self.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.calls
            ]
        return message

    def fields(self) -> dict[str, Any]:
        """The members of a cell. If the API key occurs in them, it is removed."""
        by_kind = {
            name: [{"tool": one.tool, "detail": one.detail} for one in self.notices if one.kind == kind]
            for name, kind in (("repairs", "repair"), ("problems", "problem"), ("errors", "error"))
        }
        by_kind["errors"] += [
            {"tool": call.name, "detail": f"not_json: {call.arguments}"}
            for call in self.calls
            if isinstance(arguments_of(call), str)
        ]
        fields: dict[str, Any] = {
            "status": self.status,
            "reason": self.reason,
            "usage": self.usage.as_dict(),
            "times": self.times,
            "calls": [{"name": call.name, "arguments": arguments_of(call)} for call in self.calls],
            "text": self.raw,
            "reasoning": self.said.reasoning,
            "finish": self.said.finish,
            **by_kind,
            "retries": self.retries,
            "requests": [self._request(exchange) for exchange in self.exchanges],
        }
        return self.without_key(fields)

    @property
    def text(self) -> str:
        """The text that the application received, without calls and without the API key."""
        return self.without_key(self.said.text)

    def without_key(self, value: T) -> T:
        """A value with the API key removed, in case the model repeated it."""
        struck: T = without_secret(value, self._secret)
        return struck

    def _request(self, exchange: HttpExchange) -> dict[str, Any]:
        said = exchange.said(self.api)
        return {
            "path": exchange.path,
            "sha256": exchange.sha256,
            "body": exchange.body,
            "status": exchange.status,
            "text": said.text,
            "finish": said.finish,
            "usage": exchange.usage(self.api).as_dict(),
        }


def arguments_of(call: ReceivedCall) -> Any:
    """The arguments as an object. Their text, if they are not an object or are nested too deeply."""
    try:
        value = json.loads(call.arguments or "{}", parse_constant=_no_json, parse_float=_finite)
    except (ValueError, RecursionError):
        return call.arguments
    return value if isinstance(value, dict) and _is_shallow(value) else call.arguments


def _is_shallow(value: Any, levels: int = _DEEPEST) -> bool:
    if not isinstance(value, dict | list):
        return True
    members = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(member, levels - 1) for member in members)


def _no_json(constant: str) -> float:
    raise ValueError(f"{constant} is not valid JSON")


def _finite(text: str) -> float:
    return number if math.isfinite(number := float(text)) else _no_json(text)


def without_secret(value: Any, secret: str) -> Any:
    if len(secret) < _SHORTEST_SECRET:
        return value
    if isinstance(value, str):
        return value.replace(secret, "[key]")
    if isinstance(value, list):
        return [without_secret(item, secret) for item in value]
    if isinstance(value, dict):
        return {without_secret(name, secret): without_secret(item, secret) for name, item in value.items()}
    return value
