"""Samples grammars with llguidance and xgrammar, and tries the encoder's messages with them and, after
`make model`, with llama.cpp: `make test-grammar`.

The calls and messages are divided among libraries, kinds and random toolsets. Each slice of toolsets has its
own process. Slices that were tried are written to target/grammar/progress.jsonl with a hash of the sources,
so that a stopped run can be resumed; what was broken is written to target/grammar/broken.txt.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "scripts")]

from laws import PYTHON_SOURCES, hashed  # noqa: E402

from grammar_support import CHOICES, Case, Sampler, Tally, vocabulary  # noqa: E402
from wirecall_bench.decoders import LlamaCpp, Llguidance, Xgrammar  # noqa: E402
from wirecall_bench.local_model import LocalModelError, matcher_path  # noqa: E402

FOLDER = ROOT / "target" / "grammar"
ENGINES = {engine.name: engine for engine in (Llguidance, Xgrammar, LlamaCpp)}
# How many of a hundred calls and messages, and at most how many toolsets. llama.cpp has no masks, so its
# grammars are sampled with xgrammar, which takes seconds to compile one.
SHARES = {
    ("llguidance", "lark"): (59, 49, 300),
    ("xgrammar", "ebnf"): (20, 25, 300),
    ("xgrammar", "structural_tag"): (20, 24, 300),
    ("xgrammar", "gbnf"): (1, 1, 60),
    ("llama.cpp", "gbnf"): (0, 1, 300),
}
# Toolsets in one slice.
SLICE = 10
# The goals: walks that may be given up, and toolsets of which nothing is unconstrained.
GIVEN_UP, FREE = 0.05, 0.5


@dataclass(frozen=True)
class Slice:
    """Cases of one kind of grammar.

    Attributes:
        calls: How many to sample in each grammar.
        messages: How many to try for each tool, in each grammar that may have them.
    """

    engine: str
    kind: str
    protocol: str
    first: int
    last: int
    calls: int
    messages: int
    seed: int
    sources: str


def slices(asked: argparse.Namespace, sources: str) -> Iterator[Slice]:
    for protocol in asked.protocols:
        for (engine, kind), (calls, messages, most) in SHARES.items():
            toolsets = min(most, max(SLICE, asked.cases // 100))
            if asked.only not in f"{engine} {kind}" or not is_installed(engine):
                continue
            for first in range(0, toolsets, SLICE):
                # A toolset has some three tools, and half of the messages are tried in a second grammar.
                yield Slice(
                    engine,
                    kind,
                    protocol,
                    first,
                    min(first + SLICE, toolsets),
                    -(-asked.cases * calls // 100 // toolsets // CHOICES),
                    -(-asked.messages * messages // 100 // toolsets // 5),
                    asked.seed,
                    sources,
                )


@functools.cache
def is_installed(engine: str) -> bool:
    """Says if it is not."""
    if engine != LlamaCpp.name:
        return True
    try:
        matcher_path()
    except LocalModelError as error:
        print(f"llama.cpp is left out: {error}")
        return False
    return True


@functools.cache
def sampler(engine: str) -> Sampler:
    """One for each process: a vocabulary takes some seconds."""
    return Sampler(vocabulary(), ENGINES[engine](vocabulary()))


def tried(one: Slice) -> tuple[Tally, float]:
    begun = time.process_time()
    tally = Tally()
    for number in range(one.first, one.last):
        case = Case(number, one.protocol, one.seed, one.kind)
        tally.add(sampler(one.engine).case(case, one.calls, one.messages))
    return tally, time.process_time() - begun


def known(progress: Path) -> dict[Slice, tuple[Tally, float]]:
    """What earlier runs tried, less lines of other versions and one that was cut off by an interrupt."""
    found = {}
    for line in progress.read_text().splitlines() if progress.exists() else ():
        with contextlib.suppress(ValueError, TypeError, KeyError):
            record = json.loads(line)
            found[Slice(**record["slice"])] = Tally(**record["tally"]), record["seconds"]
    return found


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100_000, help="calls to sample (100,000)")
    parser.add_argument("--messages", type=int, help="messages of the encoder (two for each call)")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other toolsets")
    parser.add_argument("--only", default="", help="only libraries and kinds with this in their names")
    parser.add_argument(
        "--protocols", nargs="+", default=["wire"], help="protocols and native formats (wire)"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many processes")
    asked = parser.parse_args()
    if asked.messages is None:
        asked.messages = 2 * asked.cases
    return asked


def main() -> int:
    asked = arguments()
    FOLDER.mkdir(parents=True, exist_ok=True)
    progress = FOLDER / "progress.jsonl"
    sources = hashed((*PYTHON_SOURCES, "tests/grammar"))
    wanted = list(slices(asked, sources))
    if not wanted:
        print(f"no library and kind that is installed has {asked.only!r} in its name")
        return 2
    done = {one: found for one, found in known(progress).items() if one in set(wanted)}
    waiting = [one for one in wanted if one not in done]
    print(f"{len(waiting)} of {len(wanted)} slices to try, {asked.jobs} processes", flush=True)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(asked.jobs, spawn, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        futures = {pool.submit(tried, one): one for one in waiting}
        try:
            for count, future in enumerate(as_completed(futures), 1):
                one, (tally, seconds) = futures[future], future.result()
                done[one] = tally, seconds
                with progress.open("a") as file:
                    record = {"slice": asdict(one), "tally": asdict(tally), "seconds": round(seconds, 1)}
                    file.write(json.dumps(record) + "\n")
                print(
                    f"[{count}/{len(waiting)}] {one.engine} {one.kind} {one.protocol} {one.first}: "
                    f"{tally.calls} calls, {tally.messages} messages, {len(tally.broken)} broken, "
                    f"{seconds:.0f} s",
                    flush=True,
                )
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print("stopped; the same command continues from here")
            return 130
    return report(wanted, done)


def report(wanted: list[Slice], done: dict[Slice, tuple[Tally, float]]) -> int:
    """Prints the table, and returns the exit code."""
    rows: dict[tuple[str, str, str], tuple[Tally, float]] = {}
    for one in wanted:
        name = one.engine, one.kind, one.protocol
        total, seconds = rows.setdefault(name, (Tally(), 0.0))
        total.add(done[one][0])
        rows[name] = total, seconds + done[one][1]
    table = Table(box=box.MARKDOWN)
    for title in ("library", "kind", "protocol"):
        table.add_column(title)
    for title in (
        *("toolsets", "nothing unconstrained", "calls", "errors there", "errors elsewhere", "errors named"),
        *("walks given up", "wrong masks", "messages", "refused", "CPU seconds"),
    ):
        table.add_column(title, justify="right")
    for name, (tally, seconds) in rows.items():
        numbers = (
            *(tally.toolsets, tally.free, tally.calls, len(tally.failures), len(tally.others), tally.named),
            *(tally.given_up, tally.wrong, tally.messages, tally.refused, round(seconds)),
        )
        table.add_row(*name, *(f"{number:,}" for number in numbers))
    Console(width=200).print(table)
    broken = [text for tally, _ in rows.values() for text in tally.broken]
    (FOLDER / "broken.txt").write_text("\n\n".join(broken))
    for text in broken[:5]:
        print(f"\n{text[:1500]}")
    if broken:
        print(f"\n{len(broken)} promises are broken: {os.path.relpath(FOLDER / 'broken.txt', ROOT)}")
    missed = [
        f"{' '.join(name)}: {what}"
        for name, (tally, _) in rows.items()
        for what, is_missed in (
            (
                f"{tally.given_up} of {tally.walks} walks were given up",
                tally.given_up > GIVEN_UP * tally.walks,
            ),
            ("no call was sampled", not tally.calls and name[0] != LlamaCpp.name),
            ("no message was tried", not tally.messages),
            (f"nothing is unconstrained in only {tally.free} toolsets", tally.free < FREE * tally.toolsets),
        )
        if is_missed
    ]
    print(*missed, sep="\n", end="\n" if missed else "")
    return bool(broken or missed)


if __name__ == "__main__":
    sys.exit(main())
