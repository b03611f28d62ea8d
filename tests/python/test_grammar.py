"""What a grammar promises, tried with llguidance: what it allows is read strictly, and it allows what the
encoder writes.

A case is a random toolset. `make test-grammar` tries many more, and xgrammar.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from law import SEED, count
from wirecall import PROTOCOLS, ToolError, Toolset, detect
from wirecall._core import native_formats

try:
    import llguidance  # noqa: F401

    from grammar_engines import Llguidance, vocabulary
    from grammar_support import Case, Choice, Sampler, judge
except ImportError as error:  # pragma: no cover
    pytest.skip(f"{error}; `make venv` installs it", allow_module_level=True)

CACHE = Path(os.environ.get("TIKTOKEN_CACHE_DIR", Path(__file__).parents[2] / ".venv/share/tiktoken"))
if not CACHE.is_dir() or not any(CACHE.iterdir()):
    pytest.skip("no vocabulary; `make venv` fetches it", allow_module_level=True)
os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(CACHE))

# In `make test`, `make check` and `make laws`: 2, 20 and 300 toolsets for each of three tests.
CASES = min(300, max(2, count(2000, 100)))
CALLS = 8
MESSAGES = 4
KINDS = ("gbnf", "ebnf", "structural_tag", "lark")
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def has_grammar(protocol: str) -> bool:
    try:
        return bool(Toolset([("f", WEATHER)], protocol=protocol).grammar("lark").text)
    except ToolError:
        return False


NAMES = dict.fromkeys((*PROTOCOLS, *(row["name"] for row in native_formats())))
OTHERS = [name for name in NAMES if name != "wire" and has_grammar(name)]


@pytest.fixture(scope="module")
def sampler() -> Sampler:
    known = vocabulary()
    return Sampler(known, Llguidance(known))


@pytest.mark.laws
@pytest.mark.parametrize("part", range(3))
def test_what_a_grammar_allows_is_read_and_what_is_written_is_allowed(sampler: Sampler, part: int) -> None:
    messages = 0
    for number in range(part, CASES * 3, 3):
        case = Case(number, seed=SEED)
        tally = sampler.case(case, "lark", CALLS, MESSAGES)
        messages += tally.messages
        assert not tally.broken, tally.broken[0]
        assert tally.calls
        assert tally.messages
        assert tally.free or not case.plain
    assert messages


@pytest.mark.laws
@pytest.mark.parametrize("protocol", OTHERS)
def test_the_same_in_other_protocols(sampler: Sampler, protocol: str) -> None:
    """Only walks: raw values refuse markers that the encoder may write."""
    for number in range(0, 2 * max(1, CASES // 20), 2):
        tally = sampler.case(Case(number, protocol, seed=SEED), "lark", CALLS, 0)
        assert not tally.broken, tally.broken[0]
        assert tally.calls


def test_text_alone_has_no_call(sampler: Sampler) -> None:
    case, choice = Case(0), Choice("none")
    matcher = sampler.engine.matcher("lark", case.toolset.grammar("lark", tool_choice="none").text)
    for _ in range(20):
        walk = sampler.walk(case, choice, matcher)
        if walk.complete:
            assert judge(case, choice, walk.text, ()) == (0, 0)
            assert detect(walk.text, tools=case.tools) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_threads_write_the_same_grammar(kind: Any) -> None:
    tools = Toolset([("get_weather", WEATHER), ("ping", {"type": "object", "properties": {}})])
    with ThreadPoolExecutor(8) as pool:
        texts = set(pool.map(lambda _: tools.grammar(kind).text, range(64)))
    assert texts == {tools.grammar(kind).text}
