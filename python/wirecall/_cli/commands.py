"""The commands of `wirecall`, each in a module of its name, and those that other distributions add.

Every failure that is not the model's is a `click.ClickException`, which ends with exit code 2.
"""

import errno
import sys
from importlib.metadata import entry_points
from typing import Any

import click

from wirecall import __version__
from wirecall._cli.compact import compact
from wirecall._cli.demo import demo
from wirecall._cli.encode import encode
from wirecall._cli.format import format
from wirecall._cli.grammar import grammar
from wirecall._cli.manual import manual
from wirecall._cli.parse import parse
from wirecall._cli.protocols import protocols
from wirecall._cli.serve import serve
from wirecall._cli.tokens import tokens

# The group of entry points by which distributions add commands. They are loaded when used or listed.
ADDED = "wirecall.commands"
# Commands of distributions that are in this project's repository, and how to install them from a clone.
BESIDE = {"bench": "pip install ./benches"}


class ClosedOutputError(Exception):
    """The reader of standard output has closed it."""


class _Commands(click.Group):
    """A group that also has the commands of other distributions, and reports a closed pipe.

    At a closed pipe, click would exit with 1, which means call errors here.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.commands, *BESIDE, *entry_points(group=ADDED).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if (own := super().get_command(ctx, cmd_name)) is not None:
            return own
        for found in entry_points(group=ADDED, name=cmd_name):
            try:
                added: click.Command = found.load()
            except Exception as error:  # Of somebody's module: the other commands work without it.
                return _refusing(cmd_name, "Cannot be loaded.", f"{found.value} cannot be loaded: {error}")
            return added
        if (command := BESIDE.get(cmd_name)) is None:
            return None
        how = f"wirecall-{cmd_name} is not installed. Install it from a clone of the repository: {command}"
        return _refusing(cmd_name, "Not installed.", how)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno != errno.EPIPE and not (sys.platform == "win32" and error.errno == errno.EINVAL):
                raise
            raise ClosedOutputError from error


def _refusing(name: str, short_help: str, message: str) -> click.Command:
    """Stands for a command that there is not, and says why."""

    def refuse() -> None:
        raise click.ClickException(message)

    # Whatever follows the name, --help included, is not read.
    anything = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    return click.Command(name, callback=refuse, short_help=short_help, context_settings=anything)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
    epilog="""\b
Exit codes:
  0    success; parse: all calls could be parsed
  1    parse: the message has call errors; format check: a check failed
  2    incorrect usage, an unusable file or tool, or a missing package
  130  interrupted
  141  the output was closed by its reader

\b
Examples:
  wirecall demo
  wirecall manual --tools tools.json
  wirecall parse --tools tools.json message.txt
  wirecall encode --tools tools.json get_weather '{"city": "New York"}'
  wirecall grammar --tools tools.json --kind gbnf
  wirecall format infer chat_template.jinja -o acme.toml
  wirecall protocols --model Qwen/Qwen3-Coder-30B-A3B-Instruct
  wirecall tokens --tools tools.json
  wirecall serve --upstream http://127.0.0.1:11434/v1
  wirecall compact history.json --keep-recent-turns 10 --plan
  wirecall bench offline
""",
)
@click.version_option(__version__)
def wirecall() -> None:
    """Tool calls as plain text: parse, write and count them.

    FILE is a path, or - for standard input. Errors go to standard error.
    """


for command in (compact, demo, encode, format, grammar, manual, parse, protocols, serve, tokens):
    wirecall.add_command(command)
