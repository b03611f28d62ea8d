"""`make live`: `wirecall bench live` with a model of 135 million parameters on this machine.

Starts llama-server, checks that it takes the grammars of the catalogues, runs the bench with fixed budgets,
and writes artifacts into a folder, `target/live` by default. What the folder already has is continued.
"""

import argparse
import json
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from wirecall import Toolset
from wirecall._tools.definitions import Definition
from wirecall_bench.artifact import BenchError, read
from wirecall_bench.catalogue import BUILT_IN, Catalogue, built_in, catalogues
from wirecall_bench.local_model import MODELS, SMOLLM2, LocalModelError, model_named, server_command
from wirecall_bench.local_server import LocalServer, free_port, run, serving, stop_on_sigterm
from wirecall_bench.manuals import MANUALS
from wirecall_bench.mistakes import published
from wirecall_bench.modes import NATIVE, NATIVE_FORCED

FOLDER = Path("target/live")

_MODES = (NATIVE, NATIVE_FORCED, "wire", "wire-grammar", "hermes-grammar")
# Of each group of the built-in catalogue: cases for the modes, and cases for the variants of the manual.
SAMPLE, MANUALS_SAMPLE = 2, 2
# Of the cases of `--reference`, for the variants of the manual without a grammar.
_WIRE_SAMPLE = 5
# Different seeds, so that the variants of the manual are not chosen on the cases that show the modes.
_SEED, _MANUALS_SEED = 0, 1
# Tokens of one answer, and of one run in total. At some 1,000 tokens a request, no run uses half of them.
_ANSWER, _BUDGET = 512, 4_000_000
# A variant of the manual that changes only some of the manuals.
_CONSTRAINTS = "no-constraints"
# Protocols whose grammars are checked.
_PROTOCOLS = ("wire", "hermes")
# The exit code of an interrupted command.
_INTERRUPTED = 130


@dataclass(frozen=True)
class PlannedRun:
    """One run of `wirecall bench live`, and the name of its artifact."""

    name: str
    catalogue: str
    modes: Sequence[str]
    seed: int = _SEED
    sample: int | None = None
    ablations: Sequence[str] = ()
    groups: Sequence[str] = ()

    def path(self, folder: Path) -> Path:
        return folder / f"{self.name}.jsonl"

    def arguments(self, server: LocalServer, folder: Path) -> list[str]:
        """The arguments of `wirecall`."""
        path = self.path(folder)
        return [
            *("bench", "live", "--base-url", server.base_url, "--models", server.model),
            *("--catalogue", self.catalogue, "--modes", ",".join(self.modes)),
            *("--seed", str(self.seed), "--block", "group", "--concurrency", "1"),
            *(() if self.sample is None else ("--sample", str(self.sample))),
            *(part for one in self.groups for part in ("--group", one)),
            *(part for one in self.ablations for part in ("--ablation", one)),
            *("--output-parameter", "max_tokens", "--max-output-tokens", str(_ANSWER)),
            *("--parameter", "temperature=0", "--max-tokens", str(_BUDGET)),
            *("--timeout", "300", "--tries", "2", "--output", str(path)),
            *(("--resume", "--retry-failed") if path.exists() else ()),
        ]


def planned_runs(reference: Path | None, sample: int, manuals_sample: int) -> list[PlannedRun]:
    """The runs with the built-in catalogue and, if it is given, with another one."""
    found = []
    if reference is not None:
        found.append(PlannedRun("reference", str(reference), _MODES))
    found.append(PlannedRun("built-in", BUILT_IN, _MODES, sample=sample))
    if manuals_sample:
        constraints = [f"manual={_CONSTRAINTS}"]
        everywhere = [f"manual={name}" for name in MANUALS if name != _CONSTRAINTS]
        if reference is not None:
            # With one set of tools for all cases, the server reads each manual once.
            path, grammar = str(reference), ["wire-grammar"]
            found.append(PlannedRun("manuals-reference", path, grammar, ablations=everywhere))
            # Without a grammar this model hardly calls tools, so few cases show what there is to see.
            found.append(
                PlannedRun("manuals-wire", path, ["wire"], _MANUALS_SEED, _WIRE_SAMPLE, ablations=everywhere)
            )
        given = (BUILT_IN, ["wire-grammar"], _MANUALS_SEED, manuals_sample)
        found.append(PlannedRun("manuals", *given, ablations=everywhere))
        found.append(PlannedRun("manuals-constraints", *given, ablations=constraints, groups=_constrained()))
    return found


def _constrained() -> list[str]:
    """The groups of the built-in catalogue whose manuals have constraints; the others would not change."""
    return [
        group
        for group, tools in by_group(built_in()).items()
        if Toolset(tools).manual() != MANUALS[_CONSTRAINTS](tools)
    ]


def by_group(catalogue: Catalogue) -> dict[str, list[Definition]]:
    """The tools of each group of cases, as `--tools group` sends them."""
    groups: dict[str, list[Definition]] = {}
    for group in dict.fromkeys(case.group for case in catalogue.cases):
        names = {case.tool for case in catalogue.cases if case.group == group}
        groups[group] = [tool for tool in catalogue.tools if tool.name in names]
    return groups


# Grammars ---------------------------------------------------------------------------------------------------


def grammars(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """The GBNF grammars of a catalogue, with titles: of all tools for each `tool_choice`, and of the tools of
    each group, as `--tools group` sends them."""
    for protocol in _PROTOCOLS:
        whole = Toolset(catalogue.tools, protocol=protocol)
        for choice in ("auto", "required", "none", *whole.names):
            yield f"{protocol}, all tools, {choice}", whole.grammar("gbnf", tool_choice=choice).text
        for group, tools in by_group(catalogue).items():
            for choice in ("auto", "required"):
                grammar = Toolset(tools, protocol=protocol).grammar(
                    "gbnf", tool_choice=choice, parallel=choice == "auto"
                )
                yield f"{protocol}, group {group!r}, {choice}", grammar.text


def refusal(server: LocalServer, grammar: str) -> str | None:
    """Why the server refuses a grammar; None if it takes it."""
    body = {"prompt": "Hello", "n_predict": 1, "temperature": 0, "grammar": grammar}
    request = urllib.request.Request(
        f"{server.url}/completion",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        return f"HTTP {error.code}: {error.read(500).decode(errors='replace')}"
    return None


def check_grammars(server: LocalServer, found: Sequence[Catalogue]) -> int:
    """Print how many grammars the server takes, and those that it refuses. Returns how many it refuses."""
    refused = 0
    for catalogue in found:
        count = taken = 0
        for title, grammar in grammars(catalogue):
            count += 1
            if (why := refusal(server, grammar)) is None:
                taken += 1
            else:
                print(f"{catalogue.name}: {title}: {why}")
        print(f"{catalogue.name}: llama-server takes {taken} of {count} grammars", flush=True)
        refused += count - taken
    return refused


# The command ------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="local_live", description=__doc__.partition("\n")[0])
    names = [model.name for model in MODELS]
    parser.add_argument("--model", choices=names, default=SMOLLM2.name, help=f"default: {SMOLLM2.name}")
    parser.add_argument("--output", type=Path, default=FOLDER, help=f"folder for artifacts ({FOLDER})")
    parser.add_argument("--reference", type=Path, metavar="FILE", help="a further catalogue")
    parser.add_argument("--sample", type=int, default=SAMPLE, help=f"cases of each group ({SAMPLE})")
    parser.add_argument(
        "--manuals-sample",
        type=int,
        default=MANUALS_SAMPLE,
        help=f"the same for the variants of the manual; 0 for none ({MANUALS_SAMPLE})",
    )
    parser.add_argument("--threads", type=int, default=1, help="threads of the server (1)")
    parser.add_argument("--publish", type=Path, metavar="FOLDER", help="write artifacts without texts, too")
    parser.add_argument("--only-grammars", action="store_true", help="stop after checking the grammars")
    options = parser.parse_args(arguments)
    stop_on_sigterm()
    try:
        return _run(options)
    except (BenchError, LocalModelError) as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("interrupted; repeat the command to continue")
        return _INTERRUPTED


def _run(options: argparse.Namespace) -> int:
    runs = planned_runs(options.reference, options.sample, options.manuals_sample)
    sources = catalogues(dict.fromkeys(run.catalogue for run in runs))
    options.output.mkdir(parents=True, exist_ok=True)
    port = _port(run.path(options.output) for run in runs)
    command = server_command(model_named(options.model), port=port, threads=options.threads)
    with serving(command, port, options.model) as server:
        refused = check_grammars(server, sources)
        if options.only_grammars:
            return 1 if refused else 0
        say(
            f"{len(runs)} runs with {options.model}: temperature 0, at most {_ANSWER} tokens an answer, and "
            f"{_BUDGET:,} tokens a run"
        )
        codes = [_wirecall(run.arguments(server, options.output), server) for run in runs]
    paths = [str(run.path(options.output)) for run in runs]
    if options.publish is not None:
        publish(runs, sources, options.output, options.publish)
    codes.append(_wirecall(["bench", "report", *paths, "--markdown", str(options.output / "report.md")]))
    say(f"the report is {options.output / 'report.md'}")
    return max(codes) or (1 if refused else 0)


def publish(runs: Sequence[PlannedRun], sources: Sequence[Catalogue], folder: Path, target: Path) -> None:
    """Write the artifacts of runs without the texts of requests and answers, for docs/benchmarks.md."""
    target.mkdir(parents=True, exist_ok=True)
    for one in runs:
        found = read(one.path(folder))
        (source,) = (source for source in sources if source.name == found.options["catalogue"])
        text = published(found, {case.name: case for case in source.cases})
        one.path(target).write_text(text, encoding="utf-8")


def _port(paths: Iterator[Path]) -> int:
    """The port of an earlier run, because a resumed run needs the same URL; otherwise a free one."""
    for path in paths:
        with suppress(BenchError, KeyError, ValueError):
            port = urlsplit(str(read(path).options["base_url"])).port if path.exists() else None
            if port is not None:
                return port
    return free_port()


def _wirecall(arguments: Sequence[str], server: LocalServer | None = None) -> int:
    """Run the command `wirecall`, and return its exit code.

    Raises:
        KeyboardInterrupt: It was interrupted.
    """
    added = {} if server is None else server.environment()
    code = run([sys.executable, "-m", "wirecall", *arguments], added)
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    return code


def say(message: str) -> None:
    print(f"live: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
