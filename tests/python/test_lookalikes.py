"""Text that looks like a call but is none: what is told and logged, once for each exchange."""

import logging
from typing import Any

import pytest

import wirecall
from support import EVERY
from wirecall import Notice, Toolset
from wirecall._core import native_formats
from wirecall._tools.lookalikes import lookalike

NAMES = ("get_weather", "save")
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
JSON = '{"name": "get_weather", "arguments": {"city": "Rome"}}'
CALL = 'get_weather(city="Rome")'
WRAPPED = f"<tool_call>\n{JSON}\n</tool_call>"

LOOKS = [
    (f"I look.\n```json\n{JSON}\n```\nDone.", "json"),
    (f"I look.\n```\n[{JSON}]\n```", "json"),
    ('I look.\n{\n  "tool": "save",\n  "args": {"a": [1]}\n}\n', "json"),
    ('I look.\n{"function": {"name": "save", "arguments": "{}"}}', "json"),
    (CALL, "python"),
    (f"I look.\n\n  {CALL}\n\nDone.", "python"),
    (f"I look.\n`{CALL}`", "python"),
    (f"```python\n{CALL}\nsave()\n```", "python"),
    ('I look:\n```tool_code\ndefault_api.get_weather(\n    city="Rome",\n)\n```', "python"),
    (f"I look. {WRAPPED}", "hermes"),
    ('[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}', "mistral"),
    ("I look.\n<get_weather><city>Rome</city></get_weather>", "xml"),
]
PROSE = [
    f"The function {CALL} returns the weather.",
    f"First `{CALL}`, then the rest.",
    f"```python\ndef look():\n    return {CALL}\n```",
    "```python\ncity = 'Rome'\nget_weather(city=city)\n```",
    f"Use <tool_call>{JSON}</tool_call> to call it.",
    f'The text "<tool_call>{JSON}</tool_call>" is a call.',
    f"Write {JSON} for that.",
    '```json\n{"name": "get_weather", "version": "1.0"}\n```',
    '```json\n{"name": "other", "arguments": {"city": "Rome"}}\n```',
    'other(city="Rome")',
    "get_weather(city) takes a city.",
    "get_weather(...)",
    "I used <get_weather> before.",
    "The tools are:\n- get_weather\n- save",
]


@pytest.mark.parametrize(("text", "found"), LOOKS)
def test_what_looks_like_a_call(text: str, found: str) -> None:
    assert lookalike(text, NAMES) == found
    # Of another tool, it is code.
    assert lookalike(text, ["other_tool"]) is None


@pytest.mark.parametrize("text", PROSE)
def test_prose_and_code_do_not_look_like_calls(text: str) -> None:
    assert lookalike(text, NAMES) is None


@pytest.mark.parametrize("protocol", EVERY)
def test_every_format_looks_like_a_call(protocol: str) -> None:
    """Alone in a message, as the format writes it; some read the call of another."""
    in_parts = {row["name"] for row in native_formats() if row["whole_messages"]}
    text = Toolset([("save", True)], protocol=protocol).encode("save", {"path": "a b"})
    found = lookalike(text, NAMES)
    assert found is not None or protocol in in_parts


def ask(answers: list[str], caplog: pytest.LogCaptureFixture, n: int = 1, **options: Any) -> list[Notice]:
    told: list[Notice] = []
    left = iter(answers)

    def model(_: Any) -> Any:
        choices = [
            {"index": at, "message": {"role": "assistant", "content": next(left)}, "finish_reason": "stop"}
            for at in range(n)
        ]
        return {"choices": choices}

    request = {
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [TOOL],
        "n": n,
        **options.pop("request", {}),
    }
    caplog.clear()
    with caplog.at_level(logging.INFO, "wirecall"):
        wirecall.compact_tools(on_event=told.append, **options).wrap_generate(model, request)
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings == [f"other_format {notice.detail}" for notice in told if notice.kind == "other_format"]
    return [notice for notice in told if notice.kind == "other_format"]


@pytest.mark.parametrize(("text", "found"), LOOKS)
def test_notice_is_logged_at_warning(text: str, found: str, caplog: pytest.LogCaptureFixture) -> None:
    text = text.replace("save", "get_weather")
    assert [notice.detail for notice in ask([text], caplog)] == [found]


@pytest.mark.parametrize("text", [*PROSE, "<call>get_weather city=Rome</call>", f"{CALL} <call>get_weather"])
def test_prose_gives_no_notice(text: str, caplog: pytest.LogCaptureFixture) -> None:
    assert ask([text], caplog) == []


def test_notice_comes_once_for_an_exchange(caplog: pytest.LogCaptureFixture) -> None:
    # In several answers, and in an answer and its retry.
    assert len(ask([CALL, CALL, JSON], caplog, n=3)) == 1
    required = {"tool_choice": "required"}
    assert len(ask([CALL, WRAPPED], caplog, request=required)) == 1
    with pytest.raises(wirecall.ToolCallError):
        ask([CALL], caplog, request=required, on_missing_call="raise")
    assert "other_format python" in caplog.messages


def test_call_in_reasoning_gives_no_notice(caplog: pytest.LogCaptureFixture) -> None:
    for options in ({}, {"reasoning": "separate"}):
        assert ask([f"<think>\n{CALL}\n</think>\n\nSunny."], caplog, **options) == []
        assert len(ask([f"<think>\nA city.\n</think>\n\n{CALL}"], caplog, **options)) == 1
    tags = ("[R]", "[/R]")
    assert ask([f"[R]\n{CALL}\n[/R]\nSunny."], caplog, reasoning=tags) == []


def test_text_that_may_hold_calls_gives_no_notice(caplog: pytest.LogCaptureFixture) -> None:
    assert ask([CALL], caplog, code="text") == []
    assert ask([CALL], caplog, request={"tool_choice": "none"}) == []


def test_search_is_linear() -> None:
    for text in (
        "\n" * 60000,
        "[\n" * 30000,
        '{"a":\n' * 10000,
        "```\n" * 15000,
        "save(a=1\n" * 6000,
        "save(" * 12000,
    ):
        lookalike(f"{text} get_weather(", NAMES)
