"""Random walks over the tokens that a grammar allows: what a model without any sense could write.

A step takes a token of the mask, or what a grammar should refuse or end with: a beginning of a text that a
sloppy grammar would allow, a closing mark, a call of the encoder up to any place. Closing becomes more likely
with the length, so that few walks have to be given up.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generate import ALPHABET, OPENINGS, PROSE
from generate_values import TEXTS
from wirecall._core import native_formats
from wirecall_bench.decoders import Mask, Matcher, TokenVocabulary

# Tokens from which on a walk closes what it can, and after which it is given up.
LONG, LONGEST = 40, 400
SYNTAX = frozenset(b"<>\"'`=[]{}()\\&|\n\r\t:,.")
MARKS = [mark for row in native_formats() for mark in (*(row["call"] or ()), *(row["section"] or ())) if mark]
# What text and strings are tried with.
HOSTILE = [
    text
    for text in (*TEXTS, *ALPHABET, *PROSE, *OPENINGS, *MARKS, "<tool-result name=", "<tool-error")
    if text and text.isprintable() | ("\n" in text)
]
OPENERS = (
    "<CALL>{}", "<Call>{} ", "<call >{}", '<call name="{}">', "[call]{} ", "&lt;call&gt;{}", "<tool_call>{}",
    "<call>{}", "<call>{} ", "<call>functions.{}", "<call> {}", "<call>\n{}", "< call>{}", "<call>`{}`",
)  # fmt: skip
# What ends values, as likely as it is here; what ends a call comes with them.
CLOSING = ('"', '"', '"', "'", "'", "}", "}", "]", "]", " ", " ", "\n", "null")


@dataclass(frozen=True)
class Walk:
    """One walk.

    Attributes:
        text: What was written; bytes that are not UTF-8 are U+FFFD.
        wrong: How many masks had a token that the library then refused.
        complete: Whether it ended where the grammar allows the end; otherwise it was given up.
    """

    text: str
    wrong: int
    complete: bool


class TokenClass:
    """Tokens to choose from."""

    def __init__(self, vocabulary: TokenVocabulary, ids: Sequence[int]) -> None:
        self.ids = list(ids)
        self.bits = vocabulary.bits(ids)

    def choose(self, rng: random.Random, mask: Mask) -> int | None:
        """One of the tokens that the mask allows; None if there are none."""
        ids, count = self.ids, len(self.ids)
        for _ in range(6):
            token = ids[int(rng.random() * count)]
            if int(mask[token >> 5]) >> (token & 31) & 1:
                return token
        both = mask & self.bits
        some = np.flatnonzero(both)
        if not len(some):
            return None
        word = int(some[int(rng.random() * len(some))])
        bits = int(both[word])
        return 32 * word + rng.choice([at for at in range(32) if bits >> at & 1])


class Walker:
    """Makes walks with one vocabulary."""

    def __init__(self, vocabulary: TokenVocabulary) -> None:
        self.vocabulary = vocabulary
        known = [(token, text) for token, text in enumerate(vocabulary.tokens) if text]
        self.all = TokenClass(vocabulary, [token for token, _ in known])
        self.short = TokenClass(vocabulary, [token for token, text in known if len(text) <= 2])
        self.syntax = TokenClass(vocabulary, [token for token, text in known if not SYNTAX.isdisjoint(text)])
        self.ascii = TokenClass(vocabulary, [token for token, text in known if text.isascii()])
        self.classes = (self.all, self.short, self.syntax, self.ascii)
        self.hostile = [vocabulary.tokenize(text) for text in HOSTILE]
        self.closing = [vocabulary.tokenize(text) for text in CLOSING]

    def walk(
        self,
        matcher: Matcher,
        rng: random.Random,
        *,
        names: Sequence[str],
        calls: Sequence[str],
        endings: Sequence[str],
        text: bool,
    ) -> Walk:
        """One walk from the beginning of a message.

        Args:
            names: Those of the tools.
            calls: Calls as the encoder writes them.
            endings: What ends their values and calls.
            text: Whether the grammar allows text, in which calls must be begun on purpose.
        """
        matcher.reset()
        written: list[int] = []
        wrong = 0
        closing = self.closing + 3 * [self.vocabulary.tokenize(ending) for ending in endings if ending]
        # The tokens after which calls are begun.
        begin = [rng.randrange(12) for _ in range(rng.choice((0, 1, 1, 1, 2)))] if text and calls else []
        end = rng.choice((0.1, 0.3, 0.6)) if text else 0.6

        def take(tokens: Sequence[int]) -> bool:
            taken = matcher.accept(tokens)
            written.extend(tokens[:taken])
            return taken > 0

        while len(written) < LONGEST:
            late = len(written) > LONG
            if matcher.is_complete():
                waits = begin and not late
                if matcher.is_stopped() or (not waits and rng.random() < (0.9 if late else end)):
                    return Walk(self.decode(written), wrong, complete=True)
            if begin and len(written) >= begin[0]:
                begin = [at + len(written) for at in begin[1:]]
                call = rng.choice(calls)
                if take(
                    self.vocabulary.encoding.encode(call[: rng.randint(1, len(call))], disallowed_special=())
                ):
                    continue
            choice = rng.random()
            if choice < (0.8 if late else 0.3):
                if any(take(rng.choice(closing)) for _ in range(3)):
                    continue
            elif choice > 0.78 and not late:
                tokens = rng.choice(self.hostile)
                if rng.random() < 0.3 and names:
                    tokens = self.vocabulary.tokenize(rng.choice(OPENERS).format(rng.choice(names)))
                if take(tokens):
                    continue
            elif choice > 0.35 and (forced := matcher.forced()) and take(forced):
                continue
            mask = matcher.mask()
            token = rng.choice(self.classes).choose(rng, mask)
            if token is None:
                token = self.all.choose(rng, mask)
            if token is None:
                # Only the end is allowed.
                assert matcher.is_complete(), self.decode(written)
                return Walk(self.decode(written), wrong, complete=True)
            wrong += not take([token])
            if wrong > 20:
                break
        return Walk(self.decode(written), wrong, complete=False)

    def decode(self, tokens: Sequence[int]) -> str:
        return b"".join(self.vocabulary.tokens[token] for token in tokens).decode(errors="replace")
