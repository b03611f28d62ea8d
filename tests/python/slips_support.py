"""One slip at every place of what each format writes: the texts, the slips, and what became of the calls.

for case in cases("hermes"):
    for slip in slips(case.text):
        judge(case, slip, case.tools.parse(slip.text, truncated=False, in_reasoning=case.in_reasoning))

The lexer knows no format: it divides a text into markers, words, quotes, brackets, separators and
whitespace. What is inside values, prose and reasoning gets no slip.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from official import TEMPLATES
from official_forms import FOLDER, Official
from rendering import turn
from support import EVERY
from wirecall import Format, Message, Toolset
from wirecall._core import native_formats

Call = tuple[str, dict[str, Any]]
Verdict = Literal[
    "same",  # the right calls, and nothing else to be seen
    "repaired",  # the right calls, with a repair or a problem
    "shown",  # the right calls, but markup became visible text
    "error",  # no wrong call, and an error for what is missing
    "repaired wrongly",  # another call, with a repair
    "wrong, told",  # another call, with a problem or an error
    "other value",  # what the slip made is a call of its own: see `meant`
    "free text",  # text, with neither a marker of the format nor the name of a tool
    "wrong",  # another call, and nothing tells of it
    "unknown key",  # the same, but in a closed schema the call has an unknown key: not where a key was hit
    "vanished",  # a call is missing, and so is its markup
    "in reasoning",  # a call is missing, its markup is in the reasoning
    "text",  # a call is missing, its markup is text with another marker of the format
    "named text",  # the same without another marker; but a tool is named
]
RIGHT: tuple[Verdict, ...] = ("same", "repaired", "shown")
SILENT: tuple[Verdict, ...] = ("wrong", "unknown key", "vanished", "in reasoning", "text", "named text")

STRING, CLOSED = {"type": "string"}, {"type": "object", "additionalProperties": False}
# No field is required, and no other is allowed: a call without its arguments is not noticed otherwise, and a
# misspelled key is never a call.
TOOLS: list[dict[str, Any]] = [
    {
        "name": "save_file",
        "description": "Saves a file.",
        "parameters": {**CLOSED, "properties": {"path": STRING, "days": {"type": "integer"}}},
    },
    {
        "name": "find_text",
        "description": "Finds a text.",
        "parameters": {**CLOSED, "properties": {"query": STRING}},
    },
]
NAMES = {tool["name"] for tool in TOOLS}
KEYS = {key for tool in TOOLS for key in tool["parameters"]["properties"]}
PATH, DAYS, QUERY = "new york", 37, "old town"
PROSE, REASONING = "I look it up.", "They want it."
# What gets no slip.
FIXED = re.compile(f"(?P<value>{PATH}|{DAYS}|{QUERY})|(?P<prose>{PROSE}|{REASONING})")

ONE: list[Call] = [("find_text", {"query": QUERY})]
PAIR: list[Call] = [("save_file", {"path": PATH, "days": DAYS})]


class Said(NamedTuple):
    content: str
    calls: list[Call]
    reasoning: str = ""


SAID = {
    "one argument": Said("", ONE),
    "two arguments": Said("", PAIR),
    "two calls": Said("", ONE + PAIR),
    "after text": Said(PROSE, ONE),
    "after reasoning": Said("", ONE, REASONING),
}
CUSTOM = {
    "custom pairs": Format(like="wire", call="<do>{call}</do>"),
    "custom json": Format(like="hermes", call="[DO]{call}[/DO]"),
}
FORMATS = (*EVERY, "auto", *CUSTOM)


class Case(NamedTuple):
    """A message with calls, without a slip."""

    format: str
    name: str
    """A name of `SAID`, and that of the template, unless the encoder wrote it."""
    tools: Toolset
    text: str
    in_reasoning: bool | None
    calls: list[Call]
    said: str
    """Its text outside calls."""


class Slip(NamedTuple):
    fault: str
    """What was done to a token of which kind: `delete marker`."""
    token: str
    text: str


# Messages ----------------------------------------------------------------------------------------


@cache
def cases(format: str) -> list[Case]:
    """What the encoder writes."""
    tools = Toolset(TOOLS, protocol=CUSTOM.get(format, format))
    found = read(format, [(name, written(tools, said), said) for name, said in SAID.items()], tools)
    assert {"one argument", "two arguments"} <= {case.name for case in found}, format
    return found


def official_cases(format: str) -> list[Case]:
    """What the official templates render, where that is another text; nothing unless they are installed."""
    if not FOLDER.is_dir():
        return []
    texts = [
        (f"{name}, {official.file}", rendered(official, said), said)
        for official in TEMPLATES
        for name, said in SAID.items()
        if format in official.rows and (official.keeps_content or not said.content)
    ]
    known = {case.text for case in cases(format)}
    tools = cases(format)[0].tools
    return read(format, [given for given in texts if given[1] not in known], tools)


def read(format: str, texts: list[tuple[str, str, Said]], tools: Toolset) -> list[Case]:
    """Each text once. What is not read as it was given could not be written: two calls, or reasoning."""
    found: dict[str, Case] = {}
    for name, text, said in texts:
        for in_reasoning in (False, None, True):
            message = tools.parse(text, truncated=False, in_reasoning=in_reasoning)
            if is_said(message, said) and text not in found:
                found[text] = Case(format, name, tools, text, in_reasoning, said.calls, message.text)
    return list(found.values())


def is_said(message: Message, said: Said) -> bool:
    return not message.errors and of(message) == said.calls and message.reasoning.strip() == said.reasoning


def written(tools: Toolset, said: Said) -> str:
    return tools.encode_message(said.content, said.calls, reasoning=said.reasoning or None)


def rendered(official: Official, said: Said) -> str:
    calls = []
    for at, (name, args) in enumerate(said.calls[: official.calls]):
        function = {"name": name, "arguments": args}
        calls.append({"type": "function", "id": official.call_id(name, at, at), "function": function})
    message = {"role": "assistant", "content": said.content, "reasoning_content": said.reasoning}
    return turn(official, [{"role": "user", "content": "Question?"}, {**message, "tool_calls": calls}]).text


# Slips ----------------------------------------------------------------------------------------

TOKEN = re.compile(
    r"""
    (?P<marker> \]<\]\w+\[>\[ | <[|｜]"[|｜]> | </?[^\s<>="'/]+>? | \[/?[A-Z_]+\] | ```\w* | >>> )
    | (?P<quote> ["'`] )
    | (?P<bracket> [][{}()<>] )
    | (?P<separator> [:,=;|/.] | \\ )
    | (?P<break> \s*\n\s* )
    | (?P<space> \s+ )
    | (?P<word> [\w-]+ )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
# A tag with all that is in it is a marker, too.
TAG = re.compile(r"<[^\s<>=]+[\s=][^<>]*>")
MIRRORED = ("begin", "end"), ("start", "end"), ("open", "close"), ("prefix", "suffix")
OTHERS = dict(zip("\"'{}[]():,=", "'\"[]{}[]=;:", strict=True))


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


@cache
def tokens(text: str) -> list[Token]:
    found, at = [], 0
    while at < len(text):
        match = FIXED.match(text, at) or TOKEN.match(text, at)
        assert match is not None
        kind, written = match.lastgroup or "", match.group()
        if kind == "word":
            kind = "name" if written in NAMES else "key" if written in KEYS else "word"
        found.append(Token(kind, written, at, match.end()))
        at = match.end()
    return found


def misspelled(token: Token) -> Iterator[tuple[str, str]]:
    """The token in other spellings, each with what was done."""
    text = token.text
    if len(text) == 1 and text in OTHERS:
        yield "other", OTHERS[text]
    letters = [at for at, letter in enumerate(text) if letter.isalpha()]
    if not letters:
        return
    at = letters[len(letters) // 2]
    yield "drop", text[:at] + text[at + 1 :]
    yield "case", text.swapcase()
    yield "case", text[: letters[0]] + text[letters[0]].swapcase() + text[letters[0] + 1 :]
    for at in letters:
        if text[at + 1 : at + 2].isalpha() and text[at] != text[at + 1]:
            yield "letters", text[:at] + text[at + 1] + text[at] + text[at + 2 :]
            break
    if token.kind != "marker":
        return
    yield "edge", text[1:]
    yield "edge", text[:-1]
    if text.startswith(("</", "[/")):
        yield "slash", text[0] + text[2:]
        yield "slash", text[0] + text[2:-1] + "/" + text[-1]
        yield "slash", text[0] + "\\" + text[2:]
    elif text.startswith(("<", "[")):
        yield "slash", text[0] + "/" + text[1:]
    for one, other in MIRRORED:
        for word, by in ((one, other), (other, one)):
            if word in text:
                yield "mirror", text.replace(word, by)


def slips(text: str) -> Iterator[Slip]:
    """Each text that differs by one slip, once."""
    seen = {text}

    def slip(fault: str, token: str, start: int, end: int, by: str) -> Iterator[Slip]:
        changed = text[:start] + by + text[end:]
        if changed not in seen:
            seen.add(changed)
            yield Slip(fault, token, changed)

    found = tokens(text)
    for token in found:
        if token.kind in ("value", "prose"):
            continue
        yield from slip(f"delete {token.kind}", token.text, token.start, token.end, "")
        yield from slip(f"double {token.kind}", token.text, token.start, token.end, token.text * 2)
        for how, by in misspelled(token):
            yield from slip(f"misspell {token.kind}: {how}", token.text, token.start, token.end, by)
    for tag in TAG.finditer(text):
        yield from slip("delete tag", tag.group(), tag.start(), tag.end(), "")
        yield from slip("double tag", tag.group(), tag.start(), tag.end(), tag.group() * 2)
    solid = [token for token in found if token.kind not in ("space", "break")]
    for one, other in pairwise(solid):
        if "prose" not in (one.kind, other.kind):
            by = other.text + text[one.end : other.start] + one.text
            kinds = f"swap {one.kind} {other.kind}"
            yield from slip(kinds, one.text + " " + other.text, one.start, other.end, by)


# Judgement ----------------------------------------------------------------------------------------


def of(message: Message) -> list[Call]:
    return [(call.name, call.args) for call in message.calls]


def judge(case: Case, slip: Slip, message: Message) -> Verdict:
    got = of(message)
    repaired = any(call.repairs for call in message.calls)
    problems = {problem.kind for call in message.calls for problem in call.problems}
    if got == case.calls and not message.errors:
        if repaired or problems:
            return "repaired"
        return "same" if message.text.split() == case.said.split() else "shown"
    left = iter(case.calls)
    if not all(call in left for call in got):
        if message.errors or problems - {"unknown_field"} or (problems and " key" in slip.fault):
            return "wrong, told"
        if repaired:
            return "repaired wrongly"
        if problems:
            return "unknown key"
        return "other value" if meant(case, slip, got) else "wrong"
    if message.errors:
        return "error"
    values = [str(value) for call in case.calls if call not in got for value in call[1].values()]
    if not all(value in message.text for value in values):
        return "in reasoning" if any(value in message.reasoning for value in values) else "vanished"
    if any(mark in slip.text for mark in markers(case)):
        return "text"
    return "named text" if any(name in slip.text for name in NAMES) else "free text"


def meant(case: Case, slip: Slip, got: list[Call]) -> bool:
    """Whether the slip made another value, which a model may mean: in raw text between two tags, one more
    line break, space or `>` after the first tag, or before the second, is a part of the value."""
    if slip.fault not in ("double break", "double space", "double bracket"):
        return False
    stripped = [(name, {key: strip(value) for key, value in args.items()}) for name, args in got]
    return stripped == case.calls


def strip(value: Any) -> Any:
    return value.strip("\n >") if isinstance(value, str) else value


@cache
def all_registered() -> dict[str, set[str]]:
    return {
        row["name"]: {mark for pair in (row["call"], row["section"]) for mark in pair or () if mark}
        for row in native_formats()
    }


def registered(format: str) -> set[str]:
    """The markers of calls and sections that the registry names."""
    return all_registered().get(format, set())


def markers(case: Case) -> set[str]:
    """Those of the message."""
    known = {mark for mark in registered(case.format) if mark in case.text}
    return known | {token.text for token in tokens(case.text) if token.kind == "marker"}


# Bodies ----------------------------------------------------------------------------------------

# How a call is written, by the arguments of `save_file`: the first that is found.
BODIES = {
    "JSON object": r'"(tool_)?name": ?"save_file"',
    "JSON after a name": r'\{"path": ',
    "Python call": r"save_file\(path=",
    "notation": r"[{,]path:",
    "pairs": r" path=",
    "YAML": r"\npath:",
    "element": r"<path>",
    "parameter": r"param\w*( name)?=\W?path",
    "key and value": r"key[^<>]*>path<",
    "argument": r'argument key="path"',
}


def body(case: Case) -> str:
    """The kind of a format's body, from a message with two arguments."""
    return next((kind for kind, pattern in BODIES.items() if re.search(pattern, case.text)), "other")
