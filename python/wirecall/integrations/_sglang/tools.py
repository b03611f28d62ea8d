"""The tool detector: text and calls, of what the reasoning detector passes on."""

from typing import Any, ClassVar

from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem
from xgrammar import StructuralTag

from wirecall._serving.message import Delta, MessageReader
from wirecall.integrations._sglang.passage import Passage, passage_of
from wirecall.integrations._sglang.server import definitions, format_of


class WirecallToolDetector(BaseFormatDetector):
    """Reads one message. SGLang makes one for each choice, from a subclass with `parser_name`."""

    parser_name: ClassVar[str]

    def __init__(self, tokenizer: Any = None) -> None:
        super().__init__()
        self._served = format_of(self.parser_name, tokenizer)
        self._reader: MessageReader | None = None
        self._passage: Passage | None = None

    @property
    def incomplete_tool_call_indices(self) -> frozenset[int]:
        """Calls of which a part was sent, but not the end. SGLang does not report them as complete."""
        return frozenset() if self._reader is None else frozenset(self._reader.broken)

    def has_tool_call(self, text: str) -> bool:
        """True, because only reading the message with its tools shows what is a call."""
        return True

    def detect_and_parse(self, text: str, tools: Any) -> StreamingParseResult:
        """A whole message. The index of a call is the position of its tool in the request, or -1."""
        passage = passage_of(text)
        reader = self._new_reader(passage, tools)
        delta = reader.whole(str(text) if passage is None else passage.take())
        if self._served.numbers_calls:
            # SGLang makes ids of them.
            return _result(delta, [call.index for call in delta.calls])
        places = self._get_tool_indices(tools)
        return _result(delta, [places.get(call.name, -1) for call in delta.calls])

    def parse_streaming_increment(self, new_text: str, tools: Any) -> StreamingParseResult:
        """A piece of a message. The index of a call is its position among those of the message."""
        if self._reader is None:
            self._passage = passage_of(new_text)
            self._reader = self._new_reader(self._passage, tools)
        passage = self._passage
        delta = self._reader.feed(new_text if passage is None else passage.take())
        return _result(delta, [call.index for call in delta.calls])

    def finish(self, tools: Any) -> StreamingParseResult:
        """The end of a message."""
        if self._reader is None:
            return StreamingParseResult()
        delta = Delta()
        if self._passage is not None:
            delta.add(self._reader.feed(self._passage.take()))
        delta.add(self._reader.finish())
        return _result(delta, [call.index for call in delta.calls])

    def supports_structural_tag(self) -> bool:
        """False: this is the older form of structural tags."""
        return False

    def parses_required_natively(self) -> bool:
        """True: calls are in the model's format whatever the tool choice is."""
        return True

    def structure_info(self) -> Any:
        raise NotImplementedError("wirecall has structural tags of the newer form only")

    def get_structural_tag(
        self,
        tools: Any = None,
        tool_choice: Any = "auto",
        thinking_mode: bool = False,
        parallel_tool_calls: bool = True,
    ) -> StructuralTag | None:
        """The grammar of the calls; None, with a warning, if the format or the tool has none."""
        served = self._served
        name = tool_choice if isinstance(tool_choice, str) else tool_choice.function.name
        try:
            text = served.toolsets.grammar(
                served.toolset(definitions(tools)),
                tool_choice=name,
                parallel=parallel_tool_calls is not False,
            )
            # A new one each time, because SGLang changes it.
            return StructuralTag.model_validate_json(text)
        # Also that of pydantic, if xgrammar has another form of tags.
        except ValueError as error:
            served.reports.warn("calls that are not constrained", str(error))
            return None

    def get_auto_tool_call_structural_tag(
        self, tools: Any = None, thinking_mode: bool = False, parallel_tool_calls: bool = True
    ) -> StructuralTag | None:
        """The grammar of a free choice that nothing but `parallel_tool_calls` constrains."""
        if parallel_tool_calls is not False:
            return None
        return self.get_structural_tag(tools, "auto", thinking_mode, parallel_tool_calls)

    def _new_reader(self, passage: Passage | None, tools: Any) -> MessageReader:
        served = self._served
        if passage is None:
            # Another reasoning parser has taken the reasoning, or none has, and the client wants it as text.
            return served.reader(served.toolset(definitions(tools), separate=False), in_reasoning=False)
        return served.reader(served.toolset(definitions(tools)), in_reasoning=passage.in_reasoning)


def _result(delta: Delta, indices: list[int]) -> StreamingParseResult:
    """A delta without its reasoning, which the reasoning detector has reported."""
    return StreamingParseResult(
        normal_text=delta.text,
        calls=[
            ToolCallItem(tool_index=index, name=call.name, parameters=call.arguments)
            for index, call in zip(indices, delta.calls, strict=True)
        ],
    )
