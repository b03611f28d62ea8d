"""How many turns of a stored conversation are kept, and what is counted to find out."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from durable_support import CALL, Json, chat, hello, never

from wirecall.compaction import (
    CompactionPlan,
    MixedFormatsError,
    compact_messages,
    plan_compaction,
)
from wirecall.compaction._counting import estimate, tokens
from wirecall.compaction._summary import OPENING
from wirecall.tokens import VocabularyError


def kept(messages: list[Any], **options: Any) -> int:
    return plan_compaction(messages, **{"count": len, "max_summary_tokens": 100, **options}).kept_turns


def test_as_many_turns_are_kept_as_there_are_tokens_for() -> None:
    messages = [{"role": ("user", "assistant")[at % 2], "content": "x" * 96} for at in range(20)]
    assert tokens(messages, len) == 2000
    assert kept(messages, max_tokens=2000) == 20
    assert kept(messages, max_tokens=1999) < 20
    beside = 100 + tokens([compact_messages(messages, lambda _: "!a", keep_recent_turns=0)[0]], len) - 2
    assert kept(messages, max_tokens=beside + 700) == 7
    assert kept(messages, max_tokens=beside + 699) == 6
    assert kept(messages, max_tokens=1) == 1
    assert kept(messages, max_tokens=beside + 700, keep_recent_turns=3) == 3
    assert kept(messages, max_tokens=beside + 700, keep_recent_turns=9) == 7
    system = {"role": "system", "content": "x" * 96}
    assert kept([system, *messages], max_tokens=beside + 700) == 6


def test_the_providers_count_scales_the_estimate() -> None:
    messages = [{"role": "user", "content": "x" * 100} for _ in range(10)]
    assert kept(messages, max_tokens=1000, usage=1000, count=None) == 10
    assert kept(messages, max_tokens=1000, usage=1001, count=None) < 10
    assert kept(messages, max_tokens=1000, usage=2000, count=None) < kept(
        messages, max_tokens=1000, usage=1200, count=None
    )


def test_the_providers_count_is_of_a_summary_too() -> None:
    summary = {"role": "user", "content": f"{OPENING}\n{'y' * 3000}"}
    messages = [summary, *({"role": "user", "content": "x" * 100} for _ in range(10))]
    usage = tokens(messages, estimate)
    assert kept(messages, max_tokens=400, usage=usage, count=None) == kept(
        messages, max_tokens=400, count=estimate
    )


@pytest.mark.parametrize("length", [10, 3000])
def test_a_list_that_was_compacted_is_left_alone_however_long_its_summary(length: int) -> None:
    messages = [{"role": "user", "content": "x" * 96} for _ in range(20)]
    chosen: Json = {"max_tokens": 1000, "count": len, "max_summary_tokens": 100}
    result = compact_messages(messages, lambda _: "y" * length, **chosen)
    assert len(result) < 20
    assert compact_messages(result, never, **chosen) is result


def test_each_text_is_counted_once_and_no_more_than_decide() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    messages = [{"role": "user", "content": f"text {at}"} for at in range(1000)]
    plan_compaction(messages, max_tokens=2000, count=count, max_summary_tokens=100)
    assert len(counted) == len(set(counted)) < 200
    counted.clear()
    plan_compaction(messages, max_tokens=100_000, count=count, max_summary_tokens=100)
    assert len(counted) == len(set(counted)) == 1001


def test_a_message_of_late_results_is_read_as_often_for_many_turns_as_for_few() -> None:
    class Blocks(list[Any]):
        read = 0

        def __iter__(self) -> Iterator[Any]:
            self.read += 1
            return super().__iter__()

    def plan(turns: int) -> tuple[int, CompactionPlan]:
        ids = [f"call_{number}" for number in range(turns)]
        messages: list[Any] = []
        for id in ids:
            call = {"type": "tool_use", "id": id, "name": "f", "input": {}}
            messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": "go on"}]
        late = Blocks({"type": "tool_result", "tool_use_id": id, "content": id} for id in ids)
        messages.append({"role": "user", "content": late})
        made = plan_compaction(messages, keep_recent_turns=1)
        return late.read, made

    few, many = plan(3), plan(30)
    assert few[0] == many[0]
    results = [one["content"][0] for one in many[1].to_summarize[1::3]]
    assert [one["content"] for one in results] == [f"call_{number}" for number in range(30)]


def test_what_must_be_said() -> None:
    with pytest.raises(TypeError, match=r"keep_recent_turns=…, max_tokens=…"):
        plan_compaction(chat())
    for wrong in (0, -1, float("nan"), "9", True, None):
        if wrong is not None:
            with pytest.raises(ValueError, match="max_tokens is"):
                plan_compaction(chat(), max_tokens=wrong)  # type: ignore[arg-type]
            with pytest.raises(ValueError, match="usage is"):
                plan_compaction(chat(), max_tokens=9, usage=wrong)  # type: ignore[arg-type]
    with pytest.raises(MixedFormatsError):
        compact_messages([CALL, {"type": "reasoning"}], hello, keep_recent_turns=0)


def test_without_a_tokenizer_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(VocabularyError, match=r"pip install '\.\[tokens\]' in a clone"):
        plan_compaction(chat(), max_tokens=10)
    assert plan_compaction([], max_tokens=10).turns == 0


def test_a_limit_that_is_hardly_more_than_a_summary_may_have_keeps_the_last_turn() -> None:
    limits: Json = {"max_tokens": 2100, "count": len}
    long = [{"role": "user", "content": "word " * 40}] * 20
    assert plan_compaction(long, **limits).kept_turns == 1
    assert plan_compaction(long, **limits, max_summary_tokens=300).kept_turns > 5


# Both limits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("earlier", ["", "They met.", "They met. " * 100])
@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("factor", [None, 0.5, 2])
def test_turns_that_are_kept_fit_beside_the_summary(earlier: str, merge: bool, factor: float | None) -> None:
    def options(messages: list[Any]) -> Json:
        if factor is None:
            return limits
        return {**limits, "max_tokens": factor * 1300, "usage": factor * tokens(messages, len)}

    limits: Json = {"keep_recent_turns": 3, "max_tokens": 1300, "max_summary_tokens": 100, "count": len}
    limits["max_summary_tokens"] *= factor or 1
    summary = [{"role": "user", "content": f"{OPENING}\n{earlier}"}] if earlier else []
    messages = [*summary, *({"role": "user", "content": "x" * size} for size in (4, 4, 400, 300, 300))]
    result = compact_messages(messages, hello, **options(messages), merge_summary=merge)
    assert tokens(result, len) <= 1300
    assert plan_compaction(result, **options(result)).kept_turns == 2
    assert compact_messages(result, never, **options(result), merge_summary=merge) is result


def test_an_earlier_summary_that_is_too_long_is_replaced() -> None:
    long = {"role": "user", "content": f"{OPENING}\n{'y' * 9000}"}
    messages = [long, *({"role": "user", "content": "x"} for _ in range(5))]
    chosen: Json = {"max_tokens": 1000, "max_summary_tokens": 100, "count": len}
    result = compact_messages(messages, hello, **chosen)
    assert tokens(result, len) < 1000
    assert result[1:] == messages[2:]
