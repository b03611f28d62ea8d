"""For tests of reasoning: messages and streams as lists of items, and what covers a message."""

from typing import Any

from wirecall import Event, Message, Reasoning, Text, Toolset

Json = dict[str, Any]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get", "description": "Gets.", "parameters": SCHEMA}
TOOLS = [{"type": "function", "function": FUNCTION}]
PROMPTED = ["wire", "gemma", "xml", "yaml"]
NATIVE = ["hermes", "qwen3coder", "deepseek-r1", "glm-4.5", "mistral"]
PLAN = "<think>\nPlan it.\n</think>\n\n"


def kinds(message: Message) -> list[tuple[str, str]]:
    """Texts, and the types of other items."""
    return [
        (item.type, item.text if isinstance(item, (Text, Reasoning)) else item.name or "")
        for item in message.items
    ]


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def streamed(tools: Toolset, text: str, size: int, **options: Any) -> list[tuple[str, str]]:
    """The events of a stream as the items of a message, without parts of calls."""
    parser = tools.parser(**options)
    events: list[Event] = [event for piece in cut(text, size) for event in parser.feed(piece)]
    events += parser.finish()
    found: list[tuple[str, str]] = []
    for event in events:
        if isinstance(event, Reasoning):
            assert text[event.start : event.end] == event.text
        if event.type in ("call_start", "arguments_delta"):
            continue
        said = event.text if isinstance(event, (Text, Reasoning)) else getattr(event, "name", None) or ""
        if found and isinstance(event, (Text, Reasoning)) and found[-1][0] == event.type:
            said = found.pop()[1] + said
        found.append((event.type, said))
    return found


def gaps(message: Message, text: str) -> str:
    """The framing. Asserts that it and the items cover the text."""
    at, framing = 0, dict(message.framing)
    for item in [*message.items, None]:
        while at in framing:
            at = framing.pop(at)
        if item is None:
            break
        said = item.text if isinstance(item, Text) else text[item.start : item.end]
        assert text[at : at + len(said)] == said
        at += len(said)
    assert (at, framing) == (len(text), {})
    return "".join(text[start:end] for start, end in message.framing)
