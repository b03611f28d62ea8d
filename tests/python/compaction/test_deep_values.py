"""Values that are nested too deeply for Python's stack, and lone surrogates, anywhere in a
conversation: no part of compaction raises for them."""

import json
import random
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from agent_loops import loop
from conversations import FORMATS, FormatName, plain
from hypothesis import given
from hypothesis import strategies as st

from law import law
from wirecall import compact_context
from wirecall._shown import _nested, written
from wirecall.compaction import (
    Clear,
    Compress,
    MixedFormatsError,
    Prune,
    Truncate,
    compact_messages,
    plan_compaction,
    summarize_messages,
)
from wirecall.compaction._counting import tokens_of
from wirecall.tokens import cached_tokenizer

pytestmark = pytest.mark.laws
SEEDS = st.integers(0, 2**32)
HALF = "\ud83d"
DEPTH = 3000


def deep(kind: str, depth: int = DEPTH) -> Any:
    """A value at the end of so many lists, dicts or contents."""
    value: Any = HALF
    for _ in range(depth):
        value = [value] if kind == "list" else {"a": value} if kind == "dict" else {"content": [value]}
    return value


# Built once, because it is slow; never modified.
HOSTILE = [HALF, f"{HALF} a {HALF}", {HALF: HALF}, deep("list"), deep("dict"), deep("content", DEPTH // 2)]


def spoil(rng: random.Random, messages: list[Any]) -> list[Any]:
    """The messages with such values in a few places."""
    spoilt = plain(messages)
    for _ in range(rng.choice((1, 1, 4))):
        places = list(places_in(rng.choice(spoilt)))
        holder, key = rng.choice(places)
        holder[key] = rng.choice(HOSTILE)
    return spoilt


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Where a value may be put; not inside of hostile values."""
    if any(value is one for one in HOSTILE):
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in inner:
        yield value, key
        yield from places_in(held)


def count(text: str) -> int:
    return len(text)


def summarize(asked: list[dict[str, str]]) -> str:
    json.dumps(asked, ensure_ascii=False).encode()  # as clients send it
    return f"They said {HALF}. " * 50


@law(20)
@given(seed=SEEDS, format=st.sampled_from(FORMATS))
def test_no_list_is_refused(seed: int, format: FormatName) -> None:
    rng = random.Random(seed)
    messages = spoil(rng, loop(rng, format, steps=rng.choice((1, 1, 4))).messages)
    options: dict[str, Any] = {"format": format, "keep_recent_turns": rng.randrange(9)}
    if rng.random() < 0.5:
        options |= {"max_tokens": rng.choice((500, 5000)), "count": count, "max_summary_tokens": 100}
    if rng.random() < 0.3:
        options |= {"max_tokens": 500, "usage": 5000}
    try:
        plan_compaction(messages, **options)
        for _ in range(2):
            messages = compact_messages(messages, summarize, **options, merge_summary=rng.random() < 0.3)
        summarize_messages(messages, summarize, tool_result_stub_threshold=3, format=format)
    except MixedFormatsError:
        pass


@law(20)
@given(seed=SEEDS, format=st.sampled_from(FORMATS))
def test_no_request_is_refused(seed: int, format: FormatName) -> None:
    rng = random.Random(seed)
    made = loop(rng, format, steps=rng.choice((1, 1, 4)))
    messages = spoil(rng, made.messages)
    context = compact_context(
        context_window=rng.choice((1, 500, 5000)),
        compress=Compress(summarize, tool_result_stub_threshold=rng.choice((None, 3))),
        truncate=Truncate(10, tail=2, overrides={"l*": Truncate(5)}),
        prune=Prune(calls="old", reasoning="old", keep_messages=4, tools=("l*",)),
        clear=Clear(2),
        count=rng.choice((None, count)),
    )
    key = "input" if format == "responses" else "messages"
    for end in made.requests[-3:]:
        request = {key: messages[:end]}
        if rng.random() < 0.2:
            request |= {"tools": [rng.choice(HOSTILE)], "system": rng.choice(HOSTILE)}
        context.on_request(request, api=format)


def test_deep_values_are_written_as_json_writes_them() -> None:
    limit = sys.getrecursionlimit()
    value: Any = {"a": [1, 2.5, None, True, {}, [], {"b": HALF, "c": [[], "x"]}], "d": ""}
    assert _nested(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert written(deep("list")) == "[" * DEPTH + f'"{HALF}"' + "]" * DEPTH
    assert written(deep("dict")) == '{"a":' * DEPTH + f'"{HALF}"' + "}" * DEPTH
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("kind", ["list", "content"])
def test_everything_in_a_deep_content_counts(kind: str) -> None:
    shallow, deeper = deep(kind, 5), deep(kind, DEPTH)
    assert tokens_of({"role": "user", "content": [shallow]}, len) == 4 + len(HALF)
    assert tokens_of({"role": "user", "content": [deeper]}, len) > DEPTH


def test_the_default_tokenizer_counts_halves_of_surrogate_pairs() -> None:
    tokenize = cached_tokenizer()
    if tokenize is None:
        pytest.skip("the vocabulary is not here")
    assert tokens_of({"role": "user", "content": HALF}, tokenize) > 4
