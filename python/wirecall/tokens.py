"""The cost of tool definitions and calls: native, and in the wire format or another protocol.

The `count` function sets the unit. `tokenizer` counts tokens of a tiktoken vocabulary (extra
`tokens`), and `len` counts characters.

Native texts are compact JSON. Providers do not publish how they render tools in the prompt, so the costs of
definitions are an estimate. Models of other providers have other vocabularies.
"""

import json
import os
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from hashlib import sha1
from pathlib import Path
from typing import Any, Literal

from wirecall._tools.definitions import Definition, definitions, native_tool, no_tool
from wirecall._tools.formats.description import Format
from wirecall._tools.protocol import Protocol
from wirecall._tools.toolset import Toolset
from wirecall.errors import install_extra

__all__ = ["CallCost", "Costs", "Count", "ToolCost", "VocabularyError", "measure", "tokenizer"]

Count = Callable[[str], int]

ENCODING = "o200k_base"
# The URL of that vocabulary; tiktoken's cache names each file after the SHA-1 of its URL.
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
_NOTES = """\
arguments: the JSON only. tool_use: with type and id, as in a history.
name+arguments: the shortest native form; `saved` is relative to it."""


class VocabularyError(Exception):
    """A tiktoken vocabulary cannot be loaded; the message says what to do."""


@dataclass(frozen=True)
class ToolCost:
    """The cost of one tool definition, in the unit of `count`.

    Attributes:
        name: The tool's name.
        native: The definition as an OpenAI chat tool, `{"type":"function","function":{…}}`.
        wire: The tool's part of the manual.
    """

    name: str
    native: int
    wire: int


@dataclass(frozen=True)
class CallCost:
    """The cost of one call, in the unit of `count`.

    Attributes:
        name: The tool's name.
        arguments: The arguments alone, as JSON.
        named: `{"name":…,"arguments":{…}}`, the shortest form of a call in JSON.
        envelope: An Anthropic block with an id, `{"type":"tool_use","id":…,"name":…,"input":{…}}`.
        wire: The call as `Toolset.encode` writes it, with delimiters.
    """

    name: str
    arguments: int
    named: int
    envelope: int
    wire: int


@dataclass(frozen=True)
class Costs:
    """The costs of definitions and calls, in the unit of `count`.

    Attributes:
        tools: Each definition, in the given order.
        header: The manual's header, which occurs once.
        native: All definitions as one JSON array.
        wire: The whole manual. Tokens can span line breaks, so this may differ from the sum of its parts.
        calls: Each call, in the given order.
        example: The example calls in the header.
        constraints: Bounds, patterns, formats and examples in the tools' lines.
        pays_from: About how many tools with the mean cost of these are needed for the manual to cost less
            than native definitions. None if no number is enough, or there are no tools.
    """

    tools: list[ToolCost]
    header: int
    native: int
    wire: int
    calls: list[CallCost]
    example: int = 0
    constraints: int = 0
    pays_from: int | None = None


def measure(
    tools: Iterable[object],
    calls: Iterable[tuple[str, Mapping[str, Any] | str]] = (),
    *,
    count: Count,
    protocol: str | Format | Protocol = "wire",
    descriptions: Literal["full", "tools", "none"] = "full",
    constraints: bool = True,
) -> Costs:
    """Measure the cost of definitions and calls, native and in a protocol.

    Args:
        tools: Tools in any form that `Toolset` accepts.
        calls: Names and arguments; arguments are a mapping or JSON text.
        count: Returns the cost of a text: `tokenizer()`, or `len` for characters.
        protocol: The protocol to compare with native tool calls.
        descriptions: Which descriptions the manual contains; native definitions contain all.
        constraints: Whether the manual contains constraints of fields; native definitions always do.

    Raises:
        ToolError: A tool definition cannot work.
        ValueError: Arguments are not valid JSON, or a call names an unknown tool.
    """
    read = definitions(tools)
    options: Any = {"protocol": protocol, "descriptions": descriptions}
    toolset = Toolset(read, constraints=constraints, **options)
    costs = _definitions(toolset, read, count)
    several = costs
    if len(read) == 1:  # The header of some protocols is longer if there are two tools.
        pair = [*read, _renamed(*read)]
        several = _definitions(Toolset(pair, constraints=constraints, **options), pair, count)
    signatures = toolset.manual(header="")
    plain = Toolset(read, constraints=False, **options).manual(header="")
    return replace(
        costs,
        constraints=count(signatures) - count(plain),
        calls=[call_cost(toolset, name, arguments, count) for name, arguments in calls],
        pays_from=_pays_from(several, least=1 if costs.wire < costs.native else len(read) + 1),
    )


def _definitions(toolset: Toolset, tools: Sequence[Definition], count: Count) -> Costs:
    """The costs of the definitions and of the manual, without those of its parts and of calls."""
    native = [native_definition(tool) for tool in tools]
    manual = toolset.manual()
    header = manual.removesuffix(toolset.manual(header=""))
    without_example = header
    for example in toolset.examples():
        without_example = without_example.replace(f"{example}\n", "", 1)
    return Costs(
        tools=[
            ToolCost(tool.name, count(compact(chat)), count(toolset.signature(tool.name)))
            for tool, chat in zip(tools, native, strict=True)
        ],
        header=count(header),
        native=count(compact(native)),
        wire=count(manual),
        calls=[],
        example=count(header) - count(without_example),
    )


def _renamed(tool: Definition) -> Definition:
    """The tool with another name of the same length."""
    return tool._replace(name=tool.name[:-1] + ("a" if tool.name[-1] != "a" else "b"))


def _pays_from(costs: Costs, least: int) -> int | None:
    """The number of tools that pays if each further one saves the mean of these; at least `least`."""
    number, saving = len(costs.tools), _saving(costs)
    if saving <= 0:
        return None
    more = (costs.wire - costs.native) * number // saving + 1
    return max(least, number + more)


def _saving(costs: Costs) -> int:
    """How much less the tools cost as text, without the header."""
    return sum(tool.native - tool.wire for tool in costs.tools)


def call_cost(toolset: Toolset, name: str, arguments: Mapping[str, Any] | str, count: Count) -> CallCost:
    """The cost of one call of a tool in the toolset; raises ValueError as `measure` does."""
    if name not in toolset.names:
        raise ValueError(no_tool(name, toolset.names))
    wire = toolset.encode(name, arguments)
    text = compact(json.loads(arguments) if isinstance(arguments, str) else dict(arguments))
    return CallCost(
        name, count(text), count(native_call(name, text)), count(tool_use(name, text)), count(wire)
    )


def native_definition(tool: Definition) -> dict[str, Any]:
    """The definition as an OpenAI chat tool."""
    return native_tool(tool, "chat")


def native_call(name: str, arguments: str) -> str:
    """`{"name":…,"arguments":{…}}`, without an id or any other envelope. `arguments` is JSON text."""
    return f'{{"name":{compact(name)},"arguments":{arguments}}}'


def tool_use(name: str, arguments: str) -> str:
    """The same call as an Anthropic block with a short id. `arguments` is JSON text."""
    return f'{{"type":"tool_use","id":"toolu_01ABCDEFG","name":{compact(name)},"input":{arguments}}}'


def compact(value: object) -> str:
    """JSON without whitespace."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tokenizer(encoding: str = ENCODING) -> Count:
    """A function that counts the tokens of a text in a tiktoken vocabulary.

    tiktoken downloads a vocabulary on first use and caches it.

    Raises:
        VocabularyError: tiktoken is not installed, does not have the vocabulary, or cannot download it.
    """
    try:
        import tiktoken
    except ImportError as error:
        raise VocabularyError(f"counting tokens needs tiktoken. {install_extra('tokens')}.") from error
    if encoding not in (names := tiktoken.list_encoding_names()):
        raise VocabularyError(f"tiktoken has no vocabulary {encoding!r}; available: {', '.join(names)}.")
    try:
        vocabulary = tiktoken.get_encoding(encoding)
    except Exception as error:  # of requests, OSError, or ValueError for a damaged file
        reason = textwrap.shorten(f"{type(error).__name__}: {error}", 160, placeholder=" …")
        raise VocabularyError(
            f"tiktoken cannot load the vocabulary {encoding}, which it downloads once ({reason}). "
            "Without a network, copy tiktoken's cache from another machine, and set TIKTOKEN_CACHE_DIR to "
            "its directory."
        ) from error
    return lambda text: len(vocabulary.encode_ordinary(text))


def cached_tokenizer() -> Count | None:
    """`tokenizer()` if its vocabulary is in tiktoken's cache, else None. Never uses the network."""
    directory = cache_directory()
    if directory and Path(directory, sha1(_ADDRESS.encode()).hexdigest()).is_file():
        with suppress(VocabularyError):
            return tokenizer()
    return None


def cache_directory() -> str:
    """The directory of tiktoken's cache; empty if the cache is disabled."""
    directory = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    return os.path.join(tempfile.gettempdir(), "data-gym-cache") if directory is None else directory


def tables(costs: Costs, unit: str, protocol: str = "wire") -> str:
    """The costs as tables for people, with the names of the unit and the protocol."""
    definitions = [
        *((tool.name, tool.native, tool.wire, saved(tool.native, tool.wire)) for tool in costs.tools),
        ("(header)", "", costs.header, ""),
        ("all, as sent", costs.native, costs.wire, saved(costs.native, costs.wire)),
    ]
    parts = [f"Definitions, in {unit}\n{_table(('tool', 'native', protocol, 'saved'), definitions)}"]
    if costs.calls:
        calls: list[tuple[Any, ...]] = [astuple(call) for call in costs.calls]
        calls.append(("all", *map(sum, [*zip(*calls, strict=True)][1:])))
        calls = [(*call, saved(call[2], call[4])) for call in calls]
        heads = ("tool", "arguments", "name+arguments", "tool_use", protocol, "saved")
        parts += [f"Calls, in {unit}\n{_table(heads, calls)}", _NOTES]
    example, constraints = costs.example, costs.constraints
    parts.append(f"In the manual, the example costs {example} and the constraints cost {constraints} {unit}.")
    if costs.tools and costs.wire > costs.native:
        parts.append(_why_text_costs_more(costs, unit.partition(" ")[0]))
    return "\n\n".join(parts)


def _why_text_costs_more(costs: Costs, unit: str) -> str:
    more, saving = costs.wire - costs.native, _saving(costs) / len(costs.tools)
    each = f"{saving:,.1f}".removesuffix(".0") if saving >= 1 else f"{saving:.2g}"
    if costs.pays_from is None:
        saved_each = "save nothing, so text does not pay off, however many they are"
    else:
        saved_each = f"save {each} {unit} each, so text pays off from about {costs.pays_from:,} tools"
    return (
        f"Text costs {more:,} {unit} more than native for these tools: the header costs "
        f"{costs.header:,} {unit}.\nTools of this size {saved_each}."
    )


def saved(native: int, wire: int) -> str:
    """The saving in percent."""
    # Adding 0 turns -0.0 into 0.0.
    return f"{round((native - wire) / native, 2) + 0:.0%}" if native else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    """Aligns the first column left and the others right."""
    cells = [head, *(tuple(map(str, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *others in cells:
        columns = [first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]
        lines.append("  ".join(columns).rstrip())
    return "\n".join(lines)
