"""Chat completions through SGLang's chat server and a scripted engine."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from checkpoint import WRITE_FILE
from scripted import Choice, Server, save_checkpoint

ARGUMENTS = '{"path":"a.txt","content":"one two"}'
CALL = (
    '<tool_call>\n{"name": "write_file", "arguments": {"path": "a.txt", "content": "one two"}}\n</tool_call>'
)
MESSAGE = f"<think>Hm.</think>I write it.{CALL}"
EXPECTED = Choice("I write it.", "Hm.", [("write_file", ARGUMENTS)], "tool_calls")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server of a model that opens its reasoning itself."""
    return Server(save_checkpoint(tmp_path_factory.mktemp("model") / "Qwen3-8B"))


@pytest.fixture(scope="module")
def tools_only(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server without a reasoning parser."""
    folder = save_checkpoint(tmp_path_factory.mktemp("model") / "Qwen3-8B")
    return Server(folder, reasoning_parser=None)


def pieces(text: str, size: int = 4) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def answer(server: Server, script: list[str] | str, **request: Any) -> Choice:
    """The only choice of an answer, streamed and whole, which must be the same."""
    server.script = pieces(script) if isinstance(script, str) else script
    (whole,) = server.ask(**request)
    (streamed,) = server.ask(stream=True, **request)
    assert whole == streamed
    return whole


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_a_call_is_the_same_whole_and_streamed(server: Server, size: int) -> None:
    assert answer(server, pieces(MESSAGE, size), tools=[WRITE_FILE]) == EXPECTED


def test_several_choices_and_messages_do_not_mix(server: Server) -> None:
    for stream in (False, True):
        for script in (MESSAGE[:60], MESSAGE):
            server.script = pieces(script)
            choices = server.ask(tools=[WRITE_FILE], stream=stream, n=3)
        assert choices == [EXPECTED] * 3


def test_a_plain_answer_is_content_and_not_a_warning(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        got = answer(server, "<think>Hm.</think>Hello.", tools=[WRITE_FILE])
    assert got == Choice("Hello.", "Hm.", [], "stop")
    assert not caplog.records


def test_calls_are_text_if_the_request_has_no_tools(server: Server) -> None:
    assert answer(server, MESSAGE) == Choice(f"I write it.{CALL}", "Hm.", [], "stop")
    got = answer(server, MESSAGE, tools=[WRITE_FILE], tool_choice="none")
    assert got == Choice(f"I write it.{CALL}", "Hm.", [], "stop")


def test_calls_in_reasoning_are_not_calls(server: Server) -> None:
    got = answer(server, f"<think>{CALL}</think>{CALL}", tools=[WRITE_FILE])
    assert got == Choice("", CALL, [("write_file", ARGUMENTS)], "tool_calls")


def test_reasoning_that_the_prompt_has_closed_is_not_awaited(server: Server) -> None:
    off = {"chat_template_kwargs": {"enable_thinking": False}}
    assert answer(server, "Hello.", tools=[WRITE_FILE], **off) == Choice("Hello.", "", [], "stop")
    assert answer(server, CALL, tools=[WRITE_FILE], **off).calls == [("write_file", ARGUMENTS)]


def test_reasoning_is_content_if_the_client_wants_that(server: Server) -> None:
    got = answer(server, MESSAGE, tools=[WRITE_FILE], separate_reasoning=False)
    assert got == Choice("<think>Hm.</think>I write it.", "", [("write_file", ARGUMENTS)], "tool_calls")


def test_reasoning_is_content_without_a_reasoning_parser(tools_only: Server) -> None:
    got = answer(tools_only, MESSAGE, tools=[WRITE_FILE])
    assert got == Choice("<think>Hm.</think>I write it.", "", [("write_file", ARGUMENTS)], "tool_calls")
    assert answer(tools_only, CALL, tools=[WRITE_FILE]).calls == [("write_file", ARGUMENTS)]


def test_another_tool_parser_gets_the_text_without_reasoning(tmp_path: Path) -> None:
    mixed = Server(save_checkpoint(tmp_path / "Qwen3-8B"), tool_call_parser="qwen25")
    mixed.script = [MESSAGE]
    (got,) = mixed.ask(tools=[WRITE_FILE])
    assert (got.content, got.reasoning, [name for name, _ in got.calls]) == (
        "I write it.",
        "Hm.",
        ["write_file"],
    )


def test_reasoning_of_another_parser_is_left_out(tmp_path: Path) -> None:
    mixed = Server(save_checkpoint(tmp_path / "Qwen3-8B"), reasoning_parser="qwen3")
    assert answer(mixed, MESSAGE, tools=[WRITE_FILE]) == EXPECTED


def test_reasoning_is_sent_at_once_if_the_client_wants_that(server: Server) -> None:
    server.script = pieces(MESSAGE)
    assert server.ask(tools=[WRITE_FILE], stream=True, stream_reasoning=False) == [EXPECTED]
    server.script = pieces("<think>Hm.")
    (got,) = server.ask(tools=[WRITE_FILE], stream=True, stream_reasoning=False)
    assert got.reasoning == "Hm."


@pytest.mark.parametrize("reason", ["length", "stop"])
def test_a_call_that_is_cut_off_is_not_reported_as_complete(server: Server, reason: str) -> None:
    server.finish_reason, usual = {"type": reason}, server.finish_reason
    try:
        server.script = pieces(MESSAGE[:-20])
        (whole,) = server.ask(tools=[WRITE_FILE])
        (streamed,) = server.ask(tools=[WRITE_FILE], stream=True)
    finally:
        server.finish_reason = usual
    assert whole == Choice("I write it.", "Hm.", [], reason)
    assert streamed.finish_reason == reason
    ((_, arguments),) = streamed.calls
    with pytest.raises(json.JSONDecodeError):
        json.loads(arguments)
    assert answer(server, MESSAGE, tools=[WRITE_FILE]) == EXPECTED


def test_held_calls_are_sent_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIRECALL_CALLS", "held")
    held = Server(save_checkpoint(tmp_path / "Qwen3-8B"))
    assert answer(held, MESSAGE, tools=[WRITE_FILE]) == EXPECTED
    assert answer(held, MESSAGE[:-20], tools=[WRITE_FILE]) == Choice("I write it.", "Hm.", [], "stop")


def test_unknown_tools_and_invalid_schemas_are_passed_on(server: Server) -> None:
    other = CALL.replace("write_file", "delete_file")
    assert answer(server, f"<think></think>{other}", tools=[WRITE_FILE]).calls == [("delete_file", ARGUMENTS)]
    invalid = {**WRITE_FILE, "function": {"name": "write_file", "parameters": {"type": "str"}}}
    assert answer(server, f"<think></think>{CALL}", tools=[invalid]).calls == [("write_file", ARGUMENTS)]


def test_kimi_gets_ids_with_the_ordinals_of_calls(tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path / "m")
    kimi = Server(folder, tool_call_parser="wirecall_kimi-k2", reasoning_parser=None)
    call = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>"
        '{"path": "a"}<|tool_call_end|><|tool_calls_section_end|>'
    )
    kimi.script = [call]
    kimi.ask(tools=[WRITE_FILE])
    ids = [call.id for call in kimi.messages[0].tool_calls]
    assert ids == ["functions.write_file:0"]
