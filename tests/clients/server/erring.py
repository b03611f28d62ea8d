"""A model that knows the right call for each prompt, and errs on purpose, as often as a test wants.

It answers natively where the request has tools, else in the format that its manual shows: by its own rules,
not wirecall's encoder.
"""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .answers import Answer, Call, Delivery, Failure, Part, Refusal, Reply, Usage
from .app import Request
from .conversation import Conversation, read
from .formats import FORMATS
from .model import Field, LostError, call_text, manual_signature, pairs_of

Slip = Literal[
    "prose_first",  # words before a right call
    "wrong_name",
    "wrong_value",
    "missing",  # the first argument is left out
    "bad_quotes",  # a quoted text with quotes in it, not escaped
    "broken",  # what nobody can read
    "no_call",
    "two_calls",
    "refusal",
    "cut_off",  # by the limit of tokens, in the middle of the call
]

PROSE = "Sure, let me do that. "
REFUSAL = "I cannot help with that."


@dataclass(frozen=True)
class Asked:
    """What a rule of slips may look at.

    Attributes:
        prompt: The user's first words.
        mode: "native", or the format of the manual.
        model: Its name in the request.
        system: With the manual.
        attempt: How often the model has answered in this conversation.
        count: How often this prompt was asked in this mode before; requests with an answer in them do not
            count.
    """

    prompt: str
    mode: str
    model: str
    system: str
    attempt: int
    count: int


Rule = Callable[[Asked], Slip | Failure | None]


class ErringModel:
    """Answers prompts with calls, by a rule that says what goes wrong with them.

    Args:
        known: The right call for each prompt.
        rule: None errs never.
    """

    def __init__(
        self, known: Mapping[str, Call], rule: Rule | None = None, *, delivery: Delivery | None = None
    ) -> None:
        self.known = known
        self.rule: Rule = rule or (lambda asked: None)
        self.delivery = delivery or Delivery(characters=20)
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        conversation = read(request.json)
        asked = self._asked(request, conversation)
        if asked.prompt not in self.known:
            raise LostError(f"model: nobody told me what to do for {asked.prompt!r}")
        slip = self.rule(asked)
        if isinstance(slip, Failure):
            return slip
        call = self.known[asked.prompt]
        finish: Any = {"refusal": "refusal", "cut_off": "length"}.get(slip or "")
        parts = self._parts(call, slip, asked)
        if finish is None and asked.mode != "native":
            finish = "stop"
        written = sum(len(part if isinstance(part, str) else part.text) for part in parts)
        usage = Usage(len(request.body) // 4, written // 4 + 1)
        return Answer(parts, finish, usage, self.delivery)

    def _asked(self, request: Request, conversation: Conversation) -> Asked:
        prompt = conversation.turns[0].text
        mode = "native" if conversation.tools else mode_of(conversation.system)
        model = request.json["model"]
        attempt = sum(turn.role == "assistant" for turn in conversation.turns)
        with self._lock:
            count = self._counts[model, mode, prompt]
            self._counts[model, mode, prompt] += not attempt
        return Asked(prompt, mode, model, conversation.system, attempt, count)

    def _parts(self, call: Call, slip: Slip | None, asked: Asked) -> list[Part]:
        if slip == "refusal":
            return [Refusal(REFUSAL)]
        if slip == "no_call":
            return ["I would call " + call.name + "."]
        written = self._native(call, slip) if asked.mode == "native" else self._text(call, slip, asked)
        twice = [written, written] if slip == "two_calls" else [written]
        return [PROSE, *twice] if slip == "prose_first" else list(twice)

    def _native(self, call: Call, slip: Slip | None) -> Part:
        if slip == "broken":
            return Call(call.name, "[object Object]")
        if slip == "bad_quotes":
            key = next(iter(_arguments(call)), "text")
            return Call(call.name, f'{{"{key}": "a "quoted" word"}}')
        if slip == "cut_off":
            return Call(call.name, call.text[: len(call.text) // 2])
        return _slipped(call, slip)

    def _text(self, call: Call, slip: Slip | None, asked: Asked) -> Part:
        if slip == "bad_quotes" and asked.mode == "wire":
            return call_text(call.name, [(next(iter(_arguments(call)), "text"), '"a "quoted" word"')])
        slipped = _slipped(call, slip)
        if asked.mode != "wire":
            form = FORMATS[asked.mode]
            if slip in ("broken", "bad_quotes"):
                return str(form.broken(call.name, "[object Object]"))
            text = str(form.call(slipped.name, _arguments(slipped)))
        elif slip == "broken":
            return f"<call>{call.name} [object Object]</call>"
        else:
            text = call_text(slipped.name, pairs_of(_arguments(slipped), _signature(asked.system, call)))
        return text[: len(text) // 2] if slip == "cut_off" else text


def mode_of(system: str) -> str:
    """The format that a manual shows; signatures alone are wire's."""
    return next((mode for sign, mode in _SIGNS.items() if sign in system), "wire")


_SIGNS = {
    "<function=": "qwen3coder",
    "```tool_call": "gemma",
    "<tool_call>": "hermes",
    "one tag for each parameter": "xml",
    "one line of YAML for each parameter": "yaml",
}


def _signature(system: str, call: Call) -> list[Field]:
    return manual_signature(system, call.name)


def _slipped(call: Call, slip: Slip | None) -> Call:
    arguments = _arguments(call)
    first = next(iter(arguments), None)
    if slip == "wrong_name":
        return Call(f"{call.name}_tool", arguments)
    if slip == "missing":
        return Call(call.name, {key: value for key, value in arguments.items() if key != first})
    if slip == "wrong_value" and first is not None:
        return Call(call.name, {**arguments, first: _another(arguments[first])})
    return Call(call.name, arguments)


def _another(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value + " or so"
    return value[:-1] if isinstance(value, list) and value else []


def _arguments(call: Call) -> dict[str, Any]:
    assert not isinstance(call.arguments, str)
    return dict(call.arguments)
