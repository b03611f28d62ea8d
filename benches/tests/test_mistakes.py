"""What is wrong with an answer, and what an artifact without texts still has."""

import json
from pathlib import Path
from typing import Any

import pytest

from wirecall._tools.definitions import definitions
from wirecall_bench.artifact import read
from wirecall_bench.catalogue import Case
from wirecall_bench.judging import score
from wirecall_bench.mistakes import ANSWERS, MEMBERS, counts, mistakes, published
from wirecall_bench.variants import Variant

(TOOL,) = definitions([{"name": "go", "parameters": {"type": "object"}}])
EXPECTED = {"to": "New York", "days": 3, "by": {"what": "train", "class": 1}}
CASE = Case("trip", "", "Go!", "go", EXPECTED)


def cell(*calls: tuple[str, Any], finish: str = "tool_calls", errors: int = 0) -> dict[str, Any]:
    said = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return {
        "key": ["m", "wire", "", "trip", "1"],
        "case": "trip",
        "model": "m",
        "mode": "wire",
        "ablation": None,
        "calls": said,
        "finish": finish,
        "errors": [{"tool": "go", "detail": "secret"}] * errors,
        "text": "secret",
        "requests": [{"sha256": "1", "body": "secret"}],
        "scores": score(TOOL, EXPECTED, said).as_dict(),
    }


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (cell(("go", EXPECTED)), {}),
        (cell(finish="stop"), {"no call": 1}),
        (cell(finish="length"), {"prose cut off": 1}),
        (cell(finish="length", errors=1), {"call cut off": 1}),
        (cell(("go", '{"to": '), finish="length"), {"call cut off": 1}),
        (cell(("go", EXPECTED), ("go", EXPECTED)), {"several calls": 1}),
        (cell(("stay", EXPECTED)), {"another tool": 1}),
        (cell(("stay", {})), {"another tool": 1}),
        (cell(("stay", {"at": "some text", "in": "some text"})), {"example copied": 1}),
        (cell(("go", {**EXPECTED, "to": "New"})), {"cut at a space": 1}),
        (cell(("go", {**EXPECTED, "to": "Ne"})), {"other value": 1}),
        (cell(("go", {**EXPECTED, "to": "some text"})), {"from the example": 1}),
        (cell(("go", {**EXPECTED, "more": 1})), {"added": 1}),
        (cell(("go", {"by": {"what": "bus"}})), {"missing": 3, "other value": 1}),
        ({**cell(), "scores": None}, {}),
    ],
)
def test_what_is_wrong(given: dict[str, Any], found: dict[str, int]) -> None:
    assert mistakes(CASE, given) == found
    assert found.keys() <= ANSWERS.keys() | MEMBERS.keys()


def test_an_artifact_without_texts(tmp_path: Path) -> None:
    said = "wirecall bench live --catalogue '/home/me/my own.json' --base-url http://127.0.0.1:1/v1"
    run = {"command": said, "options": {}}
    header = {"schema": "wirecall._bench/1", "kind": "live", "run": run}
    path = tmp_path / "live.jsonl"
    cells = [cell(("go", {"to": "secret"})), cell(finish="stop")]
    cells[1]["key"][4] = "2"
    path.write_text("".join(json.dumps(line) + "\n" for line in [header, *cells]), encoding="utf-8")
    path.write_text(text := published(read(path), {"trip": CASE}), encoding="utf-8")
    assert "secret" not in text.replace('"detail":"secret"', "")
    kept = read(path)
    command = said.replace("/home/me/", "")
    assert kept.header == {**header, "run": {**run, "command": command}}
    assert [one["calls"] for one in kept.cells] == [[{"name": "go", "arguments": {}}], []]
    assert [one["requests"] for one in kept.cells] == [[{"sha256": "1"}]] * 2
    assert counts(kept.cells) == {Variant("m", "wire"): {"missing": 2, "other value": 1, "no call": 1}}
