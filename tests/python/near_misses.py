"""The near misses of calls, for each kind of body, put into what each format writes.

`KINDS` has them: what is wrong, and a function that makes it. A format is of a kind by what it writes.
`NOT_READ` lists where one is an error or text, and why: mostly a legal value, or a message that may go on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from wirecall import Toolset
from wirecall._core import native_formats

STRING = {"type": "string"}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "save_file",
        "parameters": {"type": "object", "properties": {"path": STRING, "days": {"type": "integer"}}},
    },
]
ARGUMENTS = {"path": "a b", "days": 5}
Calls = list[tuple[str, dict[str, Any]]]
SAVED: Calls = [("save_file", ARGUMENTS)]
EMPTY: Calls = [("save_file", {})]
Span = tuple[int, int]


class Written(NamedTuple):
    """What a format writes, and where the parts of the call are in it."""

    format: str
    text: str
    arguments: Span
    # The object that has the name and the arguments, if there is one.
    named: Span | None
    # That object, or the arguments; with a list of one around it, if the format writes one.
    whole: Span

    def replaced(self, span: Span, new: str) -> str:
        return self.text[: span[0]] + new + self.text[span[1] :]

    def inside(self, span: Span) -> str:
        return self.text[slice(*span)]

    @property
    def object(self) -> Span:
        return self.named or self.arguments

    @property
    def listed(self) -> bool:
        return self.whole != self.object


class NearMiss(NamedTuple):
    name: str
    # Makes the text from what is written; `None`: the format has nothing that could be so.
    make: Callable[[Written], str | None]
    calls: Calls = SAVED


def key_alias(keys: str, other: str) -> Callable[[Written], str | None]:
    def made(one: Written) -> str | None:
        found = one.named and re.search(f'"(?:{keys})"(?=:)', one.inside(one.named))
        return one.replaced(one.named, replaced(one.inside(one.named), found, other)) if found else None

    def replaced(text: str, found: re.Match[str], new: str) -> str:
        return text[: found.start()] + f'"{new}"' + text[found.end() :]

    return made


def without_arguments(one: Written) -> str | None:
    if not one.named or not re.search('"(name|tool_name)"', one.inside(one.named)):
        return None
    rest = re.sub(r',\s*"\w+":\s*\{[^}]*\}', "", one.inside(one.named))
    return one.replaced(one.named, rest)


def arguments(change: Callable[[str], str]) -> Callable[[Written], str]:
    return lambda one: one.replaced(one.arguments, change(one.inside(one.arguments)))


def bracket_missing(one: Written) -> str:
    end = one.object[1]
    return one.text[: end - 1] + one.text[end:]


def bracket_too_many(one: Written) -> str:
    return one.replaced((one.object[1], one.object[1]), "}")


def fenced(one: Written) -> str | None:
    if "```" in one.text:
        return None
    return one.replaced(one.whole, f"```json\n{one.inside(one.whole)}\n```")


def listed(one: Written) -> str | None:
    return None if one.listed or not one.named else one.replaced(one.object, f"[{one.inside(one.object)}]")


def two(one: Written) -> str | None:
    if not one.named or one.listed:
        return None
    return one.replaced(one.object, one.inside(one.object) + "\n" + one.inside(one.object))


def name_in(namespace: str) -> Callable[[Written], str]:
    return lambda one: one.text.replace("save_file", f"{namespace}save_file", 1)


JSON = (
    NearMiss('the name under "tool"', key_alias("name|tool_name", "tool")),
    NearMiss('the arguments under "args"', key_alias("arguments|parameters", "args")),
    NearMiss("no arguments, where none is required", without_arguments, EMPTY),
    NearMiss("the arguments as a string", arguments(json.dumps)),
    NearMiss("null for the arguments", arguments(lambda _: "null"), EMPTY),
    NearMiss("an empty string for the arguments", arguments(lambda _: '""'), EMPTY),
    NearMiss("the last bracket is missing", bracket_missing),
    NearMiss("one bracket too many", bracket_too_many),
    NearMiss(
        "unescaped quotes in a string",
        arguments(lambda text: text.replace("a b", 'say "hi" b')),
        [("save_file", {"path": 'say "hi" b', "days": 5})],
    ),
    NearMiss("a fence around the JSON", fenced),
    NearMiss("a list of one object", listed),
    NearMiss("a second object without markers", two, SAVED * 2),
    NearMiss("a namespace before the name: `functions.`", name_in("functions.")),
    NearMiss("a comma is missing", arguments(lambda text: text.replace(",", ""))),
    NearMiss(
        "single quotes and a trailing comma", arguments(lambda text: text.replace('"', "'")[:-1] + ",}")
    ),
)


def without(value: str, which: int) -> Callable[[Written], str | None]:
    """Without one of the closing tags after a value, counted from its own."""

    def made(one: Written) -> str | None:
        found = [*re.finditer(r"</[^<>]*>|<\|close\|>\w+<\|sep\|>", one.text)]
        own = [at for at, mark in enumerate(found) if one.text[: mark.start()].rstrip("\n").endswith(value)]
        if not own or own[0] + which >= len(found):
            return None
        mark = found[own[0] + which]
        before, after = one.text[: mark.start()], one.text[mark.end() :]
        # One of two line breaks goes with the tag.
        return (before.removesuffix("\n") if after.startswith("\n") else before) + after

    return made


def object_in_tags(one: Written) -> str | None:
    """The arguments as one JSON object, where the first tag of an argument is."""
    *_, name = re.finditer(
        r"save_file(?:.*<\|message\|>(?=<rfl)|[^<>{]*)(?:(?<=>)|>|<\|sep\|>|<tool_sep[^<>]*>|(?=<))", one.text
    )
    found = [*re.finditer(r"5\s*(?:</[^<>]*>|<\|close\|>\w+<\|sep\|>)", one.text)]
    if not found:
        return None
    return f"{one.text[: name.end()]}\n{json.dumps(ARGUMENTS)}\n{one.text[found[-1].end() :].lstrip()}"


def with_pattern(pattern: str, new: str, count: int = 0) -> Callable[[Written], str | None]:
    """With another text for each match, or for so many of them."""

    def made(one: Written) -> str | None:
        text, found = re.subn(pattern, new, one.text, count=count)
        return text if found else None

    return made


def python_call(one: Written) -> str | None:
    """Where the name is text: keyword arguments in parentheses, as Python writes them."""
    found = re.search(r"save_file(?=\s*<).*\b5\s*</[^<>]*>", one.text, re.DOTALL)
    if not found or "=" in found[0]:
        return None
    return one.replaced(found.span(), 'save_file(path="a b", days=5)')


def name_as(other: str) -> Callable[[Written], str]:
    return lambda one: one.text.replace("save_file", other, 1)


JSON_CALL = json.dumps({"name": "save_file", "arguments": ARGUMENTS})
JSON_ARGUMENTS = json.dumps(ARGUMENTS)
# A call in a section, with its name after its opener.
CALL_IN_SECTION = (
    r"(?s)(<[^<>/]*tool_call[^<>]*>)save_file(?=\s*<).*(</[^<>]*tool_call[^<>]*>)(?=\s*</[^<>]*tool_calls)"
)
ARGUMENT_TAG = r"(<(?:[^<>/]*arg_key[^<>/]*|[^<>/]*param\w*[ =][^<>]*)>|<\|open\|>argument[^<>|]*<\|sep\|>)"
VALUE_CLOSER = r"(?<=a b)(\s*)(</[^<>]*>|<\|close\|>\w+<\|sep\|>)"
TAGS = (
    NearMiss("the name in another style: `saveFile`", name_as("saveFile")),
    NearMiss("a namespace before the name: `tools.`", name_in("tools.")),
    NearMiss("the first value is not closed", without("a b", 0)),
    NearMiss("the last value is not closed", without("5", 0)),
    NearMiss("the call is not closed", without("5", 1)),
    NearMiss("what is around the calls is not closed", without("5", 2)),
    NearMiss("a JSON object in place of the arguments", object_in_tags),
    NearMiss("keyword arguments in place of the tags", python_call),
    NearMiss("the call as JSON, in a section", with_pattern(CALL_IN_SECTION, rf"\1{JSON_CALL}\2")),
    NearMiss("attributes in single quotes", with_pattern(r'\b(\w+)="([^"]*)"', r"\1='\2'")),
    NearMiss("attributes without quotes", with_pattern(r'\b(\w+)="([^"]*)"', r"\1=\2")),
    NearMiss(
        "names in quotes, where there are none", with_pattern(r"(?<![\"'.])\b(save_file)\b(?!\")", r'"\1"', 1)
    ),
    NearMiss(
        "keys in quotes, where there are none",
        with_pattern(r"(arg_key[^<>]*>|parameter=)(path|days)", r'\1"\2"'),
    ),
    NearMiss("spaces beside `=`", with_pattern(r"\b(?!to=)(\w+)=", r"\1 = ")),
    NearMiss(
        "the value of an attribute without its key", with_pattern(r' (?:name|tool|key)="([^"]*)"', r"='\1'")
    ),
    NearMiss(
        "a key glued to the tag's word: `functionname=`", with_pattern(r"<(function|parameter)=", r"<\1name=")
    ),
    NearMiss("the type of a value is missing", with_pattern(r' (?:string|type)="[^"]*"', "")),
    NearMiss("the type of a string is another one", with_pattern(r'"true"|"string"(?=<)', '"false"')),
    NearMiss("the tag before a value is missing", with_pattern(r"<[^<>/]*arg_value[^<>]*>", "")),
    NearMiss(
        "the tag before a value is written twice", with_pattern(r"(<[^<>/]*arg_value[^<>]*>)", r"\1\1", 1)
    ),
    NearMiss("the tag after a key is missing", with_pattern(r"</[^<>]*arg_key[^<>]*>", "")),
    NearMiss("the tag of an argument is written twice", with_pattern(ARGUMENT_TAG, r"\1\1", 1)),
    NearMiss("the tag after a value is written twice", with_pattern(VALUE_CLOSER, r"\1\2\2")),
)


def called(change: Callable[[str], str]) -> Callable[[Written], str]:
    """With another call: its name and what is around the arguments."""
    return lambda one: one.replaced(one.whole, change(one.inside(one.whole)))


def without_last(bracket: str) -> Callable[[Written], str | None]:
    def made(one: Written) -> str | None:
        text = one.inside(one.whole)
        at = text.rfind(bracket)
        return None if at < 0 else one.replaced(one.whole, text[:at] + text[at + 1 :])

    return made


def without_last_marker(one: Written) -> str | None:
    text = re.sub(r"<[^<>]*>$", "", one.text)
    return None if text == one.text else text


def listed_otherwise(one: Written) -> str:
    """Without the brackets of a list, or in them."""
    text = one.inside(one.whole)
    return one.replaced(one.whole, text[1:-1] if one.listed else f"[{text}]")


IN_FENCE = "```tool_code\n{}\n```"
# What differs between Python's calls and notations is how keys, strings and brackets are written.
PYTHON = (
    NearMiss("the name in another style: `saveFile`", name_as("saveFile")),
    NearMiss("a namespace before the name: `default_api.`", name_in("default_api.")),
    NearMiss("the call is not closed", without_last_marker),
    NearMiss("the last bracket of the list is missing", without_last("]")),
    NearMiss("the last parenthesis is missing", without_last(")")),
    NearMiss("no list, or one where none is written", listed_otherwise),
    NearMiss("a comma is missing", with_pattern(", days", " days")),
    NearMiss("a comma too many", with_pattern(r"5\)", "5,)")),
    NearMiss("spaces beside `=`", with_pattern(r"(path|days)=", r"\1 = ")),
    NearMiss("colons in place of `=`", with_pattern(r"(path|days)=", r"\1: ")),
    NearMiss("keys in quotes", with_pattern(r"(path|days)=", r'"\1"=')),
    NearMiss("a number that begins with zero", with_pattern("=5", "=05")),
    NearMiss("a JSON object in the parentheses", with_pattern(r"\(.*\)", f"({JSON_ARGUMENTS})")),
    NearMiss("the call as JSON", called(lambda text: re.sub(r"save_file\(.*\)", JSON_CALL, text))),
    NearMiss("a fence around the calls", called(IN_FENCE.format)),
)
DELIMITER = r"<\|\"\|>|<escape>"
NOTATION = (
    NearMiss("the name in another style: `saveFile`", name_as("saveFile")),
    NearMiss("a namespace before the name: `functions.`", name_in("functions.")),
    NearMiss("`call:` is missing", with_pattern("call:", "")),
    NearMiss("`call` is missing before its colon", with_pattern("call:", ":")),
    NearMiss("the call is not closed", without_last_marker),
    NearMiss("the last bracket is missing", without_last("}")),
    NearMiss("one bracket too many", with_pattern(r"\}", "}}")),
    NearMiss("a comma is missing", with_pattern(",", " ")),
    NearMiss("a comma too many", with_pattern(r"\}", ",}")),
    NearMiss("`=` in place of colons", with_pattern(r"(path|days):", r"\1=")),
    NearMiss("strings in double quotes", with_pattern(DELIMITER, '"')),
    NearMiss("strings in single quotes", with_pattern(DELIMITER, "'")),
    NearMiss("a string without delimiters", with_pattern(DELIMITER, "")),
    NearMiss("keys in quotes", with_pattern(r"(path|days):", r'"\1":')),
    NearMiss("the arguments as JSON", with_pattern(r"\{.*\}", JSON_ARGUMENTS)),
    NearMiss("the call as JSON", called(lambda _: JSON_CALL)),
    NearMiss("keyword arguments in parentheses", with_pattern(r"\{.*\}", '(path="a b", days=5)')),
    NearMiss("a fence around the call", called(IN_FENCE.format)),
)
KINDS: dict[str, tuple[NearMiss, ...]] = {
    "JSON": JSON,
    "Raw values in tags": TAGS,
    "Python": PYTHON,
    "Notation": NOTATION,
}

MAY_BE_AN_ANSWER = "without a marker, the object may be the model's answer"
MAY_GO_ON = "nothing closes the call, so the message may have been cut off"
NOTHING_CLOSES = "nothing closes the call: what follows it is text"
VALUE_MAY_GO_ON = "a value without quotes goes on up to a comma or a bracket"
NAME_ENDS_AT_BRACKET = "the name ends where the object begins"
# Each that is not read, and why.
NOT_READ: dict[tuple[str, str], str] = {
    **{(format, miss.name): MAY_BE_AN_ANSWER for format in ("llama-json", "xlam") for miss in JSON[:6]},
    ("llama-json", "a fence around the JSON"): MAY_BE_AN_ANSWER,
    ("llama-json", "a list of one object"): MAY_BE_AN_ANSWER,
    **{
        (format, "the last bracket is missing"): MAY_GO_ON
        for format in ("functionary-v3.2", "gigachat3", "granite-20b-fc", "llama-json", "mistral")
    },
    **{
        (format, "a second object without markers"): NOTHING_CLOSES
        for format in ("gigachat3", "granite-20b-fc")
    },
    **{
        (format, "null for the arguments"): NAME_ENDS_AT_BRACKET for format in ("functionary-v3.2", "mistral")
    },
    **{
        ("llama-pythonic", name): MAY_BE_AN_ANSWER
        for name in (
            "no list, or one where none is written",
            "the call as JSON",
            "a fence around the calls",
        )
    },
    ("llama-pythonic", "the last bracket of the list is missing"): MAY_GO_ON,
    ("llama-pythonic", "the last parenthesis is missing"): MAY_GO_ON,
    **{(format, "the last parenthesis is missing"): VALUE_MAY_GO_ON for format in ("olmo3", "olmo3-think")},
    **{(format, "a comma is missing"): VALUE_MAY_GO_ON for format in ("functiongemma", "gemma4")},
}


def in_tags(format: str, text: str) -> Written | None:
    """The parts of a call, if its arguments are raw text in tags."""
    return Written(format, text, (0, 0), None, (0, 0)) if re.search(r">\s*5\s*\]?<", text) else None


def in_python(format: str, text: str) -> Written | None:
    """The parts of a call, if it is one of Python."""
    found = re.search(r"save_file\(.*\)", text)
    whole = re.search(r"\[save_file\(.*\)\]", text) or found
    return Written(format, text, found.span(), None, whole.span()) if found and whole else None


def in_notation(format: str, text: str) -> Written | None:
    """The parts of a call, if its strings are between delimiters."""
    found = re.search(r"call:save_file\{.*\}", text)
    return Written(format, text, found.span(), None, found.span()) if found else None


def in_json(format: str, text: str) -> Written | None:
    """The parts of a call, if its arguments are JSON."""
    found = re.search(r'\{\s*"path":\s*"a b",\s*"days":\s*5\s*\}', text)
    if not found:
        return None
    start, end = found.span()
    named = None
    for opened in re.finditer(r"\{", text[:start]):
        closed = matching(text, opened.start())
        if closed and closed >= end:
            named = (opened.start(), closed)
            break
    inner = named or (start, end)
    before, after = re.search(r"\[\s*$", text[: inner[0]]), re.match(r"\s*\]", text[inner[1] :])
    # A section in brackets is not a list.
    whole = (before.start(), inner[1] + after.end()) if before and after else inner
    return Written(format, text, (start, end), named, whole)


def matching(text: str, at: int) -> int | None:
    """Where the bracket at this place is closed."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return place + 1
    return None


class Case(NamedTuple):
    kind: str
    format: str
    miss: str
    text: str
    calls: Calls
    in_reasoning: bool | None = False


@cache
def cases() -> tuple[Case, ...]:
    """Each near miss in what the encoder writes in each format of its kind."""
    names = [format["name"] for format in native_formats()]
    texts = {name: Toolset(TOOLS, protocol=name).encode("save_file", ARGUMENTS) for name in names}
    return tuple(case for name, text in texts.items() for case in put_into(name, text))


def put_into(format: str, text: str, in_reasoning: bool | None = False) -> Iterator[Case]:
    """Each near miss of its kind, put into the text of a call."""
    for kind, parts in zip(KINDS, (in_json, in_tags, in_python, in_notation), strict=True):
        written = parts(format, text)
        for miss in KINDS[kind] if written else ():
            made = written and miss.make(written)
            if made is not None:
                yield Case(kind, format, miss.name, made, miss.calls, in_reasoning)


def reads(format: str, text: str, calls: Calls, in_reasoning: bool | None = False) -> bool:
    """Whether the calls are those that were meant, and nothing else is reported."""
    message = Toolset(TOOLS, protocol=format).parse(text, truncated=False, in_reasoning=in_reasoning)
    return [(call.name, call.args) for call in message.calls] == calls and not message.errors


def is_read(case: Case) -> bool:
    return reads(case.format, case.text, case.calls, case.in_reasoning)
