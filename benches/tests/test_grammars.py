"""`python -m wirecall_bench.grammars`: what is measured, and what its table says."""

import sys
from typing import Any

import pytest

from wirecall_bench import grammars
from wirecall_bench.grammars import Goal, Measured, catalogue, main, measure, table
from wirecall_bench.tables import markdown

GOAL = Goal(20, 0.15, 1)


class Letters:
    """An encoding with a token for each character."""

    def encode(self, text: str, disallowed_special: tuple[()]) -> list[int]:
        return list(map(ord, text))


class Fake:
    """A decoder that notes what it is asked, and refuses a tab."""

    def __init__(self) -> None:
        self.masks = self.messages = 0

    def mask(self) -> None:
        self.masks += 1

    def accept(self, token: int) -> bool:
        return token != ord("\t")

    def restart(self) -> None:
        self.messages += 1


def test_the_catalogue_has_enough_tools_and_calls() -> None:
    tools, calls = catalogue()
    assert len(tools.names) == grammars.TOOLS == 50
    assert len(calls) > 100
    assert not [text for text in calls if tools.parse(text).errors]


def test_each_token_has_a_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    tools, _ = catalogue()
    monkeypatch.setattr(grammars, "catalogue", lambda: (tools, ["abc", "d\te"]))
    compiled: list[tuple[str, str]] = []
    made: list[Fake] = []

    def compile(kind: Any, text: str) -> Fake:
        compiled.append((kind, text))
        made.append(Fake())
        return made[-1]

    rows = measure("some", compile, "lark", GOAL, 3, Letters())  # type: ignore[arg-type]
    assert [row.tool_choice for row in rows] == ["required", "auto"]
    assert len(compiled) == 6
    assert compiled[0][1] == tools.grammar("lark", tool_choice="required").text
    # What follows a refused token has none.
    assert rows[0].tokens == made[2].masks == len("abc") + len("d\t")
    assert made[2].messages == 2
    assert rows[1].tokens > rows[0].tokens
    assert all(0 <= row.median <= row.p95 for row in rows)


@pytest.mark.parametrize(
    ("figures", "met"),
    [((0.02, 0.00015, 0.001), "yes"), ((0.021, 0.0001, 0.001), "NO"), ((0.01, 0.0001, 0.0011), "NO")],
)
def test_the_table_compares_with_the_goal(figures: tuple[float, float, float], met: str) -> None:
    row = Measured("llguidance", "lark", "auto", *figures, tokens=1234, goal=GOAL)
    text = markdown(table([row]))
    assert text.endswith(f"| 1,234 | 20, 0.15, 1 ms | {met} |")
    assert "| llguidance, lark | auto |" in text


def test_a_library_that_is_not_installed_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: Letters())
    for name in ("llguidance", "llguidance.tiktoken", "xgrammar"):
        monkeypatch.setitem(sys.modules, name, None)
    main(["--quick"])
    said = capsys.readouterr().out
    assert "llguidance is left out: " in said
    assert "xgrammar is left out: " in said
