"""Threads that work on tasks in their order, and a run that ends in good order when it is interrupted."""

import sys
import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

# Seconds after which a waiting main thread looks whether it was interrupted; Windows does not wake it.
_LOOK = 0.2


def each(
    work: Callable[[T], None],
    tasks: Iterable[T],
    *,
    concurrency: int = 1,
    stop: threading.Event | None = None,
) -> None:
    """Do all tasks, several at once.

    What goes wrong in one is raised here, when those under way have ended; no further ones begin. So it is
    with Ctrl-C; with a second one, nothing is waited for.

    Args:
        stop: Is set then, for what waits within a task.

    Raises:
        KeyboardInterrupt: It was interrupted.
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

    # Not joined: up to Python 3.12, a thread whose join was interrupted counts as ended.
    ends = [threading.Event() for _ in range(concurrency)]
    for end in ends:
        # Who leaves at once leaves them behind.
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
