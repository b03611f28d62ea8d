"""An API as small as one can be, over the same parts as the real ones, so that the codec is tested alone.

A request is `{"tools": [...], "say": [...]}`, an answer `{"text": …, "stop": …}`; an event is `{"text": …}`,
or `{"stop": …}`; what goes out says `said` and `call`. Every other event is unknown.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wirecall._apis.base import Api, ParsedRequest, Rewrite, UnsupportedRequestError
from wirecall._apis.registry import apis
from wirecall._apis.streams import AnswerStream
from wirecall._apis.values import Json
from wirecall._clients.byte_exchange import ByteExchange
from wirecall._clients.codec import Codec
from wirecall._sync import run
from wirecall._text.parts import (
    CallAborted,
    CallFinished,
    CallFragment,
    CallOpened,
    CallPart,
    Hold,
    Part,
    Raised,
    TextPart,
)
from wirecall._text.reader import TextReader
from wirecall._text.response import Choice, ResponseState

PROPERTIES = {"to": {"type": "string"}, "at": {"type": "object"}}
TOOL = {"name": "go", "input_schema": {"type": "object", "properties": PROPERTIES}}


def parse_request(request: Mapping[str, Any]) -> ParsedRequest:
    if "held_by_server" in request:
        raise UnsupportedRequestError("The server holds the history.")
    return ParsedRequest(list(request.get("tools", [])), [], Choice(), False)


def rewrite_request(given: Rewrite) -> Json:
    new = {key: value for key, value in given.request.items() if key != "tools"}
    new["say"] = [given.manual and str(given.manual), *given.request.get("say", [])]
    return new


def retry_request(request: Mapping[str, Any], words: str, message: str) -> Json:
    return {**request, "say": [*request["say"], words, message]}


def read_answer(body: Mapping[str, Any], state: ResponseState) -> Json | None:
    if "text" not in body:
        return body  # type: ignore[return-value]
    reader = TextReader(state, fragments=False)
    stop = body.get("stop")
    parts = reader.feed(body["text"]) + reader.finish(truncated=cut(stop))
    if state.should_retry(normal=stop == "stop"):
        state.kept += parts[: next(at for at, part in enumerate(parts) if isinstance(part, Hold))]
        return None
    return {"parts": written([*state.kept, *parts]), "stop": stop}


def stream_error(error: Exception) -> Json:
    return {"error": {"message": str(error)}}


class StandInStream(AnswerStream):
    def __init__(self, state: ResponseState) -> None:
        super().__init__(state)
        self._reader = TextReader(state)
        self._held: list[Part] | None = None
        self._over = False
        self._due: list[Json] = []

    @property
    def holds(self) -> bool:
        return self._held is not None or self._reader.holds

    def feed(self, event: Json) -> list[Json] | None:
        if self._is_over():
            return []
        if "error" in event:
            return [*self.end(), event]
        if "text" in event:
            return self._send(self._reader.feed(event["text"]))
        return self._stop(event["stop"]) if "stop" in event else None

    def due(self) -> list[Json]:
        return self._due

    def end(self) -> list[Json]:
        return [] if self._over or self._is_over() else self._stop(None)

    def _begin(self) -> None:
        self._reader = TextReader(self._state)

    def _stop(self, stop: object) -> list[Json]:
        sent = self._send(self._reader.finish(truncated=cut(stop)))
        if self.ended:
            return sent
        if self._state.should_retry(normal=stop == "stop"):
            self._retries, self._held = True, None
            return sent
        held, self._held, self._over = self._held or [], None, True
        return [*sent, *written(held), {"stop": stop}]

    def _send(self, parts: list[Part]) -> list[Json]:
        out: list[Part] = []
        for part in parts:
            if isinstance(part, Raised):
                self._due = written(out)
                raise part.error
            if isinstance(part, Hold):
                self._held = []
            elif self._held is not None and not isinstance(part, CallPart):
                self._held.append(part)
            else:
                out += [*(self._held or []), part]
                self._held = None
            self.ended = self.ended or isinstance(part, CallAborted)
        return written(out)


def cut(stop: object) -> bool | None:
    return {"stop": False, "length": True}.get(str(stop))


def written(parts: list[Any]) -> list[Json]:
    out: list[Json] = []
    for part in parts:
        if isinstance(part, TextPart):
            out.append({"said": part.text})
        elif isinstance(part, CallPart):
            out.append({"call": part.name, "arguments": part.arguments})
        elif isinstance(part, CallOpened):
            out.append({"begun": part.name})
        elif isinstance(part, CallFragment):
            out.append({"fragment": part.delta})
        elif isinstance(part, CallFinished):
            out.append({"done": True})
        elif isinstance(part, CallAborted):
            out.append({"error": {"message": part.error.message}})
    return out


def stand_in(api: Api, **more: Any) -> Api:
    """The stand-in under the name and the paths of an API."""
    return replace(
        api,
        names_events=False,
        parse_request=parse_request,
        rewrite_request=rewrite_request,
        retry_request=retry_request,
        read_answer=read_answer,
        open_stream=StandInStream,
        stream_error=stream_error,
        **more,
    )


def stand_ins(**more: Any) -> dict[str, Api]:
    return {name: stand_in(api, **more) for name, api in apis().items()}


def open_sync(
    codec: Codec, url: str, headers: Mapping[str, str], body: bytes, *, method: str = "POST"
) -> ByteExchange | None:
    """An exchange, as a sync client opens it."""
    return run(codec.open(url, headers, body, method=method, is_async=False))
