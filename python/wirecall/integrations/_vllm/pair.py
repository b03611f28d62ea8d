"""A tool parser and a reasoning parser, as vLLM registers them.

vLLM's engine takes the reasoning parser to see where reasoning ends. The API server takes both if it composes
them itself: beside a tool parser of its own, or in versions that wirecall does not know.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from vllm.entrypoints.generate.base.protocol import (
    DeltaMessage,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.parser.utils import count_history_tool_calls
from vllm.reasoning.abs_reasoning_parsers import ReasoningParser
from vllm.renderers.chat_utils import make_tool_call_id
from vllm.tool_parsers.abstract_tool_parser import ToolParser
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel

from wirecall._serving.message import CallDelta, MessageReader
from wirecall._serving.prompts import TAIL
from wirecall._serving.served import ServedFormat
from wirecall.integrations._vllm.constraints import constrain, wants_calls
from wirecall.integrations._vllm.messages import message_of
from wirecall.integrations._vllm.server import definitions, format_of, logger, serving


class WirecallToolParser(ToolParser):
    """Calls and text. It gets what the reasoning parser leaves."""

    supports_required_and_named = False
    engine_based_streaming = True
    parser_name: ClassVar[str]
    # Set where the parser was composed, which knows the model's name.
    served: ClassVar[ServedFormat | None] = None

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        super().__init__(tokenizer, tools)
        self._served = self.served or format_of(self.parser_name, tokenizer)
        serving.log_start(self._served)
        self._reader: MessageReader | None = None
        # The calls of earlier messages.
        self._earlier = 0

    def adjust_request(self, request: Any) -> Any:
        if wants_calls(request):
            request.skip_special_tokens = False
            constrain(request, self._served, request.tools, level=ToolStrictLevel.AUTO)
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> ExtractedToolCallInformation:
        delta = self._new_reader(request).whole(model_output)
        calls = [
            ToolCall(id=self._call_id(call), function=FunctionCall(name=call.name, arguments=call.arguments))
            for call in delta.calls
        ]
        return ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=delta.text or None
        )

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> DeltaMessage | None:
        if self._reader is None:
            _warn_of_pair()
            self._reader = self._new_reader(request)
        return message_of(self._reader.feed(delta_text), call_id=self._call_id)

    def finish_streaming(self) -> DeltaMessage | None:
        if self._reader is None:
            return None
        reader, self._reader = self._reader, None
        return message_of(reader.finish(), call_id=self._call_id)

    def _call_id(self, call: CallDelta) -> str | None:
        """The id of a call. Kimi's templates write ids into prompts, so they have a form of their own."""
        if not self._served.numbers_calls:
            return call.id
        return make_tool_call_id(id_type="kimi_k2", func_name=call.name, idx=self._earlier + call.index)

    def _new_reader(self, request: Any) -> MessageReader:
        if self._served.numbers_calls:
            self._earlier = count_history_tool_calls(request)
        tools = self.tools or getattr(request, "tools", None)
        calls = bool(tools) and getattr(request, "tool_choice", "auto") != "none"
        toolset = self._served.toolset(definitions(tools) if calls else None, separate=False)
        return self._served.reader(toolset, in_reasoning=False)


class WirecallReasoningParser(ReasoningParser):
    """Reasoning, and the rest as text."""

    engine_based_streaming = True
    parser_name: ClassVar[str]
    # Set where the parser was composed, which knows the model's name.
    served: ClassVar[ServedFormat | None] = None

    def __init__(self, tokenizer: Any, *args: Any, **options: Any) -> None:
        super().__init__(tokenizer, *args, **options)
        config = self._model_config
        self._served = self.served or format_of(
            self.parser_name,
            tokenizer,
            getattr(config, "model", None),
            getattr(config, "tokenizer_mode", None),
        )
        self._in_reasoning: bool | None = None
        self._reader: MessageReader | None = None
        self._ended = False

    @property
    def reasoning_start_str(self) -> str | None:
        return next(iter(self._served.prompts.openers), None)

    @property
    def reasoning_end_str(self) -> str | None:
        return next(iter(self._served.prompts.closers), None)

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Whether the prompt closes the reasoning. Otherwise the model may still open it.

        Of formats without a known closer, nothing waits for the end.
        """
        prompts = self._served.prompts
        return not prompts.closers or prompts.closes_reasoning(self._text(input_ids[-TAIL:]))

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        """Whether a closer ends in the delta. One that ends before it may be in the text of a user."""
        closers = self._served.prompts.closers
        delta = list(delta_ids)
        new = len(self._text(delta))
        longest = max((len(closer) for closer in closers), default=0)
        tail = self._text(input_ids[-len(delta) - longest :])[-new - longest :]
        return not closers or any(tail.rfind(closer) + len(closer) > len(tail) - new for closer in closers)

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        if not self._is_closed(input_ids):
            return []
        # Once a text has the closer, each longer one has it, too.
        lengths = range(len(input_ids) + 1)
        return input_ids[bisect_left(lengths, True, key=lambda n: self._is_closed(input_ids[:n])) :]

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        ids = list(token_ids)
        openers = self._served.prompts.openers
        opened = self._in_reasoning or self._text(ids[:TAIL]).lstrip().startswith(openers)
        if not openers or not opened:
            return 0
        return len(ids) - len(self.extract_content_ids(ids))

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        self._in_reasoning = self._served.prompts.opens_reasoning(self._text(prompt_token_ids[-TAIL:]))

    def adjust_request(self, request: Any) -> Any:
        request.skip_special_tokens = False
        return request

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        delta = self._new_reader().whole(model_output)
        return delta.reasoning or None, delta.text or None

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> DeltaMessage | None:
        if self._reader is None:
            self._reader = self._new_reader()
        delta = self._reader.feed(delta_text)
        self._ended = self._ended or bool(delta.text)
        return message_of(delta, call_id=lambda call: call.id)

    def has_engine_confirmed_reasoning_end(self) -> bool:
        return self._ended

    def finish_streaming(self) -> DeltaMessage | None:
        if self._reader is None:
            return None
        return message_of(self._reader.finish(), call_id=lambda call: call.id)

    def _is_closed(self, ids: Sequence[int]) -> bool:
        text = self._text(ids)
        return any(closer in text for closer in self._served.prompts.closers)

    def _new_reader(self) -> MessageReader:
        return self._served.reader(self._served.toolset(None), in_reasoning=self._in_reasoning)

    def _text(self, ids: Sequence[int]) -> str:
        return self.model_tokenizer.decode(list(ids), skip_special_tokens=False)


_warned = False


def _warn_of_pair() -> None:
    global _warned
    if not _warned:
        _warned = True
        logger.warning(
            "wirecall knows vLLM 0.32 and 0.33 only. Here it reads calls after vLLM has divided reasoning "
            "from the rest: calls inside reasoning are not seen, nor that a call was cut off"
        )


def __getattr__(name: str) -> type:
    """The classes of a parser's name, as `tool:wirecall_hermes`, which vLLM asks for when it needs them."""
    kind, colon, parser = name.partition(":")
    bases = {"tool": WirecallToolParser, "reasoning": WirecallReasoningParser}
    if not colon or kind not in bases:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    base = bases[kind]
    return type(base.__name__, (base,), {"parser_name": parser, "__module__": __name__})
