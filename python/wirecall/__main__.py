"""The entry point of the command line: turns exceptions and signals into exit codes.

The commands need the extra `cli`; without it, this module says so.
"""

import os
import sys
from collections.abc import Sequence

# The exit codes that shells report for SIGINT and SIGPIPE.
INTERRUPTED = 130
OUTPUT_CLOSED = 141
# Incorrect usage, unusable files or tools, a missing library or vocabulary.
FAILED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. `arguments` defaults to those of the process."""
    try:
        import click

        from wirecall._cli import commands
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("click", "rich"):
            raise
        from wirecall.errors import install_extra

        print(f"wirecall: {error.name} is not installed. {install_extra('cli')}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED

    _make_output_safe()
    try:
        status = commands.wirecall.main(arguments, prog_name="wirecall", standalone_mode=False)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (commands.ClosedOutputError, BrokenPipeError):
        _forget_output()
        return OUTPUT_CLOSED
    except click.ClickException as error:
        error.show()
        return FAILED
    except OSError as error:  # a full disk
        _forget_output()
        print(f"wirecall: cannot write the output: {error.strerror or error}", file=sys.stderr)
        return FAILED
    return status if isinstance(status, int) else 0


def _make_output_safe() -> None:
    """Replaces characters that the terminal lacks, and leaves line breaks unchanged.

    A process can be started without a standard output (`>&-`); its output is then discarded.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace", newline="\n")


def _forget_output() -> None:
    """Redirects standard output to the null device, so that the flush at exit cannot fail."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
