"""Schemas as other libraries write them, with those libraries as referees of which arguments are valid.

Those of openai-agents and of MCP's SDK are in tests/clients/agents.
"""

import datetime
import enum
import ipaddress
import json
import sys
import uuid
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import openai
import pydantic
import pytest
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import GenerateJsonSchema

from library_values import Json, arguments, check

ZOD = Path(__file__).parents[1] / "vectors" / "schemas" / "zod.jsonl"


class Units(enum.Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


class Weather(BaseModel):
    location: str
    days: int = 1
    units: Units = Units.METRIC
    note: str | None = None


class Point(BaseModel):
    at: tuple[int, str] = (1, "a")
    more: tuple[float, ...] = ()
    by: dict[str, int] = {}


class Move(BaseModel):
    kind: Literal["move"] = "move"
    x: int
    y: int = 0


class Say(BaseModel):
    kind: Literal["say"] = "say"
    text: str
    loud: bool = False


class Acts(BaseModel):
    first: Annotated[Move | Say, Field(discriminator="kind")]
    then: list[Say | Move] = []
    last: Move | str | None = None


class Tree(BaseModel):
    value: str = "leaf"
    left: Optional["Tree"] = None
    children: list["Tree"] = []


class Address(BaseModel):
    model_config = ConfigDict(extra="forbid")
    city: str = "Rome"
    zip: int | None = None


class Person(BaseModel):
    name: str
    home: Address = Address()
    work: Address | None = None
    where: Address | str = "here"
    age: int = Field(5, ge=0, le=150)
    tags: list[str] = Field(default=["a"], max_length=5)


class Formats(BaseModel):
    day: datetime.date
    at: datetime.datetime
    id: uuid.UUID
    address: ipaddress.IPv4Address
    address6: ipaddress.IPv6Address | None = None
    url: pydantic.AnyUrl | None = None


class Anything(BaseModel):
    model_config = ConfigDict(extra="allow")
    value: Any
    values: list[Any] = []
    free: dict[str, Any] = {}
    either: int | str | list[int] | None = 1


MODELS: list[type[BaseModel]] = [Weather, Point, Acts, Tree, Person, Formats, Anything]


def accepted_by(model: type[BaseModel], given: Json) -> bool:
    try:
        model.model_validate_json(json.dumps(given), strict=False)
    except ValueError:
        return False
    return True


class Demanding(GenerateJsonSchema):
    """Lists every field in `required`, as strict schemas do."""

    def field_is_required(self, *rest: Any, **more: Any) -> bool:
        return True


@pytest.mark.parametrize("generator", [GenerateJsonSchema, Demanding])
@pytest.mark.parametrize("model", MODELS)
def test_pydantic(model: type[BaseModel], generator: type[GenerateJsonSchema]) -> None:
    schema = model.model_json_schema(schema_generator=generator)
    own = schema["$defs"]["Tree"] if model is Tree else schema
    assert generator is GenerateJsonSchema or list(own["properties"]) == own["required"]
    check(schema, arguments(schema, lambda given: accepted_by(model, given)))


# The strict schema of the others has no place for objects with any keys.
@pytest.mark.parametrize("model", [Weather, Acts, Tree, Person, Formats])
def test_openai_s_strict_function_tools(model: type[BaseModel]) -> None:
    function: Any = openai.pydantic_function_tool(model)["function"]
    schema = function["parameters"]
    assert function["strict"] is True
    assert set(schema["required"]) == set(schema["properties"])
    check(schema, arguments(schema, lambda given: accepted_by(model, given)))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="pydantic.v1 does not run there")
def test_pydantic_1() -> None:
    from pydantic import v1

    class Address(v1.BaseModel):
        city: str = "Rome"
        zip: int | None = v1.Field(5, gt=0)

    class Shop(v1.BaseModel):
        name: str
        home: Address = Address()
        place: tuple[int, str] = (1, "a")
        pairs: list[tuple[str, float]] = []
        units: Units = Units.METRIC
        kind: Literal["a", 5] = "a"
        either: int | str = 1
        prices: dict[str, int] = {}

    def accepts(given: Json) -> bool:
        try:
            Shop.parse_obj(given)
        except ValueError:
            return False
        return True

    schema = Shop.schema()
    assert isinstance(schema["properties"]["place"]["items"], list)
    assert "definitions" in schema
    check(schema, arguments(schema, accepts))
    every = {**schema, "required": list(schema["properties"])}
    check(every, arguments(every, accepts))


@pytest.mark.parametrize(
    "case",
    [json.loads(line) for line in ZOD.read_text(encoding="utf-8").splitlines()],
    ids=lambda case: f"{case['id']}, {case['library']}",
)
def test_zod(case: Json) -> None:
    check(case["schema"], case["valid"])
