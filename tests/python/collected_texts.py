"""Messages that neither our encoder nor `generate` wrote, for laws of calls.

The vectors follow official templates; the near misses are mostly from reports; the suite canitoolcall has
outputs of models.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import test_slips
import test_vectors
from wirecall import Message, Toolset


@dataclass(frozen=True)
class Collected:
    """A message, its tools as definitions, and how it is read."""

    text: str
    tools: list[dict[str, Any]]
    options: dict[str, Any]  # of Toolset
    truncated: bool | None = None
    in_reasoning: bool | None = None

    def toolset(self, tools: Any = None, **options: Any) -> Toolset:
        return Toolset(self.tools if tools is None else tools, **{**self.options, **options})

    def parsed(self, tools: Toolset) -> Message:
        return tools.parse(self.text, truncated=self.truncated, in_reasoning=self.in_reasoning)


def vectors() -> Iterator[Collected]:
    for protocol in test_vectors.PROTOCOLS:
        for name in test_vectors.reading(protocol):
            for case in test_vectors.load(protocol, name):
                options = {
                    key: tuple(value) if isinstance(value, list) else value
                    for key, value in case["options"].items()
                }
                in_reasoning = options.pop("in_reasoning", None)
                yield Collected(case["text"], case["tools"], options, case["truncated"], in_reasoning)


def slips() -> Iterator[Collected]:
    for name in test_slips.FILES:
        for slip in test_slips.load(name):
            tools = [test_slips.definitions()[tool] for tool in slip["tools"]]
            yield Collected(slip["text"], tools, {"protocol": slip["protocol"], **slip["options"]})


def canitoolcall() -> Iterator[Collected]:
    pytest.importorskip("canitoolcall")
    from neutral_suite import FIXTURES, row

    for fixture in FIXTURES:
        tools = [tool["function"] for tool in fixture.tools]
        yield Collected(fixture.raw_output, tools, {"protocol": row(fixture)}, fixture.truncated)


Source = Callable[[], Iterator[Collected]]
SOURCES: dict[str, Source] = {
    "vectors": vectors,
    "slips": slips,
    "canitoolcall": canitoolcall,
}
each_source = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
