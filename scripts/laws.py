"""Run every law of both languages, and of the clients, with a given number of cases: `make laws`.

A law is a test over generated cases. Each law runs in slices. Each slice has its own seed, which is derived
from the run's seed and printed. The laws of the clients have a finite number of cases, so each runs in one
slice. There is one process for each processor. Slices that passed are written to target/laws/progress.jsonl
with a hash of the sources, so that a stopped run can be resumed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "target" / "laws"
# Tests of proptest have parameters; other tests do not.
RUST_LAW = re.compile(r"#\[test\]\s*fn (\w+)\(\s*[^)\s]")
# A law whose cases are finite prints how many it tried.
TRIED = re.compile(r"^cases: (\d+)$", re.MULTILINE)
# The environment with the SDKs.
CLIENTS_PYTHON = ROOT / ".venv-clients" / "sdk" / "bin" / "python"
# The files that the outcome of a law depends on.
RUST_SOURCES = ("Cargo.toml", "Cargo.lock", "rust/core", "tests/rust", "tests/vectors")
PYTHON_SOURCES = (
    *RUST_SOURCES,
    "rust/py",
    "python",
    "benches/src",
    "benches/tests",
    "tests/python",
    "tests/clients",
    "pyproject.toml",
)


@dataclass(frozen=True)
class Law:
    """One test. A law that holds for several protocols has one test for each of them.

    Attributes:
        finite: It tries all its cases if there are no more than it is asked for. Hypothesis does not make
            them.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    python: bool
    finite: bool = False


@dataclass(frozen=True)
class Slice:
    law: Law
    number: int
    seed: int
    cases: int
    sources: str

    @property
    def key(self) -> list[object]:
        return [self.sources, self.law.name, self.number, self.seed, self.cases]


@dataclass
class Tally:
    cases: int = 0
    seconds: float = 0.0
    failures: list[Slice] = field(default_factory=list)


def rust_laws() -> list[Law]:
    """The laws of all test targets. They are built here and run without cargo."""
    build = [
        "cargo",
        "test",
        "--locked",
        "-p",
        "wirecall-core",
        "--tests",
        "--no-run",
        "--message-format=json",
    ]
    lines = subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    laws = []
    for line in lines:
        message = json.loads(line)
        program, source = message.get("executable"), Path(message.get("target", {}).get("src_path", ""))
        if not program or "test" not in message["target"]["kind"]:
            continue
        sources = source.parent.rglob("*.rs")
        names = {name for path in sources for name in RUST_LAW.findall(path.read_text())}
        listed = subprocess.run([program, "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout
        for test in re.findall(r"^(.*): test$", listed, re.MULTILINE):
            if test.rpartition("::")[2] in names:
                command = (program, "--exact", test)
                laws.append(Law(f"rust/{test}", command, ROOT / "rust" / "core", python=False))
    return laws


def python_laws() -> list[Law]:
    return pytest_laws(sys.executable)


def client_laws() -> list[Law]:
    """The laws of the SDKs, which have their own environment."""
    return pytest_laws(str(CLIENTS_PYTHON), "tests/clients/sdk", finite=True)


def pytest_laws(python: str, *where: str, finite: bool = False) -> list[Law]:
    pytest = (python, "-m", "pytest", "-o", "faulthandler_timeout=0", "-p", "no:cacheprovider")
    plain = ("-o", "addopts=--strict-markers --import-mode=importlib", "--collect-only", "-q", "-m", "laws")
    done = subprocess.run([*pytest, *plain, *where], cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"pytest cannot collect the laws:\n{done.stdout}")
    nodes = [line for line in done.stdout.splitlines() if "::" in line]
    shown = ("-s",) if finite else ()
    return [
        Law(node.removeprefix("tests/"), (*pytest, *shown, node), ROOT, python=True, finite=finite)
        for node in nodes
    ]


def hashed(paths: tuple[str, ...]) -> str:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths]
    names = subprocess.run(listed, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")
    total = hashlib.sha256()
    for name in sorted(set(filter(None, names))):
        path = ROOT / name
        if path.is_file():
            total.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0".encode())
    return total.hexdigest()[:16]


def slices(law: Law, seed: int, cases: int, size: int, sources: str) -> Iterator[Slice]:
    count = -(-cases // size)
    for number in range(count):
        digest = hashlib.sha256(f"{seed} {law.name} {number}".encode()).digest()
        share = cases * (number + 1) // count - cases * number // count
        yield Slice(law, number, int.from_bytes(digest[:4], "big") >> 1, share, sources)


class Run:
    """One run over some laws.

    Args:
        folder: For the progress, and the output of slices that failed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.progress = folder / "progress.jsonl"
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.processes: set[subprocess.Popen[str]] = set()

    def stop(self) -> None:
        self.stopped.set()
        with self.lock:
            for process in self.processes:
                process.kill()

    def records(self) -> list[dict[str, object]]:
        """All records of earlier runs; a line that was cut off when a run was stopped is ignored."""
        out = []
        for line in self.progress.read_text().splitlines() if self.progress.exists() else ():
            try:
                out.append(json.loads(line))
            except ValueError:
                continue
        return out

    def note(self, record: dict[str, object]) -> None:
        with self.lock, self.progress.open("a") as file:
            file.write(json.dumps(record) + "\n")

    def tries(self, one: Slice) -> tuple[bool, float, str] | None:
        """Whether it passed, how long it took, and its output; None if it was stopped."""
        each, seed = str(one.cases), str(one.seed)
        env = {**os.environ, "WIRECALL_LAW_EACH": each, "WIRECALL_LAW_SEED": seed, "RUST_BACKTRACE": "0"}
        extra = [f"--hypothesis-seed={seed}"] if one.law.python and not one.law.finite else []
        begun = time.monotonic()
        with self.lock:
            if self.stopped.is_set():
                return None
            # In a separate process group: Ctrl-C goes to this program only, which then stops the others.
            process = subprocess.Popen(
                [*one.law.command, *extra],
                cwd=one.law.folder,
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self.processes.add(process)
        said, _ = process.communicate()
        with self.lock:
            self.processes.discard(process)
        if self.stopped.is_set():
            return None
        ran = one.law.python or "1 passed" in said or process.returncode != 0
        return process.returncode == 0 and ran, time.monotonic() - begun, said


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, help="cases of each law, in both languages")
    parser.add_argument(
        "--laws", default="", help="only laws whose names contain this; * and ? are wildcards"
    )
    parser.add_argument(
        "--seed", type=int, help="the run's seed; by default that of a stopped run, or a random one"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many processes")
    parser.add_argument("--list", action="store_true", help="list the laws without running them")
    return parser.parse_args(given)


def main() -> int:
    asked = arguments()
    FOLDER.mkdir(parents=True, exist_ok=True)
    finders = {"rust/": rust_laws, "python/": python_laws, "clients/": client_laws}
    # Only those that can match: listing the laws of Rust compiles them.
    chosen = [find for start, find in finders.items() if asked.laws.startswith(start)] or finders.values()
    laws = [law for find in chosen for law in find()]
    sources = {False: hashed(RUST_SOURCES), True: hashed(PYTHON_SOURCES)}
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    return try_laws(laws, sources, asked, FOLDER)


def try_laws(laws: Sequence[Law], sources: dict[bool, str], asked: argparse.Namespace, folder: Path) -> int:
    """Lists or tries the laws that are asked for, and returns the exit code.

    Args:
        sources: The hash of the sources of the laws in Rust (False) and in Python (True).
        folder: Must exist.
    """
    laws = [law for law in laws if fnmatch(law.name, f"*{asked.laws}*")]
    if not laws:
        sys.exit(f"no law has {asked.laws!r} in its name; `make laws LIST=1` lists them")
    if asked.list:
        print(*(law.name for law in laws), sep="\n")
        return 0
    run = Run(folder)
    known = run.records()
    done = {json.dumps(record["slice"]): record for record in known if "slice" in record}
    # A stopped run continues with its seed. If it was complete, a new seed is used.
    stopped = [int(str(record["run"])) for record in known if record.get("sources") == sources[True]]
    waiting: list[Slice] = []
    for seed in (
        [asked.seed] if asked.seed is not None else [*stopped[-1:], random.SystemRandom().getrandbits(31)]
    ):
        tallies = {law.name: Tally() for law in laws}
        for law in laws:
            cases = asked.cases or (100_000 if law.python else 1_000_000)
            size = cases if law.finite else 10_000 if law.python else 50_000
            for one in slices(law, seed, cases, size, sources[law.python]):
                record = done.get(json.dumps(one.key))
                if record is None:
                    waiting.append(one)
                else:
                    tallies[law.name].cases += int(str(record.get("cases", one.cases)))
                    tallies[law.name].seconds += float(str(record["seconds"]))
        if waiting:
            break
    run.note({"run": seed, "sources": sources[True]})
    total = len(waiting)
    known_cases = sum(tally.cases for tally in tallies.values())
    before = f", after {known_cases:,} cases of a stopped run" if known_cases else ""
    print(
        f"{len(laws)} laws, {total} slices to try{before}; seed {seed} (SEED={seed} repeats it)", flush=True
    )
    pool = ThreadPoolExecutor(max(1, asked.jobs))
    futures = {pool.submit(run.tries, one): one for one in waiting}
    try:
        for count, future in enumerate(as_completed(futures), 1):
            one, outcome = futures[future], future.result()
            if outcome is not None:
                show(run, tallies[one.law.name], one, outcome, f"{count}/{total}")
    except KeyboardInterrupt:
        run.stop()
        pool.shutdown(wait=True, cancel_futures=True)
        print(f"\nstopped; `make laws` with the same settings continues from here (seed {seed})")
        return 130
    return table(tallies)


def show(run: Run, tally: Tally, one: Slice, outcome: tuple[bool, float, str], place: str) -> None:
    passed, seconds, said = outcome
    tally.seconds += seconds
    cases = int(tried[1]) if (tried := TRIED.search(said)) is not None else one.cases
    line = f"[{place}] {one.law.name} slice {one.number} seed {one.seed}: {cases:,} cases, {seconds:.1f} s"
    if passed:
        tally.cases += cases
        fewer = {"cases": cases} if cases != one.cases else {}
        run.note({"slice": one.key, "seconds": round(seconds, 2), **fewer})
        print(line, flush=True)
        return
    tally.failures.append(one)
    log = run.folder / (re.sub(r"[^\w.-]+", "_", f"{one.law.name}-{one.seed}") + ".log")
    log.write_text(said)
    print(f"{line}: FAILED\n" + "\n".join(said.splitlines()[-60:]), flush=True)
    print(f"the whole output is in {os.path.relpath(log, ROOT)}", flush=True)


def table(tallies: dict[str, Tally]) -> int:
    width = max(map(len, tallies))
    print(f"\n{'law':{width}}  {'cases':>11}  {'seconds':>8}  failures")
    for name, tally in tallies.items():
        print(f"{name:{width}}  {tally.cases:11,}  {tally.seconds:8.1f}  {len(tally.failures)}")
    failures = [one for tally in tallies.values() for one in tally.failures]
    cases = sum(tally.cases for tally in tallies.values())
    print(f"\n{len(tallies)} laws, {cases:,} cases without a failure, {len(failures)} slices failed")
    for one in failures:
        settings = f"WIRECALL_LAW_EACH={one.cases} WIRECALL_LAW_SEED={one.seed}"
        hypothesis = f" --hypothesis-seed={one.seed}" if one.law.python and not one.law.finite else ""
        print(f"  {one.law.name}: {settings} {' '.join(one.law.command)}{hypothesis}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
