"""`Toolset.run` and `arun`: what the function gets, and what the model reads."""

import asyncio
import copy
import enum
import functools
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from run_support import call, get_weather
from wirecall import ToolResult, Toolset


class Unit(enum.Enum):
    CELSIUS = "C"
    KELVIN = "K"


@dataclass
class Place:
    city: str
    since: date | None = None


class Line(BaseModel):
    model_config = ConfigDict(strict=True)

    sku: str
    due: date | None = None


def run(function: Any, /, **arguments: Any) -> ToolResult:
    """What one function returns, run and awaited alike."""
    tools = Toolset([function])
    one = call(tools.names[0], **arguments)
    result = tools.run(one)
    other = asyncio.run(tools.arun(one))
    assert (str(result), result.error, type(result.exception)) == (
        str(other),
        other.error,
        type(other.exception),
    )
    return result


def returning(value: object) -> Callable[[], Any]:
    def tool() -> Any:
        return value

    return tool


def raising(error: BaseException) -> Callable[[], Any]:
    def tool() -> None:
        raise error

    return tool


# --- arguments


def test_run_of_annotated_types_passes_typed_values() -> None:
    got: dict[str, Any] = {}

    def buy(
        place: Place,
        lines: list[Line],
        unit: Unit = Unit.KELVIN,
        tags: set[str] = Field(default_factory=set),  # noqa: B008
        limit: int = Field(3, le=5),
        *,
        at: datetime | int | None = None,
        **more: float,
    ) -> None:
        got.update(locals())

    given = {"city": "Rome", "since": "2020-01-02"}
    run(buy, place=given, lines=[{"sku": "a", "due": "2020-01-03"}], unit="C", at=7, extra="1.5")
    assert got | {"got": None} == {
        "place": Place("Rome", date(2020, 1, 2)),
        "lines": [Line(sku="a", due=date(2020, 1, 3))],
        "unit": Unit.CELSIUS,
        "tags": set(),
        "limit": 3,
        "at": 7,
        "more": {"extra": 1.5},
        "got": None,
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"city": 1, "days": "x" * 10_000}, "city: Input should be a valid string. days: Input should be a"),
        ({}, "city is required and missing."),
        ({"city": "a", "when": 1}, "when is not a parameter here."),
        ({"city": "a", "d" * 5000: 1}, f"{'d' * 300}… is not a parameter here."),
    ],
)
def test_run_of_arguments_that_do_not_fit_names_them(arguments: dict[str, Any], sentence: str) -> None:
    result = run(get_weather, **arguments)
    assert result.startswith(f"The arguments of get_weather are not valid. {sentence}")
    assert result.error
    assert result.exception is None
    assert len(result) < 500


def test_run_of_many_faults_lists_some_and_names_inner_fields() -> None:
    def buy(lines: list[Line]) -> None:
        raise AssertionError

    result = run(buy, lines=[{"sku": 1}] * 100)
    assert "lines[0].sku: Input should be a valid string." in result
    assert result.endswith("There are 95 more faults.")


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


def test_run_of_an_unknown_tag_names_the_tags_without_the_value() -> None:
    def feed(pet: Annotated[Cat | Dog, Field(discriminator="kind")]) -> None:
        raise AssertionError

    assert run(feed, pet={"kind": "x" * 10_000}) == (
        "The arguments of feed are not valid. pet: Input should have 'kind' set to one of 'cat', 'dog'."
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "The arguments of get_weather are not valid JSON: line 1, column 2:"),
        ("[1]", "The arguments of get_weather must be a JSON object."),
        ("NaN", "The arguments of get_weather are not valid JSON"),
        ('{"city": "a", "days": 1' + "0" * 9999 + "}", "The arguments of get_weather are not valid JSON"),
        ("[" * 100_000, "The arguments of get_weather are not valid JSON"),
        (
            '{"city": ' + "[" * 400 + "]" * 400 + "}",
            "The arguments of get_weather are not valid. city: Invalid JSON",
        ),
    ],
)
def test_run_of_broken_json_says_so(text: str, sentence: str) -> None:
    result = Toolset([get_weather]).run({"name": "get_weather", "arguments": text})
    assert result.startswith(sentence)
    assert result.error
    assert len(result) < 500


def test_run_of_empty_arguments_calls_the_function() -> None:
    assert Toolset([returning("x")]).run({"name": "tool", "arguments": ""}) == "x"


def test_run_of_a_partial_keeps_what_is_bound() -> None:
    def read(path: str, secret: str = "", **more: Any) -> str:
        return f"{path} {secret} {more}"

    assert run(functools.partial(read, secret="s"), path="a", b=1) == "a s {'b': 1}"
    result = run(functools.partial(read, secret="s"), path="a", secret="mine")
    assert result == "The arguments of read are not valid. secret is not a parameter here."


def test_run_of_methods_and_callables_calls_them() -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        def add(self, by: int = 1) -> int:
            self.count += by
            return self.count

        @classmethod
        def double(cls, x: int) -> int:
            return 2 * x

        @staticmethod
        def half(x: float) -> float:
            return x / 2

        def __call__(self, x: int) -> int:
            return -x

    counter = Counter()
    tools = Toolset([counter.add, Counter.double, Counter.__dict__["half"], counter])
    results = [tools.run(call(name, x=4)) for name in ("double", "half", "Counter")]
    assert results == ["8", "2.0", "-4"]
    assert [tools.run(call("add", by=2)), tools.run(call("add"))] == ["2", "3"]


# --- results


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n<call>", "as it is\n<call>"),
        (enum.Enum("Kind", {"A": "x"}, type=str).A, "x"),  # type: ignore[attr-defined]
        (None, "null"),
        (1.5, "1.5"),
        ([True, {"é": {1}}], '[true,{"é":[1]}]'),
        (Place("Rome", date(2020, 1, 2)), '{"city":"Rome","since":"2020-01-02"}'),
        ([Line(sku="a"), Unit.KELVIN], '[{"sku":"a","due":null},"K"]'),
        ("a\ud800b", "a\ufffdb"),
        (["\ud83d", "\ude00"], '["\ufffd","\ufffd"]'),
        (float("nan"), "NaN"),
    ],
)
def test_run_of_a_result_returns_its_text(value: object, text: str) -> None:
    result = run(returning(value))
    assert result == text
    assert type(result) is ToolResult
    assert (result.error, result.exception) == (False, None)


@pytest.mark.parametrize("value", [object(), {"a": [lambda: 0]}, b"\xff", [10**5000]])
def test_run_of_a_result_that_is_not_json_is_an_error(value: object) -> None:
    result = run(returning(value))
    kind = type(value).__name__
    assert result == f"tool failed: TypeError: the result, of type {kind}, cannot be written as JSON"
    assert isinstance(result.exception, TypeError)


def test_run_of_a_tool_result_returns_it() -> None:
    given = ToolResult("no such city", error=True)
    assert Toolset([returning(given)]).run(call("tool")) is given


def test_tool_result_copies_keep_their_attributes() -> None:
    given = Toolset([raising(KeyError("x"))]).run(call("tool"))
    for made in (copy.copy(given), pickle.loads(pickle.dumps(given))):
        assert (made, made.error, repr(made.exception)) == (given, True, "KeyError('x')")
        assert type(made) is ToolResult


class TwoArgumentsError(Exception):
    def __init__(self, city: str, days: int) -> None:
        super().__init__(f"{city} {days}")


def test_tool_result_of_an_exception_that_cannot_be_copied_is_copied() -> None:
    """Hosts copy and store the messages that contain results."""
    given = run(raising(TwoArgumentsError("Rome", 2)))
    assert copy.deepcopy([{"content": given}])[0]["content"] is given
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        made = pickle.loads(pickle.dumps(given, protocol))
        assert (type(made), made, made.error, made.exception) == (ToolResult, given, True, None)


def test_tool_result_has_no_lone_surrogates() -> None:
    assert ToolResult("a\ud800") == "a\ufffd"
    unknown = Toolset([get_weather]).run(call("\ud800"))
    assert unknown == "There is no tool `\ufffd`. The tools are: get_weather."


# --- exceptions


class BadStringError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such city"), "tool failed: ValueError: no such city"),
        (KeyError(), "tool failed: KeyError"),
        (BadStringError(), "tool failed: BadStringError"),
        (OSError("x" * 10_000), f"tool failed: OSError: {'x' * 2000}…"),
        (StopIteration(1), "tool failed: StopIteration: 1"),
        (TimeoutError("\ud800"), "tool failed: TimeoutError: \ufffd"),
    ],
)
def test_run_of_a_function_that_raises_is_a_sentence(error: Exception, text: str) -> None:
    result = run(raising(error))
    assert result == text
    assert result.error
    assert result.exception is error


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
def test_run_of_a_function_that_is_interrupted_raises(kind: type[BaseException]) -> None:
    with pytest.raises(kind):
        Toolset([raising(kind())]).run(call("tool"))


def test_arun_that_is_cancelled_raises() -> None:
    async def tool() -> None:
        await asyncio.sleep(60)

    async def main() -> None:
        task = asyncio.create_task(Toolset([tool]).arun(call("tool")))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
