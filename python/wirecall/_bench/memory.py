"""How far a process grows while a parser reads: in a process of its own, because a peak cannot be taken back.

The deltas come through a pipe, so that what grows is the parser and what it hands over.
"""

import gc
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from wirecall._bench.peers import Contestant, Stream, contestants
from wirecall._bench.workloads import Step, Tool

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")


def resident() -> int:
    """What the process holds now, in bytes; where the system does not say, its peak so far; 0 on Windows."""
    return _status("VmRSS") or _max_rss()


def peak() -> int:
    """The most that it held since `reset_peak`, in bytes."""
    return _status("VmHWM") or _max_rss()


def reset_peak() -> None:
    """Linux only; elsewhere a peak from before could hide some of what comes."""
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
    """How far a fresh process grows, in bytes, that has done the warm-up.

    None if it does not end in time, or the system does not say.
    """
    command = [sys.executable, "-m", "wirecall._bench.memory", contestant.name]
    lines = (json.dumps(line) + "\n" for part in (warm_up, workload) for line in _lines(*part))
    try:
        ended = subprocess.run(
            command, input="".join(lines), stdout=subprocess.PIPE, text=True, timeout=timeout, check=True
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    # A package may say something on standard output when it is imported.
    said: int | None = json.loads(ended.stdout.splitlines()[-1])
    return said


def _lines(tools: list[Tool], steps: Iterable[Step]) -> Iterator[Any]:
    yield tools
    yield from steps
    yield None


def _read(contestant: Contestant, lines: Iterator[Any]) -> object:
    """One work, from its tools to the line that ends it; returns what a host would still hold."""
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
