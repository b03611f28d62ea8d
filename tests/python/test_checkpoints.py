"""`format_for`: the format of a name, of a checkpoint's folder, and of a tokenizer's configuration."""

import json
from pathlib import Path
from typing import Any

import pytest

from wirecall import Format, ToolError, Toolset, format_for

HERMES = (
    '{{- \'<tool_call>\\n{"name": "\' }}{{- call.name }}{{- \'", "arguments": \' }}'
    "{{- call.arguments | tojson }}{{- '}\\n</tool_call>' }}"
)
NEW = """\
{%- for message in messages -%}
{{- '<|' + message.role + '|>' -}}
{%- if message.content %}{{ message.content }}{% endif -%}
{%- for call in message.tool_calls -%}
{{ '<do>' + call.function.name + '<with>' + call.function.arguments | tojson + '</do>' }}
{%- endfor -%}
{{- eos_token -}}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif -%}
"""
NEW_CALL = "<do>{name}<with>{arguments}</do>"
RESPONSE = {
    "fields": {
        "tool_calls": {
            "open": "<do>",
            "close": "</do>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": "<|im_end|>", "content": "text"},
    }
}

HERMES_RESPONSE = {
    "fields": {
        "tool_calls": {**RESPONSE["fields"]["tool_calls"], "open": "<tool_call>\n", "close": "</tool_call>"},
        "content": RESPONSE["fields"]["content"],
    }
}


def checkpoint(folder: Path, config: dict[str, Any], **files: str) -> Path:
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    for name, text in files.items():
        (folder / name.replace("_jinja", ".jinja")).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("glm-4.7", "glm-4.7"),
        ("gpt-oss", "harmony"),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3coder"),
        ("qwen3-coder:30b", "qwen3coder"),
        ("wire", "wire"),
    ],
)
def test_a_name(name: str, found: str) -> None:
    assert format_for(name).name == found
    assert Toolset(protocol=format_for(name)).protocol == found


def test_a_configuration() -> None:
    assert format_for({"chat_template": HERMES}).name == "hermes"
    assert format_for({"chat_template": HERMES, "name_or_path": "zai-org/GLM-4.7"}).name == "glm-4.7"
    several = [{"name": "default", "template": ""}, {"name": "tool_use", "template": HERMES}]
    assert format_for({"chat_template": several}).name == "hermes"
    inferred = format_for({"chat_template": NEW, "eos_token": {"content": "<|end|>"}})
    assert (inferred.name, inferred.to_dict()["call"]) == ("chat_template", NEW_CALL)
    assert inferred.to_dict()["stops"] == ["<|end|>"]
    # Its marks are those of hermes.
    assert format_for({"chat_template": NEW, "response_template": HERMES_RESPONSE}).name == "hermes"
    declared = format_for({"chat_template": NEW, "response_template": RESPONSE})
    assert declared.name == "response_template"
    # What cannot be read does not end the search.
    broken = {"chat_template": NEW, "eos_token": "<|end|>", "response_template": {"fields": 3}}
    assert format_for(broken).name == "chat_template"


def test_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    folder.mkdir()
    checkpoint(folder, {"eos_token": "<|end|>"}, chat_template_jinja=NEW)
    for source in (folder, str(folder)):
        found = format_for(source)
        assert (found.name, found.to_dict()["call"]) == ("acme", NEW_CALL)
    assert format_for(folder / "chat_template.jinja", eos_token="<|e|>").to_dict()["stops"] == ["<|e|>"]
    # Its name counts first.
    other = folder.rename(tmp_path / "Qwen3-8B")
    assert format_for(other).name == "hermes"


def test_what_was_tried_is_told(tmp_path: Path) -> None:
    checkpoint(
        tmp_path, {"response_template": {"fields": {}}}, chat_template_jinja="{{ messages[0].content }}"
    )
    with pytest.raises(ToolError) as raised:
        format_for(tmp_path)
    steps = str(raised.value).splitlines()
    assert steps[0] == "no format was found"
    for at, step in enumerate(
        [
            "by name",
            "by the marks of the templates",
            "by response_template",
            "by rendering the chat template",
        ]
    ):
        assert any(line.startswith(f"{step}: ") for line in steps), at
    with pytest.raises(ToolError, match="by templates: there is no chat template and no response_template"):
        format_for("acme-7b")


@pytest.mark.parametrize("content", ["{", "[1]", "\xff"])
def test_files_that_cannot_be_read(content: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(ToolError, match=r"tokenizer_config\.json"):
        format_for(tmp_path)


def test_a_source_of_another_type() -> None:
    with pytest.raises(TypeError, match="source must be a str, a path or a mapping, not int"):
        format_for(3)  # type: ignore[arg-type]
    assert isinstance(format_for("hermes"), Format)
