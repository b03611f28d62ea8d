"""A model for people who try wirecall: it answers with any tools, without a plan.

It knows only the text that it is sent. It reads the manual, calls the tool whose words are most like those of
the question, with arguments from the question, and tells the results. It writes no second call.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from server import Answer, LostError, Request
from server.conversation import Conversation, read
from server.formats import PATTERN
from server.model import Field, Seen, call_text, fields_of, pairs_of, results

# The line before the tools, and what may follow them: what `tool_choice` requires.
_HEADER = re.compile(r"^Tools \(.*\):$", re.MULTILINE)
_RULE = re.compile(
    r"In your next message|You may call only these tools now:|Write at most one call per message"
)
_ALLOWED = re.compile(r"(?:you must call|only these tools now:) (.+?)\.?$", re.MULTILINE)
_EXAMPLE = re.compile(r"<call>.*?</call>", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
# Names after the first word of a sentence, which has a capital letter anyway.
_NAME = re.compile(r"(?<=[\w,] )[A-Z][\w'-]*(?: [A-Z][\w'-]*)*")
_QUOTED = re.compile(r"[\"“]([^\"”]+)[\"”]|(?<!\w)'([^']+)'(?!\w)")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_RANGE = re.compile(r"(-?[\d.]+?)\.\.(-?[\d.]+)|(>=?)(-?[\d.]+)|<=?(-?[\d.]+)")
# What a value of a type or format is if the question says nothing.
_VALUES: dict[str, Any] = {
    "bool": True,
    "null": None,
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "P1D",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "email": "someone@example.com",
    "uri": "https://example.com",
    "url": "https://example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "hostname": "example.com",
    "binary": "text",
}
_TYPES = {*_VALUES, "string", "int", "number", "any", "date"}


class Guessing:
    """The model. It keeps no state."""

    def __call__(self, request: Request) -> Answer:
        return Answer(_answer(read(request.json)))


def _answer(conversation: Conversation) -> str:
    turns = conversation.turns
    said = turns[-1].text if turns else ""
    if conversation.tools:
        return (
            "I was sent native tools, but I know only text. Wrap the client, so that I get them as text: "
            "client = wirecall.wrap(client)."
        )
    if found := results(said):
        written = turns[-2].text if len(turns) > 1 else ""
        for seen in found:
            example = _EXAMPLE.search(seen.text) if seen.error else None
            if example and example[0] not in written:
                return f"I correct the call. {example[0]}"
        return " ".join(map(_told, found))
    tools = dict(_tools(conversation.system))
    if not tools:
        return f'You said: "{said.strip()}" I am a demo without a model, and see no tools in wire format.'
    name = max(tools, key=lambda name: _likeness(said, name, tools[name]))
    return f"I look it up with {name}. {_call(name, tools[name], Question(said))}"


def _told(seen: Seen) -> str:
    # The example of an error would be a call.
    text = _EXAMPLE.sub("", seen.text) if seen.error else seen.text
    return f"{seen.name} {'could not answer' if seen.error else 'says'}: {text.strip()}"


def _tools(system: str) -> Iterator[tuple[str, str]]:
    """The names of the tools in the manual, and the rest of their lines."""
    headers = list(_HEADER.finditer(system))
    if not headers:
        return
    allowed = _ALLOWED.search(system)
    names = re.split(r", | or ", allowed[1]) if allowed else []
    for line in system[headers[-1].end() + 1 :].splitlines():
        if not line or _RULE.match(line):
            return
        name, _, rest = line.partition(" ")
        if name in names or not names or names == ["at least one tool"]:
            yield name, rest


def _likeness(question: str, name: str, rest: str) -> int:
    """How many words of the question are in the tool's line; its name counts twice."""
    asked, own, others = _words_in(question), _words_in(name), _words_in(rest)
    return sum(3 * (word in own) + (word in others) for word in asked)


def _words_in(text: str) -> set[str]:
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", text)
    return {part.lower().removesuffix("s") for part in parts if len(part) > 2}


@dataclass
class Question:
    """The question, and what in it was not yet used."""

    text: str
    numbers: list[float | int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        text = _DATE.sub("", self.text)
        self.numbers = [json.loads(number) for number in _NUMBER.findall(text) if _is_json(number)]
        quoted = [one or other for one, other in _QUOTED.findall(text)]
        self.names = [*quoted, *(name for name in _NAME.findall(_QUOTED.sub("", text)) if name != "I")]

    def has(self, word: str) -> bool:
        return re.search(rf"(?<![\w.-]){re.escape(word)}(?!\w|\.\d)", self.text, re.IGNORECASE) is not None

    def has_more(self, kind: str) -> bool:
        if kind == "int":
            return any(isinstance(number, int) for number in self.numbers)
        return bool({"string": self.names, "number": self.numbers}.get(kind))

    def word(self) -> str:
        return self.names.pop(0) if self.names else self.text.strip() or "text"


def _is_json(number: str) -> bool:
    return re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", number) is not None


def _call(name: str, rest: str, question: Question) -> str:
    if rest.startswith("{"):  # this tool's calls are objects
        inside = rest[1 : _end(rest)]
        return f"<call>{name} {json.dumps(_object(inside, question), ensure_ascii=False)}</call>"
    fields = fields_of(rest)
    values = {one.key: _value(one, question) for one in fields if not one.optional}
    for one in fields:
        # The first field of an object would need the others.
        parent = one.key.rpartition(".")[0]
        is_alone = parent and not any(key.startswith(f"{parent}.") for key in values)
        if one.optional and not is_alone and _is_asked_for(one, question):
            values[one.key] = _value(one, question)
    return call_text(name, pairs_of(values, []))


def _is_asked_for(one: Field, question: Question) -> bool:
    """Whether the question gives an optional field: one of its choices, or a number."""
    kinds = _split(one.type, "|")
    choices = [kind for kind in kinds if kind not in _TYPES]
    if any(question.has(json.loads(kind) if kind.startswith('"') else kind) for kind in choices):
        return True
    return bool(question.numbers) and kinds[0] in ("int", "number")


def _value(one: Field, question: Question) -> Any:
    """A value of the field's type, from the question if it has one."""
    kinds = _split(one.type, "|")
    choices = [_literal(kind) for kind in kinds if kind not in _TYPES and kind[0] not in "[{"]
    for choice in choices:
        if question.has(str(choice)):
            return choice
    if choices:
        return choices[0]
    kind = kinds[0]
    if kind[0] == "[":
        return _list(_split(kind[1:-1], ","), one, question)
    if kind[0] == "{":
        return _object(kind[1:-1], question)
    if kind in ("int", "number"):
        return _number(kind, one.notes, question)
    if kind == "date":
        found = _DATE.search(question.text)
        return found[0] if found else "2026-01-15"
    return _VALUES[kind] if kind in _VALUES else question.word()


def _literal(kind: str) -> Any:
    return (
        json.loads(kind) if kind[0] == '"' or _NUMBER.fullmatch(kind) or kind in ("true", "false") else kind
    )


def _number(kind: str, notes: str, question: Question) -> float:
    for position, number in enumerate(question.numbers):
        if kind == "number" or isinstance(number, int):
            return question.numbers.pop(position)
    value = 1.0
    for low, high, more, least, most in _RANGE.findall(notes):
        if low or least:
            value = max(value, float(low or least) + (more == ">"))
        if high or most:
            value = min(value, float(high or most))
    return int(value) if kind == "int" else value


def _list(kinds: list[str], one: Field, question: Question) -> list[Any]:
    inner = [_field(kind, "item") for kind in kinds]
    values = [_value(each, question) for each in inner]
    while len(inner) == 1 and question.has_more(inner[0].type):
        values.append(_value(inner[0], question))
    least = re.search(r"\(>?=?(\d+)(?:\.\.\d+)? items", one.notes)
    while len(inner) == 1 and least and len(values) < int(least[1]):
        values.append(_value(inner[0], question))
    return values


def _object(inside: str, question: Question) -> dict[str, Any]:
    fields = [_field(text) for text in _split(inside, ",") if text]
    return {
        json.loads(one.key) if one.key.startswith('"') else one.key: _value(one, question)
        for one in fields
        if not one.optional
    }


def _field(text: str, key: str = "") -> Field:
    """A field in brackets; an item of a list has a type, but no key."""
    [found] = fields_of(f"{key}:{text}" if key else text) or [Field("…", True, "any")]
    return found


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators that are outside brackets and quotes."""
    cuts = [
        position for position, character, depth in _with_depth(text) if character == separator and depth == 0
    ]
    return [text[start + 1 : end] for start, end in pairwise([-1, *cuts, len(text)])]


def _end(text: str) -> int:
    """The position of the bracket that closes the first one."""
    for position, _, depth in _with_depth(text):
        if depth == 0:
            return position
    raise LostError("model: a signature has no end")


def _with_depth(text: str) -> Iterator[tuple[int, str, int]]:
    """Each position, its character, and how many brackets are open after it.

    Patterns and quoted strings count as spaces.
    """
    for hidden in (_STRING, PATTERN):
        text = hidden.sub(lambda found: " " * len(found[0]), text)
    depth = 0
    for position, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        yield position, character, depth
