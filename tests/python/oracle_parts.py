"""Tools by name, and arguments as they are collected, for the oracle."""

from dataclasses import dataclass, field
from typing import NamedTuple

from oracle_text import Key, joins
from oracle_types import UNKNOWN, Path, Schema, Schemas, Type, folded_style, json_string, properties
from oracle_values import compact


class Tool(NamedTuple):
    name: str
    schemas: Schemas
    type: Type


_COMPILED: dict[int, tuple[Schema, Tool]] = {}


def tool_named(tools: dict[str, Schema], name: str) -> Tool | None:
    if not tools:
        return Tool(name, Schemas(True), UNKNOWN)
    if name not in tools:
        return None
    schema = tools[name]
    if id(schema) not in _COMPILED or _COMPILED[id(schema)][1].name != name:
        schemas = Schemas(schema)
        _COMPILED[id(schema)] = schema, Tool(name, schemas, schemas.type_of(schema))
    return _COMPILED[id(schema)][1]


def tool_style(tools: dict[str, Schema], name: str) -> str | None:
    """The only declared tool that a near miss can mean."""
    matches = [declared for declared in tools if folded_style(declared) == folded_style(name)]
    return matches[0] if name not in tools and len(matches) == 1 else None


def declared_tool(tools: dict[str, Schema], name: str) -> str | None:
    return name if name in tools else tool_style(tools, name)


def is_declared(of: Type, key: Key) -> bool:
    """Whether the first segment, or first join of bare ones, is literally a property of the tool's root."""
    return any(name in properties(of) for name, _ in joins(key.segments))


# Arguments that are collected ---------------------------------------------------------------------


@dataclass
class Members:
    by_key: dict[str, "Node"] = field(default_factory=dict)


@dataclass
class Items:
    items: list["Node"] = field(default_factory=list)


Node = str | Members | Items  # a whole value is its JSON text


def dump(node: Node) -> str:
    if isinstance(node, Members):
        return "{" + ",".join(f"{json_string(key)}:{dump(value)}" for key, value in node.by_key.items()) + "}"
    return compact([dump(item) for item in node.items]) if isinstance(node, Items) else node


class Place(NamedTuple):
    """Where a value goes: a slot in a container, which may be taken already."""

    container: Members | Items
    slot: str | int
    taken: Node | None
    type: Type
    path: Path


def put(container: Members | Items, slot: str | int, node: Node) -> None:
    if isinstance(container, Members):
        container.by_key[str(slot)] = node
    elif slot == len(container.items):
        container.items.append(node)
