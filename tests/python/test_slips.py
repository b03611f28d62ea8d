"""Each near miss in tests/slips is a call with a named repair, or an error with an example; none is silent.

The README beside the data explains the fields. docs/repairs.md is made from the same data.
"""

import json
import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from script_support import load_script
from wirecall import CallEnd, CallError, Event, Text, Toolset

ROOT = Path(__file__).parents[2]
SLIPS = ROOT / "tests" / "slips"
FILES = ("wire", "json", "tags")
FIELDS = {"id", "protocol", "options", "tools", "text", "source", "calls", "errors"}
PIECES = 20

Slip = dict[str, Any]


@cache
def definitions() -> dict[str, dict[str, Any]]:
    tools = json.loads((SLIPS / "tools.json").read_text(encoding="utf-8"))
    return {tool["name"]: tool for tool in tools}


@cache
def load(name: str) -> list[Slip]:
    with open(SLIPS / f"{name}.jsonl", encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


def every_slip() -> list[Any]:
    return [pytest.param(slip, id=f"{name}/{slip['id']}") for name in FILES for slip in load(name)]


def toolset(slip: Slip, **options: Any) -> Toolset:
    tools = [definitions()[name] for name in slip["tools"]]
    return Toolset(tools, protocol=slip["protocol"], **{**slip["options"], **options})


def streamed(tools: Toolset, pieces: list[str]) -> list[Any]:
    """What a stream says, texts joined."""
    parser = tools.parser()
    events: list[Event] = [event for piece in pieces for event in parser.feed(piece)]
    events += parser.finish(truncated=False)
    return items(events)


def items(events: Any) -> list[Any]:
    """Texts, calls and errors in a form that does not depend on ids or on how texts were cut."""
    found: list[Any] = []
    for event in events:
        if isinstance(event, Text) and found and isinstance(found[-1], str):
            found[-1] += event.text
        elif isinstance(event, Text):
            found.append(event.text)
        elif isinstance(event, CallEnd):
            found.append((event.name, event.arguments, event.start, event.end, event.repairs, event.problems))
        elif isinstance(event, CallError):
            found.append((event.kind, event.name, event.start, event.end, event.message, event.example))
    return found


def cuts(text: str) -> Iterator[list[str]]:
    yield list(text)
    rng = random.Random(text)
    for _ in range(PIECES):
        places = sorted(rng.sample(range(len(text) + 1), rng.randint(1, 6)))
        yield [text[start:end] for start, end in pairwise([0, *places, len(text)])]


def examples_of(errors: tuple[CallError, ...], tools: Toolset) -> None:
    """Copied to the letter, the example is one call that needs no repair."""
    for error in errors:
        assert error.example is not None, error
        [call] = tools.parse(error.example, truncated=False).items
        assert isinstance(call, CallEnd), error
        assert (call.repairs, call.problems) == ((), ()), error


@pytest.mark.parametrize("name", FILES)
def test_there_are_enough(name: str) -> None:
    assert len(load(name)) >= 30
    assert sum(len(load(file)) for file in FILES) >= 120


@pytest.mark.parametrize("name", FILES)
def test_the_data_are_in_order(name: str) -> None:
    slips = load(name)
    assert len({slip["id"] for slip in slips}) == len(slips)
    texts = {(slip["protocol"], str(slip["options"]), slip["text"]) for slip in slips}
    assert len(texts) == len(slips)
    for slip in slips:
        assert FIELDS <= set(slip) <= FIELDS | {"says", "strict"}, slip["id"]
        assert set(slip["tools"]) <= set(definitions()), slip["id"]
        # A repair or an error: nothing that is read as if it were right.
        assert slip["errors"] or any(call["repairs"] for call in slip["calls"]), slip["id"]
        assert slip.get("strict", "read") == "read", slip["id"]
        assert re.match(
            r"https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+$"
            r"|review$|canitoolcall \S+$|(?:model_outputs|protocol_cases)\.jsonl\b|docs/\S+\.md$",
            slip["source"],
        ), slip["id"]


def test_sources_in_reach_exist() -> None:
    fixtures = pytest.importorskip("canitoolcall.fixtures")
    known = {fixture.id for fixture in fixtures.load_fixtures(families=["qwen3-hermes", "qwen3-xml"])}
    for slip in (slip for name in FILES for slip in load(name)):
        kind, _, where = slip["source"].partition(" ")
        if kind == "canitoolcall":
            assert where in known, slip["id"]
        if kind.startswith("docs/"):
            assert (ROOT / kind).exists(), slip["id"]


@pytest.mark.parametrize("slip", every_slip())
def test_each_is_read_as_expected(slip: Slip) -> None:
    message = toolset(slip).parse(slip["text"], truncated=False)
    calls = [
        {
            "name": call.name,
            "arguments": call.args,
            "repairs": list(call.repairs),
            **(
                {"problems": [[problem.kind, problem.field] for problem in call.problems]}
                if call.problems
                else {}
            ),
        }
        for call in message.calls
    ]
    assert (calls, [error.kind for error in message.errors]) == (slip["calls"], slip["errors"])
    assert "says" not in slip or any(slip["says"] in error.sentence for error in message.errors)


@pytest.mark.parametrize("slip", every_slip())
@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
def test_none_is_silent_or_lost(slip: Slip, strict: bool) -> None:
    """Texts and sources make up the message, and there is a call or an error, however it is cut."""
    # Strict mode reads no other formats.
    if strict and slip["options"].get("recover"):
        return
    tools, text = toolset(slip, strict=strict), slip["text"]
    message = tools.parse(text, truncated=False)
    assert message.calls or message.errors
    covered = "".join(
        item.text if isinstance(item, Text) else text[item.start : item.end] for item in message.items
    )
    # Framing is no item.
    framing = {at for start, end in message.framing for at in range(start, end)}
    assert covered == "".join(char for at, char in enumerate(text) if at not in framing)
    for pieces in cuts(text):
        assert streamed(tools, pieces) == items(message.items)


@pytest.mark.parametrize("slip", every_slip())
def test_the_examples_run(slip: Slip) -> None:
    for strict in (False, True):
        tools = toolset(slip, strict=strict)
        examples_of(tools.parse(slip["text"], truncated=False).errors, tools)


@pytest.mark.parametrize("slip", every_slip())
def test_strict_refuses_repairs_by_name(slip: Slip) -> None:
    repairs = {name for call in slip["calls"] for name in call["repairs"]}
    message = toolset(slip, strict=True).parse(slip["text"], truncated=False)
    assert all(call.repairs == () for call in message.calls)
    if slip["options"].get("recover"):
        assert message.calls == ()
    elif slip.get("strict") == "read":
        assert [(call.name, call.args) for call in message.calls] == [
            (call["name"], call["arguments"]) for call in slip["calls"]
        ]
        assert message.errors == ()
    else:
        # Of calls that need no repair, those after an error may be lost with it.
        whole = [(call["name"], call["arguments"]) for call in slip["calls"] if not call["repairs"]]
        assert all((call.name, call.args) in whole for call in message.calls)
        assert message.errors
        assert not repairs or repairs & {error.kind for error in message.errors}


# The page ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("repairs_page")


def test_the_page_is_up_to_date(script: ModuleType) -> None:
    shown = (ROOT / "docs" / "repairs.md").read_text(encoding="utf-8")
    assert shown == script.page(), "docs/repairs.md is out of date: run `make repairs`"


def test_every_repair_has_a_sentence_and_a_slip(script: ModuleType) -> None:
    source = (ROOT / "rust" / "core" / "src" / "error.rs").read_text(encoding="utf-8")
    in_core = set(re.findall(r'\w+ => "(\w+)"', source.split("pub enum Repair {")[1].split("}")[0]))
    slips = [slip for name in FILES for slip in load(name)]
    in_data = {name for slip in slips for call in slip["calls"] for name in call["repairs"]}
    assert set(script.REPAIRS) == in_data == in_core
    assert set(script.ERRORS) == {kind for slip in slips for kind in slip["errors"]}
