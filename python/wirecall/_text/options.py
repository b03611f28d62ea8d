"""Options for rewriting requests and reading responses."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Literal, get_type_hints

from wirecall._text.notices import Notice, tell
from wirecall._text.record import Record
from wirecall._text.recorder import Recorder
from wirecall._tools.definitions import Definition
from wirecall._tools.formats.description import Format
from wirecall._tools.grammar import GrammarKind, check_longest
from wirecall._tools.option_types import check
from wirecall._tools.protocol import Protocol
from wirecall._tools.toolset import ReasoningOption, Toolset, ToolsetOptions
from wirecall.errors import ToolError

log = logging.getLogger("wirecall")

GrammarServer = Literal["llama.cpp", "vllm"]

# The kind of grammar that each server takes.
_GRAMMAR_KINDS: dict[GrammarServer, GrammarKind] = {"llama.cpp": "gbnf", "vllm": "structural_tag"}
# Compiled to find out whether a protocol has a grammar.
_ANY_TOOL = {"name": "tool", "parameters": {"type": "object", "properties": {}}}


class WrapOptions(ToolsetOptions, total=False):
    """The options of `wrap`, `compact_tools` and the integrations, for hosts that keep them in a dict:
    `wrap(client, **options)`. They are explained in `Options` and in docs/middleware.md."""

    in_reasoning: bool | None
    placement: Literal["last", "first"]
    system_role: Literal["system", "user"]
    merge_user_turns: bool
    template: Callable[[list[Definition]], str] | None
    manual_header: str | None
    no_manual: bool
    cache_manual: bool
    native_tools: Literal["send", "drop"]
    media: Literal["model", "placeholder", "auto"]
    on_error: Literal["retry", "text", "raise", "native"]
    max_retries: int
    on_missing_call: Literal["retry", "raise", "pass"]
    strip_preamble: bool
    complete_calls_only: bool
    stop_sequence: Literal["auto", "always", "never"]
    grammar: GrammarServer | None
    grammar_longest: int | None
    stream_arguments: bool
    keep_alive: float | None
    emit_raw_on_error: bool
    native_when: Callable[[Mapping[str, Any]], bool] | None
    on_event: Callable[[Notice], object] | None
    on_record: Callable[[Record], object] | None
    record_content: bool
    debug: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of one request, checked, with their defaults. Names and types are those of `WrapOptions`.

    Attributes:
        protocol, model, recover, syntax, fallback_to_json, strict, validate, code, descriptions, constraints,
            delimiters, limits: As in `Toolset`.
        unknown_tools: As in `Toolset`, without "text": answers to requests without tools are not read.
        invalid_tools: As in `Toolset`. What is wrong with accepted definitions is logged at WARNING.
        reasoning: As in `Toolset`, but "content" is the default, and the mode of tags that are given without
            one. "separate": reasoning in the text of answers is handed over as the API's own form of it, and
            written back as text when it returns in a history. Formats that divide messages into parts, such
            as "harmony", have no tags that could stay in the text, so "content" is "separate" there.
        in_reasoning: Whether answers begin inside reasoning, because the prompt ends there; None for the
            protocol's default. Only the first text of an answer does, and none after reasoning that the
            server itself separates.
        placement: Whether the manual is "last" or "first" in the system text.
        system_role: "user" for models without a system role: system texts, and the manual in them, go into
            the first user message.
        merge_user_turns: Merge consecutive messages of one role, such as results and the user's next
            message, for chat templates in which turns must alternate.
        template: Returns the manual; gets the definitions of the request's tools, in order.
        manual_header: Replaces the built-in header.
        no_manual: Send the tools' signatures only.
        cache_manual: Put a cache breakpoint after the manual (Anthropic).
        native_tools: What happens to tools that are not functions, such as web search, which a provider runs
            itself: they are sent as they are ("send"), or dropped ("drop") for servers that refuse them.
        media: What happens to images and files in results: "model" puts those that a user message can hold
            beside the result, "placeholder" says in the text what was left out, and "auto" is "model" for
            kinds that a user message of the request also contains, which shows that the model accepts them.
        on_error: A bad call is retried ("retry"), shown as the text of its result ("text"), raised as
            `ToolCallError` ("raise"), or handed over as a native call ("native"): a complete call of an
            unknown tool with its arguments as JSON, others with their raw text. After the last retry, a call
            whose arguments were read completely is handed over natively; for other bad calls the end user
            reads one plain sentence.
        max_retries: The maximum number of retries.
        on_missing_call: What happens to a response without the call that `tool_choice` requires.
        strip_preamble: Drop the text around calls, if there was a call.
        complete_calls_only: Hand over a call only if its own closing tag was read, not if the end of the
            response closed it: an invisible stop sequence that the server adds may have cut it off.
        stop_sequence: Whether the beginning of a result is sent as a stop sequence, since models invent
            results. "auto": not to models that are known to refuse one; and if a server responds with 400 or
            422 because of it, the request is sent again without it, and the process remembers the refusal
            for this base URL and model. With `grammar`, "auto" sends none: the grammar has no results, and
            the stop sequence would cut off a call whose arguments contain it.
        grammar: The server that samples under a grammar of the calls, which is sent with each request that
            has tools: "llama.cpp" (`grammar`, GBNF) or "vllm" (`structured_outputs`, a structural tag).
        grammar_longest: `longest` of `Toolset.grammar`: about how many characters a string, digits a number
            and items an array have at most if the schema has no bound; a tenth of the items if they are
            strings, arrays or objects. A small model may otherwise repeat itself until it is cut off. For
            vLLM, strings are not bounded.
        stream_arguments: Send the fragments of arguments as the model writes them, instead of whole calls.
        keep_alive: How many seconds a streamed answer over HTTP may be silent while a call is held back. Then
            a comment is sent with the provider's next chunk, so that no idle timeout ends the connection.
            0 sends one with each chunk, None never sends one.
        emit_raw_on_error: Show a bad call as the model wrote it, instead of an error message.
        native_when: Gets the request; if it returns true, the request is passed on unchanged.
        on_event: Gets every `Notice`.
        on_record: Gets the `Record` of each exchange when it is over. Exceptions it raises are only logged.
        record_content: Records include the content of requests and responses, not only lengths and hashes.
        debug: Log one line for each exchange at DEBUG: the text of its record, without content.
    """

    protocol: str | Format | Protocol | None = None
    model: str | None = None
    recover: bool | Sequence[str] = False
    syntax: Literal["wire", "json"] = "wire"
    fallback_to_json: Literal["complex", "error", "force"] = "complex"
    strict: bool = False
    unknown_tools: Literal["auto", "error", "forward", "text"] = "auto"
    invalid_tools: Literal["error", "untyped"] = "error"
    validate: Literal["report", "error"] = "report"
    code: Literal["call", "text"] = "call"
    descriptions: Literal["full", "tools", "none"] = "full"
    constraints: bool = True
    delimiters: tuple[str, str] | None = None
    reasoning: ReasoningOption = "content"
    limits: Mapping[str, int] | None = None
    in_reasoning: bool | None = None
    placement: Literal["last", "first"] = "last"
    system_role: Literal["system", "user"] = "system"
    merge_user_turns: bool = False
    template: Callable[[list[Definition]], str] | None = None
    manual_header: str | None = None
    no_manual: bool = False
    cache_manual: bool = False
    native_tools: Literal["send", "drop"] = "send"
    media: Literal["model", "placeholder", "auto"] = "model"
    on_error: Literal["retry", "text", "raise", "native"] = "retry"
    max_retries: int = 1
    on_missing_call: Literal["retry", "raise", "pass"] = "retry"
    strip_preamble: bool = False
    complete_calls_only: bool = False
    stop_sequence: Literal["auto", "always", "never"] = "auto"
    grammar: GrammarServer | None = None
    grammar_longest: int | None = None
    stream_arguments: bool = False
    keep_alive: float | None = 10.0
    emit_raw_on_error: bool = False
    native_when: Callable[[Mapping[str, Any]], bool] | None = None
    on_event: Callable[[Notice], object] | None = None
    on_record: Callable[[Record], object] | None = None
    record_content: bool = False
    debug: bool = False

    def __post_init__(self) -> None:
        check({name: getattr(self, name) for name in _declared()}, _declared())
        if self.max_retries < 0:
            raise ValueError(f"max_retries is {self.max_retries}; it must be at least 0")
        if self.keep_alive is not None and not self.keep_alive >= 0:
            raise ValueError(f"keep_alive is {self.keep_alive}; it must be at least 0, or None")
        if self.unknown_tools == "text":
            raise ValueError(
                'unknown_tools="text" is for a Toolset without tools; '
                "answers to requests without tools are passed on unchanged"
            )
        # The toolset checks its own options: now, not at the first request.
        self.toolset([])
        check_longest("grammar_longest", self.grammar_longest)
        if self.grammar is None and self.grammar_longest is not None:
            raise ValueError('grammar_longest needs grammar="llama.cpp" or grammar="vllm"')
        if self.grammar is not None:
            # Whether the protocol has a grammar is checked now, too.
            self.grammar_text(self.toolset([_ANY_TOOL]), "auto", parallel=True)

    @property
    def adapts(self) -> bool:
        """Whether requests are adapted to chat templates that accept fewer roles."""
        return self.merge_user_turns or self.system_role == "user"

    @property
    def calls_host(self) -> bool:
        """Whether functions of the host are called while a request is rewritten."""
        told = (self.native_when, self.template, self.on_event, self.on_record)
        return any(function is not None for function in told)

    def tell(self, notice: Notice, recorder: Recorder | None) -> None:
        """Gives a notice to `on_event`, and to who observes the exchange."""
        if recorder is not None:
            recorder.add_notice(notice)
        if self.on_event is not None:
            tell(self.on_event, notice, name="on_event")

    def with_overrides(self, given: Mapping[str, Any]) -> "Options":
        """A copy with some options changed for one request; raises as `check` does."""
        # `replace` would raise for unknown names before types are checked.
        check(given, _declared())
        if given.get("grammar", self.grammar) is None:
            # A request without a grammar has no bound for one.
            given = {"grammar_longest": None, **given}
        return replace(self, **given)

    def _toolset_options(self) -> dict[str, Any]:
        chosen = {name: getattr(self, name) for name in ToolsetOptions.__annotations__}
        if isinstance(self.reasoning, tuple) and len(self.reasoning) == 2:
            chosen["reasoning"] = *self.reasoning, "content"
        elif self.reasoning == "content" and _divides_messages(self.protocol, self.model):
            # Without tags, reasoning and answer would be one text.
            chosen["reasoning"] = "separate"
        return chosen

    def toolset(self, tools: Iterable[Mapping[str, Any]]) -> Toolset:
        """The tools, compiled; the same object if they were compiled with these options before."""
        chosen = self._toolset_options()
        protocol = chosen.pop("protocol")
        listed = list(tools)
        try:
            key = json.dumps([listed, chosen], ensure_ascii=False, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError):
            # Functions and models are compiled each time; other values are refused by name.
            return _logged(Toolset(listed, protocol=protocol, **chosen))
        return _compiled(key, protocol)

    def grammar_text(
        self, toolset: Toolset, tool_choice: Literal["auto", "required"], *, parallel: bool
    ) -> str:
        """The grammar of the calls of a toolset, for the server that `grammar` names.

        Raises:
            ToolError: The protocol has no grammar, or a schema is too large for one.
        """
        if self.grammar is None:
            raise ValueError("the option grammar is not set")
        kind = _GRAMMAR_KINDS[self.grammar]
        return _grammar_text(toolset, kind, tool_choice, parallel, self.grammar_longest)


@cache
def _declared() -> Mapping[str, Any]:
    return get_type_hints(WrapOptions)


@lru_cache(maxsize=128)
def _divides_messages(protocol: str | Format | Protocol | None, model: str | None) -> bool:
    """Whether the format divides messages into parts: then the toolset refuses to turn reasoning off."""
    try:
        Toolset(protocol=protocol, model=model, reasoning=None)
    except ToolError:
        return True
    return False


# A host has few sets of tools; those that are no longer used are evicted.
@lru_cache(maxsize=128)
def _compiled(key: str, protocol: str | Format | Protocol | None) -> Toolset:
    tools, chosen = json.loads(key)
    for name in ("delimiters", "reasoning"):
        if isinstance(chosen[name], list):
            chosen[name] = tuple(chosen[name])
    return _logged(Toolset(tools, protocol=protocol, **chosen))


def _logged(toolset: Toolset) -> Toolset:
    for invalid in toolset.invalid_tools:
        log.warning("a definition cannot work as it is: %s", invalid)
    return toolset


# One for each toolset and `tool_choice` in use; an entry keeps its toolset.
@lru_cache(maxsize=64)
def _grammar_text(
    toolset: Toolset,
    kind: GrammarKind,
    tool_choice: Literal["auto", "required"],
    parallel: bool,
    longest: int | None,
) -> str:
    return toolset.grammar(kind, tool_choice=tool_choice, parallel=parallel, longest=longest).text
