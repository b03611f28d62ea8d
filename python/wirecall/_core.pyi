"""The compiled part of wirecall: parses and writes tool calls in text.

Import everything from `wirecall`, not from here. The rules are those of docs/wire-format.md; its sections are
named in brackets. Offsets count characters (code points) of the message from 0; ends are exclusive. The
model's mistakes are events; only the caller's raise exceptions.

The docstrings of the compiled module, which `help()` shows, are the same; a test compares them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, TypeAlias, final

from typing_extensions import disjoint_base

from wirecall._kinds import ErrorKind, ProblemKind, RepairKind
from wirecall.errors import JsonWarning, XmlWarning

__all__ = [
    "FAMILIES",
    "OPT_LEVEL",
    "PROTOCOLS",
    "ArgumentsDelta",
    "CallEnd",
    "CallError",
    "CallStart",
    "Field",
    "Format",
    "Message",
    "Parser",
    "Plan",
    "Problem",
    "Reasoning",
    "Text",
    "Toolset",
    "XmlParser",
    "format_xml",
    "loads",
    "native_formats",
]

_Event: TypeAlias = Text | Reasoning | CallStart | ArgumentsDelta | CallEnd | CallError
_Arguments: TypeAlias = Mapping[str, Any] | str
_PastCall: TypeAlias = tuple[str, _Arguments] | tuple[str, _Arguments, str | None]

PROTOCOLS: tuple[str, ...]
"""The names of the protocols that a manual can teach, without aliases."""

FAMILIES: tuple[str, ...]
"""The names of the native formats of model families, without aliases; some are in `PROTOCOLS`, too."""

OPT_LEVEL: str
"""Cargo's level of optimisation, with which this module was compiled: "3" in a release."""

def native_formats() -> list[dict[str, Any]]:
    """What a host or a server must know about each native format: `name`, `aliases`, `call` and `section`
    (what opens and closes them), `reasoning` (such pairs), `starts_in_reasoning`, `reasoning_prompt` (the end
    of a prompt that opens reasoning, as the official template writes it, or None), `reasoning_ends` (what
    closes reasoning: one of these), `special_tokens` (whether the markers are special tokens), `stops`,
    `lists` (whether calls are in one list), `whole_messages` (whether messages are divided into parts, or a
    call may be a whole message), `models` (patterns of names, source, words of chat models) and the marks of
    `chat_templates` and of `response_templates` (has, lacks, prompt, prompt_lacks).
    """

@disjoint_base
class Format:
    """How calls and messages are written and read. Immutable.

    `wirecall.Format` is the public class; it documents the fields of a description.
    """

    def __new__(cls, description: str, /) -> Self: ...
    @classmethod
    def _built_in(cls, name: str, /) -> str:
        """The description of a built-in format, as JSON."""

    @property
    def name(self) -> str:
        """The name, for errors and lists."""

    @property
    def _json(self) -> str:
        """The whole description, as JSON."""

    @property
    def _native(self) -> dict[str, Any] | None:
        """The same as in `native_formats`; None if it is only for prompting."""

@disjoint_base
class Toolset:
    """Compiled tools. Immutable: one toolset can be used by any number of threads at once.

    `wirecall.Toolset` is the public class; it accepts the many forms of definitions and documents the
    options. Sections are those of docs/wire-format.md.
    """

    def __new__(
        cls,
        tools: Iterable[tuple[str, str | None, str, bool]],
        /,
        *,
        protocol: object,
        recover: bool | Sequence[str] = ...,
        syntax: str = "wire",
        fallback_to_json: str = "complex",
        strict: bool = False,
        unknown_tools: str = "auto",
        invalid_tools: str = "error",
        validate: str = "report",
        code: str = "call",
        descriptions: str = "full",
        constraints: bool = True,
        delimiters: tuple[str, str] | None = None,
        reasoning: str | tuple[str, str] | tuple[str, str, str] | None = ...,
        limits: Mapping[str, int] | None = None,
    ) -> Self:
        """Compile tools.

        Args:
            tools: For each tool the name, the description, the schema as JSON text, and whether its calls are
                always checked against the full schema, whatever `validate` is.
            protocol: The name or alias of a protocol or native format, or "auto", which writes wire and reads
                the protocol of each message's first call; or a `Format`, or a `wirecall.Protocol`.
            recover: Also parse calls in other formats (True), or in those with these names, until the first
                call in the protocol's own; not if `strict`.
            syntax: "wire" or "json".
            fallback_to_json: "complex", "error" or "force".
            strict: Reject near misses (section 5).
            unknown_tools: "auto", "error", "forward" or "text": what calls of undeclared tools are.
            invalid_tools: "error" or "untyped": what becomes of definitions that cannot work.
            validate: "report" or "error" (section 4).
            code: "call" or "text": how calls in Markdown code are parsed (section 1).
            descriptions: "full", "tools" or "none" (section 9).
            constraints: Show bounds, patterns, formats and examples in signatures (section 9).
            delimiters: OPEN and CLOSE (section 1); None for those of the protocol.
            reasoning: "content", "separate" or "auto"; the opening and closing tag of reasoning (section 1);
                the tags and the mode; None to disable it.
            limits: `call_bytes`, `depth`, `calls`, `key_segments` (section 7), each a positive int; `depth`
                is at most 512.

        Raises:
            ToolError: A name cannot be written, a schema cannot work, a protocol is unknown, or two of them
                begin calls in the same way; or there are tools, and `unknown_tools` is "text".
            ValueError: An option is not one of its choices; or delimiters, a reasoning tag or a limit cannot
                work.
            TypeError: A limit is not an int.
        """

    def _grammar(
        self, kind: str, /, *, tool_choice: str, parallel: bool, longest: int | None
    ) -> tuple[str, list[tuple[str, str, str]]]:
        """The text of a grammar, and what it does not enforce: tool, field and keyword."""

    def _declared_field(self, name: str, field: str, /) -> str:
        """The part of a problem's field that the tool's schema declares: the rest is what the model wrote."""

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names, in the given order."""

    @property
    def _invalid_tools(self) -> list[tuple[str, str | None, str]]:
        """The definitions that `invalid_tools="untyped"` has accepted: tool, pointer and message of each."""

    @property
    def result_marks(self) -> tuple[str, ...]:
        """The beginnings of tool results. Use them as stop sequences, because models invent results."""

    @property
    def _is_native(self) -> bool:
        """Whether calls are written where the official template of a native format has them."""

    @property
    def _reasoning_tags(self) -> list[tuple[str, str]]:
        """Pairs of what opens and closes reasoning."""

    @property
    def separates_reasoning(self) -> bool:
        """Whether reasoning is separate from the text, as the option `reasoning` says."""

    def parse(
        self, text: str, /, *, truncated: bool | None = None, in_reasoning: bool | None = None
    ) -> Message:
        """Parse a whole message, with the same result as a parser.

        Args:
            text: The message. Lone surrogates become U+FFFD.
            truncated: False only if the message is known to be complete; then a last call without CLOSE may
                be repaired (`missing_close`, section 5). True if it is known to be cut off; then an opening
                that may become a call is an `incomplete_call`, not text.
            in_reasoning: Whether the message begins inside reasoning, because the prompt ends there; None for
                the protocol's default.

        Returns:
            Texts, reasoning, calls and errors. The model's mistakes are errors in the message, not
            exceptions.
        """

    def parse_many(
        self,
        texts: Iterable[str],
        /,
        *,
        threads: int | None = None,
        truncated: bool | None = None,
        in_reasoning: bool | None = None,
    ) -> list[Message]:
        """Parse many whole messages without the GIL.

        Args:
            texts: The messages.
            threads: The number of threads, at most 256; None for one per processor.
            truncated: As in `parse`, for all messages.
            in_reasoning: As in `parse`, for all messages.

        Returns:
            One message for each text, in order.

        Raises:
            TypeError: A text is not a str, or `texts` is a single str.
            ValueError: `threads` is less than 1, or out of range.
        """

    def parser(self, *, ids: Callable[[], str] | None = None, in_reasoning: bool | None = None) -> Parser:
        """A parser for one stream.

        Args:
            ids: Called for the id of each call that starts. Without it, an id is `call_` and 24 random
                letters and digits.
            in_reasoning: Whether the message begins inside reasoning, because the prompt ends there; None for
                the protocol's default.

        Raises:
            TypeError: `ids` is not callable.
        """

    def encode(self, name: str, arguments: Mapping[str, Any] | str, /, *, native: bool = False) -> str:
        """The canonical text of a call (section 8). In both modes, it parses as the same JSON.

        Args:
            name: A tool's name. Without tools, any name: the call is written without types.
            arguments: A mapping with str keys and JSON values (lists, tuples, mappings, and subclasses of str
                and int), or the JSON text of an object, whose digits are kept. They may violate the schema;
                violations are parsed as the schema requires (`1` as `"1"` for a string).
            native: Raise an error if a native format cannot hold the call. Otherwise, it is written as one
                JSON object if the format reads that, or as a note, which is not a call.

        Raises:
            ToolError: There are tools, and none has this name. (`encode_message` writes past calls of tools
                that no longer exist.)
            TypeError: `arguments` is neither a mapping nor JSON text, a key is not a str, or a value is not
                JSON.
            ValueError: The JSON text is not an object; a value is NaN, an infinity or a lone surrogate, or is
                nested deeper than `depth` (or cyclic); no call can have the name; or, with `native`, the
                native format cannot hold the arguments.
        """

    def encode_message(
        self,
        content: str,
        calls: Sequence[_PastCall] = ...,
        /,
        *,
        reasoning: str | None = None,
        calls_before: int = 0,
        native: bool = False,
    ) -> str:
        """A whole message of the model, in a native format as the official template writes it.

        Args:
            content: The text. The format decides whether it is before or after the calls. Lone surrogates
                become U+FFFD.
            calls: Tuples of a name, the arguments as in `encode`, and optionally an id, which some formats
                write.
            reasoning: The reasoning; "" for an empty one, None for none. Formats without reasoning leave it
                out.
            calls_before: The number of calls in earlier messages, for native formats that number calls.
            native: As in `encode`.

        Raises:
            TypeError: A call is not such a tuple, or its arguments are wrong as in `encode`.
            ValueError: Arguments are wrong as in `encode`; no call of a prompted protocol can have the name;
                with `native`, the format cannot hold a call, or both the text and calls.
        """

    def encode_result(
        self,
        name: str | None,
        content: object,
        /,
        *,
        error: bool = False,
        number: int | None = None,
        id: str | None = None,
        index: int = 0,
        calls_before: int = 0,
    ) -> str:
        """As `encode_result` of `wirecall.Toolset`, but `content` is not the result of `run`."""

    def neutralise(self, text: str, /) -> str:
        """Text of a user, in which nothing can be parsed as a tag of wirecall (section 10).

        Everything that could open or end a result, and OPEN, gets a visible backslash; nothing else is
        changed. In native formats, the other markers and special tokens get one, too (docs/protocols.md,
        "Results").

        Args:
            text: Any text. Lone surrogates become U+FFFD.

        Returns:
            `text` itself if nothing needs to be changed.
        """

    def manual(self, *, header: str | None = None) -> str:
        """The manual for the model: a header, and one line for each tool (section 9).

        Args:
            header: Text that replaces the built-in header; "" for only the tools' lines.
        """

    def examples(self) -> list[str]:
        """The example calls in the manual's built-in header: usually one call, of a declared tool."""

    def signature(self, name: str, /) -> str:
        """One tool's line in the manual.

        Raises:
            ToolError: There is no such tool.
        """

    def plan(self, name: str, /) -> Plan:
        """How a tool's calls are written (section 8).

        Raises:
            ToolError: There is no such tool.
        """

    def segments(self, text: str, /) -> list[str]:
        """The exact substrings of a message that are calls: those that `parse` returns as `CallEnd`."""

@final
class Parser:
    """Parses one message from a stream; made by `Toolset.parser`.

    Call `feed` with every chunk, then `finish` once. Both return the events that have become certain. A
    parser does no I/O. The model's mistakes are events; only the caller's mistakes raise exceptions.

    A parser can be passed between threads. If two threads use it at once, or its own `ids` callable uses it,
    the second use raises RuntimeError and the first continues. Sections are those of docs/wire-format.md.
    """

    def feed(self, text: str, /) -> list[_Event]:
        """Process the next chunk, and return the events that are certain now (section 7).

        How a message is cut affects neither the joined texts and deltas nor the ends and errors. Surrogate
        halves in adjacent chunks are joined; lone ones become U+FFFD.

        Args:
            text: The next chunk, of any length, including "".

        Returns:
            `Text`, `Reasoning`, `CallStart`, `ArgumentsDelta`, `CallEnd` and `CallError`, in the order of the
            message; often none. Text that is not certain yet is held back: at most one call and one chunk.

        Raises:
            RuntimeError: The parser is finished, or in use.
            TypeError: `ids` did not return a str.
            ValueError: `ids` returned a str with a lone surrogate. After an exception from `ids`, the parser
                is finished.
        """

    def feed_into(self, text: str, events: list[_Event], /) -> None:
        """Process the next chunk like `feed`, and append the events to a list.

        For hosts that keep the events of a message: it costs less than `feed`, whose lists would be dropped.

        Args:
            text: The next chunk, of any length, including "".
            events: Gets the events that are certain now. After an exception from `ids` it is unchanged.

        Raises:
            RuntimeError: The parser is finished, or in use.
            TypeError: `ids` did not return a str.
            ValueError: `ids` returned a str with a lone surrogate. After an exception from `ids`, the parser
                is finished.
        """

    def finish(self, *, truncated: bool | None = None) -> list[_Event]:
        """End the message, and return its last events.

        Args:
            truncated: False only if the message is known to be complete; then a last call without CLOSE may
                be repaired. Otherwise it is an `incomplete_call`; so is, with True, an opening that may
                become a call.

        Returns:
            The text that was held back, and the end or error of an open call.

        Raises:
            RuntimeError: The parser is already finished, or in use.
        """

    def reset(self) -> None:
        """Discard all state, for the next message. `ids` and `in_reasoning` are kept.

        Raises:
            RuntimeError: The parser is in use.
        """

@final
class Message:
    """A whole message, in order; made by `Toolset.parse`.

    The items and `framing` cover the message: nothing is in two of them, and nothing is left out. Texts
    become str objects on first access; the message keeps the parsed str alive.
    """

    def __new__(
        cls,
        items: Iterable[Text | Reasoning | CallEnd | CallError],
        framing: Sequence[tuple[int, int]] = ...,
    ) -> Self: ...
    @property
    def items(self) -> tuple[Text | Reasoning | CallEnd | CallError, ...]:
        """Texts, reasoning, calls and errors, in the order of the message.

        Between two adjacent texts, or two adjacent pieces of reasoning, is framing.
        """

    @property
    def framing(self) -> list[tuple[int, int]]:
        """What is in no item: markers of a native format and of separate reasoning, whitespace around them,
        and stop tokens.

        The start and end of each span, in characters of the message, in order. Empty in protocols that are
        only prompted, unless reasoning is separate.
        """

    @property
    def text(self) -> str:
        """The joined texts."""

    @property
    def reasoning(self) -> str:
        """The joined reasoning; empty if there is none, or if it is text (the option `reasoning`)."""

    @property
    def calls(self) -> tuple[CallEnd, ...]:
        """The complete calls."""

    @property
    def errors(self) -> tuple[CallError, ...]:
        """The calls that were rejected, and forged results."""

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Text:
    """Text outside calls."""

    __match_args__ = ("text",)
    type: ClassVar[Literal["text"]]
    def __new__(cls, text: str) -> Self: ...
    @property
    def text(self) -> str:
        """The text; not empty. If a chunk contains only text, this is the same str object."""

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Reasoning:
    """Reasoning, without its tags, if it is separate from the text (the option `reasoning`).

    In a stream, the next part; in a message, all of it up to its end or to framing.
    """

    __match_args__ = ("text", "start", "end")
    type: ClassVar[Literal["reasoning"]]
    def __new__(cls, text: str, start: int, end: int) -> Self: ...
    @property
    def text(self) -> str:
        """The text; not empty."""

    @property
    def start(self) -> int:
        """Offset of its first character in the message."""

    @property
    def end(self) -> int:
        """Offset after its last character."""

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class CallStart:
    """A call has begun, and its tool is known. Exactly one `CallEnd` or `CallError` with this id follows."""

    __match_args__ = ("index", "id", "name")
    type: ClassVar[Literal["call_start"]]
    def __new__(cls, index: int, id: str, name: str) -> Self: ...
    @property
    def index(self) -> int:
        """The number of this call among the started calls of the message, from 0."""

    @property
    def id(self) -> str:
        """`call_` and 24 random letters and digits, or the return value of `ids`."""

    @property
    def name(self) -> str:
        """The tool's name, as declared."""

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class ArgumentsDelta:
    """The next part of a call's arguments. The joined deltas of a call are the `arguments` of its end."""

    __match_args__ = ("index", "delta")
    type: ClassVar[Literal["arguments_delta"]]
    def __new__(cls, index: int, delta: str) -> Self: ...
    @property
    def index(self) -> int:
        """The index of the call's start."""

    @property
    def delta(self) -> str:
        """A part of the JSON text; not empty."""

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class CallEnd:
    """A complete call. It is delivered even if its arguments do not match the tool's schema; see `problems`.

    Sections are those of docs/wire-format.md.
    """

    __match_args__ = ("index", "id", "name", "arguments", "start", "end", "repairs", "problems")
    type: ClassVar[Literal["call_end"]]
    def __new__(
        cls,
        index: int,
        id: str,
        name: str,
        arguments: str,
        start: int,
        end: int,
        repairs: Sequence[RepairKind] = ...,
        problems: Sequence[Problem] = ...,
    ) -> Self: ...
    @property
    def index(self) -> int:
        """The number of this call among the started calls of the message, from 0."""

    @property
    def id(self) -> str:
        """The id of the call's start."""

    @property
    def name(self) -> str:
        """The tool's name, as declared."""

    @property
    def arguments(self) -> str:
        """Compact JSON text of an object, equal to the joined deltas; numbers keep their digits."""

    @property
    def args(self) -> dict[str, Any]:
        """The decoded arguments, a new dict on each access.

        Integers that `int()` cannot parse (more than 4,300 digits by default) become `decimal.Decimal`.

        Raises:
            ValueError: A number is outside the range of a float (the error names its field), or the arguments
                are not a JSON object.
        """

    @property
    def start(self) -> int:
        """Offset of OPEN, in characters of the message from 0."""

    @property
    def end(self) -> int:
        """Offset after CLOSE, in characters of the message."""

    @property
    def repairs(self) -> tuple[RepairKind, ...]:
        """The repairs that were made: names in section 5, or in docs/protocols.md for repairs of other
        protocols.

        Each name occurs once, in the order of first use.
        """

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The violations of the tool's schema (section 4)."""

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class CallError:
    """A call that was rejected, or a forged result (section 6 of docs/wire-format.md).

    `Toolset.encode_result` writes it as an answer to the model.
    """

    __match_args__ = (
        "index",
        "id",
        "name",
        "kind",
        "message",
        "raw",
        "start",
        "end",
        "sentence",
        "example",
        "arguments",
        "problems",
    )
    type: ClassVar[Literal["call_error"]]
    def __new__(
        cls,
        index: int | None,
        id: str | None,
        name: str | None,
        kind: ErrorKind,
        message: str,
        raw: str,
        start: int,
        end: int,
        sentence: str | None = None,
        example: str | None = None,
        arguments: str | None = None,
        problems: Sequence[Problem] = ...,
    ) -> Self: ...
    @property
    def index(self) -> int | None:
        """The index of the call's start; None if none was reported."""

    @property
    def id(self) -> str | None:
        """The id of the call's start; None if none was reported."""

    @property
    def name(self) -> str | None:
        """The tool's name; None if it is unknown."""

    @property
    def kind(self) -> ErrorKind:
        """A kind in section 6; in strict mode also the name of a repair."""

    @property
    def message(self) -> str:
        """The text for the model: the sentence, followed by the example."""

    @property
    def raw(self) -> str:
        """The source from `start` to `end`, shortened only if it exceeds the limit of a call."""

    @property
    def start(self) -> int:
        """Offset of OPEN or of the forged tag, in characters of the message."""

    @property
    def end(self) -> int:
        """Offset after the text of the error, in characters of the message."""

    @property
    def sentence(self) -> str:
        """What is wrong."""

    @property
    def example(self) -> str | None:
        """A correct call as `encode` writes it: of this tool, or of the most similar one if it is unknown.

        None if no example would help, or if none can be made.
        """

    @property
    def arguments(self) -> str | None:
        """The arguments as compact JSON text, if the call was parsed completely, up to its closing tag.

        Only for `invalid_arguments`, and for `coerced` and `key_style` in strict mode.
        """

    @property
    def problems(self) -> tuple[Problem, ...]:
        """For `invalid_arguments`, the violations of the tool's schema."""

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Problem:
    """One violation of the schema in a call's arguments (section 4 of docs/wire-format.md)."""

    __match_args__ = ("kind", "field", "message")
    def __new__(cls, kind: ProblemKind, field: str, message: str) -> Self: ...
    @property
    def kind(self) -> ProblemKind:
        """`wrong_type`, `not_in_enum`, `missing_required`, `unknown_field` or `schema`."""

    @property
    def field(self) -> str:
        """The field, written as a key: `profile.address.city`, `items[0].sku`; empty for the whole object."""

    @property
    def message(self) -> str:
        """A sentence for the model."""

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Plan:
    """How the calls of one tool are written (section 8 of docs/wire-format.md); made by `Toolset.plan`."""

    __match_args__ = ("name", "encoding", "fields", "reason")
    def __new__(cls, name: str, encoding: str, fields: Sequence[Field], reason: str | None) -> Self: ...
    @property
    def name(self) -> str:
        """The tool's name."""

    @property
    def encoding(self) -> str:
        """ "pairs" or "json"."""

    @property
    def fields(self) -> list[Field]:
        """The keys of its calls."""

    @property
    def reason(self) -> str | None:
        """Why calls are written as JSON although that was not requested."""

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Field:
    """One key of a tool's calls, as the encoder writes it."""

    __match_args__ = ("key", "type", "required")
    def __new__(cls, key: str, type: str, required: bool) -> Self: ...
    @property
    def key(self) -> str:
        """The key, with its dots and quotes."""

    @property
    def type(self) -> str:
        """The type as in the manual."""

    @property
    def required(self) -> bool:
        """Whether every call must contain the key."""

    def to_dict(self) -> dict[str, Any]:
        """As a dict for `json.dumps`; docs/api.md lists its keys."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

def loads(
    text: str,
    *,
    relaxed: bool = True,
    duplicates: Literal["error", "first", "last"] = "error",
    warnings: list[JsonWarning] | None = None,
    partial: bool = False,
) -> Any:
    """Parse JSON text into Python values, as `json.loads` does.

    docs/json.md describes relaxed JSON, tolerant parsing, and what is certain in a truncated text.

    Args:
        text: The text. Lone surrogates, including escaped ones, become U+FFFD.
        relaxed: Also accept single quotes, bare keys and words, trailing commas, line breaks in strings,
            `True`, `False`, `None`, `//` and `/* */`. Otherwise only JSON as in RFC 8259, without NaN.
        duplicates: How to treat a key that an object already has: "error" raises an exception, "first" keeps
            the first value, "last" the last.
        warnings: A list enables tolerant parsing. It receives a `JsonWarning` for each defect, in the order
            of the text (at most 1000, and a last one if there are more). The result is the best possible
            value, or None if there is no value in the text.
        partial: The text may be truncated anywhere. The result is the value that is certain so far: keys
            without values and incomplete words, numbers and escapes are left out, and everything open is
            closed. None if nothing is certain yet.

    Returns:
        A dict, list, str, int, float, bool or None. Integers are exact.

    Raises:
        JsonError: The text is malformed, and `warnings` is None; a number is outside the range of a float, or
            has more digits than `sys.get_int_max_str_digits()` allows (in tolerant parsing it becomes its
            text). Always if the value is nested more than 512 levels deep.
        ValueError: `duplicates` is not one of its choices.
        TypeError: The text is not a str, or `warnings` is not a list.
    """

@disjoint_base
class XmlParser:
    """Parses one XML document in parts.

    `wirecall.XmlParser` is the public class; it accepts schemas and documents the options.
    """

    def __new__(cls, schema: str | None, /, *, repair: bool, max_bytes: int, max_depth: int) -> Self: ...
    def feed(self, text: str, /) -> None:
        """Process the next part of the text, cut anywhere.

        Raises:
            XmlError: The text cannot be parsed; raised at the latest when the defect is complete.
            RuntimeError: The parser is finished, or in use by another thread.
        """

    def finish(self) -> Any:
        """End the document.

        Returns:
            The value, as `wirecall.parse_xml` returns it.

        Raises:
            XmlError: The text cannot be parsed.
            RuntimeError: The parser is finished, or in use by another thread.
        """

    def partial(self) -> Any:
        """The value so far, as if everything open were closed here.

        Each call processes the whole text so far.

        Returns:
            None before the first element.

        Raises:
            XmlError: The text cannot be parsed.
            RuntimeError: The parser is finished, or in use by another thread.
        """

    @property
    def warnings(self) -> list[XmlWarning]:
        """The first 100 repairs and schema violations, in order."""

def format_xml(value: object, schema: str | None, root: str | None, /) -> str:
    """Format a value as XML elements; `wirecall.format_xml` is the public function."""
