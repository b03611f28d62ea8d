"""Grammars for constrained decoding: how long they take to compile, and a mask for a token: `make bench`.

python -m wirecall_bench.grammars [--quick] [--rounds N] [--json FILE]

The grammars are those of 50 tools of the built-in catalogue. Masks are computed for every token (o200k_base)
of the messages with the catalogue's calls of these tools, as the encoder writes them, after a fresh
compilation: they include what a library does when it reaches a state for the first time.

Libraries that are not installed are left out. xgrammar is in the environment of `make test-grammar`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, Protocol

from wirecall import Toolset
from wirecall_bench.rounds import machine
from wirecall_bench.tables import Table, markdown

if TYPE_CHECKING:
    from tiktoken import Encoding

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


def xgrammar(encoding: Encoding) -> Compile:
    import xgrammar as library

    vocabulary = [b""] * encoding.n_vocab
    for text, token in encoding._mergeable_ranks.items():
        vocabulary[token] = text
    info = library.TokenizerInfo(
        vocabulary, library.VocabType.RAW, vocab_size=encoding.n_vocab, stop_token_ids=[encoding.eot_token]
    )
    # Its cache would make every round but the first one free.
    compiler = library.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compiled(kind: Kind, text: str) -> Decoder:
        compile = compiler.compile_grammar if kind == "ebnf" else compiler.compile_structural_tag
        return _Xgrammar(library.GrammarMatcher(compile(text)), encoding.n_vocab)

    return compiled


LIBRARIES: list[tuple[str, Callable[[Encoding], Compile], tuple[Kind, ...], Goal]] = [
    ("llguidance", llguidance, ("lark",), Goal(20, 0.15, 1)),
    ("xgrammar", xgrammar, ("structural_tag", "ebnf"), Goal(150, 0.6, 6)),
]


# Measuring ------------------------------------------------------------------------------------------------


def catalogue() -> tuple[Toolset, list[str]]:
    """The tools, and a message for each call of them in the catalogue.

    Reads the file itself: the environment of the grammar tests cannot check catalogues.
    """
    read = json.loads((files("wirecall_bench") / "data" / "catalogue.json").read_text("utf-8"))
    tools = read["tools"][:TOOLS]
    toolset = Toolset(tools)
    known = {tool["name"] for tool in tools}
    calls = [(case["tool"], case["arguments"]) for case in read["cases"] if case["tool"] in known]
    return toolset, [toolset.encode(name, given) for name, given in calls]


def measure(
    engine: str, compile: Compile, kind: Kind, goal: Goal, rounds: int, encoding: Encoding
) -> list[Measured]:
    toolset, calls = catalogue()
    rows = []
    for tool_choice in _CHOICES:
        text = toolset.grammar(kind, tool_choice=tool_choice).text
        compiled = []
        for _ in range(rounds):
            begun = perf_counter()
            decoder = compile(kind, text)
            compiled.append(perf_counter() - begun)
        masks: list[float] = []
        for call in calls:
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
        rows.append(Measured(engine, kind, tool_choice, min(compiled), median(masks), p95, len(masks), goal))
    return rows


def table(rows: Sequence[Measured]) -> Table:
    lines = [
        [
            f"{row.engine}, {row.kind}",
            row.tool_choice,
            f"{row.compiled * 1e3:.3g} ms",
            f"{row.median * 1e3:.2g} ms",
            f"{row.p95 * 1e3:.2g} ms",
            f"{row.tokens:,}",
            f"{row.goal.compiled:g}, {row.goal.median:g}, {row.goal.p95:g} ms",
            "yes" if row.is_met else "NO",
        ]
        for row in rows
    ]
    head = ["grammar", "tool choice", "compile", "mask, median", "mask, p95", "masks", "at most", "met"]
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
    rows = []
    for engine, load, kinds, goal in LIBRARIES:
        try:
            compile = load(encoding)
        except ImportError as error:
            print(f"{engine} is left out: {error}")
            continue
        for kind in kinds:
            rows += measure(engine, compile, kind, goal, rounds, encoding)
    print(markdown(table(rows)))
    if chosen.json:
        kept = {"machine": asdict(machine()), "rounds": rounds, "rows": [asdict(row) for row in rows]}
        chosen.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
