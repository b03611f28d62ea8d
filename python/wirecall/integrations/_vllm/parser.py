"""The parser of a request: reasoning, text and calls in one pass."""

from collections.abc import Sequence
from typing import Any, ClassVar

from vllm.entrypoints.generate.base.protocol import DeltaMessage, FunctionCall
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser.abstract_parser import Parser
from vllm.parser.metrics import record_tool_parser_invocation
from vllm.renderers.chat_utils import make_tool_call_id
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel

from wirecall._serving.choice import named_format
from wirecall._serving.message import CallDelta, Delta, MessageReader
from wirecall._serving.prompts import TAIL, is_cut
from wirecall._serving.served import ServedFormat
from wirecall.errors import ToolError
from wirecall.integrations._vllm.constraints import begins_constrained, constrain, wants_calls
from wirecall.integrations._vllm.messages import continued_text, message_of
from wirecall.integrations._vllm.server import definitions, format_of, logger, serving, stops_of


class WirecallParser(Parser):
    """Reads the messages of a server. vLLM makes one for each choice, from a subclass with `served`."""

    always_adjust_request = True
    served: ClassVar[ServedFormat]
    # The ids that end messages, once they are known: with the model's configuration, and without.
    stops: ClassVar[dict[bool, frozenset[int]]]

    def __init__(
        self, tokenizer: Any, tools: Any = None, *args: Any, model_config: Any = None, **options: Any
    ) -> None:
        super().__init__(tokenizer, tools, *args, model_config=model_config, **options)
        self._tools = tools
        key = model_config is not None
        if key not in self.stops:
            self.stops[key] = stops_of(self.served, tokenizer, model_config)
        self._stops = self.stops[key]
        self._prompt: str | None = None
        self._reader: MessageReader | None = None
        self._last: int | None = None
        self._reads_calls = False

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        if self._reasoning_parser is not None:
            self._reasoning_parser.set_prompt_token_ids(prompt_token_ids)
        self._prompt = self.model_tokenizer.decode(list(prompt_token_ids[-TAIL:]), skip_special_tokens=False)

    def is_reasoning_end(self, input_ids: list[int]) -> bool:
        return self._reasoning_parser is None or self._reasoning_parser.is_reasoning_end(input_ids)

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        parser = self._reasoning_parser
        return 0 if parser is None else parser.count_reasoning_tokens(token_ids)

    def adjust_request(self, request: Any) -> Any:
        calls = self._wants_calls(request)
        if self.served.special_tokens or calls:
            request.skip_special_tokens = False
        if calls:
            constrain(request, self.served, self._tools, level=self.tool_strict_level or ToolStrictLevel.AUTO)
        return request

    def parse(
        self,
        model_output: str,
        request: Any,
        enable_auto_tools: bool = False,
        model_output_token_ids: Sequence[int] = (),
    ) -> tuple[str | None, str | None, list[FunctionCall] | None]:
        reader = self._new_reader(request)
        last = model_output_token_ids[-1] if model_output_token_ids else None
        delta = reader.whole(model_output, truncated=self._is_cut(last, request))
        self._count(delta, request, streams=False)
        calls = [
            FunctionCall(id=self._call_id(call), name=call.name, arguments=call.arguments)
            for call in delta.calls
        ]
        return delta.reasoning or None, delta.text or None, calls

    def parse_delta(
        self,
        delta_text: str,
        delta_token_ids: list[int],
        request: Any,
        prompt_token_ids: list[int] | None = None,
        *,
        finished: bool,
    ) -> DeltaMessage | None:
        reader = self._reader
        if reader is None:
            if prompt_token_ids is not None:
                self.set_prompt_token_ids(prompt_token_ids)
            reader = self._reader = self._new_reader(request)
        if delta_token_ids:
            self._last = delta_token_ids[-1]
        delta = reader.feed(delta_text)
        if finished:
            delta.add(reader.finish(truncated=self._is_cut(self._last, request)))
        self._count(delta, request, streams=True)
        if delta.reasoning and not request.include_reasoning:
            delta.reasoning = ""
        return message_of(delta, call_id=self._call_id)

    def _new_reader(self, request: Any) -> MessageReader:
        self._initialize_history_tool_call_cnt(request)
        self._reads_calls = self._wants_calls(request)
        return self.served.reader(
            self.served.toolset(definitions(self._tools) if self._reads_calls else None),
            in_reasoning=self._in_reasoning(request),
            request=getattr(request, "request_id", None),
        )

    def _wants_calls(self, request: Any) -> bool:
        return self.tool_parser_cls is not None and wants_calls(request)

    def _in_reasoning(self, request: Any) -> bool | None:
        """Whether the message begins inside reasoning; None if the prompt is not known."""
        # The engine did not wait with the grammar, so there is no reasoning.
        hidden = isinstance(request, ChatCompletionRequest) and not request.include_reasoning
        if (self._reasoning_parser is None or hidden) and begins_constrained(request):
            return False
        prompts = self.served.prompts
        content = continued_text(request)
        opened = None if content is None else prompts.leaves_open(content)
        if opened is None and self._prompt is not None:
            opened = prompts.opens_reasoning(self._prompt)
        return opened

    def _is_cut(self, last: int | None, request: Any) -> bool | None:
        return is_cut(last, self._stops, getattr(request, "stop_token_ids", None) or ())

    def _call_id(self, call: CallDelta) -> str | None:
        """The id of a call. Kimi's templates write ids into prompts, so they have a form of their own."""
        state = self._stream_state
        if state.tool_call_id_type != "kimi_k2":
            return call.id
        made = make_tool_call_id(
            id_type=state.tool_call_id_type, func_name=call.name, idx=state.history_tool_call_cnt
        )
        state.history_tool_call_cnt += 1
        return made

    def _count(self, delta: Delta, request: Any, *, streams: bool) -> None:
        """vLLM's own counter, which the parsers that it composes increment."""
        if self._reads_calls:
            record_tool_parser_invocation(
                is_tool_called=bool(delta.calls), is_streaming=streams, request=request
            )


def composed(manager: Any, **options: Any) -> type[WirecallParser] | None:
    """The parser class for the options of vLLM's command line; None to leave it to vLLM.

    Raises:
        ToolError: The format of the model is not known, or the names of both parsers have different formats.
    """
    tool, reasoning = options["tool_parser_name"], options["reasoning_parser_name"]
    if options["is_harmony"]:
        logger.warning(
            "wirecall does not read gpt-oss in vLLM: vLLM uses its own parser whatever the flags say"
        )
        return None
    if tool and reasoning:
        formats = {named_format(tool), named_format(reasoning)} - {None}
        if len(formats) > 1:
            raise ToolError(f"--tool-call-parser {tool} and --reasoning-parser {reasoning} have two formats")
        name = tool if named_format(tool) else reasoning if named_format(reasoning) else tool
    else:
        name = tool or reasoning
    tokenizer, level = options["tokenizer"], options["tool_strict_level"]
    reasoning_cls = manager.get_reasoning_parser(reasoning)
    tool_cls = manager.get_tool_parser(tool, options["enable_auto_tools"], options["model_name"])
    if tokenizer is None or (reasoning_cls is None and tool_cls is None):
        return None
    served = format_of(name, tokenizer, options["model_name"])
    serving.log_start(served)

    def knowing(kind: type | None) -> type | None:
        """The class for this server: it need not choose the format again."""
        return kind and type(kind.__name__, (kind,), {"served": served})

    return type(
        "WirecallParser",
        (WirecallParser,),
        {
            "served": served,
            "stops": {},
            "tool_parser_cls": knowing(tool_cls),
            "reasoning_parser_cls": knowing(reasoning_cls),
            "tool_strict_level": None if level is None else ToolStrictLevel.from_name(level),
        },
    )
