"""The command line's outermost layer: from exceptions and signals to exit codes.

The commands are in `commands.py`, which needs the extra `wirecall[cli]`; what happens without it is here.
"""

import os
import sys
from collections.abc import Sequence

# What the shell reports for a process that SIGINT or SIGPIPE has ended.
INTERRUPTED = 130
READER_GONE = 141
# Usage, files that cannot be read, tools that cannot work, a library or vocabulary that is missing.
FAILED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `arguments` are those of the process by default."""
    try:
        import click

        from wirecall._cli import commands
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("click", "rich"):
            raise
        print(f"wirecall: {error.name} is not installed: pip install 'wirecall[cli]'", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED

    _make_output_safe()
    try:
        status = commands.wirecall.main(arguments, prog_name="wirecall", standalone_mode=False)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (commands.ReaderGone, BrokenPipeError):
        _forget_output()
        return READER_GONE
    except click.ClickException as error:
        error.show()
        return FAILED
    except OSError as error:  # a full disk
        _forget_output()
        print(f"wirecall: cannot write the output: {error.strerror or error}", file=sys.stderr)
        return FAILED
    return status if isinstance(status, int) else 0


def _make_output_safe() -> None:
    """A terminal that lacks a character shows a question mark, and no line break is translated.

    A process can be started without a standard output (`>&-`); what it says then goes nowhere.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace", newline="\n")


def _forget_output() -> None:
    """Let the interpreter's last flush have somewhere to go, or it would complain on its way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
