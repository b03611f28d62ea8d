"""Files that commands are given, what is said of those that cannot be read, and what others say."""

import json
import re
import sys
from contextlib import ExitStack
from typing import Any, BinaryIO

import click

# The keys that end what is typed at a terminal.
_END = "Ctrl-Z and Enter" if sys.platform == "win32" else "Ctrl-D"


class Failure(click.ClickException):
    exit_code = 2


def open_file(path: str, expected: str) -> BinaryIO:
    """A file, or standard input; a terminal is told what is `expected` there."""
    if path == "-":
        if sys.stdin is None:
            raise Failure("standard input is closed")
        if sys.stdin.isatty():
            click.echo(f"wirecall: reading {expected} from the terminal; {_END} ends it", err=True)
        return sys.stdin.buffer
    try:
        return open(path, "rb")
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}") from error


def read_text(path: str, expected: str) -> str:
    """A whole file, which must be UTF-8."""
    with ExitStack() as stack:
        stream = open_file(path, expected)
        if path != "-":
            stack.enter_context(stream)
        try:
            data = stream.read()
        except OSError as error:
            raise Failure(f"{title_of(path)}: {error.strerror or error}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Failure(f"{title_of(path)}: byte {error.start} is not valid UTF-8") from error


def title_of(path: str) -> str:
    return "standard input" if path == "-" else path


def load_json(text: str, title: str, expected: str, *, line: int | None = None) -> Any:
    """The value of JSON text, which is a whole file, or one `line` of it (from 1)."""
    if not text.strip():
        raise Failure(f"{title} is empty. Expected {expected}")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise no_json(error, title, expected, line) from error
    except (ValueError, RecursionError) as error:  # an integer of thousands of digits, too deep
        place = title if line is None else f"{title}, line {line}"
        raise Failure(f"{place}: this JSON cannot be read: {error}") from error


def no_json(error: json.JSONDecodeError, title: str, expected: str, line: int | None = None) -> Failure:
    place = f"{title}, line {line or error.lineno}, column {error.colno}"
    return Failure(f"{place}: not valid JSON: {error.msg}. Expected {expected}")


# Half of a surrogate pair, which no file holds; what moves a terminal's cursor or turns a text around.
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """A text of models or servers, for people to read."""
    return _HARMFUL.sub("\N{REPLACEMENT CHARACTER}", text)


def with_cause(error: BaseException) -> str:
    """What an exception says, and the first one that it came from: why there is no connection."""
    first = error
    while first.__cause__ is not None:
        first = first.__cause__
    said = str(error) or type(error).__name__
    return said if first is error else f"{said} {first}"
