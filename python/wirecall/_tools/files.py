"""Reads files of limited size."""

from pathlib import Path

from wirecall.errors import ToolError


def read_file(path: Path, most_bytes: int) -> str:
    """The text of a file.

    Raises:
        OSError: The file cannot be read.
        ToolError: It is larger, or not UTF-8; the message names it.
    """
    with path.open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ToolError(f"{path.name} has more than {most_bytes} bytes")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolError(f"{path.name} is not UTF-8: {error}") from None
