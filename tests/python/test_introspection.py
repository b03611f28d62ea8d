"""Functions and classes as tools: pydantic's schemas without noise, descriptions from every place."""

import asyncio
import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import json
import types
import uuid
from typing import Annotated, Any, Generic, Literal, NotRequired, Optional, TypeVar

import pydantic
import pytest
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from support import EMPTY, Book, error, one, properties
from wirecall._tools.definitions import definitions


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict):
    depth: int
    note: NotRequired[str]


class Node(BaseModel):
    """A tree."""

    children: list["Node"] = []


def without_titles(schema: Any, are_names: bool = False) -> Any:
    """Drops the keyword `title`, but no property of that name."""
    if isinstance(schema, list):
        return [without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: without_titles(value, are_names=not are_names and key in ("properties", "$defs"))
        for key, value in schema.items()
        if are_names or key != "title"
    }


# --- functions


def test_signature() -> None:
    def search(query: str, limit: int = 10, *, color: Color = Color.RED, anything=None) -> list[str]:  # type: ignore[no-untyped-def]
        """Searches the shop
        for things.

        Slowly.
        """
        return []

    assert one(search) == (
        "search",
        "Searches the shop for things.",
        {
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "limit": {"type": "integer", "default": 10},
                "color": {"$ref": "#/$defs/Color", "default": "red"},
                "anything": {"default": None},
            },
            "required": ["query"],
            "additionalProperties": False,
            "$defs": {"Color": {"enum": ["red", "blue"], "type": "string"}},
        },
        None,
    )


def test_no_parameters() -> None:
    def now() -> None: ...

    assert one(now) == ("now", None, {**EMPTY, "additionalProperties": False}, None)


REQUIRED: Any = ...
EQUIVALENTS: dict[str, tuple[Any, Any]] = {
    "integer": (int, REQUIRED),
    "untyped": (Any, REQUIRED),
    "optional": (Optional[str], None),  # noqa: UP045
    "implicit_optional": (int, None),
    "union": (int | str | None, "x"),
    "literal": (Literal["a", 1, None], "a"),
    "array": (list[Color], [Color.BLUE]),
    "matrix": (list[list[float]], REQUIRED),
    "pair": (tuple[int, str], REQUIRED),
    "unique": (set[int], REQUIRED),
    "mapping": (dict[str, Point], REQUIRED),
    "free": (dict, {}),
    "dataclass": (Point, Point(1)),
    "typed_dict": (Options, REQUIRED),
    "model": (Book, Book(title="x")),
    "tree": (Node, REQUIRED),
    "tree_again": (list[Node] | None, None),
    "constrained": (Annotated[int, Field(ge=1, le=9, description="1 to 9")], 3),
    "named": (Annotated[str, Field(title="Explicit", examples=["x"], pattern="^a")], REQUIRED),
    "day": (datetime.date, datetime.date(2020, 1, 2)),
    "price": (decimal.Decimal, REQUIRED),
    "key": (uuid.UUID, REQUIRED),
    "raw": (bytes, b"x"),
    "marker": (Any, object()),
}


def with_signature(parameters: dict[str, tuple[Any, Any]]) -> Any:
    def tool(**_: Any) -> None: ...

    tool.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if default is REQUIRED else default,
                annotation=annotation,
            )
            for name, (annotation, default) in parameters.items()
        ]
    )
    return tool


@pytest.mark.filterwarnings("ignore::pydantic.json_schema.PydanticJsonSchemaWarning")
@pytest.mark.parametrize("names", [[name] for name in EQUIVALENTS] + [list(EQUIVALENTS)], ids=str)
def test_function_schema_is_that_of_the_equivalent_model(names: list[str]) -> None:
    fields = {name: EQUIVALENTS[name] for name in names}
    model = pydantic.create_model("Tool", **fields)  # type: ignore[call-overload]
    expected = without_titles(pydantic.TypeAdapter(model).json_schema()) | {"additionalProperties": False}
    found = one(with_signature(fields)).parameters
    if "named" in names:
        assert found["properties"]["named"].pop("title") == "Explicit"  # type: ignore[index]
    assert without_titles(found) == expected
    assert list(found["properties"]) == names  # type: ignore[index]
    left = json.dumps(found).replace('"title": {"type": "string"}', "")
    assert left.count('"title": "') == left.count('"title": "Shelf number"') + left.count('"title": "x"')


@pytest.mark.parametrize("default", [float("nan"), float("inf"), object(), ..., lambda: 0, b"\xff"])
def test_default_that_is_no_json_leaves_the_parameter_optional(default: object) -> None:
    def tool(a: Any = default) -> None: ...

    assert one(tool).parameters == {**EMPTY, "properties": {"a": {}}, "additionalProperties": False}


def test_field_as_default() -> None:
    def tool(
        a: int = Field(3, description="first", ge=1),
        b: str = Field(description="second"),
        c: list[int] = Field(default_factory=list),  # noqa: B008
    ) -> None: ...

    assert one(tool).parameters == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 1, "default": 3, "description": "first"},
            "b": {"type": "string", "description": "second"},
            "c": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["b"],
        "additionalProperties": False,
    }


def test_rest_of_keywords() -> None:
    def untyped(a: int, **kw) -> None: ...  # type: ignore[no-untyped-def]

    def typed(**kw: Point) -> None: ...

    assert one(untyped).parameters["additionalProperties"] is True  # type: ignore[index]
    assert list(properties(untyped)) == ["a"]
    schema = one(typed).parameters
    assert isinstance(schema, dict)
    assert schema["additionalProperties"] == {"$ref": "#/$defs/Point"}
    assert schema["properties"] == {}
    assert "x" in schema["$defs"]["Point"]["properties"]


def test_string_annotations() -> None:
    def tool(a: "int", b: "list[Point]", c: "Annotated[str, 'text']" = "x") -> None: ...

    assert properties(tool) == {
        "a": {"type": "integer"},
        "b": {"type": "array", "items": {"$ref": "#/$defs/Point"}},
        "c": {"type": "string", "default": "x", "description": "text"},
    }


class Shop:
    """A shop."""

    def buy(self, item: str) -> None:
        """Buys."""

    @classmethod
    def open(cls, hour: int) -> None: ...

    @staticmethod
    def price(item: str) -> None: ...

    def __call__(self, order: str) -> None: ...


class Documented:
    """The class."""

    def __call__(self, order: str) -> None:
        """The call.

        Args:
            order: The order.
        """


def traced(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@pytest.mark.parametrize(
    ("tool", "name", "parameters"),
    [
        (Shop().buy, "buy", ["item"]),
        (Shop.buy, "buy", ["item"]),
        (Shop.open, "open", ["hour"]),
        (Shop.__dict__["open"], "open", ["hour"]),
        (Shop.price, "price", ["item"]),
        (Shop.__dict__["price"], "price", ["item"]),
        (Shop(), "Shop", ["order"]),
        (traced(Shop().buy), "buy", ["item"]),
        (functools.lru_cache(Shop.price), "price", ["item"]),
        (functools.partial(Shop()), "Shop", ["order"]),
        (asyncio.sleep, "sleep", ["delay", "result"]),
    ],
)
def test_callables(tool: object, name: str, parameters: list[str]) -> None:
    assert one(tool).name == name
    assert list(properties(tool)) == parameters


def test_types_come_through_decorators_and_objects() -> None:
    for tool in (traced(Shop().buy), functools.lru_cache(Shop.price), functools.partial(Shop.price), Shop()):
        assert list(properties(tool).values()) == [{"type": "string"}]


def test_descriptions_of_callables() -> None:
    assert one(Shop().buy).description == "Buys."
    assert one(traced(Shop().buy)).description == "Buys."
    assert one(functools.partial(Shop().buy)).description == "Buys."
    assert one(Shop()).description == "A shop."
    assert one(Documented()).description == "The call."
    assert properties(Documented()) == {"order": {"type": "string", "description": "The order."}}


def test_partial_hides_what_it_binds() -> None:
    def send(client: object, to: str, text: str, urgent: bool = False) -> None: ...

    assert list(properties(functools.partial(send, object()))) == ["to", "text", "urgent"]
    bound = functools.partial(functools.partial(send, object()), to="me")
    assert one(bound) == (
        "send",
        None,
        {
            "type": "object",
            "properties": {"text": {"type": "string"}, "urgent": {"type": "boolean", "default": False}},
            "required": ["text"],
            "additionalProperties": False,
        },
        None,
    )


def test_a_type_that_is_not_for_the_model_can_be_bound() -> None:
    class Client: ...

    def send(text: str, client: Client) -> None: ...

    assert error(send).pointer == "/properties/client"
    assert list(properties(functools.partial(send, client=Client()))) == ["text"]


# --- classes


def test_pydantic_model() -> None:
    assert one(Book) == (
        "Book",
        "A book.\n\nWith pages.",
        {
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "shelf": {"type": "integer", "minimum": 1, "default": 1, "title": "Shelf number"},
            },
            "required": ["title"],
        },
        None,
    )


def test_recursive_model() -> None:
    found = one(Node)
    assert found[:2] == ("Node", "A tree.")
    assert found.parameters["$ref"] == "#/$defs/Node"  # type: ignore[index]


def test_name_of_a_model() -> None:
    class Titled(BaseModel):
        model_config = ConfigDict(title="get_weather")

    class Prose(BaseModel):
        model_config = ConfigDict(title="Get the weather")

    class RecursiveTitled(BaseModel):
        model_config = ConfigDict(title="walk")
        next: "RecursiveTitled | None" = None

    Item = TypeVar("Item")

    class Box(BaseModel, Generic[Item]):
        item: Item

    assert [d.name for d in definitions([Titled, Prose, RecursiveTitled, Box[int]])] == [
        "get_weather",
        "Prose",
        "walk",
        "Box[int]",
    ]
    assert one(Titled).parameters == EMPTY


def test_dataclass_and_typed_dict() -> None:
    assert one(Point) == (
        "Point",
        None,
        {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
            "required": ["x"],
        },
        None,
    )
    assert one(Options) == (
        "Options",
        None,
        {
            "type": "object",
            "properties": {"depth": {"type": "integer"}, "note": {"type": "string"}},
            "required": ["depth"],
        },
        None,
    )


@pytest.mark.parametrize("model", [Book, Node, Point, Options])
def test_class_schema_is_that_of_pydantic(model: type) -> None:
    expected = without_titles(pydantic.TypeAdapter(model).json_schema())
    expected.pop("description", None)
    assert without_titles(one(model).parameters) == expected


# --- what has no schema


def test_types_without_schema() -> None:
    def unknown(a: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821

    def complexity(fine: int, number: Shop) -> None: ...

    def callback(function: types.FunctionType) -> None: ...

    def rest(**kw: Shop) -> None: ...

    class Holder(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        shop: Shop

    assert "name 'Nowhere' is not defined" in str(error(unknown))
    assert error(complexity).pointer == "/properties/number"
    assert error(callback).pointer == "/properties/function"
    assert error(rest).pointer == "/additionalProperties"
    assert (error(Holder).tool, error(Holder).pointer) == ("Holder", "")
