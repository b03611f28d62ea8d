"""What applications learn about summaries in flight: what to store, events, logs."""

import logging
from typing import Any

import pytest
from context_support import FOUR, SUMMARY, Summarizer, send, talk

from wirecall import compact_context
from wirecall.compaction import Compress, Truncate, plan_compaction


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
