"""The parsers that are compared: each parses the same calls, in its own format, delta by delta.

Parsers of other projects are used as in their own server or SDK. If a package is not installed or cannot be
imported, its parser is reported as missing.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from wirecall._tools.toolset import Toolset
from wirecall.tokens import compact
from wirecall_bench.artifact import version
from wirecall_bench.workloads import Message, Tool, Workload, WorkloadCall

# What contestants read that receive the arguments of a call, as providers' APIs stream them.
ARGUMENTS = "arguments"
# The versions of these distributions affect the results.
LIBRARIES = ("jiter", "partial-json-parser", "sglang", "vllm")


class MissingPackageError(Exception):
    """A contestant that cannot take part; the message says why."""


class WrongResultError(Exception):
    """A contestant's result is wrong; the message says why."""


class Stream(Protocol):
    """A parser of one message."""

    def feed(self, delta: str, /) -> object: ...
    def finish(self) -> object: ...


class Reader(Protocol):
    """Interprets what a parser returns."""

    def take(self, returned: Any, /) -> None: ...
    def message(self) -> Message: ...


@dataclass(frozen=True)
class Contestant:
    """One parser.

    Attributes:
        what: The function that is called for each delta.
        reads: The protocol of the calls, or `ARGUMENTS`.
        prepare: Returns a factory of parsers for these tools. Raises `MissingPackageError`.
        reader: None if the contestant parses nothing, so that nothing can be wrong.
    """

    name: str
    what: str
    reads: str
    prepare: Callable[[list[Tool]], Callable[[], Stream]]
    reader: Callable[[], Reader] | None


def contestants() -> list[Contestant]:
    """All contestants, the baseline first."""
    return [
        Contestant(
            "no-op", "a method that does nothing: the cost of any call", "wire", lambda tools: NoOp, None
        ),
        *map(wirecall_of, ("wire", "hermes")),
        Contestant("jiter", "from_json(…, partial_mode=True)", ARGUMENTS, _jiter(True), _Value),
        Contestant(
            "jiter strings",
            'from_json(…, partial_mode="trailing-strings")',
            ARGUMENTS,
            _jiter("trailing-strings"),
            _Value,
        ),
        Contestant("partial-json-parser", "loads(…)", ARGUMENTS, _partial_json_parser, _Value),
        Contestant("SGLang", "FunctionCallParser.parse_stream_chunk", "hermes", _sglang, _SglangDeltas),
        Contestant("vLLM", "Hermes2ProToolParser.extract_tool_calls_streaming", "hermes", _vllm, _VllmDeltas),
    ]


def wirecall_of(protocol: str) -> Contestant:
    """wirecall's parser of one protocol."""
    return Contestant(
        f"wirecall {protocol}",
        "Parser.feed",
        protocol,
        lambda tools: Toolset(tools, protocol=protocol).parser,
        _Events,
    )


def written(workload: Workload, reads: str) -> list[tuple[str, Message]]:
    """The texts for a contestant, and the message that it should find in each."""
    if reads == ARGUMENTS:
        calls = [call for message in workload.messages for call in message.calls]
        return [(compact(call.arguments), Message("", [WorkloadCall("", call.arguments)])) for call in calls]
    encode = Toolset(workload.tools, protocol=reads).encode
    texts = []
    for message in workload.messages:
        parts = [message.text, *(encode(call.name, call.arguments) for call in message.calls)]
        texts.append(("\n".join(filter(None, parts)), message))
    return texts


@contextmanager
def _of(distribution: str) -> Iterator[None]:
    """Import from an optional distribution."""
    installed = version(distribution)
    if installed is None:
        raise MissingPackageError(f"{distribution} is not installed")
    try:
        yield
    except Exception as error:  # importing such a package can raise anything
        raise MissingPackageError(
            f"{distribution} {installed} cannot be imported: {type(error).__name__}: {error}"
        ) from error


# The floor, and ours ----------------------------------------------------------------------------------------


class NoOp:
    """Takes a delta and returns nothing: the cost of the method call alone."""

    def feed(self, delta: str) -> tuple[()]:
        return ()

    def finish(self) -> tuple[()]:
        return ()


@dataclass
class _Pieces:
    """Collects text and calls that arrive in pieces."""

    texts: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    arguments: dict[int, list[str]] = field(default_factory=dict)

    def add(self, index: int, name: str | None, arguments: str | None) -> None:
        self.names[index] = self.names.get(index, "") + (name or "")
        self.arguments.setdefault(index, []).append(arguments or "")

    def message(self) -> Message:
        calls = []
        for index, name in sorted(self.names.items()):
            text = "".join(self.arguments[index])
            try:
                calls.append(WorkloadCall(name, json.loads(text)))
            except ValueError as error:
                raise WrongResultError(
                    f"the arguments of call {index + 1} are not valid JSON: {error}"
                ) from error
        return Message("".join(self.texts), calls)


class _Events(_Pieces):
    def take(self, returned: Iterable[Any]) -> None:
        for event in returned:
            if event.type == "text":
                self.texts.append(event.text)
            elif event.type == "call_start":
                self.add(event.index, event.name, "")
            elif event.type == "arguments_delta":
                self.add(event.index, "", event.delta)
            elif event.type == "call_error":
                raise WrongResultError(f"{event.kind}: {event.message}")
            elif "".join(self.arguments[event.index]) != event.arguments:
                raise WrongResultError(f"the deltas of call {event.index + 1}, joined, are not its arguments")


# Parsers of incomplete JSON ---------------------------------------------------------------------------------


class _Value:
    """The last returned value is the value of the arguments."""

    def __init__(self) -> None:
        self._last: Any = None

    def take(self, returned: Any) -> None:
        self._last = returned

    def message(self) -> Message:
        return Message("", [WorkloadCall("", self._last)])


def _jiter(mode: Any) -> Callable[[list[Tool]], Callable[[], Stream]]:
    def prepare(tools: list[Tool]) -> Callable[[], Stream]:
        with _of("jiter"):
            from jiter import from_json

        class _JiterStream:
            """As the SDKs of OpenAI and Anthropic do it: all bytes so far, once more for each delta."""

            def __init__(self) -> None:
                self.text = b""

            def feed(self, delta: str) -> object:
                self.text += delta.encode()
                return from_json(self.text, partial_mode=mode)

            def finish(self) -> object:
                return from_json(self.text)

        return _JiterStream

    return prepare


def _partial_json_parser(tools: list[Tool]) -> Callable[[], Stream]:
    with _of("partial-json-parser"):
        from partial_json_parser import loads

    class _PartialJsonStream:
        def __init__(self) -> None:
            self.text = ""

        def feed(self, delta: str) -> object:
            self.text += delta
            return loads(self.text)

        def finish(self) -> object:
            return loads(self.text)

    return _PartialJsonStream


# The standard library ---------------------------------------------------------------------------------------

_HERMES_CALL = re.compile("<tool_call>(.*?)</tool_call>", re.DOTALL)
_as_json = json.JSONEncoder(ensure_ascii=False).encode


def json_calls(text: str) -> list[dict[str, Any]]:
    """The calls of a complete Hermes message, by the two steps of vLLM's `extract_tool_calls`."""
    return [json.loads(found) for found in _HERMES_CALL.findall(text)]


def json_text(name: str, arguments: dict[str, Any]) -> str:
    """A call in Hermes' format, written by `json`."""
    return f"<tool_call>\n{_as_json({'name': name, 'arguments': arguments})}\n</tool_call>"


# Parsers of servers -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Bound:
    feed: Callable[[str], object]
    finish: Callable[[], object]


def _sglang(tools: list[Tool]) -> Callable[[], Stream]:
    with _of("sglang"):
        from sglang.srt.entrypoints.openai import protocol
        from sglang.srt.function_call.function_call_parser import FunctionCallParser

    given = [protocol.Tool(type="function", function=tool) for tool in tools]

    def open_stream() -> Stream:
        parser = FunctionCallParser(given, "hermes")
        return _Bound(parser.parse_stream_chunk, parser.parse_stream_end)

    return open_stream


class _SglangDeltas(_Pieces):
    def take(self, returned: tuple[str, Sequence[Any]]) -> None:
        text, calls = returned
        self.texts.append(text)
        for call in calls:
            self.add(call.tool_index, call.name, call.parameters)


def _vllm(tools: list[Tool]) -> Callable[[], Stream]:
    with _of("vllm"):
        from vllm.entrypoints.openai.chat_completion import protocol
        from vllm.tool_parsers import ToolParserManager

        parser_class = ToolParserManager.get_tool_parser("hermes")
    given = [protocol.ChatCompletionToolsParam(type="function", function=tool) for tool in tools]
    request = protocol.ChatCompletionRequest(model="any", messages=[], tools=given)
    # Required, but not used by this parser.
    tokenizer = object()

    class _VllmStream:
        """As the server does it: the text before and after each delta; this parser looks at no tokens."""

        def __init__(self) -> None:
            self.text = ""
            self._extract = parser_class(tokenizer, given).extract_tool_calls_streaming

        def feed(self, delta: str) -> object:
            before = self.text
            self.text = before + delta
            return self._extract(before, self.text, delta, (), (), (), request)

        def finish(self) -> object:
            return None

    return _VllmStream


class _VllmDeltas(_Pieces):
    def take(self, returned: Any) -> None:
        if returned is None:
            return
        self.texts.append(returned.content or "")
        for call in returned.tool_calls or ():
            self.add(call.index, call.function.name, call.function.arguments)
