"""Checks options against their annotations: names, types and choices."""

import functools
import inspect
import json
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

P = ParamSpec("P")
T = TypeVar("T")


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function whose keyword-only parameters are options: errors for a wrong name or value say
    what was expected."""
    parameters = inspect.signature(function).parameters
    declared = {name: one.annotation for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY}
    others = parameters.keys() - declared.keys()

    @functools.wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        check({name: value for name, value in options.items() if name not in others}, declared)
        return function(*args, **options)

    return call


def check(given: Mapping[str, object], declared: Mapping[str, Any]) -> None:
    """Raises for the first option that does not exist, or whose value does not fit its annotation.

    Raises:
        TypeError: There is no such option, or its value has another type.
        ValueError: The value is not one of the option's choices.
    """
    for name, value in given.items():
        if name not in declared:
            raise TypeError(unknown(name, declared))
        kind = declared[name]
        kinds = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
        if any(_fits(value, kind) for kind in kinds):
            continue
        choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
        if isinstance(value, str) and choices:
            listed = ", ".join(map(json.dumps, choices))
            raise ValueError(f"{name} is {json.dumps(value)}; it must be one of {listed}")
        # None is the default wherever it is allowed, so it need not be mentioned.
        expected = " or ".join(dict.fromkeys(_described(kind) for kind in kinds if kind is not type(None)))
        shown = repr(value) if value is None or isinstance(value, tuple) else type(value).__name__
        raise TypeError(f"{name} must be {expected}, not {shown}")


# Options that are given elsewhere.
_ELSEWHERE = {"in_reasoning": "it depends on the prompt of a message; give it to parser() or parse()"}


def unknown(name: str, known: Iterable[str], what: str = "option") -> str:
    """The message for an option that does not exist. The extension uses it for limits."""
    if name in _ELSEWHERE:
        return f"there is no {what} {name!r} here: {_ELSEWHERE[name]}"
    # Loaded for errors only.
    from difflib import get_close_matches

    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    advice = f"did you mean {near[0]!r}?" if near else f"available: {', '.join(names)}"
    return f"there is no {what} {name!r}; {advice}"


def _fits(value: object, kind: Any) -> bool:
    origin = get_origin(kind)
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in get_args(kind))
    if origin is Callable or kind is Callable:
        return callable(value)
    if origin is tuple:
        kinds = get_args(kind)
        return isinstance(value, tuple) and len(value) == len(kinds) and all(map(_fits, value, kinds))
    if isinstance(value, bool) and kind in (int, float):
        return False
    if kind is float:
        return isinstance(value, (int, float))
    container = origin or kind
    # A type variable, or Any, accepts everything.
    return not isinstance(container, type) or isinstance(value, container)


def _described(kind: Any) -> str:
    origin = get_origin(kind)
    if origin is Literal:
        return f"one of {', '.join(map(json.dumps, get_args(kind)))}"
    if origin is Callable or kind is Callable:
        return "callable"
    if origin is tuple:
        parts = get_args(kind)
        return "a pair of str" if len(parts) == 2 else f"({', '.join(map(_described, parts))})"
    name = getattr(origin or kind, "__name__", str(kind))
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"
