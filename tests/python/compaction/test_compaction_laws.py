"""What holds of every conversation, in each format."""

import copy
import json
import random
from collections import Counter
from typing import Any

import pytest
from conversations import FORMATS, Dumped, FormatName, as_json, conversation, numbers, plain
from hypothesis import given
from hypothesis import strategies as st
from server import chat, messages, responses
from strict import InvalidError, check

from law import law
from wirecall.compaction import compact_messages, plan_compaction
from wirecall.compaction._summary import INTRODUCTION, OPENING

pytestmark = pytest.mark.laws

FEW = law(100)
SEEDS = st.integers(0, 2**32)
SUMMARY = "The user asked; the model answered."


def summarize(asked: list[dict[str, str]]) -> str:
    return SUMMARY


def options(rng: random.Random) -> dict[str, Any]:
    """What is kept: by turns, by tokens, or both."""
    chosen: dict[str, Any] = {}
    if rng.random() < 0.6:
        chosen["keep_recent_turns"] = rng.choice((0, 1, 2, 2.5, 10, 50, 150, 1000))
    if rng.random() < 0.5 or not chosen:
        chosen |= {
            "max_tokens": rng.choice((1, 2000, 8000, 30000, 10**6)),
            "count": len,
            "max_summary_tokens": rng.choice((100, 1000)),
        }
    return chosen


def size(value: Any) -> int:
    return len(as_json(value))


def own(value: Any) -> list[str]:
    """Numbers of messages and results, not of what they belong to."""
    return [number for number in numbers(value) if number.isdigit()]


@FEW
@pytest.mark.parametrize("format", FORMATS)
@given(seed=SEEDS)
def test_every_result_is_valid(format: FormatName, seed: int) -> None:
    rng = random.Random(seed)
    made = conversation(rng, format)
    chosen = options(rng)
    plan = plan_compaction(made.messages, format=format, **chosen)
    check([*plan.system, *plan.to_summarize, *plan.to_keep], format)
    for merge in (False, True):
        result = compact_messages(
            made.messages,
            summarize,
            **chosen,
            tool_result_stub_threshold=9,
            merge_summary=merge,
            format=format,
        )
        if result is not made.messages:
            check(result, format)


@FEW
@pytest.mark.parametrize("format", FORMATS)
@given(seed=SEEDS)
def test_a_tame_conversation_is_taken_by_the_strict_server(format: FormatName, seed: int) -> None:
    rng = random.Random(seed)
    made = conversation(rng, format, tame=True, pending=False)
    result = compact_messages(made.messages, summarize, keep_recent_turns=rng.randrange(100), format=format)
    assert result is not made.messages
    tools = [{"name": "look", "input_schema": {"type": "object"}}]
    if format == "chat":
        chat.check({"model": "m", "messages": result})
    elif format == "responses":
        responses.check({"model": "m", "input": result})
    else:
        sides: list[Any] = []
        for message in result:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if sides and sides[-1]["role"] == message["role"]:
                sides[-1]["content"].extend(blocks)
            else:
                sides.append({"role": message["role"], "content": list(blocks)})
        messages.check({"model": "m", "max_tokens": 9, "messages": sides, "tools": tools})


@FEW
@pytest.mark.parametrize("format", FORMATS)
@given(seed=SEEDS)
def test_a_plan_holds_everything_once_and_names_its_repairs(format: FormatName, seed: int) -> None:
    rng = random.Random(seed)
    made = conversation(rng, format)
    plan = plan_compaction(made.messages, format=format, **options(rng))
    held = Counter(own([*plan.system, *plan.to_summarize, *plan.to_keep]))
    assert held == Counter(number for number in own(made.messages) if number not in made.orphans)
    assert Counter(repair.kind for repair in plan.repairs) == +made.repairs
    for repair in plan.repairs:
        assert repair.id in as_json(made.messages[repair.at])


@FEW
@pytest.mark.parametrize("format", FORMATS)
@given(seed=SEEDS)
def test_what_is_kept_is_the_same(format: FormatName, seed: int) -> None:
    """The very objects; where results were moved, dropped or made up, the same JSON but for these."""
    rng = random.Random(seed)
    made = conversation(rng, format, tame=rng.random() < 0.3)
    plan = plan_compaction(made.messages, format=format, **options(rng))
    given_ = {id(message) for message in made.messages}
    changed = [message for message in plan.to_keep if id(message) not in given_]
    assert all(any(message is one for one in made.messages) for message in plan.system)
    assert len(changed) <= 3 * len(plan.repairs)
    for message in changed:
        assert "tool_result" in as_json(message) or "No result of look" in as_json(message) or plan.repairs
    if not plan.repairs:
        assert changed == []
        place = {id(message): at for at, message in enumerate(made.messages)}
        places = [place[id(message)] for message in plan.to_keep]
        assert places == sorted(places)
        others = [one for one in made.messages if not any(one is system for system in plan.system)]
        kept = others[len(others) - len(plan.to_keep) :]
        assert all(one is other for one, other in zip(plan.to_keep, kept, strict=True))
    parts = [plain(part) for part in blocks(made.messages)]
    for part in blocks(changed):
        assert plain(part) in parts or "No result of look" in as_json(part)


def blocks(given: list[Any]) -> list[Any]:
    """What messages hold: the content of Anthropic's, all others as they are."""
    found: list[Any] = []
    for message in given:
        content = plain(message).get("content")
        found += content if isinstance(content, list) else [message]
    return found


@FEW
@pytest.mark.parametrize("format", FORMATS)
@given(seed=SEEDS)
def test_tokens_shrink_where_what_was_summarised_outweighs_what_came(format: FormatName, seed: int) -> None:
    rng = random.Random(seed)
    made = conversation(rng, format)
    chosen = options(rng)
    plan = plan_compaction(made.messages, format=format, **chosen)
    result = compact_messages(made.messages, summarize, **chosen, format=format)
    added = size(INTRODUCTION) + size(SUMMARY) + 100 + 200 * len(plan.repairs)
    if size(plan.to_summarize) > added + 200 * len(plan.repairs):
        assert size(result) < size(made.messages)
    if "max_tokens" in chosen and plan.kept_turns > 1:
        # A list that needs no summary comes back with its orphans, which do not count.
        left = [*plan.system, *plan.to_keep] if result is made.messages else result
        assert said(left) <= chosen["max_tokens"]


def said(given: list[Any]) -> int:
    """Characters of a list that a model reads, at most: counted without the package's own counter."""
    texts: list[str] = []

    def read(value: Any, key: str = "") -> None:
        if isinstance(value, dict):
            if value.get("type") in ("image", "image_url", "input_image"):
                texts.append("x" * 1000)
            elif key == "input":
                texts.append(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
            else:
                for name, inner in value.items():
                    read(inner, name)
        elif isinstance(value, list):
            for inner in value:
                read(inner, key)
        elif isinstance(value, str) and key in ("content", "text", "name", "arguments", "output", "thinking"):
            texts.append(value)

    read(plain(given))
    return sum(map(len, texts)) + 4 * len(given)


@FEW
@pytest.mark.parametrize("format", FORMATS)
@given(seed=SEEDS)
def test_compacting_again_is_nothing_until_there_are_new_turns(format: FormatName, seed: int) -> None:
    rng = random.Random(seed)
    made = conversation(rng, format, pending=False)
    chosen = {**options(rng), "format": format, "merge_summary": rng.random() < 0.3}
    before: list[Any] = made.messages
    for _ in range(3):
        asked: list[str] = []
        summary = f"{SUMMARY} {rng.random()}{' and more' * rng.choice((0, 1, 100))}"

        def answer(given: list[dict[str, str]], asked: list[str] = asked, summary: str = summary) -> str:
            asked.append(as_json(given[:-1]))
            return summary

        after = compact_messages(before, answer, **chosen)
        assert len(asked) == (after is not before)
        assert as_json(after).count(json.dumps(OPENING)[1:-1]) <= 1
        if asked:
            earlier = as_json(before).count(json.dumps(OPENING)[1:-1])
            assert asked[0].count(json.dumps(OPENING)[1:-1]) == earlier
        assert compact_messages(after, answer, **chosen) is after
        assert len(asked) <= 1
        if asked:
            plan = plan_compaction(after, keep_recent_turns=0, format=format)
            assert own([*plan.system, *plan.to_summarize, *plan.to_keep]) == own(after)
            if plan.turns > 1 and len(summary) <= chosen.get("max_summary_tokens", 0):
                assert said(after) <= chosen["max_tokens"]
        more = conversation(rng, format, turns=rng.choice((1, 5, 60)), pending=False, tame=True).messages
        before = [*after, *(one for one in more if plain(one).get("role") not in ("system", "developer"))]


@FEW
@pytest.mark.parametrize("format", FORMATS)
@given(seed=SEEDS)
def test_nothing_given_is_mutated(format: FormatName, seed: int) -> None:
    rng = random.Random(seed)
    made = conversation(rng, format)
    before, objects = copy.deepcopy(made.messages), list(made.messages)
    compact_messages(
        made.messages,
        summarize,
        **options(rng),
        tool_result_stub_threshold=5,
        merge_summary=rng.random() < 0.5,
        format=format,
    )
    assert all(one is other for one, other in zip(made.messages, objects, strict=True))
    assert as_json(made.messages) == as_json(before)


@pytest.mark.parametrize("format", FORMATS)
def test_conversations_have_all_that_a_law_is_about(format: FormatName) -> None:
    """Or a law would hold of nothing."""
    made = [conversation(random.Random(seed), format) for seed in range(20)]
    kinds = sum((one.repairs for one in made), Counter[str]())
    assert min(kinds[kind] for kind in ("orphan_result", "missing_result", "late_result")) > 20
    refused = 0
    for one in made:
        try:
            check(one.messages, format)
        except InvalidError:
            refused += 1
        assert any(isinstance(message, Dumped) for message in one.messages)
    assert refused == 20
    for seed in range(20):
        check(conversation(random.Random(seed), format, tame=True).messages, format)
