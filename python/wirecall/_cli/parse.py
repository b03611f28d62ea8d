"""`wirecall parse`: the events of a model's message."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import click

from wirecall import CallEnd, CallError, Event, Problem, Text, ToolError, Toolset, detect
from wirecall._cli.inputs import read_pieces, reject_shared_stdin
from wirecall._cli.options import load_toolset, protocol_option, tools_option
from wirecall._cli.outputs import print_line, to_json

# How much text without calls is searched for calls of another protocol, in characters.
_SEARCHED = 1 << 20


@click.command(
    epilog="""\b
Events, one JSON object on each line:
  {"type": "text", "text"}
  {"type": "call_start", "index", "id", "name"}
  {"type": "arguments_delta", "index", "delta"}
  {"type": "call_end", "index", "id", "name", "arguments", "start", "end", "repairs", "problems"}
  {"type": "call_error", "index", "id", "name", "kind", "message", "raw", "start", "end",
   "sentence", "example", "arguments"}
"arguments" is JSON text, the joined deltas of a call. "start" and "end" count characters.
"message" is "sentence" followed by "example"; "example" and "arguments" can be null.

\b
Examples:
  llm "…" | wirecall parse --tools tools.json
  wirecall parse --tools tools.json message.txt | jq 'select(.type == "call_end").arguments | fromjson'
  wirecall parse --tools tools.json --whole --complete message.txt
  llm "…" | wirecall parse --text
""",
)
@tools_option(without="Without it, calls of any name are read, with untyped values. xml and yaml need it.")
@protocol_option
@click.option("--text", "only_text", is_flag=True, help="Print only the text outside calls.")
@click.option("--whole", is_flag=True, help='Read to the end, then print one JSON object, {"items": […]}.')
@click.option("--strict", is_flag=True, help="Report near misses as errors instead of repairing them.")
@click.option(
    "--validate", is_flag=True, help="Check arguments against the whole schema; violations are errors."
)
@click.option(
    "--code",
    type=click.Choice(["call", "text"]),
    default="call",
    show_default=True,
    help="Whether calls in Markdown code fences and inline code are read as calls or as text.",
)
@click.option(
    "--truncated/--complete",
    default=None,
    help="Whether the message was cut off. Unknown counts as cut off.",
)
@click.option("--in-reasoning", is_flag=True, help="The message starts inside reasoning.")
@click.argument("file", default="-")
@click.pass_context
def parse(
    ctx: click.Context,
    tools_path: str | None,
    protocol: str,
    only_text: bool,
    whole: bool,
    strict: bool,
    validate: bool,
    code: str,
    truncated: bool | None,
    in_reasoning: bool,
    file: str,
) -> None:
    """Read a model's message and print events as they happen.

    Exit code 0 if every call could be read, 1 if not.
    """
    if only_text and whole:
        raise click.UsageError("--text and --whole cannot be combined.")
    reject_shared_stdin(tools_path, file)
    validation = "error" if validate else "report"
    toolset = load_toolset(tools_path, protocol, strict=strict, validate=validation, code=code)
    if not toolset.names and not _reads_any_name(toolset):
        raise click.UsageError(f"--protocol {protocol} needs --tools: calls are tags with the tools' names.")
    # A message without calls may have calls of another protocol.
    watch = _Watch(bool(toolset.names) and not in_reasoning and code == "call")
    pieces = read_pieces(file, "a model's message")
    if whole:
        message = toolset.parse("".join(pieces), truncated=truncated, in_reasoning=in_reasoning)
        print_line(to_json({"items": [_as_dict(item) for item in message.items]}))
        watch.note(message.items)
    else:
        show: Callable[[Event], None] = _show_text if only_text else _show_event
        parser = toolset.parser(in_reasoning=in_reasoning)

        def take(events: list[Event]) -> None:
            for event in events:
                show(event)
            sys.stdout.flush()
            watch.note(events)

        for piece in pieces:
            take(parser.feed(piece))
        take(parser.finish(truncated=truncated))
    if watch.is_text:
        _hint_at_protocol(toolset, "".join(watch.texts))
    if watch.failed:
        ctx.exit(1)


class _Watch:
    """Notes errors, and the beginning of a message that is only text."""

    def __init__(self, is_text: bool) -> None:
        self.failed = False
        self.is_text = is_text
        self.texts: list[str] = []
        self._left = _SEARCHED

    def note(self, events: Iterable[Event]) -> None:
        for event in events:
            self.failed |= isinstance(event, CallError)
            if not isinstance(event, Text):
                self.is_text = False
            elif self.is_text and self._left:
                self.texts.append(event.text[: self._left])
                self._left -= len(self.texts[-1])


def _reads_any_name(toolset: Toolset) -> bool:
    return bool(toolset.segments(toolset.encode("name", {})))


def _as_dict(event: Event) -> dict[str, Any]:
    members = {"type": event.type, **_members(event)}
    if isinstance(event, CallEnd):
        members["problems"] = [_members(problem) for problem in event.problems]
    return members


def _members(value: Event | Problem) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__match_args__}


def _show_event(event: Event) -> None:
    sys.stdout.write(to_json(_as_dict(event)) + "\n")


def _show_text(event: Event) -> None:
    """Prints text to standard output, and errors to standard error."""
    if isinstance(event, Text):
        sys.stdout.write(event.text)
    elif isinstance(event, CallError):
        click.echo(f"characters {event.start} to {event.end}: {event.kind}: {event.message}", err=True)


def _hint_at_protocol(toolset: Toolset, text: str) -> None:
    """Says on standard error which other protocol the calls of a message may be in."""
    try:
        found = detect(text, [(name, True) for name in toolset.names]).protocol
    except ToolError:  # a name that another protocol cannot write
        return
    if found is not None:
        click.echo(
            f"no call was found; the text has calls of another format: try --protocol {found}", err=True
        )
