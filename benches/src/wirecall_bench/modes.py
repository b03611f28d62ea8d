"""Modes: how the tools of a request are sent, and how the model may answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from wirecall._text.options import Options
from wirecall_bench.artifact import BenchError
from wirecall_bench.recording import Api

NATIVE = "native"
NATIVE_FORCED = "native-forced"

# With these fields, the model must write exactly one call.
_ONE_CALL: Mapping[Api, Mapping[str, Any]] = {
    "openai": {"tool_choice": "required", "parallel_tool_calls": False},
    "anthropic": {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
}


@dataclass(frozen=True)
class Mode:
    """How the tools of a request are sent.

    Attributes:
        options: The options of `wirecall.wrap`; None if the client is not wrapped.
        forced: Whether the model must write exactly one call. Servers sample such answers under a grammar:
            their own for native tools, the one in the options otherwise.
        baseline: The mode that this one is compared with.
    """

    options: Mapping[str, Any] | None = field(default_factory=lambda: MappingProxyType({}))
    forced: bool = False
    baseline: str = NATIVE

    @property
    def protocol(self) -> str | None:
        return None if self.options is None else self.options["protocol"]

    def fields(self, api: Api) -> Mapping[str, Any]:
        """The fields that this mode adds to a request with tools."""
        return _ONE_CALL[api] if self.forced else {}


# The bound of values in the modes with a grammar.
LONGEST = 40


def _under_grammar(protocol: str) -> Mode:
    # Without a bound, a model that repeats itself is cut off in a value, which says nothing about the format.
    options = {"protocol": protocol, "grammar": "llama.cpp", "grammar_longest": LONGEST}
    return Mode(MappingProxyType(options), forced=True, baseline=NATIVE_FORCED)


# Any other name is that of a protocol.
MODES: Mapping[str, Mode] = {
    NATIVE: Mode(None),
    NATIVE_FORCED: Mode(None, forced=True),
    "wire-grammar": _under_grammar("wire"),
    "hermes-grammar": _under_grammar("hermes"),
}


def mode_of(name: str) -> Mode:
    """The mode with a name, which may be wrong: see `check_mode`."""
    return MODES.get(name) or Mode(MappingProxyType({"protocol": name}))


def check_mode(name: str) -> None:
    """Check that there is such a mode.

    Raises:
        BenchError: There is none.
    """
    if (options := mode_of(name).options) is not None:
        try:
            Options().with_overrides(options)
        except (TypeError, ValueError) as error:
            raise BenchError(f"The mode {name!r} is not valid: {error}.") from error
