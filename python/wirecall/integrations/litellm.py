"""A litellm provider that wraps litellm's other providers.

After `register()`, the model `wirecall/<inner model>` has tools over text: the provider rewrites the request,
lets litellm call the inner model, and reads the answer. litellm speaks chat completions with all models.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from wirecall._apis.base import UnsupportedRequestError
from wirecall._apis.chat.api import api as chat
from wirecall._apis.exchange import Exchange
from wirecall._clients.codec import OVERRIDES
from wirecall._clients.driver import Driver
from wirecall._clients.hooks import DictExchange, FunctionSource
from wirecall._clients.versions import require
from wirecall._sync import run
from wirecall._text.options import Options, WrapOptions
from wirecall._text.parts import ToolCallError
from wirecall.errors import ToolError, combined

if TYPE_CHECKING:
    from typing import Unpack

OLDEST = "1.100"
require("litellm", OLDEST)

import litellm  # noqa: E402
from litellm import ModelResponse, ModelResponseStream  # noqa: E402
from litellm.types.utils import all_litellm_params  # noqa: E402

__all__ = ["register"]

Json = dict[str, Any]

# What litellm itself sets for its providers, or what the inner call gets under another name.
_ITS_OWN = frozenset(
    {
        *("acompletion", "api_base", "api_key", "async_call", "completion_call_id", "custom_llm_provider"),
        *("custom_prompt_dict", "fallbacks", "force_timeout", "litellm_call_id", "logger_fn", "max_retries"),
        *("model_alias_map", "no-log", "preset_cache_key", "proxy_server_request", "stream_response"),
        *("text_completion", "timeout", "use_litellm_proxy", "verbose"),
    }
)


def register(name: str = "wirecall", **options: "Unpack[WrapOptions]") -> litellm.CustomLLM:
    """Makes `name/<inner model>` a model of litellm; a provider of that name is replaced.

    Args:
        name: The prefix of the models.
        **options: Those of `wirecall.WrapOptions`. For one request: its parameter `wirecall`, a dict.

    Raises:
        TypeError, ValueError: An option does not exist, or does not allow the value.
    """
    provider = _Provider(name, Options().with_overrides(options))
    others = [item for item in litellm.custom_provider_map if item["provider"] != name]
    litellm.custom_provider_map = [*others, {"provider": name, "custom_handler": provider}]
    # litellm does this at each call, but not before it counts tokens or looks up capabilities.
    litellm.utils.custom_llm_setup()
    return provider


class _Provider(litellm.CustomLLM):  # type: ignore[misc, unused-ignore]
    """Serves any number of requests at once: what changes is in the request's `_ModelExchange`."""

    def __init__(self, name: str, options: Options) -> None:
        super().__init__()
        self._name = name
        self._options = options

    def completion(self, *_: Any, **given: Any) -> ModelResponse:
        found: ModelResponse = run(self._driver(given, is_async=False).first())
        return found

    async def acompletion(self, *_: Any, **given: Any) -> ModelResponse:
        found: ModelResponse = await self._driver(given, is_async=True).first()
        return found

    def streaming(self, *_: Any, **given: Any) -> Iterator[ModelResponseStream]:
        driver = self._driver(given, is_async=False, stream=True)
        # Here and not in the generator: what fails before the first chunk fails in `litellm.completion`, as
        # without us, where it is retried and falls back.
        run(driver.first())
        return driver.rest()

    async def astreaming(self, *_: Any, **given: Any) -> AsyncIterator[ModelResponseStream]:
        # litellm wants an iterator at once, so the first request is sent with the first `anext`, and its
        # retries must happen in there.
        async with aclosing(self._driver(given, is_async=True, stream=True).arest()) as chunks:
            async for chunk in chunks:
                yield chunk

    def _driver(self, given: Mapping[str, Any], *, is_async: bool, stream: bool = False) -> Driver:
        exchange = _ModelExchange(self._name, self._options, given)
        more = {**(exchange.retries if is_async else {}), "stream": True} if stream else {}
        call = litellm.acompletion if is_async else litellm.completion

        def send(request: Json) -> Any:
            return call(**{**exchange.settings, **request, **more})

        return Driver(exchange, _Source(send, exchange, streams=stream, is_async=is_async))


class _Source(FunctionSource):
    def __init__(
        self, call: Callable[[Any], Any], exchange: "_ModelExchange", *, streams: bool, is_async: bool
    ) -> None:
        super().__init__(call, streams=streams, is_async=is_async)
        self._exchange = exchange

    async def send(self, request: Any, attempt: int) -> Any:
        try:
            return await super().send(request, attempt)
        except litellm.BadRequestError as error:
            if not self._exchange.drops_stop(error):
                raise
        return await self.send(self._exchange.request, attempt)

    def fail(self, error: Exception) -> Any:
        if isinstance(error, ToolCallError):
            raise self._exchange.raised(error) from error
        raise error

    async def close(self, answer: Any) -> None:
        if self.is_async:
            await super().close(answer)
        else:
            close_stream(answer)


def close_stream(inner: Any) -> None:
    """Closes a sync stream, which litellm leaves to the garbage collector.

    That may run while httpx holds the lock of its connections, which closing one needs as well: a deadlock.
    So an open stream is never dropped.
    """
    for attribute in ("", "completion_stream", "streaming_response"):
        inner = getattr(inner, attribute, None) if attribute else inner
        close = getattr(inner, "close", None)
        if callable(close):
            close()
            return


class _ModelExchange(DictExchange):
    """One request to us, and the requests to the inner model that it needs."""

    def __init__(self, name: str, options: Options, given: Mapping[str, Any]) -> None:
        self._name = name
        self._model = str(given["model"])
        if self._model.startswith(f"{name}/"):
            twice = UnsupportedRequestError(f"{name}/{self._model}: the prefix {name}/ is given twice")
            raise self.raised(twice)
        params = {key: value for key, value in given["optional_params"].items() if value is not None}
        overrides = params.pop(OVERRIDES, {})
        params.pop("stream", None)
        self.retries = {"num_retries": params["max_retries"]} if params.get("max_retries") else {}
        self.settings = _settings(given)
        if allowed := self._allowed(params):
            self.settings["allowed_openai_params"] = allowed
        messages = [_plain(message) for message in given["messages"]]
        request = {"model": self._model, "messages": messages, **params}
        try:
            exchange = Exchange(
                chat,
                request,
                options.with_overrides(overrides),
                served=(str(self.settings.get("api_base")), self._model),
                # Our stop sequence only saves tokens: models without stop sequences do without it.
                takes_stop=self._supports("stop"),
            )
        except (UnsupportedRequestError, ToolError, TypeError, ValueError) as error:
            raise self.raised(error) from error
        super().__init__(exchange)
        run(exchange.tell_saved(is_async=False))
        self._last: list[ModelResponseStream] = []
        # Of several choices litellm streams one finish reason, at any place: what follows it is read, too.
        self._several = (params.get("n") or 1) > 1
        self._finish: list[Json] = []

    def drops_stop(self, error: Exception) -> bool:
        """Whether the error refuses our stop sequence. Then `request` is the same without it."""
        return self._exchange.drops_stop(400, str(error).encode())

    @property
    def _unread(self) -> bool:
        return self._exchange.untouched and self._exchange.recorder is None

    def whole(self, body: ModelResponse) -> ModelResponse | None:
        if self._unread:
            return body
        read = super().whole(body.model_dump())
        if read is None or self._exchange.untouched:
            return body if self._exchange.untouched else None
        rewritten = ModelResponse(**read)
        # Costs, headers and the like, which are not part of the body.
        rewritten._hidden_params = body._hidden_params
        if getattr(body, "_response_headers", None) is not None:
            rewritten._response_headers = body._response_headers
        return rewritten

    def chunk(self, chunk: ModelResponseStream) -> list[ModelResponseStream]:
        if self._unread:
            return self._in_order([chunk])
        event = chunk.model_dump()
        if self._several and self._reader is not None and _finishes(chunk):
            self._record_received(event)
            self._note_usage(event)
            self._finish.append(event)
            return []
        chunks = super().chunk(event)
        return self._in_order([chunk] if self._reader is None else chunks)

    def end(self, *, dropped: bool = False) -> list[ModelResponseStream]:
        if dropped:
            return []
        chunks: list[ModelResponseStream] = []
        for event in self._finish:
            if not self.ended:
                chunks += self._call_reader(self._read, self._reader, event)
        chunks = self._in_order([*chunks, *super().end()])
        return chunks if self.should_retry or self.failure is not None else chunks + self._last

    def _given(self, out: Iterable[Any]) -> list[ModelResponseStream]:
        for event in out:
            if "choices" not in event:
                # A call that failed after its first fragment: the stream ends so.
                raise ToolCallError(event["error"]["message"])
        return [ModelResponseStream(**event) for event in super()._given(out)]

    def _in_order(self, chunks: Iterable[ModelResponseStream]) -> list[ModelResponseStream]:
        """Without those that finish: they come last, since litellm reads nothing after them."""
        now: list[ModelResponseStream] = []
        for chunk in chunks:
            (self._last if _finishes(chunk) else now).append(chunk)
        return now

    def _supports(self, parameter: str) -> bool:
        try:
            known = litellm.get_supported_openai_params(model=self._model)
        except Exception:  # litellm's own, for models that it does not know
            return True
        return known is None or parameter in known

    def _allowed(self, params: Json) -> list[str]:
        """The host's `allowed_openai_params`, which litellm keeps: others would not have come here."""
        known = litellm.get_supported_openai_params(model=self._model, custom_llm_provider=self._name) or ()
        return [key for key in params if key in litellm.OPENAI_CHAT_COMPLETION_PARAMS and key not in known]

    def raised(self, error: Exception) -> Exception:
        """The error, with its own type and one that litellm passes on without retrying."""
        kind: Any = type(error)
        joined = combined(kind, litellm.BadRequestError)
        raised: Exception = joined.__new__(joined)
        litellm.BadRequestError.__init__(raised, str(error), self._model, self._name)
        vars(raised).update(vars(error))
        return raised


def _settings(given: Mapping[str, Any]) -> Json:
    """What the inner call takes from the outer one besides the request: key, address, region.

    litellm fills its own in with None or false; a false one counts where litellm knows that a host sets it.
    """
    settings: Json = {
        key: value
        for key, value in (given.get("litellm_params") or {}).items()
        if key not in _ITS_OWN and (value or (value is not None and key in all_litellm_params))
    }
    named = ("api_key", "api_base", "timeout", "client")
    settings.update({key: given[key] for key in named if given.get(key) is not None})
    if given.get("headers"):
        settings["extra_headers"] = dict(given["headers"])
    # The host's callbacks are called for the outer call only.
    settings["no-log"] = True
    return settings


def _plain(message: Any) -> Any:
    """Messages of earlier answers may be litellm's own objects."""
    return message.model_dump(exclude_none=True) if hasattr(message, "model_dump") else message


def _finishes(chunk: ModelResponseStream) -> bool:
    return any(choice.finish_reason for choice in chunk.choices)
