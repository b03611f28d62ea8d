"""The commands of `wirecall`, each in a module of its name.

Every failure that is not the model's is a `click.ClickException`, which ends with exit code 2.
"""

import errno
import sys
from typing import Any

import click

from wirecall import __version__
from wirecall._bench.commands import bench
from wirecall._cli.compact import compact
from wirecall._cli.demo import demo
from wirecall._cli.encode import encode
from wirecall._cli.manual import manual
from wirecall._cli.parse import parse
from wirecall._cli.tokens import tokens


class ClosedOutputError(Exception):
    """The reader of standard output has closed it."""


class _Commands(click.Group):
    """A group that reports a closed pipe. click would exit with 1, which means call errors here."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno != errno.EPIPE and not (sys.platform == "win32" and error.errno == errno.EINVAL):
                raise
            raise ClosedOutputError from error


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
    epilog="""\b
Exit codes:
  0    success; parse: all calls could be parsed
  1    parse: the message has call errors
  2    incorrect usage, an unusable file or tool, or a missing package
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


for command in (bench, compact, demo, encode, manual, parse, tokens):
    wirecall.add_command(command)
