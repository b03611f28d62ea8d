"""The progress of a run on standard error: a bar on a terminal, occasional lines elsewhere."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Column

# Seconds between lines if there is no terminal.
_EVERY = 5.0
# Columns for everything except the bar, so that part of the note is visible on a narrow terminal.
_BESIDE_BAR = 60


class Progress(Protocol):
    def step(self, count: int = 1, note: str | None = None) -> None:
        """Report completed steps, from any thread. A note is kept until the next one."""


@contextmanager
def progress(
    total: int,
    what: str,
    *,
    done: int = 0,
    still: bool = False,
    console: Console | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Progress]:
    """Show the progress.

    Args:
        total: The number of steps.
        what: The name of the run.
        done: Steps that an earlier run completed. They count as done, but not for the rate.
        still: Update only at steps, so that no thread disturbs measurements.
        console: Used instead of standard error.
        clock: Returns seconds.
    """
    console = console or Console(stderr=True)
    steps = (total, what, done, clock)
    shown: _Bar | _Lines = _Bar(console, *steps, still) if console.is_terminal else _Lines(*steps)
    with shown:
        yield shown


def _per_second(rate: float) -> str:
    return f"{rate:.3g}/s" if rate < 100 else f"{rate:,.0f}/s"


class _Steps:
    def __init__(self, total: int, what: str, done: int, clock: Callable[[], float]) -> None:
        self.total, self.what, self.done, self.note = total, what, done, ""
        self._before = done
        self._clock = clock
        self._start = clock()
        self._lock = threading.Lock()

    def step(self, count: int = 1, note: str | None = None) -> None:
        with self._lock:
            self.done += count
            self.note = self.note if note is None else note
            self.show()

    def show(self) -> None:
        raise NotImplementedError

    @property
    def rate(self) -> float:
        """Steps per second."""
        return (self.done - self._before) / max(self._clock() - self._start, 1e-9)


class _Lines(_Steps):
    def __enter__(self) -> None:
        self._last = 0.0
        self.show()

    def show(self, *, at_once: bool = False) -> None:
        now = self._clock()
        if not at_once and self._last and now - self._last < _EVERY:
            return
        self._last = now
        parts = [f"{self.done:,} of {self.total:,}"]
        if self.done > self._before:
            parts.append(_per_second(self.rate))
            left = (self.total - self.done) / self.rate
            parts.append(f"{timedelta(seconds=round(left))} left")
        print(f"{self.what}: {', '.join([*parts, *filter(None, [self.note])])}", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        self.show(at_once=True)


class _Bar(_Steps):
    def __init__(
        self, console: Console, total: int, what: str, done: int, clock: Callable[[], float], still: bool
    ) -> None:
        super().__init__(total, what, done, clock)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=max(5, min(40, console.width - _BESIDE_BAR))),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            # The note gets the remaining width.
            TextColumn(
                "{task.fields[note]}",
                markup=False,
                table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
            ),
        )
        self._still = still
        self._bars = Bars(*columns, console=console, auto_refresh=not still, expand=True)
        self._bar = self._bars.add_task(what, total=total, completed=done, rate=_per_second(0.0), note="")

    def __enter__(self) -> None:
        self._bars.start()

    def show(self) -> None:
        self._bars.update(
            self._bar,
            completed=self.done,
            rate=_per_second(self.rate),
            note=self.note,
            refresh=self._still,
        )

    def __exit__(self, *_: object) -> None:
        self._bars.stop()
