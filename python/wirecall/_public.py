"""What public classes show: where they are from, and themselves as dicts that `json.dumps` accepts."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from wirecall._shown import MAX_LEVEL, as_str, shown


def publish(module: dict[str, Any]) -> None:
    """Sets `__module__` of the classes in a module's `__all__` to that module, for tracebacks, reprs and
    pickles."""
    for name in module["__all__"]:
        if isinstance(module[name], type):
            module[name].__module__ = module["__name__"]


def as_dict(value: Any) -> dict[str, Any]:
    """The public fields of a dataclass or a named tuple, as JSON values."""
    return {name: _json(getattr(value, name), 1) for name in _names(value)}


def _names(value: Any) -> tuple[str, ...]:
    """Of a class there are none: it is a value, such as the type that an answer is parsed as."""
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(one.name for one in fields(value) if not one.name.startswith("_"))
    return tuple(getattr(value, "_fields", ())) if isinstance(value, tuple) else ()


def _json(value: Any, level: int) -> Any:
    """Any value as a JSON value. What JSON cannot express becomes text, as `shown` writes it."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, int):
        try:
            repr(value)
        except ValueError:
            # `json.dumps` refuses so many digits, too.
            return shown(value)
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if level <= MAX_LEVEL:
        if names := _names(value):
            return {name: _json(getattr(value, name), level + 1) for name in names}
        if isinstance(value, Mapping):
            return {as_str(key): _json(held, level + 1) for key, held in value.items()}
        if isinstance(value, (list, tuple)):
            return [_json(held, level + 1) for held in value]
    return shown(value)
