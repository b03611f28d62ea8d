"""The manual in the prompt, for models without tools."""

from pathlib import Path

import pytest
from checkpoint import WRITE_FILE
from scripted import TEMPLATE, Server, save_checkpoint

HISTORY = [
    {"role": "user", "content": "Write it."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {"name": "write_file", "arguments": '{"path": "a", "content": "b"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "done"},
]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setenv("WIRECALL_PROMPT", "1")
    return Server(save_checkpoint(tmp_path / "m", TEMPLATE.partition("{% if enable_thinking")[0]))


def test_the_prompt_has_the_manual_and_no_tools(server: Server) -> None:
    server.script = ["<call>write_file path=a content=b</call>"]
    for stream in (False, True):
        (got,) = server.ask(tools=[WRITE_FILE], stream=stream)
        assert got.calls == [("write_file", '{"path":"a","content":"b"}')]
        assert "<call>" in server.prompt
        assert '"type": "function"' not in server.prompt


def test_past_calls_and_results_are_text(server: Server) -> None:
    server.script = ["Done."]
    assert server.ask(messages=HISTORY, tools=[WRITE_FILE])[0].content == "Done."
    assert "<call>write_file path=a content=b</call>" in server.prompt
    assert "done" in server.prompt
    assert "<|im_start|>tool" not in server.prompt


def test_requests_without_tools_are_unchanged(server: Server) -> None:
    server.script = ["Hello."]
    assert server.ask()[0].content == "Hello."
    assert server.prompt.endswith("x<|im_end|>\n<|im_start|>assistant")


def test_invalid_tools_are_accepted(server: Server) -> None:
    server.script = ["Hello."]
    invalid = {"type": "function", "function": {"name": "f", "parameters": {"type": "str"}}}
    assert server.ask(tools=[invalid])[0].content == "Hello."
    assert "f" in server.prompt
