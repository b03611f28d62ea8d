"""`to_dict` of events, messages, records and notices: JSON values, whose keys docs/api.md lists."""

import dataclasses
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import generate
import wirecall
from cli.cli_support import run, without_ids
from collected_texts import Collected, Source, each_source
from law import LAW, count, seeded
from wirecall import (
    ArgumentsDelta,
    Attempt,
    CallEnd,
    CallError,
    CallStart,
    Field,
    InvalidTool,
    Message,
    MessageOutline,
    Notice,
    Plan,
    Problem,
    Reasoning,
    Record,
    RecordEvent,
    Text,
    Toolset,
)
from wirecall.compaction import ContextNotice, ResultRepair

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
PROBLEM = Problem("wrong_type", "days", "days: a whole number is needed")
END = CallEnd(1, "call_y", "get", '{"days":"x"}', 3, 9, ("coerced",), (PROBLEM,))
ERROR = CallError(2, "i", "get", "invalid_arguments", "No.", "<call>", 0, 6, problems=(PROBLEM,))
OUTLINE = MessageOutline(role="user", kinds=("text", "image"), length=3, sha256="00")
EVENT = RecordEvent(time=0.5, kind="call", tool="get", problems=("wrong_type",), fields=("days",))
ATTEMPT = Attempt(
    reason="first",
    sent=0.25,
    first_byte=None,
    end=None,
    status=200,
    messages=(OUTLINE,),
    parameters={"temperature": 0.5, "stream": True},
    request_length=1,
    request_sha256="01",
    request=None,
    answer_length=2,
    answer_sha256="02",
    answer="so",
    events=(EVENT,),
    usage={"input": 3, "details": {"cached": 1}},
)
RECORD = Record(
    api="chat",
    method="POST",
    path="/v1",
    model="m",
    stream=False,
    protocol="wire",
    tools=("get",),
    grammar_length=None,
    started=datetime(2026, 1, 2, 3, 4, 5, 600000, UTC),
    duration=1.5,
    attempts=(ATTEMPT,),
    outcome="calls",
    error=None,
    usage={"input": 3},
    output=None,
)
SAMPLES: list[Any] = [
    Text("a\n"),
    Reasoning("Hm.\n", 7, 11),
    CallStart(0, "call_x", "get"),
    ArgumentsDelta(0, '{"city":'),
    END,
    ERROR,
    PROBLEM,
    Message((Text("a"), END, ERROR), [(1, 2)]),
    Plan("get", "pairs", [Field("city", "string", True)], None),
    Field("city", "string", True),
    InvalidTool("get", "/type", "It is no type."),
    Notice("problem", "get", "wrong_type", field="days"),
    RECORD,
    ATTEMPT,
    EVENT,
    OUTLINE,
    ContextNotice("failed", "s", "why"),
    ResultRepair("orphan_result", 1, "i", None),
]


def named(value: Any) -> list[str]:
    """The attributes that have the names of keys."""
    if isinstance(value, Message):
        return ["items", "framing"]
    if dataclasses.is_dataclass(value):
        return [one.name for one in dataclasses.fields(value)]
    return [*value.__match_args__]


@pytest.mark.parametrize("value", SAMPLES, ids=lambda value: type(value).__name__)
def test_to_dict_has_the_attributes_as_json(value: Any) -> None:
    found = value.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    names = named(value)
    has_type = hasattr(type(value), "type") and not isinstance(value, Field)
    assert list(found) == [*(["type"] if has_type else []), *names]
    for name in names:
        own = getattr(value, name)
        if isinstance(own, (str, int, float, type(None))):
            assert found[name] == own


def test_to_dict_writes_what_is_inside_in_the_same_way() -> None:
    assert END.to_dict()["problems"] == ERROR.to_dict()["problems"] == [PROBLEM.to_dict()]
    message = Message((Text("a"), END, ERROR), [(1, 2)])
    assert message.to_dict() == {
        "items": [Text("a").to_dict(), END.to_dict(), ERROR.to_dict()],
        "framing": [[1, 2]],
    }
    assert RECORD.to_dict()["attempts"] == [ATTEMPT.to_dict()]
    assert RECORD.to_dict()["started"] == "2026-01-02T03:04:05.600000+00:00"
    assert ATTEMPT.to_dict()["events"] == [EVENT.to_dict()]
    assert ATTEMPT.to_dict()["messages"] == [OUTLINE.to_dict()]
    assert ATTEMPT.to_dict()["usage"] == {"input": 3, "details": {"cached": 1}}


class Unshown:
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("value", [MessageOutline, {Unshown(): 1}, {10**5000: 1}, {(1, 2): 1}])
def test_to_dict_of_any_value_of_a_host_is_json(value: Any) -> None:
    written = dataclasses.replace(ATTEMPT, usage={"host": value}).to_dict()
    assert json.loads(json.dumps(written)) == written


def test_page_lists_the_keys_of_to_dict() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("### Keys of `to_dict()`")[2].partition("\n#")[0]
    found = {
        name: re.findall(r"`(\w+)`", keys)
        for name, keys in re.findall(r"^\| `(\w+)` \| (.+) \|$", text, re.M)
    }
    assert found == {type(value).__name__: list(value.to_dict()) for value in SAMPLES}
    kinds = dict(re.findall(r'^\| `(\w+)` \| `type` \(`"(\w+)"`\)', text, re.M))
    assert kinds == {type(value).__name__: value.to_dict()["type"] for value in SAMPLES[:6]}


def test_page_lists_every_class_with_to_dict() -> None:
    modules = [wirecall, wirecall.compaction]
    public = {getattr(module, name) for module in modules for name in module.__all__}
    found = {kind.__name__ for kind in public if isinstance(kind, type) and hasattr(kind, "to_dict")}
    # A description has the fields of docs/formats.md.
    assert found - {"Format"} == {type(value).__name__ for value in SAMPLES}


@pytest.mark.laws
@pytest.mark.parametrize("number", range(4))
def test_to_dict_is_what_parse_prints(number: int) -> None:
    rng = seeded(number)
    for _ in range(count(400, 20)):
        schemas = generate.toolset(rng)
        tools = Toolset(schemas.items(), validate=rng.choice(["report", "error"]))
        text = generate.message(rng, schemas)
        check_parsed(Collected(text, [], {}), tools)


@each_source
def test_to_dict_of_a_collected_text_is_what_parse_prints(source: Source) -> None:
    for one in source():
        check_parsed(one, one.toolset())


def check_parsed(one: Collected, tools: Toolset) -> None:
    parser = tools.parser(in_reasoning=one.in_reasoning)
    events = [*parser.feed(one.text), *parser.finish(truncated=one.truncated)]
    for value in [*events, one.parsed(tools)]:
        found = value.to_dict()
        assert json.loads(json.dumps(found, ensure_ascii=False, allow_nan=False).encode()) == found
        if isinstance(value, Message):
            assert found["items"] == [item.to_dict() for item in value.items]


@pytest.mark.parametrize("whole", [False, True])
def test_command_prints_to_dict(tmp_path: Path, whole: bool) -> None:
    schema = {"properties": {"days": {"type": "integer", "minimum": 1}}, "required": ["city"]}
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{"name": "get", "parameters": schema}]))
    text = 'So <call>get days="x"</call> <call>get x</call> <call>no</call>.'
    done = run("parse", "--tools", str(file), "--validate", *(["--whole"] if whole else []), stdin=text)
    tools = Toolset([("get", schema)], validate="error")
    parser = tools.parser()
    events = [*parser.feed(text), *parser.finish()]
    expected = [tools.parse(text)] if whole else events
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(printed) == len(expected)
    for line, value in zip(printed, expected, strict=True):
        # Ids are random.
        assert without_ids(line) == without_ids(value.to_dict())


def test_to_dict_of_a_rejected_call_has_its_problems() -> None:
    tools = Toolset([("f", {"properties": {"a": {"type": "integer", "maximum": 3}}})], validate="error")
    [error] = tools.parse("<call>f a=4</call>").errors
    assert [(one["kind"], one["field"]) for one in error.to_dict()["problems"]] == [("schema", "a")]
    [error] = tools.parse("<call>f a=x</call>").errors
    assert [(one["kind"], one["field"]) for one in error.to_dict()["problems"]] == [("wrong_type", "a")]
    assert error.sentence == error.problems[0].message
    [error] = tools.parse("<call>f a</call>").errors
    assert error.problems == ()


@pytest.mark.parametrize(
    "arguments", ['{"a":%s}' % ("9" * 5000), '{"a":%s}' % ("[" * 120 + "]" * 120), '{"a":"\\ud800"}']
)
def test_to_dict_of_extreme_arguments_is_json(arguments: str) -> None:
    found = CallEnd(0, "i", "f", arguments, 0, 1).to_dict()
    assert json.loads(json.dumps(found))["arguments"] == arguments
    [call] = Toolset().parse(f"<call>f {arguments}</call>").calls
    assert json.loads(json.dumps(call.to_dict())) == call.to_dict()


def test_to_dict_keeps_lone_surrogates_of_the_application() -> None:
    found = Text("\ud800").to_dict()
    assert json.loads(json.dumps(found)) == found == {"type": "text", "text": "\ud800"}


class Odd:
    def __repr__(self) -> str:
        return "Odd()"


ODD = st.sampled_from([float("nan"), float("inf"), Odd(), b"x", {1, 2}, ("a",)])
HUGE = st.integers(4290, 4310).map(lambda digits: 10**digits)
USAGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | ODD | HUGE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=10,
)


@LAW
@given(usage=st.dictionaries(st.text(), USAGE, max_size=3))
def test_to_dict_of_any_usage_is_json(usage: dict[str, Any]) -> None:
    found = dataclasses.replace(RECORD, usage=usage).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert list(found["usage"]) == list(usage)


def test_to_dict_of_deep_usage_is_json() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = {"x": deep}
    found = dataclasses.replace(RECORD, usage={"deep": deep}).to_dict()
    assert json.loads(json.dumps(found)) == found
