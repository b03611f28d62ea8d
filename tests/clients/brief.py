"""Three small tools and two answers with reasoning, for short tests; whole loops are in `loops`."""

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

# A call with reasoning in its text, and the answer to its result.
THOUGHT = "<think>\nGo where?\n</think>\n\n"
CALL = "<call>weather city=Austin</call>"
ANSWERS = [f"{THOUGHT}{CALL}", "<think>\nArrived.\n</think>\n\nDone."]
