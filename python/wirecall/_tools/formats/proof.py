"""Proves that a format reads what a chat template writes, with random conversations."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from typing import Any

from wirecall._core import CallEnd, CallError, Format, Reasoning, Text, Toolset
from wirecall._shown import shortened
from wirecall._tools.formats.calls import ONE
from wirecall._tools.formats.inference import Inferred
from wirecall._tools.formats.markup import markers
from wirecall._tools.formats.rendering import Renderer, RenderError
from wirecall._tools.formats.turns import CONTENT, FIRST, RESULT, THOUGHT, TOOLS, Message, Turns, tool
from wirecall.errors import ToolError

# A format is proven by at least so many calls, in at least so many conversations.
CALLS, CONVERSATIONS = 50, 60
# No more are tried if few calls can be compared.
MOST_CONVERSATIONS = 300
_SHOWN_CHARS = 2_000

_NAMES = ("f", "get_weather", "search.web")
_KEYS = ("a", "b", "name", "arguments", "some_key", "é", "q&a")
_TYPES = ("string", "string", "string", "integer", "number", "boolean", "array", "object", None)
_PIECES = (
    *(
        "a",
        "two words",
        "42",
        "é",
        "日本",
        "😀",
        "\n",
        " ",
        '"',
        "'",
        "\\",
        "\\n",
        "&lt;",
        "<",
        ">",
        "{",
        "}",
    ),
    *(": ", ",", "[", "]", "()", "=", "```", "null"),
)

_WORDS = ("a", "two", "é", "日本", "😀", "\n", '"quoted"', "it's", "\\", "42.", "&amp;", "`code`", "- item")

# Quotes show whether a result is JSON.
_RESULT = f'{RESULT} "7", it\'s'

Case = tuple[str, str, list[tuple[str, dict[str, Any]]]]
Read = dict[str, object]


def prove(format: Format, renderer: Renderer, inferred: Inferred, *, seed: int = 0) -> int:
    """Renders random conversations, and reads the assistant's turns back. Returns the number of calls.

    The turns have up to three calls, whose values are of all JSON types, with quotes, line breaks, empty
    strings and the markers of the format itself; content; and reasoning, as far as the template writes them.
    The same calls, content and reasoning must be read, without regard to whitespace around content and
    reasoning. The result of a call must be written as the template writes it, except for its id.

    Where the text of the template is ambiguous, nothing is compared: a turn with a call that the format
    refuses to write (`Toolset.encode` raises ValueError), because a value has the marker that ends it; and
    nulls, if the template leaves them out. A turn that the template refuses does not count, either.

    Raises:
        ToolError: Something else is read than was rendered, or a result is written differently, which the
            message shows; or the template writes fewer than 50 such calls.
    """
    rng = random.Random(seed)
    turns = Turns(renderer, inferred.style)
    cases = _Cases(rng, inferred, drops_null=_drops_null(turns))
    proven = 0
    for number in range(MOST_CONVERSATIONS):
        if number >= CONVERSATIONS and proven >= CALLS:
            break
        tools = cases.tools()
        toolset = _toolset(tools, format)
        case = cases.case(tools)
        if all(_writable(toolset, name, arguments) for name, arguments in case[2]):
            proven += _compare(toolset, turns, inferred, case, tools, number % 4 == 3)
    if proven < CALLS:
        raise ToolError(f"only {proven} calls of random conversations could be compared, fewer than {CALLS}")
    if "result" in inferred.description:
        _compare_result(_toolset(TOOLS, format), turns)
    return proven


def _toolset(tools: list[Message], format: Format) -> Toolset:
    functions = [one["function"] for one in tools]
    compiled = [(one["name"], one["description"], json.dumps(one["parameters"]), False) for one in functions]
    return Toolset(compiled, protocol=format)


def _writable(toolset: Toolset, name: str, arguments: Mapping[str, object]) -> bool:
    try:
        toolset.encode(name, arguments, native=True)
    except ValueError:
        return False
    return True


def _drops_null(turns: Turns) -> bool:
    key = "zqnull"
    text = turns.try_text(turns.message("", [("zqone", {"zqkeya": {key: None}})]))
    return key not in text


# Random conversations -----------------------------------------------------------------------------


class _Cases:
    """Makes random tools and turns for them."""

    def __init__(self, rng: random.Random, inferred: Inferred, *, drops_null: bool) -> None:
        self._rng = rng
        self._inferred = inferred
        self._null = not drops_null
        self._marks = _marks(inferred.description)

    def tools(self) -> list[Message]:
        made = []
        for name in _NAMES:
            keys = self._rng.sample(_KEYS, self._rng.randrange(5))
            kinds = [self._rng.choice(_TYPES) for _ in keys]
            described = [
                {"description": "An argument.", **({"type": kind} if kind else {})} for kind in kinds
            ]
            made.append(tool(name, dict(zip(keys, described, strict=True))))
        return made

    def case(self, tools: list[Message]) -> Case:
        rng, given = self._rng, self._inferred
        size = rng.randrange(4) if given.several else rng.randrange(2)
        calls = [self._call(rng.choice(tools)) for _ in range(size)]
        spoken = not calls or (given.content and rng.random() < 0.5)
        content = self._prose(CONTENT) if spoken else ""
        thought = self._prose(THOUGHT) if rng.random() < 0.5 else ""
        return content, thought, calls

    def _call(self, tool: Message) -> tuple[str, dict[str, Any]]:
        function = tool["function"]
        properties = function["parameters"]["properties"]
        chosen = [key for key in properties if self._rng.random() < 0.8]
        return function["name"], {key: self._value(properties[key].get("type"), 0) for key in chosen}

    def _value(self, kind: str | None, depth: int) -> Any:
        rng = self._rng
        kinds = ["string", "integer", "number", "boolean", "array", "object"]
        kind = kind or rng.choice([*kinds, "null"] if self._null else kinds)
        size = rng.randrange(3) if depth < 2 else 0
        match kind:
            case "string":
                return self._text()
            case "integer":
                return rng.choice((0, -3, 42, 2**63, rng.randrange(10**6)))
            case "number":
                return rng.choice((0.5, -1.25, 1e22, 1e-7, 3, rng.random()))
            case "boolean":
                return rng.random() < 0.5
            case "array":
                return [self._value(None, depth + 1) for _ in range(size)]
            case "object":
                return {rng.choice(("k", "a b", "é", '"')): self._value(None, depth + 1) for _ in range(size)}
        return None

    def _text(self) -> str:
        rng = self._rng
        return "".join(
            rng.choice(self._marks if rng.random() < 0.2 else _PIECES) for _ in range(rng.randrange(7))
        )

    def _prose(self, word: str) -> str:
        """Text that begins with this word, without brackets, which could be a call with a mistake."""
        return " ".join([word, *self._rng.choices(_WORDS, k=self._rng.randrange(7))]).strip()


def _marks(description: object) -> list[str]:
    """All markers in a description."""
    match description:
        case str():
            return markers(description)
        case Mapping():
            return sorted({mark for value in description.values() for mark in _marks(value)}) or ["<x>"]
        case list():
            return [mark for value in description for mark in _marks(value)]
    return []


# Comparison ---------------------------------------------------------------------------------------


def _compare(
    toolset: Toolset, turns: Turns, inferred: Inferred, case: Case, tools: list[Message], later: bool
) -> int:
    """Reads a rendered turn back, and returns how many calls it has; 0 if the template refuses it.

    `later`: a turn of the user and one of the assistant precede it.
    """
    content, thought, calls = case
    message = turns.message(content, calls, thought or None)
    before = [turns.user("Hello."), turns.message("Hello!")] if later else []
    try:
        rendered = turns.text(message, before=before, tools=tools)
    except RenderError:
        return 0
    if not rendered.startswith(inferred.header):
        raise _different(rendered, {"header": inferred.header}, {})
    text = rendered[len(inferred.header) :]
    text = text[: len(text) - len(next(tail for tail in inferred.tails if text.endswith(tail)))]
    expected: Read = {
        "content": content if CONTENT in text else "",
        "reasoning": thought if THOUGHT in text else "",
        "calls": [[name, arguments] for name, arguments in calls],
    }
    read = _read(toolset, text, _begins_in_reasoning(inferred, text))
    if _plain(read) != _plain(expected):
        raise _different(rendered, expected, read)
    return len(calls)


def _compare_result(toolset: Toolset, turns: Turns) -> None:
    """Compares the result of a call, without ids: some templates make their own.

    Nothing is compared if the template refuses the result.
    """
    id = turns.id(FIRST, 0)
    ids = re.compile("|".join(map(re.escape, (id, f"functions.{FIRST}:0", "0"))))
    rendered = turns.try_text(turns.message("", [ONE]), [turns.result(_RESULT)])
    written = toolset.encode_result(FIRST, _RESULT, id=id)
    if rendered and ids.sub("", written) not in ids.sub("", rendered):
        raise ToolError(
            "the format does not write a result as the chat template does\n"
            f"rendered: {shortened(rendered, _SHOWN_CHARS)!r}\n"
            f"written:  {written!r}"
        )


def _begins_in_reasoning(inferred: Inferred, text: str) -> bool:
    """Whether the prompt has opened the reasoning with which the text begins, or which it ends."""
    if inferred.reasoning is None:
        return False
    opener, closer = inferred.reasoning
    text = text.lstrip()
    return text.startswith((THOUGHT, closer)) and not (opener and text.startswith(opener))


def _read(toolset: Toolset, text: str, in_reasoning: bool) -> Read:
    items = toolset.parse(text, truncated=False, in_reasoning=in_reasoning).items
    read: Read = {
        "content": "".join(item.text for item in items if isinstance(item, Text)).strip(),
        "reasoning": "".join(item.text for item in items if isinstance(item, Reasoning)).strip(),
        "calls": [[item.name, json.loads(item.arguments)] for item in items if isinstance(item, CallEnd)],
    }
    errors = [item.kind for item in items if isinstance(item, CallError)]
    return {**read, "errors": errors} if errors else read


def _plain(read: Read) -> str:
    return json.dumps(read, sort_keys=True)


def _different(rendered: str, expected: Read, read: Read) -> ToolError:
    shown = shortened(rendered, _SHOWN_CHARS)
    return ToolError(
        "the format does not read what the chat template writes\n"
        f"rendered: {shown!r}\n"
        f"expected: {json.dumps(expected, ensure_ascii=False)}\n"
        f"read:     {json.dumps(read, ensure_ascii=False)}"
    )
