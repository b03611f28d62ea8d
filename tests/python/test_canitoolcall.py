"""The neutral suite of canitoolcall: content, reasoning and calls in what models of nine families write."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from canitoolcall.fixtures import Fixture
from canitoolcall.results import Observation, Status

from neutral_suite import FAMILIES, FIXTURES, SEEDS, SOFT, checked, parsed, row
from script_support import load_script
from wirecall import Toolset

PAGE = Path(__file__).parents[2] / "docs" / "families.md"


def applicable(fixture: Fixture, observation: Observation) -> Counter[str]:
    """How many rows each check must give: one for each way to read the message, where the check applies."""
    results = [observation.nonstream, *observation.streams.values()]
    with_calls = sum(bool(result.tool_calls) for result in results)
    rows = Counter(stream_equals_nonstream=len(observation.streams), split_invariance=1)
    rows["expected_match" if fixture.expected else "expected_error"] = len(results)
    rows.update(arguments_json=with_calls, arguments_schema=with_calls)
    rows.update(no_leakage=len(results) if FAMILIES[fixture.family].markers else 0)
    several = fixture.expected is not None and len(fixture.expected.tool_calls) > 1
    rows.update(parallel_order=len(results) if several else 0)
    return +rows


def test_the_fixtures_are_all_there() -> None:
    assert Counter(fixture.family for fixture in FIXTURES) == {
        "deepseek": 85,
        "gemma4": 48,
        "glm": 51,
        "gpt-oss": 51,
        "kimi": 49,
        "llama": 34,
        "mistral": 47,
        "qwen3-hermes": 50,
        "qwen3-xml": 54,
    }
    assert len(FIXTURES) == 469
    assert {fixture.id for fixture in FIXTURES} >= SOFT.keys()


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.id)
def test_fixture(fixture: Fixture, strict: bool) -> None:
    """Every check passes, and applies to every way to read the message."""
    status, rows, observation = checked(fixture, strict=strict)
    assert len(observation.streams) == 2 + len(SEEDS) == 22
    assert Counter(row.check for row in rows) == applicable(fixture, observation)
    accepted = Status.SOFT_PASS if fixture.id in SOFT else Status.PASS
    assert [row for row in rows if row.status not in (Status.PASS, accepted)] == []
    assert status is accepted
    # A call that must not be made is not made.
    assert fixture.expected is not None or not observation.nonstream.tool_calls


# The format llama-json has no markers: JSON after more whitespace is text.
@pytest.mark.parametrize(
    "fixture", [one for one in FIXTURES if one.family != "llama"], ids=lambda one: one.id
)
def test_fixture_after_much_whitespace_has_the_same_calls(fixture: Fixture) -> None:
    toolset = Toolset([tool["function"] for tool in fixture.tools], protocol=row(fixture))
    line = parsed(fixture, toolset, ["\n" + fixture.raw_output])
    blank = "\n" * 1500
    for chunks in ([blank + fixture.raw_output], [*blank, *fixture.raw_output]):
        many = parsed(fixture, toolset, chunks)
        assert many.tool_calls == line.tool_calls
        assert (many.content or "").strip() == (line.content or "").strip()


def test_the_page_is_up_to_date() -> None:
    """The results on the page are those that `test_fixture` asks for."""
    page = load_script("families_page").page(lambda fixture: "SOFT_PASS" if fixture.id in SOFT else "PASS")
    assert PAGE.read_text(encoding="utf-8") == page, "docs/families.md is out of date: run `make families`"
