"""One request and its answer, as dicts, for the hooks, the codec and the tests."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from wirecall._apis import stops
from wirecall._apis.base import Api, ParsedRequest, Rewrite, UnsupportedRequestError
from wirecall._apis.streams import AnswerStream
from wirecall._apis.values import sum_usage
from wirecall._shown import written
from wirecall._sync import aside
from wirecall._text import grammar as grammars
from wirecall._text import manual
from wirecall._text.history import History
from wirecall._text.notices import Notice
from wirecall._text.options import Options
from wirecall._text.parts import ToolCallError
from wirecall._text.record import AttemptReason, Outcome, Where
from wirecall._text.recorder import Observer, Recorder, as_kind
from wirecall._text.response import ResponseState
from wirecall._tools.definitions import definitions
from wirecall._tools.toolset import Toolset
from wirecall.errors import ToolError


class Exchange:
    """Rewrites one request, then reads its answer: `whole`, or the events of `stream`.

    Either may say that the request must be retried. Then `request` is the next one to send. There is no I/O.

    Args:
        request: The host's request; never mutated.
        where: Where the request goes, for its record; None for hosts without HTTP.
        served: The base URL and the model. If these refuse our stop sequence, that is remembered.
        takes_stop: Whether the model takes stop sequences at all.
        body: The JSON of the request, of hosts that send bytes. It is sent if nothing has to be rewritten.
        observer: Is told what happens in the exchange, while it happens.

    Attributes:
        request: What to send now; the host's own object if nothing has to be rewritten.
        toolset: Its tools, compiled; None if nothing has to be rewritten.
        streams: The host requested a stream.
        dropped_stop: The request is sent without our stop sequence, which the server refused.
        state: The state of the response; None if nothing has to be rewritten.
        recorder: Gathers the record, if one is wanted. Hosts tell it what they receive and hand over, and
            end the exchange with `finish`.

    Raises:
        UnsupportedRequestError: The request cannot work over text.
        ToolError: A tool definition cannot work.
    """

    def __init__(
        self,
        api: Api,
        request: Mapping[str, Any],
        options: Options,
        where: Where | None = None,
        *,
        served: tuple[str, str] | None = None,
        takes_stop: bool = True,
        body: bytes | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.api = api
        self._given = request
        self._options = options
        self._served = served
        self._stops = options.stop_sequence == "always" or (
            options.stop_sequence == "auto"
            and takes_stop
            and (served is None or not stops.REFUSALS.has(*served))
        )
        self.dropped_stop = False
        self._body = body
        self._written: tuple[object, bytes] | None = None
        self.request: Mapping[str, Any] = request
        self.streams = request.get("stream") is True
        self.toolset: Toolset | None = None
        self.state: ResponseState | None = None
        self.recorder: Recorder | None = None
        # For `tell_saved`: the definitions and the manual.
        self._replaced: tuple[list[Any], str] | None = None
        if options.on_record is not None or options.debug or observer is not None:
            self.recorder = Recorder(
                options.on_record,
                content=options.record_content,
                logs=options.debug,
                api=api.name,
                request=request,
                where=where,
                observer=observer,
            )
        try:
            self._rewrite(request, options)
        except Exception as error:
            self.finish(error)
            raise
        self._record_request("first")

    def _rewrite(self, request: Mapping[str, Any], options: Options) -> None:
        if options.native_when is not None and options.native_when(request):
            return
        parsed = self.api.parse_request(request)
        if parsed.native and options.native_tools == "drop":
            request = self.request = self._without_native(request, parsed)
            parsed = self.api.parse_request(request)
        toolset = options.toolset(parsed.tools)
        if not parsed.tools and not parsed.history and not toolset.separates_reasoning:
            return
        self.toolset = toolset
        if self.recorder is not None:
            self.recorder.set_tools(toolset.names, toolset.protocol)
        choice = parsed.choice
        if not parsed.tools:
            choice = choice._replace(mode="none")
        elif unknown := [name for name in choice.names if name not in toolset.names]:
            raise UnsupportedRequestError(f"tool_choice names {unknown[0]!r}, which is not in the tools")
        told = manual.write(toolset, choice, options)
        grammar = grammars.write(toolset, choice, options)
        self.state = ResponseState(
            toolset,
            options,
            choice,
            alone=parsed.answers == 1,
            legacy=parsed.legacy,
            stops=parsed.stops,
            recorder=self.recorder,
            repeated={
                key: self._given.get(key)
                for key, or_null in self.api.repeated_keys.items()
                if or_null or key in self._given
            },
        )
        # Under a grammar, no result can be invented, and a call's arguments may contain the stop sequence.
        stops = self._stops and (grammar is None or options.stop_sequence == "always")
        history = History(toolset, shows=self._shown(), stops=stops)
        made = self.api.rewrite_request(Rewrite(request, parsed, told, history, options))
        if grammar is not None:
            made = self.api.constrain(made, parsed, grammar)
            if self.recorder is not None:
                self.recorder.set_grammar(grammar.text)
        self.request = self._adapted(made)
        if told is not None and options.on_event is not None:
            self._replaced = parsed.tools, str(told)

    def _without_native(self, request: Mapping[str, Any], parsed: ParsedRequest) -> Mapping[str, Any]:
        """The request without tools that are not functions, and without a choice that is only theirs."""
        kinds = [str(as_kind(tool.get("type"))) for tool in parsed.native]
        self._options.tell(Notice("native_tools", None, ", ".join(dict.fromkeys(kinds))), self.recorder)
        dropped = {id(tool) for tool in parsed.native}
        made = {**request, "tools": [tool for tool in request["tools"] if id(tool) not in dropped]}
        chosen = request.get("tool_choice")
        if isinstance(chosen, Mapping) and chosen.get("type") != "none":
            names = [tool.get("name") for tool in parsed.native]
            if parsed.choice.mode == "none" or chosen.get("name") in names:
                del made["tool_choice"]
        if not made["tools"]:
            del made["tools"]
            made.pop("tool_choice", None)
        return made

    async def tell_saved(self, *, is_async: bool) -> None:
        """Tells the host how many tokens the manual saves, if it wants notices. They are counted in a thread
        of an async host: a vocabulary takes long to read."""
        if self._replaced is None or self.state is None:
            return
        tools, told = self._replaced
        try:
            written = json.dumps(tools)
        except (TypeError, ValueError, RecursionError):
            return  # Functions and models are not definitions that could be sent.
        saved = await aside(_saved, written, told) if is_async else _saved(written, told)
        if saved is not None and saved > 0:
            self.state.notify("saved", None, str(saved))

    def _shown(self) -> frozenset[str] | None:
        """The types of parts that may be placed beside results; None for all."""
        if self._options.media == "model":
            return None
        return self.api.user_part_types(self._given) if self._options.media == "auto" else frozenset()

    @property
    def untouched(self) -> bool:
        """Nothing has to be rewritten: there are no tools or calls, or `native_when` returned true."""
        return self.state is None

    def whole(self, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The answer with native calls. None: send `request`, which is now the next one, and pass its
        answer to this method.

        Raises:
            ToolCallError: If the options say so.
        """
        if self.state is None:
            return body
        read = self.api.read_answer(body, self.state)
        if read is None:
            self.retry()
        return read

    def stream(self) -> AnswerStream:
        """A reader of events. When it `should_retry`, call `retry`, and feed it those of the next answer."""
        if self.state is None:
            raise ValueError("the request was not rewritten, so its answer has nothing to read")
        return self.api.open_stream(self.state)

    def _adapted(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request for a chat template that takes fewer roles, if the options say so."""
        return self.api.adapt_request(request, self._options) if self._options.adapts else request

    def retry(self) -> None:
        """Makes `request` the retry."""
        if self.state is None:
            raise ValueError("the request was not rewritten, so it is never retried")
        words, message = self.state.begin_retry()
        self.request = self._adapted(self.api.retry_request(self.request, words, message))
        self._record_request("retry")

    def _record_request(self, reason: AttemptReason) -> None:
        if self.recorder is not None:
            said = self.api.outline(self.request)
            self.recorder.begin_attempt(self.request, self.written, said, reason)

    @property
    def written(self) -> bytes:
        """The request as JSON. It is written once, for its record and for the server."""
        if self._written is None or self._written[0] is not self.request:
            made = self._body
            # What was made anew may be the same, as where reasoning is separated only.
            if made is None or self.request != self._given:
                # A lone surrogate can only be written as an escape.
                made = written(self.request).encode(errors="backslashreplace")
            self._written = self.request, made
        return self._written[1]

    @property
    def may_drop_stop(self) -> bool:
        """Whether the request has a stop sequence of wirecall and may be sent without it."""
        # With "always", the application gets the server's answer.
        auto = self._options.stop_sequence == "auto" and not self.dropped_stop
        return auto and stops.without(self.request, self._given) is not self.request

    def drops_stop(self, status: int, body: bytes) -> bool:
        """Whether an error refuses our stop sequence. Then `request` becomes the same request without it."""
        if not (self.may_drop_stop and stops.is_refusal(status, body)):
            return False
        self.dropped_stop = True
        self.request = stops.without(self.request, self._given)
        self._record_request("without_stop")
        return True

    def accepted(self) -> None:
        """The server accepted the request. If our stop sequence was dropped, it is never sent there again."""
        if self.dropped_stop and self._served is not None:
            stops.REFUSALS.add(*self._served)

    def record_output(self, out: Mapping[str, Any] | bytes) -> None:
        """Records what the application gets."""
        if self.recorder is not None:
            self.recorder.add_output(out)

    def finish(self, error: BaseException | None = None) -> None:
        """Ends the exchange and delivers its record. Later calls have no effect.

        Args:
            error: The exception that the application gets instead of the answer, or of the rest of it.
        """
        if self.recorder is None:
            return
        outcome: Outcome = "passed" if self.state is None else self.state.outcome
        name: str | None = None
        if isinstance(error, ToolCallError):
            outcome, name = "bad_call", "missing_call" if error.error is None else error.error.kind
        elif error is not None and not isinstance(error, GeneratorExit):
            name = type(error).__name__
            # Others, such as that of a cancelled task, are the application's wish.
            outcome = self.recorder.failure if isinstance(error, Exception) else outcome
        self.recorder.finish(outcome, name, sum_usage(self.recorder.usages))


@lru_cache(maxsize=128)
def _saved(tools: str, told: str) -> int | None:
    """How many tokens the manual saves over the definitions (JSON text); None without a tokenizer."""
    # Loaded only if a host wants events.
    from wirecall.tokens import cached_tokenizer, compact, native_definition

    count = cached_tokenizer()
    if count is None:
        return None
    try:
        read = definitions(json.loads(tools))
    except ToolError:
        return None  # `invalid_tools` has accepted definitions that cannot be read.
    return sum(count(compact(native_definition(tool))) for tool in read) - count(told)
