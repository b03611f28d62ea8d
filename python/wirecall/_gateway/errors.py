"""What goes wrong: the configuration, requests that are refused, upstreams; and how clients are told."""

from collections.abc import Mapping
from typing import Any

from wirecall._apis.base import Api, openai_refusal

# The types of errors that clients of the APIs know, by the status; 4xx and 5xx have one for the others.
_OPENAI = {401: "authentication_error", 403: "permission_error", 404: "not_found_error"}
_ANTHROPIC = {**_OPENAI, 413: "request_too_large", 503: "overloaded_error", 504: "timeout_error"}


class ConfigError(ValueError):
    """The configuration cannot be used. The message says where it is wrong."""


class Refused(Exception):  # noqa: N818  (it is an answer, not a fault)
    """An answer of the gateway instead of the upstream's.

    Attributes:
        status: The HTTP status.
        reason: What it is counted as in `wirecall_refused_total`.
        headers: More headers of the answer.
    """

    def __init__(
        self, status: int, reason: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.headers = headers or {}


class UpstreamError(Exception):
    """The upstream answered with something that is not passed on."""


def error_body(api: Api | None, status: int, message: str, code: str) -> dict[str, Any]:
    """The body of an error, in the form of the API."""
    failure: Exception = ValueError(message) if status < 500 else Exception(message)
    body: dict[str, Any] = (openai_refusal if api is None else api.refusal)(failure)
    said: dict[str, Any] = body["error"]
    known = _ANTHROPIC if "code" not in said else _OPENAI
    said["type"] = known.get(status, said["type"])
    if "code" in said:
        said["code"] = code
    return body
