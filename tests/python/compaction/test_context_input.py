"""What a context is given: requests of any shape, usage in answers, and options."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from context_support import FOUR, SUMMARY, Json, Summarizer, send, words

from wirecall import compact_context
from wirecall.compaction import Clear, Compress, Prune, Truncate
from wirecall.compaction._compressor import NOTICE


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
