"""Descriptions of tools and parameters: from docstrings of every style, and which one wins."""

from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from support import Book, one, properties


def google(city: str, unit: str = "c", *, days: int = 1) -> None:
    """Get the weather
    of a city.

    It is from a :class:`Station`: see there.

    Args:
        city (str): Name of the city: in English,
            without the country.
        unit: c or f
        missing: No such parameter.

    Returns:
        str: The weather.
    """


def numpy(city: str, unit: str = "c", *, days: int = 1) -> None:
    """Get the weather
    of a city.

    Parameters
    ----------
    city : str
        Name of the city: in English,
        without the country.
    unit : str, optional
        c or f
    """


def rest(city: str, unit: str = "c", *, days: int = 1) -> None:
    """Get the weather
    of a city.

    :param str city: Name of the city: in English,
        without the country.
    :param unit: c or f
    :returns: The weather.
    """


@pytest.mark.parametrize("tool", [google, numpy, rest])
def test_docstring_styles(tool: object) -> None:
    assert one(tool).description == "Get the weather of a city."
    assert properties(tool) == {
        "city": {"type": "string", "description": "Name of the city: in English, without the country."},
        "unit": {"type": "string", "default": "c", "description": "c or f"},
        "days": {"type": "integer", "default": 1},
    }


def test_docstring_that_starts_with_its_parameters() -> None:
    def tool(a: int) -> None:
        """
        Args:
            a: First.
        """

    assert one(tool).description is None
    assert properties(tool)["a"]["description"] == "First."


def test_numpy_describes_several_at_once() -> None:
    def tool(x: int, y: int) -> None:
        """Move.

        Parameters
        ----------
        x, y : int
            Where to.
        """

    assert [schema["description"] for schema in properties(tool).values()] == ["Where to.", "Where to."]


def test_docstring_of_another_style_is_a_description() -> None:
    def tool(a: int) -> None:
        """Does it.

        Args:
            without a colon

            :    :
        """

    assert one(tool).description == "Does it."
    assert properties(tool) == {"a": {"type": "integer"}}


SECTIONS = ["Args:", "Returns:", "Raises:", "Yields:", "Note:", "Parameters\n----------\n", "----"]
FIELDS = [":", ":param a:", ":param", ":returns", ":rtype", "@param a:"]
WORDS = ["\n", "\n\n", "    ", "a", "a:", " b", "(int)", "- ", "`x`"]


@given(st.lists(st.sampled_from(SECTIONS + FIELDS + WORDS), max_size=12))
def test_no_docstring_breaks_a_tool(pieces: list[str]) -> None:
    def tool(a: int) -> None: ...

    tool.__doc__ = "".join(pieces)
    found = one(tool)
    assert found.parameters["properties"]["a"]["type"] == "integer"  # type: ignore[index]
    assert "\n" not in (found.description or "")


def test_the_nearest_description_wins() -> None:
    def tool(
        a: int,
        b: Annotated[int, "text of b"],
        c: Annotated[int, "text of c", Field(description="field of c")],
        d: Annotated[int, 5, "text of d"] | None = None,
        e: Book | None = None,
        f: Book = Book(title="x"),  # noqa: B008
    ) -> None:
        """Tool.

        Args:
            a: doc of a
            b: doc of b
            c: doc of c
            d: doc of d
            f: doc of f
        """

    texts = {name: schema.get("description") for name, schema in properties(tool).items()}
    assert texts == {
        "a": "doc of a",
        "b": "text of b",
        "c": "field of c",
        "d": "text of d",
        "e": None,
        "f": "doc of f",
    }
