"""Compacting lists that applications store: what comes back, and what happens when the summary fails."""

import asyncio
import copy
from typing import Any

import pytest
from durable_support import CALL, RESULT, Json, chat, hello, never

from wirecall.compaction import (
    acompact_messages,
    asummarize_messages,
    compact_messages,
    plan_compaction,
    summarize_messages,
)
from wirecall.compaction._summary import OPENING


def test_system_summary_and_tail() -> None:
    messages = chat()
    result = compact_messages(messages, hello, keep_recent_turns=2)
    assert result[0] is messages[0]
    assert result[1]["role"] == "user"
    assert result[1]["content"].startswith(OPENING)
    assert result[1]["content"].endswith("\n\nHello")
    assert [id(one) for one in result[2:]] == [id(one) for one in messages[-2:]]


def test_a_new_summary_takes_the_place_of_the_old_one_and_has_read_it() -> None:
    asked: list[list[dict[str, str]]] = []

    def summarize(given: list[dict[str, str]]) -> str:
        asked.append(given)
        return f"summary {len(asked)}"

    first = compact_messages(chat(), summarize, keep_recent_turns=2)
    assert compact_messages(first, summarize, keep_recent_turns=2) is first
    second = compact_messages([*first, *chat()[1:]], summarize, keep_recent_turns=2)
    assert asked[1][0] == {"role": "user", "content": f"{OPENING}\nsummary 1"}
    assert [str(one).count(OPENING) for one in second] == [0, 1, 0, 0]
    assert "summary 2" in second[1]["content"]
    assert "summary 1" not in second[1]["content"]


def test_the_opening_line_in_the_middle_is_a_turn() -> None:
    messages = [*chat(2), {"role": "user", "content": f"{OPENING} is what you wrote. Why?"}]
    assert plan_compaction(messages, keep_recent_turns=1).turns == 3


@pytest.mark.parametrize("content", ["and now?", [{"type": "text", "text": "and now?"}]])
def test_a_summary_can_be_put_into_the_first_kept_message(content: Any) -> None:
    messages = [*chat(4), {"role": "user", "content": content}, {"role": "assistant", "content": "well"}]
    result = compact_messages(messages, hello, keep_recent_turns=2, merge_summary=True)
    assert [one["role"] for one in result] == ["system", "user", "assistant"]
    summary, rest = result[1]["content"]
    assert summary["text"].startswith(OPENING)
    assert rest == {"type": "text", "text": "and now?"}
    assert compact_messages(result, never, keep_recent_turns=2, merge_summary=True) is result
    again = compact_messages([*result, *chat(4)[1:]], hello, keep_recent_turns=5)
    assert str(again).count(OPENING) == 1
    assert [one["content"] for one in again[2:]] == ["well", "says 0", "says 1", "says 2", "says 3"]
    plan = plan_compaction(result, keep_recent_turns=2)
    assert plan.to_keep[1:] == [{"role": "user", "content": [rest]}, messages[-1]]


def test_a_summary_stands_alone_where_the_first_kept_message_is_the_models() -> None:
    result = compact_messages(chat(), hello, keep_recent_turns=1, merge_summary=True)
    assert [one["role"] for one in result] == ["system", "user", "assistant"]
    assert isinstance(result[1]["content"], str)


def test_a_last_turn_that_waits_for_results_is_kept_so_that_they_have_a_call() -> None:
    messages = [*chat(), CALL]
    result = compact_messages(messages, hello, keep_recent_turns=0)
    assert result[2:] == [CALL]
    assert result[2] is CALL
    assert compact_messages(result, never, keep_recent_turns=0) is result
    assert [one["role"] for one in compact_messages([*result, RESULT], hello, keep_recent_turns=0)] == [
        "system",
        "user",
    ]


def test_a_result_after_the_models_next_item_is_moved_to_its_call() -> None:
    user = {"role": "user", "content": "go on"}
    a, b = ({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"} for id in "ab")
    of_a, of_b = ({"type": "function_call_output", "call_id": id, "output": id} for id in "ab")
    said = {"role": "assistant", "content": "b takes a while"}
    done = {"role": "assistant", "content": "done"}
    items = [user, user, a, b, of_a, said, of_b, done]
    plan = plan_compaction(items, keep_recent_turns=3)
    assert plan.turns == 5
    assert plan.repairs == (("late_result", 6, "b", None),)
    assert plan.to_keep == [a, b, of_a, of_b, said, done]
    plan = plan_compaction([*items[:6], user], keep_recent_turns=3)
    assert plan.repairs == (("missing_result", 3, "b", "f"),)
    made = {"type": "function_call_output", "call_id": "b", "output": "[No result of f is available]"}
    assert plan.to_keep == [a, b, made, of_a, said, user]


def test_a_server_tool_that_paused_stays_with_its_call() -> None:
    paused = {"role": "assistant", "content": [{"type": "server_tool_use", "id": "st", "name": "web_search"}]}
    goes_on = {
        "role": "assistant",
        "content": [{"type": "web_search_tool_result", "tool_use_id": "st", "content": []}],
    }
    messages = [{"role": "user", "content": "search"}, paused, goes_on]
    plan = plan_compaction(messages, keep_recent_turns=1)
    assert plan.to_keep == [paused, goes_on]


# What is not a summary -------------------------------------------------------------------------------------


BLANK = [
    *(None, "", " \n", "...", "---", "\u2026", "<summary></summary>", "<summary> \n</summary>"),
    *(
        "<analysis>all</analysis>",
        "<analysis>cut in the middle",
        "none",
        "None.",
        "**None**",
        "N/A",
        "(empty)",
    ),
    *("[No summary]", "No summary available.", "null", "undefined", "Nothing to summarize."),
    "<summary>none</summary>",
]


@pytest.mark.parametrize("answer", BLANK)
def test_an_empty_summary_changes_nothing(answer: Any) -> None:
    messages = [*chat(), CALL, RESULT, {**RESULT, "tool_call_id": "nobody's"}, *chat()[1:]]
    before = copy.deepcopy(messages)
    assert compact_messages(messages, lambda _: answer, keep_recent_turns=1) is messages
    assert messages == before
    assert asyncio.run(acompact_messages(messages, lambda _: answer, keep_recent_turns=1)) is messages
    assert summarize_messages(messages, lambda _: answer) == ""


@pytest.mark.parametrize(
    ("answer", "summary"),
    [
        ("plain", "plain"),
        ("<analysis>a</analysis><summary>\nyes\n\n\n\nno </summary> thanks", "yes\n\nno"),
        ("<ANALYSIS>a</ANALYSIS> <Summary>yes</Summary>", "yes"),
        ("<summary>first</summary><summary>second</summary>", "first"),
        ("<summary>not closed", "not closed"),
        ("<analysis>not closed <summary>yes</summary>", "yes"),
        ("<analysis>a <summary>no</summary></analysis><summary>yes</summary>", "yes"),
        ("<analysis>a</analysis>one <analysis>b</analysis>two", "one two"),
        ("None of it worked.", "None of it worked."),
        (f"{OPENING}\nThey like tea.", "They like tea."),
        ("7", "7"),
    ],
)
def test_what_becomes_the_summary(answer: str, summary: str) -> None:
    assert summarize_messages(chat(), lambda _: answer) == summary


@pytest.mark.parametrize("answer", [7, b"text", ["text"], {"text": "x"}, True])
def test_what_is_no_text_is_an_error(answer: Any) -> None:
    messages = chat()
    with pytest.raises(TypeError, match="a summary is a str or None, not"):
        compact_messages(messages, lambda _: answer, keep_recent_turns=1)
    with pytest.raises(TypeError, match="a summary is a str or None, not"):
        asyncio.run(acompact_messages(messages, lambda _: answer, keep_recent_turns=1))
    assert messages == chat()


# What fails ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError("no"), TimeoutError(), KeyboardInterrupt()])
def test_what_a_summariser_raises_is_raised_and_nothing_is_changed(error: BaseException) -> None:
    def summarize(asked: list[dict[str, str]]) -> str:
        asked.clear()
        raise error

    async def later(asked: list[dict[str, str]]) -> str:
        return summarize(asked)

    messages = chat()
    objects = list(messages)
    with pytest.raises(type(error)):
        compact_messages(messages, summarize, keep_recent_turns=1)
    if isinstance(error, Exception):
        with pytest.raises(type(error)):
            asyncio.run(acompact_messages(messages, later, keep_recent_turns=1))
    assert messages == chat()
    assert all(one is other for one, other in zip(messages, objects, strict=True))


def test_what_is_appended_while_it_summarises_is_kept() -> None:
    messages = chat(3)

    async def summarize(flat: list[dict[str, str]]) -> str:
        await asyncio.sleep(0)
        messages.append({"role": "user", "content": "And then?"})
        return "Three turns."

    shorter = asyncio.run(acompact_messages(messages, summarize, keep_recent_turns=1))
    assert shorter[-2:] == messages[-2:]
    assert [one["role"] for one in shorter] == ["system", "user", "user", "user"]


def test_cancelled_while_it_summarises() -> None:
    messages = chat()

    async def run() -> None:
        asked = asyncio.Event()

        async def summarize(given: list[dict[str, str]]) -> str:
            asked.set()
            await asyncio.sleep(60)
            return "too late"

        task = asyncio.ensure_future(acompact_messages(messages, summarize, keep_recent_turns=1))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(acompact_messages(messages, summarize, keep_recent_turns=1), 0.01)

    asyncio.run(run())
    assert messages == chat()


def test_an_async_summariser_needs_the_async_function() -> None:
    async def summarize(asked: list[dict[str, str]]) -> str:
        return "Hello"

    with pytest.raises(TypeError, match="acompact_messages"):
        compact_messages(chat(), summarize, keep_recent_turns=1)  # type: ignore[arg-type]
    result = asyncio.run(acompact_messages(chat(), summarize, keep_recent_turns=1))
    assert result == compact_messages(chat(), hello, keep_recent_turns=1)
    assert asyncio.run(asummarize_messages(chat(), summarize)) == "Hello"


def test_what_a_summariser_does_to_its_messages_does_not_come_back() -> None:
    def summarize(asked: list[dict[str, str]]) -> str:
        for message in asked:
            message["content"] = "spoilt"
        return "Hello"

    messages = chat()
    compact_messages(messages, summarize, keep_recent_turns=1)
    assert messages == chat()


# What is given -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": None}],
        [{"role": "user", "content": {"text": 7}}],
        [{"role": "assistant", "tool_calls": [None, 7, {"type": ["x"], "function": "f"}]}],
        [{"role": "assistant", "tool_calls": {"id": 7}}],
        [{"role": "assistant", "function_call": "f"}],
        [{"role": "tool"}],
        [{"type": {"of": "it"}, "role": "user"}],
        [{"type": "function_call"}, {"type": "function_call_output"}],
        [{"type": "made_up", "content": [[7]]}],
        [{"role": "assistant", "content": [{"type": "tool_use"}]}, {"content": [{"type": "tool_result"}]}],
        [{"role": "user", "content": [7, None, "text", {"type": ["x"]}]}],
    ],
)
def test_what_no_api_takes_is_shortened_all_the_same(messages: list[Any]) -> None:
    before = copy.deepcopy(messages)
    said = {"role": "user", "content": "hi"}
    chosen: Json = {"keep_recent_turns": 1, "max_tokens": 9999, "count": len}
    result = compact_messages([said, *messages, said, said], hello, **chosen)
    assert str(result[0]["content"]).startswith(OPENING)
    assert messages == before


class Human:
    """A message as frameworks have them: an object with a content, whose class says who speaks."""

    def model_dump(self, **_: object) -> Json:
        return {"content": "Hi"}


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        (None, "messages must be a list of messages, not NoneType"),
        ("Hi", "messages must be a list of messages, not str"),
        ({"messages": chat()}, "messages must be a list of messages, not dict"),
        ((message for message in chat()), "messages must be a list of messages, not generator"),
        (["Hi"], r"messages\[0\] must be a message \(a dict, or an SDK's object\), not str"),
        ([Human()], r"messages\[0\] is a Human, not a message of chat completions"),
    ],
)
def test_what_is_no_list_of_messages_is_an_error(messages: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        compact_messages(messages, hello, keep_recent_turns=1)


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"count": "o200k_base"}, TypeError, "count must be callable, not str"),
        ({"count": list}, TypeError, "count must return the number of tokens of a text"),
        (
            {"max_summary_tokens": "few"},
            ValueError,
            "max_summary_tokens is 'few'; it must be a number above 0",
        ),
        (
            {"tool_result_stub_threshold": "5"},
            ValueError,
            "tool_result_stub_threshold is '5'; it must be a number of characters",
        ),
        ({"instructions": ["Be brief."]}, TypeError, "instructions must be a str, not list"),
    ],
)
def test_wrong_options_say_what_is_wanted(options: Json, kind: type[Exception], told: str) -> None:
    with pytest.raises(kind, match=told):
        compact_messages(chat(), hello, **{"max_tokens": 10, "count": len, **options})


@pytest.mark.parametrize("given", [None, "gpt-5-mini", object()])
def test_who_summarises_must_be_callable(given: Any) -> None:
    """Also where nothing is to be summarised yet."""
    told = rf"summarize must be callable, not {type(given).__name__}: .*summarizer\(client, model"
    with pytest.raises(TypeError, match=told):
        compact_messages(chat(), given, keep_recent_turns=100)
    with pytest.raises(TypeError, match=told):
        asyncio.run(acompact_messages(chat(), given, keep_recent_turns=1))
