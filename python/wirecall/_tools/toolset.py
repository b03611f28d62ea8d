"""A toolset: tools, compiled once for one protocol."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from wirecall import _core
from wirecall._tools.compiled import CompiledTool, InvalidTool, read_tools
from wirecall._tools.definitions import ApiName, Definition, native_tool, tool_list
from wirecall._tools.formats.description import Format
from wirecall._tools.grammar import Grammar, GrammarKind, Unconstrained, check_longest
from wirecall._tools.models import protocol_for
from wirecall._tools.option_types import check, checked
from wirecall._tools.protocol import Protocol
from wirecall._tools.running import Runner, ToolResult, read_call
from wirecall.errors import ToolError

if TYPE_CHECKING:
    from typing import Self


ReasoningOption = (
    Literal["auto", "content", "separate"]
    | tuple[str, str]
    | tuple[str, str, Literal["content", "separate"]]
    | None
)


class ToolsetOptions(TypedDict, total=False):
    """The options of `Toolset`, for hosts that keep them in a dict."""

    protocol: str | Format | Protocol | None
    model: str | None
    recover: bool | Sequence[str]
    syntax: Literal["wire", "json"]
    fallback_to_json: Literal["complex", "error", "force"]
    strict: bool
    unknown_tools: Literal["auto", "error", "forward", "text"]
    invalid_tools: Literal["error", "untyped"]
    validate: Literal["report", "error"]
    code: Literal["call", "text"]
    descriptions: Literal["full", "tools", "none"]
    constraints: bool
    delimiters: tuple[str, str] | None
    reasoning: ReasoningOption
    limits: Mapping[str, int] | None


class Toolset(_core.Toolset):
    """Tools, compiled once: reads and writes their calls and results, and writes their manual.

    Immutable, so any number of threads may use it at once. It can be pickled: functions and classes by
    reference, other tools as JSON Schema. Section numbers refer to docs/wire-format.md.

    Args:
        tools: Any mix of functions, pydantic models and the tool dicts of OpenAI, Anthropic and MCP;
            `wirecall.definitions` lists the forms. Without tools the set is open: any name is a tool, with
            untyped arguments ("xml" and "yaml" recognise calls only by tool names, so they read none), unless
            `unknown_tools` says otherwise.
        protocol: How calls are written in text (docs/protocols.md): "wire", `<call>name key=value</call>`;
            another protocol that the manual teaches: "hermes" (also "json"), "gemma", "qwen3coder", "xml"
            ("morph-xml") or "yaml" ("yaml-xml"); or the native format of a model family: a name in
            `wirecall.FAMILIES` (docs/families.md has the aliases). "auto" writes wire, and reads the protocol
            of each message's first call. A `Format` is a format that you describe (docs/formats.md); a
            `Protocol` reads its calls itself. None is "wire", or the format of `model`.
        model: The name of the model whose native format is the protocol, instead of `protocol`:
            `Qwen/Qwen3-Coder-30B-A3B-Instruct`, a GGUF file, a local path; see `format_for`.
        recover: Also read calls in other formats until a call in the toolset's own format; each is the repair
            `other_format`. True: in the protocols that the manual teaches, and bare JSON objects with a tool
            name and arguments. A list of names: in these formats, which may be native, but must begin calls
            in different ways. Ignored if `strict`. Formats that divide messages into parts, such as
            "harmony", cannot be combined with others.
        syntax: How calls are written: "wire" as the protocol says, or "json" for an object body in every
            call, which formats refuse that are only native and do not write JSON.
        fallback_to_json: What happens to a tool that pairs, elements or parameters cannot express: "complex"
            writes its calls as object bodies, "error" raises, "force" never writes object bodies.
        strict: Refuse near misses instead of repairing them.
        unknown_tools: What calls of tools are that the toolset does not have: "error", a `CallError`
            (`unknown_tool`); "forward", calls with untyped arguments, if the name could be a tool's: letters,
            digits and `_-.:/`, a letter or `_` first. "text", only without tools: nothing is a call, and the
            text is unchanged; reasoning is still separate. "auto" is "error" with tools and "forward"
            without.
        invalid_tools: What happens to a tool whose definition cannot work. "error": a `ToolError`. "untyped":
            the tool is accepted, and `Toolset.invalid_tools` says what is wrong. If its schema cannot be
            compiled, its arguments are untyped. Of tools with one name the first counts. Calls with a name
            that the protocol cannot write are not written. Definitions without a name, and functions whose
            parameters have no schema, are errors.
        validate: "report" lists arguments that do not fit the schema in `problems`; "error" checks the whole
            schema, and a call that does not fit is an error.
        code: How calls and results in Markdown code (fences and inline code) are read: "call" reads them like
            any other, since some models write calls in fences; "text" treats them as text, so that examples
            of calls do not run. With "text", an unclosed fence makes the rest of the message text.
        descriptions: Which descriptions are in the manual: "full", "tools" (not of fields), "none".
        constraints: Show short bounds, patterns, formats and examples of fields in the manual. Manuals of
            JSON Schema ("hermes", "gemma") always have them.
        delimiters: The tags that open and close a call: OPEN and CLOSE (section 1); None for those of the
            protocol, `<call>` and `</call>` for "wire". "xml", "yaml", "qwen3coder" and a `Protocol` have no
            such option.
        reasoning: What becomes of reasoning at the start of a message. "separate": it is `Reasoning`, without
            its tags and the line breaks around them. "content": it is text, with its tags. "auto" is
            "separate" for native formats and "content" for others. Other tags than those of the native
            format, or `<think>` and `</think>`, are `(open, close)`, or with the mode
            `(open, close, "separate")`. None: nothing is reasoning. Formats that divide messages into parts,
            such as "harmony", refuse tags and None.
        limits: Limits that differ from the defaults, by name; each is a positive int.
            "call_bytes": bytes of UTF-8 in one call, its delimiters included; 16777216 (16 MiB).
            "depth": levels of nesting, of which the arguments are the first; 128.
            "calls": calls in one message; 4096.
            "key_segments": segments in one key (`a.b[0]` has three); 16.

    Raises:
        ToolError: A definition, a schema or a name cannot work; it names the tool and the place in its
            schema. Also if a protocol does not exist, if no format is known for the model, if both are given,
            if `recover` names protocols that begin calls in the same way, if the protocol cannot have
            `recover`, `syntax`, `delimiters` or `reasoning` as given, or if there are tools and
            `unknown_tools` is "text".
        ValueError: An option that is not one of its choices, or delimiters, a reasoning tag or a limit that
            cannot work.
        TypeError: An option that does not exist, or whose value has another type.
        ImportError: A function or class, and the extra `pydantic` is not installed.
    """

    @checked
    def __new__(
        cls,
        tools: Iterable[object] = (),
        *,
        protocol: str | Format | Protocol | None = None,
        model: str | None = None,
        recover: bool | Sequence[str] = False,
        syntax: Literal["wire", "json"] = "wire",
        fallback_to_json: Literal["complex", "error", "force"] = "complex",
        strict: bool = False,
        unknown_tools: Literal["auto", "error", "forward", "text"] = "auto",
        invalid_tools: Literal["error", "untyped"] = "error",
        validate: Literal["report", "error"] = "report",
        code: Literal["call", "text"] = "call",
        descriptions: Literal["full", "tools", "none"] = "full",
        constraints: bool = True,
        delimiters: tuple[str, str] | None = None,
        reasoning: ReasoningOption = "auto",
        limits: Mapping[str, int] | None = None,
    ) -> "Self":
        if isinstance(recover, (str, bytes)):
            raise TypeError(f"recover must be a bool or a list of names, not {type(recover).__name__}")
        if model is not None:
            if protocol is not None:
                raise ToolError(f"model={model!r} selects the protocol; protocol={protocol!r} is given, too")
            protocol = protocol_for(model)
        elif protocol is None:
            protocol = "wire"
        if not isinstance(recover, bool):
            for name in recover:
                if not isinstance(name, str):
                    raise TypeError(f"recover must list names of protocols, not {type(name).__name__}")
        compiled, invalid = read_tools(tool_list(tools), accept_invalid=invalid_tools == "untyped")
        options: dict[str, Any] = {
            "protocol": protocol,
            "recover": recover if isinstance(recover, bool) else list(dict.fromkeys(recover)),
            "syntax": syntax,
            "fallback_to_json": fallback_to_json,
            "strict": strict,
            "unknown_tools": unknown_tools,
            "invalid_tools": invalid_tools,
            "validate": validate,
            "code": code,
            "descriptions": descriptions,
            "constraints": constraints,
            "delimiters": delimiters,
            "reasoning": reasoning,
            "limits": None if limits is None else dict(limits),
        }
        made = super().__new__(
            cls,
            [(tool.name, tool.description, schema, bool(tool.strict)) for _, tool, schema in compiled],
            **options,
        )
        made._compiled, made._options = compiled, options
        made._runners = {}
        made._protocol = protocol if isinstance(protocol, str) else protocol.name
        if isinstance(protocol, Protocol) and protocol._defines("format_tools"):
            made._custom_manual = protocol, [one.read for one in compiled]
        if invalid_tools == "untyped":
            # Of tools with one name, the core has seen the first.
            invalid = [*(InvalidTool(*fault) for fault in made._invalid_tools), *invalid]
            places = {name: place for place, name in enumerate(made.names)}
            made._invalid = tuple(sorted(invalid, key=lambda one: places[one.tool]))
        return made

    # In the order of `names`.
    _compiled: tuple[CompiledTool, ...]
    _options: dict[str, Any]
    # Made at the first call of a tool. Threads that make the same one at once store equal ones.
    _runners: dict[str, Runner]
    _protocol: str
    _custom_manual: tuple[Protocol, list[Definition]] | None = None
    _invalid: tuple[InvalidTool, ...] = ()

    @property
    def protocol(self) -> str:
        """The name of the protocol, as it was given or as `model` selects it."""
        return self._protocol

    @property
    def invalid_tools(self) -> tuple[InvalidTool, ...]:
        """The definitions that `invalid_tools="untyped"` has accepted, and what is wrong with them; in the
        order of `names`."""
        return self._invalid

    def manual(self, *, header: str | None = None) -> str:
        """The manual for the model: a header, and one line for each tool (section 9).

        Args:
            header: Replaces the built-in one; "" for none.

        Raises:
            TypeError: `format_tools` of a `Protocol` did not return a str.
        """
        if self._custom_manual is None:
            return super().manual(header=header)
        protocol, tools = self._custom_manual
        text = protocol.format_tools(tools, protocol.header if header is None else header)
        if not isinstance(text, str):
            raise TypeError(f"format_tools must return a str, not {type(text).__name__}")
        return text

    def for_api(self, api: ApiName) -> list[Any]:
        """The tools as `tools=` of a request, for a client that `wrap` returns, or for native tool calling.

        Args:
            api: "chat" for OpenAI's chat completions, "responses" for OpenAI's Responses, "messages" for
                Anthropic's messages.

        Returns:
            New dicts, in the order of `names`.

        Raises:
            ValueError: `api` is not one of these.
        """
        check({"api": api}, {"api": ApiName})
        return [native_tool(definition, api) for definition in self._definitions()]

    def run(self, call: object) -> ToolResult:
        """Run the function of a call's tool, and return its result as text for the model.

        The arguments are validated and converted to the types of the function's parameters, so it gets
        pydantic models, dataclasses, enums and dates. A str is returned as it is, another result as compact
        JSON (None as `null`). Everything that goes wrong in the call is a sentence for the model, with
        `ToolResult.error` set: the problems of a `CallEnd`, whose function is then not called; arguments that
        do not fit; a tool that does not exist; the type and message of an exception of the function.

        Args:
            call: A `CallEnd`; a `CallError`, whose result is its message; or a native tool call with a name
                and arguments, an object of an SDK or a dict: OpenAI's `message.tool_calls[0]` or
                `function_call` item, Anthropic's `tool_use` block.

        Raises:
            ToolError: The tool is not a function (but a dict, or a class), or is async: use `arun`. Also if
                the toolset has no tools.
            TypeError: `call` is not a call.
        """
        read = read_call(call, self.names)
        return read if isinstance(read, ToolResult) else self._runner(read[0]).run(read[1])

    async def arun(self, call: object) -> ToolResult:
        """Run the function of a call's tool in asyncio: an async function in the running loop, another one in
        a thread, so that it does not block the loop. Otherwise as `run`.

        Raises:
            ToolError: The tool is not a function, or the toolset has no tools.
            TypeError: `call` is not a call.
        """
        read = read_call(call, self.names)
        return read if isinstance(read, ToolResult) else await self._runner(read[0]).arun(read[1])

    def _runner(self, name: str) -> Runner:
        if name not in self._runners:
            self._runners[name] = Runner(name, self._compiled[self.names.index(name)].tool)
        return self._runners[name]

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
        """The text of a tool's result. Nothing in it can be parsed as a tag (section 10).

        Args:
            name: The tool's name; None if it is unknown, which is written as "unknown".
            content: What `run` returned; a str as it is; a `CallError`, for its sentence and its example; or
                another JSON value, written as compact JSON. Lone surrogates in a str become U+FFFD.
            error: Whether the content describes an error: in wire a `<tool-error>` instead of a
                `<tool-result>`. Native formats do not show it. A `ToolResult` says so itself.
            number: Which of several calls of the same tool in one turn this is the result of, from 1. Native
                formats do not show it.
            id: The id of the call, for native formats that write it.
            index: The position of the call in its message, from 0, for native formats that number results.
            calls_before: The number of calls in the conversation before this call, those of its own message
                included, for native formats that number results.

        Raises:
            TypeError: The value is not JSON.
            ValueError: NaN, an infinity; a lone surrogate inside JSON; more than `depth` levels of nesting; a
                `number` less than 1.
        """
        if isinstance(content, ToolResult):
            error = error or content.error
            content = content if content._rejected is None else content._rejected
        return super().encode_result(
            name,
            content,
            error=error,
            number=number,
            id=id,
            index=index,
            calls_before=calls_before,
        )

    @checked
    def grammar(
        self,
        kind: GrammarKind,
        *,
        tool_choice: str = "auto",
        parallel: bool = True,
        longest: int | None = None,
    ) -> Grammar:
        """The grammar of messages with calls of these tools, for constrained decoding (docs/grammars.md).

        A call is what `encode` writes for valid arguments: declared members only, in the order of the schema.
        Whatever the grammar accepts is read without an error by a strict toolset with validate="error",
        except where `Grammar.unconstrained` says so, and for text in EBNF and structural tags that contains
        a marker in unusual letter cases, such as `<tool_CALL>`.

        Args:
            kind: "gbnf" for llama.cpp, "ebnf" for xgrammar, "structural_tag" for xgrammar, vLLM and SGLang,
                or "lark" for llguidance.
            tool_choice: "auto" for text and calls, "required" for calls only, "none" for text only, or the
                name of a tool for calls of this tool only.
            parallel: A message may contain several calls, if the format allows that.
            longest: About how many characters a string, digits a number and items an array have at most if
                the schema has no bound, from 1 to 1,000; a tenth of the items if they are strings, arrays or
                objects. A small model may otherwise repeat itself until it is cut off. How deep values are
                nested is not bounded, nor are strings in EBNF and structural tags.

        Raises:
            ToolError: The protocol has no grammar, or none of a tool's calls; there are no tools, no
                arguments fit their schemas, `tool_choice` names none of them, or the grammar is too large.
            ValueError: `kind` is not one of these, or `longest` is out of range.
            TypeError: An argument has another type.
        """
        check_longest("longest", longest)
        text, found = self._grammar(kind, tool_choice=tool_choice, parallel=parallel, longest=longest)
        return Grammar(kind, text, tuple(Unconstrained(*one) for one in found))

    def __reduce__(self) -> tuple[Any, ...]:
        return self._restored, self._arguments, self._state

    @classmethod
    def _restored(
        cls, tools: list[object], options: dict[str, Any], invalid: tuple[InvalidTool, ...]
    ) -> "Self":
        # A subclass may have another constructor.
        made = Toolset.__new__(cls, tools, **options)
        # Of definitions that were not read, only the name is restored.
        made._invalid = invalid
        return made

    def __copy__(self) -> "Self":
        made = self._remade()
        if made is not self:
            vars(made).update(self._state or {})
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> "Self":
        made = self._remade()
        if made is not self:
            # The state may contain the toolset.
            memo[id(self)] = made
            vars(made).update(copy.deepcopy(self._state or {}, memo))
        return made

    def _remade(self) -> "Self":
        """An equal toolset without the state; without a state the toolset itself, which is immutable."""
        return self if self._state is None else self._restored(*self._arguments)

    @property
    def _arguments(self) -> tuple[list[object], dict[str, Any], tuple[InvalidTool, ...]]:
        """What `_restored` makes the toolset from."""
        return [one.unchanged() for one in self._compiled], self._options, self._invalid

    def _definitions(self) -> list[Definition]:
        """The definitions that were compiled, in the order of `names`."""
        return [one.definition() for one in self._compiled]

    @property
    def _state(self) -> dict[str, Any] | None:
        """The attributes that a subclass or an application has added."""
        own = Toolset.__annotations__
        return {name: value for name, value in vars(self).items() if name not in own} or None
