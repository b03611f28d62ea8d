"""What is measured: the same texts, byte for byte, on every machine and at every run.

Each `Workload` carries the tools, the message and the calls that a correct reader finds in it. Messages are
written with the hand-written encoder, which must write what wirecall does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from catalogue import CALLS, TOOLS
from wirecall_bench.handwritten.format import compile_tools, encode
from wirecall_bench.workloads import DELTA, KB, WRITE_FILE, code, prose

REFERENCE = Path(__file__).resolve().parent / "../../../shared/cases/reference_catalogue.json"

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    tools: Sequence[dict[str, Any]]
    text: str
    calls: Sequence[Call]

    def deltas(self, size: int = DELTA) -> list[str]:
        return [self.text[at : at + size] for at in range(0, len(self.text), size)]


@dataclass(frozen=True)
class Catalogue:
    """Tools and calls for the encoder."""

    source: str
    tools: Sequence[dict[str, Any]]
    calls: Sequence[Call] = field(repr=False)


@cache
def long_prose(size: int = 256 * KB) -> Workload:
    return Workload("prose", f"{size // KB} KB of prose", TOOLS, prose(size), ())


@cache
def long_argument(size: int) -> Workload:
    title = f"{size // KB} KB" if size < KB * KB else f"{size // KB // KB} MB"
    tools = [WRITE_FILE]
    call = ("write_file", {"path": "src/app.py", "content": code(size)})
    text = encode(compile_tools(tools), *call)
    return Workload(f"argument_{size // KB}k", f"call with a {title} argument of code", tools, text, (call,))


@cache
def parallel_calls(count: int = 12) -> Workload:
    small = [call for call in CALLS if len(json.dumps(call[1])) < 100]
    calls = [small[i % len(small)] for i in range(count)]
    compiled = compile_tools(TOOLS)
    text = "\n".join(encode(compiled, *call) for call in calls)
    return Workload("parallel", f"{count} parallel small calls", TOOLS, text, calls)


@cache
def prose_and_call(size: int = 2000) -> Workload:
    call = next(call for call in CALLS if call[0] == "send_email" and len(call[1]) == 4)
    text = prose(size, seed=3) + "\n" + encode(compile_tools(TOOLS), *call)
    return Workload(
        "prose_call", f"{size:,} characters of prose, a call with 4 arguments", TOOLS, text, (call,)
    )


@cache
def many_calls(count: int = 200, size: int = 100 * KB) -> Workload:
    compiled = compile_tools(TOOLS)
    random = Random(4)
    calls = [random.choice(CALLS) for _ in range(count)]
    written = [encode(compiled, *call) for call in calls]
    spare = (size - sum(map(len, written))) // count - 2
    text = "".join(prose(spare, seed=100 + i) + "\n" + call + "\n" for i, call in enumerate(written))
    text += prose(size - len(text), seed=5)
    return Workload("whole", f"{size // KB} KB with {count} calls", TOOLS, text, calls)


@cache
def messages(count: int = 2000, size: int = 2 * KB) -> tuple[Workload, ...]:
    """Each with none to three calls between pieces of prose."""
    compiled = compile_tools(TOOLS)
    random = Random(6)
    made = []
    for number in range(count):
        calls = [random.choice(CALLS) for _ in range(random.randrange(4))]
        written = [encode(compiled, *call) for call in calls]
        spare = (size - sum(map(len, written))) // (len(calls) + 1) - 2
        text = "".join(prose(spare, seed=10_000 + number) + "\n" + call + "\n" for call in written)
        text += prose(size - len(text), seed=number)
        made.append(Workload(f"message_{number}", f"message {number}", TOOLS, text, calls))
    return tuple(made)


@cache
def encode_catalogue(reference: Path = REFERENCE) -> Catalogue:
    """The reference's own catalogue where its file lies beside the project, else the one in catalogue.py."""
    if not reference.is_file():
        return Catalogue("own catalogue", TOOLS, CALLS)
    data = json.loads(reference.read_text(encoding="utf-8"))
    tools = [
        {"name": t["name"], "description": t["description"], "parameters": t["inputSchema"]}
        for t in data["tools"]
    ]
    return Catalogue(
        f"reference catalogue ({data['source'].split(' bench/')[0]})",
        tools,
        [(case["tool"], case["arguments"]) for case in data["cases"]],
    )


def own_catalogue() -> Catalogue:
    return Catalogue("own catalogue", TOOLS, CALLS)
