"""The commands of `wirecall`. Counting is in `tokens.py`, the demo in `demo.py`.

Every failure that is not the model's is a `click.ClickException`, which ends with exit code 2.
"""

import codecs
import dataclasses
import errno
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from difflib import get_close_matches
from typing import Any

import click

from wirecall import (
    PROTOCOLS,
    CallEnd,
    CallError,
    Event,
    Problem,
    Text,
    ToolError,
    Toolset,
    __version__,
    detect,
)
from wirecall import tokens as counting
from wirecall._bench.commands import bench
from wirecall._cli import demo as replay
from wirecall._cli.compact import compact
from wirecall._cli.inputs import Failure, load_json, no_json, open_file, read_text, title_of

# How much is read at once, at most; what is there is read at once, however little.
_CHUNK_BYTES = 1 << 16

_TOOLS = 'a JSON list of tools, or {"tools": […]}'


class ReaderGone(Exception):
    """Whoever read our output has closed it."""


class _Commands(click.Group):
    """A group that reports a closed pipe; click would end with 1, which here means call errors."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno != errno.EPIPE and not (sys.platform == "win32" and error.errno == errno.EINVAL):
                raise
            raise ReaderGone from error


def _tools_option(without: str | None = None) -> Callable[[Any], Any]:
    """`--tools FILE`, required unless the help says what happens `without` it."""
    forms = 'JSON list of tools (OpenAI, Anthropic or MCP form), or {"tools": […]}.'
    return click.option(
        "--tools",
        "tools_path",
        metavar="FILE",
        required=without is None,
        help=forms if without is None else f"{forms} {without}",
    )


def _known(_ctx: object, _parameter: object, protocol: str) -> str:
    with _blame("--protocol"):
        Toolset(protocol=protocol)
    return protocol


_protocol_option = click.option(
    "--protocol",
    callback=_known,
    metavar="NAME",
    default="wire",
    show_default=True,
    help=f"Format of the calls: {', '.join(PROTOCOLS)}, or auto. json, morph-xml and yaml-xml are "
    "aliases of hermes, xml and yaml.",
)
_descriptions_option = click.option(
    "--descriptions",
    type=click.Choice(["full", "tools", "none"]),
    default="full",
    show_default=True,
    help="Descriptions in the manual: of tools and fields, of tools only, or none.",
)
_constraints_option = click.option(
    "--constraints/--no-constraints",
    default=True,
    show_default=True,
    help="Bounds, patterns, formats and examples of fields in the manual.",
)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Exit codes:
  0    success; parse: all calls could be read
  1    parse: the message has call errors
  2    wrong usage, an unusable file or tool, or a missing package
  130  interrupted
  141  the output was closed by its reader

\b
Examples:
  wirecall demo
  wirecall manual --tools tools.json
  wirecall parse --tools tools.json message.txt
  wirecall encode --tools tools.json get_weather '{"city": "New York"}'
  wirecall tokens --tools tools.json
  wirecall compact history.json --keep-recent-turns 10 --plan
  wirecall bench offline
""",
)
@click.version_option(__version__)
def wirecall() -> None:
    """Tool calls as plain text: parse, write and count them.

    FILE is a path, or - for standard input. Errors go to standard error.
    """


wirecall.add_command(bench)
wirecall.add_command(compact)


@wirecall.command(
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
@_tools_option(without="Without it, calls of any name are read, with untyped values. xml and yaml need it.")
@_protocol_option
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
    _not_both_stdin(tools_path, file)
    validation = "error" if validate else "report"
    toolset = _toolset(tools_path, protocol, strict=strict, validate=validation, code=code)
    if not toolset.names and not _reads_any_name(toolset):
        raise click.UsageError(f"--protocol {protocol} needs --tools: calls are tags with the tools' names.")
    # A message of text only may have calls of another format.
    failed, texts, only_texts = False, [], bool(toolset.names) and not in_reasoning and code == "call"

    def keep(events: Iterable[Event]) -> None:
        """Notes errors, and the text as long as there is nothing else."""
        nonlocal failed, only_texts
        for event in events:
            failed |= isinstance(event, CallError)
            only_texts &= isinstance(event, Text)
            if only_texts and isinstance(event, Text):
                texts.append(event.text)

    if whole:
        message = toolset.parse("".join(_pieces(file)), truncated=truncated, in_reasoning=in_reasoning)
        _print(_json({"items": [_as_dict(item) for item in message.items]}))
        keep(message.items)
    else:
        show = _show_text if only_text else _show_event
        parser = toolset.parser(in_reasoning=in_reasoning)
        for piece in _pieces(file):
            show(events := parser.feed(piece))
            keep(events)
        show(events := parser.finish(truncated=truncated))
        keep(events)
    if only_texts:
        _hint_at_protocol(toolset, "".join(texts))
    if failed:
        ctx.exit(1)


@wirecall.command(
    epilog="""\b
Examples:
  wirecall encode --tools tools.json get_weather '{"city": "New York"}'
  wirecall encode --tools tools.json get_weather - < arguments.json
  wirecall encode --tools tools.json < calls.jsonl
""",
)
@_tools_option(without="Without it, calls of any name are written, with untyped values.")
@_protocol_option
@click.argument("name", required=False)
@click.argument("arguments", required=False, metavar="[ARGUMENTS|-]")
def encode(tools_path: str | None, protocol: str, name: str | None, arguments: str | None) -> None:
    """Write calls as text, in the wire format or another one.

    With NAME, write one call. ARGUMENTS is a JSON object ({} by default), or - for standard input. Without
    NAME, each line of standard input is a call, {"name": …, "arguments": {…}}.

    With --tools, names of other tools are an error, and arguments that do not fit the schema get a warning.
    """
    if name is None:
        _not_both_stdin(tools_path, "-")
        toolset, schemas = _with_schemas(tools_path, protocol)
        for place, called, given in _calls("-"):
            _print(_encode(toolset, called, given, name_at=place, arguments_at=place))
            _warn(schemas, called, given, place)
        return
    if arguments == "-":
        _not_both_stdin(tools_path, "-")
    toolset, schemas = _with_schemas(tools_path, protocol)
    place, text = "ARGUMENTS", "{}" if arguments is None else arguments
    if arguments == "-":
        place, text = title_of("-"), read_text("-", "the arguments, a JSON object,")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        raise no_json(error, place, "a JSON object") from error
    except (ValueError, RecursionError):  # a limit of this reader: the encoder has its own
        pass
    _print(_encode(toolset, name, text, name_at="NAME", arguments_at=place))
    _warn(schemas, name, text, place)


@wirecall.command(
    epilog="""\b
Examples:
  wirecall manual --tools tools.json
  wirecall manual --tools tools.json --descriptions none
  wirecall manual --tools tools.json --header ''
""",
)
@_tools_option()
@_protocol_option
@click.option(
    "--header", metavar="TEXT", help="Text before the tools, instead of the built-in one; '' for none."
)
@_descriptions_option
@_constraints_option
def manual(tools_path: str, protocol: str, header: str | None, descriptions: str, constraints: bool) -> None:
    """Print the manual: the text that tells a model about the tools."""
    toolset = _toolset(tools_path, protocol, descriptions=descriptions, constraints=constraints)
    if not toolset.names:
        raise Failure(f"{title_of(tools_path)}: the list of tools is empty, so there is no manual to print")
    _print(toolset.manual(header=header))


@wirecall.command(
    epilog="""\b
Examples:
  wirecall tokens --tools tools.json
  wirecall tokens --tools tools.json --calls calls.jsonl --json
  wirecall tokens --tools tools.json --characters

Needs tiktoken: pip install 'wirecall[tokens]'. It downloads a vocabulary once and caches it;
without a network, set TIKTOKEN_CACHE_DIR to the directory of a copy.
""",
)
@_tools_option()
@click.option(
    "--calls", "calls_path", metavar="FILE", help='Calls, one {"name": …, "arguments": {…}} on each line.'
)
@click.option(
    "--encoding", default=counting.ENCODING, show_default=True, metavar="NAME", help="tiktoken vocabulary."
)
@_protocol_option
@click.option("--characters", is_flag=True, help="Count characters instead; needs no tiktoken.")
@_descriptions_option
@_constraints_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def tokens(
    tools_path: str,
    calls_path: str | None,
    encoding: str,
    protocol: str,
    characters: bool,
    descriptions: Any,
    constraints: bool,
    as_json: bool,
) -> None:
    """Count tokens of definitions and calls, native and as text.

    Native definitions are counted as OpenAI chat tools in minified JSON. How providers render them for the
    model is not public, so these counts are an estimate.
    """
    _not_both_stdin(tools_path, calls_path)
    tools = _load_tools(tools_path)
    calls = list(_calls(calls_path)) if calls_path is not None else []
    try:
        count: counting.Count = len if characters else counting.tokenizer(encoding)
    except counting.VocabularyError as error:
        raise Failure(f"{error} Or use --characters.") from error
    with _blame(title_of(tools_path)):
        toolset = Toolset(tools, protocol=protocol)
        costs = counting.measure(
            tools, count=count, protocol=protocol, descriptions=descriptions, constraints=constraints
        )
    for place, name, arguments in calls:
        with _blame(place):
            costs.calls.append(counting.call_cost(toolset, name, arguments, count))
    unit = "characters" if characters else "tokens"
    if as_json:
        vocabulary = None if characters else encoding
        _print(_json({"unit": unit, "encoding": vocabulary, **dataclasses.asdict(costs)}))
    else:
        _print(counting.tables(costs, unit if characters else f"{unit} of {encoding}", protocol))


@wirecall.command(
    epilog="""\b
Examples:
  wirecall demo
  wirecall demo --speed 40
  wirecall demo --speed 0 | less
""",
)
@click.option(
    "--speed",
    type=click.FloatRange(min=0),
    default=replay.SPEED,
    show_default=True,
    help="Tokens per second; 0 shows the results at once, as NO_COLOR and output to a file do.",
)
def demo(speed: float) -> None:
    """Replay hand-written model outputs: no key, no network.

    The outputs imitate a model's; none was recorded. The left side is what the model writes, the right side
    what a program receives.
    """
    replay.run(speed)


# --- reading


def _pieces(path: str, expected: str = "a model's message") -> Iterator[str]:
    """Text as it comes in. Bytes that are not valid UTF-8 become U+FFFD."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    with ExitStack() as stack:
        stream = open_file(path, expected)
        if path != "-":
            stack.enter_context(stream)
        # A buffered reader's read1 returns what one read of the system gives.
        read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        while True:
            try:
                chunk = read(_CHUNK_BYTES)
            except IsADirectoryError as error:
                raise Failure(f"{path}: {error.strerror}") from error
            if piece := decoder.decode(chunk, final=not chunk):
                yield piece
            if not chunk:
                return


def _not_both_stdin(tools_path: str | None, path: str | None) -> None:
    if tools_path == "-" and path == "-":
        raise click.UsageError("only one input can be standard input.")


def _load_tools(path: str) -> list[Any]:
    loaded = load_json(read_text(path, _TOOLS), title_of(path), _TOOLS)
    tools = loaded.get("tools") if isinstance(loaded, dict) else loaded
    if not isinstance(tools, list):
        raise Failure(f"{title_of(path)}: expected {_TOOLS}")
    if any(isinstance(tool, dict) and "role" in tool and "name" not in tool for tool in tools):
        raise Failure(f"{title_of(path)}: this is a list of messages; expected {_TOOLS}")
    return tools


def _reads_any_name(toolset: Toolset) -> bool:
    return bool(toolset.segments(toolset.encode("name", {})))


def _toolset(path: str | None, protocol: str, **options: Any) -> Toolset:
    if path is None:
        return Toolset(protocol=protocol, **options)
    tools = _load_tools(path)
    with _blame(title_of(path)):
        return Toolset(tools, protocol=protocol, **options)


def _with_schemas(path: str | None, protocol: str) -> tuple[Toolset, Toolset | None]:
    """The toolset, and one whose calls keep the types of JSON; None where arguments have no schema."""
    if path is None:
        return Toolset(protocol=protocol), None
    tools = _load_tools(path)
    with _blame(title_of(path)):
        toolset = Toolset(tools, protocol=protocol)
    try:
        return toolset, Toolset(tools, protocol="hermes")
    except ToolError:  # a name that only the other protocol can write
        return toolset, None


def _calls(path: str) -> Iterator[tuple[str, str, Any]]:
    """Where each call stands, its name and its arguments: one JSON object on each line."""
    expected = 'one call on each line, {"name": …, "arguments": {…}}'
    for number, line in enumerate(_lines(path, "calls, a JSON object on each line,"), start=1):
        place = f"{title_of(path)}, line {number}"
        if not line.strip():
            continue
        call = load_json(line, title_of(path), expected, line=number)
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            raise Failure(f"{place}: expected {expected}")
        yield place, call["name"], call.get("arguments", {})


def _lines(path: str, expected: str) -> Iterator[str]:
    rest = ""
    for piece in _pieces(path, expected):
        *lines, rest = (rest + piece).split("\n")
        yield from lines
    yield rest


class _blame:
    """Turns the caller's mistakes into a failure that names where the mistake stands."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, (ValueError, TypeError)):  # a ToolError is a ValueError
            raise Failure(f"{self.place}: {error}") from error


# --- writing


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _json(value: Any) -> str:
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not is_unicode, separators=(",", ":"))


def _as_dict(event: Event) -> dict[str, Any]:
    members = {"type": event.type, **_members(event)}
    if isinstance(event, CallEnd):
        members["problems"] = [_members(problem) for problem in event.problems]
    return members


def _members(value: Event | Problem) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__match_args__}


def _hint_at_protocol(toolset: Toolset, text: str) -> None:
    """Says on standard error which protocol would read calls in a message that has none in this one."""
    try:
        found = detect(text, [(name, True) for name in toolset.names]).protocol
    except ToolError:  # a name that another protocol cannot write
        return
    if found is not None:
        click.echo(
            f"no call was found; the text has calls of another format: try --protocol {found}", err=True
        )


def _show_event(events: Iterable[Event]) -> None:
    for event in events:
        sys.stdout.write(_json(_as_dict(event)) + "\n")
    sys.stdout.flush()


def _show_text(events: Iterable[Event]) -> None:
    """Print text, errors to standard error."""
    for event in events:
        if isinstance(event, Text):
            sys.stdout.write(event.text)
        elif isinstance(event, CallError):
            click.echo(f"characters {event.start} to {event.end}: {event.kind}: {event.message}", err=True)
    sys.stdout.flush()


def _encode(toolset: Toolset, name: str, arguments: Any, *, name_at: str, arguments_at: str) -> str:
    """A call as text; what is wrong is blamed on where the name or the arguments stand."""
    with _blame(name_at):
        if toolset.names and name not in toolset.names:
            near = get_close_matches(name, toolset.names, n=1)
            hint = f"did you mean {near[0]!r}? Available" if near else "available"
            raise ValueError(f"there is no tool {name!r}; {hint}: {', '.join(toolset.names)}")
        toolset.encode(name, {})
    with _blame(arguments_at):
        return toolset.encode(name, arguments)


def _warn(schemas: Toolset | None, name: str, arguments: Any, place: str) -> None:
    """Says on standard error where arguments do not fit the tool's schema."""
    if schemas is None:
        return
    for call in schemas.parse(schemas.encode(name, arguments)).calls:
        for problem in call.problems:
            said = problem.message.partition(" For example: ")[0]
            click.echo(f"{place}: warning: {said}", err=True)
        try:
            given = json.loads(arguments) if isinstance(arguments, str) else arguments
            same = json.loads(call.arguments) == given
        except (ValueError, RecursionError):  # a limit of this reader
            continue
        if not same:
            said = "the types are not those of the schema; it will be read as"
            click.echo(f"{place}: warning: {said} {call.arguments}", err=True)
