"""Deltas as vLLM's objects."""

from collections.abc import Callable

from vllm.entrypoints.generate.base.protocol import DeltaFunctionCall, DeltaMessage, DeltaToolCall

from wirecall._serving.message import CallDelta, Delta


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
