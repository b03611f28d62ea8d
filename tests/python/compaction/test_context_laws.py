"""Requests in flight over random conversations in each format.

The model that summarises repeats the numbers that it reads, and nothing else. So each number that a
conversation says must be found once in what is sent, in a summary or in a message, however often it was
compressed, unless a summary was cut off.
"""

import copy
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from conversations import FORMATS, Made, as_json, conversation, numbers, plain
from hypothesis import given
from hypothesis import strategies as st
from strict import check

from law import law
from wirecall import compact_context
from wirecall._apis.detection import read_conversation
from wirecall._apis.registry import api_named
from wirecall.compaction import Clear, Compress, ContextNotice, Prune, Truncate
from wirecall.compaction._counting import tokens_of
from wirecall.compaction._pruning import CLEARED
from wirecall.compaction._summary import OPENING
from wirecall.compaction._turns import turns_of

pytestmark = pytest.mark.laws
SEEDS = st.integers(0, 2**32)


def key_of(format: str) -> str:
    return "input" if format == "responses" else "messages"


def count(text: str) -> int:
    return len(re.findall(r"\w+|\W", text))


class Repeats:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, asked: Any) -> str:
        self.calls += 1
        said = [f"<{number}>" for one in asked[:-1] for number in numbers(one["content"])]
        return "numbers: " + " ".join(dict.fromkeys(said))


class Events:
    """Whether a summary was cut off."""

    def __init__(self) -> None:
        self.cut = False

    def __call__(self, notice: ContextNotice) -> None:
        self.cut = self.cut or notice.kind == "truncated"

    def keeps(self, sent: Any, expected: "Counter[str]") -> bool:
        """Whether everything is said, or, if a summary was cut off, nothing else."""
        found = said(sent)
        return found <= expected if self.cut else found == expected


def said(messages: Any) -> "Counter[str]":
    """The numbers of texts."""
    return Counter(number for number in numbers(messages) if number.isdigit())


def histories(format: Any, made: list[Any]) -> Iterator[list[Any]]:
    """What an agent would send on its way: nothing waits, and no answer is cut. Each is not mutated."""
    for end in range(1, len(made) + 1):
        messages = made[:end]
        turns = turns_of(
            api_named(format).message_format, messages, read_conversation(messages, format)[1]
        ).turns
        role = api_named(format).message_format.inspect(messages[-1]).role
        if role in ("user", "result") and not turns[-1].open:
            before = copy.deepcopy(messages)
            yield messages
            assert messages == before


@law(25)
@given(SEEDS, st.sampled_from(FORMATS), st.integers(100, 1800), st.booleans())
def test_a_loop_keeps_within_its_window_and_loses_nothing(
    seed: int, format: Any, window: int, feeds: bool
) -> None:
    made = conversation(random.Random(seed), format, turns=18, tame=True, pending=False).messages
    summarize, events = Repeats(), Events()
    context = compact_context(
        context_window=window,
        compress=Compress(summarize, max_summary_tokens=10**6),
        count=count,
        on_event=events,
        usage="fed" if feeds else "max",
    )
    fired = False
    for messages in histories(format, made):
        request = {key_of(format): messages}
        calls = summarize.calls
        sent = context.on_request(request, api=format)[key_of(format)]
        fired = fired or summarize.calls > calls
        if not fired:
            assert sent is messages
            continue
        check(sent, format)
        assert events.keeps(sent, said(messages))
        own = [one for one in sent if not any(one is other for other in messages)]
        assert len(own) == 1
        assert OPENING in as_json(own[0])
        size = sum(tokens_of(one, count) for one in sent)
        if feeds:
            context.feed(int(size))
        elif size > window:
            turns = turns_of(api_named(format).message_format, sent, read_conversation(sent, format)[1]).turns
            assert len(turns) == 1
    # Another context that sees all at once has the same to say.
    events = Events()
    again = compact_context(context_window=window, compress=Repeats(), count=count, on_event=events)
    sent = again.on_request({key_of(format): made}, api=format)[key_of(format)]
    assert events.keeps(sent, said(made))


@law(25)
@given(SEEDS, st.sampled_from(FORMATS), st.integers(1, 500))
def test_what_providers_would_refuse_is_mended_where_it_is_compressed(
    seed: int, format: Any, window: int
) -> None:
    made: Made = conversation(random.Random(seed), format, turns=20)
    stored: list[Any] = []
    before = plain(made.messages)
    events = Events()
    context = compact_context(
        context_window=window, compress=Repeats(), count=count, on_compress=stored.append, on_event=events
    )
    request = {key_of(format): made.messages}
    sent = context.on_request(request, api=format)[key_of(format)]
    assert plain(made.messages) == before
    if not stored:
        assert sent is made.messages
        return
    expected = said(made.messages)
    for number in made.orphans:
        del expected[number]
    for messages in (sent, stored[0].messages):
        check(messages, format)
        assert events.keeps(messages, expected)
    # The same request gets the same answer, without asking again.
    assert plain(context.on_request(request, api=format)) == plain({key_of(format): sent})
    assert len(stored) == 1


@law(25)
@given(
    SEEDS,
    st.sampled_from(FORMATS),
    st.integers(1, 1200),
    st.integers(0, 100),
    st.sampled_from(["all", "old", None]),
    st.sampled_from(["old", None]),
    st.integers(1, 10),
)
def test_all_together_stay_valid(
    seed: int, format: Any, window: int, threshold: int, reasoning: Any, calls: Any, keep: int
) -> None:
    made = conversation(random.Random(seed), format, turns=18, tame=True, pending=False).messages
    context = compact_context(
        context_window=window,
        compress=Repeats(),
        truncate=Truncate(threshold, tail=10),
        prune=Prune(reasoning=reasoning, calls=calls, keep_messages=keep),
        clear=Clear(keep),
        count=count,
    )
    for messages in histories(format, made):
        request = {key_of(format): messages}
        sent = context.on_request(request, api=format)
        if sent is request:
            continue
        messages = sent[key_of(format)]
        system = [one for one in messages if api_named(format).message_format.inspect(one).role == "system"]
        others = [one for one in messages if api_named(format).message_format.inspect(one).role != "system"]
        check([*system, *others], format)
        results = [
            one for message in messages for one in api_named(format).message_format.inspect(message).results
        ]
        assert all(one.content == CLEARED for one in results[:-keep])
        assert not any(one.content == CLEARED for one in results[-keep:])


@law(50)
@given(SEEDS, st.sampled_from(FORMATS), st.sampled_from(("max", "own", "fed")))
def test_a_history_that_is_edited_gets_no_summary_of_what_it_was(seed: int, format: Any, usage: Any) -> None:
    """Messages are rewritten, dropped and cut off between requests: what is sent has the same content."""
    rng = random.Random(seed)
    window = rng.choice((100, 300))
    events = Events()
    context = compact_context(
        context_window=window, compress=Repeats(), count=count, usage=usage, on_event=events
    )
    history: list[Any] = []
    number = 0
    for _ in range(25):
        happens = rng.random()
        if history and happens < 0.3:
            at = rng.randrange(len(history))
            edited = {**history[at], "content": f"<{(number := number + 1)}>"}
            history[at : at + 1] = [edited] if happens < 0.2 else []
        elif history and happens < 0.4:
            del history[rng.randrange(len(history)) :]
        for role in ("user", "assistant")[: rng.randrange(3)]:
            history.append({"role": role, "content": f"<{(number := number + 1)}>"})
        if rng.random() < 0.2:
            context.feed(rng.randrange(400))
        request = {key_of(format): history}
        made = context.on_request(request, api=format)[key_of(format)]
        assert events.keeps(made, said(history))
