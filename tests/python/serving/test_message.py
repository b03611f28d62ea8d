"""A message as an inference server reads it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from canitoolcall.checks import case_status, run_checks
from canitoolcall.fixtures import Fixture
from canitoolcall.results import Observation, ParsedToolCall, ParseResult, Status

import near_misses
from collected_texts import Collected, canitoolcall, slips, vectors
from law import count, seeded
from neutral_suite import FAMILIES, FIXTURES, SEEDS, SOFT, chunks, row
from wirecall import FAMILIES as FAMILIES_OF_FORMATS
from wirecall import CallError
from wirecall._serving.message import Delta, MessageReader
from wirecall._serving.prompts import Prompts
from wirecall._serving.reports import Reports
from wirecall._serving.toolsets import Toolsets
from wirecall._tools.formats.description import built_in

REPORTS = Reports("test", logging.getLogger("test"))


def reader(
    format: str, tools: Iterable[Any], *, held: bool, in_reasoning: bool | None = None
) -> MessageReader:
    toolset = Toolsets(built_in(format), REPORTS).of(tools)
    return MessageReader(toolset, REPORTS, held=held, in_reasoning=in_reasoning)


def joined(deltas: Iterable[Delta]) -> tuple[str, str, list[tuple[str, str]]]:
    """What a client puts together: text, reasoning, calls."""
    text = reasoning = ""
    calls: list[tuple[str, str]] = []
    for delta in deltas:
        text += delta.text
        reasoning += delta.reasoning
        for call in delta.calls:
            if call.name is not None:
                assert call.index == len(calls)
                assert call.id
                calls.append((call.name, ""))
            # A client closes a call when the next one begins.
            assert call.index == len(calls) - 1
            name, arguments = calls[-1]
            calls[-1] = name, arguments + call.arguments
    return text, reasoning, calls


def streamed(reader: MessageReader, parts: Iterable[str], truncated: bool | None) -> Iterable[Delta]:
    for part in parts:
        yield reader.feed(part)
    yield reader.finish(truncated=truncated)


def result(fixture: Fixture, parts: list[str] | None, *, held: bool) -> ParseResult:
    """A fixture as a server reads it that knows the prompt; whole without parts."""
    prompt = fixture.generation_prompt
    opened = None if prompt is None else Prompts(built_in(row(fixture))).opens_reasoning(prompt)
    message = reader(
        row(fixture), [tool["function"] for tool in fixture.tools], held=held, in_reasoning=opened
    )
    if parts is None:
        deltas: Iterable[Delta] = [message.whole(fixture.raw_output, truncated=fixture.truncated)]
    else:
        deltas = streamed(message, parts, fixture.truncated)
    text, reasoning, calls = joined(deltas)
    return ParseResult(
        content=text or None,
        reasoning_content=reasoning or None,
        tool_calls=tuple(ParsedToolCall(*call) for call in calls),
    )


def status(fixture: Fixture, *, held: bool) -> Status:
    text = fixture.raw_output
    streams = {"whole": [text], "characters": list(text)}
    streams |= {f"random {seed}": chunks(text, seed) for seed in SEEDS[:5]}
    observation = Observation(
        nonstream=result(fixture, None, held=held),
        streams={label: result(fixture, parts, held=held) for label, parts in streams.items()},
    )
    return case_status(run_checks(fixture, FAMILIES[fixture.family], observation))


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.id)
def test_fixture_with_held_calls(fixture: Fixture) -> None:
    assert status(fixture, held=True) is (Status.SOFT_PASS if fixture.id in SOFT else Status.PASS)


def test_streamed_calls_fail_only_where_they_break_off() -> None:
    failed = [fixture for fixture in FIXTURES if status(fixture, held=False) is Status.FAIL]
    assert len(failed) <= 27
    for fixture in failed:
        parts = list(fixture.raw_output)
        held, sent = (result(fixture, parts, held=held) for held in (True, False))
        more = sent.tool_calls[len(held.tool_calls) :]
        assert more
        # What was sent too much is no complete call.
        for call in more:
            with pytest.raises(ValueError, match=r"line 1"):
                json.loads(str(call.arguments_raw))


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("format", ["hermes", "mistral", "glm-4.7", "llama-pythonic", "kimi-k2", "wire"])
def test_a_message_is_the_same_in_any_chunks(format: str, held: bool) -> None:
    rng = seeded(37)
    tools = near_misses.TOOLS
    toolset = Toolsets(built_in(format), REPORTS).of(tools)
    calls = [("save_file", {"path": path, "days": days}) for path, days in (("a b", 5), ("c", 6))]
    text = toolset.encode_message("I save.", calls)
    [whole] = [joined([reader(format, tools, held=held).whole(text, truncated=False)])]
    assert [name for name, _ in whole[2]] == ["save_file"] * 2
    for _ in range(20):
        parts = chunks(text, rng.randrange(1 << 30))
        assert joined(streamed(reader(format, tools, held=held), parts, False)) == whole


@pytest.mark.parametrize("texts", [vectors, slips, canitoolcall], ids=lambda texts: texts.__name__)
def test_messages_of_others_are_read_as_by_the_toolset(texts: Callable[[], Iterator[Collected]]) -> None:
    """Held or streamed, by characters or in chunks: the same calls, and all text of calls that failed."""
    for number, one in enumerate(texts()):
        tools = one.toolset()
        parsed = one.parsed(tools)
        parser = tools.parser(in_reasoning=one.in_reasoning)
        parser.feed(one.text)
        ends = [event for event in parser.finish(truncated=one.truncated) if isinstance(event, CallError)]
        cut = sum(len(error.raw) for error in ends if error.kind == "incomplete_call")
        calls = [(call.name, call.arguments) for call in parsed.calls]
        for held in (True, False):
            for parts in (list(one.text), chunks(one.text, number)):
                message = MessageReader(tools, REPORTS, in_reasoning=one.in_reasoning, held=held)
                text, reasoning, found = joined(streamed(message, parts, one.truncated))
                assert reasoning == parsed.reasoning, one
                assert [call for at, call in enumerate(found) if at not in message.broken] == calls, one
                raw = sum(len(error.raw) for error in parsed.errors)
                assert len(text) == len(parsed.text) + raw - cut, one


MARKS = ("<", "{", "}", '"', "[", "]", "\n", "<tool_call>", "</think>", "<think>", "\ufffd", "x")


@pytest.mark.laws
@pytest.mark.parametrize("format", FAMILIES_OF_FORMATS)
def test_mutated_messages_are_the_same_in_any_chunks(format: str) -> None:
    """Nothing raises, and a held message does not depend on its chunks."""
    rng = seeded(38)
    tools = near_misses.TOOLS
    toolset = Toolsets(built_in(format), REPORTS).of(tools)
    written = toolset.encode_message("I save.", [("save_file", near_misses.ARGUMENTS)] * 2)
    for _ in range(max(2, count(2000, 100))):
        text = written
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(MARKS) + text[at + rng.choice((0, 0, 1, 5)) :]
        cut = rng.choice((None, True, False))
        whole = joined([reader(format, tools, held=True).whole(text, truncated=cut)])
        parts = chunks(text, rng.randrange(1 << 30))
        assert joined(streamed(reader(format, tools, held=True), parts, cut)) == whole
        # Streamed calls are those, and parts of calls that failed, whose text is there, too.
        message = reader(format, tools, held=False)
        sent = joined(streamed(message, parts, cut))
        assert sent[:2] == whole[:2]
        assert [call for at, call in enumerate(sent[2]) if at not in message.broken] == whole[2]


def test_unknown_tools_are_passed_on() -> None:
    text = '<tool_call>\n{"name": "rm_rf", "arguments": {"path": 1}}\n</tool_call>'
    for held in (False, True):
        delta = reader("hermes", near_misses.TOOLS, held=held).whole(text, truncated=False)
        assert [(call.name, call.arguments) for call in delta.calls] == [("rm_rf", '{"path":1}')]


@pytest.mark.parametrize(
    "text",
    ['<tool_call>\n{"nome": [}\n</tool_call>', "<tool_call>\nsave_file\n</tool_call>"],
    ids=["JSON", "no call"],
)
@pytest.mark.parametrize("held", [False, True])
def test_what_cannot_be_read_stays_in_the_text(text: str, held: bool) -> None:
    message = f"A.{text}"
    found = joined(streamed(reader("hermes", near_misses.TOOLS, held=held), list(message), False))
    assert found == (message, "", [])


@pytest.mark.parametrize("held", [False, True])
def test_a_cut_call_is_dropped_or_incomplete(held: bool) -> None:
    text = '<tool_call>\n{"name": "save_file", "arguments": {"path": "a b"'
    found = joined(streamed(reader("hermes", near_misses.TOOLS, held=held), list(text), True))
    assert found == ("", "", [] if held else [("save_file", '{"path":"a b')])


def test_a_message_ends_once() -> None:
    message = reader("hermes", (), held=False)
    deltas = [message.feed("A"), message.finish(), message.finish(), message.feed("B"), message.feed("")]
    assert joined(deltas) == ("AB", "", [])


def test_the_text_of_a_call_that_breaks_is_sent() -> None:
    text = 'A <tool_call>\n{"name": "save_file", "arguments": {"days": 1 @@@ and more</tool_call> Tail'
    for held in (False, True):
        message = reader("hermes", near_misses.TOOLS, held=held)
        found = joined(streamed(message, list(text), False))
        assert "and more" in found[0]
        assert "Tail" in found[0]
        assert message.broken == (set() if held else {0})


def test_calls_after_one_that_failed_are_numbered_without_gaps() -> None:
    """Of a list that is cut in its third call, no call has ended; only the first one has begun to be sent."""
    one = '{"name": "save_file", "arguments": {"days": %d}}'
    text = f"[TOOL_CALLS][{one % 1}, {one % 2}, {one % 3}"[:-3]
    message = reader("mistral", near_misses.TOOLS, held=False)
    _, _, calls = joined(streamed(message, list(text), True))
    assert len(calls) == 1
    assert message.broken == {0}
