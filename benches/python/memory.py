"""How far a process grows while one call with a large string argument streams through a parser.

    python memory.py wirecall 1048576

A process of its own, because a peak cannot be taken back. The message is made up as it is fed and every event
but the call end is dropped, so what grows is the parser and the arguments that it hands over.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from contestants import parser_maker
from wirecall_bench.handwritten.format import compile_tools, encode
from wirecall_bench.memory import peak, reset_peak, resident
from wirecall_bench.workloads import DELTA, WRITE_FILE, code_lines


def message(size: int) -> Iterator[str]:
    """The deltas of a call whose argument is `size` characters of code."""
    compiled = compile_tools([WRITE_FILE])
    empty = encode(compiled, "write_file", {"path": "src/app.py", "content": ""})
    head, tail = empty[:-8], empty[-8:]
    assert tail == '"</call>'
    pending = head
    for line in code_lines():
        line = line[:size]
        size -= len(line)
        # Between quotes, as the encoder writes it, except that it would double fewer backslashes.
        pending += line.replace("\\", "\\\\").replace('"', '\\"')
        if not size:
            pending += tail
        whole = len(pending) if not size else len(pending) - len(pending) % DELTA
        for at in range(0, whole, DELTA):
            yield pending[at : at + DELTA]
        pending = pending[whole:]
        if not size:
            return


def stream(contestant: str, size: int) -> Any:
    parser = parser_maker(contestant, [WRITE_FILE])()
    end = None
    for delta in message(size):
        for event in parser.feed(delta):
            if event.type == "call_end":
                end = event
    parser.finish()
    return end


def main() -> None:
    contestant, size = sys.argv[1], int(sys.argv[2])
    stream(contestant, 16 * 1024)
    reset_peak()
    before = resident()
    end = stream(contestant, size)
    grown = peak() - before
    assert len(json.loads(end.arguments)["content"]) == size
    print(json.dumps({"argument": size, "growth": grown, "ratio": grown / size}))


if __name__ == "__main__":
    main()
