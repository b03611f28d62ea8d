"""What happens when a server starts: which format is taken, why, and when it does not start."""

import logging
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from checkpoint import WRITE_FILE
from scripted import Server, ask, pieces
from vllm.parser.parser_manager import ParserManager

import wirecall.integrations._vllm as plugin
from test_chat import CALLS, THOUGHT, TWO, read
from wirecall import Format, ToolError
from wirecall.integrations._vllm import pair
from wirecall.integrations._vllm import server as state

ACME = "<do>{name} {arguments}</do>"


@pytest.fixture(scope="module")
def unknown(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A model whose name and chat template say nothing."""
    return Server(tmp_path_factory.mktemp("model") / "acme-7b")


def test_the_models_name_decides(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, state.logger.name):
        server.chat("wirecall")
    [line] = [record.getMessage() for record in caplog.records if "format" in record.getMessage()]
    assert "format hermes" in line
    assert "Qwen3-8B" in line
    assert "calls are streamed" in line


def test_an_unknown_model_stops_the_server(unknown: Server) -> None:
    with pytest.raises(
        (ToolError, TypeError), match=r"the format of the model's calls is not known; name it"
    ) as info:
        unknown.chat("wirecall")
    assert "acme-7b" in str(info.value)
    assert "chat template" in str(info.value)


@pytest.mark.parametrize("value", ["hermies", "/no/such/file.toml"])
def test_an_unknown_format_stops_the_server(
    server: Server, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIRECALL_FORMAT", value)
    with pytest.raises((ToolError, TypeError), match=f"WIRECALL_FORMAT={value}"):
        server.chat("wirecall")


def test_a_broken_file_stops_the_server(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "acme.toml"
    file.write_text('call = "<do>"\n', encoding="utf-8")
    monkeypatch.setenv("WIRECALL_FORMAT", str(file))
    with pytest.raises((ToolError, TypeError), match=r"acme\.toml"):
        server.chat("wirecall")


def test_a_wrong_setting_stops_the_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIRECALL_CALLS", "hold")
    with pytest.raises((ToolError, TypeError), match="WIRECALL_CALLS is 'hold'; it must be one of"):
        server.chat("wirecall")


def test_an_unknown_parser_name_stops_the_server(server: Server) -> None:
    with pytest.raises(TypeError, match="wirecall_hermies"):
        server.chat("wirecall_hermies")


def test_two_formats_stop_the_server(server: Server) -> None:
    with pytest.raises(ToolError, match="have two formats"):
        server.chat("wirecall_hermes", "wirecall_glm-4.7")


@pytest.mark.parametrize("stream", [True, False])
def test_a_format_in_a_file_is_read(
    unknown: Server, stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "acme.toml"
    Format(name="acme", call=ACME).save(file)
    monkeypatch.setenv("WIRECALL_FORMAT", str(file))
    unknown.engine.script = pieces('<do>write_file {"path": "a", "content": "x"}</do>')
    [choice] = ask(unknown.chat("wirecall"), stream=stream, tools=[WRITE_FILE])
    assert read(choice) == CALLS[:1]


@pytest.fixture
def another_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of vLLM in which the method that composes parsers has another name."""
    composing = ParserManager.__dict__["_compose_parser"]
    original = getattr(composing, "__func__", composing)
    original = getattr(original, "__wrapped__", original)
    if not hasattr(original, "__self__"):
        original = partial(original, ParserManager)
    monkeypatch.setattr(ParserManager, "_compose", original, raising=False)
    monkeypatch.delattr(ParserManager, "_compose_parser")
    monkeypatch.setattr(ParserManager, "get_parser", partial(_composed, original))
    monkeypatch.setattr(pair, "_warned", False)


def _composed(original: Any, **options: Any) -> Any:
    return original(**{"is_harmony": False, "tool_strict_level": None, **options})


@pytest.mark.usefixtures("another_interface")
@pytest.mark.parametrize("reasoning", [None, "wirecall_hermes"])
def test_another_interface_is_served_by_the_pair_with_one_warning(
    server: Server, reasoning: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    plugin._read_in_one_pass()
    assert not hasattr(ParserManager, "_compose_parser")
    server.engine.script, server.engine.finish_reason = pieces(THOUGHT if reasoning else TWO), "stop"
    chat = server.chat("wirecall_hermes", reasoning)
    with caplog.at_level(logging.WARNING, state.logger.name):
        answers = [ask(chat, stream=stream, tools=[WRITE_FILE])[0] for stream in (True, False, True)]
    for choice in answers:
        assert read(choice) == CALLS
        assert (choice.content.strip(), choice.reasoning) == ("OK.", "A." if reasoning else "")
    warnings = [record for record in caplog.records if "vLLM 0.32 and 0.33" in record.getMessage()]
    assert len(warnings) == 1


def test_the_reasoning_parser_works_beside_another_tool_parser(server: Server) -> None:
    server.engine.script = pieces(THOUGHT)
    chat = server.chat("hermes", "wirecall_hermes")
    for stream in (True, False):
        [choice] = ask(chat, stream=stream, tools=[WRITE_FILE])
        assert (read(choice), choice.reasoning) == (CALLS, "A.")


PRELUDE = """
import sys, time
import vllm.plugins, vllm.parser.parser_manager, vllm.tool_parsers, vllm.reasoning
import vllm.renderers.registry, vllm.tokenizers.registry
before = set(sys.modules)
start = time.process_time()
vllm.plugins.load_general_plugins()
used = time.process_time() - start
new = set(sys.modules) - before
print([name for name in new if not name.startswith("wirecall")])
from vllm.parser import ParserManager
print(ParserManager.get_parser("hermes", "qwen3", True, "m").__mro__[1].__module__)
print(f"{used:.3f} s of CPU", file=sys.stderr)
"""


def test_a_server_that_does_not_ask_is_not_changed() -> None:
    """Loading the plugin imports nothing of other packages but the standard library."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "VLLM_LOGGING_LEVEL": "ERROR"},
    )
    modules, parser = done.stdout.splitlines()[-2:]
    # vLLM has plugins of its own in the group.
    own = ("vllm.plugins", "vllm.lora")
    loaded = [name for name in eval(modules) if not name.startswith(own)]
    foreign = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert foreign == set()
    assert parser == "vllm.parser.abstract_parser"
