"""Summaries that are longer than what is reserved for them are cut off."""

import asyncio
import logging
import random
from collections.abc import Callable
from typing import Any

import pytest
from conversations import FORMATS, FormatName
from durable_support import never
from hypothesis import given
from hypothesis import strategies as st

from law import LAW
from wirecall import compact_context
from wirecall._apis.registry import api_named
from wirecall.compaction import Compress, acompact_messages, compact_messages
from wirecall.compaction._counting import estimate, tokens, tokens_of
from wirecall.compaction._summary import CUT_OFF, INTRODUCTION, SummaryLimit, cleaned

CHAT = api_named("chat").message_format


def quarter(text: str) -> float:
    return len(text) / 4


def words(text: str) -> int:
    return len(text.split())


def uneven(text: str) -> float:
    """Longer texts may have fewer tokens."""
    return len(text) / 4 + len(text) % 7


COUNTS: list[Callable[[str], float]] = [quarter, words, uneven, len]


def size_of(summary: str, count: Callable[[str], float], format: FormatName = "chat") -> int:
    """How much a summary adds to its introduction."""
    user = api_named(format).message_format.user
    return tokens_of(user(INTRODUCTION + summary), count) - tokens_of(user(INTRODUCTION), count)


@LAW
@given(
    st.text(alphabet=st.sampled_from("ab .\n-\u65e5\U0001f600"), max_size=300),
    st.floats(0.1, 400),
    st.sampled_from(COUNTS),
)
def test_what_is_cut_fits_and_says_something(text: str, most: float, count: Callable[[str], float]) -> None:
    summary = cleaned(text)
    if not summary:
        return
    cut = SummaryLimit(most, count).fit(CHAT, summary)
    assert cleaned(cut) == cut
    if size_of(summary, count) <= most:
        assert cut == summary
    else:
        assert size_of(cut, count) <= most or len(cut) == 1
        assert summary.startswith(cut.removesuffix(CUT_OFF)) or len(cut) == 1
        if size_of(f"{summary[:1]}{CUT_OFF}", len) <= most and count is len and summary[0].isalnum():
            assert cut.endswith(CUT_OFF)


def test_the_cut_is_at_the_end_of_a_line_or_a_word() -> None:
    for text in ("word " * 100, "a line\n" * 100, "line of words\n" * 100):
        cut = SummaryLimit(100, len).fit(CHAT, text.strip()).removesuffix(CUT_OFF)
        assert 50 < len(cut) <= 100 - len(CUT_OFF)
        assert text[len(cut)] in " \n"
    assert len(SummaryLimit(100, len).fit(CHAT, "z" * 1000)) == 100


def test_few_texts_are_counted() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text)

    SummaryLimit(1000, count).fit(CHAT, "word " * 100_000)
    assert len(counted) < 30
    assert sum(counted) < 3 * 500_000


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_a_stored_list_keeps_to_its_limit(format: FormatName, merge: bool) -> None:
    messages = [{"role": "user", "content": "x" * 96} for _ in range(30)]
    options: dict[str, Any] = {"max_tokens": 1000, "max_summary_tokens": 100, "format": format}
    options |= {"count": len, "merge_summary": merge}
    result = compact_messages(messages, lambda asked: "They counted. " * 99, **options)
    assert tokens(result, len) <= 1000
    assert CUT_OFF.strip() in str(result)
    assert compact_messages(result, never, **options) is result
    assert result == asyncio.run(acompact_messages(messages, lambda asked: "They counted. " * 99, **options))
    # Without `max_tokens`, summaries are not cut off.
    del options["max_tokens"]
    result = compact_messages(messages, lambda asked: "They counted. " * 99, keep_recent_turns=1, **options)
    assert CUT_OFF.strip() not in str(result)


def test_the_providers_count_scales_the_limit() -> None:
    messages = [{"role": "user", "content": "x" * 96} for _ in range(30)]
    options: dict[str, Any] = {"max_tokens": 2000, "usage": 6000, "count": len, "max_summary_tokens": 200}
    result = compact_messages(messages, lambda asked: "z" * 1000, **options)
    assert size_of(result[0]["content"].removeprefix(INTRODUCTION), len) == 100


@pytest.mark.parametrize("count", [None, quarter])
def test_a_request_keeps_to_its_window(count: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "wirecall")
    events: list[Any] = []
    stored: list[Any] = []
    context = compact_context(
        context_window=400,
        compress=Compress(lambda asked: "secret" * 20_000, max_summary_tokens=50),
        count=count,
        on_event=events.append,
        on_compress=stored.append,
    )
    history: list[Any] = []
    for _ in range(12):
        history += [{"role": "assistant", "content": "y" * 300}, {"role": "user", "content": "z" * 300}]
        sent = context.on_request({"messages": history}, api="chat")["messages"]
        assert count is None or tokens(sent, count) <= 400
    kinds = [event.kind for event in events]
    assert kinds == ["truncated", "compressed"] * len(stored)
    assert events[0].detail == "the summary had more than 50 tokens and was cut off"
    assert all(one.summary.endswith(CUT_OFF) for one in stored)
    assert all(size_of(one.summary, count or estimate) <= 50 for one in stored)
    assert "A summary exceeded its limit and was cut off" in caplog.text
    assert "secret" not in caplog.text


def test_what_is_fed_scales_the_limit_of_a_count() -> None:
    texts = [{"role": "user", "content": "word " * 20} for _ in range(40)]
    for fed, size in ((960, 100), (1920, 50), (10**6, 25)):
        context = compact_context(
            context_window=500,
            compress=Compress(lambda asked: "word " * 999, max_summary_tokens=100),
            count=words,
        )
        context.feed(fed)
        sent = context.on_request({"messages": texts}, api="chat")["messages"]
        assert size_of(sent[0]["content"].removeprefix(INTRODUCTION), words) == size


def test_a_summary_of_one_letter_is_better_than_none() -> None:
    rng = random.Random(1)
    for _ in range(50):
        summary = rng.choice(("None of it worked.", "--- Yes", "n/a: not yet", "\u65e5\u672c\u8a9e"))
        most = rng.randrange(1, 9)
        cut = SummaryLimit(most, len).fit(CHAT, summary)
        assert len(cut) <= most
        assert cleaned(cut) == cut
