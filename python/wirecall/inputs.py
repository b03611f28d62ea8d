"""Files that commands are given, and what is said of those that cannot be read."""

import json
import sys
from contextlib import ExitStack
from typing import Any, BinaryIO

import click


class Failure(click.ClickException):
    exit_code = 2


def open_file(path: str) -> BinaryIO:
    if path == "-":
        if sys.stdin is None:
            raise Failure("standard input is closed")
        return sys.stdin.buffer
    try:
        return open(path, "rb")
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}") from error


def read_text(path: str) -> str:
    """A whole file, which must be UTF-8."""
    with ExitStack() as stack:
        stream = open_file(path)
        if path != "-":
            stack.enter_context(stream)
        try:
            data = stream.read()
        except OSError as error:
            raise Failure(f"{title_of(path)}: {error.strerror or error}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Failure(f"{title_of(path)}: byte {error.start} is no UTF-8") from error


def title_of(path: str) -> str:
    return "standard input" if path == "-" else path


def load_json(text: str, title: str, expected: str, *, line: int | None = None) -> Any:
    """The value of JSON text, which is a whole file, or one `line` of it (from 1)."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise no_json(error, title, expected, line) from error
    except (ValueError, RecursionError) as error:  # an integer of thousands of digits, too deep
        place = title if line is None else f"{title}, line {line}"
        raise Failure(f"{place}: this JSON cannot be read: {error}") from error


def no_json(error: json.JSONDecodeError, title: str, expected: str, line: int | None = None) -> Failure:
    place = f"{title}, line {line or error.lineno}, column {error.colno}"
    return Failure(f"{place}: this is no JSON: {error.msg}. Expected {expected}")
