"""Divides rendered text into markers, words and characters, and compares such texts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wirecall.errors import ToolError

# Characters that stand for holes in a rendered text.
NAME, ARGUMENTS, KEY, VALUE, ID = "\ue000\ue001\ue002\ue003\ue004"
HOLES = {NAME: "{name}", ARGUMENTS: "{arguments}", KEY: "{key}", VALUE: "{value}", ID: "{id}"}

# A tag of two tokens, as Kimi K3 has them, is one marker.
_MARKER = r"<\|\w+\|>\w+<\|sep\|>|<[^<>\s\ue000-\ue004]+>|\[/?[A-Z][A-Z_ ]*\]|\[\|[^\[\]\s]+\|\]"
_LEXEME = re.compile(rf"{_MARKER}|</?[^<>\s\ue000-\ue004]+|\w+|.", re.DOTALL)
_MARKERS = re.compile(_MARKER)
_TOKEN = re.compile(r"<[|｜][^<>\s]+>|<[^<>\s]+[|｜]>|\[/?[A-Z][A-Z_ ]*\]")
# Openers of closers: `</think>`, `[/THINK]`, `<|END_THINKING|>`, `<|inner_suffix|>`.
_OPENERS = (
    ("/", ""),
    ("<|close|>", "<|open|>"),
    ("END_", "START_"),
    ("end", "begin"),
    ("end", "start"),
    ("suffix", "prefix"),
)


def lexemes(text: str) -> list[str]:
    return _LEXEME.findall(text)


def common_prefix(texts: Sequence[str]) -> str:
    """The longest common prefix that divides no marker and no word."""
    shared = []
    for column in zip(*map(lexemes, texts), strict=False):
        if len(set(column)) > 1:
            break
        shared.append(column[0])
    return "".join(shared)


def common_suffix(first: str, second: str) -> str:
    """The longest common suffix that divides no marker and no word."""
    shared: list[str] = []
    for left, right in zip(reversed(lexemes(first)), reversed(lexemes(second)), strict=False):
        if left != right:
            break
        shared.append(left)
    return "".join(reversed(shared))


def markers(text: str) -> list[str]:
    """The complete markers in a text."""
    return _MARKERS.findall(text)


def is_token(marker: str) -> bool:
    """Whether a marker looks like a special token rather than like a tag."""
    return _TOKEN.fullmatch(marker) is not None


def openers_of(closer: str) -> list[str]:
    """Markers that may open what this one closes."""
    return [closer.replace(close, opening) for close, opening in _OPENERS if close in closer]


def leading_space(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def trailing_space(text: str) -> str:
    return text[len(text.rstrip()) :]


def template(text: str) -> str:
    """A text with marked holes, as a template."""
    for mark, hole in HOLES.items():
        text = text.replace(mark, hole)
    return text


def is_closing(marker: str) -> bool:
    return marker.startswith(("</", "<|close|>", "[/"))


def first_token(text: str) -> str:
    """The first marker, if the text begins with one, or else the characters up to the first whitespace."""
    word = next(iter(text.split()), "")
    first = next(iter(lexemes(word)), "")
    return first if markers(first) else word


def hole(name: str, text: str | None) -> str:
    """A hole with a text, as the template of a message has it."""
    if text and "}" in text:
        raise ToolError(f"the chat template writes {text!r} beside {name}, which a description cannot hold")
    return f"{{{name}|{text}}}" if text else f"{{{name}}}"
