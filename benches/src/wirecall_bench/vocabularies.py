"""Vocabularies: functions that count the tokens of a text, by name."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wirecall import tokens
from wirecall_bench.artifact import BenchError

# Counts characters; needs no file.
CHARACTERS = "characters"


@dataclass(frozen=True)
class Vocabulary:
    """A named function that counts tokens."""

    name: str
    count: tokens.Count


def vocabularies(
    encodings: Sequence[str] = (), tokenizers: Sequence[str | os.PathLike[str]] = ()
) -> list[Vocabulary]:
    """The vocabularies with these names and files; that of GPT-4o and later models if none is given.

    Args:
        encodings: Names of tiktoken encodings, or "characters".
        tokenizers: Paths of Hugging Face `tokenizer.json` files.

    Raises:
        BenchError: A vocabulary cannot be loaded, or two have the same name.
    """
    if not encodings and not tokenizers:
        encodings = [tokens.ENCODING]
    found = [*map(encoding, encodings), *map(tokenizer, tokenizers)]
    names = [vocabulary.name for vocabulary in found]
    for name in names:
        if names.count(name) > 1:
            raise BenchError(f"two vocabularies are named {name!r}: give it once, or rename the file")
    return found


def encoding(name: str) -> Vocabulary:
    """A tiktoken encoding, or characters."""
    if name == CHARACTERS:
        return Vocabulary(name, len)
    try:
        return Vocabulary(name, tokens.tokenizer(name))
    except tokens.VocabularyError as error:
        raise BenchError(f"{error} Or use --encoding {CHARACTERS}.") from error


def tokenizer(path: str | os.PathLike[str]) -> Vocabulary:
    """A Hugging Face tokenizer, named after its file, or after its folder if the file has the default name.

    Special tokens in a text count as text. Tokens that the tokenizer adds around a text are not counted.
    """
    from tokenizers import Tokenizer

    path = Path(path)
    if not path.is_file():
        raise BenchError(f"{path}: there is no such file; give the path of a model's tokenizer.json")
    try:
        read = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more specific
        raise BenchError(f"{path}: this is not a tokenizer.json of Hugging Face: {error}") from error
    read.encode_special_tokens = True
    name = path.resolve().parent.name if path.name == "tokenizer.json" else path.stem
    return Vocabulary(name or path.stem, lambda text: len(read.encode(text, add_special_tokens=False)))
