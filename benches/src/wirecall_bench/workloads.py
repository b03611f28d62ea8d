"""The texts for comparing parsers: identical on every machine and in every run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Any

from wirecall.tokens import native_definition
from wirecall_bench.artifact import BenchError
from wirecall_bench.catalogue import built_in

# Characters of a delta: about one token of English prose.
DELTA = 4
KB = 1024
_UNITS = {"KB": KB, "MB": KB * KB}
# The catalogue's group of small calls.
_SMALL = "flat"

Tool = dict[str, Any]
# The index of a text, and its next delta; None is the end of that text.
Step = tuple[int, str | None]


@dataclass(frozen=True)
class WorkloadCall:
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Message:
    """A model's message: prose, followed by calls."""

    text: str
    calls: Sequence[WorkloadCall] = ()


@dataclass(frozen=True)
class Workload:
    """Messages to parse: one, or many whose deltas are interleaved.

    Attributes:
        name: The kind of workload.
        length: Its length, in words.
        size: Its length as a number, if workloads of this kind grow.
    """

    name: str
    length: str
    tools: list[Tool]
    messages: Sequence[Message]
    size: int = 0

    def __str__(self) -> str:
        return f"{self.name}, {self.length}"


def workloads(lengths: Sequence[str], streams: int) -> list[Workload]:
    """All workloads.

    - code: a call with one long argument, of each length
    - markers: such a call whose argument contains markers of calls
    - prose: no call
    - calls: small calls in sequence
    - streams: many concurrent messages, each with prose and a call
    """
    found = [code_call(length) for length in lengths]
    found.append(_write_call("markers", "4KB", 0, _MARKERS + code(4 * KB - len(_MARKERS))))
    found.append(Workload("prose", "256KB", [WRITE_FILE], [Message(prose(256 * KB))]))
    found.append(_small_calls())
    if streams:
        found.append(_streams(streams))
    return found


def size_of(length: str) -> int:
    """The characters of a length such as "16KB"; units are powers of two.

    Raises:
        BenchError: It is not a length.
    """
    number, unit = length[:-2], length[-2:]
    if unit not in _UNITS or not (number.isascii() and number.isdigit() and int(number)):
        raise BenchError(f"{length!r} is not a length: write a number and KB or MB, such as 16KB")
    return int(number) * _UNITS[unit]


def code_call(length: str) -> Workload:
    """A call with one argument of code of this length."""
    size = size_of(length)
    return _write_call("code", length, size, code(size))


def _write_call(name: str, length: str, size: int, content: str) -> Workload:
    call = WorkloadCall(WRITE_FILE["name"], {"path": "src/app.py", "content": content})
    return Workload(name, length, [WRITE_FILE], [Message("", [call])], size)


def _small_calls() -> Workload:
    catalogue = built_in()
    calls = [WorkloadCall(case.tool, case.arguments) for case in catalogue.cases if case.group == _SMALL]
    called = {call.name for call in calls}
    tools = [native_definition(tool)["function"] for tool in catalogue.tools if tool.name in called]
    return Workload("calls", f"{len(calls)} calls", tools, [Message("", calls)])


def _streams(count: int) -> Workload:
    """Messages with prose of different lengths, so that calls begin and end at different times."""
    messages = []
    for number in range(count):
        path = f"src/part_{number}.py"
        call = WorkloadCall(WRITE_FILE["name"], {"path": path, "content": code(KB, seed=number)})
        messages.append(Message(prose(200 + number * 37 % 600, seed=number), [call]))
    return Workload("streams", f"{count} streams", [WRITE_FILE], messages)


# Deltas -----------------------------------------------------------------------------------------------------


def steps(texts: Sequence[str], *, in_turn: bool) -> Iterator[Step]:
    """The deltas and the end of each text: one text after the other, or one delta of each text in turn."""
    if not in_turn:
        return chain.from_iterable(_steps(index, text) for index, text in enumerate(texts))
    return _turns([_steps(index, text) for index, text in enumerate(texts)])


def _steps(index: int, text: str) -> Iterator[Step]:
    for at in range(0, len(text), DELTA):
        yield index, text[at : at + DELTA]
    yield index, None


def _turns(texts: list[Iterator[Step]]) -> Iterator[Step]:
    while texts:
        left = []
        for text in texts:
            for step in text:
                yield step
                left.append(text)
                break
        texts = left


# Texts ------------------------------------------------------------------------------------------------------

_VOCABULARY = """
the a of to and in is it that for on with as this be are not by from or an at you can which
parser stream token model value string answer request message function result error schema
chunk buffer system latency server client weather report changes query table number second
however because usually already between around careful enough several another nothing
checks returns follows arrives measures depends contains remains suggests prefers explains
"""
_MARKERS = """\
# Calls are written as <call>name key=value</call>, or as
# <tool_call>{"name": "f", "arguments": {}}</tool_call>
OPENING = ["<call>", "<tool_call>", "<tool_call>\\n"]
CLOSING = ["</call>", "</tool_call>", "}</tool_call>", "\\n</tool_call>"]
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
    """English-like text with some Markdown: occasional `<`, quotes and non-ASCII letters."""
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
    """Source text of several languages: both kinds of quotes, backslashes, line breaks, and CLOSE."""
    parts: list[str] = []
    length = 0
    for line in code_lines(seed):
        parts.append(line)
        length += len(line)
        if length >= size:
            break
    return "".join(parts)[:size]


WRITE_FILE: Tool = {
    "name": "write_file",
    "description": "Write a text file.",
    "parameters": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
}
