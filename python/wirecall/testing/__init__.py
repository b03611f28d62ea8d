"""Tests for your own formats: laws that every format must keep, on generated tools and values."""

from collections.abc import Mapping
from random import Random
from typing import Any

from wirecall import _core
from wirecall._tools.formats.description import Format
from wirecall._tools.protocol import Protocol
from wirecall._tools.toolset import Toolset
from wirecall.testing._cases import Law, Make, Tools, broken, cases, shrunk
from wirecall.testing._laws import LAWS
from wirecall.testing._native_laws import NATIVE_LAWS

__all__ = ["check_format"]


def check_format(format: str | Format | Protocol, *, cases: int = 100, seed: int = 0, **options: Any) -> None:
    """Check that a format keeps all laws.

    Calls must round-trip, messages must parse the same however they are cut, all text must be reported, a
    message that was cut off must not give other calls, and results must not be read as calls. In native
    formats, calls are written in messages, and those that the format cannot hold are skipped; a call that a
    value quotes must not run, even if a character is missing elsewhere.

    Args:
        format: The name of a format, a `Format`, or a `Protocol` of your own.
        cases: How many tools and calls are generated.
        seed: Seed of the generated cases.
        options: Other options of `Toolset`.

    Raises:
        AssertionError: A law is broken; the message names it and shows the smallest case that was found.
        ToolError, ValueError, TypeError: As in `Toolset`: an unknown format or option, or unusable markers.
    """

    def make(tools: Tools, strict: bool) -> Toolset:
        return Toolset(tools, protocol=format, strict=strict, **options)

    open_set = make([], False)
    marks = [format.open, format.close, *format.result] if isinstance(format, Protocol) else []
    if isinstance(format, Format) and format._native:
        marks = [*format._native["call"], *(format._native["section"] or ())]
    native = open_set._is_native and open_set.protocol not in _core.PROTOCOLS
    _check(make, list(filter(None, marks)), cases, seed, NATIVE_LAWS if native else LAWS)


def _check(make: Make, marks: list[str], count: int, seed: int, laws: Mapping[str, Law]) -> None:
    ordered = sorted(cases(make, marks, count, Random(seed)), key=lambda case: len(repr(case)))
    for name, law in laws.items():
        for case in ordered:
            if broken(law, case):
                smallest = shrunk(law, case)
                raise AssertionError(f"{name}: {broken(law, smallest)}\n{smallest.described()}")
