"""Messages as vLLM's objects."""

from collections.abc import Callable
from typing import Any

from vllm.entrypoints.generate.base.protocol import DeltaFunctionCall, DeltaMessage, DeltaToolCall
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.entrypoints.openai.responses.utils import should_continue_final_message

from wirecall._serving.message import CallDelta, Delta


def continued_text(request: Any) -> str | None:
    """The part of the message that is in the prompt already; None if the message begins there."""
    if getattr(request, "continue_final_message", False):
        content = request.messages[-1].get("content")
    elif isinstance(request, ResponsesRequest) and should_continue_final_message(request.input):
        content = _field(request.input[-1], "content")
    else:
        return None
    if isinstance(content, str):
        return content
    return "".join(text for part in content or () if isinstance(text := _field(part, "text"), str))


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def message_of(delta: Delta, *, call_id: Callable[[CallDelta], str | None]) -> DeltaMessage | None:
    """A delta as vLLM streams it; None if it is empty.

    Args:
        call_id: Gives the id of the first piece of a call.
    """
    fields: dict[str, object] = {}
    if delta.text:
        fields["content"] = delta.text
    if delta.reasoning:
        fields["reasoning"] = delta.reasoning
    if delta.calls:
        fields["tool_calls"] = [_call(call, call_id) for call in delta.calls]
    return DeltaMessage(**fields) if fields else None


def _call(call: CallDelta, call_id: Callable[[CallDelta], str | None]) -> DeltaToolCall:
    if call.name is None:
        return DeltaToolCall(index=call.index, function=DeltaFunctionCall(arguments=call.arguments))
    return DeltaToolCall(
        index=call.index,
        id=call_id(call),
        type="function",
        function=DeltaFunctionCall(name=call.name, arguments=call.arguments),
    )
