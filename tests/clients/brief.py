"""Three small tools, for tests of one answer; whole loops are in `loops`."""

from typing import Any


def _tool(name: str, required: list[str], **types: str) -> dict[str, Any]:
    properties = {field: {"type": kind} for field, kind in types.items()}
    parameters = {"type": "object", "properties": properties, "required": required}
    return {
        "type": "function",
        "function": {"name": name, "description": f"The {name}.", "parameters": parameters},
    }


TOOLS = [
    _tool("weather", ["city"], city="string", days="integer"),
    _tool("note", ["text"], text="string"),
    _tool("ping", []),
]
