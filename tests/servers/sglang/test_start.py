"""What happens when SGLang starts: the format, or the reason why there is none."""

import logging
from pathlib import Path

import pytest
from checkpoint import WRITE_FILE
from scripted import Server, save_checkpoint
from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.server_args import ServerArgs

from wirecall._serving.choice import parser_names
from wirecall.errors import ToolError
from wirecall.integrations import _sglang as plugin
from wirecall.integrations._sglang import hooks

QWEN = Path("Qwen3-8B")


def test_all_names_are_registered() -> None:
    assert set(parser_names()) <= FunctionCallParser.ToolCallParserEnum.keys()
    assert {name.lower() for name in parser_names()} <= ReasoningParser.DetectorMap.keys()


def test_the_log_says_which_format_and_why(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "sglang.wirecall"):
        Server(save_checkpoint(tmp_path / QWEN))
    (line,) = [record.getMessage() for record in caplog.records if record.name == "sglang.wirecall"]
    assert "in SGLang 0.5.23: format hermes, by --model-path" in line
    assert line.endswith("calls are streamed")


def test_the_served_name_says_the_format(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "sglang.wirecall"):
        Server(save_checkpoint(tmp_path / "m"), served_model_name="zai-org/GLM-4.5-Air")
    assert "format glm-4.5, by --served-model-name zai-org/GLM-4.5-Air" in caplog.text


def test_an_unknown_model_stops_the_server(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="the format of the model's calls is not known; name it: the parser"):
        Server(save_checkpoint(tmp_path / "m"))


def test_an_unknown_model_is_read_if_the_format_is_named(tmp_path: Path) -> None:
    server = Server(
        save_checkpoint(tmp_path / "m"), tool_call_parser="wirecall_hermes", reasoning_parser=None
    )
    server.script = ['<tool_call>\n{"name": "write_file", "arguments": {}}\n</tool_call>']
    assert server.ask(tools=[WRITE_FILE])[0].calls == [("write_file", "{}")]


def test_the_setting_of_a_format_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIRECALL_FORMAT", "no-such-format")
    with pytest.raises(ToolError, match="WIRECALL_FORMAT=no-such-format is not the name of a format"):
        Server(save_checkpoint(tmp_path / QWEN))
    monkeypatch.setenv("WIRECALL_FORMAT", str(tmp_path / "missing.toml"))
    with pytest.raises(ToolError, match=r"missing\.toml cannot be read"):
        Server(save_checkpoint(tmp_path / QWEN))


def test_the_setting_of_calls_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIRECALL_CALLS", "sometimes")
    with pytest.raises(ToolError, match="WIRECALL_CALLS is 'sometimes'"):
        Server(save_checkpoint(tmp_path / QWEN))


def test_names_of_two_formats_stop_the_server(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="give both the same name"):
        Server(save_checkpoint(tmp_path / QWEN), tool_call_parser="wirecall_glm-4.5")


def test_processes_without_plugins_stop_the_server(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="--tokenizer-worker-num 2"):
        Server(save_checkpoint(tmp_path / QWEN), tokenizer_worker_num=2)


def test_a_server_with_other_parsers_is_not_changed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "sglang.wirecall"):
        Server(save_checkpoint(tmp_path / "m"), tool_call_parser="qwen25", reasoning_parser=None)
    assert "wirecall" not in caplog.text


def test_a_missing_interface_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hooks, "_KEEPS_TOKENS", "renamed")
    with caplog.at_level(logging.WARNING, "sglang.wirecall"):
        server = Server(save_checkpoint(tmp_path / QWEN))
    (warning,) = [record.getMessage() for record in caplog.records if record.name == "sglang.wirecall"]
    assert "there is no OpenAIServingChat.renamed, so reasoning between special tokens is not seen" in warning
    server.script = ["<think>a</think>b"]
    assert server.ask(tools=[WRITE_FILE])[0].reasoning == "a"
    assert hasattr(OpenAIServingChat, "_patch_reasoning_skip_special_tokens")


def test_a_missing_check_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delattr(ServerArgs, "check_server_args")
    with caplog.at_level(logging.WARNING, "sglang.wirecall"):
        plugin._check_arguments()
    assert "this version of SGLang is not known to wirecall" in caplog.text


def test_special_tokens_are_kept_only_if_they_mark_reasoning(tmp_path: Path) -> None:
    for format, skipped in (("mistral", False), ("hermes", True)):
        server = Server(
            save_checkpoint(tmp_path / "m"), tool_call_parser=None, reasoning_parser=f"wirecall_{format}"
        )
        server.script = ["Hello."]
        server.ask()
        assert server.params["skip_special_tokens"] is skipped
