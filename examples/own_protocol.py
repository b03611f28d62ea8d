"""A custom protocol: calls look like Python, a format that some models were trained on.

The program checks the protocol against all laws, then parses a stream with it.
"""

import ast
import json
import keyword

from arguments import check_arguments

from wirecall import CallEnd, CallError, Protocol, Text, Toolset
from wirecall.testing import check_format


class PythonCalls(Protocol):
    """`<|tool_call_start|>[name(key="value")]<|tool_call_end|>`."""

    def __init__(self) -> None:
        super().__init__(
            name="python",
            open="<|tool_call_start|>",
            close="<|tool_call_end|>",
            result=("<|tool_response_start|>", "<|tool_response_end|>"),
            header="Call a tool as in Python, with named arguments that are literals:",
        )

    def begins(self, head: str) -> bool:
        # Prose may mention the marker.
        return head.lstrip().startswith("[")

    def format_call(self, name: str, arguments: str) -> str:
        given = json.loads(arguments)
        for key in given:
            if not key.isidentifier() or keyword.iskeyword(key):
                raise ValueError(f"{key!r} cannot name an argument in Python")
        return f"[{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})]"

    def parse(self, body: str) -> tuple[str, dict[str, object]] | None:
        # A tool's name may have hyphens, so it is not parsed as Python.
        name, _, given = body.strip().removeprefix("[").partition("(")
        try:
            tree = ast.parse(f"[f({given}", mode="eval").body
        except (SyntaxError, RecursionError, MemoryError):
            return None  # the marker is inside a string: the call continues
        match tree:
            case ast.List([ast.Call(ast.Name("f"), [], words)]):
                return name, {str(word.arg): ast.literal_eval(word.value) for word in words}
        raise ValueError("Write one call with named arguments: [name(key=value)].")


tools = Toolset(
    [
        {
            "name": "get_weather",
            "description": "The weather forecast for a place.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
        }
    ],
    protocol=PythonCalls(),
)


def main() -> None:
    check_format(PythonCalls())  # raises an AssertionError with the smallest case that breaks a law
    print(tools.manual(), end="\n\n")
    message = (
        "Let me look.\n"
        '<|tool_call_start|>[get_weather(city="<|tool_call_end|>", days="3")]<|tool_call_end|>'
        "<|tool_call_start|>[get_weather(place)]<|tool_call_end|>"
    )
    parser = tools.parser()
    for start in range(0, len(message), 4):
        handle(parser.feed(message[start : start + 4]))
    handle(parser.finish(truncated=False))
    print(tools.encode_result("get_weather", "sun <|tool_response_end|>"))


def handle(events: list[object]) -> None:
    for event in events:
        match event:
            case Text(text):
                print(text, end="")
            case CallEnd(name=name, args=arguments, repairs=repairs):
                print(f"{name} {arguments} {repairs}")
            case CallError(message=message):
                print(f"refused: {message}")


if __name__ == "__main__":
    check_arguments()
    main()
