"""What a grammar promises, checked: a call that it allows is read in strict mode without an error, or with
one that `unconstrained` names, and it allows every call that the encoder writes.

A case is a random toolset for one kind of grammar; its number is its seed. Even cases are plain: nothing in
them is unconstrained.
"""

from __future__ import annotations

import copy
import functools
import json
import os
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from grammar_toolsets import Tools, arguments, toolset
from grammar_walks import Walk, Walker
from wirecall import CallEnd, CallError, Text, ToolError, Toolset
from wirecall._core import native_formats
from wirecall_bench.decoders import Engine, GrammarError, Matcher, TokenVocabulary

# Errors whose sentences say in each line which field has the problem.
_BY_FIELD = ("invalid_arguments", "duplicate_argument")
# A value that no branch accepts, where the problem may be below.
_NO_BRANCH = re.compile(r"(?:not valid under any of|valid under more than one of) the schemas listed in")
_RESTRICTIONS = {
    *("pattern", "format", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum"),
    *("exclusiveMaximum", "multipleOf", "uniqueItems", "minItems", "maxItems"),
}
_LENGTHS = {"minLength", "maxLength"}
_STRING = {"type": "string"}
_TRIES = 40
# Failures of one grammar that are described.
_FAILURES = 3
# Grammars that are tried for a case.
CHOICES = 3


# Where the Makefile keeps the vocabularies.
_VOCABULARIES = Path(
    os.environ.get("TIKTOKEN_CACHE_DIR", Path(__file__).parents[2] / ".venv" / "share" / "tiktoken")
)

Call = tuple[str, dict[str, Any]]


@functools.cache
def vocabulary() -> TokenVocabulary:
    """o200k_base.

    Raises:
        ImportError: tiktoken is not installed.
        FileNotFoundError: Its file is missing.
    """
    import tiktoken

    if not _VOCABULARIES.is_dir() or not any(_VOCABULARIES.iterdir()):
        raise FileNotFoundError(f"no vocabulary in {_VOCABULARIES}; `make .venv/.vocabularies` fetches it")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(_VOCABULARIES)
    return TokenVocabulary(tiktoken.get_encoding("o200k_base"))


class RefusedError(AssertionError):
    """A promise is broken. The text says in which case, by which grammar and by which message."""


@dataclass(frozen=True)
class Choice:
    """Options of `Toolset.grammar`."""

    tool_choice: str = "auto"
    parallel: bool = True

    @property
    def is_text(self) -> bool:
        """Whether the grammar allows text."""
        return self.tool_choice in ("auto", "none")


class Case:
    def __init__(self, number: int, protocol: str = "wire", seed: int = 0, kind: str = "lark") -> None:
        self.number = number
        self.kind = kind
        self.protocol = protocol
        self.plain = number % 2 == 0
        self.rng = random.Random(seed * 1_000_003 + number)
        self.tools = self._tools()
        self.toolset = Toolset(self.tools, protocol=protocol)
        self.reader = Toolset(self.tools, protocol=protocol, strict=True, validate="error")

    def _tools(self) -> Tools:
        """Tools that can be validated and have a grammar; a random schema may be refused."""
        for _ in range(_TRIES):
            made = toolset(self.rng, plain=self.plain)
            try:
                read = Toolset(made, protocol=self.protocol, strict=True, validate="error")
                grammar = read.grammar(self.kind)
            except ToolError:
                continue
            if self.plain:
                # Not every kind counts the characters of strings.
                for name, schema in made:
                    listed = {one.keyword for one in grammar.unconstrained if one.tool == name}
                    _remove(schema, listed & _LENGTHS)
                    if "additionalProperties" in listed and not schema.get("properties"):
                        schema["additionalProperties"] = False
            return made
        raise AssertionError(f"case {self.number}: no toolset can be validated")

    @functools.cached_property
    def names(self) -> list[str]:
        return [name for name, _ in self.tools]

    @functools.cached_property
    def examples(self) -> list[str]:
        """Messages with one call of each tool."""
        return [
            self.toolset.encode_message("", [call]) for name in self.names for call in self.calls(name, 1)
        ]

    def calls(self, name: str, count: int) -> Iterator[Call]:
        """Calls of a tool with valid and declared arguments, in the schema's order."""
        schema = dict(self.tools)[name]
        for _ in range(count * _TRIES):
            try:
                given = arguments(self.rng, schema)
                text = self.toolset.encode_message("", [(name, given)], native=True)
            except ValueError:
                # Nothing fits an item that was drawn, or a native format cannot hold the arguments.
                continue
            if writes_raw(self.protocol) and "<" in json.dumps(given):
                continue
            if not self.reader.parse(text, in_reasoning=False).errors:
                yield name, given
                count -= 1
            if not count:
                return

    def messages(self, choice: Choice, count: int) -> Iterator[str]:
        """Messages of the encoder that a grammar must allow: calls of each tool, some with text."""
        for name in self.names:
            before: list[Call] = []
            for call in self.calls(name, count):
                several = choice.parallel and self.rng.random() < 0.2
                content = "Let me look." if choice.is_text and self.rng.random() < 0.5 else ""
                calls = [*before[-1:], call] if several and self.holds([*before[-1:], call]) else [call]
                yield self.toolset.encode_message(content, calls)
                before.append(call)

    def holds(self, calls: Sequence[Call]) -> bool:
        """Whether the format can hold these calls in one message."""
        try:
            self.toolset.encode_message("", calls, native=True)
        except ValueError:
            return False
        return True

    def problems(self, error: CallError) -> list[str]:
        """The sentences of an error, one for each problem; keys may have line breaks."""
        properties = dict(self.tools).get(error.name or "", {}).get("properties", {})
        begins = [key.split("\n")[0] for key in _keys(tuple(properties))]
        problems: list[str] = []
        for line in (error.sentence or "").split("\n"):
            if not problems or line.startswith(("`", *begins)):
                problems.append(line)
            else:
                problems[-1] += f" {line}"
        return problems

    def relaxed(self, unconstrained: Sequence[Any]) -> Toolset:
        """Reads calls as if schemas had none of the keywords that are unconstrained in their tool."""
        tools = copy.deepcopy(self.tools)
        for name, schema in tools:
            _remove(schema, {one.keyword for one in unconstrained if one.tool == name})
        return Toolset(tools, protocol=self.protocol, strict=True, validate="error")

    def choices(self) -> list[Choice]:
        """Text and calls, only calls, and calls of one tool; once in three, at most one of them."""
        parallel = self.number % 3 > 0
        named = self.rng.choice(self.names)
        return [Choice("required", parallel), Choice(named, parallel), Choice("auto", parallel)]

    def __str__(self) -> str:
        return f"case {self.number} ({self.protocol}): {json.dumps(self.tools, ensure_ascii=False)}"


@functools.cache
def _keys(names: tuple[str, ...]) -> list[str]:
    """Each name as a key, as the encoder writes it."""
    tools = Toolset([("f", {})])
    texts = (tools.encode("f", {name: 1}) for name in names)
    return [text.removeprefix("<call>f ").removesuffix("=1</call>") for text in texts]


def _remove(schema: Any, keywords: set[str]) -> None:
    """Remove keywords that only restrict values."""
    if isinstance(schema, list):
        for one in schema:
            _remove(one, keywords)
    if not isinstance(schema, dict):
        return
    for keyword in keywords & _RESTRICTIONS:
        # Otherwise it is the name of a property.
        if not isinstance(schema.get(keyword), (dict, list)):
            schema.pop(keyword, None)
    for one in schema.values():
        _remove(one, keywords)


# What is read -----------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What became of the walks and of the encoder's messages of some cases.

    Attributes:
        toolsets: How many there were.
        free: Those in which nothing is unconstrained.
        given_up: Walks that became too long.
        wrong: Masks with a token that the library then refused.
        named: Calls with an error that `unconstrained` names.
        failures: Broken promises where nothing is unconstrained.
        others: Those where something is.
    """

    toolsets: int = 0
    free: int = 0
    walks: int = 0
    given_up: int = 0
    wrong: int = 0
    calls: int = 0
    named: int = 0
    messages: int = 0
    refused: int = 0
    failures: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    @property
    def broken(self) -> list[str]:
        return self.failures + self.others


def judge(case: Case, choice: Choice, text: str, unconstrained: Sequence[Any]) -> tuple[int, int]:
    """How many calls a message has, and how many of them have an error that `unconstrained` names.

    Raises:
        RefusedError: It has another error, or text or calls that the choice excludes.
    """
    message = case.reader.parse(text, in_reasoning=False)
    calls = named = 0
    names = []
    for item in message.items:
        match item:
            case CallEnd():
                calls += 1
                names.append(item.name)
                if item.repairs or item.problems:
                    raise RefusedError(f"repairs {item.repairs}, problems {item.problems}")
            # A text that begins with the opener of reasoning, and does not end it (docs/grammars.md).
            case CallError(raw="") if message.reasoning:
                pass
            case CallError():
                calls += 1
                names.append(item.name)
                if not is_named(case, text, item, unconstrained):
                    raise RefusedError(f"{item.kind}: {item.sentence}")
                named += 1
            case Text() if not choice.is_text and item.text.strip():
                raise RefusedError(f"text: {item.text!r}")
    most = 0 if choice.tool_choice == "none" else len(text) if choice.parallel else 1
    if not (0 if choice.is_text else 1) <= calls <= most:
        raise RefusedError(f"{calls} calls")
    if not choice.is_text and choice.tool_choice != "required" and set(names) != {choice.tool_choice}:
        raise RefusedError(f"calls of {names}")
    return calls, named


def is_named(case: Case, text: str, error: CallError, unconstrained: Sequence[Any]) -> bool:
    """Whether all problems of an error in a message are at or below unconstrained fields, or caused by them.

    If only restrictions are unconstrained, the call has no error without these.
    """
    own = [one for one in unconstrained if one.tool == error.name]
    if error.kind == "too_deep":
        return any(one.keyword == "$ref" for one in own)
    if error.kind not in _BY_FIELD:
        return False
    fields = [_without_indexes(one.field).replace("\n", " ") for one in own]
    lines = [_without_indexes(line) for line in case.problems(error)]
    others = [line for line in lines if not any(_is_below(line, of) for of in fields)]
    if not all(_NO_BRANCH.search(line) and _is_above(line, fields) for line in others):
        return False
    if any(one.keyword not in _RESTRICTIONS for one in own):
        return True
    relaxed = case.relaxed(own).parse(text, in_reasoning=False)
    return error.start not in {one.start for one in relaxed.errors}


def _without_indexes(key: str) -> str:
    return re.sub(r"\[\d*\]", "", key)


def _is_below(line: str, of: str) -> bool:
    """Whether a sentence begins with a key, or with one below it."""
    return not of or (line.startswith(of) and line[len(of) : len(of) + 1] in tuple(".:[ "))


def _is_above(line: str, fields: Sequence[str]) -> bool:
    """Whether a sentence begins with a key above one of these."""
    key = line.partition(": `")[0] if ": `" in line else ""
    return any(not key or of == key or of.startswith((f"{key}.", f"{key}[")) for of in fields)


# Walks ------------------------------------------------------------------------------------------------------


class Sampler:
    """Tries a library with the grammars of cases."""

    def __init__(self, vocabulary: TokenVocabulary, engine: Engine) -> None:
        self.vocabulary = vocabulary
        self.engine = engine
        self.walker = Walker(vocabulary)

    def case(self, case: Case, calls: int, messages: int) -> Tally:
        """Tries the grammar of each choice of a case.

        Args:
            calls: How many calls to sample in each grammar.
            messages: How many of the encoder's messages to try for each tool, in each grammar that has it.
        """
        tally = Tally(toolsets=1)
        free = True
        for choice in case.choices():
            grammar = case.toolset.grammar(
                case.kind, tool_choice=choice.tool_choice, parallel=choice.parallel
            )
            one = Tally()
            free = free and not grammar.unconstrained
            failures: list[str] = []
            for what, text in self._failures(case, choice, grammar, calls, messages, one):
                failures.append(describe(case, choice, grammar, text, what))
                if len(failures) == _FAILURES:
                    break
            (one.others if grammar.unconstrained else one.failures).extend(failures)
            tally.add(one)
        tally.free = int(free)
        return tally

    def _failures(
        self, case: Case, choice: Choice, grammar: Any, calls: int, messages: int, tally: Tally
    ) -> Iterator[tuple[str, str]]:
        """What is wrong, and the text."""
        try:
            matcher = self.engine.matcher(case.kind, grammar.text)
        except GrammarError as error:
            yield f"grammar refused: {error}", ""
            return
        # Messages without a call count, too: one tool may be called rarely.
        while tally.calls < calls and tally.walks < 4 * calls:
            try:
                walk = self.walk(case, choice, matcher)
            except GrammarError as error:
                yield f"gave up: {error}", ""
                return
            tally.walks += 1
            tally.wrong += walk.wrong
            if not walk.complete:
                tally.given_up += 1
                continue
            try:
                found, named = judge(case, choice, walk.text, grammar.unconstrained)
            except RefusedError as failure:
                yield str(failure), walk.text
            else:
                tally.calls += found
                tally.named += named
        if choice.tool_choice in ("auto", "required"):
            for text in case.messages(choice, messages):
                tally.messages += 1
                if not accepts(matcher, self.vocabulary, text):
                    tally.refused += 1
                    yield f"refused after {accepted(matcher, self.vocabulary, text)!r}", text

    def walk(self, case: Case, choice: Choice, matcher: Matcher) -> Walk:
        return self.walker.walk(
            matcher,
            case.rng,
            names=case.names,
            calls=case.examples if choice.tool_choice == "auto" else (),
            endings=endings(case.protocol),
            text=choice.is_text,
        )


def accepted(matcher: Matcher, vocabulary: TokenVocabulary, text: str) -> str:
    """How much of a message a grammar allows; less than all of it, too, if it may not end there."""
    tokens, taken = _taken(matcher, vocabulary, text)
    if taken == len(tokens) and not matcher.is_complete():
        taken -= 1
    return b"".join(vocabulary.tokens[token] for token in tokens[:taken]).decode(errors="replace")


def accepts(matcher: Matcher, vocabulary: TokenVocabulary, text: str) -> bool:
    """Whether a grammar allows a whole message."""
    tokens, taken = _taken(matcher, vocabulary, text)
    return taken == len(tokens) and matcher.is_complete()


def _taken(matcher: Matcher, vocabulary: TokenVocabulary, text: str) -> tuple[list[int], int]:
    """The tokens of a message, and how many of them a grammar allows."""
    matcher.reset()
    tokens = vocabulary.encoding.encode(text, disallowed_special=())
    return tokens, matcher.accept(tokens)


@functools.cache
def writes_raw(protocol: str) -> bool:
    """Whether strings are raw text in tags, which cannot contain markers (docs/grammars.md)."""
    value = "<a>\"'"
    toolset = Toolset([("f", {"properties": {"a": _STRING}})], protocol=protocol)
    return value in toolset.encode_message("", [("f", {"a": value})])


@functools.cache
def endings(protocol: str) -> tuple[str, ...]:
    """What ends a string in a call of two, the call, a message without calls, and reasoning.

    The last is left out where reasoning is not a part of the message: in an argument of a call that is begun
    in reasoning, it ends the reasoning, and the rest of the call is text (docs/grammars.md).
    """
    toolset = Toolset([("f", {"properties": {"a": _STRING, "b": _STRING}})], protocol=protocol)
    _, between, end = toolset.encode_message("", [("f", {"a": "VALUE", "b": "VALUE"})]).split("VALUE")
    same = takewhile(lambda pair: pair[0] == pair[1], zip(between, end, strict=False))
    string = "".join(a for a, _ in same)
    answer = toolset.encode_message("VALUE", []).split("VALUE")[1]
    in_parts = protocol in {row["name"] for row in native_formats() if row["whole_messages"]}
    thought = toolset.encode_message("TEXT", [], reasoning="VALUE" if in_parts else None)
    return string, end, answer, thought.partition("VALUE")[2].split("TEXT")[0]


def describe(case: Case, choice: Choice, grammar: Any, text: str, what: str) -> str:
    """A failure, with all that is needed to see why."""
    listed = ", ".join(map(str, grammar.unconstrained)) or "nothing"
    return f"{what}\n{case.kind}, {choice}, unconstrained: {listed}\n{text!r}\n{case}"
