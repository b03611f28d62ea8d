"""What holds of every agent loop whose results are lost, late, repeated or misplaced, in each format."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from agent_loops import Loop, loop
from conversations import FORMATS, FormatName, as_json, numbers, plain
from hypothesis import given
from hypothesis import strategies as st
from strict import check

from law import law
from wirecall import compact_context
from wirecall._apis.registry import api_named
from wirecall.compaction import Compress, compact_messages, plan_compaction
from wirecall.compaction._counting import tokens
from wirecall.compaction._summary import CUT_OFF, OPENING

pytestmark = pytest.mark.laws
SEEDS = st.integers(0, 2**32)
FEW = law(20)


def made_from(rng: random.Random, format: FormatName) -> Loop:
    return loop(rng, format, steps=rng.choice((1, 3, 10, 20)))


def said(messages: Sequence[Any]) -> list[str]:
    """The numbers of everything but results, in order."""
    found = []
    for message in map(plain, messages):
        content = message.get("content")
        for part in content if isinstance(content, list) else [message]:
            here = numbers(part)
            if not any(number[0] == "r" for number in here):
                found += [number for number in here if number.isdigit()]
    return found


def results_of(messages: Sequence[Any], format: FormatName) -> tuple["Counter[str]", "Counter[str]"]:
    """How many calls, and how many results, there are of each id."""
    infos = [api_named(format).message_format.inspect(message) for message in map(plain, messages)]
    calls = Counter(call.id for one in infos for call in one.calls)
    return calls, Counter(result.id for one in infos for result in one.results)


def is_sublist(some: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(one in rest for one in some)


@FEW
@pytest.mark.parametrize("format", FORMATS)
@given(seed=SEEDS)
def test_a_plan_repairs_what_it_names_and_keeps_the_order(format: FormatName, seed: int) -> None:
    rng = random.Random(seed)
    made = made_from(rng, format)
    plan = plan_compaction(made.messages, keep_recent_turns=rng.randrange(2 * made.turns), format=format)
    parts = [plan.to_summarize, plan.to_keep]
    planned = [*plan.system, *plan.to_summarize, *plan.to_keep]
    check(planned, format)
    assert said(planned) == said(made.messages)
    # Each call has one result, in the same part.
    for part in parts:
        calls, results = results_of(part, format)
        assert calls == results
    assert not made.orphans.intersection(numbers(planned))
    if made.is_clear:
        assert plan.turns == made.turns
        assert Counter(repair.kind for repair in plan.repairs) == +made.repairs
    for repair in plan.repairs:
        assert repair.id in as_json(made.messages[repair.at])
    placeholders = as_json(planned).count("[No result of look is available]")
    assert placeholders == sum(repair.kind == "missing_result" for repair in plan.repairs)


@FEW
@pytest.mark.parametrize("format", FORMATS)
@given(seed=SEEDS)
def test_a_compacted_loop_keeps_to_its_limit_and_is_not_compacted_again(
    format: FormatName, seed: int
) -> None:
    rng = random.Random(seed)
    made = made_from(rng, format)
    history: list[Any] = []
    stop = 0
    merge, factor = rng.random() < 0.3, rng.choice((None, None, 0.5, 2))
    options: dict[str, Any] = {"format": format, "merge_summary": merge}
    if rng.random() < 0.5:
        options["keep_recent_turns"] = rng.choice((0, 1, 2, 5, 15))
    if rng.random() < 0.7 or len(options) == 2:
        options |= {"max_tokens": rng.choice((500, 1000, 2000, 5000)), "count": len}
        options["max_summary_tokens"] = rng.choice((1, 60, 300))
    # The application appends to what it has stored.
    for end in sorted(rng.sample(made.requests, min(3, len(made.requests)))):
        history, stop = [*history, *made.messages[stop:end]], end
        summary = "<summary>" + " ".join(["It went on."] * rng.choice((1, 10, 100))) + "</summary>"
        if factor is not None and "count" in options:
            options["usage"] = factor * own(history, options)
        plan = plan_compaction(history, **{key: options[key] for key in options if key != "merge_summary"})
        shorter = compact_messages(history, lambda asked, summary=summary: summary, **options)
        left = [*plan.system, *plan.to_keep]
        if plan.to_summarize:
            check(shorter, format)
            assert is_sublist(said(left), said(shorter))
            left = shorter
        else:
            assert shorter is history
        if "count" in options and plan.kept_turns > 1:
            assert (factor or 1) * tokens(left, len) <= options["max_tokens"]
        if factor is not None and "count" in options:
            options["usage"] = factor * own(shorter, options)
        assert compact_messages(shorter, lambda asked: "Not again.", **options) is shorter
        history = list(shorter)


def own(messages: list[Any], options: dict[str, Any]) -> int:
    """What the package counts, without results that have no call."""
    plan = plan_compaction(messages, keep_recent_turns=1000, format=options["format"])
    return tokens([*plan.system, *plan.to_keep], len)


class InFlight:
    """Sends a growing history, and checks what is sent."""

    def __init__(self, rng: random.Random, format: FormatName) -> None:
        self.format = format
        self.key = "input" if format == "responses" else "messages"
        self.window = rng.choice((150, 300, 600, 2000))
        self.turns = rng.choice((1, 1, 3))
        self.summaries = 0
        self.words = rng.choice((1, 30, 1000))
        self.events: list[str] = []
        self.context = compact_context(
            context_window=self.window,
            compress=Compress(
                self.summarize,
                keep_share=rng.choice((0.5, 0.8, 1)),
                keep_turns=self.turns,
                max_summary_tokens=50,
            ),
            count=count,
            on_event=lambda notice: self.events.append(notice.kind),
        )

    def summarize(self, asked: list[dict[str, str]]) -> str:
        self.summaries += 1
        return "word " * self.words

    def request(self, messages: list[Any]) -> Any:
        return {"model": "m", self.key: messages}

    def check(self, given: list[Any], sent: list[Any]) -> None:
        if not self.summaries:
            assert sent is given
            return
        check(sent, self.format)
        kept = said(sent)
        assert kept == [one for one in said(given) if one in kept]
        calls, results = results_of(sent, self.format)
        assert calls == results
        plan = plan_compaction(sent, keep_recent_turns=1000, format=self.format)
        assert not plan.repairs
        if plan.turns > self.turns:
            assert tokens(sent, count) <= self.window
        assert as_json(sent).count(OPENING) <= 1
        if self.words == 1000 and OPENING in as_json(sent):
            assert CUT_OFF.strip() in as_json(sent)
        assert self.events == ["truncated", "compressed"][self.words < 1000 :] * self.summaries


def count(text: str) -> float:
    return len(text) / 4


@FEW
@pytest.mark.parametrize("format", FORMATS)
@given(seed=SEEDS, is_async=st.booleans())
def test_every_request_of_a_loop_is_valid_and_within_the_window(
    format: FormatName, seed: int, is_async: bool
) -> None:
    rng = random.Random(seed)
    made = made_from(rng, format)
    sends = InFlight(rng, format)

    async def asend(given: list[Any]) -> Any:
        return (await sends.context.aon_request(sends.request(given), api=format, session="s"))[sends.key]

    def send(given: list[Any]) -> Any:
        return sends.context.on_request(sends.request(given), api=format, session="s")[sends.key]

    for end in made.requests:
        given = made.messages[:end]
        sent = asyncio.run(asend(given)) if is_async and rng.random() < 0.1 else send(given)
        # A check takes longer than a request.
        if rng.random() < 0.3 or end == made.requests[-1]:
            sends.check(given, sent)


@pytest.mark.parametrize("format", FORMATS)
def test_loops_have_all_that_a_law_is_about(format: FormatName) -> None:
    made = [loop(random.Random(seed), format, steps=20) for seed in range(20)]
    kinds = sum((one.repairs for one in made), Counter[str]())
    assert min(kinds[kind] for kind in ("orphan_result", "missing_result", "late_result")) > 20
    assert sum(one.is_clear for one in made) > 10
