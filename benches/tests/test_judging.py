"""Judging calls: exactly, by the schema, and by another model whose verdicts are kept."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from server import Answer as Reply
from server import Failure, Request, Server, serve
from server import Usage as Tokens
from server.app import Script

from wirecall._tools.definitions import Definition, definitions
from wirecall_bench.artifact import BenchError
from wirecall_bench.budget import Usage
from wirecall_bench.endpoints import Endpoint, Tries
from wirecall_bench.judging import Judge, Scores, judge_folder, score

PROPERTIES: dict[str, Any] = {
    "city": {"type": "string"},
    "days": {"type": "integer", "default": 3},
    "price": {"type": "number"},
    "exact": {"type": "boolean"},
    "at": {"type": "string", "format": "date-time"},
    "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "steps": {"type": "array", "items": {"type": "string"}},
    "note": {"type": ["string", "null"]},
    "unit": {"enum": ["c", "f"]},
    "anything": {},
    "place": {"$ref": "#/$defs/place"},
    "where": {"anyOf": [{"$ref": "#/$defs/place"}, {"type": "string"}]},
    "both": {"allOf": [{"$ref": "#/$defs/place"}, {"properties": {"name": {"type": "string"}}}]},
    "pair": {"type": "array", "prefixItems": [{"type": "string", "format": "date-time"}, {"type": "number"}]},
}
PLACE = {
    "type": "object",
    "properties": {
        "lat": {"type": "number"},
        "zoom": {"type": "integer", "default": 10},
        "next": {"$ref": "#/$defs/place"},
    },
    "required": ["lat"],
}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": ["city"], "$defs": {"place": PLACE}}
(TOOL,) = definitions([{"name": "weather", "parameters": SCHEMA}])
ALL = Scores(called=True, tool=True, valid=True, exact=True, normalised=True, share=1.0)


def judged(expected: dict[str, Any], given: Any, tool: Definition = TOOL) -> Scores:
    return score(tool, expected, [{"name": tool.name, "arguments": given}])


def test_the_same_is_the_same_whatever_its_order() -> None:
    assert judged({"city": "Lima", "days": 2}, {"days": 2, "city": "Lima"}) == ALL


SAME: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"days": 2}, {"days": 2.0}),
    ({"price": 1e3}, {"price": 1000}),
    ({}, {"days": 3}),
    ({"days": 3}, {}),
    ({}, {"note": None}),
    ({"note": None}, {}),
    ({"note": "a\nb"}, {"note": "  a\r\nb\n"}),
    ({"note": "é"}, {"note": "e\u0301"}),
    ({"at": "2026-03-01T09:30:00Z"}, {"at": "2026-03-01T10:30:00+01:00"}),
    ({"at": "2026-03-01T09:30:00Z"}, {"at": "2026-03-01t09:30:00.000z"}),
    ({"at": "2026-03-01T09:30:00.25"}, {"at": "2026-03-01 09:30:00.250000"}),
    ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}),
    ({"place": {"lat": 1}}, {"place": {"lat": 1.0, "zoom": 10}}),
    ({"place": {"lat": 1, "next": {"lat": 2}}}, {"place": {"lat": 1, "next": {"lat": 2.0, "zoom": 10}}}),
    ({"where": {"lat": 1}}, {"where": {"lat": 1, "zoom": 10}}),
    ({"where": "here"}, {"where": " here "}),
    ({"both": {"lat": 1, "name": "x"}}, {"both": {"lat": 1, "name": "x ", "zoom": 10.0}}),
    ({"pair": ["2026-03-01T09:30:00Z", 2]}, {"pair": ["2026-03-01T10:30:00+01:00", 2.0]}),
    ({"anything": {"a": 1}}, {"anything": {"a": 1.0}}),
]
OTHER: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"days": 2}, {"days": 3}),
    ({"days": 2}, {}),
    ({}, {"days": 4}),
    ({"exact": True}, {"exact": 1}),
    ({"exact": False}, {"exact": 0}),
    ({"exact": False}, {}),
    ({"days": 2}, {"days": "2"}),
    ({"steps": ["a", "b"]}, {"steps": ["b", "a"]}),
    ({"tags": ["a", "b"]}, {"tags": ["a"]}),
    ({"note": "a"}, {"note": "A"}),
    ({"note": "a b"}, {"note": "a  b"}),
    ({"note": ""}, {}),
    ({"unit": "c"}, {"unit": "C"}),
    ({}, {"unit": None}),
    ({}, {"anything": None}),
    ({}, {"unheard": None}),
    ({}, {"unheard": 1}),
    ({"at": "2026-03-01T09:30:00Z"}, {"at": "2026-03-01T09:30:00"}),
    ({"at": "2026-03-01T09:30:00Z"}, {"at": "tomorrow"}),
    ({"place": {"lat": 1}}, {"place": {"lat": 1, "zoom": 11}}),
    ({"place": {"lat": 1}}, {"place": {}}),
]


@pytest.mark.parametrize(("expected", "given"), SAME)
def test_what_the_schema_says_is_the_same(expected: dict[str, Any], given: dict[str, Any]) -> None:
    for one, other in ((expected, given), (given, expected)):
        scores = judged({"city": "Lima", **one}, {"city": "Lima", **other})
        assert scores.normalised
        assert not scores.exact


@pytest.mark.parametrize(("expected", "given"), OTHER)
def test_what_is_not_the_same(expected: dict[str, Any], given: dict[str, Any]) -> None:
    for one, other in ((expected, given), (given, expected)):
        assert not judged({"city": "Lima", **one}, {"city": "Lima", **other}).normalised


def test_whether_it_fits_the_schema_is_told_apart() -> None:
    assert judged({"city": "Lima"}, {"city": "Lima", "unit": "k"}).valid is False
    assert judged({"city": "Lima"}, {"city": "Quito", "unit": "c"}).valid is True
    assert judged({"city": "Lima"}, {"city": "Lima", "place": {}}).valid is False


@pytest.mark.parametrize(
    ("calls", "called", "tool"),
    [
        ([], False, False),
        ([{"name": "weather", "arguments": {"city": "Lima"}}] * 2, False, False),
        ([{"name": "wether", "arguments": {"city": "Lima"}}], True, False),
        ([{"name": "weather", "arguments": '{"city": '}], True, True),
    ],
)
def test_other_calls(calls: list[dict[str, Any]], called: bool, tool: bool) -> None:
    found = score(TOOL, {"city": "Lima"}, calls)
    assert found == Scores(called, tool, valid=False, exact=False, normalised=False)


@pytest.mark.parametrize(
    "schema", [True, {}, {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {}}}]
)
def test_any_schema_can_be_judged_by(schema: Any) -> None:
    assert judged({"a": 1}, {"a": 1.0}, TOOL._replace(parameters=schema)).normalised


def test_what_is_too_deep_is_wrong() -> None:
    deep: Any = []
    for _ in range(3000):
        deep = [deep]
    found = judged({"city": "Lima"}, {"city": "Lima", "anything": deep})
    assert (found.called, found.tool, found.normalised) == (True, True, False)


# The judge --------------------------------------------------------------------------------------------------

KEY = "sk-judge-12345"
QUESTION = ("What is the weather?", TOOL, {"city": "New York"}, {"city": "NYC"})


@contextmanager
def judge(script: Script, folder: Path, model: str = "judge") -> Iterator[tuple[Server, Judge]]:
    with serve(script) as server:
        endpoint = Endpoint("openai", server.openai_url, model, key=KEY, tries=Tries(1))
        try:
            yield server, Judge(endpoint, folder)
        finally:
            endpoint.close()


def verdict(same: bool, reason: str = "Same place.", around: str = "{}") -> Reply:
    return Reply(around.replace("{}", json.dumps({"reason": reason, "same": same})), usage=Tokens(90, 12))


@pytest.mark.parametrize("same", [True, False])
def test_a_verdict_is_asked_for_once(tmp_path: Path, same: bool) -> None:
    with judge([verdict(same)], tmp_path) as (server, judging):
        first = judging.compare(*QUESTION)
        second = judging.compare(*QUESTION)
        assert len(server.requests) == 1
    assert (first.same, first.reason, first.cached, first.usage) == (
        same,
        "Same place.",
        False,
        Usage(90, 12),
    )
    assert (second.same, second.reason, second.cached, second.usage) == (same, "Same place.", True, Usage())
    (kept,) = tmp_path.iterdir()
    assert KEY not in kept.read_text()


def test_the_judge_knows_nothing_of_modes(tmp_path: Path) -> None:
    with judge([verdict(True)], tmp_path) as (server, judging):
        judging.compare(*QUESTION)
        said = server.last.body.decode()
    for told in ("New York", "NYC", "What is the weather?", "place"):
        assert told in said
    for untold in ("native", "wire", "hermes", "<call>", "tool_calls"):
        assert untold not in said


def test_another_question_or_judge_is_another_verdict(tmp_path: Path) -> None:
    prompt, tool, expected, given = QUESTION
    others = [
        ("Will it rain?", tool, expected, given),
        (prompt, tool, given, expected),
        (prompt, tool._replace(description="Of the world."), expected, given),
    ]
    with judge(lambda _: verdict(True), tmp_path) as (server, judging):
        for question in (QUESTION, *others, *others):
            judging.compare(*question)
        assert len(server.requests) == 4
    with judge(lambda _: verdict(False), tmp_path, "another") as (_, judging):
        assert judging.compare(*QUESTION).same is False


@pytest.mark.parametrize(
    "around", ["Well:\n```json\n{}\n```", "{not JSON} {}", '{"same": "maybe"} {} and more']
)
def test_a_verdict_is_found_in_what_stands_around_it(tmp_path: Path, around: str) -> None:
    with judge([verdict(True, around=around)], tmp_path) as (_, judging):
        assert judging.compare(*QUESTION).same is True


def test_no_verdict_is_none_and_is_asked_again(tmp_path: Path) -> None:
    script = [Reply("I cannot say.", usage=Tokens(90, 4)), Failure(500), verdict(True)]
    with judge(script, tmp_path) as (_, judging):
        unread, failed, at_last = (judging.compare(*QUESTION) for _ in range(3))
    assert (unread.same, unread.usage) == (None, Usage(90, 4))
    assert unread.reason == "no verdict could be read in: I cannot say."
    assert failed.same is None
    assert failed.reason.startswith("failed: HTTP 500")
    assert at_last.same is True


def test_a_damaged_file_is_asked_again(tmp_path: Path) -> None:
    with judge(lambda _: verdict(True), tmp_path) as (server, judging):
        judging.compare(*QUESTION)
        (kept,) = tmp_path.iterdir()
        for content in ("", '{"same": tr', '{"same": "yes", "reason": ""}', "[]"):
            kept.write_text(content)
            assert judging.compare(*QUESTION).cached is False
        assert judging.compare(*QUESTION).cached is True
        assert len(server.requests) == 5
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        judge([verdict(True)], tmp_path / "file") as (_, judging),
        pytest.raises(BenchError, match="verdicts"),
    ):
        judging.compare(*QUESTION)


def test_the_key_is_not_kept_even_if_the_judge_says_it(tmp_path: Path) -> None:
    def tells(request: Request) -> Reply:
        return verdict(True, reason=request.headers["authorization"])

    with judge(tells, tmp_path) as (_, judging):
        assert judging.compare(*QUESTION).reason == "Bearer [key]"
    (kept,) = tmp_path.iterdir()
    assert KEY not in kept.read_text()


def test_the_folder_of_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert judge_folder() == tmp_path / "wirecall" / "verdicts"
