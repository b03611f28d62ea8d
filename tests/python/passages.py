"""Paragraphs of prose and code with markers of a format, names of tools and fragments of calls, but no call.

An opener is never followed by what begins a call: a name, a bracket, a key. The paragraphs are made once;
for each format, other things are put in.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from slips_support import KEYS, NAMES, Case, markers, registered, tokens

# How many there are.
SIZE = 10_000
# What is put in, of each kind so many different ones.
KINDS, VARIANTS = ("mark", "name", "key", "piece", "foreign"), 32
PLACE = re.compile(r"\{(" + "|".join(KINDS) + r")\}")
# Markers of other formats, of other languages, and what resembles both.
FOREIGNERS = (
    "<div>", "</div>", "<br/>", "<T>", "<tool>", "</tool>", "<tool_call>", "</tool_call>", "<call>",
    "</call>", "<function=f>", "<|im_end|>", "<|end|>", "<think>", "</think>", "[TOOL_CALLS]", "[INST]",
    "[ARGS]", "[1]", "<invoke>", "</invoke>", "<parameter>", "{x}", "<%= x %>", "<!-- x -->", "<<EOF",
    "->", "=>", "&lt;b&gt;", "<https://example.org/a?b=c>", "<a@example.org>", "functions.",
)  # fmt: skip

Place = tuple[str, int]

SENTENCES = (
    "The model writes {mark} before each call.",
    "Every call ends with {mark}, and the text goes on after it.",
    "I would leave out {mark} here.",
    "Between {mark} and {mark} there is only whitespace.",
    "Is {mark} a special token? In this vocabulary it is.",
    'He asked what "{mark}" means.',
    "Write `{mark}` and `{mark}` around it.",
    "The tag {mark} (see above) is not closed.",
    "{mark} is how it begins.",
    "Unlike {foreign}, {mark} is one token.",
    "It is spelled {foreign} elsewhere.",
    "Use {name} for that; it takes {key} and {key}.",
    "The tool `{name}` was not needed.",
    "You can call {name} twice, as I said.",
    "With {name}: nothing, since {key} is missing.",
    "Neither {name} nor {name} returned a result.",
    "The argument {key} is text, {key} a number.",
    'A key such as "{key}" is quoted.',
    "That is what `{piece}` does in the log.",
    "The log ends with {piece}, which is cut off.",
    "There it says: {piece}.",
    "It's 5 < 7 and 9 > 3, isn't it?",
    'She said "no", and that\'s that.',
    "I look at it first. Then I answer.",
    "See [the page](https://example.org/{key}) for {name}.",
    "1. {name}\n2. {key}\n3. nothing else",
    "- {mark}\n- {foreign}\n- `{piece}`",
    "| tool | marker |\n|---|---|\n| {name} | `{mark}` |",
    "> {mark} was quoted from the manual.",
    "Das ist {mark}, 日本語 {name} 😀.",
)
CODE = (
    "```python\ndef {name}({key}: str) -> None:\n    print({key})\n```",
    '```python\nif x.startswith("{mark}"):\n    return None\n```',
    '```json\n{"{key}": "a", "other": [1, 2]}\n```',
    "```xml\n<page>{foreign}</page>\n```",
    "```\n{piece}\n```",
    "```sh\ngrep -n '{mark}' *.py | sort\n```",
    'MARKS = ["{mark}", "{mark}"]\nfor mark in MARKS:\n    text = text.replace(mark, "")',
    "x = {'{key}': 1}  # not {name}",
    "const {key} = (a) => a.{name};",
    "    {piece}\n",
    "SELECT {key} FROM t WHERE a = 'b';",
    "{name}:\n  {key}: a string",
)


@cache
def skeletons() -> Sequence[list[str | Place]]:
    """Always the same ones."""
    rng = random.Random(33)
    made = []
    for _ in range(SIZE):
        texts = [rng.choice(SENTENCES if rng.random() < 0.8 else CODE) for _ in range(rng.randint(1, 3))]
        parts: list[str | Place] = [*PLACE.split(rng.choice((" ", " ", "\n", "\n\n")).join(texts))]
        parts[1::2] = [(kind, rng.randrange(VARIANTS)) for kind in parts[1::2]]
        made.append(parts)
    return made


def passages(case: Case, size: int) -> list[str]:
    """The first ones, for the format of this message."""
    chosen = {
        "mark": sorted(markers(case) | registered(case.format)) or FOREIGNERS,
        "name": sorted(NAMES),
        "key": sorted(KEYS),
        "piece": pieces(case),
        "foreign": FOREIGNERS,
    }
    rng = random.Random(case.text)
    table: dict[Any, str] = {(kind, at): rng.choice(chosen[kind]) for kind in KINDS for at in range(VARIANTS)}
    return ["".join([table.get(part, part) for part in parts]) for parts in skeletons()[:size]]


def pieces(case: Case) -> list[str]:
    """Parts of the call in which no marker opens anything."""
    found = tokens(case.text)
    parts = {
        "".join(token.text for token in found[at : at + size])
        for size in (2, 3, 5, 8)
        for at in range(len(found) - size)
        if not any(token.kind == "marker" for token in found[at : at + size])
    }
    return sorted(part for part in parts if part.strip()) or ["query"]
