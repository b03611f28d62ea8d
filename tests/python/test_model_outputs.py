"""What models wrote for another reader of this format: nothing is passed over in silence. And what it costs.

The data belong to others and stay outside the repository, beside it; without them these tests skip.
"""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from wirecall import CallEnd, CallError, Message, Toolset
from wirecall.tokens import measure

CASES = Path(__file__).parents[3] / "shared" / "cases"
OUTPUTS, CATALOGUE = CASES / "model_outputs.jsonl", CASES / "reference_catalogue.json"

pytestmark = pytest.mark.skipif(
    not (OUTPUTS.exists() and CATALOGUE.exists()), reason="the cases are not beside the repository"
)


@cache
def outputs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in OUTPUTS.read_text(encoding="utf-8").split("\n") if line]


@cache
def catalogue() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    return found


@cache
def toolset(strict: bool = False) -> Toolset:
    """The catalogue, and whatever else the outputs call."""
    tools = list(catalogue()["tools"])
    named = {name for output in outputs() for name in re.findall(r"<call>(\w+)", output["text"])}
    tools += [(name, True) for name in sorted(named - {tool["name"] for tool in tools})]
    return Toolset(tools, strict=strict)


def read(output: dict[str, Any], strict: bool = False) -> Message:
    return toolset(strict).parse(output["text"], truncated=output["truncated"])


@pytest.mark.parametrize("strict", [False, True])
def test_no_output_is_passed_over(strict: bool) -> None:
    for output in outputs():
        message = read(output, strict)
        assert message.calls or message.errors, output["text"]
        # An attempt at a call is text only where the output was cut.
        if not output["truncated"]:
            assert "<call>" not in message.text, output["text"]


@pytest.mark.parametrize("strict", [False, True])
def test_object_object_is_always_an_error(strict: bool) -> None:
    seen = 0
    for output in outputs():
        message = read(output, strict)
        assert not any("[object Object]" in call.arguments for call in message.calls)
        found = [error for error in message.errors if "[object Object]" in error.raw]
        assert len(found) == output["text"].count("[object Object]")
        assert all(error.kind == "malformed_call" and error.name for error in found)
        seen += len(found)
    assert seen >= 10


def test_pairs_and_wrapped_json_become_calls() -> None:
    """Whichever encoding the tool was planned for: what else is in an output does not matter."""
    seen = 0
    for output in outputs():
        if {"object_object", "truncated_by_500_char_log_limit"} & set(output["classes"]):
            continue
        message = read(output)
        assert len(message.calls) == output["text"].count("</call>"), output["text"]
        assert all(call.args for call in message.calls)
        wrapped = "json_wrapper" in output["classes"]
        assert all(("json_wrapper" in call.repairs) == wrapped for call in message.calls)
        seen += len(message.calls)
    assert seen >= 15


@pytest.mark.parametrize("strict", [False, True])
def test_errors_show_a_correct_call(strict: bool) -> None:
    seen = 0
    for output in outputs():
        for error in read(output, strict).errors:
            if error.kind == "forged_result":
                continue
            examples = toolset(True).parse(error.message).calls
            assert len(examples) == 1, error
            # A call that was cut off before its name may be of any tool.
            assert error.name in (examples[0].name, None), error
            assert all(not call.problems for call in examples), error
            seen += 1
    assert seen >= 10


@pytest.mark.parametrize("strict", [False, True])
def test_errors_show_a_correct_call_for_each_tool(strict: bool) -> None:
    tools = Toolset(catalogue()["tools"], strict=strict)
    for name in tools.names:
        for body in ("[object Object]", "some words", '{"a" 1}', "<json>x</json>"):
            [error] = tools.parse(f"<call>{name} {body}</call>").errors
            if error.kind == "malformed_call":
                [example] = Toolset(catalogue()["tools"], strict=True).parse(error.message).calls
                assert (example.name, example.problems) == (name, ()), error


def test_streams_say_the_same() -> None:
    for output in outputs():
        parser = toolset().parser()
        events = [event for char in output["text"] for event in parser.feed(char)]
        events += parser.finish(truncated=output["truncated"])
        found = [event for event in events if isinstance(event, (CallEnd, CallError))]
        message = read(output)
        assert [(event.type, event.start, event.end) for event in found] == sorted(
            ((item.type, item.start, item.end) for item in (*message.calls, *message.errors)),
            key=lambda item: item[1],
        )


# What it costs ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def count() -> Callable[[str], int]:
    tiktoken = pytest.importorskip("tiktoken")
    try:
        encoding = tiktoken.get_encoding("o200k_base")
    except Exception as error:
        pytest.skip(f"tiktoken has no vocabulary: {error}")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def test_tokens_of_calls(count: Callable[[str], int]) -> None:
    tools = Toolset(catalogue()["tools"])
    texts = [tools.encode(case["tool"], case["arguments"]) for case in catalogue()["cases"]]
    assert sum(map(count, texts)) <= 465


def test_the_page_of_benchmarks_has_the_costs_that_the_package_counts(count: Callable[[str], int]) -> None:
    tools, cases = catalogue()["tools"], catalogue()["cases"]
    costs = measure(tools, [(case["tool"], case["arguments"]) for case in cases], count=count)
    page = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    table = page[page.index(r"### Totals: reference\_catalogue, tokens of o200k\_base") :].split("\n### ")[0]
    shown = dict(re.findall(r"^\| ([\w-]+) \| (\d+ \| \d+) \|", table, re.MULTILINE))
    assert shown["named"] == f"{costs.native} | {sum(call.named for call in costs.calls)}"
    assert shown["wire"] == f"{costs.wire} | {sum(call.wire for call in costs.calls)}"


def test_tokens_of_the_manual(count: Callable[[str], int]) -> None:
    assert count(Toolset(catalogue()["tools"]).manual()) <= 360


@pytest.mark.parametrize("syntax", ["wire", "json"])
def test_every_case_round_trips(syntax: Any) -> None:
    for strict in (False, True):
        tools = Toolset(catalogue()["tools"], syntax=syntax, strict=strict, validate="error")
        for case in catalogue()["cases"]:
            [call] = tools.parse(tools.encode(case["tool"], case["arguments"])).items
            assert isinstance(call, CallEnd), call
            assert (call.name, call.args, call.repairs) == (case["tool"], case["arguments"], ())
