"""Tables on standard output: split to fit a terminal, elsewhere whole and plain; and as Markdown."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from wirecall._cli.console import OutputConsole, printable

# The width without a terminal: no table is split.
_ENDLESS = 1 << 20


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        head: The first column names the subject of a row and is repeated in every part.
        rows: Each has as many cells as `head`.
        left: The number of columns, from the first, that are aligned left; the others are numbers.
        sums: The number of rows at the end that are sums.
        notes: Lines below the table.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    sums: int = 0
    notes: Sequence[str] = ()


def show(tables: Iterable[Table]) -> None:
    """Print tables to standard output."""
    console = OutputConsole(width=_ENDLESS, markup=False)
    for table in tables:
        with console.capture() as captured:
            _print(console, table)
        lines = (line.rstrip() for line in captured.get().splitlines())
        sys.stdout.write("\n".join(lines) + "\n\n")
        sys.stdout.flush()


def _print(console: Console, table: Table) -> None:
    console.print(Text(table.title, "bold"))
    # A box has its own space between columns.
    look, gap = (box.SIMPLE_HEAD, 3) if console.is_terminal else (None, 2)
    for columns in _pieces(table, console.width, gap):
        grid = Grid(
            box=look,
            pad_edge=False,
            show_edge=False,
            padding=(0, 1),
        )
        for column in columns:
            number = column >= table.left
            grid.add_column(
                table.head[column],
                justify="right" if number else "left",
                no_wrap=number,
                overflow="fold",
                header_style="dim",
            )
        for index, row in enumerate(table.rows):
            is_sum = index >= len(table.rows) - table.sums
            grid.add_row(*(printable(row[column]) for column in columns), style="bold" if is_sum else None)
        console.print(grid)
    for note in table.notes:
        console.print(Text(printable(note), "dim"))


def _pieces(table: Table, width: int, gap: int) -> Iterator[list[int]]:
    """The columns of each part: as many as fit, and at least one besides the first."""
    widths = [max(map(cell_len, column)) for column in zip(table.head, *table.rows, strict=True)]
    first = min(widths[0], width // 3)
    piece, used = [0], first
    for column in range(1, len(widths)):
        if len(piece) > 1 and used + gap + widths[column] > width:
            yield piece
            piece, used = [0], first
        piece.append(column)
        used += gap + widths[column]
    yield piece


def markdown(table: Table) -> str:
    """The head and the rows as a table of GitHub Markdown."""
    lines = ["| " + " | ".join(plain(name) for name in table.head) + " |"]
    lines.append("|" + "|".join("---" if at < table.left else "--:" for at in range(len(table.head))) + "|")
    lines += ["| " + " | ".join(plain(cell) for cell in row) + " |" for row in table.rows]
    return "\n".join(lines)


def plain(text: str) -> str:
    """Text that Markdown shows unchanged, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#~&])", r"\\\1", " ".join(text.split()))
