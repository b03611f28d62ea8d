"""How an official chat template renders a turn: what `official.py` says of each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parents[2] / ".venv" / "share" / "templates"
Json = dict[str, Any]


class Place(NamedTuple):
    """Where a turn of the assistant is in a conversation."""

    after_user: bool
    """No user's turn follows it."""
    last: bool
    finished: bool
    """It, or a later turn of the assistant, is without calls."""
    answered: bool
    """An earlier turn of the assistant is without calls."""
    calls: bool
    """It has calls."""


Reasoning = Callable[[str, Place], "str | None"]


def never(_reasoning: str, _place: Place) -> None:
    return None


def always(reasoning: str, _place: Place) -> str:
    return reasoning


def given(reasoning: str, _place: Place) -> str | None:
    return reasoning or None


def after_user(reasoning: str, place: Place) -> str | None:
    return reasoning if place.after_user else None


class Official(NamedTuple):
    """A template, and how to compare what it renders."""

    file: str
    rows: tuple[str, ...]
    """Those that read and write it."""
    head: str
    """What precedes a turn of the assistant."""
    tails: tuple[str, ...]
    """What follows it: the first one that is there."""
    head_after_result: str | None = None
    """The same as `head`, if it differs after a result."""
    reads: tuple[str, ...] = ()
    """Further rows that read it."""
    opens_reasoning: bool = False
    """The prompt always writes the opener of the reasoning, and a message never does."""
    variables: Mapping[str, Any] = {}
    shape: Callable[[Json], Json] = dict
    """The assistant's message in the form that the template expects."""
    content: Callable[[str], str] = str
    """What the template makes of the content."""
    reasoning: Reasoning = never
    """The reasoning that it writes, "" for an empty span, None for none."""
    closed: str = ""
    """What it writes for a turn without reasoning: a part of the prompt, which the row reads as framing."""
    arguments: Callable[[object], object] = lambda arguments: arguments
    """What it makes of the arguments."""
    keeps_content: bool = True
    """Whether a turn with calls has content."""
    calls: int = 3
    """The most calls in a turn."""
    followed: bool = False
    """A turn is compared with a user's turn after it, since the last one is written differently."""
    once: bool = False
    """Only the first turn with calls is written as such."""
    alternates: bool = False
    """Between two turns of the user there must be one of the assistant without calls."""
    call_id: Callable[[str, int, int], str] = lambda _name, before, _index: f"call{before:05}"
    """The id of a call: by its name, the calls before it, and those of them that are in its message."""
    plain: Callable[[object], bool] = lambda _arguments: True
    """Whether it writes these arguments as the row does."""
    results: int = 9
    """The results of a turn that are compared: more than one may be written in a common frame."""
    results_inside: bool = False
    """Results are between the calls and the content of a turn."""
    same: Callable[[str], str] | None = str
    """What makes the text of a turn the row's; None if turns are only read."""
    differs: str = ""
    """What is not the row's in its text, and why it is not compared."""


def no_scalars(arguments: object) -> bool:
    """Newer templates write `true` and `null` where this one writes `True` and `None`."""
    assert isinstance(arguments, dict)
    return not any(value is None or isinstance(value, bool) for value in arguments.values())


def no_null(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(no_null, value.values()))
    return all(map(no_null, value)) if isinstance(value, list) else value is not None


def without_nulls(value: object) -> object:
    """As a template writes it that leaves null members out."""
    if isinstance(value, dict):
        return {key: without_nulls(member) for key, member in value.items() if member is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def indented(value: object) -> object:
    """As a template writes it that indents JSON: some separators of lines are as they are in it."""
    if isinstance(value, dict):
        return {indented(key): indented(member) for key, member in value.items()}
    if isinstance(value, list):
        return [indented(item) for item in value]
    return re.sub("[\x85\u2028\u2029]", "\n" + 8 * " ", value) if isinstance(value, str) else value


def ascii_only(arguments: object) -> bool:
    return json.dumps(arguments, ensure_ascii=False).isascii()


def before_calls(reasoning: str, place: Place) -> str | None:
    return reasoning if place.calls else None


def given_after_user(reasoning: str, place: Place) -> str | None:
    return reasoning or None if place.after_user else None


def qwen3(reasoning: str, place: Place) -> str | None:
    return reasoning if place.after_user and (place.last or reasoning) else None


def kimi_thinking(reasoning: str, place: Place) -> str:
    return "" if place.finished and not place.answered else reasoning


def glm45(reasoning: str, place: Place) -> str:
    return reasoning if place.after_user else ""


def glm47(reasoning: str, place: Place) -> str | None:
    return reasoning or None if place.after_user else None


def gemma(reasoning: str, place: Place) -> str | None:
    return reasoning or None if place.after_user and place.calls else None


def gpt_oss(reasoning: str, place: Place) -> str | None:
    shown = not place.finished if place.calls else place.last
    return reasoning or None if shown else None


def if_last(reasoning: str, place: Place) -> str | None:
    return reasoning or None if place.last else None


def with_end(text: str) -> str:
    """A turn as it is written in a history."""
    return text.removesuffix("<|return|>") + "<|end|>" if text.endswith("<|return|>") else text


def as_harmony(text: str) -> str:
    """A turn as the format's own library writes it."""
    return with_end(text).replace("<|channel|>commentary json", "<|channel|>commentary <|constrain|>json", 1)


def with_thinking(message: Json) -> Json:
    """gpt-oss has another name for the reasoning, and writes an empty one."""
    made = {key: value for key, value in message.items() if key != "reasoning_content"}
    return {**made, "thinking": message["reasoning_content"]} if message["reasoning_content"] else made


def with_reasoning(message: Json) -> Json:
    """Another name for the reasoning."""
    made = {key: value for key, value in message.items() if key != "reasoning_content"}
    return {**made, "reasoning": message["reasoning_content"]}


def with_json(message: Json) -> Json:
    """Arguments are text."""
    calls = [
        {**call, "function": {**(given := call["function"]), "arguments": dumped(given["arguments"])}}
        for call in message.get("tool_calls", ())
    ]
    return {**message, "tool_calls": calls} if calls else message


def dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def with_blocks(message: Json) -> Json:
    """Mistral has the reasoning in a block of the content."""
    made = {key: value for key, value in message.items() if key != "reasoning_content"}
    thinking = [{"type": "thinking", "thinking": text} for text in [message["reasoning_content"]] if text]
    spoken = [{"type": "text", "text": text} for text in [message["content"]] if text]
    return {**made, "content": [*thinking, *spoken]}


def none_for_empty(message: Json) -> Json:
    return {**message, "content": message["content"] or None}


def counted(_name: str, before: int, _index: int) -> str:
    return str(before)


def kimi_id(name: str, before: int, _index: int) -> str:
    return f"functions.{name}:{before}"


# What several templates have in common.
IM: Any = {"head": "<|im_start|>assistant\n", "tails": ("<|im_end|>\n",)}
DEEPSEEK: Any = {"head": "<｜Assistant｜>", "tails": ("<｜end▁of▁sentence｜>",)}
KIMI: Any = {"head": "<|im_assistant|>assistant<|im_middle|>", "tails": ("<|im_end|>",), "call_id": kimi_id}
LLAMA: Any = {
    "head": "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "tails": ("<|eot_id|>",),
    "content": str.strip,
    "keeps_content": False,
    "calls": 1,
}
FUNCTIONARY: Any = {"head": LLAMA["head"], "tails": ("<|eom_id|>", "<|eot_id|>")}
GIGACHAT: Any = {"head": "assistant<|role_sep|>\n", "tails": ("<|message_sep|>\n\n",), "calls": 1}
MISTRAL: Any = {"head": "", "tails": ("</s>",), "alternates": True}
GRANITE: Any = {"head": "<|start_of_role|>assistant<|end_of_role|>", "tails": ("<|end_of_text|>\n",)}
COMMAND_R = """<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>Write 'Action:' followed by a json-formatted \
list of actions that you want to perform in order to produce a good response to the user's last \
input. You can use any of the supplied tools any number of times, but you should aim to execute the \
minimum number of necessary actions for the input. You should use the `directly-answer` tool if \
calling the other tools is unnecessary. The list of actions you want to call should be formatted as \
a list of json objects, for example:
```json
[
    {
        "tool_name": title of the tool in the specification,
        "parameters": a dict of parameters to input into the tool as they are defined in the \
specs, or {} if it takes no parameters
    }
]```<|END_OF_TURN_TOKEN|>"""
DROPS = "drops the content of a turn with calls"
LITERALS = "writes `True` and `None`; the row writes `true` and `null` as newer templates do"
