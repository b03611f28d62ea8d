"""What a host may choose about rewriting requests and reading answers."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from wirecall.definitions import Definition
from wirecall.protocol import Protocol
from wirecall.toolset import Toolset


class Notice(NamedTuple):
    """Something that happened while a request was rewritten or an answer read, for `on_event`.

    Attributes:
        kind: "repair", "problem", "error", "retry", "missing_call" or "saved".
        tool: The tool it is about, None where there is none.
        detail: A sentence; for "error" behind the error's kind and a colon. For "repair" its stable name; for
            "saved" the number of tokens (o200k_base) that the definitions cost less, where tiktoken and its
            vocabulary are there.
    """

    kind: str
    tool: str | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of `wrap`, `compact_tools` and the codec.

    Attributes:
        protocol, recover, syntax, fallback_to_json, strict, validate, code, descriptions, constraints, delimiters,
            reasoning, limits: As in `Toolset`.
        placement: Whether the manual stands "last" or "first" in the system text.
        system_role: "user" for models without a system role: system texts, and the manual in them, go into
            the first user message.
        merge_user_turns: Merge messages of one role that follow each other, such as results and what the
            user says next, for chat templates that want turns to alternate.
        template: Writes the manual: gets the definitions of the request's tools, in their order.
        manual_header: Instead of the built-in header.
        no_manual: Send the tools' signatures only.
        cache_manual: Put a cache breakpoint after the manual (Anthropic).
        media: What becomes of images and files in results: "model" puts what a user's message can carry
            beside the result, "placeholder" says in the text what was left out, and "auto" is "model" for
            kinds that a user's message of the request carries too, which shows that the model takes them.
        on_error: A bad call is asked for again ("retry"), shown as the text of its result ("text"), raised as
            `CallFailed` ("raise"), or handed over as a native call with its raw text as arguments
            ("native"). After the last retry, a call whose arguments were read completely is handed over
            natively; for other bad calls the end user reads one plain sentence.
        max_retries: How often an answer is asked for again, at most.
        on_missing_call: What becomes of an answer without the call that `tool_choice` asks for.
        strip_preamble: Drop the text around calls, if there was a call.
        complete_calls_only: Hand over a call only if its own closing tag was read, not if the end of the
            answer closed it: a stop sequence that the server adds, which is invisible, may have cut it off.
        stream_arguments: Send the fragments of arguments as the model writes them, instead of whole calls.
        emit_raw_on_error: Show a bad call as the model wrote it, instead of what was wrong with it.
        native_when: Lets a request through untouched where it returns true; gets the request.
        on_event: Gets every `Notice`.
        debug: Log the rewritten request and the raw answer, redacted, at DEBUG.
    """

    protocol: str | Protocol = "wire"
    recover: bool = False
    syntax: Literal["wire", "json"] = "wire"
    fallback_to_json: Literal["complex", "error", "force"] = "complex"
    strict: bool = False
    validate: Literal["report", "error"] = "report"
    code: Literal["call", "text"] = "call"
    descriptions: Literal["full", "tools", "none"] = "full"
    constraints: bool = True
    delimiters: tuple[str, str] | None = None
    reasoning: tuple[str, str] | None = ("<think>", "</think>")
    limits: Mapping[str, int] | None = None
    placement: Literal["last", "first"] = "last"
    system_role: Literal["system", "user"] = "system"
    merge_user_turns: bool = False
    template: Callable[[list[Definition]], str] | None = None
    manual_header: str | None = None
    no_manual: bool = False
    cache_manual: bool = False
    media: Literal["model", "placeholder", "auto"] = "model"
    on_error: Literal["retry", "text", "raise", "native"] = "retry"
    max_retries: int = 1
    on_missing_call: Literal["retry", "raise", "pass"] = "retry"
    strip_preamble: bool = False
    complete_calls_only: bool = False
    stream_arguments: bool = False
    emit_raw_on_error: bool = False
    native_when: Callable[[Mapping[str, Any]], bool] | None = None
    on_event: Callable[[Notice], object] | None = None
    debug: bool = False

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            given = getattr(self, name)
            if given not in choices:
                listed = ", ".join(map(repr, choices))
                raise ValueError(f"{name} is {given!r}; it must be one of {listed}")
        for name in ("template", "native_when", "on_event"):
            given = getattr(self, name)
            if given is not None and not callable(given):
                raise TypeError(f"{name} must be callable, not {type(given).__name__}")
        if not isinstance(self.max_retries, int):
            raise TypeError(f"max_retries must be an int, not {type(self.max_retries).__name__}")
        if self.max_retries < 0:
            raise ValueError(f"max_retries is {self.max_retries}; it must be at least 0")
        # The toolset judges its own, now and not at the first request.
        Toolset(**{name: getattr(self, name) for name in _TOOLSET})

    @property
    def adapts(self) -> bool:
        """Whether requests are adapted to a chat template that takes fewer roles."""
        return self.merge_user_turns or self.system_role == "user"

    def with_overrides(self, given: Mapping[str, Any]) -> "Options":
        """The same, with some options changed for one request.

        Raises:
            TypeError: There is no such option.
        """
        known = {field.name for field in fields(self)}
        if unknown := sorted(set(given) - known):
            raise TypeError(f"there is no option {unknown[0]!r}; there are: {', '.join(sorted(known))}")
        return replace(self, **given)

    def toolset(self, tools: Iterable[Mapping[str, Any]]) -> Toolset:
        """The tools, compiled; those that were compiled before with these options are the same object.

        Raises:
            ToolError: As in `Toolset`.
        """
        chosen = {name: getattr(self, name) for name in _TOOLSET if name != "protocol"}
        listed = list(tools)
        try:
            key = json.dumps([listed, chosen], ensure_ascii=False, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError):
            # Functions and models, or what is no definition at all: compiled each time, or refused by name.
            return Toolset(listed, protocol=self.protocol, **chosen)
        return _compiled(key, self.protocol)


_CHOICES = {
    "placement": ("last", "first"),
    "system_role": ("system", "user"),
    "media": ("model", "placeholder", "auto"),
    "on_error": ("retry", "text", "raise", "native"),
    "on_missing_call": ("retry", "raise", "pass"),
}
_TOOLSET = (
    "protocol",
    "recover",
    "syntax",
    "fallback_to_json",
    "strict",
    "validate",
    "code",
    "descriptions",
    "constraints",
    "delimiters",
    "reasoning",
    "limits",
)


# A host has few sets of tools; what is not used any more falls out.
@lru_cache(maxsize=128)
def _compiled(key: str, protocol: str | Protocol) -> Toolset:
    tools, chosen = json.loads(key)
    for name in ("delimiters", "reasoning"):
        chosen[name] = chosen[name] and tuple(chosen[name])
    return Toolset(tools, protocol=protocol, **chosen)
