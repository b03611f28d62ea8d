"""The compiled part of wirecall: the reader and the writer of tool calls in text.

Import everything from `wirecall`, not from here. The rules are those of docs/wire-format.md; its sections are
named in brackets. All offsets count characters (code points) of the message, from 0, and ends are exclusive.
The model's mistakes are events; only the caller's raise.

The docstrings of the compiled module, which `help()` shows, are the same; a test compares them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, final

from typing_extensions import Self, disjoint_base

from wirecall._kinds import ErrorKind, ProblemKind, RepairKind
from wirecall.errors import JsonWarning, XmlWarning

__all__ = [
    "PROTOCOLS",
    "ArgumentsDelta",
    "CallEnd",
    "CallError",
    "CallStart",
    "Field",
    "Message",
    "Parser",
    "Plan",
    "Problem",
    "Text",
    "Toolset",
    "XmlParser",
    "format_xml",
    "loads",
]

_Event: TypeAlias = Text | CallStart | ArgumentsDelta | CallEnd | CallError

PROTOCOLS: tuple[str, ...]
"""The names of the protocols, without aliases."""

@disjoint_base
class Toolset:
    """Compiled tools, immutable: one may be used by any number of threads at once.

    `wirecall.Toolset` is the public class; it reads the many forms of definitions and documents the options.
    Sections are those of docs/wire-format.md.
    """

    def __new__(
        cls,
        tools: Iterable[tuple[str, str | None, str, bool]],
        /,
        *,
        protocol: object,
        recover: bool = False,
        syntax: str = "wire",
        fallback_to_json: str = "complex",
        strict: bool = False,
        validate: str = "report",
        code: str = "call",
        descriptions: str = "full",
        constraints: bool = True,
        delimiters: tuple[str, str] | None = None,
        reasoning: tuple[str, str] | None = ...,
        limits: Mapping[str, int] | None = None,
    ) -> Self:
        """Compile tools.

        Args:
            tools: Name, description, schema as JSON text, and whether this tool's calls are checked against
                the full schema whatever `validate` says.
            protocol: The name of a protocol, of `PROTOCOLS` or an alias; "auto" writes wire, and
                reads that of each message's first call. Any other object is a `wirecall.Protocol`.
            recover: Read calls in other formats, too, until one in the protocol's own; not if `strict`.
            syntax: "wire" or "json".
            fallback_to_json: "complex", "error" or "force".
            strict: Refuse near misses (section 5).
            validate: "report" or "error" (section 4).
            code: "call" or "text": how calls in Markdown code are read (section 1).
            descriptions: "full", "tools" or "none" (section 9).
            constraints: Show bounds, patterns, formats and examples in signatures (section 9).
            delimiters: OPEN and CLOSE (section 1); None for those of the protocol.
            reasoning: What opens and closes reasoning (section 1); None to turn it off.
            limits: `call_bytes`, `depth`, `calls`, `key_segments` (section 7), each a positive int; `depth`
                is at most 512.

        Raises:
            ToolError: A name that cannot be written, a schema that cannot work, an unknown protocol.
            ValueError: An option that is not one of its choices, or delimiters, a reasoning tag or a limit
                that cannot work.
            TypeError: A limit that is not an int.
        """

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names, in the order given."""

    @property
    def result_marks(self) -> tuple[str, ...]:
        """What tool results begin with: use these as stop sequences, since models invent results."""

    def parse(self, text: str, /, *, truncated: bool | None = None, in_reasoning: bool = False) -> Message:
        """Read a whole message: the same as feeding it to a parser.

        Args:
            text: The message. Lone surrogates are read as U+FFFD.
            truncated: False only if the message is known to be complete; then a last call without CLOSE may
                be repaired (`missing_close`, section 5).
            in_reasoning: The message begins inside reasoning that a template has opened.

        Returns:
            Texts, calls and errors. Mistakes of the model are among the errors; none is raised.
        """

    def parse_many(
        self,
        texts: Iterable[str],
        /,
        *,
        threads: int | None = None,
        truncated: bool | None = None,
        in_reasoning: bool = False,
    ) -> list[Message]:
        """Read many whole messages, in their order, without the GIL.

        Args:
            texts: The messages.
            threads: How many threads read, None for one for each processor. 256 at most are started.
            truncated: As in `parse`, for all of them.
            in_reasoning: As in `parse`, for all of them.

        Returns:
            One message for each text.

        Raises:
            TypeError: A text that is not a str, or one str instead of many.
            ValueError: `threads` is less than 1, or out of range.
        """

    def parser(self, *, ids: Callable[[], str] | None = None, in_reasoning: bool = False) -> Parser:
        """A parser for one stream.

        Args:
            ids: Called once for each call that starts, for its id. Without it an id is `call_` and 24 random
                letters and digits.
            in_reasoning: The message begins inside reasoning that a template has opened.

        Raises:
            TypeError: `ids` is not callable.
        """

    def encode(self, name: str, arguments: Mapping[str, Any] | str, /) -> str:
        """The canonical text of a call (section 8), which reads back, in both modes, as the same JSON.

        Args:
            name: A tool's name. An undeclared tool is not an error: its call is written without types (the
                command line refuses it).
            arguments: A mapping with str keys and JSON values (lists and tuples, mappings, subclasses of str
                and int as what they are), or the JSON text of an object, whose digits are kept. They may
                violate the schema; what does is read back as the schema has it (`1` for a string as `"1"`).

        Raises:
            TypeError: Neither a mapping nor JSON text; a key that is not a str; a value that is not JSON.
            ValueError: JSON text of something else; NaN, an infinity or a lone surrogate; over `depth` levels
                of nesting (or a cycle); a name that no call can have.
        """

    def encode_result(
        self, name: str | None, content: object, /, *, error: bool = False, number: int | None = None
    ) -> str:
        """The text of a tool's result, in which nothing can be parsed as a tag (section 10).

        Args:
            name: The tool's name; None, as in an error whose tool is not known, is "unknown".
            content: Text as it is, any other JSON value as compact JSON. Lone surrogates in text become
                U+FFFD. Of a `CallError`, its sentence, neutralised, and its example, verbatim.
            error: It says what went wrong: in wire a `<tool-error>` instead of a `<tool-result>`.
            number: Which call of the same tool in one turn this answers, from 1, where there is more than
                one.

        Raises:
            TypeError: A value that is not JSON.
            ValueError: NaN, an infinity; a lone surrogate inside JSON; over `depth` levels of nesting; a
                `number` that does not count from 1.
        """

    def neutralise(self, text: str, /) -> str:
        """User text in which nothing can be parsed as a tag of wirecall's (section 10).

        Whatever could open or end a result, and OPEN, gets a visible backslash; nothing else is changed.

        Args:
            text: Any text. Lone surrogates become U+FFFD.

        Returns:
            `text` itself if nothing has to be changed.
        """

    def manual(self, *, header: str | None = None) -> str:
        """What the model is told: a header, and one line for each tool (section 9).

        Args:
            header: Instead of the built-in one; "" leaves the tools' lines alone.
        """

    def examples(self) -> list[str]:
        """The example calls in the manual's built-in header: usually one, of a declared tool."""

    def signature(self, name: str, /) -> str:
        """One tool's line of the manual.

        Raises:
            ValueError: There is no such tool.
        """

    def plan(self, name: str, /) -> Plan:
        """How a tool's calls are written (section 8).

        Raises:
            ValueError: There is no such tool.
        """

    def segments(self, text: str, /) -> list[str]:
        """The exact substrings of a message that are calls: those that `parse` reports as `CallEnd`."""

@final
class Parser:
    """Reads one message from a stream; made by `Toolset.parser`.

    `feed` every chunk as it comes, then `finish` once; both return the events that have become certain. There
    is no I/O. Mistakes of the model are events; only the caller's mistakes raise.

    May be handed from thread to thread. Used by two at once, or by its own `ids` callable, it raises
    RuntimeError in the second and goes on in the first. Sections are those of docs/wire-format.md.
    """

    def feed(self, text: str, /) -> list[_Event]:
        """Read on, and return the events that are certain now (section 7).

        Cutting a message differently changes neither the joined texts and deltas nor the ends and errors.
        Halves of a surrogate pair in adjacent chunks are joined; lone ones become U+FFFD.

        Args:
            text: The next chunk, of any length; "" is one too.

        Returns:
            `Text`, `CallStart`, `ArgumentsDelta`, `CallEnd` and `CallError`, in the order of the message;
            often none. What is not certain yet is held back: one call and one chunk at most.

        Raises:
            RuntimeError: The parser is finished, or in use.
            TypeError: `ids` returned no str.
            ValueError: `ids` returned a str with a lone surrogate. After an exception from `ids` the parser
                is finished.
        """

    def finish(self, *, truncated: bool | None = None) -> list[_Event]:
        """End the message, and return its last events.

        Args:
            truncated: False only if the message is known to be complete: then a last call without CLOSE may
                be repaired. True or None: it is an `incomplete_call`.

        Returns:
            What was held back, and the end or error of a call that is open.

        Raises:
            RuntimeError: The parser is finished already, or in use.
        """

    def reset(self) -> None:
        """Forget everything, and be ready for the next message. `ids` and `in_reasoning` stay.

        Raises:
            RuntimeError: The parser is in use.
        """

@final
class Message:
    """A whole message, in order; made by `Toolset.parse`.

    A text becomes a str when it is first asked for; the message's own str lives as long as it.
    """

    @property
    def items(self) -> tuple[Text | CallEnd | CallError, ...]:
        """Texts, calls and errors, in the order of the message. No two texts follow each other."""

    @property
    def text(self) -> str:
        """The texts, joined."""

    @property
    def calls(self) -> tuple[CallEnd, ...]:
        """The complete calls."""

    @property
    def errors(self) -> tuple[CallError, ...]:
        """The calls that cannot be handed over, and forged results."""

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
        """Not empty. Where a chunk is nothing but text, this is the very str that was fed."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class CallStart:
    """A call has begun, and its tool is known. Exactly one end or error with this id follows."""

    __match_args__ = ("index", "id", "name")
    type: ClassVar[Literal["call_start"]]
    def __new__(cls, index: int, id: str, name: str) -> Self: ...
    @property
    def index(self) -> int:
        """Which of the started calls of the message, from 0."""

    @property
    def id(self) -> str:
        """`call_` and 24 random letters and digits, or what `ids` returned."""

    @property
    def name(self) -> str:
        """The tool, as declared."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class ArgumentsDelta:
    """The next part of a call's arguments. Joined, the deltas of a call are the `arguments` of its end."""

    __match_args__ = ("index", "delta")
    type: ClassVar[Literal["arguments_delta"]]
    def __new__(cls, index: int, delta: str) -> Self: ...
    @property
    def index(self) -> int:
        """Of the call's start."""

    @property
    def delta(self) -> str:
        """A part of the JSON text; not empty."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class CallEnd:
    """A complete call. Arguments that do not fit the tool's schema are handed over too; see `problems`.

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
        """Which of the started calls of the message, from 0."""

    @property
    def id(self) -> str:
        """That of the call's start."""

    @property
    def name(self) -> str:
        """The tool, as declared."""

    @property
    def arguments(self) -> str:
        """Compact JSON text of one object; numbers keep their digits. The deltas of the call, joined."""

    @property
    def args(self) -> dict[str, Any]:
        """The decoded arguments: a new dict at each access.

        Integers beyond what `int()` reads (4,300 digits by default) are `decimal.Decimal`.

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
        """The repairs that were made: names of section 5, or of docs/protocols.md where a protocol adds some.

        Each once, in the order of first use.
        """

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What does not fit the tool's schema (section 4)."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class CallError:
    """A call that cannot be handed over, or a forged result (section 6 of docs/wire-format.md).

    `Toolset.encode_result` writes it as an answer for the model.
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
    ) -> Self: ...
    @property
    def index(self) -> int | None:
        """Of the call's start, None where none was reported."""

    @property
    def id(self) -> str | None:
        """Of the call's start, None where none was reported."""

    @property
    def name(self) -> str | None:
        """The tool's name, None where it is not known."""

    @property
    def kind(self) -> ErrorKind:
        """A kind of section 6; in strict mode also the name of a repair."""

    @property
    def message(self) -> str:
        """Written for the model: the sentence, followed by the example."""

    @property
    def raw(self) -> str:
        """The source from `start` to `end`, cut only where it exceeds the limit of a call."""

    @property
    def start(self) -> int:
        """Offset of OPEN or of the forged tag, in characters of the message from 0."""

    @property
    def end(self) -> int:
        """Offset after the text that the error covers, in characters of the message."""

    @property
    def sentence(self) -> str:
        """What is wrong."""

    @property
    def example(self) -> str | None:
        """A correct call, as `encode` writes it: of this tool, or of the nearest one if it is unknown.

        None if no example would help, or none can be made.
        """

    @property
    def arguments(self) -> str | None:
        """The arguments as compact JSON text, if the call was read completely, up to its own closing tag.

        Only for `invalid_arguments`, and for `coerced` and `key_style` in strict mode.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Problem:
    """One thing in a call's arguments that does not fit the schema (section 4 of docs/wire-format.md)."""

    __match_args__ = ("kind", "field", "message")
    def __new__(cls, kind: ProblemKind, field: str, message: str) -> Self: ...
    @property
    def kind(self) -> ProblemKind:
        """`wrong_type`, `not_in_enum`, `missing_required`, `unknown_field` or `schema`."""

    @property
    def field(self) -> str:
        """As a key would be written: `profile.address.city`, `items[0].sku`; empty for the whole."""

    @property
    def message(self) -> str:
        """A sentence for the model."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Plan:
    """How the calls of one tool are written (section 8 of docs/wire-format.md); made by `Toolset.plan`."""

    __match_args__ = ("name", "encoding", "fields", "reason")
    @property
    def name(self) -> str:
        """The tool."""

    @property
    def encoding(self) -> str:
        """Either "pairs" or "json"."""

    @property
    def fields(self) -> list[Field]:
        """The keys of its calls."""

    @property
    def reason(self) -> str | None:
        """Why it is written as JSON, where that was not asked for."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Field:
    """One key of a tool's calls, as the encoder writes it."""

    __match_args__ = ("key", "type", "required")
    @property
    def key(self) -> str:
        """With its dots and quotes."""

    @property
    def type(self) -> str:
        """The type, as the manual says it."""

    @property
    def required(self) -> bool:
        """Whether every call must have it."""

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
    """Read a JSON text: the value is decoded, as `json.loads` would.

    docs/json.md says what relaxed JSON is, what a tolerant reading does, and what is certain of a cut text.

    Args:
        text: The text. Lone surrogates, escaped ones too, are read as U+FFFD.
        relaxed: Also take single quotes, bare keys and words, trailing commas, line breaks in strings,
            `True` `False` `None`, `//` and `/* */`. Otherwise JSON is what RFC 8259 says: no NaN.
        duplicates: What a key does that its object has already: "error" raises, "first" keeps the first
            value, "last" the last.
        warnings: A list makes reading tolerant: what is malformed is added to it, in the order of the text,
            as a `JsonWarning` (1000 at most, and a last one that there are more), and the value is the best
            that can be made of the text; None if there is none in it.
        partial: The text may stop anywhere: the value is what is certain of it so far. A key without a value
            and a word, number or escape that could go on are left out, what is open is closed; None if
            nothing is certain yet.

    Returns:
        A dict, list, str, int, float, bool or None. Integers are exact.

    Raises:
        JsonError: The text is malformed, and `warnings` is None; a number is beyond the range of a float, or
            has more digits than `sys.get_int_max_str_digits()` allows (in a tolerant reading it is its text).
            In any case if the value is nested more than 512 levels deep.
        ValueError: `duplicates` is not one of its choices.
        TypeError: The text is not a str, or `warnings` is not a list.
    """

@disjoint_base
class XmlParser:
    """Reads one XML document in parts.

    `wirecall.XmlParser` is the public class; it reads schemas and documents the options.
    """

    def __new__(cls, schema: str | None, /, *, repair: bool, max_bytes: int, max_depth: int) -> Self: ...
    def feed(self, text: str, /) -> None:
        """Read the next part of the text, however it is cut.

        Raises:
            XmlError: Text that cannot be read, at the latest when what is wrong is complete.
            RuntimeError: The parser is finished, or used by another thread right now.
        """

    def finish(self) -> Any:
        """End the text.

        Returns:
            The value, as `wirecall.parse_xml` returns it.

        Raises:
            XmlError: Text that cannot be read.
            RuntimeError: The parser is finished, or used by another thread right now.
        """

    def partial(self) -> Any:
        """The value as far as it is known: as if all that is open were closed here.

        What was read so far is looked at as a whole, so this costs as much as what was read.

        Returns:
            None before the first element.

        Raises:
            XmlError: Text that cannot be read.
            RuntimeError: The parser is finished, or used by another thread right now.
        """

    @property
    def warnings(self) -> list[XmlWarning]:
        """What was wrong and was repaired, or does not fit the schema: the first 100, in their order."""

def format_xml(value: object, schema: str | None, root: str | None, /) -> str:
    """Write a value as elements; `wirecall.format_xml` is the public function."""
