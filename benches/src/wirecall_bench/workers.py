"""Threads that run tasks in order, and an orderly end when a run is interrupted."""

import sys
import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

# Seconds between checks for an interrupt in the main thread, because Windows does not wake it.
_LOOK = 0.2


def each(
    work: Callable[[T], None],
    tasks: Iterable[T],
    *,
    concurrency: int = 1,
    stop: threading.Event | None = None,
) -> None:
    """Run all tasks, several concurrently.

    An exception in one task is raised here after the running tasks have ended; no others are started. The
    same happens with Ctrl-C; a second Ctrl-C does not wait.

    Args:
        stop: Set in these cases, for tasks that are waiting.

    Raises:
        KeyboardInterrupt: The run was interrupted.
    """
    stop = stop or threading.Event()
    waiting = iter(tasks)
    errors: list[BaseException] = []
    taking = threading.Lock()

    def worker(ended: threading.Event) -> None:
        try:
            while True:
                with taking:
                    if stop.is_set() or (task := next(waiting, _NONE)) is _NONE:
                        return
                work(task)  # type: ignore[arg-type]
        except BaseException as error:
            errors.append(error)
            stop.set()
        finally:
            ended.set()

    # Not joined: up to Python 3.12, an interrupted join marks the thread as ended.
    ends = [threading.Event() for _ in range(concurrency)]
    for end in ends:
        # An immediate exit does not wait for threads.
        threading.Thread(target=worker, args=(end,), daemon=True).start()
    interrupted = False
    while not all(end.is_set() for end in ends):
        try:
            for end in ends:
                end.wait(_LOOK)
        except KeyboardInterrupt:
            stop.set()
            if interrupted:
                raise
            interrupted = True
            print(
                "Interrupted: waiting for running requests. Press Ctrl-C again to stop at once.",
                file=sys.stderr,
            )
    if errors:
        raise errors[0]
    if interrupted:
        raise KeyboardInterrupt


_NONE = object()
