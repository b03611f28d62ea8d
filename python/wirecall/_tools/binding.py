"""Converts the arguments of a call to the types of a function's parameters, and results to JSON.

Needs the extra `pydantic`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from wirecall._shown import shortened
from wirecall._tools.introspection import read_signature, type_adapter
from wirecall.errors import ToolError

# How many faults the model reads about at once, and how much of each: a type may have a thousand choices.
_MAX_FAULTS = 5
_MAX_FAULT = 300


class Binding:
    """The parameters of a function that a call fills: those of its schema, with the same types.

    Raises:
        ToolError: The function is a method without its instance.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        signature = read_signature(function)
        if signature.needs_instance:
            raise ToolError("it is a method: pass it bound to an instance", tool=signature.name)
        self._adapters: dict[str, TypeAdapter[Any]] = {}
        self._defaults: dict[str, FieldInfo] = {}
        self._required: list[str] = []
        self._bound = signature.bound
        self._rest: TypeAdapter[Any] | None = None
        for parameter in signature.parameters:
            adapter = type_adapter(signature.name, parameter)
            default = parameter.default
            if parameter.kind is parameter.VAR_KEYWORD:
                self._rest = adapter
                continue
            self._adapters[parameter.name] = adapter
            if isinstance(default, FieldInfo) and not default.is_required():
                self._defaults[parameter.name] = default
            elif default is parameter.empty or isinstance(default, FieldInfo):
                self._required.append(parameter.name)

    def values(self, arguments: Mapping[str, Any]) -> dict[str, Any] | str:
        """The values to call the function with, or what is wrong with the arguments, for the model."""
        values: dict[str, Any] = {}
        faults = [f"{name} is required and missing." for name in self._required if name not in arguments]
        for name, value in arguments.items():
            adapter = self._adapters.get(name)
            if adapter is None and name not in self._bound:
                adapter = self._rest
            if adapter is None:
                faults.append(f"{shortened(name, _MAX_FAULT)} is not a parameter here.")
                continue
            try:
                # As JSON, which strict types read differently from Python's values.
                values[name] = adapter.validate_json(json.dumps(value))
            except ValidationError as error:
                faults += _faults(name, error)
        if faults:
            more = len(faults) - _MAX_FAULTS
            return " ".join(
                [*faults[:_MAX_FAULTS], *([f"There are {more} more faults."] if more > 0 else [])]
            )
        for name, default in self._defaults.items():
            if name not in values:
                values[name] = default.get_default(call_default_factory=True, validated_data=values)
        return values


def json_text(value: object) -> str:
    """A result as compact JSON, in which infinities and NaN are written as Python's `json` does.

    Raises:
        TypeError: The value, or a value in it, is not JSON.
    """
    try:
        return json.dumps(to_jsonable_python(value), ensure_ascii=False, separators=(",", ":"))
    except Exception as error:
        raise TypeError(f"the result, of type {type(value).__name__}, cannot be written as JSON") from error


def _faults(name: str, error: ValidationError) -> Iterable[str]:
    # Without the input, which may be long.
    for fault in error.errors(include_url=False, include_input=False):
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in fault["loc"])
        field = shortened(name + "".join(steps), _MAX_FAULT)
        message = fault["msg"]
        if fault["type"] == "union_tag_invalid":  # whose message has the input
            message = "Input should have {discriminator} set to one of {expected_tags}".format(**fault["ctx"])
        yield f"{field}: {shortened(message, _MAX_FAULT)}."
