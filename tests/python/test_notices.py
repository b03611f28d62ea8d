"""What a notice and a record's event are about: the tool and the argument, without what the model wrote."""

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest

import generate
import wirecall
from collected_texts import vectors
from law import count, seeded
from wirecall import Notice, Record, RecordEvent

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "maximum": 9},
        "profile": {
            "type": "object",
            "properties": {"age": {"type": "integer"}, "a.b c": {"type": "integer"}},
            "required": ["age"],
            "additionalProperties": False,
        },
        "items": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "open": {"type": "object", "required": ["undescribed"]},
    },
    "required": ["city"],
    "additionalProperties": False,
}
NAME = "get_weather"


def asked(answers: list[str], schema: Any = SCHEMA, **options: Any) -> tuple[list[Notice], Record]:
    """The notices and the record of an exchange in which the model answers like this."""
    function = {"name": NAME, "parameters": schema}
    request = {
        "messages": [{"role": "user", "content": "How is the weather?"}],
        "tools": [{"type": "function", "function": function}],
        **options.pop("request", {}),
    }
    left = iter(answers)

    def model(_: Any) -> Any:
        message = {"role": "assistant", "content": next(left)}
        return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    notices: list[Notice] = []
    records: list[Record] = []
    tools = wirecall.compact_tools(on_event=notices.append, on_record=records.append, **options)
    tools.wrap_generate(model, request)
    return notices, records[0]


def call(arguments: object) -> str:
    return wirecall.Toolset(protocol="hermes").encode(NAME, arguments)  # type: ignore[arg-type]


def problems(notices: list[Notice]) -> list[tuple[str, str | None]]:
    return [(notice.detail, notice.field) for notice in notices if notice.kind == "problem"]


def with_problems(record: Record) -> Iterator[RecordEvent]:
    for attempt in record.attempts:
        for event in attempt.events:
            assert len(event.fields) == len(event.problems)
            if event.fields:
                yield event


FULL = {"city": "x"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [("missing_required", "city")]),
        ({**FULL, "open": {}}, [("missing_required", "open.undescribed")]),
        ({**FULL, "days": "sk-secret"}, [("wrong_type", "days")]),
        ({**FULL, "profile": {"age": "no"}}, [("wrong_type", "profile.age")]),
        ({**FULL, "profile": {"age": 1, "a.b c": "no"}}, [("wrong_type", 'profile."a.b c"')]),
        ({**FULL, "profile": {}}, [("missing_required", "profile.age")]),
        ({**FULL, "items": [{}, {"n": "no"}]}, [("wrong_type", "items[1].n")]),
        ({**FULL, "sk-secret": 1}, [("unknown_field", "")]),
        ({**FULL, "profile": {"age": 1, "sk-secret": 1}}, [("unknown_field", "profile")]),
        ({**FULL, "map": {"sk-secret": "no"}}, [("wrong_type", "map")]),
        ({**FULL, "map": {"sk.secret[0]": "no"}}, [("wrong_type", "map")]),
    ],
)
def test_problem_names_the_argument_that_is_declared(arguments: Any, expected: Any) -> None:
    notices, record = asked([call(arguments)], protocol="hermes")
    assert problems(notices) == expected
    [event] = with_problems(record)
    assert [*zip(event.problems, event.fields, strict=True)] == expected
    for told in ([notice.to_dict() for notice in notices], record.to_dict()):
        assert "secret" not in json.dumps(told)


def test_problem_of_a_rejected_call_is_told_before_its_error() -> None:
    bad, good = call({**FULL, "days": 10, "profile": {"age": "x"}}), call(FULL)
    notices, record = asked([bad, good], protocol="hermes", validate="error")
    told = [notice for notice in notices if notice.kind != "saved"]  # only where there is a vocabulary
    assert [(notice.kind, notice.tool, notice.field) for notice in told] == [
        ("problem", NAME, "profile.age"),
        ("problem", NAME, "days"),
        ("error", NAME, None),
        ("retry", None, None),
    ]
    [event] = with_problems(record)
    assert (event.kind, event.error, event.fields) == ("error", "invalid_arguments", ("profile.age", "days"))


def test_notices_of_other_kinds_have_no_field(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wirecall.tokens.cached_tokenizer", lambda: len)
    options: dict[str, Any] = {"request": {"tool_choice": "required"}, "manual_header": "No field."}
    notices = [
        *asked(["<call>get_weather city = x days=no</call>"], **options)[0],
        *asked(["<call>get_weather x</call>", "No."], **options)[0],
        *asked(["No.", "No."], **options)[0],
        *asked(['<tool_call>\n{"name":"get_weather","arguments":{}}\n</tool_call>'])[0],
        *asked(["No."], request={"tools": [{"type": "web_search"}]}, native_tools="drop")[0],
    ]
    assert {notice.kind for notice in notices} == {*get_args(wirecall.NoticeKind)}
    assert {notice.kind for notice in notices if notice.field is not None} == {"problem"}


def test_notice_shows_the_names_of_its_attributes() -> None:
    notice = Notice("problem", "get", "wrong_type", field="days")
    assert repr(notice) == "Notice(kind='problem', tool='get', detail='wrong_type', raw=None, field='days')"
    event = RecordEvent(time=0.5, kind="call", tool="get", problems=("wrong_type",), fields=("days",))
    assert "problems=('wrong_type',), fields=('days',)" in repr(event)


@pytest.mark.laws
@pytest.mark.parametrize("number", range(4))
def test_field_consists_of_declared_names(number: int) -> None:
    """Generated calls have marked keys and values: no mark is told, but the field up to the first one is."""
    rng = seeded(number)
    told = 0
    for _ in range(count(400, 10)):
        schema = next(iter(generate.toolset(rng).values()), True)
        validate = rng.choice(["report", "error"])
        try:
            tools = wirecall.Toolset([(NAME, schema)], protocol="hermes", validate=validate)
            text = call(marked(rng, generate.arguments(rng, schema)))
        except ValueError:
            continue
        message = tools.parse(text)
        own = [problem.field for item in (*message.calls, *message.errors) for problem in item.problems]
        notices, record = asked([text], schema, protocol="hermes", validate=validate, max_retries=0)
        fields = [field for _, field in problems(notices)]
        assert [field for event in with_problems(record) for field in event.fields] == fields
        for field, whole in zip(fields, own, strict=True):
            assert field is not None
            assert "secret" not in field
            assert whole.startswith(field)
            told += bool(field)
    assert told


def marked(rng: Any, value: Any) -> Any:
    if isinstance(value, dict):
        held = {key: marked(rng, one) for key, one in value.items()}
        if rng.random() < 0.5:
            held[rng.choice(["secret", "a.secret", "secret[0]", 'se"cret secret', ""]) + "secret"] = "secret"
        if held and rng.random() < 0.3:
            held[rng.choice([*held])] = ["secret"]
        return held
    return [marked(rng, one) for one in value] if isinstance(value, list) else value


NAME_IN_A_FIELD = re.compile(r'"(?:[^"\\]|\\.)*"|[^."\[]+')


def test_field_in_a_vector_consists_of_declared_names() -> None:
    told = 0
    for one in vectors():
        message = one.parsed(one.toolset())
        own = [problem for call in message.calls for problem in call.problems]
        if not own or not one.tools:
            continue
        tools = [{"type": "function", "function": tool} for tool in one.tools]
        notices, _ = asked([one.text], request={"tools": tools}, max_retries=0, **one.options)
        known = {name for tool in one.tools for name in declared(tool["parameters"])}
        fields = [field or "" for _, field in problems(notices)]
        assert len(fields) == len(own)
        for field, problem in zip(fields, own, strict=True):
            assert problem.field.startswith(field)
            names = NAME_IN_A_FIELD.findall(re.sub(r"\[\d+\]", "", field))
            assert {json.loads(name) if name[0] == '"' else name for name in names} <= known
            told += bool(names)
    assert told > 50


def declared(schema: Any) -> Iterator[str]:
    """The names in a schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        yield from schema.get("required", ())
        for inner in schema.values():
            yield from declared(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from declared(inner)
