"""A tiny model that follows a plan, over text or natively, so that one agent loop can be run both ways.

It keeps no state: which step it is at, it reads from the conversation, every time. Over text it knows of its
tools what the manual in the system text says, writes calls by rules of its own, not with wirecall's encoder,
and reads results by their tags; so it is an independent witness of what manual, calls and results mean.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from .answers import Answer, Call, Delivery, RefusedError, Usage
from .app import Request
from .conversation import Conversation, Turn, read
from .formats import FORMATS, PATTERN

Mistake = Literal["unknown_tool", "missing_required", "broken_quote", "broken_json"]


ANY = "…"  # means further keys in a signature
# What a field's type is followed by: a range, and what is in brackets.
CONSTRAINT = re.compile(r"[(<>]|-?[\d.]+\.\.")
BROKEN_QUOTE = '="never closed'
BROKEN_JSON = "[object Object]"


@dataclass(frozen=True)
class Seen:
    """A result as the model saw it."""

    name: str
    text: str
    error: bool = False


@dataclass(frozen=True)
class Step:
    """One answer of the plan: calls, or with none the final text. `text` may depend on the results."""

    calls: Sequence[Call] = ()
    text: str | Callable[[Sequence[Seen]], str] = ""
    mistake: Mistake | None = (
        None  # made first, over text only, in the first call; repaired when an error comes back
    )
    alone: bool = True  # the bad call is written without its neighbours, which follow with the repair


class LostError(RefusedError):
    """The conversation is not one that this plan can lead to; the client reads why."""


@dataclass
class _Place:
    """Where in the plan the conversation has come."""

    step: int = 0
    attempts: int = 0  # answers given to this step
    bad: bool = False  # the last answer held the step's mistake, and nothing has answered that yet
    pending: list[Call] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)


class _Planned:
    def __init__(
        self, plan: Sequence[Step], *, delivery: Delivery | None = None, usage: Usage | None = None
    ) -> None:
        self.plan = plan
        self.delivery = delivery or Delivery()
        self.usage = usage or Usage()

    def _place(self, conversation: Conversation) -> _Place:
        place = _Place(pending=list(self.plan[0].calls))
        for turn in conversation.turns:
            if turn.role == "assistant":
                step = self._step(place)
                place.attempts += 1
                place.bad = self._is_bad(step, turn, conversation)
                if not step.calls:
                    self._advance(place)
            else:
                for seen in self._results(turn):
                    self._take(place, seen)
        return place

    def _take(self, place: _Place, seen: Seen) -> None:
        step = self._step(place)
        if place.bad and self._answers_mistake(step, seen):
            place.bad = False
            return
        for index, call in enumerate(place.pending):
            if seen.name in (call.name, ""):
                del place.pending[index]
                break
        else:
            raise LostError(f"model: a result of {seen.name}, which step {place.step} does not wait for")
        place.seen.append(seen)
        if not place.pending:
            self._advance(place)

    def _is_bad(self, step: Step, turn: Turn, conversation: Conversation) -> bool:
        """Whether this answer holds the step's mistake."""
        return False

    def _answers_mistake(self, step: Step, seen: Seen) -> bool:
        return False

    def _advance(self, place: _Place) -> None:
        place.step += 1
        place.attempts = 0
        place.pending = list(self._step(place).calls) if place.step < len(self.plan) else []

    def _step(self, place: _Place) -> Step:
        if place.step >= len(self.plan):
            raise LostError(f"model: the plan has only {len(self.plan)} steps")
        return self.plan[place.step]

    def _results(self, turn: Turn) -> list[Seen]:
        raise NotImplementedError

    def _text(self, place: _Place) -> str:
        text = self._step(place).text
        return text(place.seen) if callable(text) else text


class NativeModel(_Planned):
    """Plays a plan with native tool calls: the control. It makes no mistakes."""

    def __call__(self, request: Request) -> Answer:
        conversation = read(request.json)
        place = self._place(conversation)
        step = self._step(place)
        for call in place.pending:
            if call.name not in conversation.tools:
                raise LostError(f"model: no tool {call.name} among {conversation.tools}")
        text = self._text(place) if place.attempts == 0 else ""
        calls = [Call(call.name, call.arguments) for call in place.pending]
        return Answer(
            [text, *calls] if text or not step.calls else calls, usage=self.usage, delivery=self.delivery
        )

    def _results(self, turn: Turn) -> list[Seen]:
        return [Seen(result.name, result.text) for result in turn.results]


class _InText(_Planned):
    """Plays a plan in text. It refuses native tools, and calls that the manual does not allow."""

    def __call__(self, request: Request) -> Answer:
        conversation = read(request.json)
        if conversation.tools or any(turn.calls or turn.results for turn in conversation.turns):
            raise LostError("model: this model knows no native tools")
        place = self._place(conversation)
        step = self._step(place)
        text = self._text(place) if place.attempts == 0 else ""
        calls = [self._written(call, conversation.system) for call in place.pending]
        if step.mistake is not None and place.attempts == 0:
            calls = self._mistaken(step, step.mistake, calls, conversation.system)
        return Answer(text + "\n".join(calls), "stop", self.usage, self.delivery)

    def _written(self, call: Call, system: str) -> str:
        raise NotImplementedError

    def _mistaken(self, step: Step, mistake: Mistake, calls: list[str], system: str) -> list[str]:
        """What is written in place of the step's calls."""
        raise NotImplementedError


class TextModel(_InText):
    """Plays a plan in wire format."""

    def _written(self, call: Call, system: str) -> str:
        return _written(call, system)

    def _mistaken(self, step: Step, mistake: Mistake, calls: list[str], system: str) -> list[str]:
        signature = manual_signature(system, step.calls[0].name)
        return [_bad(step.calls[0], mistake, signature), *([] if step.alone else calls[1:])]

    def _results(self, turn: Turn) -> list[Seen]:
        return results(turn.text)

    def _is_bad(self, step: Step, turn: Turn, conversation: Conversation) -> bool:
        """A host may show the bad call as an error, or write it, if it took it, in its own way."""
        if step.mistake is None:
            return False
        name = step.calls[0].name
        if step.mistake == "missing_required":
            key = _first_required(manual_signature(conversation.system, name))
            written = re.findall(f"<call>{re.escape(name)}(.*?)</call>", turn.text, re.DOTALL)
            return "<tool-error" in turn.text or any(f" {key}" not in body for body in written)
        return any(sign in turn.text for sign in ("<tool-error", _unknown(name), BROKEN_QUOTE, BROKEN_JSON))

    def _answers_mistake(self, step: Step, seen: Seen) -> bool:
        """Not every API tells errors of tools from results, and a host may run a call that lacks a field."""
        name = step.calls[0].name
        return (seen.error or step.mistake == "missing_required") and seen.name in (name, _unknown(name), "")


class OtherModel(_InText):
    """Plays a plan in another format than wire, as the manual has it."""

    def __init__(self, plan: Sequence[Step], protocol: str, *, delivery: Delivery | None = None) -> None:
        super().__init__(plan, delivery=delivery)
        self.format = FORMATS[protocol]

    def _written(self, call: Call, system: str) -> str:
        required = self.format.required(system, call.name)
        if required is None:
            raise LostError(f"model: the manual has no tool {call.name}")
        if missing := [key for key in required if key not in _arguments(call)]:
            raise LostError(
                f"model: the manual wants {missing} for {call.name}, which the plan does not give"
            )
        return str(self.format.call(call.name, _arguments(call)))

    def _mistaken(self, step: Step, mistake: Mistake, calls: list[str], system: str) -> list[str]:
        call = step.calls[0]
        if mistake == "unknown_tool" and self.format.knows_unknown:
            return [str(self.format.call(_unknown(call.name), _arguments(call)))]
        return [str(self.format.broken(call.name, BROKEN_JSON))]

    def _results(self, turn: Turn) -> list[Seen]:
        return [Seen(*result) for result in self.format.results(turn.text)]

    def _is_bad(self, step: Step, turn: Turn, conversation: Conversation) -> bool:
        signs = (BROKEN_JSON, _unknown(step.calls[0].name)) if step.mistake is not None else ()
        return any(sign in turn.text for sign in signs)

    def _answers_mistake(self, step: Step, seen: Seen) -> bool:
        return seen.error or not self.format.names_results


# What the model reads ---------------------------------------------------------------------------------------

TAG = re.compile(r'<tool-(result|error)((?: [a-z]+="[^"]*")*)>(.*?)</tool-\1>', re.DOTALL)
ATTRIBUTE = re.compile(r'([a-z]+)="([^"]*)"')


def results(text: str) -> list[Seen]:
    """The results in a text of the user, in order."""
    found = []
    for tag in TAG.finditer(text):
        attributes = dict(ATTRIBUTE.findall(tag[2]))
        found.append(Seen(attributes.get("name", ""), tag[3], tag[1] == "error"))
    return found


@dataclass(frozen=True)
class Field:
    key: str
    optional: bool
    type: str
    notes: str = ""  # its constraints and its description, as they are written


def manual_signature(system: str, name: str) -> list[Field]:
    """The fields that the manual gives a tool, by the line that starts with its name."""
    for line in system.splitlines():
        if line == name or line.startswith(f"{name} "):
            break
    else:
        raise LostError(f"model: the manual has no tool {name}")
    return fields_of(line[len(name) :])


def fields_of(signature: str) -> list[Field]:
    """The fields in the line of a tool, after its name."""
    fields: list[Field] = []
    for word in _words(PATTERN.sub("", signature)):
        if word == "-":
            break
        if CONSTRAINT.match(word):
            fields[-1] = replace(fields[-1], notes=f"{fields[-1].notes} {word}".strip())
            continue
        key, _, kind = word.partition(":")
        key = key.partition("=")[0]
        optional = key.endswith("?") or key == ANY
        fields.append(Field(key.rstrip("?"), optional, kind.partition("=")[0] or "string"))
    return fields


def _words(line: str) -> list[str]:
    """Words between spaces; brackets and quotes keep their contents together."""
    words, word, depth, quoted = [], "", 0, False
    for character in line:
        if character == '"':
            quoted = not quoted
        elif not quoted:
            depth += (character in "([{") - (character in ")]}")
        if character == " " and depth == 0 and not quoted:
            words.append(word)
            word = ""
        else:
            word += character
    return [word for word in [*words, word] if word]


# What the model writes --------------------------------------------------------------------------------------


def _written(call: Call, system: str) -> str:
    fields = manual_signature(system, call.name)
    pairs = pairs_of(_arguments(call), fields)
    for field_ in fields:
        if not field_.optional and not any(_covers(key, field_.key) for key, _ in pairs):
            raise LostError(
                f"model: the manual wants {field_.key} for {call.name}, which the plan does not give"
            )
    for key, _ in pairs:
        if not any(
            field_.key == ANY or _covers(key, field_.key) or key.startswith(f"{field_.key}.")
            for field_ in fields
        ):
            raise LostError(f"model: the manual has no {key} for {call.name}")
    return call_text(call.name, pairs)


def _covers(key: str, wanted: str) -> bool:
    return wanted == key or wanted.startswith(f"{key}.")


def _bad(call: Call, mistake: Mistake, signature: Sequence[Field]) -> str:
    pairs = pairs_of(_arguments(call), signature)
    if mistake == "unknown_tool":
        return call_text(_unknown(call.name), pairs)
    if mistake == "missing_required":
        required = _first_required(signature)
        return call_text(call.name, [(key, value) for key, value in pairs if not _covers(key, required)])
    key = pairs[0][0] if pairs else "text"
    return f"<call>{call.name} {BROKEN_JSON if mistake == 'broken_json' else key + BROKEN_QUOTE}</call>"


def _first_required(signature: Sequence[Field]) -> str:
    for field_ in signature:
        if not field_.optional:
            return field_.key
    raise LostError("model: the plan leaves out a required field, and the manual has none")


def _unknown(name: str) -> str:
    return f"{name}_tool"


def _arguments(call: Call) -> dict[str, Any]:
    arguments = json.loads(call.text)
    assert isinstance(arguments, dict)
    return arguments


def call_text(name: str, pairs: Sequence[tuple[str, str]]) -> str:
    return f"<call>{' '.join([name, *(f'{key}={value}' for key, value in pairs)])}</call>"


def pairs_of(arguments: dict[str, Any], fields: Sequence[Field], prefix: str = "") -> list[tuple[str, str]]:
    """Keys and written values; an object is written with dots where the manual shows dots, else as JSON."""
    pairs = []
    for name, value in arguments.items():
        key = prefix + name
        dotted = any(field_.key.startswith(f"{key}.") for field_ in fields)
        if isinstance(value, dict) and value and dotted:
            pairs += pairs_of(value, fields, f"{key}.")
        elif isinstance(value, str):
            pairs.append((key, _quoted(value)))
        else:
            pairs.append((key, json.dumps(value, ensure_ascii=False)))
    return pairs


def _quoted(text: str) -> str:
    """Only plain words go without quotes, nothing that could be a number, a boolean or null."""
    if re.fullmatch(r"[A-Z][a-z]{5,}", text):
        return text
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(character, character) for character in text) + '"'
