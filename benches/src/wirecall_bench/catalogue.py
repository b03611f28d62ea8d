"""Catalogues: tools, and correct calls of them with the user messages that lead to them.

A catalogue is a JSON file:

    {"name": "mine", "tools": […], "cases": [{"name", "group", "prompt", "tool", "arguments"}, …]}

with tools in any form that `Toolset` accepts. `name`, `group` and `prompt` are optional. Cases whose
arguments do not match the tool's schema are rejected, because they would distort the results.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

from jsonschema.exceptions import SchemaError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import Draft202012Validator, validator_for

from wirecall._tools.definitions import Definition, definitions
from wirecall._tools.toolset import Toolset
from wirecall.errors import ToolError
from wirecall.tokens import compact
from wirecall_bench.artifact import BenchError

# The name of this package's catalogue in `--catalogue`.
BUILT_IN = "built-in"

_HALF = "half of a surrogate pair (\\ud800 to \\udfff), which is not valid text"
_FORM = '{"tools": […], "cases": [{"name": …, "tool": …, "arguments": {…}}, …]}'


@dataclass(frozen=True)
class Case:
    """One correct call.

    Attributes:
        name: Unique in the catalogue.
        group: The kind of call.
        prompt: The user message that leads to the call; can be empty.
        tool: The tool's name.
        arguments: Arguments that match the tool's schema.
    """

    name: str
    group: str
    prompt: str
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Catalogue:
    name: str
    tools: list[Definition]
    cases: list[Case]


def catalogues(paths: Iterable[str]) -> list[Catalogue]:
    """The catalogues of files; `BUILT_IN` means the built-in one.

    Raises:
        BenchError: A catalogue cannot be read, or two have the same name.
    """
    found: dict[str, Catalogue] = {}
    for path in paths:
        catalogue = built_in() if path == BUILT_IN else load(path)
        if catalogue.name in found:
            raise BenchError(f'{path}: another catalogue is also named {catalogue.name!r}: change its "name"')
        found[catalogue.name] = catalogue
    return list(found.values())


def built_in() -> Catalogue:
    """The catalogue of this package."""
    return packaged("catalogue")


def packaged(name: str) -> Catalogue:
    """A catalogue of this package, by the name of its file."""
    file = files("wirecall_bench") / "data" / f"{name}.json"
    return _Reader(str(file), file.read_text(encoding="utf-8"), name).catalogue()


def load(path: str | os.PathLike[str]) -> Catalogue:
    """Load a catalogue from a file. Without a name of its own, it is named after the file.

    Raises:
        BenchError: The file cannot be read, or is not a catalogue; the message has the location.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BenchError(f"{path}: byte {error.start} is not valid UTF-8") from error
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror or error}") from error
    return _Reader(str(path), text, path.stem).catalogue()


class _Reader:
    """Reads one file. Errors name the file, and the line if there is one."""

    def __init__(self, title: str, text: str, name: str) -> None:
        self.title = title
        self.text = text
        self.name = name

    def catalogue(self) -> Catalogue:
        try:
            found = json.loads(self.text, parse_constant=_refuse)
        except json.JSONDecodeError as error:
            self.fail(f"not valid JSON: {error.msg}. Expected {_FORM}", error.lineno, error.colno)
        except (ValueError, RecursionError) as error:
            self.fail(f"this JSON cannot be read: {error}")
        if not isinstance(found, dict) or not all(
            isinstance(found.get(key), list) for key in ("tools", "cases")
        ):
            self.fail(f"this is not a catalogue. Expected {_FORM}")
        name = found.get("name", self.name)
        if not isinstance(name, str) or not name or not _is_text(name):
            self.fail(f'"name" must be a string that is not empty, not {compact(name)}')
        validators = {}
        tools: dict[str, Definition] = {}
        for index, given in enumerate(found["tools"]):
            tool, validator = self.tool(index, given)
            if tool.name in tools:
                self.fail(
                    f"two tools are named {tool.name!r}: rename or remove one", self.line("tools", index)
                )
            tools[tool.name] = tool
            validators[tool.name] = validator
        cases: dict[str, Case] = {}
        for index, given in enumerate(found["cases"]):
            case = self.case(index, given, tools, validators)
            if case.name in cases:
                self.fail(f"two cases are named {case.name!r}: rename one", self.line("cases", index))
            cases[case.name] = case
        if not cases:
            self.fail('"cases" is empty: there is nothing to measure')
        return Catalogue(name, list(tools.values()), list(cases.values()))

    def tool(self, index: int, given: object) -> tuple[Definition, Validator]:
        def fail(reason: str) -> NoReturn:
            self.fail(f"tool {index + 1} cannot be used: {reason}", self.line("tools", index))

        try:
            (tool,) = definitions([given])
            Toolset([tool])
            compact(tool).encode()
            make = validator_for(tool.parameters, Draft202012Validator)
            make.check_schema(tool.parameters)
        except UnicodeEncodeError:
            fail(f"it contains {_HALF}")
        except SchemaError as error:
            fail(error.message)
        except ToolError as error:
            fail(str(error))
        except AttributeError:
            fail("its $schema is not a string")
        return tool, make(tool.parameters)

    def case(
        self, index: int, given: object, tools: dict[str, Definition], validators: dict[str, Validator]
    ) -> Case:
        def fail(message: str) -> NoReturn:
            self.fail(f"case {index + 1} {message}", self.line("cases", index))

        if not isinstance(given, dict):
            fail('is not an object. Expected {"name": …, "tool": …, "arguments": {…}}')
        words = {key: given.get(key, "") for key in ("name", "group", "prompt", "tool")}
        for key, value in words.items():
            if not isinstance(value, str):
                fail(f'has {compact(value)} for "{key}", which must be a string')
        tool, arguments = words["tool"], given.get("arguments")
        if tool not in tools:
            fail(f'calls the tool {tool!r}, which is not in "tools": add it there, or correct the name')
        if not isinstance(arguments, dict):
            hint = "; it is a string: write the JSON object itself" if isinstance(arguments, str) else ""
            fail(f'has no object in "arguments"{hint}')
        try:
            compact(given).encode()
            # A call that no protocol can write would break the comparison of all formats.
            Toolset([tools[tool]]).encode(tool, arguments)
            wrong = best_match(validators[tool].iter_errors(arguments))
        except UnicodeEncodeError:
            fail(f"contains {_HALF}")
        except ValueError as error:
            fail(f"cannot be used: {error}")
        except RecursionError:
            fail(f"cannot be checked against the schema of {tool}: its $ref form a circle")
        if wrong is not None:
            fail(f"does not fit the schema of {tool}: {wrong.json_path}: {wrong.message}")
        return Case(words["name"] or f"case {index + 1}", words["group"], words["prompt"], tool, arguments)

    def fail(self, message: str, line: int | None = None, column: int | None = None) -> NoReturn:
        place = self.title
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column}"
        raise BenchError(f"{place}: {message}")

    def line(self, key: str, index: int) -> int:
        """The line of an element in one of the two lists, for text that was parsed as JSON."""
        start = [start for name, start in _members(self.text) if name == key][-1]
        begin = list(_elements(self.text, start))[index]
        return self.text.count("\n", 0, begin) + 1


def _is_text(name: str) -> bool:
    return name == name.encode(errors="replace").decode()


def _members(text: str) -> Iterator[tuple[str, int]]:
    """The keys of an object in JSON text, and the positions of their values."""
    at = _skip(text, 0) + 1
    while text[at := _skip(text, at)] != "}":
        key, at = _decode(text, at)
        begin = _skip(text, at)
        yield key, begin
        at = _decode(text, begin)[1]


def _elements(text: str, at: int) -> Iterator[int]:
    """The positions of the elements of a list in JSON text."""
    at += 1
    while text[at := _skip(text, at)] != "]":
        yield at
        at = _decode(text, at)[1]


def _skip(text: str, at: int) -> int:
    """Skip whitespace, and separators between values."""
    while text[at] in " \t\r\n,:":
        at += 1
    return at


_decode = json.JSONDecoder().raw_decode


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not valid JSON")
