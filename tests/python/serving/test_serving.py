"""Toolsets, reports and ids of tokens of an inference server."""

from __future__ import annotations

import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import pytest

from law import seeded
from wirecall import FAMILIES, CallEnd, CallError, Toolset
from wirecall._core import native_formats
from wirecall._serving.message import MessageReader
from wirecall._serving.prompts import Prompts, is_cut, stop_ids
from wirecall._serving.reports import Counters, Reports
from wirecall._serving.toolsets import Toolsets
from wirecall._tools.formats.description import Format, built_in

LOGGER = logging.getLogger("test.serving")
TOOL = {
    "name": "save",
    "description": "",
    "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
}


def toolsets(format: str = "hermes") -> Toolsets:
    return Toolsets(built_in(format), Reports(format, LOGGER))


def test_toolsets_are_compiled_once() -> None:
    kept = toolsets()
    assert kept.of([TOOL]) is kept.of([{**TOOL}])
    assert kept.of([TOOL]) is not kept.of([{**TOOL, "name": "other"}])


def test_only_the_last_toolsets_are_kept() -> None:
    kept = toolsets()
    first = kept.of([TOOL])
    for number in range(64):
        kept.of([{**TOOL, "name": f"tool{number}"}])
    assert kept.of([TOOL]) is not first


def test_threads_share_toolsets() -> None:
    """More tools than are kept, in another order in each thread, so that they are dropped and made again."""
    kept = toolsets()
    interval = sys.getswitchinterval()

    def ask(seed: int) -> set[bool]:
        rng = seeded(seed)
        names = [f"tool{rng.randrange(100)}" for _ in range(300)]
        return {kept.of([{**TOOL, "name": name}]).names == (name,) for name in names}

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert set().union(*pool.map(ask, range(8))) == {True}
    finally:
        sys.setswitchinterval(interval)
    assert len(kept._kept) == 64


@pytest.mark.parametrize("format", ["hermes", "wire", "glm-4.7", "qwen3coder", "xml", "yaml", "harmony"])
@pytest.mark.parametrize(
    "tools",
    [
        [{"name": "save", "parameters": {"type": "object", "properties": {"n": {"type": "int"}}}}],
        [{"name": "save", "parameters": {"$ref": "#/nowhere"}}],
        [{"name": "save", "parameters": {"properties": {"n": {"required": True}}}}],
        [{"name": "save", "parameters": "text"}],
        [{"name": "save", "parameters": None}],
        [TOOL, TOOL],
        [{"name": "a b", "parameters": {}}],
        [{"name": "", "parameters": {}}],
        [{"parameters": {}}],
        [{"name": "save", "parameters": {"type": "object", "default": float("nan")}}],
    ],
    ids=str,
)
def test_definitions_that_cannot_work_are_accepted(
    format: str, tools: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        toolset = toolsets(format).of(tools)
    assert isinstance(toolset, Toolset)
    if format not in ("xml", "yaml"):
        text = toolset.encode("save", {}) if "save" in toolset.names or not toolset.names else ""
        assert [call.name for call in toolset.parse(text, in_reasoning=False).calls] == ["save"] * bool(text)


def test_a_grammar_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = toolsets()
    toolset = kept.of([TOOL])
    text = kept.grammar(toolset, tool_choice="required", parallel=False)
    monkeypatch.setattr(Toolset, "grammar", None)
    assert kept.grammar(toolset, tool_choice="required", parallel=False) is text


def test_without_calls_wanted_calls_are_text() -> None:
    text = '<think>\nA.\n</think>\n\n<tool_call>\n{"name": "save", "arguments": {}}\n</tool_call>'
    message = toolsets().text.parse(text)
    assert (message.reasoning, message.text) == ("A.", text.partition("\n\n")[2])


class Counted:
    """A counter as prometheus_client has them."""

    made: ClassVar[dict[str, Counted]] = {}

    def __init__(self, name: str, text: str, labels: list[str]) -> None:
        self.counts: dict[tuple[str, ...], float] = {}
        self.made[name] = self

    def labels(self, *values: str) -> Counted:
        self.at = values
        return self

    def inc(self, amount: float = 1) -> None:
        self.counts[self.at] = self.counts.get(self.at, 0) + amount


def test_calls_and_errors_are_counted() -> None:
    reports = Reports("hermes", LOGGER, Counters(Counted))
    call = CallEnd(0, "id", "save", "{}", 0, 1, ("aliased_name", "coerced"), ())
    reports.call(call, known=True, request=None)
    reports.call(call, known=False, request=None)
    error = CallError(None, None, None, "incomplete_call", "cut", "<tool_call>", 0, 1)
    reports.error(error, cut=True, request=None)
    assert {name: one.counts for name, one in Counted.made.items()} == {
        "wirecall_calls": {("hermes",): 2},
        "wirecall_repairs": {("hermes", "aliased_name"): 2, ("hermes", "coerced"): 2},
        "wirecall_errors": {("hermes", "incomplete_call"): 1},
        "wirecall_unknown_tools": {("hermes",): 1},
        "wirecall_cut_calls": {("hermes",): 1},
    }


def test_warnings_are_limited(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("wirecall._serving.reports.time.monotonic", lambda: clock[0])
    reports = Reports("hermes", LOGGER)
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            reports.warn("a", "x" * 1000, request="r1")
        reports.warn("b", "other")
        clock[0] = 61
        reports.warn("a", "again", request="r2\nERROR \u202e")
    first, other, last = caplog.messages
    assert first.startswith("wirecall: a in request r1: xxx")
    assert len(first) < 400
    assert other == "wirecall: b: other"
    # A client cannot write a line of its own.
    assert last == "wirecall: a in request r2\ufffdERROR \ufffd: again (4 more since the last warning)"


def test_warnings_do_not_quote_the_model(caplog: pytest.LogCaptureFixture) -> None:
    reports = Reports("hermes", LOGGER)
    toolset = Toolsets(built_in("hermes"), reports).of([TOOL])
    texts = (
        '{"name": "secret", "arguments": {}}',
        '{"name": "save", "arguments": {"n": "secret"}}',
        '{"name": "save", "arguments": {"secret": [}}',
        '{"name": "save", "arguments": secret',
    )
    with caplog.at_level(logging.WARNING):
        for text in texts:
            MessageReader(toolset, reports).whole(f"<tool_call>\n{text}\n</tool_call>", truncated=False)
    assert len(caplog.messages) >= 2
    assert not any("secret" in message for message in caplog.messages)


@pytest.mark.parametrize("format", FAMILIES)
def test_the_end_of_a_prompt_says_whether_it_opens_reasoning(format: str) -> None:
    prompts = Prompts(built_in(format))
    native = next(row for row in native_formats() if row["name"] == format)
    unknown = None if native["starts_in_reasoning"] and native["reasoning"] else False
    for opener in [opener for opener, _ in native["reasoning"]] + [native["reasoning_prompt"] or ""]:
        if opener:
            assert prompts.opens_reasoning(f"question{opener}")
            assert prompts.opens_reasoning(f"question{opener}\n")
            assert prompts.opens_reasoning(f"question{opener}I thi") is unknown
            assert prompts.leaves_open(f"{opener}I thi")
    for opener, closer in native["reasoning"]:
        assert prompts.leaves_open(f"{opener}A{closer}\n\nOK") is False
        assert prompts.opens_reasoning(f"{opener}{closer}\n\n") is False
        assert prompts.closes_reasoning(f"{opener}{closer}\n\n")
    assert prompts.leaves_open("It is") is None
    assert prompts.opens_reasoning("assistant\n") is unknown


def test_a_format_without_reasoning_opens_none() -> None:
    prompts = Prompts(Format(call="<do>{name} {arguments}</do>"))
    assert prompts.opens_reasoning("assistant\n") is False
    assert prompts.leaves_open("<think>") is None
    assert not prompts.closes_reasoning("assistant\n")


def test_the_last_token_says_whether_a_message_was_cut() -> None:
    stops = stop_ids(built_in("glm-4.7"), {"<|user|>": 1, "<|observation|>": 2, "x": 3}, [9, None, [8, 7]])
    assert stops == {1, 2, 7, 8, 9}
    assert is_cut(2, stops) is False
    assert is_cut(3, stops) is True
    assert is_cut(3, stops, [3]) is False
    assert is_cut(None, stops) is None
