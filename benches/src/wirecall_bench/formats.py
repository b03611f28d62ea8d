"""Formats: how tools are defined, calls are written, and calls are parsed again in each.

A count is only meaningful if the call can be parsed again: a form that loses information is cheap but
useless.
"""

import ast
import json
import keyword
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import toon_format

from wirecall import PROTOCOLS
from wirecall._tools.definitions import Definition
from wirecall._tools.toolset import Toolset
from wirecall.tokens import compact, native_call, native_definition, tool_use

# The baseline of all comparisons: the shortest form of a call in JSON.
BASELINE = "named"
# Not a complete call: it does not name the tool.
ARGUMENTS_ALONE = "arguments"
# Delimiters of one token each in o200k_base and cl100k_base, rare outside of PHP and XML.
ONE_TOKEN = ("<?", "?>")


class InexpressibleError(Exception):
    """The format cannot express this call; the message says why."""


class UnreadableError(Exception):
    """A text does not parse as one call; the message says as what it parses."""


@dataclass(frozen=True)
class ParsedCall:
    """One call; `arguments` is JSON text."""

    name: str
    arguments: str


class Writing(ABC):
    """A format for one list of tools."""

    def __init__(self, tools: Sequence[Definition]) -> None:
        self.tools = tools

    @abstractmethod
    def definitions(self) -> str:
        """All tools, as they are sent."""

    @abstractmethod
    def definition(self, tool: Definition) -> str:
        """The definition of one tool."""

    @abstractmethod
    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """A call as text.

        Raises:
            InexpressibleError: The format cannot express it.
        """

    @abstractmethod
    def read(self, text: str) -> ParsedCall:
        """The call in a text.

        Raises:
            InexpressibleError: The format's syntax cannot hold a whole call.
            UnreadableError: The text parses as something else.
        """


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes:
        name: A stable name, used in artifacts.
        what: A description for people.
        of: Returns the format for a list of tools.
    """

    name: str
    what: str
    of: Callable[[Sequence[Definition]], Writing]


def formats() -> list[Format]:
    """All formats: baselines first, then those of this package."""
    return [
        Format(
            BASELINE,
            '{"name":"name","arguments":{"key":"value"}}: the least that a call can be in JSON',
            _Named,
        ),
        Format(ARGUMENTS_ALONE, '{"key":"value"}: the arguments alone, which name no tool', _Arguments),
        Format("openai", "a chat tool call with its type and a short id, as histories carry it", _OpenAI),
        Format(
            "anthropic", "a tool_use block with its type and a short id, as histories carry it", _Anthropic
        ),
        _protocol("wire"),
        Format(
            "wire-short",
            f"{ONE_TOKEN[0]}name key=value{ONE_TOKEN[1]}: wire between delimiters of one token",
            lambda tools: _Text(tools, delimiters=ONE_TOKEN),
        ),
        Format("wire-json", '<call>name {"key":"value"}</call>', lambda tools: _Text(tools, syntax="json")),
        *(_protocol(name) for name in PROTOCOLS if name != "wire"),
        Format("python", 'name(key="value"), with definitions in JSON', _Python),
        Format("toon", "TOON of name and arguments, with definitions in TOON", _Toon),
    ]


def _protocol(name: str) -> Format:
    example = Toolset(protocol=name).encode("name", {"key": "value"})
    return Format(name, " ".join(example.split()), lambda tools: _Text(tools, protocol=name))


def round_trip(writing: Writing, name: str, arguments: Mapping[str, Any]) -> tuple[bool | None, str | None]:
    """Whether a call parses as what was written (None if the format cannot express it), and why not."""
    try:
        read = writing.read(writing.call(name, arguments))
    except InexpressibleError as reason:
        return None, str(reason)
    except UnreadableError as reason:
        return False, str(reason)
    if read.name != name:
        return False, f"it is read as a call of {read.name}"
    if _exact(read.arguments) != _exact(compact(arguments)):
        return False, f"the arguments are read as {read.arguments}"
    return True, None


def _exact(text: str) -> Any:
    """JSON that keeps the order of members. Numbers are equal only to numbers of the same value."""

    def number(text: str) -> Any:
        return "number", Decimal(text)

    return json.loads(
        text, object_pairs_hook=lambda pairs: ("object", pairs), parse_int=number, parse_float=number
    )


# Native -----------------------------------------------------------------------------------------------------


class _Json(Writing):
    """Definitions as OpenAI chat tools."""

    def definitions(self) -> str:
        return f"[{','.join(map(self.definition, self.tools))}]"

    def definition(self, tool: Definition) -> str:
        return compact(native_definition(tool))

    def read(self, text: str) -> ParsedCall:
        call = self.members(json.loads(text))
        return ParsedCall(call["name"], compact(call["arguments"]))

    def members(self, call: Any) -> Any:
        """The object with `name` and `arguments` in what was read."""
        return call


class _Arguments(_Json):
    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        return compact(arguments)

    def read(self, text: str) -> ParsedCall:
        raise InexpressibleError("the arguments alone do not name the tool")


class _Named(_Json):
    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        return native_call(name, compact(arguments))


class _OpenAI(_Json):
    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        function = {"name": name, "arguments": compact(arguments)}
        return compact({"id": "call_01ABCDEFG", "type": "function", "function": function})

    def members(self, call: Any) -> Any:
        function = call["function"]
        return {**function, "arguments": json.loads(function["arguments"])}


class _Anthropic(_Json):
    def definition(self, tool: Definition) -> str:
        function = native_definition(tool)["function"]
        function["input_schema"] = function.pop("parameters")
        return compact(function)

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        return tool_use(name, compact(arguments))

    def members(self, call: Any) -> Any:
        return {"name": call["name"], "arguments": call["input"]}


# Ours -------------------------------------------------------------------------------------------------------


class _Text(Writing):
    """A protocol of this package."""

    def __init__(self, tools: Sequence[Definition], **options: Any) -> None:
        super().__init__(tools)
        self.toolset = Toolset(tools, **options)

    def definitions(self) -> str:
        return self.toolset.manual()

    def definition(self, tool: Definition) -> str:
        return self.toolset.signature(tool.name)

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        return self.toolset.encode(name, arguments)

    def read(self, text: str) -> ParsedCall:
        message = self.toolset.parse(text, truncated=False)
        if message.errors:
            raise UnreadableError(f"{message.errors[0].kind}: {message.errors[0].message}")
        if len(message.calls) != 1 or message.text:
            raise UnreadableError(f"it is read as {len(message.calls)} calls and the text {message.text!r}")
        (call,) = message.calls
        if call.repairs or call.problems:
            wrong = [*call.repairs, *(problem.message for problem in call.problems)]
            raise UnreadableError(f"it is read with repairs or problems: {'; '.join(wrong)}")
        return ParsedCall(call.name, call.arguments)


# Of others --------------------------------------------------------------------------------------------------


class _Python(_Json):
    """A call in Python syntax, as some models are trained to write it. The definitions are JSON."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        if not _is_name(name):
            raise InexpressibleError(f"{name} is not a Python identifier")
        parts = [
            f"{key}={_literal(value)}" if _is_name(key) else f"**{_literal({key: value})}"
            for key, value in arguments.items()
        ]
        return f"{name}({', '.join(parts)})"

    def read(self, text: str) -> ParsedCall:
        try:
            call = ast.parse(text, mode="eval").body
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
                raise ValueError("it is not a call with keyword arguments only")
            arguments: dict[str, Any] = {}
            for given in call.keywords:
                value = ast.literal_eval(given.value)
                arguments.update(value if given.arg is None else {given.arg: value})
            return ParsedCall(call.func.id, compact(arguments))
        except (SyntaxError, ValueError, TypeError, RecursionError) as error:
            raise UnreadableError(str(error)) from error


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _literal(value: Any) -> str:
    """A JSON value in Python syntax, where string escapes mean the same."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_literal(key)}: {_literal(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


class _Toon(Writing):
    """Token-Oriented Object Notation, written by its reference library."""

    def definitions(self) -> str:
        return toon_format.dumps([native_definition(tool) for tool in self.tools])

    def definition(self, tool: Definition) -> str:
        return toon_format.dumps(native_definition(tool))

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        return toon_format.dumps({"name": name, "arguments": arguments})

    def read(self, text: str) -> ParsedCall:
        try:
            call = toon_format.loads(text)
            return ParsedCall(call["name"], compact(call["arguments"]))
        except (ValueError, KeyError, TypeError) as error:
            raise UnreadableError(str(error)) from error
