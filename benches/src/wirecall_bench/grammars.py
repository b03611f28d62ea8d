"""Grammars for constrained decoding: how long they take to compile, and a mask for a token: `make bench`.

python -m wirecall_bench.grammars [--quick] [--rounds N] [--json FILE]

The grammars are those of 50 tools of the built-in catalogue. Masks are computed for every token (o200k_base)
of the messages with the catalogue's calls of these tools, as the encoder writes them, after a fresh
compilation: they include what a library does when it reaches a state for the first time.

The baseline is the library's own grammar of the same tools: their JSON Schemas in tags, at least one call.
One thread compiles. A library that has a cache is also timed with one that knows the catalogue's other tools,
and one that compiles in threads with its default number of these.

Libraries that are not installed are left out. xgrammar is in the environment of `make test-grammar`.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from wirecall import Toolset, definitions
from wirecall_bench.decoders import Engine, Llguidance, TokenVocabulary, Xgrammar
from wirecall_bench.rounds import machine
from wirecall_bench.tables import Table, markdown

if TYPE_CHECKING:
    from wirecall import Definition

TOOLS = 50
_ROUNDS, _QUICK = 15, 3
_CHOICES: tuple[Literal["required", "auto"], ...] = ("required", "auto")
# The share of messages that a grammar must follow to their ends. Others have another order than the schema.
_FOLLOWED = 0.95
_PROSE = "I will look that up. One moment, please."

Kind = Literal["lark", "ebnf", "structural_tag"]


@dataclass(frozen=True)
class Goal:
    """In milliseconds."""

    compiled: float
    median: float
    p95: float


@dataclass(frozen=True)
class Measured:
    """Seconds.

    Attributes:
        tokens: How many masks were computed.
        followed: The share of the messages that the grammar accepts to their ends.
    """

    engine: str
    kind: Kind
    tool_choice: str
    compiled: float
    median: float
    p95: float
    worst: float
    tokens: int
    followed: float
    goal: Goal

    @property
    def is_met(self) -> bool:
        goal = self.goal
        return (
            self.followed >= _FOLLOWED
            and self.compiled * 1e3 <= goal.compiled
            and self.median * 1e3 <= goal.median
            and self.p95 * 1e3 <= goal.p95
        )


# Libraries ------------------------------------------------------------------------------------------------


def own_lark(tools: Sequence[Definition]) -> str:
    calls = " | ".join(
        f"({json.dumps(_begin(tool))} %json {json.dumps(tool.parameters)} {json.dumps(_END)})"
        for tool in tools
    )
    return f"start: ({calls})+"


def own_structural_tag(tools: Sequence[Definition]) -> str:
    tags = [
        {
            "type": "tag",
            "begin": _begin(tool),
            "content": {"type": "json_schema", "json_schema": tool.parameters},
            "end": _END,
        }
        for tool in tools
    ]
    form = {"type": "tags_with_separator", "tags": tags, "separator": "", "at_least_one": True}
    return json.dumps({"type": "structural_tag", "format": form})


def _begin(tool: Definition) -> str:
    return f'<tool_call>{{"name": {json.dumps(tool.name)}, "arguments": '


_END = "}</tool_call>"


@dataclass(frozen=True)
class Library:
    """A library for constrained decoding.

    Attributes:
        load: Makes its engine; raises ImportError.
        kinds: The kinds of grammars that it reads.
        own: Its own grammar of tools, of the first kind.
        cached: Makes an engine with a cache.
        threaded: Makes an engine with as many threads as the library starts by default.
    """

    name: str
    load: Callable[[TokenVocabulary], Engine]
    kinds: tuple[Kind, ...]
    goal: Goal
    own: Callable[[Sequence[Definition]], str]
    cached: Callable[[TokenVocabulary], Engine] | None = None
    threaded: Callable[[TokenVocabulary], Engine] | None = None


LIBRARIES = [
    Library("llguidance", Llguidance, ("lark",), Goal(20, 0.15, 1), own_lark),
    Library(
        "xgrammar",
        # Its cache would make every round but the first one free.
        Xgrammar,
        ("structural_tag", "ebnf"),
        Goal(150, 0.6, 6),
        own_structural_tag,
        functools.partial(Xgrammar, cached=True),
        functools.partial(Xgrammar, threads=8),
    ),
]


# Measuring ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CatalogueTools:
    """The first tools of the built-in catalogue.

    Attributes:
        others: The other tools.
        calls: A message for each call of the tools.
    """

    definitions: Sequence[Definition]
    others: Sequence[Definition]
    calls: Sequence[str]

    def grammar(self, kind: Kind, tool_choice: str) -> str:
        return Toolset(self.definitions).grammar(kind, tool_choice=tool_choice).text


def catalogue() -> CatalogueTools:
    """Reads the file itself: the environment of the grammar tests cannot check catalogues."""
    read = json.loads((files("wirecall_bench") / "data" / "catalogue.json").read_text("utf-8"))
    tools = definitions(read["tools"])
    chosen, others = tools[:TOOLS], tools[TOOLS:]
    toolset = Toolset(chosen)
    known = {tool.name for tool in chosen}
    calls = [(case["tool"], case["arguments"]) for case in read["cases"] if case["tool"] in known]
    return CatalogueTools(chosen, others, [toolset.encode(name, given) for name, given in calls])


def fastest(rounds: int, compile: Callable[[], object]) -> float:
    """Seconds."""
    times = []
    for _ in range(rounds):
        begun = perf_counter()
        compile()
        times.append(perf_counter() - begun)
    return min(times)


def measure(
    engine: Engine, kind: Kind, goal: Goal, rounds: int, tools: CatalogueTools, vocabulary: TokenVocabulary
) -> list[Measured]:
    rows = []
    for tool_choice in _CHOICES:
        text = tools.grammar(kind, tool_choice)
        compiled = fastest(rounds, functools.partial(engine.matcher, kind, text))
        matcher = engine.matcher(kind, text)
        masks: list[float] = []
        followed = 0
        for call in tools.calls:
            matcher.reset()
            message = f"{_PROSE}\n{call}" if tool_choice == "auto" else call
            for token in vocabulary.tokenize(message):
                begun = perf_counter()
                matcher.mask()
                masks.append(perf_counter() - begun)
                # The grammar may expect another order of the arguments than the catalogue has.
                if not matcher.accept([token]):
                    break
            else:
                followed += 1
        masks.sort()
        p95 = masks[len(masks) * 95 // 100]
        figures = compiled, median(masks), p95, masks[-1]
        share = followed / len(tools.calls)
        rows.append(Measured(engine.name, kind, tool_choice, *figures, len(masks), share, goal))
    return rows


def baseline(library: Library, tools: CatalogueTools, vocabulary: TokenVocabulary) -> float:
    """How long the library takes for its own grammar of the same tools; seconds."""
    text, engine = library.own(tools.definitions), library.load(vocabulary)
    return fastest(_QUICK, lambda: engine.matcher(library.kinds[0], text))


def after_others(library: Library, tools: CatalogueTools, vocabulary: TokenVocabulary) -> float | None:
    """How long it takes with a cache that knows the grammar of other tools; seconds."""
    if library.cached is None:
        return None
    kind = library.kinds[0]
    text = tools.grammar(kind, "required")
    known = Toolset(tools.others).grammar(kind, tool_choice="required").text
    times = []
    for _ in range(_QUICK):
        engine = library.cached(vocabulary)
        engine.matcher(kind, known)
        times.append(fastest(1, functools.partial(engine.matcher, kind, text)))
    return min(times)


def with_threads(library: Library, tools: CatalogueTools, vocabulary: TokenVocabulary) -> str | None:
    """What `measure` times on one thread, with the threads that the library starts by default."""
    if library.threaded is None:
        return None
    engine, kind = library.threaded(vocabulary), library.kinds[0]
    times = []
    for tool_choice in _CHOICES:
        text = tools.grammar(kind, tool_choice)
        seconds = fastest(_QUICK, functools.partial(engine.matcher, kind, text))
        times.append(f"{seconds * 1e3:,.0f} ms {tool_choice}")
    return f"{library.name}, {kind}, with its default threads: {', '.join(times)}"


def table(rows: Sequence[Measured]) -> Table:
    lines = [
        [
            f"{row.engine}, {row.kind}",
            row.tool_choice,
            f"{row.compiled * 1e3:.3g} ms",
            f"{row.median * 1e3:.2g} ms",
            f"{row.p95 * 1e3:.2g} ms",
            f"{row.worst * 1e3:.2g} ms",
            f"{row.tokens:,}",
            f"{row.followed:.0%}",
            f"{row.goal.compiled:g}, {row.goal.median:g}, {row.goal.p95:g} ms",
            "yes" if row.is_met else "NO",
        ]
        for row in rows
    ]
    head = [
        "grammar",
        "tool choice",
        "compile",
        "mask, median",
        "mask, p95",
        "slowest",
        "masks",
        "followed",
        "at most",
        "met",
    ]
    return Table("", head, lines, left=2)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure how grammars are compiled and followed.")
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK} rounds, for a first look")
    parser.add_argument("--rounds", type=int, help=f"how many compilations ({_ROUNDS})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures, in seconds")
    chosen = parser.parse_args(arguments)
    rounds = chosen.rounds or (_QUICK if chosen.quick else _ROUNDS)
    import tiktoken

    vocabulary = TokenVocabulary(tiktoken.get_encoding("o200k_base"))
    tools = catalogue()
    print(f"{machine()}\n{TOOLS} tools; compile: fastest of {rounds} rounds\n", flush=True)
    rows, notes = [], []
    for library in LIBRARIES:
        try:
            engine = library.load(vocabulary)
        except ImportError as error:
            print(f"{library.name} is left out: {error}")
            continue
        for kind in library.kinds:
            rows += measure(engine, kind, library.goal, rounds, tools, vocabulary)
        own, again = baseline(library, tools, vocabulary), after_others(library, tools, vocabulary)
        ratio = own / next(row.compiled for row in rows if row.engine == library.name)
        notes.append(
            f"{library.name}'s own grammar of JSON Schemas: {own * 1e3:,.0f} ms, {ratio:.1f} times as long"
        )
        if again is not None:
            notes.append(f"{library.name}, {library.kinds[0]}, after other tools: {again * 1e3:,.0f} ms")
        threaded = with_threads(library, tools, vocabulary)
        notes += [threaded] if threaded else []
    print(markdown(table(rows)), *notes, sep="\n")
    if chosen.json:
        kept = {"machine": asdict(machine()), "rounds": rounds, "rows": [asdict(row) for row in rows]}
        chosen.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
