"""`--protocol` and `--model`: every command that has one has the other, and both select the same format."""

import json
from typing import Any

import pytest
from cli_support import TOOLS, every_command, run, without_ids

from wirecall import Toolset

# What a command needs besides the tools, and what it reads.
MODEL = "Qwen/Qwen3-8B"
CALL = Toolset(TOOLS, model=MODEL).encode("get_time", {"zone": "UTC"})
LINE = json.dumps({"name": "get_time", "arguments": {"zone": "UTC"}})
COMMANDS = {
    "encode": ([], LINE),
    "grammar": (["--kind", "gbnf"], ""),
    "manual": ([], ""),
    "parse": (["--whole"], CALL),
    "tokens": (["--characters", "--calls", "-"], LINE),
}


def options_of(command: object) -> set[str]:
    return {option for parameter in getattr(command, "params", ()) for option in parameter.opts}


def test_commands_with_a_protocol_have_a_model() -> None:
    found = {name: options_of(command) for name, command in every_command()}
    with_protocol = {name for name, options in found.items() if "--protocol" in options}
    # The gateway has tests of its own, as a process.
    assert with_protocol == {*COMMANDS, "serve"}
    assert [name for name in with_protocol if "--model" not in found[name]] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_model_selects_the_protocol_that_toolset_selects(tools: str, command: str) -> None:
    arguments, stdin = COMMANDS[command]
    given = [command, "--tools", tools, *arguments]
    protocol = Toolset(TOOLS, model=MODEL).protocol
    assert protocol != "wire"
    by_model = run(*given, "--model", MODEL, stdin=stdin)
    by_protocol = run(*given, "--protocol", str(protocol), stdin=stdin)
    default = run(*given, stdin=stdin)
    assert by_model.exit_code == by_protocol.exit_code == 0
    stable = [shown(result.stdout) for result in (by_model, by_protocol, default)]
    assert stable[0] == stable[1] != stable[2]


def shown(output: str) -> Any:
    return without_ids(json.loads(output)) if output.startswith('{"items"') else output


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("protocol", ["wire", "hermes"])
def test_model_and_protocol_together_are_refused(tools: str, command: str, protocol: str) -> None:
    arguments, stdin = COMMANDS[command]
    both = ["--model", MODEL, "--protocol", protocol]
    done = run(command, "--tools", tools, *arguments, *both, stdin=stdin)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Error: --protocol and --model cannot be combined.\n" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_model_without_a_known_format_is_refused(tools: str, command: str) -> None:
    arguments, stdin = COMMANDS[command]
    done = run(command, "--tools", tools, *arguments, "--model", "acme/one-\x1b[31m", stdin=stdin)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: --model: no native format is known for the model 'acme/one-")
    assert "\x1b" not in done.stderr
