"""What messages cost, in each format."""

import json
from typing import Any

import pytest

from wirecall.compaction._counting import MESSAGE, estimate, media, tokens_of

BYTES = "A" * 100_000


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "12345"},
        {"role": "user", "content": [{"type": "text", "text": "123"}, {"type": "input_text", "text": "45"}]},
        {"role": "assistant", "content": None, "refusal": "12345"},
        {"role": "assistant", "content": "", "reasoning": "12345", "reasoning_content": "12345"},
        {
            "role": "assistant",
            "tool_calls": [{"id": BYTES, "type": "function", "function": {"name": "f", "arguments": "{ 1}"}}],
        },
        {
            "role": "assistant",
            "tool_calls": [{"id": BYTES, "type": "custom", "custom": {"name": "f", "input": "1234"}}],
        },
        {"role": "tool", "tool_call_id": BYTES, "content": "12345"},
        {"type": "function_call", "call_id": BYTES, "name": "f", "arguments": "1234", "status": "completed"},
        {"type": "function_call_output", "call_id": BYTES, "output": "12345"},
        {
            "type": "reasoning",
            "id": BYTES,
            "summary": [{"type": "summary_text", "text": "12345"}],
            "encrypted_content": BYTES,
        },
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "12345", "signature": BYTES}]},
        {
            "role": "assistant",
            "content": [
                {"type": "redacted_thinking", "data": BYTES},
                {"type": "tool_use", "id": BYTES, "name": "f", "input": {}},
                {"type": "text", "text": "45"},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": BYTES, "content": [{"type": "text", "text": "12345"}]}
            ],
        },
        {
            "role": "user",
            "content": [{"type": "document", "source": {"type": "text", "data": "12345"}, "title": BYTES}],
        },
        {"role": "user", "content": "12345", "x_unknown": BYTES},
    ],
)
def test_what_a_model_reads_counts(message: Any) -> None:
    assert tokens_of(message, len) == MESSAGE + 5


@pytest.mark.parametrize("arguments", [{}, {"a": 1}, []])
def test_arguments_count_in_every_form(arguments: Any) -> None:
    """Also empty ones: a model reads `{}`, whether it came as text or as an object."""
    text = json.dumps(arguments, separators=(",", ":"))
    use = {"type": "tool_use", "id": "c", "name": "go", "input": arguments}
    function = {"name": "go", "arguments": text}
    call = {"type": "function_call", "call_id": "c", "name": "go", "arguments": text}
    counts = {
        tokens_of({"role": "assistant", "content": [use]}, len),
        tokens_of({"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}, len),
        tokens_of(call, len),
    }
    assert counts == {MESSAGE + len("go") + len(text)}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": BYTES}},
        {"type": "input_image", "image_url": BYTES},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BYTES}},
        {"type": "file", "file": {"filename": "r.pdf", "file_data": BYTES}},
        {"type": "input_file", "filename": "r.pdf", "file_data": BYTES},
        {"type": "document", "source": {"type": "base64", "data": BYTES}},
        {"type": "input_audio", "input_audio": {"data": BYTES, "format": "wav"}},
    ],
)
def test_what_is_no_text_has_a_fixed_number(part: Any) -> None:
    assert tokens_of({"role": "user", "content": [part]}, len) == MESSAGE + media()[part["type"]]
    result = {"type": "tool_result", "tool_use_id": "c", "content": [part]}
    assert tokens_of({"role": "user", "content": [result]}, len) == MESSAGE + media()[part["type"]]


def test_estimates() -> None:
    assert estimate("a" * 10) == 3
    assert estimate("\u65e5\u672c\u8a9e\ud55c") == 6
    assert round(estimate("a\u65e5\xe9"), 3) == 2.1
