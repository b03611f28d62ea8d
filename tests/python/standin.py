"""A dialect as small as one can be, over the same parts as the real ones, so that the codec is tested alone.

A request is `{"tools": [...], "say": [...]}`, an answer `{"text": …, "stop": …}`; an event is `{"text": …}`,
or `{"stop": …}`; what goes out says `said` and `call`. Every other event is unknown.
"""

from collections.abc import Mapping
from typing import Any

from wirecall._apis.base import Asked, Json, Refused
from wirecall._rewriting.history import History
from wirecall._rewriting.manual import Manual
from wirecall._rewriting.options import Options
from wirecall._rewriting.parts import (
    CallAborted,
    CallFinished,
    CallFragment,
    CallOpened,
    CallPart,
    Hold,
    Part,
    TextPart,
)
from wirecall._rewriting.reader import TextReader
from wirecall._rewriting.response import Choice, ResponseState

PROPERTIES = {"to": {"type": "string"}, "at": {"type": "object"}}
TOOL = {"name": "go", "input_schema": {"type": "object", "properties": PROPERTIES}}


class StandIn:
    name = "chat"

    def read(self, request: Mapping[str, Any]) -> Asked:
        if "held_by_server" in request:
            raise Refused("The server holds the history.")
        return Asked(list(request.get("tools", [])), [], Choice(), False)

    def rewrite(
        self,
        request: Mapping[str, Any],
        asked: Asked,
        manual: Manual | None,
        history: History,
        options: Options,
    ) -> Json:
        new = {key: value for key, value in request.items() if key != "tools"}
        new["say"] = [manual and str(manual), *request.get("say", [])]
        return new

    def again(self, request: Mapping[str, Any], words: str, message: str) -> Json:
        return {**request, "say": [*request["say"], words, message]}

    def whole(self, body: Mapping[str, Any], turn: ResponseState) -> Json | None:
        if "text" not in body:
            return body  # type: ignore[return-value]
        reader = TextReader(turn, fragments=False)
        stop = body.get("stop")
        parts = reader.feed(body["text"]) + reader.finish(truncated=cut(stop))
        if turn.should_retry(normal=stop == "stop"):
            turn.kept += parts[: next(at for at, part in enumerate(parts) if isinstance(part, Hold))]
            return None
        return {"parts": written([*turn.kept, *parts]), "stop": stop}

    def stream(self, turn: ResponseState) -> "StandInStream":
        return StandInStream(turn)

    def error(self, error: Exception) -> Json:
        return {"error": {"message": str(error)}}


class StandInStream:
    def __init__(self, turn: ResponseState) -> None:
        self.should_retry = False
        self.ended = False
        self._turn = turn
        self._reader = TextReader(turn)
        self._held: list[Part] | None = None
        self._over = False

    @property
    def holds(self) -> bool:
        return self._held is not None or self._reader.holds

    def feed(self, event: Json) -> list[Json] | None:
        if self.should_retry and "text" in event:
            self.should_retry, self._reader = False, TextReader(self._turn)
        if "text" in event:
            return self._send(self._reader.feed(event["text"]))
        return self._stop(event["stop"]) if "stop" in event else None

    def end(self) -> list[Json]:
        return [] if self._over or self.should_retry else self._stop(None)

    def _stop(self, stop: object) -> list[Json]:
        sent = self._send(self._reader.finish(truncated=cut(stop)))
        if self.ended:
            return sent
        if self._turn.should_retry(normal=stop == "stop"):
            self.should_retry, self._held = True, None
            return sent
        held, self._held, self._over = self._held or [], None, True
        return [*sent, *written(held), {"stop": stop}]

    def _send(self, parts: list[Part]) -> list[Json]:
        out: list[Part] = []
        for part in parts:
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
