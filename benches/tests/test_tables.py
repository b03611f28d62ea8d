"""Tables: whole without a terminal, and in pieces that fit with one."""

import re
import sys

import pytest

from wirecall_bench import tables
from wirecall_bench.tables import Table, show

WIDE = Table(
    "Costs",
    ["tool", *(f"format-{number}" for number in range(9))],
    [["get_weather", *map(str, range(9))], ["日本語", *["1234567"] * 9], ["all", *["[b]"] * 9]],
    sums=1,
    notes=["A note that is longer than a narrow terminal is wide, as they often are."],
)


def shown(capsys: pytest.CaptureFixture[str], table: Table) -> list[str]:
    show([table])
    return capsys.readouterr().out.splitlines()


def test_plain(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    table = Table("T", ["tool", "a", "bb"], [["x", "1", "22"], ["long", "333", "4"]], notes=["[red]Note."])
    assert shown(capsys, table) == ["T", "tool    a  bb", "x       1  22", "long  333   4", "[red]Note.", ""]
    lines = shown(capsys, WIDE)
    assert len(lines) == 7
    assert lines[1].split() == list(WIDE.head)
    assert lines[5] == WIDE.notes[0]


def test_left(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    table = Table("T", ["a", "why"], [["x", "because"], ["y", "so"]], left=2)
    assert shown(capsys, table)[1:4] == ["a  why", "x  because", "y  so"]


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 200])
@pytest.mark.parametrize("is_terminal", [False, True])
def test_narrow(
    width: int, is_terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is cut off, no line is too long, and the first column comes with every piece."""
    monkeypatch.setenv("COLUMNS", str(width))
    if is_terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in shown(capsys, WIDE)]
    assert all(tables.cell_len(line) <= width for line in lines)
    text = " ".join(lines)
    for number in range(9):
        assert text.count(f"format-{number}") == 1
    assert text.count("1234567") == 9
    assert text.count("[b]") == 9
    assert len(re.findall(r"\btool\b", text)) == len([line for line in lines if line.startswith("all ")])


def test_a_reader_who_has_gone_is_the_command_line_s_affair(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        def isatty(self) -> bool:
            return False

        def write(self, _: str) -> int:
            raise BrokenPipeError

        flush = write

    monkeypatch.setattr(sys, "stdout", Gone())
    with pytest.raises(BrokenPipeError):
        show([WIDE])
