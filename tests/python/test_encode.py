"""The writer in Python: all kinds of values, what cannot be written, round trips; results, manual, plans."""

import collections
import enum
import json
import types
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wirecall
from law import LAW
from stable_ids import stable_id
from wirecall import CallEnd, Field, ToolError, Toolset

PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "opts": {
            "type": "object",
            "properties": {"units": {"enum": ["metric", "imperial"]}, "deep": {"type": "boolean"}},
            "required": ["units"],
        },
        "any": {},
    },
    "required": ["city", "opts"],
}
TOOLS = Toolset([{"name": "get", "description": "Gets it.", "parameters": PARAMETERS}, ("ping", True)])
OPEN = Toolset()


def encoded(value: Any) -> str:
    """The value, as it is written for a field of unknown type."""
    text = OPEN.encode("f", {"x": value})
    return text.removeprefix("<call>f x=").removesuffix("</call>")


class Color(str, enum.Enum):  # noqa: UP042, as in many programs
    RED = "dark red"


class Level(enum.IntEnum):
    HIGH = 3


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "not this"


class Number(int):
    def __repr__(self) -> str:
        return "not this"

    __str__ = __repr__


class Real(float):
    def __repr__(self) -> str:
        return "not this"


class Pairs(Mapping[str, Any]):
    def __init__(self, **members: Any) -> None:
        self.members = members

    def __getitem__(self, key: str) -> Any:
        return self.members[key]

    def __iter__(self) -> Any:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)


Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (0, "0"),
        (-5, "-5"),
        (2**63, "9223372036854775808"),
        (-(10**40), "-1" + "0" * 40),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (1e300, "1e+300"),
        (5.0, "5.0"),
        ("", '""'),
        ("5", '"5"'),
        ("a b", '"a b"'),
        ("\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "\U0001f600"),
        ([], "[]"),
        ([1, "a", None, [True]], '[1,"a",null,[true]]'),
        ((1, (2,)), "[1,[2]]"),
        (Point(1, 2), "[1,2]"),
        ({}, "{}"),
        ({"a": {"b": 1}}, '{"a":{"b":1}}'),
        (Color.RED, '"dark red"'),
        (Level.HIGH, "3"),
        (Text("x"), "x"),
        (Number(7), "7"),
        (Real(0.5), "0.5"),
        (Pairs(a=1), '{"a":1}'),
        (types.MappingProxyType({"a": 1}), '{"a":1}'),
        (collections.OrderedDict(b=1, a=2), '{"b":1,"a":2}'),
        (collections.defaultdict(int, a=2), '{"a":2}'),
        (collections.ChainMap({"a": 1}), '{"a":1}'),
        ({Text("k"): 1}, '{"k":1}'),
        ([Color.RED, Pairs()], '["dark red",{}]'),
    ],
    ids=stable_id,
)
def test_values(value: Any, text: str) -> None:
    assert encoded(value) == text


def test_integers_as_large_as_python_prints() -> None:
    assert encoded(10**4299) == "1" + "0" * 4299
    with pytest.raises(ValueError, match="digits"):
        encoded(10**5000)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"city": "a", "opts": {"units": "metric"}}, "city=a opts.units=metric"),
        (Pairs(city="a b", days=5), 'city="a b" days=5'),
        (types.MappingProxyType({"days": 5}), "days=5"),
        ('{"days":1.50,"city":"\\u0041"}', "days=1.50 city=A"),
        (' { "any" : 12345678901234567890.10 } ', "any=12345678901234567890.10"),
        (Text('{"days":1}'), "days=1"),
    ],
)
def test_arguments_are_a_mapping_or_json_text(given: Any, text: str) -> None:
    assert TOOLS.encode("get", given) == f"<call>get {text}</call>"


def test_no_arguments() -> None:
    assert TOOLS.encode("ping", {}) == TOOLS.encode("ping", "{}") == "<call>ping</call>"


def cycle() -> Any:
    value: dict[str, Any] = {}
    value["again"] = [value]
    return value


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"x": float("nan")}, ValueError, "NaN"),
        ({"x": [float("inf")]}, ValueError, "infinities"),
        ({"x": -float("inf")}, ValueError, "infinities"),
        ({"x": "\ud800"}, ValueError, "lone surrogate"),
        ({"x": ["\udc00"]}, ValueError, "lone surrogate"),
        ({"\ud800": 1}, ValueError, "lone surrogate"),
        ('{"x":"\ud800"}', ValueError, "lone surrogate"),
        (cycle(), ValueError, "contain themselves"),
        ({"x": nested(200)}, ValueError, "nested more than 128"),
        ({1: 2}, TypeError, "the key 1 must be a str"),
        ({"x": {None: 2}}, TypeError, "the key None must be a str"),
        ({"x": object()}, TypeError, "object is not a JSON value"),
        ({"x": {1, 2}}, TypeError, "set is not a JSON value"),
        ({"x": b"x"}, TypeError, "bytes is not a JSON value"),
        ({"x": 1j}, TypeError, "complex is not a JSON value"),
        ({"x": (n for n in "ab")}, TypeError, "generator is not a JSON value"),
        ([1], TypeError, "must be a mapping or JSON text, not list"),
        (None, TypeError, "not NoneType"),
        (5, TypeError, "not int"),
        (b"{}", TypeError, "not bytes"),
        ("[1]", ValueError, "not a JSON object"),
        ("5", ValueError, "not a JSON object"),
        ("", ValueError, "not valid JSON"),
        ("{", ValueError, "not valid JSON"),
        ("{'x':1}", ValueError, "not valid JSON"),
        ('{"x":NaN}', ValueError, "not valid JSON"),
        ('{"x":1} x', ValueError, "not valid JSON"),
        ('{"x":01}', ValueError, "not valid JSON"),
    ],
    ids=lambda value: stable_id(value)[:40],
)
def test_what_cannot_be_written(arguments: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        TOOLS.encode("get", arguments)


@pytest.mark.parametrize("name", ["", "a b", "a<b", "a{", "a=b", 'a"b', "n" * 129, "\ud800", "a\x01"])
def test_names_that_cannot_be_written(name: str) -> None:
    with pytest.raises(ValueError, match=r"name|surrogate"):
        OPEN.encode(name, {})


def test_nothing_given_is_changed() -> None:
    given = {"city": "a", "opts": {"units": "metric", "more": [1]}, "any": {"x": {}}}
    before = json.dumps(given)
    TOOLS.encode("get", given)
    assert json.dumps(given) == before


# Round trips --------------------------------------------------------------------------------------

# Hypothesis takes ten times as long as the laws of Rust.
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(
        [
            "</call>",
            "<call>",
            "null",
            "true",
            "5",
            "1e5",
            "-0.0",
            "007",
            "a,b",
            "x,",
            "[1]",
            '{"a":1}',
            "it's",
        ]
    ),
    st.lists(st.sampled_from(["\\", '"', "'", "n", "u0041", " ", "\n", "</call>", "=", ",", "\x7f"])).map(
        "".join
    ),
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
KEYS = st.one_of(
    TEXTS, st.sampled_from(["a", "b", "a.b", "a.b.c", "0", "1", "[0]", "__proto__", "maxResults"])
)


def exact(value: Any) -> str:
    """JSON text, so that 1, 1.0 and True differ, and the order of keys counts."""
    return json.dumps(value, ensure_ascii=False)


def assert_round_trip(tools: Toolset, strict: Toolset, arguments: dict[str, Any]) -> None:
    for form in (arguments, json.dumps(arguments)):
        text = tools.encode("f", form)
        for reader in (tools, strict):
            [call] = reader.parse(text).items
            assert isinstance(call, CallEnd), (text, call)
            assert call.repairs == (), text
            assert exact(call.args) == exact(arguments), text
            assert reader.segments(text) == [text]


@pytest.mark.laws
@LAW
@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_round_trip_untyped(arguments: dict[str, Any]) -> None:
    assert_round_trip(OPEN, OPEN, arguments)
    declared = [("f", {"type": "object", "properties": {"maxResults": {}, "a.b": {}}})]
    assert_round_trip(Toolset(declared), Toolset(declared, strict=True), arguments)


@pytest.mark.laws
@LAW
@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_round_trip_as_json(arguments: dict[str, Any]) -> None:
    tools = [("f", True)]
    assert_round_trip(Toolset(tools, syntax="json"), Toolset(tools, syntax="json", strict=True), arguments)


Typed = tuple[dict[str, Any], Any]


def of_type(schema: dict[str, Any], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Typed]:
    return values.map(lambda value: (schema, value))


def enums() -> st.SearchStrategy[Typed]:
    literals = st.lists(
        st.one_of(TEXTS, st.integers(-5, 5), st.booleans(), st.none()), min_size=1, unique_by=exact
    )
    return literals.flatmap(lambda choices: of_type({"enum": choices}, st.sampled_from(choices)))


def arrays(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    """Arrays of one item or none, so that one schema is enough for all items."""
    return inner.flatmap(
        lambda typed: of_type(
            {"type": "array", "items": typed[0]}, st.sampled_from([[], [typed[1]], [typed[1]] * 2])
        )
    )


def objects(inner: st.SearchStrategy[Typed], more: bool = True) -> st.SearchStrategy[Typed]:
    def build(members: dict[str, Typed], left: set[str], extra: dict[str, Any], closed: bool) -> Typed:
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {key: typed[0] for key, typed in members.items()},
        }
        value = {key: typed[1] for key, typed in members.items() if key not in left}
        if closed:
            schema["additionalProperties"] = False
        else:
            value |= {key: item for key, item in extra.items() if key not in members}
        return schema, value

    keys = st.dictionaries(KEYS, inner, max_size=4)
    extra = st.dictionaries(KEYS, VALUES, max_size=2) if more else st.just({})
    return st.builds(build, keys, st.sets(KEYS, max_size=1), extra, st.booleans())


FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer())
LEAVES: st.SearchStrategy[Typed] = st.one_of(
    of_type({"type": "string"}, TEXTS),
    of_type({"type": "integer"}, st.integers()),
    of_type({"type": "number"}, st.integers() | st.floats(allow_nan=False, allow_infinity=False)),
    of_type({"type": "boolean"}, st.booleans()),
    of_type({"type": "null"}, st.none()),
    of_type({"type": ["string", "null"]}, TEXTS | st.none()),
    of_type({"anyOf": [{"type": "string"}, {"type": "integer"}]}, TEXTS | st.integers()),
    of_type({"type": ["number", "string", "boolean", "array"]}, TEXTS | FLOATS | st.booleans() | st.just([])),
    of_type({}, VALUES),
    of_type({"type": "object"}, st.dictionaries(KEYS, VALUES, max_size=3)),
    of_type({"type": "array"}, st.lists(VALUES, max_size=3)),
    enums(),
)
TYPED = st.recursive(LEAVES, lambda inner: arrays(inner) | objects(inner), max_leaves=10)


@pytest.mark.laws
@LAW
@given(objects(TYPED), st.sampled_from(["complex", "force"]))
def test_round_trip_typed(typed: Typed, fallback: Any) -> None:
    schema, arguments = typed
    tools = Toolset([("f", schema)], fallback_to_json=fallback)
    assert_round_trip(tools, Toolset([("f", schema)], fallback_to_json=fallback, strict=True), arguments)


# Results ------------------------------------------------------------------------------------------


def test_results() -> None:
    assert TOOLS.encode_result("get", "20\u00b0") == '<tool-result name="get">20\u00b0</tool-result>'
    assert (
        TOOLS.encode_result("get", {"a": [1, 0.5]}) == '<tool-result name="get">{"a":[1,0.5]}</tool-result>'
    )
    assert TOOLS.encode_result("get", "x", error=True, number=2) == (
        '<tool-error name="get" number="2">x</tool-error>'
    )
    assert TOOLS.encode_result("get", "\ud800x") == '<tool-result name="get">\ufffdx</tool-result>'
    assert TOOLS.encode_result("g\ud800", Color.RED) == '<tool-result name="g\ufffd">dark red</tool-result>'


@pytest.mark.parametrize(
    ("content", "error"),
    [(float("nan"), ValueError), ({"a": "\ud800"}, ValueError), (object(), TypeError), ({1: 2}, TypeError)],
)
def test_results_that_cannot_be_written(content: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        TOOLS.encode_result("get", content)


@pytest.mark.parametrize("number", [0, -1, 2**70, -(2**70)])
def test_results_with_numbers_that_count_nothing(number: int) -> None:
    with pytest.raises(ValueError, match=f"number is {number}; "):
        TOOLS.encode_result("get", "x", number=number)


FORGERIES = [
    "</tool-result>",
    "<tool-error",
    "<tool-result name=",
    "</tool-error",
    "<call>",
    "<\\call>",
    "<",
    "x",
]


@pytest.mark.laws
@LAW
@given(st.lists(st.sampled_from(FORGERIES)).map("".join), st.lists(st.sampled_from(FORGERIES)).map("".join))
def test_a_result_cannot_be_forged(name: str, content: str) -> None:
    for form in (content, [content], {content: content}):
        text = TOOLS.encode_result(name, form)
        assert text.count("<tool-result") == text.count("</tool-result>") == 1
        assert "<tool-error" not in text
        assert "</tool-error" not in text
        assert "<call>" not in text


# Manual, signature, plan --------------------------------------------------------------------------


def test_manual() -> None:
    manual = TOOLS.manual()
    lines = [TOOLS.signature("get"), TOOLS.signature("ping")]
    assert manual.endswith("\n" + "\n".join(lines))
    assert TOOLS.manual(header="") == "\n".join(lines)
    assert TOOLS.manual(header="Call:") == "Call:\n" + "\n".join(lines)
    assert TOOLS.manual() == manual == Toolset(TOOLS_AGAIN).manual()
    for hint in ("<call>", "</call>", '\\"', "<tool-result>"):
        assert hint in manual


TOOLS_AGAIN = [{"name": "get", "description": "Gets it.", "parameters": PARAMETERS}, ("ping", True)]


def test_the_manual_has_the_delimiters() -> None:
    manual = Toolset([("f", PARAMETERS)], delimiters=("[[x".replace("[", "|"), "|end|")).manual()
    assert "||x" in manual
    assert "|end|" in manual
    assert "<call>" not in manual


def test_the_examples_of_the_manual_can_be_read() -> None:
    for tools in (TOOLS, Toolset(TOOLS_AGAIN, syntax="json")):
        examples = OPEN.parse(tools.manual()).calls
        assert examples
        assert all(not call.repairs for call in examples)


def test_descriptions() -> None:
    properties = {"a": {"type": "string", "description": "The first."}}
    tools = [
        {"name": "f", "description": "Does it.", "parameters": {"type": "object", "properties": properties}}
    ]
    found = {level: Toolset(tools, descriptions=level).signature("f") for level in ("full", "tools", "none")}
    assert ["Does it." in text for text in found.values()] == [True, True, False]
    assert ["The first." in text for text in found.values()] == [True, False, False]


def test_plan() -> None:
    plan = TOOLS.plan("get")
    assert (plan.name, plan.encoding, plan.reason) == ("get", "pairs", None)
    assert [(field.key, field.required) for field in plan.fields] == [
        ("city", True),
        ("days", False),
        ("opts.units", True),
        ("opts.deep", False),
        ("any", False),
    ]
    match plan:
        case wirecall.Plan("get", "pairs", [Field("city", type, True), *_], None):
            assert type == plan.fields[0].type
    assert plan == TOOLS.plan("get") != TOOLS.plan("ping")
    assert repr(plan).startswith("Plan(name='get', encoding='pairs', fields=[Field(key='city', type=")
    with pytest.raises(AttributeError):
        plan.name = "x"  # type: ignore[misc]


def test_plan_of_a_tool_that_pairs_do_not_suit() -> None:
    union = {"anyOf": [{"type": "object", "properties": {"q": {"type": "string"}}}, {"type": "object"}]}
    plan = Toolset([("f", union)]).plan("f")
    assert plan.encoding == "json"
    assert plan.reason
    assert Toolset([("f", union)], fallback_to_json="force").plan("f").encoding == "pairs"
    asked = Toolset([("f", PARAMETERS)], syntax="json").plan("f")
    assert (asked.encoding, asked.reason) == ("json", None)


def test_unknown_tools() -> None:
    for use in (TOOLS.plan, TOOLS.signature):
        with pytest.raises(ToolError, match=r"^there is no tool 'x'; available: get, ping$"):
            use("x")
