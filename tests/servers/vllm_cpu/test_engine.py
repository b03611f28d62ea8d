"""vLLM on a CPU with random weights: a real server, a real engine, real grammars.

What such a model writes is noise, so calls are only right if the grammar and the parser agree.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import requests

sys.path.insert(0, str(Path(__file__).parents[1]))

from checkpoint import save_checkpoint
from processes import free_port, running

NAME = "set_level"
PARAMETERS = {
    "type": "object",
    "properties": {
        "device": {"type": "string", "enum": ["lamp", "fan"]},
        "level": {"type": "integer", "minimum": 0, "maximum": 9},
    },
    "required": ["device", "level"],
}
FUNCTION = {"name": NAME, "description": "Sets a level.", "parameters": PARAMETERS}
TOOLS = [{"type": "function", "function": FUNCTION}]
NAMED = {"type": "function", "function": {"name": NAME}}


class Answer(NamedTuple):
    """An answer, whole or put together from a stream."""

    calls: list[tuple[str, str]]
    finish_reason: str | None
    content: str


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that teaches the wire format to a model without tools."""
    folder = tmp_path_factory.mktemp("model") / "acme-7b"
    save_checkpoint(folder)
    port = free_port()
    command = [
        # The command `vllm` asks for the version of a package that has another name here.
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder)),
        *("--served-model-name", "m", "--host", "127.0.0.1", "--port", str(port)),
        *("--load-format", "dummy", "--dtype", "bfloat16", "--max-model-len", "8192", "--enforce-eager"),
        *("--enable-auto-tool-choice", "--tool-call-parser", "wirecall", "--tokenizer-mode", "wirecall"),
    ]
    log = folder.parent / "server.log"
    memory = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
    with running(command, port, log, **memory) as address:
        assert "format wire, by the prompt teaches it" in log.read_text()
        yield address


def ask(url: str, *, stream: bool, **fields: Any) -> Answer:
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Turn the lamp on."}],
        "tools": TOOLS,
        "max_tokens": 200,
        "temperature": 1.0,
        "stream": stream,
        **fields,
    }
    with requests.post(f"{url}/v1/chat/completions", json=body, stream=stream, timeout=120) as response:
        assert response.ok, response.text
        if stream:
            return _joined(response.iter_lines())
        choice = response.json()["choices"][0]
    calls = [call["function"] for call in choice["message"].get("tool_calls") or ()]
    return Answer(
        [(call["name"], call["arguments"]) for call in calls],
        choice["finish_reason"],
        choice["message"].get("content") or "",
    )


def _joined(lines: Iterator[bytes]) -> Answer:
    calls: dict[int, list[str]] = {}
    reason, content = None, ""
    for line in lines:
        if not line.startswith(b"data: {"):
            continue
        for choice in json.loads(line.removeprefix(b"data: "))["choices"]:
            content += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls") or ():
                one = calls.setdefault(call["index"], ["", ""])
                one[0] += call["function"].get("name") or ""
                one[1] += call["function"].get("arguments") or ""
            reason = choice.get("finish_reason") or reason
    return Answer([(name, arguments) for name, arguments in calls.values()], reason, content)


def is_well_formed(arguments: str) -> bool:
    """Whether arguments are JSON that fits the schema."""
    try:
        read = json.loads(arguments)
    except ValueError:
        return False
    fits = isinstance(read, dict) and read.keys() == {"device", "level"}
    return fits and read["device"] in ("lamp", "fan") and read["level"] in range(10)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    ("tool_choice", "finish_reason"), [("required", "tool_calls"), (NAMED, "stop")], ids=["required", "named"]
)
def test_fifty_constrained_calls_are_well_formed(
    url: str, tool_choice: Any, finish_reason: str, stream: bool
) -> None:
    fields = {"tool_choice": tool_choice, "parallel_tool_calls": False}
    for seed in range(50):
        answer = ask(url, stream=stream, seed=seed, **fields)
        assert [name for name, _ in answer.calls] == [NAME], answer
        assert is_well_formed(answer.calls[0][1]), answer
        assert answer.finish_reason == finish_reason, answer


def test_an_abort_in_a_call_leaves_nothing(url: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": TOOLS, "stream": True}
    for seed in range(5):
        fields = {**body, "tool_choice": "required", "seed": seed, "max_tokens": 200}
        with requests.post(f"{url}/v1/chat/completions", json=fields, stream=True, timeout=60) as response:
            for line in response.iter_lines():
                if b'"tool_calls"' in line:
                    break
        answer = ask(url, stream=True, tool_choice="required", parallel_tool_calls=False, seed=seed)
        assert [name for name, _ in answer.calls] == [NAME]
        assert is_well_formed(answer.calls[0][1])


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("most", range(4, 40, 5))
def test_a_call_that_the_limit_cuts_is_never_complete(url: str, most: int, stream: bool) -> None:
    fields = {"tool_choice": "required", "parallel_tool_calls": False, "seed": 7}
    answer = ask(url, stream=stream, max_tokens=most, **fields)
    if answer.finish_reason == "length":
        assert not any(is_well_formed(arguments) for _, arguments in answer.calls), answer
        assert stream or not answer.calls
    else:
        assert is_well_formed(answer.calls[0][1])


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_stop_string_in_a_call_cuts_it(url: str, stream: bool) -> None:
    fields = {"tool_choice": "required", "parallel_tool_calls": False, "stop": ["level="]}
    answer = ask(url, stream=stream, **fields)
    assert not any(is_well_formed(arguments) for _, arguments in answer.calls), answer


def test_two_choices(url: str) -> None:
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": TOOLS,
        "n": 2,
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "max_tokens": 200,
    }
    found = requests.post(f"{url}/v1/chat/completions", json=body, timeout=120).json()
    arguments = [choice["message"]["tool_calls"][0]["function"]["arguments"] for choice in found["choices"]]
    assert len(arguments) == 2
    assert all(map(is_well_formed, arguments))


def test_responses(url: str) -> None:
    tool = {"type": "function", **FUNCTION}
    body = {"model": "m", "input": "hi", "tools": [tool], "tool_choice": "required", "max_output_tokens": 200}
    found = requests.post(f"{url}/v1/responses", json=body, timeout=120).json()
    calls = [item for item in found["output"] if item["type"] == "function_call"]
    assert calls
    assert is_well_formed(calls[0]["arguments"])


def test_messages(url: str) -> None:
    tool = {"name": NAME, "input_schema": PARAMETERS}
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 200, "tools": [tool]}
    body["tool_choice"] = {"type": "tool", "name": NAME}
    found = requests.post(f"{url}/v1/messages", json=body, timeout=120).json()
    calls = [block for block in found["content"] if block["type"] == "tool_use"]
    assert calls
    assert is_well_formed(json.dumps(calls[0]["input"]))


def test_the_counters_are_in_the_servers_metrics(url: str) -> None:
    ask(url, stream=False, tool_choice="required")
    text = requests.get(f"{url}/metrics", timeout=30).text
    assert 'wirecall_calls_total{format="wire"}' in text
    assert 'outcome="tool_call"' in text
