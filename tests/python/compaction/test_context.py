"""Summaries in flight: when they are made, what they replace, and what happens on failures."""

import copy
from typing import Any

import pytest
from context_support import FOUR, SUMMARY, Json, Summarizer, send, talk, words
from reference_cases import case

from wirecall import compact_context
from wirecall.compaction import Clear, Compress, Prune, Truncate
from wirecall.compaction._compressor import NOTICE
from wirecall.compaction._counting import tokens
from wirecall.compaction._summary import INTRODUCTION


def test_case_20_failures() -> None:
    given = case("c20")
    fails = Summarizer(*[RuntimeError("down")] * 9)
    context = compact_context(context_window=given["options"]["contextWindow"], compress=fails)
    for expected in given["expected"]["trace"]:
        context.feed(given["options"]["fed_usage_before_each_call"])
        made = send(context, given["messages"])
        found = {
            "result_len": len(made),
            "unchanged": made is given["messages"],
            "model_calls": len(fails.asked),
        }
        assert found == expected


def test_a_notice_stands_for_what_could_not_be_summarised() -> None:
    context = compact_context(context_window=100, compress=Summarizer(RuntimeError("down")))
    context.feed(1000)
    made = send(context, FOUR)
    assert made == [{"role": "user", "content": NOTICE}, FOUR[3]]
    assert made[1] is FOUR[3]


@pytest.mark.parametrize("blank", ["", None, "  \n", "N/A", "<analysis>hm</analysis>", 7])
def test_an_empty_summary_is_a_failure(blank: Any) -> None:
    context = compact_context(context_window=100, compress=Summarizer(blank))
    context.feed(1000)
    assert send(context, FOUR)[0]["content"] == NOTICE


def test_reset_closes_the_breaker_and_success_starts_counting_anew() -> None:
    down = RuntimeError("down")
    summarize = Summarizer(down, down, "They counted.", down, down, down, "At last.")
    context = compact_context(context_window=100, compress=summarize)
    lists = [talk(*map(str, range(size))) for size in range(4, 40, 2)]

    def fire() -> int:
        """How often the summarizer was asked for two requests."""
        before = len(summarize.asked)
        messages = lists.pop(0)
        for _ in range(2):
            context.feed(1000)
            send(context, messages)
        return len(summarize.asked) - before

    assert [fire() for _ in range(9)] == [1, 1, 1, 1, 1, 1, 0, 0, 0]
    context.feed(1000, session="other")
    context.reset(session="other")
    assert fire() == 0
    context.reset()
    context.feed(1000)
    assert send(context, FOUR)[0]["content"].endswith("At last.")


def test_a_summary_is_remembered_with_what_it_stands_for() -> None:
    summarize = Summarizer()
    context = compact_context(context_window=100, compress=summarize)
    context.feed(1000)
    assert send(context, FOUR) == [SUMMARY, FOUR[3]]
    longer = [*FOUR, *talk("5", "6")]
    for _ in range(3):
        made = send(context, longer)
        assert made == [SUMMARY, *longer[3:]]
        assert all(one is other for one, other in zip(made[1:], longer[3:], strict=True))
    # Only if these are too many, more is summarised, with the summary that there was.
    context.feed(1000)
    send(context, longer)
    assert len(summarize.asked) == 2
    assert "They counted." in summarize.asked[1][0]["content"]
    assert [one["content"] for one in summarize.asked[1][1:-1]] == ["4", "5"]
    # What begins otherwise has no summary.
    edited = [{"role": "user", "content": "one"}, *longer[1:]]
    assert send(context, edited) is edited
    # As long as it was summarised, it is as it is: nothing would be kept.
    assert send(context, longer[:3]) == longer[:3]


def test_what_is_edited_while_a_summary_is_made_is_not_what_it_stands_for() -> None:
    messages = copy.deepcopy(FOUR)

    def summarize(asked: Any) -> str:
        messages[0]["content"] = "edited"
        return "They counted."

    context = compact_context(context_window=100, compress=summarize)
    context.feed(1000)
    assert context.on_request({"messages": messages}, api="chat")["messages"] == [SUMMARY, FOUR[3]]
    assert send(context, FOUR) == [SUMMARY, FOUR[3]]
    assert send(context, messages) is messages


def test_what_the_store_gives_back_in_another_order_is_the_same() -> None:
    context = compact_context(context_window=100, compress=Summarizer())
    context.feed(1000)
    send(context, FOUR)
    turned = [dict(reversed(one.items())) for one in FOUR]
    assert send(context, turned) == [SUMMARY, turned[3]]


def test_system_messages_stay_wherever_they_stand() -> None:
    context = compact_context(context_window=100, compress=Summarizer())
    system = [{"role": "system", "content": "a"}, {"role": "developer", "content": "b"}]
    messages = [system[0], FOUR[0], system[1], *FOUR[1:]]
    context.feed(1000)
    expected = [*system, SUMMARY, FOUR[3]]
    assert send(context, messages) == expected
    assert send(context, messages) == expected


def test_a_summary_that_is_stored_is_summarised_again() -> None:
    summarize = Summarizer()
    context = compact_context(context_window=100, compress=summarize)
    stored = {"role": "user", "content": f"{INTRODUCTION}They greeted."}
    context.feed(1000)
    assert send(context, [stored, *FOUR]) == [SUMMARY, FOUR[3]]
    assert "They greeted." in summarize.asked[0][0]["content"]


def test_what_the_summarizer_is_told() -> None:
    asked = Summarizer()
    compress = Compress(
        asked, instructions="In French.", tool_result_stub_threshold=10, max_summary_tokens=99
    )
    context = compact_context(context_window=200, compress=compress)
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        FOUR[0],
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "x" * 11},
        FOUR[2],
    ]
    context.feed(1000)
    send(context, messages)
    *others, last = asked.asked[0]
    assert "xxx" not in str(others)
    assert "In French." in last["content"]
    assert "50 tokens" in last["content"]  # a quarter of the window


def test_a_failure_behind_a_summary_keeps_it() -> None:
    context = compact_context(context_window=100, compress=Summarizer("They counted.", ""))
    context.feed(1000)
    send(context, FOUR)
    longer = [*FOUR, *talk("5", "6")]
    send(context, longer)
    context.feed(1000)
    assert send(context, longer) == [SUMMARY, {"role": "user", "content": NOTICE}, longer[-1]]
    # The check that is left out.
    assert send(context, longer) == [SUMMARY, *longer[3:]]


def test_what_was_fed_counts_once_but_stays_while_a_check_is_left_out() -> None:
    summarize = Summarizer("", "", "")
    context = compact_context(context_window=100, compress=summarize)
    context.feed(1000)
    assert send(context, FOUR) is not FOUR
    context.feed(1000)
    assert send(context, FOUR) is FOUR  # left out
    assert send(context, FOUR) is not FOUR  # what was fed before that
    assert send(context, FOUR) is FOUR  # left out
    assert send(context, FOUR) is FOUR  # nothing is fed
    assert len(summarize.asked) == 2
    context.feed(50)
    assert send(context, FOUR) is FOUR


def test_nothing_is_summarised_where_only_the_last_turn_is_there() -> None:
    summarize = Summarizer()
    context = compact_context(context_window=1, compress=summarize, count=words)
    for messages in (FOUR[:1], [{"role": "system", "content": "a b c"}, FOUR[0]], []):
        assert send(context, messages) is messages
    assert not summarize.asked


@pytest.mark.parametrize(
    ("usage", "count", "fed", "fires"),
    [
        ("max", words, None, True),
        ("max", words, 5, True),
        ("fed", words, 5, False),
        ("fed", words, None, True),
        ("fed", words, 500, True),
        ("own", words, 5, True),
        ("own", words, 500, True),
        ("max", lambda text: 0, 500, True),
        ("fed", lambda text: 0, 500, True),
        ("own", lambda text: 0, 500, False),
        # Without a counter, the estimate counts if nothing is fed.
        ("max", None, None, True),
        ("max", None, 5, False),
        ("own", None, 5, True),
    ],
)
def test_what_is_compared_with_the_window(usage: Any, count: Any, fed: int | None, fires: bool) -> None:
    context = compact_context(context_window=100, compress=Summarizer(), count=count, usage=usage)
    if fed is not None:
        context.feed(fed)
    messages = talk(*["some words " * 20] * 6)
    assert (send(context, messages) is not messages) == fires


def test_with_a_counter_the_tail_fills_its_share_of_the_window() -> None:
    messages = talk(*["word " * 6] * 200)  # ten tokens each, with the four around
    beside = words(INTRODUCTION) + 4
    for options, kept in (
        ({"keep_share": 1.0}, 75 - -(-beside // 10)),  # a summary may have a quarter of the window
        ({"keep_share": 1.0, "max_summary_tokens": 50}, 95 - -(-beside // 10)),
        ({"keep_share": 0.5}, 50),
        ({"keep_share": 0.1049}, 10),
        ({"keep_share": 0.001}, 1),
        ({"keep_share": 0.001, "keep_turns": 4}, 4),
    ):
        compress = Compress(Summarizer(), **options)
        context = compact_context(context_window=1000, compress=compress, count=words)
        assert send(context, messages)[1:] == messages[-kept:]


def test_without_a_counter_the_last_turns_stay() -> None:
    context = compact_context(context_window=100, compress=Compress(Summarizer(), keep_turns=2))
    context.feed(1000)
    assert send(context, FOUR)[1:] == FOUR[2:]


def test_a_counter_is_scaled_by_what_was_fed() -> None:
    messages = talk(*["word " * 6] * 60)
    compress = Compress(Summarizer(), keep_share=0.5)
    context = compact_context(context_window=1000, compress=compress, count=words)
    context.feed(1200)  # twice of what we count
    assert send(context, messages)[1:] == messages[-25:]


def test_the_system_text_and_the_tools_count() -> None:
    tool = {"type": "function", "function": {"name": "f", "description": "word " * 200}}
    for beside in ({"tools": [tool]}, {"system": "word " * 200}, {"instructions": "word " * 200}):
        context = compact_context(context_window=100, compress=Summarizer(), count=words)
        params: Json = {"messages": FOUR, **beside}
        assert len(context.on_request(params, api="chat")["messages"]) == 2


def test_behind_a_summary_a_counter_still_looks() -> None:
    summarize = Summarizer()
    context = compact_context(context_window=100, compress=summarize, count=words)
    messages: list[Any] = []
    for number in range(300):
        messages += talk("word " * (number % 30), "word " * (number % 7))
        made = send(context, messages)
        assert sum(words(one["content"]) + 4 for one in made) <= 100
    assert len(summarize.asked) > 10


def test_histories_are_repaired_where_they_are_compressed() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    orphan = {"role": "tool", "tool_call_id": "c0", "content": "lost"}
    asks = {"role": "assistant", "content": None, "tool_calls": [call]}
    messages = [*FOUR, orphan, asks]
    stored: list[Any] = []
    context = compact_context(context_window=100, compress=Summarizer(), on_compress=stored.append)
    assert send(context, messages) is messages
    context.feed(1000)
    placeholder = {"role": "tool", "tool_call_id": "c1", "content": "[No result of f is available]"}
    assert send(context, messages) == [SUMMARY, asks, placeholder]
    # Where it is stored, the result may still come.
    assert stored[0].messages == [SUMMARY, asks]
    answer = {"role": "tool", "tool_call_id": "c1", "content": "r"}
    assert send(context, [*messages, answer]) == [SUMMARY, asks, answer]


def test_the_order_is_truncate_prune_compress_clear() -> None:
    asked = Summarizer()
    context = compact_context(
        context_window=100,
        compress=Compress(asked, keep_turns=3),
        truncate=Truncate(10, tail=4),
        prune=Prune(calls="all", tools=("gone",)),
        clear=Clear(),
    )

    def turn(id: str, name: str = "f") -> list[Any]:
        call = {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": f"of {id}" + "x" * 50},
        ]

    messages = [*FOUR[:1], *turn("1"), *turn("2", "gone"), *turn("3"), *turn("4"), *turn("5")]
    context.feed(1000)
    made = send(context, messages)
    read = " ".join(one["content"] for one in asked.asked[0])
    assert "xxxx" in read  # truncated, not cleared
    assert "xxxxx" not in read
    assert "of 2" not in read
    assert "gone" not in read
    results = [one["content"] for one in made if one["role"] == "tool"]
    assert results[:2] == ["[Old tool result content cleared]"] * 2
    assert results[2].endswith("chars in all) ---\nxxxx")
    assert send(context, messages) == made


def test_placeholders_longer_than_results_count_toward_the_window() -> None:
    def count(text: str) -> float:
        return len(text) / 4

    context = compact_context(
        context_window=1000,
        compress=Compress(Summarizer(), max_summary_tokens=20),
        clear=Clear(),
        count=count,
    )
    messages: list[Any] = [{"role": "system", "content": "Be brief."}, *talk("go")]
    for step in range(120):
        call = {"id": f"c{step}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": "ok"},
        ]
        assert tokens(send(context, messages), count) <= 1000
