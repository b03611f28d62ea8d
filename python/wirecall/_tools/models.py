"""Chooses a protocol by the name of a model."""

import itertools
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from wirecall._tools import model_table as table
from wirecall.errors import ToolError

# A longer text is not a name.
_MAX_NAME = 256
_MAX_NEAR = 5
# The parts of a path that are compared with known names.
_MAX_PARTS = 4
_SEPARATORS = re.compile(r"[^a-z0-9._]|(?<!\d)\.|\.(?!\d)")
_NEUTRAL_WORD = re.compile(rf"[-_]+(?:{'|'.join(table.NEUTRAL.split())})(?![^-_])")
_NEUTRAL = re.compile(rf"(?:{_NEUTRAL_WORD.pattern})*[-_]*")
_SIZE = re.compile(r"(?<![^-_])[ae]?\d+(?:\.\d+)?[bm](?![^-_])")
_PUBLISHERS = re.compile(rf"(?:(?:{'|'.join(table.PUBLISHERS.split())})[-_]+)+")
_PLACE = re.compile(rf"(?:[-_]+(?:{'|'.join((table.PLACES + table.NEUTRAL).split())})(?![^-_]))*[-_]*")
# What the name of a directory of the cache of Hugging Face begins with: models--Qwen--Qwen3-8B.
_CACHED = "models--"


class ModelMatch(NamedTuple):
    """Why a protocol was chosen.

    Attributes:
        protocol: The name of the protocol; None if such models have no format of their own.
        pattern: The pattern in the table that the name matches.
        source: Where the format of these models is documented.
    """

    protocol: str | None
    pattern: str
    source: str


def protocol_for(model: str) -> str:
    """Returns the native format that a model writes, by the model's name.

    The table of names is that of `wirecall protocols`. Nothing is guessed: a name with words that the table
    does not know, such as that of a fine-tuned model, is an error.

    Args:
        model: A name as on Hugging Face (`Qwen/Qwen3-Coder-30B-A3B-Instruct`), the name of a GGUF file, a
            local path, or a tag of Ollama (`qwen3-coder:30b`). Case and separators do not matter, nor do
            sizes, dates, quantisations and who published it.

    Returns:
        A name for `protocol=`. It also says whether messages begin in reasoning.

    Raises:
        ToolError: The name is not in the table, or the model has no format of its own. The message lists
            near names, and says how to choose.
        TypeError: The name is not a str.
    """
    name = _name(model)
    shown = repr(model[:_MAX_NAME])
    prompted = 'use a prompted protocol, such as "wire", which the manual teaches'
    choose = (
        "Choose one with protocol= (`wirecall protocols` lists them) or by the model's checkpoint "
        f"(format_for), or {prompted}"
    )
    if _is_api_only(name):
        raise ToolError(f"{shown} is served by an API only, and has no native format; {prompted}")
    for _, entry in _entries(model):
        if _is_base(model, entry):
            words = " or ".join(repr(word) for word in entry.chat.split())
            raise ToolError(
                f"{shown} looks like a base model, which writes no calls: names of its chat models have "
                f"the word {words}. {choose}"
            )
        if entry.several:
            raise ToolError(f"the name {shown} does not tell the native format: {entry.several}. {choose}")
        if entry.protocol is None:
            raise ToolError(f"{shown} has no native format ({entry.source}); {prompted}")
        return entry.protocol
    near = near_names(model)
    known = f"; known names near it: {', '.join(near)}" if near else ""
    raise ToolError(f"no native format is known for the model {shown}{known}. {choose}")


def find_model(model: str) -> ModelMatch | None:
    """The entry of the table for a model; None if it has none, or if the name alone does not decide."""
    for pattern, entry in _entries(model):
        if entry.several or _is_base(model, entry) or _is_api_only(_name(model)):
            return None
        return ModelMatch(entry.protocol, pattern, entry.source)
    return None


def _entries(model: str) -> Iterator[tuple[str, table.Entry]]:
    """The entries that the name matches, the one that decides first, each with its pattern."""
    for name in _with_and_without_publisher(_name(model)):
        for pattern, matcher, entry in _matchers():
            if matcher.matches(name):
                yield pattern, entry


def _is_api_only(name: str) -> bool:
    return any(re.match(rf"{re.escape(known)}(?![^-_])", name) for known in table.API_ONLY.split())


def _is_base(model: str, entry: table.Entry) -> bool:
    """Whether the model has a size, and no word of the publisher's chat models. Tags of Ollama need none."""
    name = _name(model)
    words = {*re.split("[-_]+", name)}
    tagged = ":" in re.split(r"[/\\]", model.strip())[-1]
    return bool(entry.chat) and not tagged and bool(_SIZE.search(name)) and not {*entry.chat.split()} & words


def near_names(model: str) -> list[str]:
    """Patterns that resemble a part of a path, or are in it."""
    # Loaded for errors only.
    from difflib import get_close_matches

    patterns = [pattern for pattern, _, entry in _matchers() if entry.protocol]
    near: list[str] = []
    # A checkpoint's own name says little; that of the folder around it may say more.
    for name in itertools.islice((part for part in _parts(model) if 0 < len(part) <= _MAX_NAME), _MAX_PARTS):
        inside = [pattern for pattern in patterns if pattern.replace("*-", "") in name]
        close = get_close_matches(name, patterns, n=_MAX_NEAR, cutoff=0.6)
        family = "".join(itertools.takewhile(str.isalpha, name))
        others = [pattern for pattern in patterns if family and re.match(rf"{family}(?![a-z])", pattern)]
        near += [*sorted(inside, key=len, reverse=True), *close, *others]
    return list(dict.fromkeys(near))[:_MAX_NEAR]


class _Matcher:
    """A pattern, compiled."""

    def __init__(self, pattern: str) -> None:
        head, _, tail = pattern.partition("*")
        self.head = _literal(head.rstrip("-"))
        self.tail = _literal(tail) if tail else None

    def matches(self, name: str) -> bool:
        begin = self.head.match(name)
        while begin is not None:
            end = self.tail.match(name, begin.end()) if self.tail else begin
            if end is not None and _NEUTRAL.fullmatch(name, end.end()):
                return True
            begin = _NEUTRAL_WORD.match(name, begin.end()) if self.tail else None
        return False


def _literal(text: str) -> re.Pattern[str]:
    """Words, with any separators between them and in front of digits."""
    loose = re.sub(r"(?<=[a-z])(?=\d)", "-", text)
    return re.compile(loose.replace("-", "[-_]?").replace(".", "[._]") + "(?![^-_])")


@cache
def _matchers() -> list[tuple[str, _Matcher, table.Entry]]:
    patterns = [(pattern, entry) for entry in table.entries() for pattern in entry.patterns.split()]
    patterns.sort(key=lambda pair: -len(pair[0]))
    return [(pattern, _Matcher(pattern), entry) for pattern, entry in patterns]


def _name(model: str) -> str:
    """The part of a path that names the model, in lower case."""
    if not isinstance(model, str):
        raise TypeError(f"model must be a str, not {type(model).__name__}")
    if len(model) > 16 * _MAX_NAME:
        return ""
    for part in _parts(model):
        if len(part) > _MAX_NAME:
            return ""
        if not _PLACE.fullmatch(f"-{part}"):
            return part
    return ""


def _with_and_without_publisher(name: str) -> Iterator[str]:
    """A publisher's name can be part of the model's: Qwen-3, Qwen_Qwen3, Meta-Llama, meta-llama_Llama."""
    yield name
    for separator in re.finditer("[-_]+", name):
        if _PUBLISHERS.fullmatch(name, 0, separator.end()):
            yield name[separator.end() :]


def _parts(model: str) -> Iterator[str]:
    """The parts of a path, the last one first, with one kind of separator."""
    for part in reversed(re.split(r"[/\\]", model.strip())):
        if part.startswith(_CACHED):
            part = part.rpartition("--")[2]
        yield _SEPARATORS.sub("-", part.lower())
