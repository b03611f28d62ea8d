"""Writes descriptions of formats as TOML. The standard library only reads it."""

import json
from collections.abc import Mapping
from typing import Any


def toml(table: Mapping[str, Any]) -> str:
    """A table of texts, numbers, booleans, lists of them, and tables, as a TOML document."""
    return "".join(_lines(table, ""))


def _lines(table: Mapping[str, Any], path: str) -> list[str]:
    tables = {key: value for key, value in table.items() if isinstance(value, Mapping) or _is_tables(value)}
    lines = [f"{key} = {_value(value)}\n" for key, value in table.items() if key not in tables]
    for key, value in tables.items():
        name = f"{path}{key}"
        for one in [value] if isinstance(value, Mapping) else value:
            head = f"[{name}]" if isinstance(value, Mapping) else f"[[{name}]]"
            lines += [f"\n{head}\n", *_lines(one, f"{name}.")]
    return lines


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _value(value: object) -> str:
    """A value on one line. TOML has the escapes of JSON, but not those of surrogates."""
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
