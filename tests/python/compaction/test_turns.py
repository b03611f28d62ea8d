"""Where turns begin, and what happens to results that are missing, late or at the wrong place."""

from collections.abc import Sequence
from typing import Any

import pytest
from conversations import FORMATS, FormatName
from strict import check

from wirecall import compact_context
from wirecall.compaction import CompactionPlan, Compress, compact_messages, plan_compaction

Json = dict[str, Any]
USER = {"role": "user", "content": "go"}


def answer(format: FormatName, *ids: str) -> list[Json]:
    """An answer with these calls."""
    if format == "chat":
        function = {"name": "shelf", "arguments": "{}"}
        calls = [{"id": id, "type": "function", "function": function} for id in ids]
        return [{"role": "assistant", "content": None, "tool_calls": calls}]
    if format == "responses":
        return [{"type": "function_call", "call_id": id, "name": "shelf", "arguments": "{}"} for id in ids]
    blocks = [{"type": "tool_use", "id": id, "name": "shelf", "input": {}} for id in ids]
    return [{"role": "assistant", "content": blocks}]


def results(format: FormatName, *ids: str) -> list[Json]:
    if format == "chat":
        return [{"role": "tool", "tool_call_id": id, "content": f"of {id}"} for id in ids]
    if format == "responses":
        return [{"type": "function_call_output", "call_id": id, "output": f"of {id}"} for id in ids]
    blocks = [{"type": "tool_result", "tool_use_id": id, "content": f"of {id}"} for id in ids]
    return [{"role": "user", "content": blocks}] if blocks else []


def loop(format: FormatName, steps: int, lost: Sequence[str] = ()) -> list[Json]:
    """Each step has two calls."""
    messages = [USER, USER]
    for step in range(steps):
        ids = [f"{step}a", f"{step}b"]
        messages += answer(format, *ids)
        messages += results(format, *(id for id in ids if id not in lost))
    return messages


def planned(format: FormatName, messages: list[Any], keep: int = 1000) -> tuple[CompactionPlan, list[Any]]:
    plan = plan_compaction(messages, keep_recent_turns=keep, format=format)
    made = [*plan.system, *plan.to_summarize, *plan.to_keep]
    check(made, format)
    return plan, made


def kinds(plan: CompactionPlan) -> list[tuple[str, int, str]]:
    return [repair[:3] for repair in plan.repairs]


# Results that are missing or late --------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_a_missing_result_does_not_merge_later_turns(format: FormatName) -> None:
    messages = loop(format, 5, lost=["1b"])
    plan, made = planned(format, messages, keep=2)
    assert plan.turns == 7
    assert [repair[0] for repair in plan.repairs] == ["missing_result"]
    assert plan.repairs[0].id == "1b"
    texts = [str(message) for message in made]
    assert [at for at, text in enumerate(texts) if "No result of shelf" in text]
    assert sorted(texts, key=step_of) == texts
    shorter = compact_messages(messages, lambda asked: "S", keep_recent_turns=2, format=format)
    assert shorter[1:] == messages[-len(shorter) + 1 :]


def step_of(text: str) -> int:
    """The step that a message belongs to."""
    return next((step for step in range(9) if f"'{step}a'" in text or f"'{step}b'" in text), -1)


@pytest.mark.parametrize("format", FORMATS)
def test_a_missing_result_does_not_make_a_list_longer_than_its_limit(format: FormatName) -> None:
    options: Json = {"max_tokens": 300, "max_summary_tokens": 20, "count": lambda text: len(text) / 4}
    for lost in ((), ("1b",), ("1a", "1b", "2a", "7b", "39a")):
        plan = plan_compaction(loop(format, 40, lost), format=format, **options)
        # In Responses, calls of two steps are one answer if no result is between them.
        assert plan.turns == 42 - ({"1a", "1b"} <= {*lost} and format == "responses")
        assert 8 < plan.kept_turns < 20


@pytest.mark.parametrize("format", FORMATS)
def test_a_missing_result_does_not_fill_the_window(format: FormatName) -> None:
    def summaries(lost: Sequence[str]) -> int:
        asked: list[Any] = []

        def summarize(given: Any) -> str:
            asked.append(given)
            return "S"

        context = compact_context(
            context_window=300,
            compress=Compress(summarize, keep_share=0.5),
            count=lambda text: len(text) / 4,
        )
        whole = loop(format, 40, lost)
        key = "input" if format == "responses" else "messages"
        for end in range(2, len(whole) + 1):
            sent = context.on_request({key: whole[:end]}, api=format)[key]
            assert len(sent) < 60
        check(sent, format)
        assert sent[-1] is whole[-1]
        return len(asked)

    assert summaries(["1b"]) == summaries([])


@pytest.mark.parametrize("format", FORMATS)
def test_late_results_are_moved_to_their_calls(format: FormatName) -> None:
    messages = [
        USER,
        *answer(format, "1", "2"),
        *results(format, "1"),
        *answer(format, "3", "4"),
        *results(format, "2", "3"),
        USER,
        *results(format, "4"),
    ]
    plan, made = planned(format, messages)
    late = ("late_result", "late_result")
    assert tuple(repair.kind for repair in plan.repairs) == late
    assert [repair.id for repair in plan.repairs] == ["2", "4"]
    expected = [USER, *answer(format, "1", "2"), *results(format, "1", "2")]
    expected += [*answer(format, "3", "4"), *results(format, "3", "4"), USER]
    assert made == expected
    assert plan.turns == 4


@pytest.mark.parametrize("format", FORMATS)
def test_results_without_a_call_at_the_beginning_are_dropped(format: FormatName) -> None:
    plan, made = planned(format, [*results(format, "1"), USER, *answer(format, "1"), *results(format, "1")])
    assert [repair.kind for repair in plan.repairs] == ["orphan_result"]
    assert made == [USER, *answer(format, "1"), *results(format, "1")]


@pytest.mark.parametrize("format", FORMATS)
def test_a_result_before_its_call_is_dropped(format: FormatName) -> None:
    messages = [USER, *results(format, "1"), *answer(format, "1", "2"), *results(format, "2"), USER]
    plan, made = planned(format, messages)
    assert {repair.kind for repair in plan.repairs} == {"orphan_result", "missing_result"}
    assert str(made).count("No result of shelf") == 1


@pytest.mark.parametrize("format", FORMATS)
def test_a_repeated_call_is_a_turn_of_its_own(format: FormatName) -> None:
    """As if a host had stored an answer twice: two calls with one id must not wait at once."""
    plan, _ = planned(format, [USER, *answer(format, "1"), *answer(format, "1"), *results(format, "1"), USER])
    assert plan.turns == 4
    assert [repair.kind for repair in plan.repairs] == ["missing_result"]


# Responses -------------------------------------------------------------------------------------------------


def reasoning(id: str) -> Json:
    return {"type": "reasoning", "id": id, "summary": []}


def test_reasoning_stays_with_its_item_whatever_comes_between() -> None:
    call, other = answer("responses", "1", "2")
    result, late = results("responses", "1", "2")
    said = {"role": "assistant", "content": "so"}
    messages = [USER, reasoning("a"), call, other, result, reasoning("b"), late, said]
    plan, made = planned("responses", messages, keep=1)
    assert made == [USER, reasoning("a"), call, other, result, late, reasoning("b"), said]
    assert plan.to_keep == [reasoning("b"), said]
    assert kinds(plan) == [("late_result", 6, "2")]
    # Also if the call's answer is still open.
    messages = [USER, reasoning("a"), call, reasoning("b"), result, other, late]
    plan, made = planned("responses", messages, keep=1)
    assert made == [USER, reasoning("a"), call, result, reasoning("b"), other, late]
    assert plan.to_keep == [reasoning("b"), other, late]


def test_calls_whose_results_are_no_texts_wait_too() -> None:
    asks: list[Json] = [
        {"type": "computer_call", "call_id": "1", "id": "cu", "action": {"type": "screenshot"}},
        {"type": "mcp_approval_request", "id": "2", "name": "f", "arguments": "{}", "server_label": "s"},
        {"type": "custom_tool_call", "call_id": "3", "name": "g", "input": "x"},
    ]
    gives: list[Json] = [
        {"type": "computer_call_output", "call_id": "1", "output": {"type": "computer_screenshot"}},
        {"type": "mcp_approval_response", "approval_request_id": "2", "approve": True},
        {"type": "custom_tool_call_output", "call_id": "3", "output": "y"},
    ]
    more = [*answer("responses", "4"), *results("responses", "4")]
    plan, made = planned("responses", [USER, *asks, gives[1], *more, gives[0], *gives[2:]], keep=1)
    assert plan.turns == 3
    assert [repair[:3] for repair in plan.repairs] == [("late_result", 7, "1"), ("late_result", 8, "3")]
    assert made == [USER, *asks, gives[1], gives[0], gives[2], *more]
    # Only a text can have a placeholder.
    plan, made = planned("responses", [USER, *asks, gives[1], *more], keep=1)
    assert [repair[:3] for repair in plan.repairs] == [("missing_result", 3, "3")]
    assert plan.to_keep == more


# Messages --------------------------------------------------------------------------------------------------


def text(said: str) -> Json:
    return {"type": "text", "text": said}


def test_consecutive_answers_may_have_their_results_together() -> None:
    messages = [USER, *answer("messages", "1"), *answer("messages", "2"), *results("messages", "1", "2")]
    plan, made = planned("messages", [*messages, *answer("messages", "3"), *results("messages", "3")])
    assert plan.turns == 3
    assert plan.repairs == ()
    assert made[:4] == messages


def test_results_after_what_the_user_says_are_late() -> None:
    [first], [second] = results("messages", "1"), results("messages", "2")
    expected = {"role": "user", "content": [*first["content"], *second["content"], text("and")]}
    for message in (
        [{"role": "user", "content": [*first["content"], text("and")]}, second],
        [{"role": "user", "content": [*first["content"], text("and"), *second["content"]]}],
    ):
        messages = [USER, *answer("messages", "1", "2"), *message, *answer("messages", "3")]
        plan, made = planned("messages", messages)
        assert [repair[::2] for repair in plan.repairs] == [("late_result", "2")]
        assert made[2] == expected
        assert plan.turns == 3
    message = {"role": "user", "content": [text("and"), *first["content"]]}
    plan, made = planned("messages", [USER, *answer("messages", "1"), message, *answer("messages", "2")])
    assert made[2:4] == [first, {"role": "user", "content": [text("and")]}]
    assert kinds(plan) == [("late_result", 2, "1")]


def test_a_paused_answer_stays_one_turn_around_a_late_result() -> None:
    asks = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    paused = [{"role": "assistant", "content": [block]} for block in (asks, found)]
    before = [USER, *answer("messages", "1", "2"), *results("messages", "1"), USER]
    plan, made = planned("messages", [*before, paused[0], *results("messages", "2"), paused[1]], keep=1)
    assert plan.to_keep == paused
    assert kinds(plan) == [("late_result", 5, "2")]
    assert len(made) == 6
