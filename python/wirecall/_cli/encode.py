"""`wirecall encode`: calls as text."""

import json
from typing import Any

import click

from wirecall import Format, ToolError, Toolset
from wirecall._cli.inputs import blame, invalid_json, read_calls, read_text, reject_shared_stdin, title_of
from wirecall._cli.options import load_tools, protocol_options, tools_option


@click.command(
    epilog="""\b
Examples:
  wirecall encode --tools tools.json get_weather '{"city": "New York"}'
  wirecall encode --tools tools.json get_weather - < arguments.json
  wirecall encode --tools tools.json < calls.jsonl
""",
)
@tools_option(without="Without it, calls of any name are written, with untyped values.")
@protocol_options
@click.argument("name", required=False)
@click.argument("arguments", default="{}", metavar="[ARGUMENTS|-]")
def encode(tools_path: str | None, protocol: str | Format, name: str | None, arguments: str) -> None:
    """Write calls as text, in the wire format or another one.

    With NAME, write one call. ARGUMENTS is a JSON object ({} by default), or - for standard input. Without
    NAME, each line of standard input is a call, {"name": …, "arguments": {…}}.

    With --tools, unknown names are an error, and arguments that do not match the schema cause a warning.
    """
    if name is None or arguments == "-":
        reject_shared_stdin(tools_path, "-")
    toolset, schemas = _with_schemas(tools_path, protocol)
    if name is None:
        for place, called, given in read_calls("-"):
            _write(toolset, schemas, called, given, place, place)
        return
    place, text = "ARGUMENTS", arguments
    if arguments == "-":
        place, text = title_of("-"), read_text("-", "the arguments, a JSON object,")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        raise invalid_json(error, place, "a JSON object") from error
    except (ValueError, RecursionError):  # a limit of `json`; the encoder has its own
        pass
    _write(toolset, schemas, name, text, "NAME", place)


def _with_schemas(path: str | None, protocol: str | Format) -> tuple[Toolset, Toolset | None]:
    """The toolset, and one whose calls keep the types of JSON; None if there are no schemas."""
    if path is None:
        return Toolset(protocol=protocol), None
    tools = load_tools(path)
    with blame(title_of(path)):
        toolset = Toolset(tools, protocol=protocol)
    try:
        return toolset, Toolset(tools, protocol="hermes")
    except ToolError:  # a name that only the given protocol can write
        return toolset, None


def _write(
    toolset: Toolset, schemas: Toolset | None, name: str, arguments: Any, name_at: str, place: str
) -> None:
    """Prints a call, then warnings about arguments that do not match the schema; `place` is theirs."""
    with blame(name_at):
        toolset.encode(name, {})
    with blame(place):
        text = toolset.encode(name, arguments)
    print(text, flush=True)
    for call in schemas.parse(schemas.encode(name, arguments)).calls if schemas else ():
        for problem in call.problems:
            click.echo(f"{place}: warning: {problem.message}", err=True)
        try:
            given = json.loads(arguments) if isinstance(arguments, str) else arguments
            same = json.loads(call.arguments) == given
        except (ValueError, RecursionError):  # a limit of `json`
            continue
        if not same:
            warning = "the types do not match the schema; the call will be parsed as"
            click.echo(f"{place}: warning: {warning} {call.arguments}", err=True)
