"""docs/grammars.md names the protocols without a grammar."""

import re
from pathlib import Path

import wirecall
from support import EVERY, has_grammar

PAGE = Path(__file__).parents[2] / "docs" / "grammars.md"


def test_the_page_names_the_protocols_without_a_grammar() -> None:
    found = re.search(
        r"These\s+have\s+none, and say so: (.*?)\. Their", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found is not None
    named = set(re.findall(r"`([^`]+)`", found[1]))
    assert named == {name for name in EVERY if not has_grammar(name)}


def test_a_demand_is_shown_as_tool_field_and_keyword() -> None:
    assert str(wirecall.Unconstrained("f", "a.b", "pattern")) == "f.a.b: pattern"
    assert str(wirecall.Unconstrained("f", "", "oneOf")) == "f: oneOf"
