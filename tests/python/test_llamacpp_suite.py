"""llama.cpp's own suite, `tests/test-chat.cpp`: read whole, by character and in random pieces.

`make templates` fetches the suite; see `scripts/llamacpp_suite.py`. Each case is a call of its test builder:
a template, a text, and the message that llama.cpp reads. Whitespace around content and reasoning does not
count. What is read otherwise is listed here, with the reason; a listed case that is mended has to leave the
list.
"""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any

import pytest

from official_forms import FOLDER
from wirecall import CallEnd, Reasoning, Text, Toolset
from wirecall._tools.templates import protocol_from_template

SUITE = FOLDER.parent / "llamacpp_suite.jsonl"
Case = dict[str, Any]
Read = tuple[str, str, list[list[Any]]]

REPEATED = "markers of reasoning that are written twice, or without their line break, are shown, not dropped"
# By line in test-chat.cpp.
DIFFERENT = {
    3004: REPEATED,
    3155: REPEATED,
    3161: REPEATED,
    3167: REPEATED,
    3173: REPEATED,
    5119: "calls without their section are an error, because text that quotes them is not a call",
    5136: "calls without their section are an error, because text that quotes them is not a call",
    5909: "a token that begins a turn is part of the prompt; in a message, it is shown",
    6407: "a call in a part for the user is an error: nothing that may be meant as one vanishes",
}
# Of templates that write no calls, although their models do.
PROTOCOLS = {"LFM2-8B-A1B": "lfm2", "LFM2.5-Instruct": "lfm2"}


@cache
def protocol(template: str) -> str | None:
    source = (FOLDER / f"{template}.jinja").read_text(encoding="utf-8")
    return PROTOCOLS.get(template) or protocol_from_template(source)


@cache
def suite() -> tuple[Case, ...]:
    """The cases that can be compared. A line may have several. A template without a protocol has none."""
    lines = SUITE.read_text(encoding="utf-8").splitlines() if SUITE.is_file() else []
    cases = [json.loads(line) for line in lines]
    comparable = [case for case in cases if not case["not_comparable"]]
    return tuple({**case, "protocol": row} for case in comparable if (row := protocol(case["template"])))


def pieces(text: str, seed: int) -> list[str]:
    random, out = Random(seed), []
    while text:
        length = random.randint(1, 12)
        out.append(text[:length])
        text = text[length:]
    return out


def read(case: Case, parts: list[str]) -> Read:
    options = {} if case["reasoning"] is None else {"reasoning": case["reasoning"]}
    tools = Toolset(case["tools"], protocol=case["protocol"], **options)
    parser = tools.parser(in_reasoning=case["in_reasoning"])
    events = [event for part in parts for event in parser.feed(part)]
    events += parser.finish(truncated=case["truncated"])
    content = "".join(event.text for event in events if isinstance(event, Text))
    reasoning = "".join(event.text for event in events if isinstance(event, Reasoning))
    calls = [[event.name, event.args] for event in events if isinstance(event, CallEnd)]
    return content.strip(), reasoning.strip(), calls


def expected(case: Case) -> Read:
    wanted = case["expected"]
    calls = [[name, json.loads(arguments)] for name, arguments in wanted["calls"]]
    return wanted["content"].strip(), wanted["reasoning"].strip(), calls


def test_the_suite_is_whole() -> None:
    if not SUITE.is_file():
        pytest.skip("no suite; run `make templates`")
    assert len(suite()) == 449
    assert set(DIFFERENT) <= {case["line"] for case in suite()}


@pytest.mark.parametrize("case", suite(), ids=lambda case: f"{case['line']} {case['protocol']}")
def test_a_case_is_read_as_llama_cpp_reads_it_or_listed(case: Case) -> None:
    text = case["text"]
    readings = [read(case, parts) for parts in ([text], list(text), pieces(text, case["line"]))]
    assert readings[1:] == readings[:-1]
    assert (readings[0] == expected(case)) == (case["line"] not in DIFFERENT)
