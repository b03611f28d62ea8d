"""Progress: plain lines without a terminal, a bar with one."""

import io
import re
import sys

import pytest
from rich.console import Console

from wirecall_bench.progress import progress


def test_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(10, "live", done=4) as shown:
        shown.step()
        shown.step(5, note="1 failed")
    first, *others = capsys.readouterr().err.splitlines()
    assert first == "live: 4 of 10"
    assert re.fullmatch(r"live: 10 of 10, \S+/s, 0:00:00 left, 1 failed", others[-1])
    assert len(others) == 1


def test_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    now = 100.0
    with progress(100, "live", done=10, clock=lambda: now) as shown:
        for _ in range(40):
            now += 0.5
            shown.step()
    lines = capsys.readouterr().err.splitlines()
    assert lines[1] == "live: 20 of 100, 2/s, 0:00:40 left"
    assert lines[-1] == "live: 50 of 100, 2/s, 0:00:25 left"
    assert len(lines) == 6


def test_a_bar_on_a_terminal() -> None:
    terminal = io.StringIO()
    console = Console(file=terminal, force_terminal=True, width=100)
    with progress(10, "live", done=4, console=console) as shown:
        shown.step(6, note="[1] failed")
    last = terminal.getvalue().splitlines()[-2]
    assert "10/10" in last
    assert "/s" in last
    assert "[1] failed" in last


def test_a_narrow_terminal_shortens_the_note_only() -> None:
    terminal = io.StringIO()
    console = Console(file=terminal, force_terminal=True, width=60, color_system=None)
    note = "partial-json-parser on streams, 1000 streams: is it right"
    with progress(2500, "bench latency", console=console) as shown:
        shown.step(1250, note)
    last = terminal.getvalue().splitlines()[-2]
    assert "bench latency " in last
    assert "1250/2500" in last
    assert re.search(r" \d[\d,.]*/s ", last)
    assert re.search(r" (\d:\d\d:\d\d|-:--:--) ", last)
    assert re.search(r" partial-\S*…", last)


def test_rates_are_plain_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    now = 100.0
    with progress(5000, "live", clock=lambda: now) as shown:
        now += 1
        shown.step(1520)
    assert "1,520/s" in capsys.readouterr().err


def test_nothing_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(1, "live") as shown:
        shown.step()
    assert capsys.readouterr().out == ""
    assert sys.stderr is not None
