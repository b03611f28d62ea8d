"""How much slower or faster this working tree is than another revision: `make bench-against BASE=REVISION`.

Both are built with the same flags, each in a folder of its own under target/against, and measured
through the Python API, which is the same in both. Each pair of runs is two fresh processes; they
take turns row by row, and the one that begins changes from pair to pair, so a slow spell of the
machine meets both. What is measured is the processor's time. The ratio is the median over all
pairs, with a 95 % interval from a bootstrap. Below 1 this tree is faster.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from revisions import Worker, check_imported, packages  # noqa: E402

# The best of so many samples counts; together they last at least 50 ms.
SAMPLES = 5
SAMPLE_SECONDS = 0.012
SEED = 20_260_101

TOOL = {
    "name": "write",
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "text": {"type": "string"},
            "mode": {"enum": ["new", "append"]},
            "limit": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["path"],
    },
}
PROSE = "The build is green; the parser reads each chunk once, and holds back what it must. "
MARKDOWN = (
    "- Use `a < b` in [the docs](x.md), **not** `a > b`.\n\n```python\nif a < b: print({'x': [1]})\n```\n"
)
SAID = 'It\'s a short text, with \\"quotes\\" and a line\\nbreak. '
VALUES = {"path": "src/main.rs", "text": "a few words", "mode": "append", "limit": 5, "tags": ["a", "b"]}
BODY = json.dumps(VALUES)
NAMED = json.dumps({"name": "write", "arguments": VALUES})
SHORT = '<call>write path="src/my file.rs" text="a few words" mode=append limit=5</call>\n'
HERMES = f"<tool_call>\n{NAMED}\n</tool_call>\n"
PARAMETERS = "".join(
    f"<parameter={key}>\n{value if isinstance(value, (str, int)) else json.dumps(value)}\n</parameter>\n"
    for key, value in VALUES.items()
)
QWEN = f"<tool_call>\n<function=write>\n{PARAMETERS}</function>\n</tool_call>\n"
XML = (
    "<write>\n<path>src/main.rs</path>\n<text>a few words</text>\n<mode>append</mode>\n<limit>5</limit>\n"
    "<tags>a</tags>\n<tags>b</tags>\n</write>\n"
)
YAML = (
    "<write>\npath: src/main.rs\ntext: a few words\nmode: append\nlimit: 5\ntags:\n  - a\n  - b\n</write>\n"
)

# What is read, by name: the options of the toolset, and the message.
MESSAGES: dict[str, tuple[dict[str, Any], str]] = {
    "plain text": ({}, PROSE * 100),
    "markdown": ({}, MARKDOWN * 80),
    "pairs, short strings": ({}, (PROSE + SHORT) * 40),
    "pairs, a long string": ({}, f'<call>write path=a text="{SAID * 160}"</call>'),
    "pairs, bare values": ({}, "<call>write path=src/main.rs mode=append limit=5 tags=a,b</call>\n" * 80),
    "JSON object": ({}, f"<call>write {BODY}</call>\n" * 50),
    "hermes": ({"protocol": "hermes"}, HERMES * 50),
    "qwen3coder": ({"protocol": "qwen3coder"}, QWEN * 40),
    "xml": ({"protocol": "xml"}, XML * 50),
    "yaml": ({"protocol": "yaml"}, YAML * 50),
    "auto, text": ({"protocol": "auto"}, PROSE * 100),
    "auto, hermes": ({"protocol": "auto"}, HERMES * 50),
    "recover, markdown": ({"recover": True}, MARKDOWN * 80),
    "recover, pairs": ({"recover": True}, (PROSE + SHORT) * 40),
    "recover, hermes": ({"recover": True}, HERMES * 50),
}
WAYS = {"4 characters": 4, "64 characters": 64, "whole": 0}


def rows() -> dict[str, Callable[[], object]]:
    import wirecall

    out: dict[str, Callable[[], object]] = {}
    for name, (options, text) in MESSAGES.items():
        tools = wirecall.Toolset([TOOL], **options)
        # A call that is read as text would be quick.
        found = len(tools.parse(text).calls)
        wanted = 0 if name in ("plain text", "markdown", "auto, text", "recover, markdown") else 1
        if found < wanted or tools.parse(text).errors:
            raise SystemExit(f"{name} is not read as it is meant")
        for way, size in WAYS.items():
            if size:
                deltas = [text[at : at + size] for at in range(0, len(text), size)]
                out[f"{name}, {way}"] = partial(stream, tools, deltas)
            else:
                out[f"{name}, {way}"] = partial(tools.parse, text)
    tools = wirecall.Toolset([TOOL])
    out["encode"] = lambda: tools.encode("write", VALUES)
    out["encode_result"] = lambda: tools.encode_result("write", MARKDOWN)
    for name, text in (("text", PROSE * 20), ("calls", SHORT * 20)):
        out[f"wrap, {name}, sync"] = wrapped(text)
        out[f"wrap, {name}, async"] = wrapped_async(text)
    return out


REQUEST = {
    "model": "m",
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"type": "function", "function": TOOL}],
    "stream": True,
}
URL = "http://server/v1/chat/completions"


def answers(text: str) -> Callable[[Any], Any]:
    """A handler that streams a text, four characters in each chunk."""
    import httpx2

    def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [choice],
        }
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    events = [event({"content": text[at : at + 4]}) for at in range(0, len(text), 4)]
    events += [event({}, "stop"), b"data: [DONE]\n\n"]

    class Memory(httpx2.SyncByteStream, httpx2.AsyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield from events

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for one in events:
                yield one

    headers = {"content-type": "text/event-stream"}
    return lambda request: httpx2.Response(200, headers=headers, stream=Memory())


def wrapped(text: str) -> Callable[[], object]:
    """Reads an answer through a wrapped client of httpx2, without an SDK or a network."""
    import httpx2

    import wirecall

    client = wirecall.wrap(httpx2.Client(transport=httpx2.MockTransport(answers(text))))

    def read() -> None:
        with client.stream("POST", URL, json=REQUEST) as response:
            for _ in response.iter_raw():
                pass

    return read


def wrapped_async(text: str) -> Callable[[], object]:
    import asyncio

    import httpx2

    import wirecall

    handler = answers(text)

    async def handle(request: Any) -> Any:
        return handler(request)

    client = wirecall.wrap(httpx2.AsyncClient(transport=httpx2.MockTransport(handle)))
    loop = asyncio.new_event_loop()

    async def read() -> None:
        async with client.stream("POST", URL, json=REQUEST) as response:
            async for _ in response.aiter_raw():
                pass

    return lambda: loop.run_until_complete(read())


def stream(tools: Any, deltas: list[str]) -> None:
    parser = tools.parser()
    feed = parser.feed
    for delta in deltas:
        feed(delta)
    parser.finish(truncated=False)


def sample(row: Callable[[], object], times: int) -> float:
    begun = time.thread_time()
    for _ in range(times):
        row()
    return time.thread_time() - begun


def serve(package: str) -> None:
    """A worker: a line names a row and how often it runs, and is answered with the seconds of one run.

    Without a number the answer is how often is enough.
    """
    check_imported(package)
    known = rows()
    print(json.dumps(list(known)), flush=True)
    gc.disable()
    for line in sys.stdin:
        name, times = json.loads(line)
        row = known[name]
        sample(row, 1)
        if times is None:
            times = 1
            while sample(row, times) < SAMPLE_SECONDS:
                times *= 2
            print(times, flush=True)
        else:
            print(min(sample(row, times) for _ in range(SAMPLES)) / times, flush=True)
        gc.collect()


class Runner(Worker):
    """Runs rows with a package."""

    def __init__(self, package: Path) -> None:
        super().__init__(__file__, package)
        self.rows: list[str] = self.answer()

    def asks(self, name: str, times: int | None) -> Any:
        self.ask(name, times)
        return self.answer()


def measure(base: Path, tree: Path, pairs: int, wanted: str) -> dict[str, list[tuple[float, float]]]:
    from rich.console import Console
    from rich.progress import track

    first = Runner(base)
    names = [name for name in first.rows if wanted in name]
    if not names:
        raise SystemExit(f"no row has {wanted!r} in its name; there are:\n" + "\n".join(first.rows))
    times = {name: int(first.asks(name, None)) for name in names}
    first.close()
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    console = Console(stderr=True)
    for pair in track(range(pairs), "pairs", console=console, disable=not console.is_terminal):
        workers = {path: Runner(path) for path in (base, tree)}
        for at, name in enumerate(names):
            order = (base, tree) if (pair + at) % 2 == 0 else (tree, base)
            took = {path: float(workers[path].asks(name, times[name])) for path in order}
            seconds[name].append((took[base], took[tree]))
        for worker in workers.values():
            worker.close()
    return seconds


def report(seconds: dict[str, list[tuple[float, float]]], limit: float | None) -> int:
    import numpy as np
    from scipy.stats import bootstrap

    width = max(map(len, seconds))
    print(f"\n{'row':{width}}  {'base us':>10}  {'tree us':>10}   ratio  95 % interval")
    slow = []
    for name, pairs in seconds.items():
        base, tree = np.array(pairs).T
        logs = np.log(tree / base)
        # The same for the same figures, whichever row they are in.
        drawn = bootstrap((logs,), np.median, n_resamples=10_000, method="percentile", rng=SEED)
        low, high = np.exp(drawn.confidence_interval)
        over = limit is not None and high >= limit
        slow += [name] if over else []
        figures = (
            f"{np.median(base) * 1e6:10.2f}  {np.median(tree) * 1e6:10.2f}  {np.exp(np.median(logs)):6.3f}"
        )
        print(f"{name:{width}}  {figures}  {low:.3f} to {high:.3f}{'  OVER' if over else ''}")
    if limit is not None:
        print(f"\n{len(seconds) - len(slow)} of {len(seconds)} rows have their interval below {limit}")
    return bool(slow)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base", nargs="?", help="the revision to compare with, as git knows it")
    parser.add_argument("--pairs", type=int, default=30, help="pairs of runs (30)")
    parser.add_argument("--rows", default="", help="only rows with this in their names")
    parser.add_argument("--limit", type=float, help="status 1 unless each interval is below this ratio")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.serve)
        return 0
    if not asked.base:
        parser.error("name the revision to compare with: make bench-against BASE=REVISION")
    return report(measure(*packages(asked.base), asked.pairs, asked.rows), asked.limit)


if __name__ == "__main__":
    sys.exit(main())
