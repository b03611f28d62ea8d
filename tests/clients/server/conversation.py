"""One view of a request of any API: what the model was told, and who said what."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from .answers import Call, Json, compact


@dataclass(frozen=True)
class Result:
    """A native result of a tool."""

    name: str
    text: str


@dataclass
class Turn:
    """What one side said until the other side spoke."""

    role: Literal["user", "assistant"]
    text: str = ""
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


@dataclass
class Conversation:
    system: str = ""
    tools: list[str] = field(default_factory=list)  # names of the native tools
    turns: list[Turn] = field(default_factory=list)

    def turn(self, role: str) -> Turn:
        side: Literal["user", "assistant"] = "assistant" if role == "assistant" else "user"
        if not self.turns or self.turns[-1].role != side:
            self.turns.append(Turn(side))
        return self.turns[-1]


def read(body: Json) -> Conversation:
    """The conversation that a body of any of the three APIs holds."""
    conversation = Conversation()
    for key in ("system", "instructions"):
        conversation.system += text_of(body.get(key))
    for tool in body.get("tools") or ():
        conversation.tools.append(tool.get("name") or tool.get("function", {}).get("name", ""))
    conversation.tools += [tool["name"] for tool in body.get("functions") or ()]
    names: dict[str, str] = {}  # of tools, by the id of their call
    messages = body.get("messages", body.get("input"))
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    for message in messages or ():
        if message.get("role") in ("system", "developer"):
            conversation.system += text_of(message.get("content"))
        elif message.get("type") in ("reasoning", "item_reference"):
            continue
        else:
            _message(conversation, message, names)
    return conversation


def _message(conversation: Conversation, message: Json, names: dict[str, str]) -> None:
    kind = message.get("type")
    if kind == "function_call":
        _call(conversation, names, message["call_id"], message["name"], message["arguments"])
    elif kind == "function_call_output":
        _result(conversation, names, message["call_id"], message.get("output"))
    elif message.get("role") == "tool":
        _result(conversation, names, message["tool_call_id"], message.get("content"))
    elif message.get("role") == "function":
        turn = conversation.turn("user")
        turn.results.append(Result(message["name"], text_of(message.get("content"))))
    else:
        content = message.get("content")
        conversation.turn(message["role"]).text += text_of(content)
        for call in message.get("tool_calls") or ():
            function = call["function"]
            _call(conversation, names, call["id"], function["name"], function["arguments"])
        if function := message.get("function_call"):
            _call(conversation, names, "", function["name"], function["arguments"])
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_use":
                _call(conversation, names, block["id"], block["name"], compact(block["input"]))
            elif block.get("type") == "tool_result":
                _result(conversation, names, block["tool_use_id"], block.get("content"))


def _call(conversation: Conversation, names: dict[str, str], id: str, name: str, arguments: str) -> None:
    names[id] = name
    conversation.turn("assistant").calls.append(Call(name, arguments, id))


def _result(conversation: Conversation, names: dict[str, str], id: str, content: Any) -> None:
    conversation.turn("user").results.append(Result(names.get(id, "?"), text_of(content)))


def text_of(content: Any) -> str:
    """The text of a content: a string, or blocks of which only texts are read."""
    return "".join(_texts(content))


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and isinstance(block.get("text"), str):
                yield block["text"]
