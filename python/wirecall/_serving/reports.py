"""What operators see: counters, and warnings with a rate limit."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from wirecall import _core

# Seconds between two warnings of one kind: a model that slips does so in every answer.
_QUIET = 60.0
# Texts of clients and models in a log are cut.
_SHOWN = 300


class Counter(Protocol):
    """A counter of prometheus_client."""

    def inc(self, amount: float = 1) -> None: ...
    def labels(self, *values: str) -> Any: ...


class Counters:
    """The counters of a server, in the registry of prometheus_client."""

    def __init__(self, make: Callable[[str, str, list[str]], Counter]) -> None:
        """
        Args:
            make: Makes a counter of a name, a text and the names of its labels.
        """
        self.calls = make("wirecall_calls", "Complete calls.", ["format"])
        self.repairs = make("wirecall_repairs", "Repairs of calls.", ["format", "kind"])
        self.errors = make("wirecall_errors", "Calls that could not be read.", ["format", "kind"])
        self.unknown_tools = make("wirecall_unknown_tools", "Calls of tools not in the request.", ["format"])
        self.cut_calls = make("wirecall_cut_calls", "Calls cut off by the end of a message.", ["format"])


class Reports:
    """Counts calls and errors of one format, and logs what an operator should know."""

    def __init__(self, format: str, logger: logging.Logger, counters: Counters | None = None) -> None:
        self._format, self._logger, self._counters = format, logger, counters
        # When a kind of warning was last logged, and how many were not since then.
        self._logged: dict[str, tuple[float, int]] = {}
        self._lock = threading.Lock()

    def call(self, call: _core.CallEnd, *, known: bool, request: str | None) -> None:
        """Report a complete call."""
        if (counters := self._counters) is not None:
            counters.calls.labels(self._format).inc()
            for kind in call.repairs:
                counters.repairs.labels(self._format, kind).inc()
            if not known:
                counters.unknown_tools.labels(self._format).inc()
        if not known:
            self.warn("a call of a tool that the request does not have", "passed on", request=request)

    def error(self, error: _core.CallError, *, cut: bool, request: str | None) -> None:
        """Report a call that could not be read; `cut` if the end of the message has cut it off."""
        if (counters := self._counters) is not None:
            counters.errors.labels(self._format, error.kind).inc()
            if cut:
                counters.cut_calls.labels(self._format).inc()
        kind = "a call that was cut off" if cut else "a call that could not be read"
        self.warn(kind, error.kind, request=request)

    def warn(self, kind: str, detail: str, *, request: str | None = None) -> None:
        """Log a warning, at most one of a kind in a minute. The next one says how many were left out.

        Args:
            detail: Nothing that a model or a user wrote. Definitions of tools may be quoted.
        """
        now = time.monotonic()
        with self._lock:
            last, hidden = self._logged.get(kind, (None, 0))
            if last is not None and now - last < _QUIET:
                self._logged[kind] = (last, hidden + 1)
                return
            self._logged[kind] = (now, 0)
        more = f" ({hidden} more since the last warning)" if hidden else ""
        of = f" in request {_line(request)}" if request else ""
        self._logger.warning("wirecall: %s%s: %s%s", kind, of, _line(detail), more)


def _line(text: str) -> str:
    """Text of a client on one line of a log."""
    short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in short)
