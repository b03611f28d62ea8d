"""The reasoning detector: reasoning, and the rest for the tool detector or the client."""

from typing import Any, ClassVar

from sglang.srt.parser.reasoning_parser import BaseReasoningFormatDetector, StreamingParseResult

from wirecall._serving.message import Delta
from wirecall.integrations._sglang.passage import Passage, PassedText
from wirecall.integrations._sglang.server import format_of

# How SGLang tells from a request whether the model reasons, where it cannot tell from the chat template:
# DeepSeek's and Kimi's prompts are written by code of its own. Other formats are as their prompts begin.
_MODES = {
    "deepseek-v3.1": "explicit_thinking",
    "deepseek-v3.2": "explicit_thinking",
    "deepseek-v4": "explicit_thinking",
    "deepseek-v4.1": "explicit_thinking",
    "gemma4": "explicit_enable_thinking",
    "glm-4.7": "enable_thinking",
    "kimi-k2.6": "thinking",
    "kimi-k3": "thinking",
    "ling-3": "enable_thinking",
    "mistral": "mistral",
    "nemotron-3": "enable_thinking",
    "qwen3.5": "enable_thinking",
}


class WirecallReasoningDetector(BaseReasoningFormatDetector):
    """Reads one message. SGLang makes one for each choice, from a subclass with `parser_name`."""

    parser_name: ClassVar[str]

    def __init__(
        self,
        stream_reasoning: bool = True,
        force_reasoning: bool | None = None,
        continue_final_message: bool = False,
        previous_content: Any = "",
        force_nonempty_content: bool = False,
        tool_call_parser_active: bool = False,
        tokenizer: Any = None,
    ) -> None:
        """
        Args:
            stream_reasoning: Otherwise the reasoning is sent when it is complete.
            force_reasoning: Whether the prompt opens the reasoning; None if that is not known.
            continue_final_message: Whether the prompt ends with a part of the message.
            previous_content: That part.
            force_nonempty_content: Whether an answer that has nothing but reasoning is content.
            tool_call_parser_active: Whether a tool detector reads what is passed on.
            tokenizer: The tokenizer of the model, or None.
        """
        served = format_of(self.parser_name, tokenizer)
        name = served.choice.format.name
        super().__init__(
            next(iter(served.prompts.openers), ""),
            next(iter(served.prompts.closers), ""),
            force_reasoning=bool(force_reasoning),
            stream_reasoning=stream_reasoning,
            thinks_internally=not served.starts_in_reasoning,
            reasoning_default=_MODES.get(name, "always" if served.starts_in_reasoning else None),
            force_nonempty_content=force_nonempty_content and not tool_call_parser_active,
        )
        if continue_final_message and isinstance(previous_content, str):
            opened = served.prompts.leaves_open(previous_content)
            force_reasoning = force_reasoning if opened is None else opened
        self._reader = served.reader(served.toolset(None), in_reasoning=force_reasoning)
        self._passage = Passage(force_reasoning) if tool_call_parser_active else None
        self._pending_reasoning: list[str] = []
        self._has_text = False

    def detect_and_parse(self, text: str) -> StreamingParseResult:
        """The reasoning and the rest of a whole message."""
        if self._passage is not None:
            self._passage.add(text)
        delta = self._reader.whole(text)
        if self._force_nonempty_content and not delta.text:
            delta.text, delta.reasoning = delta.reasoning, ""
        return self._result(delta)

    def parse_streaming_increment(self, new_text: str) -> StreamingParseResult:
        """The reasoning and the rest of a piece of a message."""
        if self._passage is not None:
            self._passage.add(new_text)
        return self._result(self._streamed(self._reader.feed(new_text)))

    def finish(self) -> StreamingParseResult:
        """The end of a message."""
        delta = self._streamed(self._reader.finish(), ended=True)
        if self._force_nonempty_content and not self._has_text:
            delta.text, delta.reasoning = self._accumulated_reasoning, ""
        return self._result(delta)

    def _streamed(self, delta: Delta, *, ended: bool = False) -> Delta:
        self._has_text = self._has_text or bool(delta.text)
        if self._force_nonempty_content:
            self._accumulated_reasoning += delta.reasoning
        if not self.stream_reasoning:
            self._pending_reasoning.append(delta.reasoning)
            delta.reasoning = ""
            if self._has_text or ended:
                delta.reasoning = "".join(self._pending_reasoning)
                self._pending_reasoning.clear()
        return delta

    def _result(self, delta: Delta) -> StreamingParseResult:
        text = delta.text if self._passage is None else PassedText(delta.text, self._passage)
        return StreamingParseResult(normal_text=text, reasoning_text=delta.reasoning)
