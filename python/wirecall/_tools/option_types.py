"""Checks options against their annotations: their names, their types and their choices."""

import functools
import inspect
import json
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

P = ParamSpec("P")
T = TypeVar("T")


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function whose keyword-only parameters are options: a wrong name or value is an error that
    says what was expected."""
    parameters = inspect.signature(function).parameters
    declared = {
        name: parameter.annotation
        for name, parameter in parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    others = parameters.keys() - declared.keys()

    @functools.wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        check({name: value for name, value in options.items() if name not in others}, declared)
        return function(*args, **options)

    return call


def check(given: Mapping[str, object], declared: Mapping[str, Any]) -> None:
    """Raises for the first option that does not exist, or whose value does not fit its annotation.

    Args:
        given: The options, by name.
        declared: The annotations of all options, by name.

    Raises:
        TypeError: There is no such option, or its value has another type.
        ValueError: The value is not one of the option's choices.
    """
    for name, value in given.items():
        if name not in declared:
            raise TypeError(unknown(name, declared))
        kind = declared[name]
        if _fits(value, kind):
            continue
        choices = _choices(kind)
        if isinstance(value, str) and choices:
            listed = ", ".join(map(json.dumps, choices))
            raise ValueError(f"{name} is {json.dumps(value)}; it must be one of {listed}")
        raise TypeError(f"{name} must be {_described(kind)}, not {_came(value)}")


def unknown(name: object, known: Iterable[str], what: str = "option") -> str:
    """What to say of an option that does not exist."""
    # Loaded for errors only.
    from difflib import get_close_matches

    names = sorted(known)
    near = get_close_matches(str(name), names, n=1)
    advice = f"did you mean {near[0]!r}?" if near else f"available: {', '.join(names)}"
    return f"there is no {what} {name!r}; {advice}"


def _fits(value: object, kind: Any) -> bool:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in get_args(kind))
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in get_args(kind))
    if origin is Callable or kind is Callable:
        return callable(value)
    if origin is tuple:
        kinds = get_args(kind)
        return (
            isinstance(value, tuple)
            and len(value) == len(kinds)
            and all(isinstance(item, one) for item, one in zip(value, kinds, strict=True))
        )
    if isinstance(value, bool) and kind is int:
        return False
    container = origin or kind
    # What is no class (a type variable, Any) admits all.
    return not isinstance(container, type) or isinstance(value, container)


def _choices(kind: Any) -> list[str]:
    if get_origin(kind) is Literal:
        return [choice for choice in get_args(kind) if isinstance(choice, str)]
    if get_origin(kind) in (Union, types.UnionType):
        return [choice for one in get_args(kind) for choice in _choices(one)]
    return []


def _described(kind: Any) -> str:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        # None is the default wherever it is allowed: nobody has to be told.
        parts = [_described(one) for one in get_args(kind) if one is not type(None)]
        return " or ".join(dict.fromkeys(parts))
    if origin is Literal:
        return f"one of {', '.join(map(json.dumps, get_args(kind)))}"
    if origin is Callable or kind is Callable:
        return "callable"
    if origin is tuple:
        return "a pair of str"
    name = getattr(origin or kind, "__name__", str(kind))
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _came(value: object) -> str:
    return "None" if value is None else type(value).__name__
