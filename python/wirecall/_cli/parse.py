"""`wirecall parse`: the events of a model's message."""

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import click

from wirecall import CallError, Event, Format, Parser, Reasoning, Text, Toolset
from wirecall._cli.inputs import NotUtf8Error, read_pieces, reject_shared_stdin
from wirecall._cli.options import load_toolset, protocol_options, protocol_source, tools_option
from wirecall._cli.outputs import to_json
from wirecall._tools.detection import SEARCHED, format_in


@click.command(
    epilog="""\b
Events, one JSON object on each line:
  {"type": "text", "text"}
  {"type": "reasoning", "text", "start", "end"}
  {"type": "call_start", "index", "id", "name"}
  {"type": "arguments_delta", "index", "delta"}
  {"type": "call_end", "index", "id", "name", "arguments", "start", "end", "repairs", "problems"}
  {"type": "call_error", "index", "id", "name", "kind", "message", "raw", "start", "end",
   "sentence", "example", "arguments", "problems"}
"arguments" is JSON text, the joined deltas of a call. "start" and "end" count characters.
With --whole: {"items": […], "framing": [[start, end], …]}. Framing is what is in no item: markers of
reasoning and of native formats, whitespace around them, and stop tokens.
"message" is "sentence" followed by "example"; "example" and "arguments" can be null.
The input must be UTF-8. At an invalid byte, the message counts as cut off, and the exit code is 2; the
error names the byte's position, counted from 0.

\b
Examples:
  llm "…" | wirecall parse --tools tools.json
  wirecall parse --tools tools.json message.txt | jq 'select(.type == "call_end").arguments | fromjson'
  wirecall parse --tools tools.json --whole --complete message.txt
  llm "…" | wirecall parse --text
""",
)
@tools_option(without="Without it, calls of any name are parsed, with untyped values. xml and yaml need it.")
@protocol_options
@click.option(
    "--text", "only_text", is_flag=True, help="Print only the text, without calls and separate reasoning."
)
@click.option("--whole", is_flag=True, help="Read to the end, then print one JSON object.")
@click.option("--strict", is_flag=True, help="Report near misses as errors instead of repairing them.")
@click.option(
    "--validate",
    flag_value="error",
    default="report",
    show_default=False,
    help="Check arguments against the whole schema; violations are errors.",
)
@click.option(
    "--code",
    type=click.Choice(["call", "text"]),
    default="call",
    help="Whether calls in Markdown code are parsed as calls or left as text.",
)
@click.option(
    "--truncated/--complete",
    default=None,
    help="Whether the message was cut off. Unknown counts as cut off.",
)
@click.option(
    "--in-reasoning/--not-in-reasoning",
    default=None,
    help="Whether the message starts inside reasoning, because the prompt ends there. By default, as the "
    "protocol says.",
)
@click.option(
    "--reasoning",
    type=click.Choice(["auto", "content", "separate"]),
    default="auto",
    help="Whether reasoning is separate or part of the text: auto separates it in native formats only.",
)
@click.argument("file", default="-")
def parse(
    tools_path: str | None,
    protocol: str | Format,
    only_text: bool,
    whole: bool,
    truncated: bool | None,
    in_reasoning: bool | None,
    file: str,
    **options: Any,
) -> None:
    """Parse a model's message and print events as they occur.

    Exit code 0 if every call could be parsed, 1 if not.
    """
    if only_text and whole:
        raise click.UsageError("--text and --whole cannot be combined.")
    reject_shared_stdin(tools_path, file)
    toolset = load_toolset(tools_path, protocol, **options)
    if not toolset.names and not toolset.parse(toolset.encode("name", {}), in_reasoning=False).calls:
        raise click.UsageError(f"{protocol_source()} needs --tools: calls are tags with the tools' names.")
    pieces = _Pieces(read_pieces(file, "a model's message"))
    batches: Iterable[Sequence[Event]] = _parsed(toolset.parser(in_reasoning=in_reasoning), pieces, truncated)
    show: Callable[[Sequence[Event]], None]
    if whole:
        read = "".join(pieces)
        message = toolset.parse(read, truncated=pieces.truncated(truncated), in_reasoning=in_reasoning)
        batches, show = [message.items], lambda _: print(to_json(message.to_dict()))
    else:
        show = _show_text if only_text else _show_events
    # The text of a message without calls may contain calls of another protocol.
    failed, is_text, text = False, bool(toolset.names) and not in_reasoning, io.StringIO()
    for events in batches:
        show(events)
        sys.stdout.flush()
        for event in events:
            failed |= isinstance(event, CallError)
            is_text &= isinstance(event, (Text, Reasoning))
            if is_text and isinstance(event, Text):
                text.write(event.text[: max(0, SEARCHED - text.tell())])
    if pieces.error is not None:
        raise pieces.error
    if is_text and options["code"] == "call":
        _hint_at_protocol(toolset, text.getvalue())
    if failed:
        raise click.exceptions.Exit(1)


class _Pieces:
    """A message as it arrives. It ends at the first byte that is not UTF-8, and `error` is then set."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = pieces
        self.error: NotUtf8Error | None = None

    def __iter__(self) -> Iterator[str]:
        try:
            yield from self._pieces
        except NotUtf8Error as error:
            self.error = error

    def truncated(self, given: bool | None) -> bool | None:
        """Whether the message was cut off: `given`, or True after an invalid byte. Read the message first."""
        return given if self.error is None else True


def _parsed(parser: Parser, pieces: _Pieces, truncated: bool | None) -> Iterator[list[Event]]:
    yield from map(parser.feed, pieces)
    yield parser.finish(truncated=pieces.truncated(truncated))


def _show_events(events: Sequence[Event]) -> None:
    sys.stdout.writelines(f"{to_json(event.to_dict())}\n" for event in events)


def _show_text(events: Sequence[Event]) -> None:
    """Prints text to standard output, and errors to standard error."""
    for event in events:
        if isinstance(event, Text):
            sys.stdout.write(event.text)
        elif isinstance(event, CallError):
            click.echo(f"characters {event.start} to {event.end}: {event.kind}: {event.message}", err=True)


def _hint_at_protocol(toolset: Toolset, text: str) -> None:
    """Names on standard error the protocol that the calls in a text may be written in."""
    found = format_in(text, toolset.names)
    if found is not None:
        click.echo(
            f"no call was found; the text has calls of another format: try --protocol {found}", err=True
        )
