"""When the manual costs less than native definitions, as README.md says: the tests' own tools."""

from pathlib import Path

import application
import pytest

from wirecall import tokens

README = Path(__file__).parents[3] / "README.md"


def test_one_or_two_small_tools_cost_more_than_they_save() -> None:
    try:
        count = tokens.tokenizer()
    except tokens.VocabularyError:
        pytest.skip("tiktoken's vocabulary is not there")
    tools = application.SHOP.chat_tools()
    two, three = (tokens.measure(tools[:most], count=count) for most in (2, 3))
    assert two.wire >= two.native
    assert three.wire < three.native
    assert "You have one or two small tools" in README.read_text(encoding="utf-8")
