"""Laws of `Toolset.run`: for any signature, a call that is written and read passes the same typed values."""

import enum
import inspect
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_core import to_jsonable_python
from typing_extensions import TypedDict

from collected_texts import Source, each_source
from law import law
from wirecall import CallError, ToolResult, Toolset


class Color(enum.Enum):
    RED = "red"
    BLUE = 2


class Kind(str, enum.Enum):  # noqa: UP042 - its str() is not its value
    A = "a"
    B = "b b"


class Item(BaseModel):
    sku: str
    counts: dict[str, int] = {}


@dataclass
class Order:
    items: list[Item]
    due: date | None = None
    color: Color = Color.RED
    tags: set[str] = field(default_factory=set)


class Options(TypedDict):
    depth: int
    note: str


class Pair(NamedTuple):
    left: int
    right: str


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
INTEGERS = st.integers(-(10**30), 10**30)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ZONES = st.sampled_from([None, UTC, timezone(timedelta(hours=5, minutes=30))])
ITEMS = st.builds(Item, sku=TEXT, counts=st.dictionaries(TEXT, INTEGERS, max_size=2))
# A type, and its values.
TYPES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, TEXT),
    (int, INTEGERS),
    (float, FLOATS),
    (bool, st.booleans()),
    (Any, st.none() | st.booleans() | TEXT | INTEGERS | st.lists(TEXT, max_size=2)),
    (Color, st.sampled_from(Color)),
    (Kind, st.sampled_from(Kind)),
    (Literal["a", "2", 3], st.sampled_from(["a", "2", 3])),
    (date, st.dates()),
    (time, st.times().map(lambda value: value.replace(fold=0))),
    (datetime, st.datetimes(timezones=ZONES).map(lambda value: value.replace(fold=0))),
    (timedelta, st.timedeltas(timedelta(days=-9999), timedelta(days=9999))),
    (uuid.UUID, st.uuids()),
    (Decimal, st.decimals(allow_nan=False, allow_infinity=False, places=9)),
    (int | str, INTEGERS | TEXT),
    (Item | None, st.none() | ITEMS),
    (Item | Order, ITEMS | st.builds(Order, items=st.lists(ITEMS, max_size=2), due=st.none() | st.dates())),
    (list[Item], st.lists(ITEMS, max_size=3)),
    (dict[str, Item], st.dictionaries(TEXT, ITEMS, max_size=2)),
    (set[int], st.sets(INTEGERS, max_size=3)),
    (tuple[int, str], st.tuples(INTEGERS, TEXT)),
    (Pair, st.builds(Pair, INTEGERS, TEXT)),
    (
        Order,
        st.builds(
            Order,
            items=st.lists(ITEMS, max_size=2),
            due=st.none() | st.dates(),
            color=st.sampled_from(Color),
            tags=st.sets(TEXT, max_size=2),
        ),
    ),
    (Options, st.fixed_dictionaries({"depth": INTEGERS, "note": TEXT})),
]
# Annotations, defaults and the arguments of a call.
Case = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]


@st.composite
def calls(draw: st.DrawFn) -> Case:
    annotations, defaults, arguments = {}, {}, {}
    for number, (kind, values) in enumerate(draw(st.lists(st.sampled_from(TYPES), max_size=4))):
        name = f"p{number}"
        annotations[name] = kind
        if draw(st.booleans()):
            defaults[name] = draw(values)
        if name not in defaults or draw(st.booleans()):
            arguments[name] = draw(values)
    return annotations, defaults, arguments


def function(annotations: dict[str, Any], defaults: dict[str, Any]) -> tuple[Any, list[dict[str, Any]]]:
    """A function with these parameters, and what it is called with."""
    got: list[dict[str, Any]] = []
    names = sorted(annotations, key=lambda name: name in defaults)
    head = ", ".join(f"{name}=defaults[{name!r}]" if name in defaults else name for name in names)
    scope: dict[str, Any] = {"got": got, "defaults": defaults}
    exec(f"def tool({head}):\n    values = dict(locals())\n    got.append(values)\n    return values", scope)
    made: Callable[..., Any] = scope["tool"]
    made.__annotations__ = annotations
    return made, got


@pytest.mark.parametrize("protocol", ["wire", "hermes", "xml", "yaml"])
@law(8)
@given(calls())
def test_run_of_a_call_that_is_written_and_read_passes_its_values(protocol: str, case: Case) -> None:
    annotations, defaults, arguments = case
    made, got = function(annotations, defaults)
    tools = Toolset([made], protocol=protocol)
    text = tools.encode("tool", to_jsonable_python(arguments))
    [call] = tools.parse(text, truncated=False).calls
    assert call.problems == ()
    result = tools.run(call)
    assert not result.error, result
    [values] = got
    expected = defaults | arguments
    assert values.keys() == expected.keys()
    for name, value in expected.items():
        assert type(values[name]) is type(value)
        assert values[name] == value, annotations[name]
    # The result is those values, so it can be passed again.
    again = tools.run({"name": "tool", "arguments": str(result)})
    assert not again.error
    assert got[1] == values


@law(10)
@given(calls(), st.recursive(st.none() | st.booleans() | INTEGERS | TEXT, lambda v: st.lists(v, max_size=3)))
def test_run_of_any_arguments_is_a_result_or_a_sentence(case: Case, value: Any) -> None:
    annotations, defaults, arguments = case
    made, got = function(annotations, defaults)
    tools = Toolset([made])
    native = {"name": "tool", "input": {**to_jsonable_python(arguments), "p0": value}}
    result = tools.run(native)
    assert type(result) is ToolResult
    assert result.error == (not got)
    assert len(result) < 5000 or not result.error
    tools.encode_result("tool", result).encode()


KINDS = {"integer": int, "string": str, "number": float, "boolean": bool, "array": list, "object": dict}


def taking(tool: dict[str, Any], got: list[dict[str, Any]]) -> Callable[..., Any]:
    """A function with the name and the parameters of a tool."""

    def made(**given: Any) -> None:
        got.append(given)

    schema = tool.get("parameters", {})
    fields = {} if schema is True else schema.get("properties", {})
    parameters = [inspect.Parameter("more_", inspect.Parameter.VAR_KEYWORD, annotation=Any)]
    for name, inner in fields.items():
        if name.isidentifier():
            of = inner.get("type") if isinstance(inner, dict) else None
            kind = KINDS.get(of, Any) if isinstance(of, str) else Any
            default = inspect.Parameter.empty if name in schema.get("required", ()) else None
            parameters.insert(
                0, inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            )
    made.__name__ = tool["name"]
    made.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    made.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return made


@each_source
def test_run_of_a_call_in_a_collected_text_passes_its_values(source: Source) -> None:
    got: list[dict[str, Any]] = []
    made: dict[str, Toolset] = {}
    ran = 0
    for one in source():
        if not one.tools:
            continue
        key = json.dumps([one.tools, one.options])
        if key not in made:
            made[key] = one.toolset([taking(tool, got) for tool in one.tools])
        tools = made[key]
        message = one.parsed(tools)
        for call in (*message.calls, *message.errors):
            got.clear()
            result = tools.run(call)
            tools.encode_result(call.name, result).encode()
            if isinstance(call, CallError) or call.problems:
                assert (result.error, got) == (True, [])
                continue
            assert not result.error, result
            [values] = got
            # An integer for a float is one.
            expected = {
                name: float(value) if type(values[name]) is float else value
                for name, value in call.args.items()
            }
            assert {name: values[name] for name in expected} == expected
            ran += 1
    assert ran > 100
