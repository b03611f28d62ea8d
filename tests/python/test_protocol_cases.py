"""The executed cases of the reference implementation, which are next to this repository.

Normative are calls, arguments and joined text; what was an error there is one here, its text no text."""

import json
from pathlib import Path
from typing import Any

import pytest

import wirecall
from support import FRAMED

CASES = Path(__file__).parents[3] / "shared" / "cases" / "protocol_cases.jsonl"
# The protocols that read what has another name here.
READ_BY = {
    "hermes": "hermes",
    "morph-xml": "xml",
    "yaml-xml": "yaml",
    "qwen3coder": "qwen3coder",
    "k-exaone-2": "qwen3coder",
}

# What is an error here: values count to the letter, and a parameter that is repeated is a mistake.
REFUSED = {"q01": "duplicate_argument"}

Case = dict[str, Any]
Items = list[wirecall.Text | wirecall.CallEnd | wirecall.CallError]


def load() -> list[Any]:
    if not CASES.is_file():
        return []
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    known = [case for case in cases if READ_BY[case["protocol"]] in wirecall.PROTOCOLS]
    return [pytest.param(case, id=case["id"]) for case in known]


def protocol(case: Case) -> str:
    return READ_BY.get(case["protocol"], case["protocol"])


def toolset(case: Case) -> wirecall.Toolset:
    tools = [{"name": tool["name"], "parameters": tool["inputSchema"]} for tool in case["tools"]]
    functions = [{"type": "function", "function": tool} for tool in tools]
    return wirecall.Toolset(functions, protocol=protocol(case))


def streamed(tools: wirecall.Toolset, chunks: list[str]) -> Items:
    """The items that the events of chunks make; on the way, deltas must be the arguments."""
    parser = tools.parser()
    events = [event for chunk in chunks for event in parser.feed(chunk)] + parser.finish(truncated=False)
    items: Items = []
    deltas = ""
    for event in events:
        match event:
            case wirecall.CallStart():
                deltas = ""
            case wirecall.ArgumentsDelta(delta=delta):
                deltas += delta
            case wirecall.CallEnd(arguments=arguments):
                assert deltas == arguments
                items.append(event)
            case _:
                items.append(event)
    return items


def check(case: Case, items: Items) -> None:
    expected = case["expected"]
    parts = expected.get("parts")
    if parts is not None:
        calls = [part for part in parts if part["type"] == "tool-call"]
        text = "".join(part["text"] for part in parts if part["type"] == "text")
    else:
        calls, text = expected["calls"], expected["text"]
    found = [item for item in items if isinstance(item, wirecall.CallEnd)]
    assert [(call.name, json.loads(call.arguments)) for call in found] == [
        (call["toolName"], call["input"]) for call in calls
    ]
    errors = [item for item in items if isinstance(item, wirecall.CallError)]
    assert bool(errors) == bool(expected["errors"])
    for error in errors:
        text = text.replace(error.raw, "", 1)
    found_text = "".join(item.text for item in items if isinstance(item, wirecall.Text))
    if protocol(case) in FRAMED:
        # The cases were made when whitespace around these calls was text.
        found_text, text = ("".join(each.split()) for each in (found_text, text))
    assert found_text == text


@pytest.mark.skipif(not CASES.is_file(), reason="the cases are not beside the repository")
@pytest.mark.parametrize("case", load())
def test_case(case: Case) -> None:
    tools = toolset(case)
    chunks = case.get("chunks") or [case["text"]]
    message = "".join(chunks)
    if case["id"] in REFUSED:
        for items in (list(tools.parse(message, truncated=False).items), streamed(tools, list(message))):
            found = [item for item in items if not isinstance(item, wirecall.Text)]
            assert [item.kind for item in found if isinstance(item, wirecall.CallError)] == [
                REFUSED[case["id"]]
            ]
            assert len(found) == 1
        return
    check(case, list(tools.parse(message, truncated=False).items))
    for cut in (chunks, [message], list(message)):
        check(case, streamed(tools, cut))
