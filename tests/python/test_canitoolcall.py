"""The neutral suite of canitoolcall: what models of a family write, and the calls in it.

Content and reasoning are not compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from canitoolcall.checks import check_expected_match, compare, expected_as_result, run_checks
from canitoolcall.chunking import ChunkStrategy, split_text
from canitoolcall.fixtures import Expected, Family, Fixture, load_families, load_fixtures
from canitoolcall.results import Observation, ParsedToolCall, ParseResult, Status

from wirecall import CallEnd, CallStart, Toolset

PROTOCOLS = {"qwen3-hermes": "hermes", "qwen3-xml": "qwen3coder"}
FIXTURES = load_fixtures(families=list(PROTOCOLS))
FAMILIES = load_families()
STRATEGIES = [ChunkStrategy("char"), *(ChunkStrategy("rand", seed=seed, max_group=8) for seed in range(1, 6))]


def calls(fixture: Fixture, chunks: Iterable[str], **options: Any) -> ParseResult:
    """The calls that an application gets."""
    tools = Toolset(
        [tool["function"] for tool in fixture.tools], protocol=PROTOCOLS[fixture.family], **options
    )
    prompt = (fixture.generation_prompt or "").rstrip()
    parser = tools.parser(in_reasoning=prompt.endswith("<think>"))
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    events += parser.finish(truncated=fixture.truncated)
    started = [event.name for event in events if isinstance(event, CallStart)]
    ended = [event for event in events if isinstance(event, CallEnd)]
    assert len(ended) <= len(started)
    return ParseResult(tool_calls=tuple(ParsedToolCall(end.name, end.arguments) for end in ended))


def of_calls(fixture: Fixture) -> Fixture:
    """The fixture with nothing to expect but its calls."""
    expected = fixture.expected and Expected(None, None, fixture.expected.tool_calls)
    return Fixture(**{**vars(fixture), "expected": expected})


def observed(fixture: Fixture, **options: Any) -> Observation:
    whole = calls(fixture, [fixture.raw_output], **options)
    streams = {
        strategy.id: calls(fixture, split_text(fixture.raw_output, strategy), **options)
        for strategy in STRATEGIES
    }
    return Observation(nonstream=whole, streams=streams)


def family(fixture: Fixture) -> Family:
    return FAMILIES[fixture.family]


def test_the_families_are_all_there() -> None:
    counts = {name: sum(fixture.family == name for fixture in FIXTURES) for name in PROTOCOLS}
    assert counts == {"qwen3-hermes": 50, "qwen3-xml": 54}


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.id)
def test_calls(fixture: Fixture, strict: bool) -> None:
    """Names, arguments, order and count, whole and in parts; no marker of the format in an argument."""
    fixture = of_calls(fixture)
    observation = observed(fixture, strict=strict)
    rows = run_checks(fixture, family(fixture), observation)
    assert {row.check for row in rows} >= {"stream_equals_nonstream", "split_invariance", "no_leakage"}
    assert [row for row in rows if row.status is not Status.PASS] == []
    if fixture.expected is None:
        assert observation.nonstream.tool_calls == ()
    else:
        assert check_expected_match(fixture, family(fixture), observation)
        assert compare(expected_as_result(fixture.expected), observation.nonstream) is Status.PASS
