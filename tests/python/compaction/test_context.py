"""Summaries in flight: when they are made, what they replace, and what happens on failures."""

import copy
import logging
import re
from types import SimpleNamespace
from typing import Any

import pytest
from context_support import FOUR, SUMMARY, Json, Summarizer, send, talk, words
from reference_cases import case

from wirecall import compact_context
from wirecall.compaction import Clear, Compress, Prune, Truncate, plan_compaction
from wirecall.compaction._compressor import NOTICE
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


def test_on_compress_gets_what_can_be_stored() -> None:
    stored: list[Any] = []
    context = compact_context(
        context_window=100,
        compress=Compress(Summarizer(), keep_turns=2),
        truncate=Truncate(5, tail=1),
        on_compress=stored.append,
    )
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": "s"},
        *FOUR,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "x" * 100},
    ]
    context.feed(1000, session="s1")
    made = send(context, messages, "s1")
    assert made[-1]["content"].endswith("\nx")
    (found,) = stored
    assert found.messages == [messages[0], SUMMARY, *messages[4:]]
    assert found.messages[-1] is messages[-1]
    assert found[:2] == ("s1", "chat")
    assert found[3:] == ("They counted.", 4)
    # It stays as it is: the next request is not summarised either.
    assert send(context, found.messages, "s1")[-2:] == made[-2:]
    plan = plan_compaction(found.messages, keep_recent_turns=2)
    assert not plan.to_summarize


def test_exceptions_of_hooks_are_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fails(given: Any) -> None:
        raise LookupError("no store")

    context = compact_context(context_window=100, compress=Summarizer(), on_compress=fails, on_event=fails)
    context.feed(1000)
    assert send(context, FOUR) == [SUMMARY, FOUR[3]]
    assert "on_compress failed: LookupError" in caplog.text
    assert "on_event failed: LookupError" in caplog.text
    assert "no store" not in caplog.text


def test_logs_have_no_text_of_a_conversation(caplog: pytest.LogCaptureFixture) -> None:
    def store(text: str) -> str:
        raise OSError(f"no room for {text}")

    def on_compress(found: Any) -> None:
        raise ValueError(f"cannot store {found}")

    events: list[Any] = []
    context = compact_context(
        context_window=100,
        compress=Summarizer(RuntimeError("400: secret is no text"), "secret"),
        truncate=Truncate(3, tail=0, store=store),
        on_compress=on_compress,
        on_event=events.append,
    )
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c", "content": "secret"}
    for _ in range(3):
        context.feed(1000)
        send(context, [*FOUR, {"role": "assistant", "tool_calls": [call]}, result, *FOUR])
    assert [event.kind for event in events] == ["failed", "compressed"]
    assert events[0].detail == "RuntimeError: 400: secret is no text"
    for said in ("stored: OSError", "summarised: RuntimeError", "on_compress failed: ValueError"):
        assert said in caplog.text
    assert "secret" not in caplog.text


def test_events() -> None:
    events: list[Any] = []
    context = compact_context(
        context_window=100, compress=Summarizer("They counted.", "", "", ""), on_event=events.append
    )
    for size in range(4, 20, 2):
        for _ in range(2):
            context.feed(1000, session="s")
            send(context, talk(*map(str, range(size))), "s")
    assert [event.kind for event in events] == ["compressed", "failed", "failed", "failed", "opened"]
    assert {event.session for event in events} == {"s"}


def test_that_nobody_keeps_summaries_is_said_once_at_the_third(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "wirecall")

    def fire(context: Any, session: str, times: int) -> int:
        caplog.clear()
        for size in range(4, 4 + 4 * times, 4):
            context.feed(1000, session=session)
            messages = talk(*map(str, range(size)))
            send(context, messages, session)
            send(context, messages, session)
        return caplog.text.count("the summaries are not stored")

    context = compact_context(context_window=100, compress=Summarizer())
    assert fire(context, "a", 2) == 0
    assert fire(context, "b", 3) == 1
    assert fire(context, "c", 9) == 0
    context = compact_context(context_window=100, compress=Summarizer(), on_compress=id)
    assert fire(context, "a", 9) == 0


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


@pytest.mark.parametrize("name", ["previous_response_id", "conversation"])
def test_of_what_the_server_holds_nothing_is_left_out(name: str) -> None:
    context = compact_context(
        context_window=1,
        compress=Summarizer(),
        prune=Prune(calls="all"),
        clear=Clear(),
        truncate=Truncate(10),
    )
    items = [
        {"type": "function_call_output", "call_id": "1", "output": "short"},
        {"type": "function_call_output", "call_id": "2", "output": "x" * 5000},
        {"role": "user", "content": "y" * 5000},
    ]
    made = context.on_request({"input": items, name: "there"}, api="responses")
    assert [made["input"][0], made["input"][2]] == [items[0], items[2]]
    assert "truncated" in made["input"][1]["output"]


@pytest.mark.parametrize("request_", [{}, {"messages": []}, {"messages": "text"}, {"input": "text"}])
def test_what_has_no_messages_is_left_alone(request_: Json) -> None:
    context = compact_context(context_window=1, compress=Summarizer(), clear=Clear())
    for format in ("chat", "responses", "messages"):
        assert context.on_request(request_, api=format) is request_
    with pytest.raises(ValueError, match="there is no format 'text'"):
        context.on_request(request_, api="text")


@pytest.mark.parametrize(
    ("format", "answers", "tokens"),
    [
        ("chat", [{"usage": {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 900}}}], 1000),
        ("chat", [{"choices": [], "usage": None}], None),
        ("chat", [{"usage": {"prompt_tokens": 1000}}, {"choices": []}, "[DONE]", {"usage": 7}], 1000),
        (
            "chat",
            [SimpleNamespace(model_dump=lambda exclude_unset: {"usage": {"prompt_tokens": 1000}})],
            1000,
        ),
        ("responses", [{"usage": {"input_tokens": 1000}}], 1000),
        ("responses", [{"type": "response.created", "response": {"usage": None}}], None),
        ("responses", [{"type": "response.completed", "response": {"usage": {"input_tokens": 1000}}}], 1000),
        ("messages", [{"usage": {"input_tokens": 400, "cache_read_input_tokens": 600}}], 1000),
        (
            "messages",
            [
                {
                    "type": "message_start",
                    "message": {"usage": {"input_tokens": 1, "cache_creation_input_tokens": 999}},
                },
                {"type": "message_delta", "usage": {"output_tokens": 5}},
                {"type": "message_delta", "usage": {"input_tokens": None, "output_tokens": 5}},
            ],
            1000,
        ),
        ("messages", [{"type": "message_delta", "usage": {"input_tokens": 1000, "output_tokens": 5}}], 1000),
    ],
)
def test_usage_is_found_in_answers_and_events(format: Any, answers: list[Any], tokens: int | None) -> None:
    for window, fires in ((999, tokens is not None), (1000, False)):
        context = compact_context(context_window=window, compress=Summarizer(), usage="fed")
        for answer in answers:
            context.on_usage(answer, api=format)
        assert (send(context, FOUR) is not FOUR) == fires


@pytest.mark.parametrize("count", [None, words])
def test_however_absurd_the_usage_the_request_goes_out(count: Any) -> None:
    context = compact_context(context_window=100, compress=Summarizer(), count=count)
    for said in (10**400, -(10**400), float("inf"), "many", [7], True):
        context.on_usage({"usage": {"prompt_tokens": said}}, api="chat")
        sent = send(context, FOUR)
        assert sent in (FOUR, [SUMMARY, FOUR[3]])
    assert sent[0] == SUMMARY


def test_what_is_pruned_to_nothing_divides_by_nothing() -> None:
    context = compact_context(context_window=1, compress=Summarizer(), prune=Prune(calls="all"))
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    context.feed(1000)
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
    ]
    assert send(context, messages) == []


@pytest.mark.parametrize(
    "odd", ["no message", {"role": "user", "content": [{"type": "input_text", "text": "of Responses"}]}]
)
def test_odd_messages_are_sent_and_not_judged(odd: Any, caplog: pytest.LogCaptureFixture) -> None:
    context = compact_context(
        context_window=100, compress=Summarizer(), truncate=Truncate(1), prune=Prune("all"), clear=Clear()
    )
    messages = [*FOUR[:2], odd, *FOUR[2:]]
    assert send(context, messages) is messages
    context.feed(1000)
    assert send(context, messages)[0]["content"] == NOTICE
    assert "could not be summarised" in caplog.text


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"compress": id}, TypeError, "compress needs context_window"),
        ({"context_window": 1}, TypeError, "context_window needs compress"),
        ({"compress": id, "context_window": "1"}, TypeError, "context_window must be an int"),
        ({"compress": id, "context_window": 0}, ValueError, "context_window is 0"),
        (
            {"compress": "gpt", "context_window": 1},
            TypeError,
            "compress must be a Compress or callable, not str",
        ),
        ({"truncate": 100}, TypeError, "truncate must be a Truncate, not int"),
        ({"prune": [True]}, TypeError, "prune must be a Prune, not bool"),
        ({"prune": True}, TypeError, "prune must be a Prune or a Sequence, not bool"),
        ({"clear": True}, TypeError, "clear must be a Clear, not bool"),
        ({"count": 4}, TypeError, "count must be callable, not int"),
        ({"on_compress": 4}, TypeError, "on_compress must be callable, not int"),
        ({"on_event": 4}, TypeError, "on_event must be callable, not int"),
        ({"usage": "both"}, ValueError, 'usage is "both"; it must be one of "max", "fed", "own"'),
        ({"max_sessions": 0}, ValueError, "max_sessions is 0"),
        ({"window": 0}, TypeError, "window"),
    ],
)
def test_wrong_options_are_named(options: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=re.escape(said)):
        compact_context(**options)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"keep_share": 0}, ValueError, "keep_share is 0"),
        ({"keep_share": 1.1}, ValueError, "keep_share is 1.1"),
        ({"keep_share": float("nan")}, ValueError, "keep_share is nan"),
        ({"keep_share": "half"}, TypeError, "keep_share must be a number"),
        ({"keep_turns": 0}, ValueError, "keep_turns is 0"),
        ({"max_summary_tokens": None}, TypeError, "max_summary_tokens must be an int"),
        ({"tool_result_stub_threshold": -1}, ValueError, "tool_result_stub_threshold is -1"),
    ],
)
def test_wrong_options_of_compress_are_named(options: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=re.escape(said)):
        Compress(id, **options)


@pytest.mark.parametrize("tokens", [-1, 1.5, None, True])
def test_what_is_no_number_of_tokens_is_not_fed(tokens: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="input_tokens"):
        compact_context().feed(tokens)
