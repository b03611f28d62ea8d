"""What is wrong with answers that are not correct, for artifacts that are published without texts."""

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from wirecall_bench.artifact import Cell, Run
from wirecall_bench.catalogue import Case
from wirecall_bench.judging import canonical
from wirecall_bench.outcomes import NOTED
from wirecall_bench.variants import Variant, variant_of

Json = Any

# What is wrong with an answer as a whole, and with members of the arguments of a call of the right tool.
ANSWERS: Mapping[str, str] = {
    "no call": "the answer ended without a call.",
    "prose cut off": "the limit of tokens was reached before a call began.",
    "call cut off": "the limit of tokens was reached within a call.",
    "several calls": "more than one call.",
    "example copied": "a call of another tool with nothing but the manual's example text.",
    "another tool": "any other call of another tool.",
}
MEMBERS: Mapping[str, str] = {
    "missing": "an expected member is not given.",
    "added": "a member is given that is not expected.",
    "cut at a space": "the text ends where the expected one has a space.",
    "from the example": "the text is that of the manual's example.",
    "other value": "any other value.",
}
_EXAMPLE = "some text"
_KEPT = (
    *("key", "case", "group", "model", "mode", "ablation", "repetition"),
    *("status", "reason", "usage", "times", "finish", "scores", "judge", "usd", *NOTED),
)


def mistakes(case: Case, cell: Cell) -> dict[str, int]:
    """The mistakes in an answer, and how often each was made."""
    scores = cell["scores"]
    if scores is None or scores["normalised"]:
        return {}
    calls = cell["calls"]
    if len(calls) > 1:
        return {"several calls": 1}
    if not calls or not isinstance(calls[0]["arguments"], dict):
        if cell["finish"] != "length":
            return {"no call": 1}
        return {"call cut off" if calls or cell["errors"] else "prose cut off": 1}
    if not scores["tool"]:
        copied = set(map(canonical, calls[0]["arguments"].values())) == {canonical(_EXAMPLE)}
        return {"example copied" if copied else "another tool": 1}
    return dict(_members(case.arguments, calls[0]["arguments"]))


def _members(expected: Mapping[str, Json], given: Mapping[str, Json]) -> Counter[str]:
    """Nested objects are compared by their members."""
    found: Counter[str] = Counter()
    for name in expected.keys() | given.keys():
        if name not in given:
            found["missing"] += 1
        elif name not in expected:
            found["added"] += 1
        elif isinstance(expected[name], dict) and isinstance(given[name], dict):
            found += _members(expected[name], given[name])
        elif canonical(expected[name]) != canonical(given[name]):
            found[_kind(expected[name], given[name])] += 1
    return found


def _kind(expected: Json, given: Json) -> str:
    if isinstance(expected, str) and isinstance(given, str):
        if given == _EXAMPLE:
            return "from the example"
        if given and expected[len(given) :].startswith(" ") and expected.startswith(given):
            return "cut at a space"
    return "other value"


def counts(cells: Iterable[Cell]) -> dict[Variant, Counter[str]]:
    """The mistakes of published cells, by variant."""
    found: dict[Variant, Counter[str]] = {}
    for cell in cells:
        found.setdefault(variant_of(cell), Counter()).update(cell["mistakes"])
    return found


def published(run: Run, cases: Mapping[str, Case]) -> str:
    """An artifact without texts of requests and answers, with what is wrong with each answer.

    Files of the command are named without their folders.

    Args:
        cases: The cases of the catalogue, by name.
    """
    said = shlex.split(run.header["run"]["command"])
    command = shlex.join(word.rpartition("/")[2] if word.startswith("/") else word for word in said)
    lines: list[Json] = [{**run.header, "run": {**run.header["run"], "command": command}}]
    for cell in run.cells:
        kept = {name: cell[name] for name in _KEPT if name in cell}
        # Enough to know which answers are well-formed.
        calls = [{"name": one["name"], "arguments": _outline(one["arguments"])} for one in cell["calls"]]
        requests = [{"sha256": one["sha256"]} for one in cell["requests"]]
        wrong = mistakes(cases[cell["case"]], cell)
        lines.append({**kept, "calls": calls, "requests": requests, "mistakes": wrong})
    return "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)


def _outline(arguments: Json) -> Json:
    return {} if isinstance(arguments, dict) else "not an object"
