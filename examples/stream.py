"""Parse a model's stream: show text immediately and calls when they are complete.

Any iterable of text works. With an SDK, use the text deltas of its stream.
"""

from collections.abc import Iterable, Iterator

from arguments import check_arguments

from wirecall import CallEnd, CallError, Text, Toolset

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
    ]
)


def model() -> Iterator[str]:
    message = "Let me look.\n<call>get_weather city=Lisbon days=3</call>\nOne moment."
    for start in range(0, len(message), 4):
        yield message[start : start + 4]


def show(stream: Iterable[str]) -> None:
    parser = tools.parser()
    for piece in stream:
        handle(parser.feed(piece))
    # False if the API says that the message is complete, True if it was cut off.
    handle(parser.finish(truncated=False))
    print()


def handle(events: Iterable[object]) -> None:
    for event in events:
        match event:
            case Text(text):
                print(text, end="", flush=True)
            case CallEnd(name=name, args=arguments):
                print(f"[{name} {arguments}]", end="")
            case CallError(message=message):
                print(f"[refused: {message}]", end="")


if __name__ == "__main__":
    check_arguments()
    show(model())
