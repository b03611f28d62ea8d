"""How much memory a parser uses: measured in a separate process, because a peak cannot be reset everywhere.

The process receives the deltas through a pipe, so only the parser and its results take memory.
"""

import gc
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from wirecall_bench.peers import Contestant, Stream, contestants
from wirecall_bench.workloads import Step, Tool

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")


def resident() -> int:
    """The current memory in bytes; its peak, if the system does not report it; 0 on Windows."""
    return _status("VmRSS") or _max_rss()


def peak() -> int:
    """The maximum since `reset_peak`, in bytes."""
    return _status("VmHWM") or _max_rss()


def reset_peak() -> None:
    """Reset the peak (Linux only). Elsewhere an earlier peak can hide later growth."""
    with suppress(OSError):
        _CLEAR_REFS.write_text("5")


def _status(field: str) -> int | None:
    with suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return None


def _max_rss() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def grown(
    contestant: Contestant,
    warm_up: tuple[list[Tool], Iterable[Step]],
    workload: tuple[list[Tool], Iterable[Step]],
    timeout: float,
) -> int | None:
    """How much a fresh process grows after a warm-up, in bytes.

    None if it does not end in time, or if the system does not report its memory.
    """
    command = [sys.executable, "-m", "wirecall_bench.memory", contestant.name]
    lines = (json.dumps(line) + "\n" for part in (warm_up, workload) for line in _lines(*part))
    try:
        ended = subprocess.run(
            command, input="".join(lines), stdout=subprocess.PIPE, text=True, timeout=timeout, check=True
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    # Packages may print to standard output when they are imported.
    said: int | None = json.loads(ended.stdout.splitlines()[-1])
    return said


def _lines(tools: list[Tool], steps: Iterable[Step]) -> Iterator[Any]:
    yield tools
    yield from steps
    yield None


def _read(contestant: Contestant, lines: Iterator[Any]) -> object:
    """Parse one workload, from its tools to the line that ends it. Returns what a host would still hold."""
    open_stream = contestant.prepare(next(lines))
    streams: dict[int, Stream] = {}
    kept: dict[int, object] = {}
    for line in lines:
        if line is None:
            break
        index, delta = line
        if index not in streams:
            streams[index] = open_stream()
        stream = streams[index]
        kept[index] = (stream.finish() if delta is None else stream.feed(delta)) or kept.get(index)
    return streams, kept


def main() -> None:
    contestant = next(one for one in contestants() if one.name == sys.argv[1])
    lines = map(json.loads, sys.stdin)
    _read(contestant, lines)
    gc.collect()
    reset_peak()
    before = resident()
    kept = _read(contestant, lines)
    print(json.dumps(peak() - before if before else None))
    del kept


if __name__ == "__main__":
    main()
