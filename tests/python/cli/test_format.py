"""`wirecall format`, and `--protocol FILE`."""

import json
from pathlib import Path

import pytest
from cli_support import TOOLS, run

from wirecall import Format

CALL = '<do>{"name": {name}, "arguments": {arguments}}</do>'
ONE = '<do>{"name": "get_weather", "arguments": {"city": "Rome"}}</do>'
TEMPLATE = """\
{%- for message in messages -%}
{{- '<|im_start|>' + message.role + '\\n' -}}
{%- if message.role == 'tool' %}{{ '<result>' + message.content + '</result>' }}
{%- elif message.content %}{{ message.content }}{% endif -%}
{%- for call in message.tool_calls -%}{{ '<do>' + call.function | tojson + '</do>' }}{%- endfor -%}
{{- '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif -%}
"""


@pytest.fixture
def acme(tmp_path: Path) -> str:
    path = tmp_path / "acme.toml"
    Format(name="acme", call=CALL).save(path)
    return str(path)


def test_a_built_in_format_is_shown(tmp_path: Path) -> None:
    shown = run("format", "show", "glm-4.7")
    assert shown.exit_code == 0
    path = tmp_path / "glm.toml"
    path.write_text(shown.stdout, encoding="utf-8")
    assert json.loads(run("format", "show", "glm-5", "--json").stdout) == Format.load(path).to_dict()
    unknown = run("format", "show", "glm-99")
    assert unknown.exit_code == 2
    assert "by name: no native format is known for the model 'glm-99'" in unknown.stderr


def test_commands_take_a_file(acme: str, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS), encoding="utf-8")
    given = ("--tools", str(tools), "--protocol", acme)
    assert run("encode", *given, "get_weather", '{"city": "Rome"}').stdout == f"{ONE}\n"
    assert '"name":"get_weather"' in run("parse", *given, stdin=f"I look. {ONE}").stdout
    assert "<do>" in run("manual", *given).stdout
    assert "<do>" in run("grammar", *given, "--kind", "gbnf").stdout
    (tmp_path / "bad.toml").write_text('version = 1\ncal = "x"\n', encoding="utf-8")
    refused = run("parse", "--protocol", str(tmp_path / "bad.toml"))
    assert refused.exit_code == 2
    assert 'there is no field "cal"; did you mean "call"?' in refused.stderr
    assert "none.toml" in run("parse", "--protocol", "none.toml").stderr


def test_a_template_is_inferred(tmp_path: Path) -> None:
    path = tmp_path / "chat_template.jinja"
    path.write_text(TEMPLATE, encoding="utf-8")
    output = tmp_path / "acme.toml"
    assert run("format", "infer", str(path), "-o", str(output)).exit_code == 0
    assert Format.load(output).to_dict()["call"] == CALL
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"chat_template": TEMPLATE, "eos_token": "<e>"}), encoding="utf-8")
    for source in (path, config, tmp_path):
        printed = run("format", "infer", str(source))
        assert (printed.exit_code, "<|im_end|>" in printed.stdout) == (0, True)
    path.write_text("{{ messages[0].content }}", encoding="utf-8")
    refused = run("format", "infer", str(path))
    assert refused.exit_code == 2
    assert "chat_template.jinja: the chat template" in refused.stderr
    assert run("format", "infer", str(path), "--set", "x").exit_code == 2


def test_a_format_is_checked(acme: str, tmp_path: Path) -> None:
    template = tmp_path / "chat_template.jinja"
    template.write_text(TEMPLATE, encoding="utf-8")
    samples = tmp_path / "answers.jsonl"
    call = {"name": "get_weather", "arguments": {"city": "Rome"}}
    samples.write_text("\n".join(map(json.dumps, [ONE, {"text": ONE, "calls": [call]}])), encoding="utf-8")
    given = ("--template", str(template), "--samples", str(samples), "--cases", "5")
    passed = run("format", "check", acme, *given)
    assert passed.exit_code == 0, passed.stdout
    lines = passed.stdout.splitlines()
    assert lines[0] == "ok      laws      5 generated cases"
    assert lines[1].startswith("ok      template  ")
    assert lines[2] == "ok      samples   2 answers with 2 calls"


def test_what_fails_is_shown(acme: str, tmp_path: Path) -> None:
    template = tmp_path / "chat_template.jinja"
    template.write_text(TEMPLATE.replace("<do>", "<call>"), encoding="utf-8")
    samples = tmp_path / "answers.jsonl"
    wrong = [{"text": ONE, "calls": []}, '<do>{"name": "get_weather", "arguments": {"city": </do>']
    samples.write_text("\n".join(map(json.dumps, wrong)), encoding="utf-8")
    failed = run(
        "format", "check", acme, "--template", str(template), "--samples", str(samples), "--cases", "5"
    )
    assert failed.exit_code == 1
    shown = failed.stdout.splitlines()
    assert "FAILED  template  the format does not read what the chat template writes" in shown
    assert any(line.startswith("FAILED  samples   ") and "line 1: expected []" in line for line in shown)
    assert any("line 2: " in line and "invalid_json" in line for line in shown)
    samples.write_text("{", encoding="utf-8")
    assert (
        "line 1: not valid JSON"
        in run("format", "check", acme, "--samples", str(samples), "--cases", "1").stderr
    )
