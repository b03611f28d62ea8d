"""Large results of tools, shortened for a request."""

import copy
import re
from typing import Any

import pytest
from reference_cases import case

from wirecall import compact_context
from wirecall.compaction import Truncate


def loop(format: str, content: object, name: str = "read") -> list[Any]:
    """A call and its result."""
    if format == "chat":
        call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}
        return [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": content},
        ]
    if format == "responses":
        return [
            {"role": "user", "content": "go"},
            {"type": "function_call", "call_id": "c1", "name": name, "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": content},
        ]
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": name, "input": {}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": content, "is_error": True},
                {"type": "text", "text": "x" * 5000},
            ],
        },
    ]


def result(message: Any) -> Any:
    if "output" in message:
        return message["output"]
    content = message["content"]
    return content[0]["content"] if message["role"] == "user" else content


def sent(rule: Truncate, messages: list[Any], format: Any = "chat") -> list[Any]:
    key = "input" if format == "responses" else "messages"
    before = copy.deepcopy(messages)
    request = {key: messages}
    made = compact_context(truncate=rule).on_request(request, api=format)
    assert messages == before
    assert (made is request) == (made[key] is messages)
    return made[key]


def test_case_19_head_and_tail() -> None:
    given = case("c19")
    options, expected = given["options"], given["expected"]
    rule = Truncate(options["threshold"], head=options["headChars"], tail=options["tailChars"])
    (message,) = sent(rule, given["messages"])
    assert message["content"].startswith(expected["starts_with"])
    assert message["content"].endswith(expected["ends_with"])
    assert all(text in message["content"] for text in expected["contains"])


@pytest.mark.parametrize("format", ["chat", "responses", "messages"])
def test_head_marker_and_tail_in_each_format(format: str) -> None:
    text = "\n".join(f"line {number}" for number in range(1000))
    messages = loop(format, text)
    made = sent(Truncate(100, head=10, tail=20), messages, format)
    assert all(one is other for one, other in zip(made[:2], messages[:2], strict=True))
    marker = f"--- truncated (1000 lines, {len(text)} chars in all) ---"
    assert result(made[2]) == f"{text[:10]}\n{marker}\n{text[-20:]}"
    if format == "messages":
        # What a user says beside the result, and the other keys of the result, stay.
        assert made[2]["content"][1] is messages[2]["content"][1]
        assert made[2]["content"][0]["is_error"] is True


@pytest.mark.parametrize("format", ["chat", "responses", "messages"])
def test_in_parts_each_text_is_shortened_by_itself(format: str) -> None:
    parts = [{"type": "text", "text": "x" * 500}, {"type": "image"}, {"type": "text", "text": "short"}]
    messages = loop(format, parts)
    made = sent(Truncate(100, tail=5), messages, format)
    first, *others = result(made[2])
    assert re.fullmatch(r"--- truncated \(1 line, 500 chars in all\) ---\nxxxxx", first["text"])
    assert all(one is other for one, other in zip(others, parts[1:], strict=True))
    assert sent(Truncate(500), messages, format) is messages


@pytest.mark.parametrize(
    ("rule", "shortened"),
    [
        (Truncate(99, tail=0), True),
        (Truncate(100, tail=0), False),  # not longer than the threshold
        (Truncate(10, head=50, tail=50), False),  # all of it
        (Truncate(10, head=50, tail=49), True),
        (Truncate(0, head=0, tail=0), True),
    ],
)
def test_what_is_large(rule: Truncate, shortened: bool) -> None:
    messages = loop("chat", "x" * 100)
    made = sent(rule, messages)
    assert (made is not messages) == shortened
    if shortened:
        assert made[2]["content"].count("x") == rule.head + rule.tail


def test_lengths_are_in_code_points() -> None:
    made = sent(Truncate(10, head=2, tail=3), loop("chat", "\U0001f600" * 20))
    assert made[2]["content"].count("\U0001f600") == 5
    assert "20 chars" in made[2]["content"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("write", "x" * 10), ("read_file", "x" * 1000), ("read_web", "x" * 3), ("other", "x" * 10)],
)
def test_the_last_pattern_that_matches_a_tool_counts(name: str, expected: str) -> None:
    rule = Truncate(
        100,
        tail=10,
        overrides={"read_*": None, "read_web": Truncate(100, tail=3), "*_web": Truncate(9, tail=3)},
    )
    made = sent(rule, loop("chat", "x" * 1000, name))
    assert made[2]["content"].rpartition("\n")[2] == expected


def test_a_result_may_name_its_tool_itself() -> None:
    message = {"role": "tool", "tool_call_id": "elsewhere", "name": "read_file", "content": "x" * 1000}
    messages = [message]
    assert sent(Truncate(1, tail=1, overrides={"read_*": None}), messages) is messages


def test_a_store_gets_the_whole_text_and_the_model_where_it_is() -> None:
    stored = {}

    def store(text: str) -> str:
        stored["file:1"] = text
        return "file:1"

    rule = Truncate(10, tail=1, store=store, overrides={"read": Truncate(10, tail=2)})
    made = sent(rule, loop("chat", "x" * 100))
    assert made[2]["content"] == "--- truncated (1 line, 100 chars in all; the whole: file:1) ---\nxx"
    assert stored == {"file:1": "x" * 100}


def _raises(text: str) -> str:
    raise OSError("the disk is full")


async def _is_async(text: str) -> str:
    return "file:1"


@pytest.mark.parametrize("store", [_raises, _is_async, lambda text: None])
def test_a_store_that_fails_is_done_without(store: Any, caplog: pytest.LogCaptureFixture) -> None:
    made = sent(Truncate(10, tail=1, store=store), loop("chat", "x" * 100))
    assert made[2]["content"] == "--- truncated (1 line, 100 chars in all) ---\nx"
    assert "could not be stored" in caplog.text


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"threshold": "1"}, TypeError, "threshold must be an int"),
        ({"threshold": 1, "head": -1}, ValueError, "head is -1"),
        ({"threshold": 1, "tail": True}, TypeError, "tail must be an int"),
        ({"threshold": 1, "store": "file"}, TypeError, "store must be callable"),
        ({"threshold": 1, "overrides": ["a"]}, TypeError, "overrides must be a mapping"),
        ({"threshold": 1, "overrides": {"a": 1}}, TypeError, "overrides['a']"),
        (
            {"threshold": 1, "overrides": {"a": Truncate(1, overrides={"b": None})}},
            ValueError,
            "overrides of its own",
        ),
    ],
)
def test_wrong_options_are_named(options: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=re.escape(said)):
        Truncate(**options)
