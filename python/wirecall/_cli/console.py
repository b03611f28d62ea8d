"""What commands print for people: safe text and plain words, on a terminal or elsewhere. Needs rich."""

import os
import re
from typing import Any

from rich.console import Console

# Control characters, marks that change the direction of text, and lone surrogates.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Text from a model or a server, without characters that could control the terminal."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def with_cause(error: BaseException) -> str:
    """The message of an exception and of its root cause: why there is no connection."""
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    message = str(error) or type(error).__name__
    return message if root is error else f"{message} {root}"


def plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


class OutputConsole(Console):
    """Standard output; has `width` columns if it is not a terminal and COLUMNS is not set."""

    def __init__(self, *, width: int, **options: Any) -> None:
        super().__init__(highlight=False, **options)
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = width

    def on_broken_pipe(self) -> None:
        """Leave a closed pipe to the command line; rich would exit with 1."""
        raise BrokenPipeError
