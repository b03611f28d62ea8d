"""One request and its answer, as dicts: what the hooks, the codec and the tests do with a dialect."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from wirecall import manual
from wirecall.answer import Turn
from wirecall.definitions import definitions
from wirecall.dialects.base import Dialect, Refused, Stream, listed
from wirecall.history import History
from wirecall.options import Options
from wirecall.toolset import Toolset


class Exchange:
    """Rewrites one request, then reads its answer: `whole`, or the events of `stream`.

    Either may say that the model is to be asked again: then `request` is the next one to send. There
    is no I/O.

    Args:
        dialect: The API's.
        request: The host's request; never mutated.
        options: The host's.

    Attributes:
        request: What to send now. The very request where nothing is to be rewritten.
        toolset: Its tools, compiled; None where nothing is to be rewritten.
        streams: The answer is to be streamed.
        turn: The answer's state; None where nothing is to be rewritten.

    Raises:
        Refused: The request cannot work over text.
        ToolError: A tool definition cannot work.
    """

    def __init__(self, dialect: Dialect, request: Mapping[str, Any], options: Options) -> None:
        self.dialect = dialect
        self.request: Mapping[str, Any] = request
        self.streams = request.get("stream") is True
        self.toolset: Toolset | None = None
        self.turn: Turn | None = None
        if options.native_when is not None and options.native_when(request):
            return
        asked = dialect.read(request)
        if not asked.tools and not asked.history:
            return
        toolset = self.toolset = options.toolset(asked.tools)
        choice = asked.choice
        if not asked.tools:
            choice = choice._replace(mode="none")
        elif unknown := [name for name in choice.names if name not in toolset.names]:
            raise Refused(f"tool_choice names {unknown[0]!r}, which is not among the tools")
        told = manual.write(toolset, asked.tools, choice, options)
        self.turn = Turn(
            toolset, options, choice, alone=asked.answers == 1, legacy=asked.legacy, stops=asked.stops
        )
        history = History(toolset, shows=_shown(request, options.media))
        rewritten = dialect.rewrite(request, asked, told, history, options)
        self.request = dialect.adapt(rewritten, options) if options.adapts else rewritten
        if told is not None and options.on_event is not None:
            try:
                listed = json.dumps(asked.tools)
            except (TypeError, ValueError, RecursionError):
                return  # Functions and models are no definitions that could be sent: nothing to compare with.
            saved = _saved(listed, told)
            if saved is not None:
                self.turn.tell("saved", None, str(saved))

    @property
    def untouched(self) -> bool:
        """Nothing is to be rewritten: no tools of ours and no calls in the history, or `native_when` says
        so."""
        return self.turn is None

    def whole(self, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The answer with native calls. None: send `request`, which is the next one now, and give its
        answer here.

        Raises:
            CallFailed: As the options say.
        """
        if self.turn is None:
            return body
        read = self.dialect.whole(body, self.turn)
        if read is None:
            self.ask_again()
        return read

    def stream(self) -> Stream:
        """A reader of the answer's events. Once it `asks_again`, call `ask_again`, and feed it the
        next answer's."""
        if self.turn is None:
            raise ValueError("an untouched request's answer is nothing to be read")
        return self.dialect.stream(self.turn)

    def ask_again(self) -> None:
        """Makes `request` the next one."""
        if self.turn is None:
            raise ValueError("an untouched request is never asked again")
        words, message = self.turn.again()
        again = self.dialect.again(self.request, words, message)
        self.request = self.dialect.adapt(again, options) if (options := self.turn.options).adapts else again


def _shown(request: Mapping[str, Any], media: str) -> frozenset[str] | None:
    """The kinds of parts that may stand beside results, by their types; None for all."""
    if media == "model":
        return None
    if media == "placeholder":
        return frozenset()
    messages = listed(request.get("messages", request.get("input")))
    users = [one for one in messages if isinstance(one, Mapping) and one.get("role") == "user"]
    parts = [part for user in users for part in listed(user.get("content")) if isinstance(part, Mapping)]
    return frozenset(str(part.get("type")) for part in parts)


@lru_cache(maxsize=128)
def _saved(tools: str, told: str) -> int | None:
    """Tokens that the definitions, given as JSON text, cost less; None where there is no tokenizer."""
    # Loaded for hosts that want to know.
    from wirecall.tokens import cached_tokenizer, compact, native_definition

    count = cached_tokenizer()
    if count is None:
        return None
    return sum(count(compact(native_definition(tool))) for tool in definitions(json.loads(tools))) - count(
        told
    )
