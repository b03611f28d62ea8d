"""The input of commands: files, standard input, and the errors for those that cannot be used."""

import codecs
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

# The keys that end input from a terminal.
_END = "Ctrl-Z and Enter" if sys.platform == "win32" else "Ctrl-D"
# The maximum of one read; what is available is read at once, however little.
_CHUNK_BYTES = 1 << 16


class UserError(click.ClickException):
    """An error that the user can fix."""

    exit_code = 2


class NotUtf8Error(UserError):
    """The input has a byte that is not UTF-8."""


@contextmanager
def blame(place: str) -> Iterator[None]:
    """Turns the caller's mistakes and unusable files into a `UserError` that names the place."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{place}: {error.strerror or error}") from error
    except (ValueError, TypeError) as error:  # a ToolError is a ValueError
        raise UserError(f"{place}: {error}") from error


def reject_shared_stdin(*paths: str | None) -> None:
    if paths.count("-") > 1:
        raise click.UsageError("only one input can be standard input.")


def title_of(path: str) -> str:
    return "standard input" if path == "-" else path


def open_file(path: str, expected: str) -> IO[bytes]:
    """A file, or standard input; at a terminal, says what input is `expected`."""
    if path == "-":
        if sys.stdin is None:
            raise UserError("standard input is closed")
        if sys.stdin.isatty():
            click.echo(f"wirecall: reading {expected} from the terminal; {_END} ends it", err=True)
    with blame(path):
        return click.open_file(path, "rb")


def read_text(path: str, expected: str) -> str:
    """A whole file, which must be UTF-8."""
    with open_file(path, expected) as stream, blame(title_of(path)):
        data = stream.read()
    return _decoded(data, title_of(path)).removeprefix("\ufeff")


def _decoded(data: bytes, place: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _not_utf8(place, error.start, error) from error


def _not_utf8(place: str, position: int, error: UnicodeDecodeError) -> NotUtf8Error:
    """The error for the byte at a position, counted from 0."""
    byte = error.object[error.start]
    why = f"0x{byte:02x}, {error.reason}"
    return NotUtf8Error(f"{place}: byte {position} is not valid UTF-8 ({why}). Convert the input to UTF-8.")


def read_pieces(path: str, expected: str) -> Iterator[str]:
    """Text as it arrives.

    Raises:
        NotUtf8Error: After all text before the invalid byte.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    position = 0
    with open_file(path, expected) as stream:
        # `read1` of a buffered reader returns the result of one system call.
        read = getattr(stream, "read1", stream.read)
        while True:
            with blame(title_of(path)):
                chunk = read(_CHUNK_BYTES)
            position += len(chunk)
            try:
                piece = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                # The decoder had held back the first bytes of `error.object`; the rest is the chunk.
                if error.start:
                    yield error.object[: error.start].decode()
                at = position - len(error.object) + error.start
                raise _not_utf8(title_of(path), at, error) from error
            if piece:
                yield piece
            if not chunk:
                return


def read_calls(path: str) -> Iterator[tuple[str, str, Any]]:
    """The place, name and arguments of each call: one JSON object on each line."""
    expected = 'one call on each line, {"name": …, "arguments": {…}}'
    title = title_of(path)
    with open_file(path, "calls, a JSON object on each line,") as stream, blame(title):
        for number, data in enumerate(stream, start=1):
            if line := _decoded(data, f"{title}, line {number}").strip():
                call = load_json(line, title, expected, line=number)
                place = f"{title}, line {number}"
                if not isinstance(call, dict) or not isinstance(call.get("name"), str):
                    raise UserError(f"{place}: expected {expected}")
                yield place, call["name"], call.get("arguments", {})


def load_json(text: str, title: str, expected: str, *, line: int | None = None) -> Any:
    """The value of JSON text: a whole file, or one `line` of it (from 1)."""
    if not text.strip():
        raise UserError(f"{title} is empty. Expected {expected}")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise invalid_json(error, title, expected, line) from error
    except (ValueError, RecursionError) as error:  # an integer of thousands of digits; nested too deeply
        place = title if line is None else f"{title}, line {line}"
        raise UserError(f"{place}: this JSON cannot be read: {error}") from error


def invalid_json(
    error: json.JSONDecodeError, title: str, expected: str, line: int | None = None
) -> UserError:
    place = f"{title}, line {line or error.lineno}, column {error.colno}"
    return UserError(f"{place}: not valid JSON: {error.msg}. Expected {expected}")
