"""litellm: a provider in front of its other providers.

`register()` once, then the model `wirecall/<inner model>` has tools over text: the provider rewrites the
request, has litellm itself call the inner model, and reads the answer. Whatever inner model it is, litellm
speaks the chat dialect on both sides of it.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from wirecall._apis.base import UnsupportedRequestError
from wirecall._apis.chat.api import api as chat
from wirecall._apis.exchange import Exchange
from wirecall._clients.codec import OVERRIDES
from wirecall._clients.versions import require
from wirecall._rewriting.options import Options, WrapOptions
from wirecall._rewriting.parts import ToolCallError
from wirecall.errors import ToolError, both

if TYPE_CHECKING:
    from typing_extensions import Unpack

OLDEST = "1.100"
require("litellm", OLDEST, "litellm")

import litellm  # noqa: E402
from litellm import ModelResponse, ModelResponseStream  # noqa: E402
from litellm.types.utils import all_litellm_params  # noqa: E402

__all__ = ["register"]

Json = dict[str, Any]

# What litellm tells its providers and sets by itself, or what goes to the inner call by a name of its own.
_ITS_OWN = frozenset(
    {
        "acompletion",
        "api_base",
        "api_key",
        "async_call",
        "completion_call_id",
        "custom_llm_provider",
        "custom_prompt_dict",
        "fallbacks",
        "force_timeout",
        "litellm_call_id",
        "logger_fn",
        "max_retries",
        "model_alias_map",
        "no-log",
        "preset_cache_key",
        "proxy_server_request",
        "stream_response",
        "text_completion",
        "timeout",
        "use_litellm_proxy",
        "verbose",
    }
)


def register(name: str = "wirecall", **options: "Unpack[WrapOptions]") -> litellm.CustomLLM:
    """Makes `name/<inner model>` a model of litellm; a provider of that name is replaced.

    Args:
        name: What the models begin with.
        **options: Those of `wirecall.WrapOptions`. One request's own are its parameter `wirecall`, a dict.

    Raises:
        TypeError, ValueError: There is no such option, or no such choice.
    """
    provider = _Provider(name, Options().with_overrides(options))
    others = [item for item in litellm.custom_provider_map if item["provider"] != name]
    litellm.custom_provider_map = [*others, {"provider": name, "custom_handler": provider}]
    # litellm does the same at each call, but counts tokens and finds capabilities without it.
    litellm.utils.custom_llm_setup()
    return provider


class _Provider(litellm.CustomLLM):  # type: ignore[misc, unused-ignore]
    """Serves any number of requests at once: what changes lives in the request's `_Talk`."""

    def __init__(self, name: str, options: Options) -> None:
        super().__init__()
        self._name = name
        self._options = options

    def completion(self, *_: Any, **given: Any) -> ModelResponse:
        talk = _Talk(self._name, self._options, given)
        with talk.exchange.recording():
            while True:
                answer = talk.read(talk.complete())
                if answer is not None:
                    return answer

    async def acompletion(self, *_: Any, **given: Any) -> ModelResponse:
        talk = _Talk(self._name, self._options, given)
        with talk.exchange.recording():
            while True:
                answer = talk.read(await talk.acomplete())
                if answer is not None:
                    return answer

    def streaming(self, *_: Any, **given: Any) -> Iterator[ModelResponseStream]:
        talk = _Talk(self._name, self._options, given)
        # Here and not in the generator: what fails before the first chunk fails in `litellm.completion`, as
        # without us, where it is tried again and falls back.
        try:
            first = talk.complete(stream=True)
        except BaseException as error:
            talk.exchange.finish(error)
            raise
        return _streamed(talk, first)

    async def astreaming(self, *_: Any, **given: Any) -> AsyncIterator[ModelResponseStream]:
        # litellm wants an iterator at once, so that the first request goes out with the first `anext`; what
        # is to be tried again must be so in there.
        talk = _Talk(self._name, self._options, given)
        with talk.exchange.recording():
            while True:
                inner = await talk.acomplete(**talk.retries, stream=True)
                try:
                    async for chunk in inner:
                        for event in talk.feed(chunk):
                            yield event
                finally:
                    await inner.aclose()
                for event in talk.end():
                    yield event
                if talk.over:
                    return


def _streamed(talk: "_Talk", inner: Any) -> Iterator[ModelResponseStream]:
    with talk.exchange.recording():
        while True:
            try:
                for chunk in inner:
                    yield from talk.feed(chunk)
            finally:
                close_stream(inner)
            yield from talk.end()
            if talk.over:
                return
            inner = talk.complete(stream=True)


def close_stream(inner: Any) -> None:
    """Closes a synchronous stream of litellm's, which litellm leaves to the garbage collector.

    That may run while httpx holds the lock of its connections, which closing one needs, too: the thread would
    wait for itself, for ever. An open stream is therefore never dropped.
    """
    for attribute in ("", "completion_stream", "streaming_response"):
        inner = getattr(inner, attribute, None) if attribute else inner
        close = getattr(inner, "close", None)
        if callable(close):
            close()
            return


class _Talk:
    """One request to us, and the requests to the inner model that it needs."""

    def __init__(self, name: str, options: Options, given: Mapping[str, Any]) -> None:
        self._name = name
        self._model = str(given["model"])
        if self._model.startswith(f"{name}/"):
            raise self._raised(
                UnsupportedRequestError(f"{name}/{self._model}: the prefix {name}/ is given twice")
            )
        params = {key: value for key, value in given["optional_params"].items() if value is not None}
        overrides = params.pop(OVERRIDES, {})
        params.pop("stream", None)
        self.retries = {"num_retries": params["max_retries"]} if params.get("max_retries") else {}
        self._settings = _settings(given)
        if allowed := self._allowed(params):
            self._settings["allowed_openai_params"] = allowed
        request = {
            "model": self._model,
            "messages": [_plain(message) for message in given["messages"]],
            **params,
        }
        try:
            self.exchange = Exchange(
                chat,
                request,
                options.with_overrides(overrides),
                served=(str(self._settings.get("api_base")), self._model),
                # A stop sequence of ours is a favour, not worth an error of models that have none.
                takes_stop=self._supports("stop"),
            )
        except (UnsupportedRequestError, ToolError, TypeError, ValueError) as error:
            raise self._raised(error) from error
        self._stream = None if self.exchange.untouched else self.exchange.stream()
        self._last: list[ModelResponseStream] = []
        # Of several choices litellm streams one finish, and anywhere: what comes behind it is read, too.
        self._several = (params.get("n") or 1) > 1
        self._finish: list[Json] = []
        self.over = False

    def complete(self, **more: Any) -> Any:
        """The inner call."""
        while True:
            try:
                inner = litellm.completion(**self._arguments(more))
            except litellm.BadRequestError as error:
                if not self.exchange.drops_stop(400, str(error).encode()):
                    raise
            else:
                self.exchange.accepted()
                return inner

    async def acomplete(self, **more: Any) -> Any:
        """The same for async hosts."""
        while True:
            try:
                inner = await litellm.acompletion(**self._arguments(more))
            except litellm.BadRequestError as error:
                if not self.exchange.drops_stop(400, str(error).encode()):
                    raise
            else:
                self.exchange.accepted()
                return inner

    def _arguments(self, more: Json) -> Json:
        return {**self._settings, **self.exchange.request, **more}

    def read(self, answer: ModelResponse) -> ModelResponse | None:
        """None: `request` is the next one to send."""
        if self.exchange.untouched and self.exchange.recorder is None:
            return answer
        given = answer.model_dump()
        self.exchange.hears(given)
        if self.exchange.untouched:
            self.exchange.gives(given)
            return answer
        try:
            read = self.exchange.whole(given)
        except ToolCallError as error:
            raise self._raised(error) from error
        if read is None:
            return None
        self.exchange.gives(read)
        rewritten = ModelResponse(**read)
        # Costs, headers and the like, which are no part of the body.
        rewritten._hidden_params = answer._hidden_params
        if getattr(answer, "_response_headers", None) is not None:
            rewritten._response_headers = answer._response_headers
        return rewritten

    def feed(self, chunk: ModelResponseStream) -> list[ModelResponseStream]:
        """The chunks that are certain now."""
        if self._stream is None and self.exchange.recorder is None:
            return self._in_order([chunk])
        event = chunk.model_dump()
        self.exchange.hears(event)
        if self._stream is None:
            self.exchange.gives(event)
            return self._in_order([chunk])
        if self._several and _finishes(chunk):
            self._finish.append(event)
            return []
        return self._take(event)

    def _take(self, event: Json) -> list[ModelResponseStream]:
        assert self._stream is not None
        try:
            read = self._stream.feed(event)
        except ToolCallError as error:
            raise self._raised(error) from error
        return self._in_order(self._chunks([event] if read is None else read))

    def end(self) -> list[ModelResponseStream]:
        """One answer of the inner model is over; with it the stream, if `over`."""
        self.over = True
        if self._stream is not None:
            chunks = [chunk for event in self._finish for chunk in self._take(event)]
            try:
                events = self._stream.end()
            except ToolCallError as error:
                raise self._raised(error) from error
            chunks += self._in_order(self._chunks(events))
            if self._stream.should_retry:
                self.exchange.ask_again()
                self.over = False
                return chunks
            return chunks + self._last
        return self._last

    def _chunks(self, events: list[Json]) -> Iterator[ModelResponseStream]:
        for event in events:
            if "choices" not in event:
                # A call that failed behind its first fragment: the stream ends so.
                raise self._raised(ToolCallError(event["error"]["message"]))
            self.exchange.gives(event)
            yield ModelResponseStream(**event)

    def _in_order(self, chunks: Iterable[ModelResponseStream]) -> list[ModelResponseStream]:
        """Without those that finish: they come last, since litellm reads nothing behind them, no usage."""
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

    def _raised(self, error: Exception) -> Exception:
        """The error, of its own type and of one that litellm lets through and does not try again."""
        kind: Any = type(error)
        joined = both(kind, litellm.BadRequestError)
        raised: Exception = joined.__new__(joined)
        litellm.BadRequestError.__init__(raised, str(error), self._model, self._name)
        vars(raised).update(vars(error))
        return raised


def _settings(given: Mapping[str, Any]) -> Json:
    """What of the outer call is meant for the inner one without being of the request: key, address, region.

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
    # The host's callbacks hear of the outer call, once.
    settings["no-log"] = True
    return settings


def _plain(message: Any) -> Any:
    """Messages of earlier answers may be litellm's own objects."""
    return message.model_dump(exclude_none=True) if hasattr(message, "model_dump") else message


def _finishes(chunk: ModelResponseStream) -> bool:
    return any(choice.finish_reason for choice in chunk.choices)
