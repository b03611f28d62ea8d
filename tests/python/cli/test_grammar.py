"""`wirecall grammar`."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from cli_support import TOOLS, run

from support import EVERY, has_grammar
from wirecall import GrammarKind, Toolset
from wirecall._tools.models import protocol_for

KINDS = get_args(GrammarKind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("arguments", "choice"),
    [
        ([], {}),
        (["--tool-choice", "required"], {"tool_choice": "required"}),
        (["--tool-choice", "none"], {"tool_choice": "none"}),
        (["--tool-choice", "get_time"], {"tool_choice": "get_time"}),
        (["--no-parallel"], {"parallel": False}),
        (["--longest", "50"], {"longest": 50}),
        (
            ["--no-parallel", "--tool-choice", "get_weather"],
            {"parallel": False, "tool_choice": "get_weather"},
        ),
    ],
    ids=" ".join,
)
def test_the_text_is_that_of_the_toolset(tools: str, kind: Any, arguments: list[str], choice: Any) -> None:
    done = run("grammar", "--tools", tools, "--kind", kind, *arguments)
    text = Toolset(TOOLS).grammar(kind, **choice).text
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == text.removesuffix("\n") + "\n"


def test_tools_come_from_standard_input() -> None:
    done = run("grammar", "--tools", "-", "--kind", "gbnf", stdin=json.dumps({"tools": TOOLS}))
    assert (done.exit_code, done.stdout) == (0, Toolset(TOOLS).grammar("gbnf").text)


def test_what_is_not_constrained_is_on_standard_error(tmp_path: Path) -> None:
    properties = {
        "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "\x1b[31m": {"type": "string", "pattern": "^x"},
    }
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "look_up", "parameters": {"properties": properties}}]))
    done = run("grammar", "--tools", str(path), "--kind", "gbnf")
    [first, second] = done.stderr.splitlines()
    assert first == "wirecall: not constrained: look_up.code: pattern"
    assert second.startswith("wirecall: not constrained: look_up.")
    assert "\x1b" not in second
    assert done.exit_code == 0
    assert "not constrained" not in done.stdout


def test_a_model_selects_the_protocol(tools: str) -> None:
    name = "meta-llama/Llama-3.1-8B-Instruct"
    chosen = run("grammar", "--tools", tools, "--kind", "gbnf", "--model", name)
    given = run("grammar", "--tools", tools, "--kind", "gbnf", "--protocol", protocol_for(name))
    assert (chosen.exit_code, chosen.stdout) == (given.exit_code, given.stdout)
    if given.exit_code:
        assert chosen.stderr.startswith(f"Error: --model {name}: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Error: Missing option '--kind'. Choose from:"),
        (["--kind", "bnf"], "Error: Invalid value for '--kind': 'bnf' is not one of 'gbnf', 'ebnf', "),
        (["--kind", "gbnf", "extra"], "Error: Got unexpected extra argument (extra)"),
        (
            ["--kind", "gbnf", "--tool-choice", "get_tim"],
            "Error: --tool-choice: there is no tool 'get_tim'; did you mean 'get_time'? Available: auto, "
            "required, none, get_weather, get_time\n",
        ),
        (
            ["--kind", "gbnf", "--tool-choice", "x"],
            "Error: --tool-choice: there is no tool 'x'; available: auto, required, none, get_weather, "
            "get_time\n",
        ),
        (["--kind", "gbnf", "--protocol", "nope"], "Error: --protocol: "),
        (["--kind", "gbnf", "--model", "acme/one-\x1b[31m"], "Error: --model: no native format is known for"),
        (
            ["--kind", "gbnf", "--model", "qwen3:8b", "--protocol", "wire"],
            "Error: --protocol and --model cannot be combined.\n",
        ),
    ],
    ids=str,
)
def test_wrong_arguments(tools: str, arguments: list[str], message: str) -> None:
    done = run("grammar", "--tools", tools, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert "\x1b" not in done.stderr


def test_protocols_without_a_grammar(tools: str) -> None:
    protocol = next(name for name in EVERY if not has_grammar(name))
    done = run("grammar", "--tools", tools, "--kind", "gbnf", "--protocol", protocol)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: --protocol {protocol}: ")


def test_files_without_tools(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text("[]")
    done = run("grammar", "--tools", str(path), "--kind", "lark")
    assert done.exit_code == 2
    assert done.stderr == f"Error: {path}: the list of tools is empty, so there is no grammar\n"
    assert run("grammar", "--kind", "lark").exit_code == 2
    path.write_text('[{"name": "x", "parameters": {"type": "text"}}]')
    done = run("grammar", "--tools", str(path), "--kind", "lark")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"Error: {path}: tool 'x'")
