"""`wirecall grammar`: the grammar of calls, for constrained decoding."""

from typing import get_args

import click

from wirecall import Format, GrammarKind, ToolError
from wirecall._cli.console import printable
from wirecall._cli.inputs import UserError, title_of
from wirecall._cli.options import load_toolset, protocol_options, protocol_source, tools_option
from wirecall._tools.definitions import no_tool
from wirecall._tools.grammar import MOST_LONGEST

# What `--tool-choice` means besides the name of a tool.
_CHOICES = ("auto", "required", "none")


@click.command(
    epilog="""A schema may demand what a grammar does not enforce, such as a pattern. Each such field is a
line on standard error.

\b
Examples:
  wirecall grammar --tools tools.json --kind gbnf > calls.gbnf
  wirecall grammar --tools tools.json --kind structural_tag --tool-choice required --no-parallel
  wirecall grammar --tools tools.json --kind lark --model Qwen/Qwen3-8B
""",
)
@tools_option()
@click.option(
    "--kind",
    type=click.Choice(get_args(GrammarKind)),
    required=True,
    help="gbnf is for llama.cpp, ebnf for xgrammar, structural_tag for xgrammar, vLLM and SGLang, lark for "
    "llguidance.",
)
@protocol_options
@click.option(
    "--tool-choice",
    metavar="CHOICE",
    default="auto",
    help="auto: text and calls; required: calls only; none: text only; the name of a tool: its calls only.",
)
@click.option(
    "--parallel/--no-parallel", default=True, help="Whether a message may contain more than one call."
)
@click.option(
    "--longest",
    type=click.IntRange(1, MOST_LONGEST),
    metavar="N",
    help="About how many characters a string, digits a number and items an array have at most if the schema "
    "has no bound, for small models that repeat themselves. A tenth of the items if they are strings, arrays "
    "or objects. Strings are not bounded in ebnf and structural_tag.",
)
def grammar(
    tools_path: str,
    kind: GrammarKind,
    protocol: str | Format,
    tool_choice: str,
    parallel: bool,
    longest: int | None,
) -> None:
    """Print a grammar that accepts text with well-formed calls only."""
    toolset = load_toolset(tools_path, protocol)
    if not toolset.names:
        raise UserError(f"{title_of(tools_path)}: the list of tools is empty, so there is no grammar")
    if tool_choice not in (*_CHOICES, *toolset.names):
        raise UserError(f"--tool-choice: {no_tool(tool_choice, toolset.names, others=_CHOICES)}")
    try:
        made = toolset.grammar(kind, tool_choice=tool_choice, parallel=parallel, longest=longest)
    except ToolError as error:
        # An error that names no tool is about the protocol.
        place = title_of(tools_path) if error.tool else protocol_source()
        raise UserError(f"{place}: {error}") from error
    print(made.text, end="" if made.text.endswith("\n") else "\n", flush=True)
    for missing in made.unconstrained:
        click.echo(f"wirecall: not constrained: {printable(str(missing))}", err=True)
