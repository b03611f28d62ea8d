"""`wirecall manual`: the text that describes the tools to a model."""

from typing import Any

import click

from wirecall import Format
from wirecall._cli.inputs import UserError, title_of
from wirecall._cli.options import load_toolset, manual_options, protocol_options, tools_option


@click.command(
    epilog="""\b
Examples:
  wirecall manual --tools tools.json
  wirecall manual --tools tools.json --descriptions none
  wirecall manual --tools tools.json --header ''
""",
)
@tools_option()
@protocol_options
@click.option(
    "--header", metavar="TEXT", help="Text before the tools, instead of the built-in one; '' for none."
)
@manual_options
def manual(tools_path: str, protocol: str | Format, header: str | None, **options: Any) -> None:
    """Print the manual: the text that describes the tools to a model."""
    toolset = load_toolset(tools_path, protocol, **options)
    if not toolset.names:
        raise UserError(f"{title_of(tools_path)}: the list of tools is empty, so there is no manual to print")
    print(toolset.manual(header=header), flush=True)
