"""Checks of shapes, names and schemas shared by all APIs. Each raises `RefusedError` in the API's words."""

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

from .answers import Json, RefusedError

TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}
OPENAI_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ANTHROPIC_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")

Refuse = Callable[[str, str], RefusedError]


def openai_refused(message: str, path: str) -> RefusedError:
    return RefusedError(f"Invalid '{path}': {message}", path, code="invalid_value")


def anthropic_refused(message: str, path: str) -> RefusedError:
    return RefusedError(f"{path}: {message}", path)


def mapping(value: Any, path: str, refuse: Refuse) -> Json:
    if not isinstance(value, dict):
        raise refuse("expected an object.", path)
    return value


def sequence(value: Any, path: str, refuse: Refuse, *, empty: bool = False) -> list[Any]:
    if not isinstance(value, list):
        raise refuse("expected an array.", path)
    if not value and not empty:
        raise refuse(
            "empty array. Expected an array with minimum length 1, but got an empty array instead.", path
        )
    return value


def text(value: Any, path: str, refuse: Refuse, *, empty: bool = True) -> str:
    if not isinstance(value, str):
        raise refuse("expected a string.", path)
    if not value and not empty:
        raise refuse("expected a string that is not empty.", path)
    return value


def positive(value: Any, path: str, refuse: Refuse) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise refuse("expected an integer of at least 1.", path)
    return value


def unknown_keys(value: Json, known: Collection[str]) -> list[str]:
    return [key for key in value if key not in known]


def name(value: Any, path: str, pattern: re.Pattern[str], refuse: Refuse) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise refuse(
            f"string does not match pattern. Expected a string that matches '^{pattern.pattern}$'.", path
        )
    return value


def unique(values: Iterable[str], path: str, refuse: Refuse, what: str) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise refuse(f"{what} must be unique, but '{value}' is there twice.", path)
        seen.add(value)


def object_schema(schema: Any, path: str, refuse: Refuse) -> None:
    """The schema of a tool's arguments."""
    if mapping(schema, path, refuse).get("type") != "object":
        raise refuse("schema must be a JSON Schema of 'type: \"object\"'.", path)
    json_schema(schema, path, refuse)


def json_schema(schema: Any, path: str, refuse: Refuse) -> None:
    """The shape of a schema and of all schemas in it; what an unknown keyword holds is not looked at."""
    if isinstance(schema, bool):
        return
    mapping(schema, path, refuse)
    kinds = schema.get("type", [])
    if not isinstance(kinds, str | list) or not TYPES.issuperset(
        [kinds] if isinstance(kinds, str) else kinds
    ):
        raise refuse(f"{kinds!r} is not valid under any of the given schemas.", f"{path}.type")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(key, str) for key in required):
        raise refuse("expected an array of strings.", f"{path}.required")
    if "enum" in schema:
        sequence(schema["enum"], f"{path}.enum", refuse)
    for keyword in ("properties", "$defs", "definitions", "patternProperties"):
        if keyword in schema:
            for key, value in mapping(schema[keyword], f"{path}.{keyword}", refuse).items():
                json_schema(value, f"{path}.{keyword}.{key}", refuse)
    for keyword in ("items", "additionalProperties", "not"):
        if keyword in schema:
            json_schema(schema[keyword], f"{path}.{keyword}", refuse)
    for keyword in ("anyOf", "allOf", "oneOf", "prefixItems"):
        if keyword in schema:
            for index, value in enumerate(sequence(schema[keyword], f"{path}.{keyword}", refuse)):
                json_schema(value, f"{path}.{keyword}.{index}", refuse)
