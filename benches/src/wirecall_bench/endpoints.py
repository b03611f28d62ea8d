"""One model at one endpoint, used natively or through `wirecall.wrap`, with the real SDK of its API.

`Endpoint(…).ask(messages, tools)` returns an `Answer` even after a failure: failures are counted, not raised.
Messages are those of chat completions for both APIs, so a loop appends `answer.message()` and results
`{"role": "tool", "tool_call_id": …, "content": …}`, and asks again.
"""

import email.utils
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anthropic
import httpx2
import openai
import tenacity

from wirecall import wrap
from wirecall._cli.console import with_cause
from wirecall._text.notices import Notice
from wirecall._tools.definitions import Definition, definitions
from wirecall.tokens import native_definition
from wirecall_bench.answers import Answer, Status, arguments_of, without_secret
from wirecall_bench.artifact import BenchError
from wirecall_bench.budget import REACHED, Budget, BudgetReachedError
from wirecall_bench.modes import NATIVE, mode_of
from wirecall_bench.recording import Api, HttpExchange, HttpRecorder, NotSentError, ReceivedCall, reader

Messages = Sequence[Mapping[str, Any]]

# Temporary failures; 529 is Anthropic's "overloaded".
_TRANSIENT = frozenset({408, 409, 425, 429})
# No later request can succeed after one of these.
_KEY_REFUSED = frozenset({401, 403})
_SHOWN_OF_AN_ERROR = 500


@dataclass(frozen=True)
class Tries:
    """How often a request is sent, and the pauses in between.

    Attributes:
        attempts: Maximum number of attempts, including the first.
        first: Approximate seconds before the second attempt; doubled each time, with jitter.
        longest: If a server asks for a longer pause, the request fails.
    """

    attempts: int = 6
    first: float = 1.0
    longest: float = 120.0


def _check_base_url(base_url: str) -> None:
    """Check the URL. Error messages never contain it, because it may contain a key.

    Raises:
        BenchError: It is not a valid base URL.
    """
    try:
        parts = urlsplit(base_url)
    except ValueError as error:
        raise BenchError("The base URL is not a valid URL.") from error
    if "@" in base_url or parts.query or parts.fragment:
        raise BenchError("A base URL has no user name, password or query: keys come from the environment.")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BenchError("A base URL begins with http:// or https://, followed by a host.")


class Endpoint:
    """A model, and how it is used. Threads may ask concurrently.

    Args:
        api: The API of the endpoint.
        base_url: As the SDK expects it: with `/v1` for OpenAI.
        model: The model's name at the endpoint.
        mode: The name of a mode: "native", the protocol for `wirecall.wrap`, or one of `MODES`.
        key: Sent to the endpoint, and never stored.
        options: Further options of `wirecall.wrap`.
        output: Maximum tokens of an answer, sent as `output_parameter`.
        output_parameter: The field's name for OpenAI's own models; many servers know only "max_tokens".
        parameters: Further fields of the request, such as a temperature.
        tries: How often a request is attempted.
        timeout: Maximum seconds between two bytes of an answer.
        budget: Shared by all endpoints of a run.
        stop: Ends pauses; nothing is sent after it is set.
    """

    def __init__(
        self,
        api: Api,
        base_url: str,
        model: str,
        mode: str = NATIVE,
        *,
        key: str,
        options: Mapping[str, Any] | None = None,
        output: int = 2048,
        output_parameter: str = "max_completion_tokens",
        parameters: Mapping[str, Any] | None = None,
        tries: Tries | None = None,
        timeout: float = 120.0,
        budget: Budget | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        _check_base_url(base_url)
        self.api: Api = api
        self.model = model
        self.mode = mode
        self._key = key
        self._stop = stop or threading.Event()
        self._tries = tries or Tries()
        self._recorder = HttpRecorder(api, model, output, budget or Budget())
        self._noticed = threading.local()
        limit = {"max_tokens" if api == "anthropic" else output_parameter: output}
        self._fields = {"model": model, "stream": True, **limit}
        # The SDK also sends fields that it does not know.
        self._more = dict(parameters or {})
        # Uncompressed, so that the arrival of each byte is known.
        http: dict[str, Any] = {
            "headers": {"accept-encoding": "identity"},
            "event_hooks": self._recorder.hooks,
        }
        given: dict[str, Any] = {"api_key": key, "base_url": base_url, "max_retries": 0, "timeout": timeout}
        client: openai.OpenAI | anthropic.Anthropic
        if api == "openai":
            client = openai.OpenAI(http_client=openai.DefaultHttpxClient(**http), **given)
        else:
            client = anthropic.Anthropic(http_client=anthropic.DefaultHttpxClient(**http), **given)
        how = mode_of(mode)
        self._tool_fields = how.fields(api)
        if how.options is not None:
            client = wrap(client, **{**how.options, **(options or {})}, on_event=self._notice)
        elif options:
            raise BenchError(f"{', '.join(options)}: the mode {mode} has no such option")
        self._client = client
        # The SDKs load these on first access.
        self._create: Callable[..., Any] = (
            client.chat.completions.create if isinstance(client, openai.OpenAI) else client.messages.create
        )

    def ask(self, messages: Messages, tools: Iterable[object] = ()) -> Answer:
        """Send the request, with retries, and read the answer to its end.

        Args:
            messages: Messages of chat completions; a system message comes first.
            tools: Tools in any form that `definitions` accepts.

        Raises:
            BenchError: The endpoint rejects the key, or the account has no credit: no other request could
                succeed.
        """
        request = self._request(messages, tools)
        retries: list[dict[str, Any]] = []
        self._noticed.notices = []
        with self._recorder.recording() as exchanges:
            attempt = _Attempt(self.api)
            outcome: tuple[Status, str | None] = ("ok", None)
            try:
                for again in self._retrying(retries):
                    with again:
                        attempt = self._attempt(request, len(exchanges))
                        attempt.run(self._create)
            except Exception as error:
                outcome = self._outcome(error)
        notices: list[Notice] = self._noticed.notices
        retries += [{"kind": "model", "reason": one.detail} for one in notices if one.kind == "retry"]
        times = attempt.times(exchanges)
        return Answer(*outcome, attempt.said, times, exchanges, notices, retries, self.api, self._key)

    def prepare(self, messages: Messages, tools: Iterable[object] = ()) -> HttpExchange:
        """The first request that `ask` would send. Nothing is sent.

        Raises:
            BenchError: The tools cannot be used.
        """
        request = self._request(messages, tools)
        with self._recorder.recording(only_prepare=True) as exchanges:
            self._noticed.notices = []
            try:
                self._create(**request)
            except Exception as error:
                if not _is_from(error, NotSentError):
                    raise BenchError(f"{self.model}, {self.mode}: {_message(error)}") from error
        return exchanges[0]

    def close(self) -> None:
        self._client.close()

    # One attempt --------------------------------------------------------------------------------------------

    def _request(self, messages: Messages, tools: Iterable[object]) -> dict[str, Any]:
        read = definitions(tools)
        request = dict(self._fields)
        if self.api == "openai":
            request |= {"messages": list(messages), "stream_options": {"include_usage": True}}
            if read:
                request["tools"] = [native_definition(tool) for tool in read]
        else:
            system, turns = _turns(messages)
            request["messages"] = turns
            if system:
                request["system"] = system
            if read:
                request["tools"] = [_anthropic_definition(tool) for tool in read]
        if read:
            request |= self._tool_fields
        return {**request, "extra_body": self._more} if self._more else request

    def _attempt(self, request: dict[str, Any], exchanges: int) -> "_Attempt":
        if self._stop.is_set():
            raise _StoppedError
        self._noticed.notices = []
        return _Attempt(self.api, request, exchanges)

    def _notice(self, notice: Notice) -> None:
        self._noticed.notices.append(notice)

    # Failures -----------------------------------------------------------------------------------------------

    def _retrying(self, retries: list[dict[str, Any]]) -> tenacity.Retrying:
        backoff = tenacity.wait_random_exponential(multiplier=self._tries.first, max=self._tries.longest)

        def wait(state: tenacity.RetryCallState) -> float:
            assert state.outcome is not None
            asked = retry_after(state.outcome.exception())
            return float(backoff(state)) if asked is None else asked + random.uniform(0, 0.1 + asked / 10)

        def note(state: tenacity.RetryCallState) -> None:
            assert state.outcome is not None
            reason = self._outcome(state.outcome.exception())[1]
            retries.append({"kind": "http", "reason": reason, "waited": state.upcoming_sleep})

        return tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._tries.attempts),
            retry=tenacity.retry_if_exception(self._is_transient),
            wait=wait,
            sleep=tenacity.sleep_using_event(self._stop),
            before_sleep=note,
            reraise=True,
        )

    def _is_transient(self, error: BaseException) -> bool:
        if isinstance(error, httpx2.TransportError | _IncompleteAnswerError):
            return True
        if not isinstance(error, openai.APIError | anthropic.APIError) or _is_from(error, BudgetReachedError):
            return False
        headers = _headers(error)
        asked = retry_after(error)
        if asked is not None and asked > self._tries.longest:
            return False
        if (said := headers.get("x-should-retry")) in ("true", "false"):
            return said == "true"
        # Without a status: no connection, or an error in the stream, as with status 200.
        status = getattr(error, "status_code", 200)
        return (status in _TRANSIENT or status >= 500 or status == 200) and not _is_unpaid(error)

    def _outcome(self, error: BaseException | None) -> tuple[Status, str | None]:
        if _is_from(error, BudgetReachedError):
            return "skipped", REACHED
        if isinstance(error, _StoppedError):
            return "skipped", "interrupted"
        status = getattr(error, "status_code", None)
        if status in _KEY_REFUSED:
            raise BenchError(f"The endpoint rejected the key for {self.model} (HTTP {status}).") from None
        where = type(error).__name__ if status is None else f"HTTP {status}"
        reason = without_secret(f"{where}: {_message(error)}", self._key)[:_SHOWN_OF_AN_ERROR]
        if error is not None and _is_unpaid(error):
            raise BenchError(reason) from None
        return "failed", reason


class _IncompleteAnswerError(Exception):
    """The answer has no end."""


class _StoppedError(Exception):
    """The run is being stopped."""


class _Attempt:
    """One attempt at a request, and its result."""

    def __init__(self, api: Api, request: dict[str, Any] | None = None, exchanges: int = 0) -> None:
        self.said = reader(api)
        self._request = request or {}
        self._exchanges = exchanges
        self._start = time.perf_counter()
        self._end: float | None = None
        self._api = api

    def run(self, create: Callable[..., Any]) -> None:
        self._start = time.perf_counter()
        with create(**self._request) as events:
            for event in events:
                self.said.take(time.perf_counter(), event.to_dict(warnings=False))
        self._end = time.perf_counter()
        if not self.said.ended:
            raise _IncompleteAnswerError("the answer did not end")

    def times(self, exchanges: Sequence[HttpExchange]) -> dict[str, float | None]:
        first = exchanges[self._exchanges].said(self._api).first if len(exchanges) > self._exchanges else None
        moments = {"first_token": first, "first_call": self.said.first_call, "total": self._end}
        return {name: None if at is None else at - self._start for name, at in moments.items()}


def unasked(api: Api, reason: str) -> Answer:
    """The answer of a case that was not sent."""
    attempt = _Attempt(api)
    return Answer("skipped", reason, attempt.said, attempt.times([]), [], [], [], api, "")


def _is_from(error: BaseException | None, kind: type[Exception]) -> bool:
    """Whether the error is of this kind, or wraps one that is."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__
    return error is not None


def retry_after(error: BaseException | None) -> float | None:
    """The pause that the server asks for, in seconds."""
    headers = _headers(error)
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(0.0, float(milliseconds) / 1000)
        asked = headers.get("retry-after")
        if asked is None:
            return None
        try:
            return max(0.0, float(asked))
        except ValueError:
            return max(0.0, email.utils.parsedate_to_datetime(asked).timestamp() - time.time())
    except ValueError:
        return None


def _headers(error: BaseException | None) -> Mapping[str, str]:
    response = getattr(error, "response", None)
    return {} if response is None else response.headers


def _message(error: BaseException | None) -> str:
    """The server's message, without the SDK's prefix; without an answer, why there is none."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else None
    if isinstance(message, str):
        return message
    return "" if error is None else with_cause(error)


def _is_unpaid(error: BaseException) -> bool:
    return getattr(error, "code", None) == "insufficient_quota"


# Anthropic's form -------------------------------------------------------------------------------------------


def _anthropic_definition(tool: Definition) -> dict[str, Any]:
    described = {} if tool.description is None else {"description": tool.description}
    return {"name": tool.name, **described, "input_schema": tool.parameters}


def _turns(messages: Messages) -> tuple[str, list[dict[str, Any]]]:
    """The system text, and the other messages of chat completions in the form of Anthropic's Messages API."""
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = message["role"]
        if role == "system":
            continue
        blocks: list[dict[str, Any]] = []
        if role == "tool":
            blocks.append(
                {
                    "type": "tool_result",
                    "tool_use_id": message["tool_call_id"],
                    "content": message["content"],
                }
            )
        elif message.get("content"):
            blocks.append({"type": "text", "text": message["content"]})
        for call in message.get("tool_calls", ()):
            function = call["function"]
            given = arguments_of(ReceivedCall(call["id"], function["name"], function["arguments"]))
            # The API accepts only objects, so other values are wrapped in one.
            shown = given if isinstance(given, dict) else {"unreadable": given}
            blocks.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": shown})
        role = "user" if role == "tool" else role
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    return system, turns
