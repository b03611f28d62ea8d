"""Items of OpenAI's Responses API."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from wirecall._apis.conversation import (
    ASSISTANT,
    AUDIO,
    DOCUMENT,
    IMAGE,
    SYSTEM,
    USER,
    Call,
    Message,
    MessageFormat,
    MessageInfo,
    Result,
)
from wirecall._apis.values import Json, dict_of
from wirecall._shown import as_str

# Calls that the application answers: the type of the result, its key for the call's id, and the call's key.
_PAIRS = {
    "function_call": ("function_call_output", "call_id", "call_id"),
    "custom_tool_call": ("custom_tool_call_output", "call_id", "call_id"),
    "computer_call": ("computer_call_output", "call_id", "call_id"),
    "local_shell_call": ("local_shell_call_output", "id", "call_id"),
    "shell_call": ("shell_call_output", "call_id", "call_id"),
    "apply_patch_call": ("apply_patch_call_output", "call_id", "call_id"),
    "mcp_approval_request": ("mcp_approval_response", "approval_request_id", "id"),
}
# Calls that the host must answer; the provider answers the others itself.
NATIVE_CALLS = tuple(_PAIRS.keys() - {"mcp_approval_request"})
_OUTPUTS = {output: key for output, key, _ in _PAIRS.values()}
# Calls whose result may be a text, so that a placeholder can replace it.
_TEXTUAL = ("function_call", "custom_tool_call")
# What the ids of reasoning begin with that was in a text.
REASONING_ID = "rs_wirecall_"
# Other items of the model: calls that the server has answered, and reasoning.
_SERVER = MessageInfo("assistant", joins=True, binds=True)
_REASONING = MessageInfo("assistant", binds=True)


class ResponsesFormat(MessageFormat):
    """Items. Calls, results and reasoning are separate items."""

    name = "responses"
    merges = True
    text_part = "input_text"
    own_keys = ("type",)
    own_parts = ("input_text", "output_text", "input_image", "input_file")
    text_keys = (
        *("content", "text", "name", "refusal", "summary", "arguments", "input", "action", "operation"),
        *("queries", "code", "output", "outputs", "results"),
    )
    value_keys = ("arguments", "input", "action", "operation")
    media: ClassVar = {
        **dict.fromkeys(("input_image", "computer_screenshot"), IMAGE),
        "input_file": DOCUMENT,
        "input_audio": AUDIO,
    }

    def owns(self, message: Mapping[str, Any]) -> bool:
        return message.get("type") is not None

    def inspect(self, message: Mapping[str, Any]) -> MessageInfo:
        kind = message.get("type")
        if kind == "message" or not isinstance(kind, str):
            role = message.get("role")
            return ASSISTANT if role == "assistant" else SYSTEM if role in ("system", "developer") else USER
        if kind in _PAIRS:
            id = as_str(message.get(_PAIRS[kind][2]))
            name = as_str(message.get("name") or kind)
            arguments = message.get("arguments", message.get("input", message.get("action")))
            call = Call(id, name, arguments, kind, kind in _TEXTUAL)
            return MessageInfo("assistant", (call,), joins=True)
        if kind in _OUTPUTS:
            return MessageInfo("result", results=(Result(_id(message), None, message.get("output")),))
        if kind == "compaction":  # Only the server can read it, so it cannot be summarised.
            return SYSTEM
        return _REASONING if kind == "reasoning" else _SERVER

    def text(self, message: Mapping[str, Any]) -> str:
        return super().text(message) if message.get("type", "message") == "message" else ""

    def attachments(self, message: Mapping[str, Any]) -> list[str]:
        kind = as_str(message.get("type"))
        if kind.endswith("_call") and kind not in _PAIRS:
            return [f"[Called {as_str(message.get('name') or kind.removesuffix('_call'))} on the server]"]
        return super().attachments(message)

    def attachment(self, part: Mapping[str, Any]) -> str | None:
        kind = part.get("type")
        if kind == "input_image":
            return "[image]"
        if kind == "input_file":
            return f"[document: {as_str(part['filename'])}]" if part.get("filename") else "[document]"
        return "[audio]" if kind == "input_audio" else None

    def user(self, text: str) -> Json:
        return {"type": "message", **super().user(text)}

    def answered(self, results: Sequence[Message], missing: Iterable[tuple[Call, str]]) -> list[Message]:
        made = [{"type": _PAIRS[call.kind][0], "call_id": call.id, "output": text} for call, text in missing]
        return [*made, *results]

    def with_results(self, message: Message, contents: Mapping[str, object]) -> Message:
        given = dict_of(message)
        call = as_str(given.get("type")).removesuffix("_output")
        if call not in _TEXTUAL or given.get("type") not in _OUTPUTS or _id(given) not in contents:
            return message
        return {**given, "output": contents[_id(given)]}

    def without_reasoning(self, message: Message) -> Message | None:
        return None if dict_of(message).get("type") == "reasoning" else message

    def unbound(self, message: Message) -> Message | None:
        given = dict_of(message)
        if given.get("id") is None:
            return message
        # The id tells the API which reasoning it requires. A call that the server answered must have one.
        if given.get("type", "message") not in ("message", *_TEXTUAL):
            return None
        return {key: value for key, value in given.items() if key != "id"}

    def without_calls(self, message: Message, ids: set[str]) -> Message | None:
        info = self.inspect(dict_of(message))
        gone = any(call.id in ids for call in info.calls) or any(one.id in ids for one in info.results)
        return None if gone else message


def _id(output: Mapping[str, Any]) -> str:
    return as_str(output.get(_OUTPUTS.get(as_str(output.get("type")), "call_id")))
