"""vLLM's command line with wirecall installed, as an operator uses it, without an engine."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from checkpoint import WRITE_FILE, save_checkpoint
from processes import environment, free_port, running

from test_chat import CALLS, THOUGHT

VLLM = str(Path(sys.executable).with_name("vllm"))
FLAGS = ("--enable-auto-tool-choice", "--tool-call-parser", "wirecall")


def command(folder: Path, port: int, *more: str) -> list[str]:
    at = ("--host", "127.0.0.1", "--port", str(port), "--max-model-len", "8192", "--dtype", "bfloat16")
    return [VLLM, "launch", "render", str(folder), "--served-model-name", "m", *at, *FLAGS, *more]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("render") / "Qwen3-8B"
    save_checkpoint(folder)
    return folder


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    port, log = free_port(), folder.parent / "server.log"
    with running(command(folder, port), port, log, VLLM_TARGET_DEVICE="cpu") as address:
        assert "format hermes, by the model" in log.read_text()
        yield address


def post(url: str, path: str, body: dict[str, Any]) -> Any:
    response = requests.post(url + path, json=body, timeout=60)
    assert response.ok, response.text
    return response.json()


def test_rendered_requests_have_the_grammar_and_answers_are_read(url: str, folder: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    request = {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 50,
        "tools": [WRITE_FILE],
        "tool_choice": "required",
    }
    rendered = post(url, "/v1/chat/completions/render", request)
    parameters = rendered["sampling_params"]
    assert parameters["skip_special_tokens"] is False
    assert "write_file" in json.dumps(parameters["structured_outputs"])
    # The model was not asked for calls, so that it may reason.
    request["tool_choice"] = "auto"
    prompt = post(url, "/v1/chat/completions/render", request)["token_ids"]
    ids = [*tokenizer(THOUGHT, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    choice = {"index": 0, "token_ids": ids, "finish_reason": "stop"}
    answer = post(
        url,
        "/v1/chat/completions/derender",
        {
            "model": "m",
            "generate_response": {"request_id": "x", "choices": [choice]},
            "prompt_tokens": len(prompt),
            "prompt_token_ids": prompt,
            "chat_request": request,
        },
    )
    message = answer["choices"][0]["message"]
    calls = [call["function"] for call in message["tool_calls"]]
    assert [(call["name"], json.loads(call["arguments"])) for call in calls] == CALLS
    assert (message["content"], message["reasoning"]) == ("OK.", "A.")
    assert answer["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("acme-7b", {}, "the format of the model's calls is not known; name it"),
        ("Qwen3-8B", {"WIRECALL_FORMAT": "hermies"}, "WIRECALL_FORMAT=hermies is not the name of a format"),
    ],
)
def test_a_server_that_cannot_read_its_model_does_not_start(
    name: str, settings: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    save_checkpoint(tmp_path / name)
    done = subprocess.run(
        command(tmp_path / name, free_port()),
        env=environment(VLLM_TARGET_DEVICE="cpu", **settings),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode != 0
    assert sentence in done.stderr + done.stdout
