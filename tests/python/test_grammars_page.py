"""docs/grammars.md names the protocols without a grammar."""

import re
from pathlib import Path

import pytest

import wirecall

PAGE = Path(__file__).parents[2] / "docs" / "grammars.md"


def has_grammar(protocol: str) -> bool:
    tools = wirecall.Toolset(
        [{"name": "f", "parameters": {"type": "object", "properties": {}}}], protocol=protocol
    )
    try:
        return bool(tools.grammar("gbnf").text)
    except wirecall.ToolError:
        return False


def test_the_page_names_the_protocols_without_a_grammar() -> None:
    found = re.search(
        r"These have none, and say so: (.*?)\. Their", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found is not None
    named = set(re.findall(r"`([^`]+)`", found[1]))
    assert named == {name for name in (*wirecall.PROTOCOLS, *wirecall.FAMILIES) if not has_grammar(name)}


def test_arguments_are_checked() -> None:
    tools = wirecall.Toolset([{"name": "f", "parameters": {"type": "object", "properties": {}}}])
    with pytest.raises(ValueError, match="gbnf"):
        tools.grammar("regex")  # type: ignore[arg-type]
    with pytest.raises(wirecall.ToolError, match='names "g"'):
        tools.grammar("gbnf", tool_choice="g")
    with pytest.raises(TypeError, match="parallel"):
        tools.grammar("gbnf", parallel=1)  # type: ignore[arg-type]
    with pytest.raises(wirecall.ToolError, match="needs tools"):
        wirecall.Toolset().grammar("gbnf")


def test_a_demand_is_shown_as_tool_field_and_keyword() -> None:
    assert str(wirecall.Unconstrained("f", "a.b", "pattern")) == "f.a.b: pattern"
    assert str(wirecall.Unconstrained("f", "", "oneOf")) == "f: oneOf"
