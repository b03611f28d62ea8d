"""Formats by the response templates of transformers and TRL: what is described, and what cannot be."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirecall._tools.formats.response_template import described
from wirecall.errors import ToolError

sys.path.append(str(Path(__file__).parents[1] / "peers"))

from response_template import (
    FIXTURES,
    FUNCTION,
    GEMMA_JSON,
    JSON_CALL,
    QWEN,
    REFUSED,
    THINK,
    calls,
    tagged,
    template,
)

BREAKS = {"break_after_open": True, "break_before_close": True, "breaks_after": True}
THOUGHTS = {"template": "<think>{reasoning}</think>", **BREAKS}
JSON_TEXT = '<tool_call>{"name": {name}, "arguments": {arguments}}</tool_call>'
TAGGED = {
    "call": "<tool_call>\n<function={name}>\n{args}</function>\n</tool_call>",
    "argument": "<parameter={key}>\n{value}\n</parameter>\n",
}
GEMMA = {
    "reasoning": {
        "template": "<|channel>thought\n{reasoning}<channel|>",
        "pair": ["<|channel>thought\n", "<channel|>"],
        **BREAKS,
    },
    "stops": ["<turn|>", "<|tool_response>", "<eos>"],
    "call": "<|tool_call>call:{name}{members}<tool_call|>",
    "calls": {"quote": '<|"|>'},
    "special_tokens": True,
}
DESCRIBED: dict[str, dict[str, Any]] = {
    "cohere": {
        "reasoning": {"template": "<|START_THINKING|>{reasoning}<|END_THINKING|>", **BREAKS},
        "answer": ["<|START_RESPONSE|>", "<|END_RESPONSE|>"],
        "call": '{"tool_name": {name}, "parameters": {arguments}}',
        "message": "<|START_ACTION|>[{calls|, }]<|END_ACTION|>",
        "special_tokens": True,
    },
    "ernie": {
        "reasoning": THOUGHTS,
        "starts_in_reasoning": True,
        "answer": ["<response>", "</response>"],
        "call": JSON_TEXT,
    },
    "smollm": {"reasoning": THOUGHTS, "stops": ["<|im_end|>"], "call": JSON_TEXT},
    "qwen3": {"reasoning": THOUGHTS, **TAGGED},
    "xml-strings": {"reasoning": False, **TAGGED},
    "gemma4": GEMMA,
    "paths": {"reasoning": False, "call": '<tool>{"name": {name}, "args": {arguments}}</tool>'},
    "python-call-list": {
        "reasoning": THOUGHTS,
        "stops": ["<|im_end|>"],
        "call": "{name}({kwargs})",
        "message": "<|tool_call_start|>[{calls|, }]<|tool_call_end|>",
        "special_tokens": True,
    },
    "trl-qwen3": {"reasoning": THOUGHTS, "stops": ["<|im_end|>"], "call": JSON_TEXT},
    "trl-qwen3.5": {"reasoning": THOUGHTS, "stops": ["<|im_end|>"], **TAGGED},
    "trl-glm4moe": {
        "reasoning": THOUGHTS,
        "stops": ["<|user|>"],
        "call": "<tool_call>{name}\n{args}</tool_call>",
        "argument": "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n",
    },
    "trl-llama3": {
        "reasoning": False,
        "stops": ["<|eot_id|>"],
        "call": '{"name": {name}, "parameters": {arguments}}',
    },
    "trl-nemotron3": {
        "reasoning": {**THOUGHTS, "prompt": "<think>\n"},
        "starts_in_reasoning": True,
        "stops": ["<|im_end|>"],
        **TAGGED,
    },
    "trl-gemma4": GEMMA,
}
ANCHOR = "<|assistant|>"


def of(**fields: Any) -> dict[str, Any]:
    """What is described of these fields, without what is the same for all."""
    found = described(template(ANCHOR, **fields), "acme")
    assert found.pop("name") == "acme"
    return {key: value for key, value in found.items() if value not in (False, [])}


def test_every_fixture_is_expected() -> None:
    assert set(FIXTURES) == {*DESCRIBED, *REFUSED}


@pytest.mark.parametrize("name", DESCRIBED)
def test_fixture_is_described(name: str) -> None:
    assert described(FIXTURES[name].template, name) == {"name": name, "stops": [], **DESCRIBED[name]}


@pytest.mark.parametrize("name", REFUSED)
def test_fixture_that_cannot_be_described_says_where_and_why(name: str) -> None:
    place, why = REFUSED[name]
    with pytest.raises(ToolError) as error:
        described(FIXTURES[name].template, name)
    assert f"{place}: " in str(error.value)
    assert why in str(error.value)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        # Several forms: the first is written, the others are read, too.
        (
            {**JSON_CALL, "open": ["<tool_call>", "<tool>"]},
            {
                "call": JSON_TEXT,
                "spellings": [{"call": JSON_TEXT.replace("<tool_call>", "<tool>")}],
            },
        ),
        # The end of the message closes a call in any case.
        (
            {**{key: JSON_CALL[key] for key in JSON_CALL if key != "close"}, "close_pattern": "$"},
            {"call": JSON_TEXT[:-12]},
        ),
        (
            calls(open_pattern=r"\[CALL\](?P<name>[\w.-]+)\[ARGS\]", content="json"),
            {"call": "[CALL]{name}[ARGS]{arguments}"},
        ),
        (
            calls(
                open_pattern=r"<\|call\|>functions\.(?P<fn>\S+):(?P<n>\d+)<\|args\|>",
                close="<|end|>",
                transform={"id": "{n}", "function": {"name": "{fn}", "arguments": "{content}"}},
            ),
            {
                "call": "<|call|>functions.{name}:{id}<|args|>{arguments}<|end|>",
                "special_tokens": True,
            },
        ),
        (
            tagged(
                r'<invoke name="(?P<name>[^"]+)">',
                r'<parameter name="(?P<key>[^"]+)">(?P<value>.*?)</parameter>',
                close="</invoke>",
            ),
            {
                "call": '<invoke name="{name}">{args}</invoke>',
                "argument": '<parameter name="{key}">{value}</parameter>',
            },
        ),
        # Without a transform, the content is the call.
        (
            {"open": "<do>", "close": "</do>", "content": "json"},
            {"call": '<do>{"name": {name}, "arguments": {arguments}}</do>'},
        ),
        (
            {
                "open": "<do>",
                "close": "</do>",
                "content": "json",
                "transform": {"id": "{content.id}", "name": "{content.n}", "arguments": "{content.a}"},
            },
            {"call": '<do>{"id": {id}, "n": {name}, "a": {arguments}}</do>'},
        ),
    ],
)
def test_calls(field: dict[str, Any], expected: dict[str, Any]) -> None:
    assert of(tool_calls=field) == expected


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ({**THINK, "open": ["<think>", "[THINK]"]}, {**THOUGHTS, "also": [["[THINK]", "</think>"]]}),
        ({**THINK, "content_args": {"strip": False}}, {"template": "<think>{reasoning}</think>"}),
        ({"open_pattern": r"\s*<think>\s*", "close_pattern": r"\s*</think>\s*|\Z"}, THOUGHTS),
    ],
)
def test_reasoning(field: dict[str, Any], expected: dict[str, Any]) -> None:
    assert of(thinking=field, tool_calls=JSON_CALL) == {"reasoning": expected, "call": JSON_TEXT}


def test_prompt_that_opens_reasoning() -> None:
    fields = {"reasoning": THINK, "tool_calls": JSON_CALL}
    for anchor, prompt in (
        ("<|im_start|>assistant\n<think>\n", {"prompt": "<think>\n"}),
        ("[ASSISTANT]<think>", {}),
    ):
        found = described(template(anchor, **fields), "acme")
        assert found["reasoning"] == {**THOUGHTS, **prompt}
        assert found["starts_in_reasoning"] is True


def test_content_between_markers_may_end_the_turn() -> None:
    content = {"open": "<response>", "close": ["</response>", "<|end|>"]}
    assert of(content=content, tool_calls=JSON_CALL) == {
        "answer": ["<response>", "</response>"],
        "stops": ["<|end|>"],
        "call": JSON_TEXT,
    }


@pytest.mark.parametrize(
    ("pattern", "opener"),
    [
        (r"<a>\s*<b>", "<a>\n<b>"),
        (r"<a> ?b", "<a> b"),
        (r"\[A\]\s+b", "[A] b"),
        (r"(?:<a|<b)>", "<a>"),
        (r"<a>(?:\n<b>)?", "<a>\n<b>"),
        (r"(<a>)", "<a>"),
        (r"<a\\\{>", "<a\\{>"),
        (r"<a>{", "<a>{"),
    ],
)
def test_pattern(pattern: str, opener: str) -> None:
    found = of(thinking={"open_pattern": pattern, "close": "</z>"}, tool_calls=JSON_CALL)
    assert found["reasoning"]["template"] == f"{opener}{{reasoning}}</z>"


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("<a+>", "at character 2 matches text that differs"),
        (r"<\w>", r"at character 2 matches text that differs"),
        ("<[ab]>", "at character 2 matches text that differs"),
        ("a{2}", "at character 1 matches text that differs"),
        ("*", "at character 1 matches text that differs"),
        ("<a>\\", "at character 4 matches text that differs"),
        ("(?i)<a>", "at character 1 begins a group that cannot be described"),
        ("<a>(?!b)", "at character 4 begins a group that cannot be described"),
        (r"(?P<x>a|b)", "at character 1 begins a group that cannot be described"),
        ("(?:<a>)+", "at character 1 begins a group that is repeated"),
        ("(<a>", "at character 1 begins a group that is not closed"),
        ("<a>)", "at character 4 closes no group"),
        (r"<a>(?P<x>\w+)", "'x' stands for text that differs"),
        ("^<a>", r"'\^' stands for text that differs"),
        ("", "it may be empty"),
        (r"\s*", "it may be empty"),
        ("<a>|", "it may be empty"),
        ("<{name}>", "'{name}' would be a hole"),
    ],
)
def test_pattern_that_cannot_be_described(pattern: str, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        of(thinking={"open_pattern": pattern, "close": "</z>"}, tool_calls=JSON_CALL)


@given(
    st.lists(
        st.sampled_from([*"<|>/ab{}()?*+.[]^$\\", r"\s*", r"\n?", "(?:", "</a>", r"\|", " "]), max_size=12
    )
)
def test_pattern_matches_what_is_described(parts: list[str]) -> None:
    """Also if it is not described, it is read to its end without another error."""
    pattern = "".join(parts)
    field = {"open_pattern": pattern, "close": "</zz>", "content_args": {"strip": False}}
    try:
        found = of(thinking=field, tool_calls={**JSON_CALL, "open": "(call)"})
    except ToolError:
        return
    first, _, _ = found["reasoning"]["template"].partition("{reasoning}")
    openers = [first, *(open for open, _ in found["reasoning"].get("also", []))]
    if openers == ["<zz>"]:
        return
    # Any whitespace is optional, and there is one form of it.
    matches = re.compile(pattern.replace(" +", " *"), re.DOTALL).fullmatch
    for opener in openers:
        assert any(matches(before + opener + after) for before in ("", " ") for after in ("", " ")), opener


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"citation": THINK}, "there is no key 'citation'"),
        (
            {"reasoning": THINK, "thinking": THINK},
            "reasoning and thinking are both|thinking and reasoning are both",
        ),
        ({"thinking": {"close": "</think>"}}, "nothing is known that opens reasoning"),
        ({"thinking": {"open_pattern": "^", "close": "[END]"}}, "nothing is known that opens reasoning"),
        ({"thinking": {"open": "<think>"}}, r"\['close'\]: it is missing"),
        ({"thinking": {**THINK, "content": "int"}}, "only text without a transform"),
        ({"thinking": {**THINK, "open_pattern": "<think>"}}, "open_pattern is given, too"),
        ({"thinking": {**THINK, "opens": "<think>"}}, r"\['thinking'\]: there is no key 'opens'"),
        ({"content": {"open": "<a>"}}, r"\['close'\]: it is missing"),
        ({"content": {"open": ["<a>", "<b>"], "close": "</a>"}}, "only one marker of content"),
        ({"tool_calls": {**JSON_CALL, "open": []}}, "it must have 1 to 16 texts, not 0"),
        ({"tool_calls": {"content": "json"}}, r"\['open'\]: it must begin with text"),
        (
            {
                "content": {"close": "<|end|>"},
                "tool_calls": calls(open="<a>", close_pattern=r"(?P<x>\w+)<\|end\|>"),
            },
            r"\['close_pattern'\]: 'x' stands for text that differs",
        ),
        ({"tool_calls": {**JSON_CALL, "content": "text"}}, "calls in this form"),
        (
            {"tool_calls": calls(open_pattern=r"call:(?P<name>\w+)", content_args={"unquoted_keys": True})},
            "only one quote",
        ),
        (
            {"tool_calls": calls(open_pattern=r"<do>(?P<name>\w+)", content_args=GEMMA_JSON)},
            "the name before such arguments must follow call:",
        ),
        ({"tool_calls": {**JSON_CALL, "transform": {"function": FUNCTION, "x": 1}}}, "there is no key 'x'"),
        (
            {"tool_calls": {**JSON_CALL, "transform": {"function": {"name": "f"}}}},
            r"\['name'\]: it must be a place",
        ),
        ({"tool_calls": calls(open="<a>", close="</a>")}, "it must have a group for the name"),
        ({"tool_calls": calls(open_pattern=r"(?P<name>\w+)\(", close=")")}, "it must begin with text"),
        ({"tool_calls": tagged(QWEN[0], QWEN[1], close=None)}, r"\['close'\]: it is missing"),
        ({"tool_calls": tagged(QWEN[0], r"<a>(?P<value>\w+)</a>")}, "it must have a group key"),
        ({"tool_calls": tagged(*QWEN, values={"name": "json"})}, "only values that are text"),
        ({"tool_calls": {**JSON_CALL, "content": "python-call-list"}}, r"only \{name\} and \{arguments\}"),
        # Markers that cannot be told apart.
        ({"thinking": {**THINK, "open": "</think>"}}, "'</think>' opens the field, too"),
        ({"tool_calls": {**JSON_CALL, "close": "<tool_call>"}}, "'<tool_call>' opens the field, too"),
        ({"thinking": {**THINK, "open": "<tool_call>"}}, "'<tool_call>' begins (reasoning|tool_calls), too"),
    ],
)
def test_field_that_cannot_be_described(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ToolError, match=why):
        of(**{"tool_calls": JSON_CALL, **fields})


@pytest.mark.parametrize(
    ("given", "where"),
    [
        (5, "response_template must be an object, not int"),
        ({}, r"response_template\['fields'\] must be an object, not NoneType"),
        ({"fields": []}, r"\['fields'\] must be an object, not list"),
        ({"fields": {"content": "x"}}, r"\['fields'\]\['content'\] must be an object, not str"),
        ({"fields": {"tool_calls": {"open": {}}}}, r"\['open'\] must be a str, not dict"),
        ({"fields": {"tool_calls": {"open_pattern": 1}}}, r"\['open_pattern'\] must be a str, not int"),
        (
            {"fields": {"tool_calls": {**JSON_CALL, "transform": "x"}}},
            r"\['transform'\] must be an object, not str",
        ),
        (
            {"fields": {"tool_calls": {**JSON_CALL, "transform_each": 1}}},
            r"\['transform_each'\] must be a bool",
        ),
        (
            {"fields": {"tool_calls": {**JSON_CALL, "content_args": []}}},
            r"\['content_args'\] must be an object",
        ),
        (
            {"fields": {"tool_calls": JSON_CALL}, "start_anchor": 1},
            r"\['start_anchor'\] must be a str, not int",
        ),
    ],
)
def test_values_of_other_types(given: Any, where: str) -> None:
    with pytest.raises(TypeError, match=where):
        described(given, "acme")


@pytest.mark.parametrize("version", [2, "1", None])
def test_other_versions(version: object) -> None:
    with pytest.raises(ToolError, match=r"\['version'\]: only version 1 is known"):
        described({**FIXTURES["qwen3"].template, "version": version}, "acme")


def circle() -> dict[str, Any]:
    """An object that contains itself, under keys of a declaration."""
    one: dict[str, Any] = {}
    one.update(fields=one, tool_calls=one, transform=one, function=one, content_args=one)
    return one


def deep() -> list[Any]:
    one: list[Any] = ["x"]
    for _ in range(100_000):
        one = [one]
    return one


HOSTILE: dict[str, Any] = {
    "a long text": {"open": "<" * 10_000_000},
    "a long pattern": {"open_pattern": "(a?" * 3_000_000},
    "nested quantifiers": {"open_pattern": "(" * 1_000 + "a" + ")+" * 500},
    "nested groups": {"open_pattern": "(?:" * 600},
    "alternatives of alternatives": {"open_pattern": "(?:a|b)" * 250},
    "many alternatives": {"open_pattern": "a|" * 1_000},
    "a large count": {"open_pattern": "a{" + "9" * 1_990 + "}"},
    "a long class": {"open_pattern": "(?P<name>[" + "\\" * 1_900},
    "a long lookahead": {"open_pattern": r"(?=[\s\S]*?" + "<" * 1_900},
    "whitespace": {"open_pattern": r"\s*" * 660 + "!"},
    "braces": {"open": "{" * 2_000},
    "many texts": {"open": ["<a>"] * 1_000_000},
    "a deep text": {"open": deep()},
    "a deep transform": {"transform": {"function": deep()}},
    "a transform that contains itself": {"transform": circle()},
    "a long key": {"x" * 10_000_000: 1},
    "a key that is not text": {(): 1},
    "a long placeholder": {"transform": {"name": "{" + "a." * 990, "arguments": "{content}"}},
    "empty markers": {"open": "", "close": ""},
    "equal markers": {"open": "<a>", "close": "<a>"},
    "quotes that contain themselves": {"content_args": {"string_delims": deep(), "unquoted_keys": True}},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_declaration_is_refused_at_once(name: str) -> None:
    field = {**calls(close="</a>"), **HOSTILE[name]}
    begin = time.monotonic()
    with pytest.raises((ToolError, TypeError)) as error:
        of(tool_calls=field)
    assert time.monotonic() - begin < 5
    assert len(str(error.value)) < 500


def test_declaration_that_contains_itself() -> None:
    with pytest.raises(ToolError, match="there is no key"):
        described(circle(), "acme")
