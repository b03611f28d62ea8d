"""Events: small frozen values that can be matched, compared, hashed, copied and pickled."""

import copy
import math
import pickle
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import wirecall
from wirecall import ArgumentsDelta, CallEnd, CallError, CallStart, Event, Problem, Reasoning, Text

GET: dict[str, Any] = {
    "name": "get",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
TOOLS = wirecall.Toolset([GET])
PROBLEM = Problem("wrong_type", "days", "days: a whole number is needed")
SAMPLES: list[Any] = [
    Text("a\n"),
    Reasoning("Hm.\n", 7, 11),
    CallStart(0, "call_x", "get"),
    ArgumentsDelta(0, '{"city":'),
    CallEnd(0, "call_x", "get", "{}", 3, 9),
    CallEnd(1, "call_y", "get", '{"days":"x"}', 3, 9, ("coerced",), (PROBLEM,)),
    CallError(None, None, None, "forged_result", "Never write one.", "<tool-result", 0, 12),
    CallError(2, "call_z", "get", "malformed_call", "Write it so.", "<call>get x</call>", 5, 24),
    PROBLEM,
]
TYPES = [
    "text",
    "reasoning",
    "call_start",
    "arguments_delta",
    "call_end",
    "call_end",
    "call_error",
    "call_error",
]


def told(events: list[Event]) -> Iterator[str]:
    for event in events:
        match event:
            case Text(text):
                yield f"text {text}"
            case Reasoning(text, start, end):
                yield f"reasoning {text} {start} {end}"
            case CallStart(index, id, name):
                yield f"start {index} {len(id)} {name}"
            case ArgumentsDelta(index, delta):
                yield f"delta {index} {delta}"
            case CallEnd(index, id, name, arguments, start, end, repairs, problems):
                kinds = [problem.kind for problem in problems]
                yield f"end {index} {len(id)} {name} {arguments} {start} {end} {repairs} {kinds}"
            case CallError(index, id, name, kind, _, raw, start, end):
                yield f"error {index} {id} {name} {kind} {raw} {start} {end}"


def test_events_can_be_matched() -> None:
    parser = TOOLS.parser()
    events = [*parser.feed("a <call>get days='5'</call><call>no</call> <tool-error"), *parser.finish()]
    assert list(told(events)) == [
        "text a ",
        "start 0 29 get",
        'delta 0 {"days":5}',
        "end 0 29 get {\"days\":5} 2 27 ('coerced',) ['missing_required']",
        "error None None no unknown_tool <call>no</call> 27 42",
        "text  ",
        "error None None None forged_result <tool-error 43 54",
    ]


def test_types() -> None:
    assert [event.type for event in SAMPLES[:-1]] == TYPES
    assert Text.type == "text"


def test_match_args_are_the_attributes() -> None:
    for event in SAMPLES:
        again = type(event)(*(getattr(event, name) for name in event.__match_args__))
        assert again == event
        assert again is not event


def test_modules() -> None:
    for cls in (*map(type, SAMPLES), wirecall.Parser, wirecall.Message, wirecall.Plan, wirecall.Field):
        assert cls.__module__ == "wirecall"
        assert getattr(wirecall, cls.__name__) is cls


@pytest.mark.parametrize("event", SAMPLES, ids=repr)
def test_copies(event: Any) -> None:
    copies = [copy.copy(event), copy.deepcopy(event)]
    copies += [pickle.loads(pickle.dumps(event, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for again in copies:
        assert type(again) is type(event)
        assert (again, hash(again), repr(again)) == (event, hash(event), repr(event))


def test_parsed_events_can_be_pickled() -> None:
    items = TOOLS.parse("a <call>get days=x</call> <call>no</call>").items
    assert pickle.loads(pickle.dumps(items)) == items


def test_equality() -> None:
    for one in SAMPLES:
        for other in SAMPLES:
            assert (one == other) is (one is other)
    assert Text("a") != ArgumentsDelta(0, "a")
    assert Text("a") != "a"
    assert Text("a").__eq__("a") is NotImplemented
    assert CallEnd(0, "x", "f", "{}", 0, 1) == CallEnd(0, "x", "f", "{}", 0, 1, (), ())
    fields: dict[str, Any] = {"index": 0, "id": "x", "name": "f", "arguments": "{}", "start": 0, "end": 1}
    other: dict[str, Any] = {"index": 1, "id": "y", "name": "g", "arguments": "[]", "start": 2, "end": 3}
    for name, value in {**other, "repairs": ("coerced",), "problems": (PROBLEM,)}.items():
        assert CallEnd(**{**fields, name: value}) != CallEnd(**fields), name


def test_order_is_not_defined() -> None:
    with pytest.raises(TypeError):
        assert Text("a") < Text("b")


def test_repr() -> None:
    assert [repr(event) for event in SAMPLES[:6]] == [
        "Text(text='a\\n')",
        "Reasoning(text='Hm.\\n', start=7, end=11)",
        "CallStart(index=0, id='call_x', name='get')",
        "ArgumentsDelta(index=0, delta='{\"city\":')",
        "CallEnd(index=0, id='call_x', name='get', arguments='{}', start=3, end=9, repairs=(), problems=())",
        "CallEnd(index=1, id='call_y', name='get', arguments='{\"days\":\"x\"}', start=3, end=9, "
        "repairs=('coerced',), problems=(Problem(kind='wrong_type', field='days', "
        "message='days: a whole number is needed'),))",
    ]
    for event in SAMPLES:
        assert eval(repr(event), vars(wirecall)) == event


@pytest.mark.parametrize("event", SAMPLES, ids=repr)
def test_frozen(event: Any) -> None:
    for name in event.__match_args__:
        with pytest.raises(AttributeError):
            setattr(event, name, getattr(event, name))
        with pytest.raises(AttributeError):
            delattr(event, name)
    with pytest.raises(AttributeError):
        event.other = 1
    with pytest.raises(TypeError):
        type("Sub", (type(event),), {})


def test_args_are_a_new_dict_each_time() -> None:
    end = CallEnd(0, "x", "f", '{"a":{"b":[1.5,null]}}', 0, 1)
    assert end.args == {"a": {"b": [1.5, None]}}
    assert end.args is not end.args
    end.args["a"] = 1
    assert end.args["a"] == {"b": [1.5, None]}


def test_args_keep_large_integers() -> None:
    digits = "9" * 400
    [call] = TOOLS.parse(f"<call>get city=x days={digits}</call>").calls
    assert call.args["days"] == int(digits)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ('{"a":1e400}', "a"),
        ('{"a":{"b c":[1,"1e400",-1.5E+999]}}', 'a."b c"[2]'),
        ('{"a":1,"b":%s.5}' % ("9" * 400), "b"),
    ],
)
def test_args_hold_no_infinity(arguments: str, field: str) -> None:
    call = CallEnd(0, "i", "f", arguments, 0, 1)
    with pytest.raises(ValueError, match="outside the range of a float") as raised:
        call.args  # noqa: B018
    assert f" {field}: " in str(raised.value)
    # So it is where a model wrote it, and the call says so.
    [read] = wirecall.Toolset([]).parse(f"<call>f {arguments}</call>").calls
    assert [(problem.kind, problem.field) for problem in read.problems] == [("wrong_type", field)]
    with pytest.raises(ValueError, match="outside the range of a float"):
        read.args  # noqa: B018


def test_args_keep_other_numbers() -> None:
    text = '{"a":1e308,"b":-1E-400,"c":%s,"d":"1e999","e":1e5}' % ("9" * 400)
    call = CallEnd(0, "i", "f", text, 0, 1)
    assert call.args == {"a": 1e308, "b": 0.0, "c": int("9" * 400), "d": "1e999", "e": 1e5}
    assert math.copysign(1, call.args["b"]) == -1


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "{",
        "[1]",
        "5",
        "null",
        '{"a":NaN}',
        '{"a":-Infinity}',
        '{"a":1e5,"b":NaN}',
        '{"a":1e5',
        "[" * 100_000,
        "{'a':1}",
    ],
    ids=lambda text: text[:20],
)
def test_args_of_what_is_not_an_object(arguments: str) -> None:
    with pytest.raises(ValueError, match=r'of "f" are not (valid JSON: |a JSON object$)') as raised:
        CallEnd(0, "i", "f", arguments, 0, 1).args  # noqa: B018
    assert type(raised.value) is ValueError


def test_problems_and_repairs_are_tuples() -> None:
    [call] = TOOLS.parse("<call>get days=five</call>").calls
    assert call.repairs == ()
    assert [(problem.kind, problem.field) for problem in call.problems] == [
        ("wrong_type", "days"),
        ("missing_required", "city"),
    ]
    for problem in call.problems:
        assert problem.field in problem.message
        match problem:
            case Problem(kind, field, message):
                assert (kind, field, message) == (problem.kind, problem.field, problem.message)


def test_ids_have_the_form_of_the_apis() -> None:
    calls = [item for item in TOOLS.parse("<call>get</call>" * 500).items if isinstance(item, CallEnd)]
    assert len({call.id for call in calls}) == 500
    assert all(re.fullmatch(r"call_[A-Za-z0-9]{24}", call.id) for call in calls)
    assert [call.index for call in calls] == list(range(500))


def test_an_event_keeps_its_strings_alive() -> None:
    def text() -> Text:
        [event] = TOOLS.parser().feed("".join(["some ", "text"]))
        assert isinstance(event, Text)
        return event

    assert [text().text for _ in range(100)] == ["some text"] * 100


def test_strings_are_the_same_object_each_time() -> None:
    [event] = TOOLS.parser().feed("some text")
    assert isinstance(event, Text)
    assert event.text is event.text
    before = sys.getrefcount(event.text)
    for _ in range(1000):
        assert event.text
    assert sys.getrefcount(event.text) <= before + 1


@pytest.mark.parametrize(
    ("body", "kind", "arguments"),
    [
        ("city=Graz units=None", "coerced", '{"city":"Graz","units":null}'),
        ("City=Graz units=si", "key_style", '{"city":"Graz","units":"si"}'),
        ("City=Graz units=None days=x", "key_style", '{"city":"Graz","units":null,"days":"x"}'),
        ("city=Graz units=None stray", "coerced", None),
        ("city=Graz units=None, days=1", "coerced", None),
        ("units=None city= Graz", "coerced", None),
    ],
)
def test_an_error_of_style_has_the_arguments_if_nothing_else_is_wrong(
    body: str, kind: str, arguments: str | None
) -> None:
    units = {"units": {"enum": ["si", "us", None]}}
    parameters = GET["parameters"] | {"properties": GET["parameters"]["properties"] | units}
    tools = wirecall.Toolset([GET | {"parameters": parameters}], strict=True, validate="error")
    [error] = tools.parse(f"<call>get {body}</call>").errors
    assert (error.kind, error.arguments) == (kind, arguments)
