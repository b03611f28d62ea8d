"""The model of the demo server calls any tools with arguments of the right types, and tells any results."""

import sys
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import Field

from chat_support import conversation
from law import law
from test_run_laws import Case, calls, function
from wirecall import Toolset

sys.path.append(str(Path(__file__).parents[1] / "clients"))

from guessing import Guessing
from server import Request


def answer(*contents: str) -> str:
    """What the model says to a system text and what followed, in turn by the user and by itself."""
    said = Guessing()(Request("chat", "", {}, b"", {"messages": conversation(*contents)})).parts
    assert isinstance(said, str)
    return said


WORDS = st.sampled_from(
    ["Rome", "New York", "3", "-2.5", "2026-05-01", "red", "b b", "'x y'", '"z"', "tool", ",", "."]
)


@pytest.mark.parametrize("syntax", ["wire", "json"])
@law(5)
@given(calls(), st.lists(WORDS, max_size=6).map(" ".join) | st.text(max_size=20))
def test_model_with_any_tool_writes_one_call_that_fits(
    syntax: Literal["wire", "json"], case: Case, question: str
) -> None:
    made, _ = function(case[0], case[1])
    tools = Toolset([made], syntax=syntax)
    # An object whose fields are all optional may still be required, which the manual does not show.
    assume(".sku?" not in tools.manual())
    # A default is written without quotes, whatever brackets it has, so a line can be read in two ways.
    assume(not any(set(value) & set("()[]{}") for value in case[1].values() if isinstance(value, str)))
    assume("<" not in question)
    message = tools.parse(answer(tools.manual(), question))
    assert message.errors == ()
    [call] = message.calls
    assert call.problems == ()
    assert message.text


def get_weather(city: str, days: int = 1, unit: Literal["celsius", "kelvin"] = "celsius") -> str:
    """Get the weather."""
    return f"{city}: 21 degrees"


def delete_files(numbers: list[int], dry: bool = False) -> None:
    """Delete files by their numbers."""


def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b


def ship(day: date, to: str, count: Annotated[int, Field(ge=2)]) -> None:
    """Ship an order."""


TOOLS = Toolset([get_weather, delete_files, add, ship])


@pytest.mark.parametrize(
    ("question", "name", "arguments"),
    [
        ("How is the weather in New York for 3 days?", "get_weather", {"city": "New York", "days": 3}),
        ("Is it warm in Rome, in kelvin?", "get_weather", {"city": "Rome", "unit": "kelvin"}),
        ("hello", "get_weather", {"city": "hello"}),
        ("Delete the files 7 and 9", "delete_files", {"numbers": [7, 9]}),
        ("Add 1.5 to -2", "add", {"a": 1.5, "b": -2}),
        ("Ship it on 2026-05-01 to Ann Lee", "ship", {"day": "2026-05-01", "to": "Ann Lee", "count": 2}),
    ],
)
def test_model_takes_the_tool_and_its_arguments_from_the_question(
    question: str, name: str, arguments: dict[str, Any]
) -> None:
    [call] = TOOLS.parse(answer(TOOLS.manual(), question)).calls
    assert (call.name, call.args) == (name, arguments)


def test_model_after_results_tells_them() -> None:
    manual, question = TOOLS.manual(), "How is the weather in Rome?"
    results = "\n".join([TOOLS.encode_result("add", 3), TOOLS.encode_result("ship", "no ship", error=True)])
    assert answer(manual, question, "…", results) == "add says: 3 ship could not answer: no ship"
    # The next question is a new one.
    [call] = TOOLS.parse(answer(manual, question, "…", results, "It rains.", "Add 1 to 2")).calls
    assert call.args == {"a": 1, "b": 2}


def test_model_after_an_error_with_an_example_writes_it_once() -> None:
    manual, bad = TOOLS.manual(), "<call>add a=x</call>"
    [error] = Toolset([add], validate="error").parse(bad).errors
    told = TOOLS.encode_result("add", error)
    corrected = answer(manual, "Add!", bad, told)
    assert [call.name for call in TOOLS.parse(corrected).calls] == ["add"]
    assert TOOLS.parse(answer(manual, "Add!", corrected, told)).calls == ()


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("In your next message you must call ship.", "ship"),
        ("In your next message you must call at least one tool.", "add"),
        (
            "You may call only these tools now: get_weather, ship.\nWrite at most one call per message.",
            "ship",
        ),
    ],
)
def test_model_with_a_tool_choice_follows_it(rule: str, name: str) -> None:
    system = f"{TOOLS.manual()}\n{rule}"
    [call] = TOOLS.parse(answer(system, "Add 1 to 2, or ship it")).calls
    assert call.name == name


def test_model_without_tools_echoes() -> None:
    assert (
        answer("Be kind.", "Hi.")
        == 'You said: "Hi." I am a demo without a model, and see no tools in wire format.'
    )
    assert answer().startswith("You said")
