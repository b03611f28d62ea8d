"""What a summarizer reads of a stored conversation: attachments, calls, results and what a server did."""

import asyncio
from typing import Any

import pytest
from durable_support import CALL, RESULT, chat, hello, never

from wirecall.compaction import (
    asummarize_messages,
    compact_messages,
    summarize_messages,
)


def asked_of(messages: list[Any], **options: Any) -> list[tuple[str, str]]:
    found: list[list[dict[str, str]]] = []
    summarize_messages(messages, lambda asked: found.append(asked), **options)  # type: ignore[func-returns-value]
    return [(one["role"], one["content"]) for one in found[0][:-1]] if found else []


def test_nothing_to_summarise_asks_nobody() -> None:
    assert summarize_messages([], never) == ""
    assert summarize_messages([{"role": "system", "content": "Be kind."}], never) == ""
    assert summarize_messages([{"type": "reasoning", "summary": []}], never) == ""
    assert asyncio.run(asummarize_messages([], never)) == ""


def test_attachments_are_named_in_front_of_the_text() -> None:
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:,"}},
        {"type": "file", "file": {"filename": "r.pdf", "file_data": "data:,"}},
        {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
    ]
    assert asked_of([{"role": "user", "content": parts}]) == [
        ("user", "[image]\n[document: r.pdf]\n[audio]\nlook")
    ]
    blocks = [
        {"type": "image", "source": {"type": "url", "url": "http://x"}},
        {"type": "document", "title": "r.pdf", "source": {"type": "base64", "data": "AA"}},
        {"type": "container_upload", "file_id": "f"},
        {"type": "text", "text": "look"},
    ]
    assert asked_of([{"role": "user", "content": blocks}]) == [
        ("user", "[image]\n[document: r.pdf]\n[attachment]\nlook")
    ]
    items = [
        {"type": "input_image", "image_url": "http://x"},
        {"type": "input_file", "filename": "r.pdf", "file_data": "AA"},
    ]
    assert asked_of([{"role": "user", "content": items}]) == [("user", "[image]\n[document: r.pdf]")]


def test_calls_and_results_are_texts_in_each_format() -> None:
    said = [("assistant", '[Called tool: look({"of":"x"})]'), ("user", "[Tool result (c1): seen]")]
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"of":"x"}'}}
    assert asked_of([{"role": "assistant", "content": None, "tool_calls": [call]}, RESULT]) == said
    legacy = {"role": "assistant", "content": None, "function_call": call["function"]}
    assert asked_of([legacy, {"role": "function", "name": "look", "content": "seen"}])[0] == said[0]
    item = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"of":"x"}'}
    output = {"type": "function_call_output", "call_id": "c1", "output": "seen"}
    assert asked_of([item, output]) == said
    listed = {**output, "output": [{"type": "input_text", "text": "seen"}]}
    assert asked_of([item, listed]) == said
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "tool_use", "id": "c1", "name": "look", "input": {"of": "x"}},
    ]
    results = [
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "seen"}]},
        {"type": "text", "text": "go on"},
    ]
    assert asked_of([{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]) == [
        said[0],
        ("user", "[Tool result (c1): seen]\ngo on"),
    ]


def test_what_a_server_did_is_named() -> None:
    block = {"type": "server_tool_use", "id": "st", "name": "web_search", "input": {}}
    assert asked_of([{"role": "assistant", "content": [block]}]) == [
        ("assistant", "[Called web_search on the server]")
    ]
    assert asked_of([{"type": "web_search_call", "id": "ws"}]) == [
        ("assistant", "[Called web_search on the server]")
    ]


def test_what_a_server_compacted_is_kept_or_summarised() -> None:
    hidden = {"type": "compaction", "id": "cmp", "encrypted_content": "secret"}
    items = [{"type": "message", "role": "user", "content": "hi"}, hidden, {"role": "user", "content": "ho"}]
    assert compact_messages(items, hello, keep_recent_turns=1)[0] is hidden
    block = {"type": "compaction", "content": "They like tea."}
    assert asked_of([{"role": "assistant", "content": [block]}]) == [("assistant", "They like tea.")]


@pytest.mark.parametrize("threshold", [-1, float("nan")])
def test_a_threshold_is_a_number_of_characters(threshold: float) -> None:
    with pytest.raises(ValueError, match="tool_result_stub_threshold is"):
        compact_messages(chat(), never, keep_recent_turns=1, tool_result_stub_threshold=threshold)


@pytest.mark.parametrize(("threshold", "stubbed"), [(None, False), (4, False), (3, True), (0, True)])
def test_long_results_are_named_with_their_length(threshold: int | None, stubbed: bool) -> None:
    [_, (_, text)] = asked_of([CALL, RESULT], tool_result_stub_threshold=threshold)
    stub = "[Tool look returned 4 chars; omitted before summarization]"
    assert text == f"[Tool result (c1): {stub if stubbed else 'seen'}]"


def test_an_empty_result_is_no_long_one() -> None:
    [_, (_, text)] = asked_of([CALL, {**RESULT, "content": ""}], tool_result_stub_threshold=0)
    assert text == "[Tool result (c1): ]"
