"""What is measured: the same texts, byte for byte, on every machine and at every run.

Each `Workload` carries the tools, the message and the calls that a correct reader finds in it. Messages are
written with the baseline's encoder, so a run without wirecall measures the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from baseline import compile_tools, encode
from catalogue import CALLS, TOOLS

DELTA = 4  # characters; about what a token is in English prose
KB = 1024
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


_VOCABULARY = """
the a of to and in is it that for on with as this be are not by from or an at you can which
parser stream token model value string answer request message function result error schema
chunk buffer system latency server client weather report changes query table number second
however because usually already between around careful enough several another nothing
checks returns follows arrives measures depends contains remains suggests prefers explains
"""
_ASIDES = (
    "`x < y`",
    "**important**",
    "(see below)",
    "don't",
    "3.14",
    "<br>",
    'the "old" way',
    "café",
    "naïve",
    "10 °C",
    "→",
    "e.g.",
)


def prose(size: int, seed: int = 1) -> str:
    """English-looking text with some Markdown: now and then a `<`, quotes, and letters beyond ASCII."""
    random = Random(seed)
    vocabulary = _VOCABULARY.split()
    parts: list[str] = []
    length = 0
    while length < size:
        words = [random.choice(vocabulary) for _ in range(random.randint(5, 16))]
        if random.random() < 0.25:
            words.insert(random.randrange(len(words)), random.choice(_ASIDES))
        sentence = " ".join(words)
        sentence = sentence[0].upper() + sentence[1:] + random.choice((".", ".", ".", "?", ":", "!"))
        roll = random.random()
        sentence += "\n\n" if roll < 0.1 else "\n- " if roll < 0.15 else " "
        parts.append(sentence)
        length += len(sentence)
    return "".join(parts)[:size]


_CODE = (
    "def handler(request, *, retries=3):",
    '    """Answer one request; {n} is the limit."""',
    "    if request.path == '/items/{n}' and request.method in ('GET', 'HEAD'):",
    '        match = re.match(r\'^(\\w+)\\s*=\\s*"([^"\\\\]*)"$\', line)',
    '        log.info("item %s:\\t%r\\n", request.path, match)',
    "        return {'status': 200, 'body': f\"<li class='row'>{total:.2f}</li>\"}",
    "    for index, row in enumerate(rows[{n}:]):",
    "        total += row['price'] * row['count']  # don't round here",
    "        path = 'C:\\\\Users\\\\{n}\\\\' + name",
    "    raise ValueError(f'no such path: {request.path!r}')",
    "",
    "const render = (props) => <div id={props.id}>{props.name ?? 'nobody'}</div>;",
    "SELECT id, name FROM items WHERE owner = 'u{n}' AND price >= 10 ORDER BY 2;",
    "    <call>is content here</call>",
    "\tgrep -E '^[a-z]+\\.{n}$' \"$file\" | sort -u > out.txt",
)


def code_lines(seed: int = 2) -> Iterator[str]:
    random = Random(seed)
    while True:
        yield random.choice(_CODE).replace("{n}", str(random.randrange(1000))) + "\n"


def code(size: int, seed: int = 2) -> str:
    """Source text of several languages: both kinds of quotes, backslashes, line breaks, CLOSE as content."""
    parts: list[str] = []
    length = 0
    for line in code_lines(seed):
        parts.append(line)
        length += len(line)
        if length >= size:
            break
    return "".join(parts)[:size]


WRITE_FILE: dict[str, Any] = {
    "name": "write_file",
    "description": "Write a text file.",
    "parameters": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
}


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
