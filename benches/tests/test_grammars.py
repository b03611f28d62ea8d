"""`python -m wirecall_bench.grammars`: what is measured, and what its table says."""

import json
import sys
from dataclasses import replace
from typing import Any

import pytest

from wirecall import Toolset
from wirecall_bench import grammars
from wirecall_bench.grammars import Goal, Measured, after_others, catalogue, main, measure, table
from wirecall_bench.tables import markdown

GOAL = Goal(20, 0.15, 1)


class Letters:
    """A vocabulary with a token for each character."""

    def tokenize(self, text: str) -> list[int]:
        return list(map(ord, text))


class Fake:
    """A matcher that notes what it is asked, and refuses a tab."""

    def __init__(self) -> None:
        self.masks = self.messages = 0

    def mask(self) -> None:
        self.masks += 1

    def accept(self, tokens: list[int]) -> int:
        return int(tokens != [ord("\t")])

    def reset(self) -> None:
        self.messages += 1


class FakeEngine:
    name = "some"

    def __init__(self) -> None:
        self.compiled: list[tuple[str, str]] = []
        self.made: list[Fake] = []

    def matcher(self, kind: str, text: str) -> Fake:
        self.compiled.append((kind, text))
        self.made.append(Fake())
        return self.made[-1]


def test_the_catalogue_has_enough_tools_and_calls() -> None:
    found = catalogue()
    assert len(found.definitions) == grammars.TOOLS == 50
    assert len(found.others) > 10
    assert len(found.calls) > 100
    tools = Toolset(found.definitions)
    assert not [text for text in found.calls if tools.parse(text).errors]


def test_each_token_has_a_mask() -> None:
    tools = replace(catalogue(), calls=["abc", "d\te"])
    engine: Any = FakeEngine()
    vocabulary: Any = Letters()
    rows = measure(engine, "lark", GOAL, 3, tools, vocabulary)
    assert [row.tool_choice for row in rows] == ["required", "auto"]
    assert len(engine.compiled) == 8
    assert engine.compiled[0][1] == Toolset(tools.definitions).grammar("lark", tool_choice="required").text
    # What follows a refused token has none.
    assert rows[0].tokens == engine.made[3].masks == len("abc") + len("d\t")
    assert rows[0].followed == 0.5
    assert engine.made[3].messages == 2
    assert rows[1].tokens > rows[0].tokens
    assert all(0 <= row.median <= row.p95 <= row.worst for row in rows)


def test_a_library_with_a_cache_knows_other_tools_before() -> None:
    made: list[Any] = []

    def cached(vocabulary: Any) -> Any:
        made.append(FakeEngine())
        return made[-1]

    library, tools, vocabulary = replace(grammars.LIBRARIES[0], cached=cached), catalogue(), Letters()
    found = after_others(library, tools, vocabulary)  # type: ignore[arg-type]
    assert found is not None
    assert found >= 0
    for engine in made:
        [(_, known), (_, text)] = engine.compiled
        assert known != text == tools.grammar("lark", "required")
    assert after_others(replace(library, cached=None), tools, vocabulary) is None  # type: ignore[arg-type]


def test_their_own_grammars_are_those_of_the_same_tools() -> None:
    llguidance = pytest.importorskip("llguidance")
    tools = catalogue().definitions
    text = grammars.own_lark(tools)
    assert not llguidance.LLMatcher.validate_grammar(llguidance.LLMatcher.grammar_from_lark(text))
    tag = json.loads(grammars.own_structural_tag(tools))
    assert [one["content"]["json_schema"] for one in tag["format"]["tags"]] == [
        tool.parameters for tool in tools
    ]


@pytest.mark.parametrize(
    ("figures", "met"),
    [((0.02, 0.00015, 0.001), "yes"), ((0.021, 0.0001, 0.001), "NO"), ((0.01, 0.0001, 0.0011), "NO")],
)
def test_the_table_compares_with_the_goal(figures: tuple[float, float, float], met: str) -> None:
    row = Measured("llguidance", "lark", "auto", *figures, worst=0.1, tokens=1234, followed=0.97, goal=GOAL)
    text = markdown(table([row]))
    assert text.endswith(f"| 1,234 | 97% | 20, 0.15, 1 ms | {met} |")
    # A grammar that refuses calls is not fast.
    assert not replace(row, followed=0.5).is_met
    assert "| llguidance, lark | auto |" in text


def test_a_library_that_is_not_installed_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: None)
    monkeypatch.setattr(grammars, "TokenVocabulary", lambda encoding: Letters())
    for name in ("llguidance", "llguidance.tiktoken", "xgrammar"):
        monkeypatch.setitem(sys.modules, name, None)
    main(["--quick"])
    said = capsys.readouterr().out
    assert "llguidance is left out: " in said
    assert "xgrammar is left out: " in said
