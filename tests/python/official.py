"""The official chat templates of the families: which rows read and write what they render, and what differs.

`make templates` fetches them; see `scripts/templates.py`. docs/families.md lists the table below.
"""

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

TEMPLATES = (
    Official("Qwen-Qwen3-0.6B", ("hermes", "qwen3-thinking"), **IM, reasoning=qwen3),
    Official("Qwen-Qwen2.5-7B-Instruct", ("hermes",), **IM),
    Official("Qwen-QwQ-32B", ("hermes", "qwen3-thinking"), **IM),
    Official("MiMo-VL", ("hermes",), **IM),
    Official(
        "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", ("hermes",), **IM, keeps_content=False, differs=DROPS
    ),
    Official(
        "NousResearch-Hermes-3-Llama-3.1-8B-tool_use", ("hermes",), **IM, keeps_content=False, differs=DROPS
    ),
    Official("ibm-granite-granite-4.0", ("hermes",), **GRANITE),
    Official("ibm-granite-granite-4.1", ("hermes",), **GRANITE),
    Official(
        "Bielik-11B-v3.0-Instruct",
        ("hermes",),
        **IM,
        reasoning=given,
        results=0,
        same=None,
        differs="one line break after the reasoning, and one before each call; results in another form",
    ),
    Official(
        "Reka-Edge",
        ("hermes",),
        "assistant: ",
        ("\n\n<sep>",),
        variables={"enable_thinking": True},
        reasoning=qwen3,
        same=None,
        differs="nothing between calls; ASCII escapes in JSON",
    ),
    Official("Qwen3-Coder", ("qwen3coder",), **IM, content=str.strip, plain=no_scalars, differs=LITERALS),
    Official(
        "Qwen3.5-4B",
        ("qwen3.5", "qwen3coder"),
        **IM,
        content=str.strip,
        reasoning=after_user,
        plain=no_scalars,
        differs=LITERALS,
    ),
    Official(
        "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
        ("nemotron-3",),
        **IM,
        reads=("qwen3.5",),
        variables={"truncate_history_thinking": False},
        content=str.strip,
        reasoning=given,
        closed="<think></think>",
        plain=no_scalars,
        same=lambda text: text.replace("<think></think>\n<tool_call>", "<think></think><tool_call>"),
        differs=LITERALS + "; a line break after an empty span of reasoning",
    ),
    Official(
        "StepFun3.5-Flash",
        ("step-3.5",),
        **IM,
        reads=("qwen3.5",),
        reasoning=after_user,
        plain=no_scalars,
        differs=LITERALS,
    ),
    Official(
        "llama-cpp-deepseek-r1",
        ("deepseek-v3", "deepseek-r1"),
        **DEEPSEEK,
        keeps_content=False,
        differs="no content in a turn with calls; a line break before the first result",
        results=0,
    ),
    Official(
        "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
        ("deepseek-v3", "deepseek-r1"),
        **DEEPSEEK,
        head_after_result="",
        shape=none_for_empty,
        keeps_content=False,
        once=True,
        results=0,
        same=None,
        differs="writes the section only once in a conversation, and the end of results in the model's turn",
    ),
    Official(
        "deepseek-ai-DeepSeek-V3.1",
        ("deepseek-v3.1",),
        "<｜Assistant｜><think></think>",
        ("<｜end▁of▁sentence｜>",),
        head_after_result="",
    ),
    Official(
        "deepseek-ai-DeepSeek-V3.2",
        ("deepseek-v3.2",),
        **DEEPSEEK,
        head_after_result="\n\n",
        variables={"thinking": True},
        reasoning=after_user,
        closed="</think>",
        plain=bool,
        results=1,
        differs="nothing between the tags of a call without arguments, where the model's own encoder has "
        "an empty line",
    ),
    *(
        Official(
            file, ("deepseek-v4",), **DEEPSEEK, variables={"thinking": True}, reasoning=always, results=1
        )
        for file in ("deepseek-ai-DeepSeek-V4", "deepseek-ai-DeepSeek-V4-Flash-0731")
    ),
    Official(
        "GLM-4.6",
        ("glm-4.5",),
        "<|assistant|>",
        ("",),
        reads=("glm-4.7",),
        content=str.strip,
        results=1,
        reasoning=glm45,
    ),
    Official(
        "GLM-4.7-Flash",
        ("glm-4.7", "glm-5.3"),
        "<|assistant|>",
        ("",),
        reads=("glm-4.5",),
        content=str.strip,
        results=1,
        reasoning=glm47,
        closed="</think>",
    ),
    Official(
        "Spark2.5",
        ("spark-2.5",),
        "<｜start▁of▁sentence｜><|Bot|>",
        ("<｜end▁of▁sentence｜>",),
        reads=("glm-4.7",),
        reasoning=given,
        closed="</think>",
    ),
    Official(
        "poolside-Laguna-S-2.1",
        ("glm-4.7",),
        "<assistant>",
        ("</assistant>\n",),
        variables={"enable_thinking": True},
        results=0,
        differs="results in turns of their own",
        reasoning=always,
    ),
    Official(
        "inclusionai-ling-3.0-flash",
        ("ling-3",),
        "<role>ASSISTANT</role>",
        ("<|role_end|>",),
        reads=("glm-4.5",),
        reasoning=always,
    ),
    Official("Kimi-K2-Instruct", ("kimi-k2",), **KIMI),
    Official(
        "moonshotai-Kimi-K2",
        ("kimi-k2",),
        head=KIMI["head"],
        tails=KIMI["tails"],
        call_id=lambda name, _before, index: f"functions.{name}:{index}",
        results=0,
        differs="ids count in the message; a backslash and an n in results",
    ),
    Official("Kimi-K2-Thinking", ("kimi-k2-thinking", "kimi-k2.6"), **KIMI, reasoning=kimi_thinking),
    Official(
        "Kimi-K3",
        ("kimi-k3",),
        '<|open|>message role="assistant"<|sep|>',
        ("<|end_of_msg|>",),
        opens_reasoning=True,
        reasoning=always,
    ),
    Official(
        "ByteDance-Seed-OSS",
        ("seed-oss",),
        "<seed:bos>assistant\n",
        ("<seed:eos>",),
        content=str.strip,
        reasoning=given,
    ),
    Official(
        "openbmb-MiniCPM5-1B",
        ("minicpm5",),
        **IM,
        reasoning=given_after_user,
    ),
    *(
        Official(
            file,
            ("laguna-xs",),
            "<assistant>\n",
            ("\n</assistant>\n",),
            variables={"enable_thinking": True},
            content=str.strip,
            reasoning=given,
            closed="</think>\n",
        )
        for file in ("poolside-Laguna-XS.2", "poolside-Laguna-XS-2.1")
    ),
    Official(
        "tencent-Hy3",
        ("hy3",),
        "<｜hy_Assistant:opensource｜>",
        ("<｜hy_eos:opensource｜>", ""),
        variables={"reasoning_effort": "high"},
        reasoning=always,
    ),
    Official(
        "MiniMax-M2",
        ("minimax-m2",),
        "]~b]ai\n",
        ("[e~[\n",),
        reasoning=given_after_user,
    ),
    Official(
        "LFM2.5-8B-A1B",
        ("lfm2",),
        **IM,
        shape=with_thinking,
        reasoning=glm47,
        differs="escapes what cannot be printed in strings in lists",
    ),
    *(
        Official(file, ("llama-json",), **LLAMA, differs=DROPS)
        for file in (
            "meta-llama-Llama-3.1-8B-Instruct",
            "meta-llama-Llama-3.2-3B-Instruct",
            "meta-llama-Llama-3.3-70B-Instruct",
        )
    ),
    Official(
        "MiniMax-M3",
        ("minimax-m3",),
        "]~b]ai\n",
        ("[e~[\n",),
        reasoning=given,
        closed="</mm:think>",
        arguments=without_nulls,
    ),
    Official(
        "mistralai-Mistral-Nemo-Instruct-2407",
        ("mistral",),
        **MISTRAL,
        keeps_content=False,
        results=0,
        same=None,
        differs="the form before v11, which the row reads and does not write",
    ),
    Official(
        "Mistral-Small-3.2-24B-Instruct-2506",
        ("mistral",),
        **MISTRAL,
        keeps_content=False,
        results=0,
        same=None,
        differs="v11, with ids of calls; the row writes v13",
    ),
    Official(
        "mistralai-Ministral-3-14B-Reasoning-2512",
        ("mistral",),
        **MISTRAL,
        shape=with_blocks,
        reasoning=given,
    ),
    Official(
        "MiniMax-M1",
        ("minimax-m1",),
        "<beginning_of_sentence>ai name=assistant\n",
        ("<end_of_sentence>\n",),
        content=str.strip,
        keeps_content=False,
        differs=DROPS,
    ),
    Official(
        "NVIDIA-Nemotron-Nano-v2",
        ("nemotron-nano-v2",),
        "<SPECIAL_11>Assistant\n",
        ("\n<SPECIAL_12>\n<SPECIAL_11>User\nFurther.\n",),
        content=str.strip,
        followed=True,
        results=1,
        differs="all results of a turn in one list",
    ),
    Official(
        "fireworks-ai-llama-3-firefunction-v2",
        ("firefunction-v2",),
        "",
        ("<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",),
        variables={"functions": "[]", "datetime": "today"},
        content=str.strip,
    ),
    Official(
        "Apertus-8B-Instruct",
        ("apertus",),
        "<|assistant_start|>",
        ("",),
        head_after_result="",
        results=1,
        differs="all results of a turn in one list",
    ),
    Official(
        "unsloth-Apriel-1.5",
        ("apriel-1.5",),
        "<|assistant|>\n",
        ("\n<|end|>\n</s><|user|>\nFurther.\n<|end|>\n",),
        followed=True,
    ),
    Official(
        "Apriel-1.6-15b-Thinker-fixed",
        ("apriel-1.6",),
        "\n<|begin_assistant|>\n",
        ("\n<|end|>\n<|begin_user|>\nFurther.",),
        followed=True,
    ),
    Official("unsloth-mistral-Devstral-Small-2507", ("mistral",), **MISTRAL),
    Official(
        "openai-gpt-oss-120b",
        ("harmony",),
        "<|start|>assistant",
        ("",),
        shape=with_thinking,
        reasoning=gpt_oss,
        keeps_content=False,
        calls=1,
        same=as_harmony,
        results=0,
        differs="`json` without `<|constrain|>`; one call in a turn, without content; results as JSON",
    ),
    Official(
        "google-gemma-4-31B-it",
        ("gemma4",),
        "<|turn>model\n",
        ("<turn|>\n", "<|tool_response>"),
        head_after_result="",
        content=str.strip,
        results_inside=True,
        reasoning=gemma,
        plain=no_null,
        differs="writes `None`; the row writes `null` as newer templates do",
    ),
    Official("meetkai-functionary-medium-v3.1", ("functionary-v3.1",), **FUNCTIONARY),
    Official(
        "upstage-Solar-Open-100B",
        ("solar-open",),
        "<|begin|>assistant",
        ("",),
        variables={"add_generation_prompt": False},
        shape=with_reasoning,
        reasoning=given_after_user,
        keeps_content=False,
        differs=DROPS,
    ),
    Official(
        "llm-jp-llm-jp-4.1-8b-thinking",
        ("llm-jp-4.1",),
        "<|start|>assistant",
        ("",),
        variables={"add_generation_prompt": False},
        shape=with_thinking,
        reasoning=if_last,
        keeps_content=False,
        same=with_end,
        reads=("harmony",),
        differs=DROPS,
    ),
    Official(
        "meetkai-functionary-medium-v3.2",
        ("functionary-v3.2",),
        LLAMA["head"],
        ("<|eot_id|>",),
        shape=with_json,
    ),
    Official(
        "muse-glimmer",
        ("muse",),
        "<|start|>assistant",
        ("",),
        reasoning=given,
        keeps_content=False,
        differs=DROPS,
    ),
    Official(
        "CohereForAI-c4ai-command-r-plus-tool_use",
        ("command-r-plus",),
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        ("<|END_OF_TURN_TOKEN|>" + COMMAND_R, "\n" + COMMAND_R),
        content=str.strip,
        arguments=indented,
        plain=lambda arguments: not arguments,
        differs="each argument on a line of its own",
    ),
    Official("GigaChat3.1-10B-A1.8B", ("gigachat3",), **GIGACHAT),
    Official(
        "GigaChat3-10B-A1.8B",
        ("gigachat3",),
        **GIGACHAT,
        same=None,
        differs="a call is a message of its own, which the row reads and does not write",
    ),
    Official(
        "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
        ("cohere",),
        "",
        ("<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",),
        variables={"enable_thinking": True},
        reasoning=before_calls,
        call_id=counted,
        keeps_content=False,
        results=1,
        differs=DROPS,
    ),
    Official(
        "Cohere2MoE",
        ("cohere-command4",),
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        ("<|END_OF_TURN_TOKEN|>",),
        reads=("cohere",),
        reasoning=given,
        call_id=counted,
        keeps_content=False,
        results=1,
        differs=DROPS,
    ),
)

NO_FORMAT = "the models have no format of their own"
NO_PAST_CALLS = "it renders no past calls"
# Templates that are not compared, the row that `protocol_from_template` gives for them, and the reason.
NOT_COMPARED: dict[str, tuple[str | None, str]] = {
    "HuggingFaceTB-SmolLM3-3B": (None, NO_PAST_CALLS),
    "LFM2-8B-A1B": (None, NO_PAST_CALLS),
    "LFM2.5-Instruct": (None, NO_PAST_CALLS),
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": (
        "deepseek-r1",
        "it writes the content after the calls, and does not end the section of a single call",
    ),
    "google-gemma-2-2b-it": (None, NO_FORMAT),
    "google-gemma-4-31B-it-interleaved": (
        "gemma4",
        "it writes no line break before the closer of reasoning, as the row does",
    ),
    "ibm-granite-granite-3.3-2B-Instruct": (
        "granite-3",
        "it renders no past calls, but tells the model how to write them",
    ),
    "llama-cpp-rwkv-world": (None, NO_FORMAT),
    "microsoft-Phi-3.5-mini-instruct": (None, NO_FORMAT),
}
