"""Libraries for constrained decoding: what reads a grammar and says which tokens may come next.

Each library has a class with `matcher(kind, text)`. xgrammar is in the environment of `make test-grammar`,
and llama.cpp's code is what `make model` builds.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from wirecall_bench.local_model import LocalModelError, match_gbnf

if TYPE_CHECKING:
    import tiktoken

Mask = np.ndarray


class GrammarError(Exception):
    """A library refuses a grammar, or gave up while it followed one."""


class TokenVocabulary:
    """The tokens of o200k_base.

    Attributes:
        tokens: The bytes of each token, empty for special ones.
        end: The token that ends a message.
    """

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.encoding = encoding
        self.size = encoding.n_vocab
        self.end = encoding.eot_token
        self.tokens: list[bytes] = [b""] * self.size
        for text, token in encoding._mergeable_ranks.items():
            self.tokens[token] = text

    @functools.cache  # noqa: B019
    def tokenize(self, text: str) -> list[int]:
        return self.encoding.encode(text, disallowed_special=())

    def bits(self, ids: Sequence[int]) -> Mask:
        """A mask of these tokens, with one bit for each."""
        chosen = np.zeros(32 * words(self.size), dtype=np.uint8)
        chosen[list(ids)] = 1
        return np.packbits(chosen, bitorder="little").view(np.uint32)


def words(size: int) -> int:
    """The number of 32-bit words in a mask."""
    return (size + 31) // 32


class Matcher(Protocol):
    """Follows one message, token by token."""

    def reset(self) -> None: ...

    def accept(self, tokens: Sequence[int]) -> int:
        """Take tokens up to the first that is not allowed, and return how many those are."""

    def mask(self) -> Mask:
        """The tokens that may come next, as a view that the next call overwrites."""

    def forced(self) -> list[int]:
        """Tokens that must come next, as far as the library knows."""

    def is_complete(self) -> bool:
        """Whether the message may end here."""

    def is_stopped(self) -> bool:
        """Whether it must."""


class Engine(Protocol):
    name: str

    def matcher(self, kind: str, text: str) -> Matcher:
        """Raises GrammarError if the library refuses the grammar."""


# llguidance -----------------------------------------------------------------------------------------------


class Llguidance:
    """Reads "lark"."""

    name = "llguidance"

    def __init__(self, vocabulary: TokenVocabulary) -> None:
        from llguidance.tiktoken import lltokenizer_from_encoding

        self.tokenizer = lltokenizer_from_encoding(vocabulary.encoding)

    def matcher(self, kind: str, text: str) -> LlguidanceMatcher:
        from llguidance import LLMatcher

        made = LLMatcher(self.tokenizer, LLMatcher.grammar_from_lark(text), log_level=0)
        if made.is_error():
            raise GrammarError(made.get_error())
        return LlguidanceMatcher(made, self.tokenizer.vocab_size)


class LlguidanceMatcher:
    def __init__(self, matcher: Any, size: int) -> None:
        self._matcher = matcher
        self._mask = np.zeros(words(size), dtype=np.uint32)
        self._place = self._mask.ctypes.data, self._mask.nbytes

    def reset(self) -> None:
        if not self._matcher.reset():
            raise GrammarError(self._matcher.get_error())

    def accept(self, tokens: Sequence[int]) -> int:
        allowed: int = self._matcher.validate_tokens(tokens)
        if allowed and not self._matcher.consume_tokens(tokens[:allowed]):
            raise GrammarError(self._matcher.get_error())
        return allowed

    def mask(self) -> Mask:
        self._matcher.unsafe_compute_mask_ptr(*self._place)
        if self._matcher.is_error():
            raise GrammarError(self._matcher.get_error())
        return self._mask

    def forced(self) -> list[int]:
        return list(self._matcher.compute_ff_tokens())

    def is_complete(self) -> bool:
        return bool(self._matcher.is_accepting())

    def is_stopped(self) -> bool:
        return bool(self._matcher.is_stopped())


# xgrammar -------------------------------------------------------------------------------------------------


class Xgrammar:
    """Reads "ebnf", "structural_tag", and "gbnf" as EBNF."""

    name = "xgrammar"

    def __init__(self, vocabulary: TokenVocabulary, *, cached: bool = False, threads: int = 1) -> None:
        import xgrammar

        self.size = vocabulary.size
        info = xgrammar.TokenizerInfo(
            vocabulary.tokens,
            xgrammar.VocabType.RAW,
            vocab_size=vocabulary.size,
            stop_token_ids=[vocabulary.end],
        )
        self.vocabulary = vocabulary
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=threads, cache_enabled=cached)

    def matcher(self, kind: str, text: str) -> XgrammarMatcher:
        import xgrammar

        try:
            if kind == "structural_tag":
                compiled = self.compiler.compile_structural_tag(text)
            else:
                compiled = self.compiler.compile_grammar(text)
        except (RuntimeError, ValueError) as error:
            raise GrammarError(str(error)) from error
        return XgrammarMatcher(xgrammar.GrammarMatcher(compiled), self.vocabulary)


class XgrammarMatcher:
    def __init__(self, matcher: Any, vocabulary: TokenVocabulary) -> None:
        self._matcher = matcher
        self._vocabulary = vocabulary
        self._mask = np.zeros((1, words(vocabulary.size)), dtype=np.int32)

    def reset(self) -> None:
        self._matcher.reset()

    def accept(self, tokens: Sequence[int]) -> int:
        for at, token in enumerate(tokens):
            if not self._matcher.accept_token(token):
                return at
        return len(tokens)

    def mask(self) -> Mask:
        if not self._matcher.fill_next_token_bitmask(self._mask):
            self._mask.fill(-1)
        mask: Mask = self._mask[0].view(np.uint32)
        return mask

    def forced(self) -> list[int]:
        try:
            text = self._matcher.find_jump_forward_string()
        except UnicodeDecodeError:
            # Its bytes may end within a character, or begin there.
            return []
        return self._vocabulary.tokenize(text)

    def is_complete(self) -> bool:
        return bool(self._matcher.is_completed())

    def is_stopped(self) -> bool:
        return False


# llama.cpp ------------------------------------------------------------------------------------------------


class LlamaCpp:
    """Reads "gbnf", and matches whole texts with what `make model` installs; it has no masks."""

    name = "llama.cpp"

    def __init__(self, vocabulary: TokenVocabulary) -> None:
        self.vocabulary = vocabulary

    def matcher(self, kind: str, text: str) -> LlamaCppMatcher:
        made = LlamaCppMatcher(text, self.vocabulary)
        made.accept([])
        return made


class LlamaCppMatcher:
    def __init__(self, grammar: str, vocabulary: TokenVocabulary) -> None:
        self._grammar = grammar
        self._vocabulary = vocabulary
        self._complete = False

    def reset(self) -> None:
        self._complete = False

    def accept(self, tokens: Sequence[int]) -> int:
        text = b"".join(self._vocabulary.tokens[token] for token in tokens).decode()
        try:
            [match] = match_gbnf([(self._grammar, text)])
        except LocalModelError as error:
            raise GrammarError(str(error)) from error
        self._complete = match.accepted
        if match.reason == "unexpected character":
            taken = text[: match.position].encode()
            sizes = itertools.accumulate(len(self._vocabulary.tokens[token]) for token in tokens)
            return sum(size <= len(taken) for size in sizes)
        return len(tokens)

    def is_complete(self) -> bool:
        return self._complete

    def mask(self) -> Mask:
        raise GrammarError("llama.cpp has no masks")

    def forced(self) -> list[int]:
        return []

    def is_stopped(self) -> bool:
        return False
