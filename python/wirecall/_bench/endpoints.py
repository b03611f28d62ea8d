"""One model at one endpoint, asked natively or through `wirecall.wrap`, by the real SDK of its API.

`Endpoint(…).ask(messages, tools)` gives an `Answer`, also where there was none: what failed is counted, not
raised. Messages are those of chat completions for both APIs, so a loop appends `answer.message()` and results
`{"role": "tool", "tool_call_id": …, "content": …}` and asks again.
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
from wirecall._bench.answers import Answer, Status, arguments_of, without_secret
from wirecall._bench.artifact import BenchError
from wirecall._bench.budget import REACHED, Budget, BudgetReachedError
from wirecall._bench.recording import Api, HttpExchange, HttpRecorder, NotSentError, ReceivedCall, reader
from wirecall._bench.variants import NATIVE
from wirecall._console import with_cause
from wirecall._rewriting.options import Notice
from wirecall._tools.definitions import Definition, definitions
from wirecall.tokens import native_definition

Messages = Sequence[Mapping[str, Any]]

# What can be better in a while; 529 is Anthropic's "overloaded".
_TRANSIENT = frozenset({408, 409, 425, 429})
# No request after one of these can do better.
_KEY_REFUSED = frozenset({401, 403})
_SHOWN_OF_AN_ERROR = 500


@dataclass(frozen=True)
class Tries:
    """How often a request is sent, and how long it waits in between.

    Attributes:
        attempts: At most, the first included.
        first: About how many seconds before the second; then twice as many, and so on, with jitter.
        longest: A server that asks for a longer pause is not waited for.
    """

    attempts: int = 6
    first: float = 1.0
    longest: float = 120.0


def _check_base_url(base_url: str) -> None:
    """Its text is never in the message: whatever is wrong with it, it may hold a key.

    Raises:
        BenchError: It cannot be one.
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
    """A model, and how it is asked. Threads may ask at once.

    Args:
        api: Of the endpoint.
        base_url: As the SDK wants it: with `/v1` for OpenAI's.
        model: Its name there.
        mode: "native", or the protocol that `wirecall.wrap` uses.
        key: Sent to the endpoint, and nowhere kept.
        options: Further options of `wirecall.wrap`.
        output: The tokens that an answer can have, as `output_parameter` of the request.
        output_parameter: What OpenAI's own models call it; many servers know "max_tokens" only.
        parameters: Further fields of the request, such as a temperature.
        tries: How often it is asked.
        timeout: Seconds without a byte of the answer.
        budget: Shared by all endpoints of a run.
        stop: Ends pauses; then nothing is sent any more.
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
        # What the SDK does not know, it sends too.
        self._more = dict(parameters or {})
        # Bytes come as they are sent, so that it is known when each came.
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
        if mode != NATIVE:
            client = wrap(client, **{"protocol": mode, **(options or {})}, on_event=self._notice)
        elif options:
            raise BenchError(f"{', '.join(options)}: the mode native has no such option")
        self._client = client
        # The SDKs load these when they are first asked for.
        self._create: Callable[..., Any] = (
            client.chat.completions.create if isinstance(client, openai.OpenAI) else client.messages.create
        )

    def ask(self, messages: Messages, tools: Iterable[object] = ()) -> Answer:
        """Send it, as often as it needs, and read the answer to its end.

        Args:
            messages: Of chat completions; a system text is the first of them.
            tools: What `definitions` takes.

        Raises:
            BenchError: The endpoint does not take the key, or nothing is paid for: no other request would do
                better.
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
            BenchError: There is none: the tools cannot be used.
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
        # Without a status: no connection, or an error that came in the stream, as does one with status 200.
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
    """The run is to end."""


class _Attempt:
    """One time that the request is sent, and what comes of it."""

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
    """What has come of it where nothing was asked."""
    attempt = _Attempt(api)
    return Answer("skipped", reason, attempt.said, attempt.times([]), [], [], [], api, "")


def _is_from(error: BaseException | None, kind: type[Exception]) -> bool:
    """Whether it is one, or an exception that an SDK put around one."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__
    return error is not None


def retry_after(error: BaseException | None) -> float | None:
    """The seconds that the server asks to wait."""
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
    """What the server says, without the wrapping of the SDK; where none answered, why."""
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
    """The system text, and the other messages of chat completions as turns of Messages."""
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
            # Only objects are allowed here, so what is none is shown in one.
            shown = given if isinstance(given, dict) else {"unreadable": given}
            blocks.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": shown})
        role = "user" if role == "tool" else role
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    return system, turns
