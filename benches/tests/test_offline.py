"""`wirecall bench offline`: the goals, sums and break-evens that are known, and the command."""

import json
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from measured import CATALOGUES, REFERENCE, own, reference

from wirecall import tokens
from wirecall._cli.commands import wirecall
from wirecall._tools.definitions import Definition
from wirecall_bench.artifact import Cell, read
from wirecall_bench.catalogue import Case, Catalogue
from wirecall_bench.formats import ONE_TOKEN, Format, InexpressibleError, UnreadableError, Writing, formats
from wirecall_bench.offline import (
    GroupTotal,
    Pays,
    Total,
    break_even,
    cells,
    command,
    groups,
    options,
    tables,
    totals,
)
from wirecall_bench.vocabularies import Vocabulary, vocabularies

CHARACTERS = Vocabulary("characters", len)


@cache
def counted(name: str) -> Sequence[Cell]:
    """The cells of a catalogue, in o200k_base."""
    if tokens.cached_tokenizer() is None:
        pytest.skip("tiktoken's vocabulary is not in its cache")
    return list(cells([CATALOGUES[name]()], vocabularies()))


@cache
def sums(name: str) -> dict[str, Total]:
    return {total.format: total for total in totals(counted(name), 0.1)}


# --- the goals


def test_the_reference_catalogue_reaches_its_goals() -> None:
    of = sums("reference")
    assert of["wire"].calls <= 465
    assert of["wire"].calls <= 0.903 * of["named"].calls
    assert of["wire-short"].calls <= 400
    assert of["wire"].definitions <= 360


def test_the_reference_counts_as_its_authors_did() -> None:
    """Their totals, of the same forms."""
    theirs = json.loads(REFERENCE.read_text(encoding="utf-8"))["totals"] if reference() else {}
    of = sums("reference")
    assert of["named"].calls == theirs["jsonNameArgsOnly"]
    assert of["arguments"].calls == theirs["argumentsJsonOnly"]
    assert of["anthropic"].calls == theirs["json"]


@pytest.mark.parametrize("name", CATALOGUES)
def test_every_call_that_can_be_held_reads_back(name: str) -> None:
    for total in sums(name).values():
        assert total.round_trips == total.held
        assert total.held == total.cases or total.format in ("arguments", "python")


def test_delimiters_of_one_token() -> None:
    count = tokens.cached_tokenizer()
    if count is None:
        pytest.skip("tiktoken's vocabulary is not in its cache")
    assert [count(text) for text in ONE_TOKEN] == [1, 1]


def test_the_project_s_own_catalogue_counts_as_the_command_tokens_does() -> None:
    """Two ways to the same numbers."""
    count = tokens.cached_tokenizer()
    of = sums("own")
    assert count is not None
    costs = tokens.measure(own().tools, [(case.tool, case.arguments) for case in own().cases], count=count)
    assert (costs.native, costs.wire) == (of["named"].definitions, of["wire"].definitions)
    for column, form in (
        ("arguments", "arguments"),
        ("named", "named"),
        ("envelope", "anthropic"),
        ("wire", "wire"),
    ):
        assert sum(getattr(call, column) for call in costs.calls) == of[form].calls


# --- sums that are known


class _Fixed(Writing):
    """As many characters as a case says for the format; None has no form. Nothing is read."""

    name = ""

    def definitions(self) -> str:
        return "d" * {"named": 100, "wire": 140}[self.name]

    def definition(self, tool: Definition) -> str:
        return "t" * 10

    def call(self, name: str, arguments: Any) -> str:
        if arguments[self.name] is None:
            raise InexpressibleError("there is no form")
        return "c" * arguments[self.name]

    def read(self, text: str) -> Any:
        raise UnreadableError("it is lost")


def _fixed(name: str) -> Format:
    return Format(name, "", type(name, (_Fixed,), {"name": name}))


FIXED = [_fixed("named"), _fixed("wire")]
TINY = Catalogue(
    "tiny",
    [Definition("f", None, True, None)],
    [
        Case("a", "one", "", "f", {"named": 10, "wire": 8}),
        Case("b", "one", "", "f", {"named": 10, "wire": 11}),
        Case("c", "two", "", "f", {"named": 7, "wire": 9}),
        Case("d", "two", "", "f", {"named": 1000, "wire": None}),
    ],
)


@pytest.fixture
def tiny() -> list[Cell]:
    return list(cells([TINY], [CHARACTERS], FIXED))


def test_a_cell() -> None:
    found = {tuple(cell["key"]): cell for cell in cells([TINY], [CHARACTERS], FIXED)}
    assert len(found) == 2 * (1 + 1 + 4)
    key = ("call", "tiny", "b", "wire", "characters")
    assert found[key] == {
        "key": list(key),
        "what": "call",
        "catalogue": "tiny",
        "name": "b",
        "format": "wire",
        "vocabulary": "characters",
        "group": "one",
        "tokens": 11,
        "characters": 11,
        "round_trip": False,
        "reason": "it is lost",
    }
    nothing = found["call", "tiny", "d", "wire", "characters"]
    assert (nothing["tokens"], nothing["round_trip"], nothing["reason"]) == (None, None, "there is no form")
    whole = found["definitions", "tiny", "*", "wire", "characters"]
    assert (whole["tokens"], whole["round_trip"], whole["group"]) == (140, None, None)
    assert found["tool", "tiny", "f", "wire", "characters"]["tokens"] == 10


def test_totals_compare_the_same_calls(tiny: list[Cell]) -> None:
    """The long call that one format cannot hold is in neither sum."""
    named, wire = totals(tiny, 0.1)
    assert named == Total("tiny", "characters", "named", 100, 4, 4, 0, 1027, 1027, Pays(1), Pays(1))
    assert (wire.cases, wire.held, wire.round_trips, wire.calls, wire.baseline) == (4, 3, 0, 28, 27)
    assert wire.pays == wire.pays_cached == Pays(None)


def test_groups_say_where_it_loses(tiny: list[Cell]) -> None:
    found = [group for group in groups(tiny) if group.format == "wire"]
    assert found == [
        GroupTotal("tiny", "characters", "wire", "one", 2, 19, 20, 1),
        GroupTotal("tiny", "characters", "wire", "two", 1, 9, 7, 1),
    ]
    assert [group.loses for group in found] == [False, True]


def test_tables_say_where_it_loses_and_what_is_lost(tiny: list[Cell]) -> None:
    of = {table.title.partition(":")[0]: table for table in tables(tiny, 0.1)}
    assert list(of) == [
        "Formats",
        "Definitions",
        "Calls",
        "Calls by group",
        "Calls that cost more in wire than in named",
        "Calls that do not read back as they were written",
        "Totals",
    ]
    assert of["Calls"].rows == [
        ["a", "10", "8"],
        ["b", "10", "11"],
        ["c", "7", "9"],
        ["d", "1000", "-"],
        ["all", "1027", "28"],
    ]
    assert of["Calls by group"].rows == [
        ["one", "2", "20", "5%", "1 of 2"],
        ["two", "2", "1007", "-29%", "1 of 1"],
    ]
    assert of["Calls by group"].notes[0].endswith("wire costs more than named in: two.")
    assert of["Calls that cost more in wire than in named"].rows == [
        ["c", "two", "7", "9", "+2"],
        ["b", "one", "10", "11", "+1"],
    ]
    assert ["a", "wire", "it is lost"] in of["Calls that do not read back as they were written"].rows
    assert of["Totals"].rows[1] == ["wire", "140", "28", "-4%", "0 of 3", "never", "never", "1"]


# --- break-even


@pytest.mark.parametrize(
    ("extra", "each", "cached", "pays"),
    [
        (-10, 5, 1.0, Pays(1)),
        (0, 0, 1.0, Pays(1)),
        (0, 5, 1.0, Pays(1)),
        (0, -1, 1.0, Pays(None)),
        (10, 0, 0.1, Pays(None)),
        (10, -5, 1.0, Pays(None)),
        # One request: 10 more for definitions, 10 less for its call.
        (10, 10, 1.0, Pays(1)),
        # Two requests: 20 more; the first call is written and sent again, the second written.
        (15, 10, 1.0, Pays(2)),
        (15.1, 10, 1.0, Pays(3)),
        # Cached for nothing, definitions cost once: 30 more, against 10 + 20 for the second.
        (30, 10, 0.0, Pays(2)),
        (-10, -10, 1.0, Pays(1, 1)),
        (-15, -10, 1.0, Pays(1, 2)),
        (-9, -10, 1.0, Pays(None)),
    ],
)
def test_break_even(extra: float, each: float, cached: float, pays: Pays) -> None:
    assert break_even(extra, each, cached) == pays


@pytest.mark.parametrize("cached", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize(("extra", "each"), [(300, 7), (41, 1.5), (-300, -7), (-41, -1.5), (2000, 9)])
def test_break_even_is_what_conversations_cost(extra: float, each: float, cached: float) -> None:
    """Against a conversation that is played request by request; shorter ones are its beginnings."""
    definitions, call, price = (Fraction(str(number)) for number in (extra, each, cached))
    ahead = []
    cost = sent_before = Fraction(0)
    for request in range(699):
        # The first prompt is the definitions; every other one adds the last call.
        new = definitions if request == 0 else -call
        cost += price * sent_before + new - call
        sent_before += new
        ahead.append(cost <= 0)
    pays = break_even(extra, each, cached)
    first = ahead.index(True) + 1
    last = None if ahead[-1] else len(ahead) - ahead[::-1].index(True)
    assert pays == Pays(first, last)


def test_break_even_in_words() -> None:
    assert [str(pays) for pays in (Pays(3), Pays(1, 7), Pays(None))] == [
        "from call 3",
        "up to call 7",
        "never",
    ]


# --- the command


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.json"
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    path.write_text(
        json.dumps(
            {
                "tools": [{"name": "get_weather", "parameters": schema}],
                "cases": [{"name": "one", "tool": "get_weather", "arguments": {"city": "New York"}}],
            }
        ),
        encoding="utf-8",
    )
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(wirecall, ["bench", "offline", *arguments])


def test_command(small: Path) -> None:
    done = run("--catalogue", str(small), "--encoding", "characters")
    assert done.exit_code == 0
    for line in (
        "Definitions: small, characters",
        "Calls: small, characters",
        "Totals: small, characters",
        "arguments: as named.",
    ):
        assert line in done.stdout.splitlines()
    assert len(max(done.stdout.splitlines(), key=len)) > 100  # whole, without a terminal
    brief = run("--catalogue", str(small), "--encoding", "characters", "--totals").stdout
    assert "Totals: small" in brief
    assert "Definitions: small" not in brief


def test_command_writes_an_artifact(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    arguments = ("--catalogue", str(small), "--encoding", "characters", "--cached-price", "0.25", "--json")
    done = run(*arguments, "--output", str(path))
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    kept = read(path)
    assert (kept.kind, kept.cells, kept.options) == ("offline", found["cells"], found["options"])
    assert kept.options == {
        "catalogues": [{"name": "small", "tools": 1, "cases": 1}],
        "vocabularies": ["characters"],
        "cached_price": 0.25,
    }
    assert kept.header["run"]["versions"]["toon-format"]
    assert [total["format"] for total in found["totals"]] == [form.name for form in formats()]
    assert [group["cases"] for group in found["groups"]] == [1] * len(formats())
    assert "cells" not in json.loads(run(*arguments, "--totals").stdout)
    # Never over another run.
    again = run(*arguments, "--output", str(path))
    assert again.exit_code != 0
    assert "exists: choose another file" in again.output


def test_command_fails_where_a_call_is_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "small.json"
    case = {"name": "one", "tool": "f", "arguments": {"named": 10, "wire": 8}}
    path.write_text(json.dumps({"tools": [{"name": "f"}], "cases": [case]}), encoding="utf-8")
    code = command(
        paths=[str(path)],
        encodings=["characters"],
        tokenizers=[],
        cached_price=0.1,
        only_totals=True,
        output=None,
        as_json=False,
        which=FIXED,
    )
    assert code == 1
    said = capsys.readouterr().out
    assert "Calls that do not read back as they were written: small, characters" in said
    assert "it is lost" in said


def test_command_with_several_of_all(small: Path) -> None:
    found = json.loads(
        run("--catalogue", str(small), "--catalogue", "built-in", "--encoding", "characters", "--json").stdout
    )
    assert {total["catalogue"] for total in found["totals"]} == {"small", "built-in"}
    bad = run("--catalogue", str(small), "--encoding", "characters,characters")
    assert bad.exit_code != 0
    assert "two vocabularies" in bad.output


def test_command_says_where_a_file_is_wrong(small: Path) -> None:
    small.write_text('{"tools": [],\n"cases": [{"tool": "f", "arguments": {}}]}', encoding="utf-8")
    done = run("--catalogue", str(small))
    assert done.exit_code != 0
    assert "small.json, line 2: case 1 calls the tool 'f', which is not in \"tools\"" in done.output


def test_options_hold_no_path(small: Path) -> None:
    assert options([TINY], [CHARACTERS], 0.1)["catalogues"] == [{"name": "tiny", "tools": 1, "cases": 4}]
