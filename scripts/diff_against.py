"""Whether this working tree reads and writes what another revision does: `make diff-against BASE=REVISION`.

Both are built under target/against, and get the same messages in the same pieces: what the revision
writes in each format, with up to three slips, or two messages as one; whole and cut off, with every setting
that changes what is read. All events are compared, and what is written: manuals, calls, results, past
messages, neutralised text, grammars, and the tables of formats. The first differences are printed; status 1
if there is one. The revision must have `to_dict` of events.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from revisions import ROOT, Worker, check_imported, packages

sys.path.insert(0, str(ROOT / "tests" / "python"))

MESSAGES = 1_000_000
SEED = 20_261_129
BLOCK = 500
SHOWN = 5

# How a message is read, besides the format.
SETTINGS: list[dict[str, Any]] = [
    {},
    {"recover": True},
    {"strict": True},
    {"code": "text"},
    {"reasoning": "separate", "unknown_tools": "forward"},
    {"syntax": "json", "validate": "error"},
]
WORDS = (
    *"\\\"'`“<>{}[](),:=|é \n\u200b",
    *("&quot;", "```json\n", "None", "12", "functions.", "rm", "<think>", "</think>", "it's ", "<|im_end|>"),
)


class Given(NamedTuple):
    """One message, and how it is read."""

    format: str
    setting: int
    truncated: bool | None
    in_reasoning: bool | None
    pieces: list[str]


# The messages -------------------------------------------------------------------------------------


def mutated(rng: random.Random, texts: Sequence[str], tokens: Callable[[str], Sequence[Any]]) -> str:
    """One of the texts, or two, with up to three slips."""
    text = rng.choice(texts)
    if rng.random() < 0.15:
        text += rng.choice(("", "\n", " and ")) + rng.choice(texts)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
        found = tokens(text)
        if not found:
            break
        token, other = rng.choice(found), rng.choice(found)
        by = rng.choice(
            (
                "",
                token.text * 2,
                other.text,
                rng.choice(WORDS),
                token.text + rng.choice(WORDS),
                token.text[1:],
                token.text[:-1],
                token.text.swapcase(),
            )
        )
        text = text[: token.start] + by + text[token.end :]
    if rng.random() < 0.15:
        text = text[: rng.randrange(len(text) + 1)]
    return text


def pieces(rng: random.Random, text: str) -> list[str]:
    """The text, cut at up to eight places or after every character."""
    how = rng.random()
    if how < 0.2:
        return [text]
    if how < 0.3:
        return list(text) or [""]
    cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randint(1, 8)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def messages(texts: dict[str, list[str]], wanted: int, seed: int) -> Iterator[list[Given]]:
    """Blocks of messages. The formats take turns."""
    from slips_support import tokens  # type: ignore[import-not-found,unused-ignore]

    rng = random.Random(seed)
    formats = list(texts)
    for at in range(0, wanted, BLOCK):
        format = formats[at // BLOCK % len(formats)]
        yield [
            Given(
                format,
                rng.randrange(len(SETTINGS)),
                rng.choice((False, False, True, None)),
                rng.choice((None, None, False, True)),
                pieces(rng, mutated(rng, texts[format], tokens.__wrapped__)),
            )
            for _ in range(min(BLOCK, wanted - at))
        ]


# A worker -----------------------------------------------------------------------------------------

STRING = {"type": "string"}
RICH: list[dict[str, Any]] = [
    {
        "name": "write",
        "description": "Writes a file. <call> and </tool_call> are text here.",
        "parameters": {
            "type": "object",
            "properties": {
                "path": {**STRING, "pattern": "^[a-z/.]+$"},
                "text": {**STRING, "description": "Any text."},
                "mode": {"enum": ["new", "append", 3, None]},
                "limit": {"type": ["integer", "null"], "minimum": 0},
                "ratio": {"type": "number"},
                "now": {"type": "boolean"},
                "tags": {"type": "array", "items": STRING},
                "where": {"anyOf": [STRING, {"type": "object", "properties": {"x": {"type": "number"}}}]},
                "more": {"type": "object", "properties": {"a b": STRING, "n": {"type": "integer"}}},
            },
            "required": ["path"],
        },
    },
    {
        "name": "rm",
        "description": "Removes.",
        "parameters": {"type": "object", "properties": {"path": STRING}},
    },
    {"name": "now", "parameters": {"type": "object", "properties": {}}},
    {"name": "any", "parameters": {}},
]
CODE = """def f(x):
    \"\"\"It's <b>"quoted"</b> & more.\"\"\"
    return {"a": [x, 'y']} if x < 1 else rm(path="/")
"""
NESTED = {"deep": [1, None, {"x": "</call>"}]}
# Messages: the text, the calls, and the reasoning.
SAID: list[tuple[str, list[tuple[str, dict[str, Any]]], str | None]] = [
    ("", [("write", {"path": "a/b.c", "text": CODE, "limit": 3})], None),
    ("I write.", [("write", {"path": "x", "text": "", "tags": ["a, b", ""], "ratio": 0.5})], "It's 1 < 2."),
    ("", [("now", {}), ("rm", {"path": 'it\'s "there"'})], None),
    ("Text", [("any", {"key": NESTED}), ("write", {"path": "p", "where": {"x": 1}, "now": True})], ""),
    ("", [("write", {"path": "p", "mode": None, "more": {"a b": "c", "n": 2}, "limit": None})], "One line."),
    ("Only text, with `code` and <b>tags</b>.\n\n```python\nx = {'a': 1}\n```\n", [], None),
    ("", [("unknown", {"a": 1})], None),
]


class Reader:
    """What a worker does, with the package that it imports."""

    def __init__(self) -> None:
        import slips_support
        from wirecall import Toolset

        self.support, self.toolset = slips_support, Toolset
        self.made: dict[tuple[str, int, bool], Any] = {}

    def tools(self, format: str, setting: int, rich: bool = True) -> Any:
        """The toolset of a setting. Not every format, nor every revision, has all options."""
        key = format, setting, rich
        if key not in self.made:
            wanted = SETTINGS[setting]
            usual = {k: v for k, v in wanted.items() if k not in ("recover", "syntax")}
            made = [self.tried(format, options, rich) for options in (wanted, usual, {})]
            self.made[key] = next(tools for tools in made if not isinstance(tools, dict))
        return self.made[key]

    def tried(self, format: str, options: dict[str, Any], rich: bool) -> Any:
        protocol = self.support.CUSTOM.get(format, format)
        definitions = RICH if rich else self.support.TOOLS
        return tried(self.toolset, definitions, protocol=protocol, **options)

    def texts(self) -> dict[str, list[str]]:
        """For each format what it writes."""
        out = {}
        for format in self.support.FORMATS:
            found = [case.text for case in self.support.cases(format)]
            found += [case.text for case in self.support.official_cases(format)]
            tools = self.tools(format, 0)
            for content, calls, reasoning in SAID:
                written = tried(tools.encode_message, content, calls, reasoning=reasoning)
                found += [written] if isinstance(written, str) else []
            out[format] = found
        return out

    def events(self, given: Given) -> str:
        """All events of a message, as JSON. Tools of both kinds take turns."""
        tools = self.tools(given.format, given.setting, crc32("".join(given.pieces).encode()) % 2 == 0)
        ids = count()
        parser = tools.parser(ids=lambda: f"call_{next(ids)}", in_reasoning=given.in_reasoning)
        events = [parser.feed(piece) for piece in given.pieces]
        events.append(parser.finish(truncated=given.truncated))
        return json.dumps([[event.to_dict() for event in group] for group in events])

    def written(self, format: str) -> dict[str, Any]:
        """What is written in a format, by what it is."""
        out: dict[str, Any] = {}
        for setting, options in enumerate(SETTINGS):
            refused = self.tried(format, options, True)
            out[f"toolset {options}"] = refused if isinstance(refused, dict) else None
            out[f"manual {options}"] = tried(self.tools(format, setting).manual)
        tools = self.tools(format, 0)
        for at, (content, calls, reasoning) in enumerate(SAID):
            out[f"message {at}"] = tried(
                tools.encode_message, content, calls, reasoning=reasoning, calls_before=2
            )
            for native in (False, True):
                for name, arguments in calls:
                    out[f"call {at} {name} {native}"] = tried(tools.encode, name, arguments, native=native)
        texts = [*(case.text for case in self.support.cases(format)), *WORDS, CODE]
        out["neutralised"] = [tools.neutralise(text) for text in texts]
        out["results"] = [
            tried(
                tools.encode_result,
                name,
                content,
                error=error,
                number=number,
                id="call_1",
                index=1,
                calls_before=1,
            )
            for name in ("write", None)
            for content in (CODE, "", {"a": [1, "<tool_response>"]})
            for error, number in ((False, None), (True, 3))
        ]
        for kind in ("gbnf", "ebnf", "structural_tag", "lark"):
            for choice in ("auto", "required", "rm"):
                for parallel in (True, False):
                    grammar = tried(tools.grammar, kind, tool_choice=choice, parallel=parallel)
                    out[f"grammar {kind} {choice} {parallel}"] = getattr(grammar, "text", grammar)
        out["plans"] = [repr(tools.plan(tool["name"])) for tool in RICH]
        out["result marks"] = list(tools.result_marks)
        return out


def tried(what: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """What it gives, or the error that it raises."""
    try:
        return what(*given, **options)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def serve() -> None:
    """Answers lines of JSON: a request and its argument."""
    from wirecall import FAMILIES, PROTOCOLS
    from wirecall._core import native_formats

    reader = Reader()

    def digests(block: list[list[Any]]) -> list[int]:
        return [crc32(reader.events(Given(*one)).encode()) for one in block]

    known: dict[str, Callable[[Any], Any]] = {
        "texts": lambda _: reader.texts(),
        "digests": digests,
        "events": lambda one: reader.events(Given(*one)),
        "written": reader.written,
        "formats": lambda _: [list(PROTOCOLS), list(FAMILIES), list(native_formats())],
    }
    for line in sys.stdin:
        request, argument = json.loads(line)
        print(json.dumps(known[request](argument)), flush=True)


def worker(package: Path | None) -> Worker:
    """A process that reads and writes with one package; None: the installed one."""
    return Worker(__file__, package)


# The comparison -----------------------------------------------------------------------------------


def both(workers: tuple[Worker, Worker], request: str, argument: Any = None) -> tuple[Any, Any]:
    for one in workers:
        one.ask(request, argument)
    return workers[0].answer(), workers[1].answer()


def compare_written(workers: tuple[Worker, Worker], formats: Sequence[str]) -> Counter[str]:
    """How many texts of each format differ. The first are printed."""
    found: Counter[str] = Counter()
    for format, request in (("(tables)", "formats"), *((format, "written") for format in formats)):
        base, tree = both(workers, request, format)
        if request == "formats":
            base, tree = {"formats": base}, {"formats": tree}
        for key in base.keys() | tree.keys():
            if base.get(key) != tree.get(key):
                found[format] += 1
                show(f"{format}: {key}", base.get(key), tree.get(key), found.total())
    return found


def compare_read(
    workers: tuple[Worker, Worker], texts: dict[str, list[str]], wanted: int, seed: int
) -> Counter[str]:
    """How many messages of each format are read in another way. The first are printed."""
    from rich.console import Console
    from rich.progress import track

    found: Counter[str] = Counter()
    console = Console(stderr=True)
    blocks = track(
        messages(texts, wanted, seed),
        "messages",
        total=-(-wanted // BLOCK),
        console=console,
        disable=not console.is_terminal,
    )
    for block in blocks:
        base, tree = both(workers, "digests", block)
        for given, one, other in zip(block, base, tree, strict=True):
            if one != other:
                found[given.format] += 1
                if found.total() <= SHOWN:
                    show(f"{given}", *both(workers, "events", given), found.total())
    return found


def show(what: str, base: Any, tree: Any, number: int) -> None:
    if number <= SHOWN:
        print(f"\n{what}\n  base: {base}\n  tree: {tree}")


def compare(workers: tuple[Worker, Worker], wanted: int, seed: int, formats: str = "") -> int:
    """The status of the process: 1 if anything differs."""
    workers[0].ask("texts", None)
    texts = {format: text for format, text in workers[0].answer().items() if formats in format}
    if not texts:
        raise SystemExit(f"no format has {formats!r} in its name")
    written = compare_written(workers, list(texts))
    read = compare_read(workers, texts, wanted, seed)
    for one in workers:
        one.close()
    for what, found in (("texts", written), ("messages", read)):
        for format, differences in sorted(found.items()):
            print(f"{format}: {differences} {what} differ")
    print(f"{written.total()} texts and {read.total()} of {wanted:,} messages differ (seed {seed})")
    return bool(written or read)


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base", nargs="?", help="the revision to compare with, as git knows it")
    parser.add_argument("--messages", type=int, default=MESSAGES, help=f"how many ({MESSAGES:,})")
    parser.add_argument("--formats", default="", help="only formats with this in their names")
    parser.add_argument("--seed", type=int, default=SEED, help="other messages")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    asked = parser.parse_args(given)
    if asked.serve is None and not asked.base:
        parser.error("name the revision to compare with: make diff-against BASE=REVISION")
    return asked


def main() -> int:
    asked = arguments()
    if asked.serve is not None:
        if asked.serve:
            check_imported(asked.serve)
        serve()
        return 0
    base, tree = packages(asked.base)
    return compare((worker(base), worker(tree)), asked.messages, asked.seed, asked.formats)


if __name__ == "__main__":
    sys.exit(main())
