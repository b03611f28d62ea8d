"""Grammars for constrained decoding: how long they take to compile, and a mask for a token: `make bench`.

python -m wirecall_bench.grammars [--quick] [--rounds N] [--json FILE]

The grammars are those of 50 tools of the built-in catalogue. Masks are computed for every token (o200k_base)
of the messages with the catalogue's calls of these tools, as the encoder writes them, after a fresh
compilation: they include what a library does when it reaches a state for the first time.

The baseline is the library's own grammar of the same tools: their JSON Schemas in tags, at least one call.
A library that has a cache is also timed with one that knows the catalogue's other tools.

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
from typing import TYPE_CHECKING, Any, Literal, Protocol

from wirecall import Toolset, definitions
from wirecall_bench.rounds import machine
from wirecall_bench.tables import Table, markdown

if TYPE_CHECKING:
    from tiktoken import Encoding

    from wirecall import Definition

TOOLS = 50
_ROUNDS, _QUICK = 15, 3
_CHOICES: tuple[Literal["required", "auto"], ...] = ("required", "auto")
_PROSE = "I will look that up. One moment, please."

Kind = Literal["lark", "ebnf", "structural_tag"]


class Decoder(Protocol):
    """Follows a message in a compiled grammar."""

    def mask(self) -> None: ...

    def accept(self, token: int) -> bool: ...

    def restart(self) -> None: ...


Compile = Callable[[Kind, str], Decoder]


@dataclass(frozen=True)
class Goal:
    """In milliseconds."""

    compiled: float
    median: float
    p95: float


@dataclass(frozen=True)
class Measured:
    """Seconds."""

    engine: str
    kind: Kind
    tool_choice: str
    compiled: float
    median: float
    p95: float
    worst: float
    tokens: int
    goal: Goal

    @property
    def is_met(self) -> bool:
        goal = self.goal
        return (
            self.compiled * 1e3 <= goal.compiled
            and self.median * 1e3 <= goal.median
            and self.p95 * 1e3 <= goal.p95
        )


# Libraries ------------------------------------------------------------------------------------------------


class _Llguidance:
    def __init__(self, matcher: Any, size: int) -> None:
        import numpy

        self._matcher = matcher
        self._mask = numpy.zeros((size + 31) // 32, dtype=numpy.uint32)

    def mask(self) -> None:
        self._matcher.unsafe_compute_mask_ptr(self._mask.ctypes.data, self._mask.nbytes)

    def accept(self, token: int) -> bool:
        return bool(self._matcher.consume_token(token))

    def restart(self) -> None:
        self._matcher.reset()


def llguidance(encoding: Encoding) -> Compile:
    from llguidance import LLMatcher
    from llguidance.tiktoken import lltokenizer_from_encoding

    tokenizer = lltokenizer_from_encoding(encoding)

    def compiled(kind: Kind, text: str) -> Decoder:
        matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(text))
        assert not matcher.is_error(), matcher.get_error()
        return _Llguidance(matcher, tokenizer.vocab_size)

    return compiled


class _Xgrammar:
    def __init__(self, matcher: Any, size: int) -> None:
        import numpy

        self._matcher = matcher
        self._mask = numpy.zeros((1, (size + 31) // 32), dtype=numpy.int32)

    def mask(self) -> None:
        self._matcher.fill_next_token_bitmask(self._mask)

    def accept(self, token: int) -> bool:
        return bool(self._matcher.accept_token(token))

    def restart(self) -> None:
        self._matcher.reset()


def xgrammar(encoding: Encoding, *, cached: bool = False) -> Compile:
    import xgrammar as library

    vocabulary = [b""] * encoding.n_vocab
    for text, token in encoding._mergeable_ranks.items():
        vocabulary[token] = text
    info = library.TokenizerInfo(
        vocabulary, library.VocabType.RAW, vocab_size=encoding.n_vocab, stop_token_ids=[encoding.eot_token]
    )
    # Its cache would make every round but the first one free.
    compiler = library.GrammarCompiler(info, max_threads=1, cache_enabled=cached)

    def compiled(kind: Kind, text: str) -> Decoder:
        compile = compiler.compile_grammar if kind == "ebnf" else compiler.compile_structural_tag
        return _Xgrammar(library.GrammarMatcher(compile(text)), encoding.n_vocab)

    return compiled


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
        load: Makes its compiler; raises ImportError.
        kinds: The kinds of grammars that it reads.
        own: Its own grammar of tools, of the first kind.
        cached: Makes a compiler with a cache.
    """

    name: str
    load: Callable[[Encoding], Compile]
    kinds: tuple[Kind, ...]
    goal: Goal
    own: Callable[[Sequence[Definition]], str]
    cached: Callable[[Encoding], Compile] | None = None


LIBRARIES = [
    Library("llguidance", llguidance, ("lark",), Goal(20, 0.15, 1), own_lark),
    Library(
        "xgrammar",
        xgrammar,
        ("structural_tag", "ebnf"),
        Goal(150, 0.6, 6),
        own_structural_tag,
        functools.partial(xgrammar, cached=True),
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
    engine: str, compile: Compile, kind: Kind, goal: Goal, rounds: int, encoding: Encoding
) -> list[Measured]:
    tools = catalogue()
    rows = []
    for tool_choice in _CHOICES:
        text = tools.grammar(kind, tool_choice)
        compiled = fastest(rounds, functools.partial(compile, kind, text))
        decoder = compile(kind, text)
        masks: list[float] = []
        for call in tools.calls:
            decoder.restart()
            message = f"{_PROSE}\n{call}" if tool_choice == "auto" else call
            for token in encoding.encode(message, disallowed_special=()):
                begun = perf_counter()
                decoder.mask()
                masks.append(perf_counter() - begun)
                # The grammar may expect another order of the arguments than the catalogue has.
                if not decoder.accept(token):
                    break
        masks.sort()
        p95 = masks[len(masks) * 95 // 100]
        figures = compiled, median(masks), p95, masks[-1]
        rows.append(Measured(engine, kind, tool_choice, *figures, len(masks), goal))
    return rows


def baseline(library: Library, encoding: Encoding) -> float:
    """How long the library takes for its own grammar of the same tools; seconds."""
    text, compile = library.own(catalogue().definitions), library.load(encoding)
    return fastest(_QUICK, lambda: compile(library.kinds[0], text))


def after_others(library: Library, encoding: Encoding) -> float | None:
    """How long it takes with a cache that knows the grammar of other tools; seconds."""
    if library.cached is None:
        return None
    tools, kind = catalogue(), library.kinds[0]
    text = tools.grammar(kind, "required")
    known = Toolset(tools.others).grammar(kind, tool_choice="required").text
    times = []
    for _ in range(_QUICK):
        compile = library.cached(encoding)
        compile(kind, known)
        times.append(fastest(1, functools.partial(compile, kind, text)))
    return min(times)


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

    encoding = tiktoken.get_encoding("o200k_base")
    print(f"{machine()}\n{TOOLS} tools; compile: fastest of {rounds} rounds\n", flush=True)
    rows, notes = [], []
    for library in LIBRARIES:
        try:
            compile = library.load(encoding)
        except ImportError as error:
            print(f"{library.name} is left out: {error}")
            continue
        for kind in library.kinds:
            rows += measure(library.name, compile, kind, library.goal, rounds, encoding)
        own, again = baseline(library, encoding), after_others(library, encoding)
        ratio = own / next(row.compiled for row in rows if row.engine == library.name)
        notes.append(
            f"{library.name}'s own grammar of JSON Schemas: {own * 1e3:,.0f} ms, {ratio:.1f} times as long"
        )
        if again is not None:
            notes.append(f"{library.name}, {library.kinds[0]}, after other tools: {again * 1e3:,.0f} ms")
    print(markdown(table(rows)), *notes, sep="\n")
    if chosen.json:
        kept = {"machine": asdict(machine()), "rounds": rounds, "rows": [asdict(row) for row in rows]}
        chosen.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
