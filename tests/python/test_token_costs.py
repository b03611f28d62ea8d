"""From how many tools text pays: what `wirecall tokens` says is what lists of that length cost."""

import json
import random
import re
from typing import Any

import pytest

from wirecall import PROTOCOLS, tokens

SEEDS = range(20)
WORDS = [
    "the",
    "a",
    "city",
    "of",
    "days",
    "forecast",
    "list",
    "report",
    "user",
    "temperature",
    "in",
    "unit",
    "returns",
]
# As vocabularies do, it counts words in pieces, and punctuation together: tokens span what is joined.
_PIECES = re.compile(r"\w{1,5}|[^\w\s]+|\s+")


def pieces(text: str) -> int:
    return len(_PIECES.findall(text))


def generated(draw: random.Random) -> dict[str, Any]:
    properties = {
        f"field_{index}": {"type": draw.choice(["string", "integer", "boolean"])}
        for index in range(draw.randrange(1, 4))
    }
    if draw.random() < 0.5:
        properties["field_0"]["description"] = " ".join(draw.choices(WORDS, k=draw.randrange(1, 6)))
    return {
        "description": " ".join(draw.choices(WORDS, k=draw.randrange(12))),
        "parameters": {"type": "object", "properties": properties, "required": ["field_0"]},
    }


def named(tools: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """The tools in turn, as often as needed, with names of one length."""
    return [{"name": f"tool_{1000 + at}", **tools[at % len(tools)]} for at in range(number)]


def pays(tools: list[dict[str, Any]], number: int, count: tokens.Count, protocol: str) -> bool:
    costs = tokens.measure(named(tools, number), count=count, protocol=protocol)
    return costs.wire < costs.native


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_pays_from_copies_of_one_size_agrees_with_their_costs(protocol: str, number: int) -> None:
    checked = 0
    for seed in SEEDS:
        draw = random.Random(seed)
        tool = [generated(draw)]
        costs = tokens.measure(named(tool, number), count=len, protocol=protocol)
        if costs.pays_from is None or costs.pays_from > 300:
            continue
        assert pays(tool, costs.pays_from, len, protocol), seed
        if costs.pays_from > 2:  # The header for one tool may be shorter.
            assert not pays(tool, costs.pays_from - 1, len, protocol), seed
            checked += 1
    assert checked


@pytest.mark.parametrize("protocol", ["wire", "hermes", "xml"])
def test_pays_from_a_mixed_list_agrees_with_whole_copies_of_it(protocol: str) -> None:
    """Part of a list has another mean, so only whole copies are exact."""
    for seed in SEEDS:
        draw = random.Random(seed)
        tools = [generated(draw) for _ in range(draw.randrange(2, 5))]
        costs = tokens.measure(named(tools, len(tools)), count=len, protocol=protocol)
        if costs.pays_from is None or costs.pays_from > 300:
            continue
        above = -(-costs.pays_from // len(tools)) * len(tools)
        assert pays(tools, above, len, protocol), seed
        if (below := (costs.pays_from - 1) // len(tools) * len(tools)) > 0:
            assert not pays(tools, below, len, protocol), seed


def test_pays_from_tokens_that_span_joints_is_at_most_one_tool_off() -> None:
    for seed in SEEDS:
        tool = [generated(random.Random(seed))]
        found = tokens.measure(named(tool, 1), count=pieces).pays_from
        if found is None:
            continue
        assert pays(tool, found + 1, pieces, "wire"), seed
        assert found < 3 or not pays(tool, found - 2, pieces, "wire"), seed


def test_pays_from_tools_that_save_nothing_is_none() -> None:
    """Each line of text is longer than its JSON: a unit in which JSON costs nothing."""

    def without_json(text: str) -> int:
        return 0 if text.startswith(("{", "[")) else len(text)

    costs = tokens.measure(named([generated(random.Random(0))], 2), count=without_json)
    assert (costs.native, costs.pays_from) == (0, None)
    assert tokens.tables(costs, "characters").splitlines()[-2:] == [
        f"Text costs {costs.wire} characters more than native for these tools: the header costs "
        f"{costs.header} characters.",
        "Tools of this size save nothing, so text does not pay off, however many they are.",
    ]


def test_pays_from_no_tools_is_none_and_says_nothing() -> None:
    costs = tokens.measure([], count=len)
    assert costs.pays_from is None
    assert "Text costs" not in tokens.tables(costs, "characters")


def test_tables_say_that_text_costs_more_exactly_if_it_does() -> None:
    tool = [generated(random.Random(1))]
    for number in range(1, 8):
        costs = tokens.measure(named(tool, number), count=len)
        saving = sum(one.native - one.wire for one in costs.tools) / number
        shown = tokens.tables(costs, "tokens of o200k_base")
        assert ("Text costs" in shown) == (costs.wire > costs.native)
        if costs.wire > costs.native:
            assert shown.endswith(
                f"Text costs {costs.wire - costs.native} tokens more than native for these tools: the header "
                f"costs {costs.header} tokens.\nTools of this size save {saving:g} tokens each, so text pays "
                f"off from about {costs.pays_from} tools."
            )
            assert costs.pays_from is not None
            assert costs.pays_from > number
        else:
            assert costs.pays_from is not None
            assert costs.pays_from <= number


def test_json_of_the_command_has_the_number(tmp_path: Any) -> None:
    testing = pytest.importorskip("click.testing")
    pytest.importorskip("rich")
    from wirecall._cli.commands import wirecall

    tools = named([generated(random.Random(1))], 1)
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(tools), encoding="utf-8")
    arguments = ["tokens", "--tools", str(path), "--characters"]
    found = json.loads(testing.CliRunner().invoke(wirecall, [*arguments, "--json"]).stdout)
    assert found["pays_from"] == tokens.measure(tools, count=len).pays_from
    assert (
        f"pays off from about {found['pays_from']} tools.\n"
        in testing.CliRunner().invoke(wirecall, arguments).stdout
    )
