"""The progress of a run on standard error: a bar on a terminal, occasional lines elsewhere."""

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.table import Column
from rich.text import Text

# Seconds between lines if there is no terminal.
_EVERY = 5.0
# Columns for everything except the bar, so that part of the note is visible on a narrow terminal.
_BESIDE_BAR = 60


class Progress:
    """The steps of a run."""

    def __init__(self, bars: Bars, what: str, total: int, done: int, clock: Callable[[], float]) -> None:
        self._bars = bars
        self._id = bars.add_task(what, total=total, completed=done, note="")
        # The rate counts from here.
        bars.advance(self._id, 0)
        self._done = done
        self._clock = clock
        self._last = clock()
        self._lock = threading.Lock()

    def step(self, count: int = 1, note: str | None = None) -> None:
        """Report completed steps, from any thread. A note is kept until the next one."""
        with self._lock:
            if note is not None:
                self._bars.update(self._id, note=note)
            self._bars.advance(self._id, count)
            if self._bars.disable and self._clock() - self._last >= _EVERY:
                self._last = self._clock()
                self.line()
            elif not self._bars.live.auto_refresh:
                self._bars.refresh()

    def line(self) -> None:
        """Print a line."""
        (task,) = self._bars.tasks
        parts = [f"{task.completed:,.0f} of {task.total:,.0f}"]
        if task.completed > self._done:
            parts += [_rate(task), f"{timedelta(seconds=task.time_remaining or 0)} left"]
        parts += filter(None, [task.fields["note"]])
        print(f"{task.description}: {', '.join(parts)}", file=sys.stderr, flush=True)


class _RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(_rate(task))


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
    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(bar_width=max(5, min(40, console.width - _BESIDE_BAR))),
        MofNCompleteColumn(),
        _RateColumn(),
        TimeRemainingColumn(),
        # The note gets the remaining width.
        TextColumn(
            "{task.fields[note]}",
            markup=False,
            table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
        ),
        console=console,
        auto_refresh=not still,
        expand=True,
        # Not only the rate of the last seconds.
        speed_estimate_period=math.inf,
        get_time=clock,
        disable=not console.is_terminal,
    )
    shown = Progress(bars, what, total, done, clock)
    with bars:
        if bars.disable:
            shown.line()
        try:
            yield shown
        finally:
            if bars.disable:
                shown.line()


def _rate(task: Task) -> str:
    rate = task.finished_speed or task.speed or 0.0
    return f"{rate:.3g}/s" if rate < 100 else f"{rate:,.0f}/s"
