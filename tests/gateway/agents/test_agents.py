"""Coding agents through the gateway: each runs one shell command, and its output comes back to the model.

Each agent also runs on the upstream directly, with native tool calls: the control.
"""

import json
import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from server import Answer, Call, LostError, Request
from server.conversation import read
from server.model import results
from upstream import Upstream, gateway_before, serve, spoken

PACKAGES = Path(__file__).parents[3] / "target" / "gateway" / "agents"
TIMEOUT = 180  # seconds, on a busy machine
PROMPT = "Write the product into made.txt with one shell command."
# The shell tools of the agents, and how the command is passed.
SHELLS: dict[str, Any] = {
    "exec_command": lambda command: {"cmd": command},
    "shell_command": lambda command: {"command": command},
    "shell": lambda command: {"command": ["bash", "-c", command]},
    "bash": lambda command: {"command": command, "description": "Write the product"},
    "Bash": lambda command: {"command": command, "description": "Write the product"},
}


@dataclass
class Task:
    """A product of two random numbers, which only the shell computes; and the model that asks for it."""

    factors: tuple[int, int]
    outputs: list[str] = field(default_factory=list)  # of the tool, as the model read them

    @property
    def product(self) -> str:
        return str(self.factors[0] * self.factors[1])

    @property
    def command(self) -> str:
        return "echo $(({} * {})) | tee made.txt".format(*self.factors)

    def answer(self, request: Request) -> Answer:
        """Calls the shell tool, natively if the request has native tools; answers its result with text."""
        conversation = read(request.json)
        turns = [turn for turn in conversation.turns if turn.role == "user"]
        native = [result.text for turn in turns for result in turn.results]
        texts = [seen.text for turn in turns for seen in results(turn.text)]
        if native or texts:
            self.outputs += native + texts
            return Answer("The file is written.")
        for name, arguments in SHELLS.items():
            with suppress(LostError):  # the manual has no such tool
                if not conversation.tools or name in conversation.tools:
                    return spoken(request, "I write it. ", Call(name, arguments(self.command)))
        # Agents also ask for titles, without tools.
        return Answer("A product")


def codex(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    folder = home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(
        f"""
        model = "tests"
        model_provider = "tests"
        check_for_update_on_startup = false
        analytics.enabled = false
        feedback.enabled = false
        [model_providers.tests]
        name = "tests"
        base_url = "{url}/v1"
        wire_api = "responses"
        env_key = "TESTS_KEY"
        request_max_retries = 0
        stream_max_retries = 0
        """
    )
    program = PACKAGES / "codex" / "node_modules" / ".bin" / "codex"
    options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    return [str(program), "exec", *options, PROMPT], {"TESTS_KEY": "sk-test"}


def opencode(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "sk-test"},
        "models": {"tests": {}},
    }
    config = {
        "provider": {"tests": provider},
        "autoupdate": False,
        "share": "disabled",
        "permission": {"bash": "allow"},
    }
    off = ("AUTOUPDATE", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "MODELS_FETCH", "SHARE")
    environment = {f"OPENCODE_DISABLE_{name}": "1" for name in off}
    environment["OPENCODE_CONFIG_CONTENT"] = json.dumps(config)
    program = PACKAGES / "opencode" / "node_modules" / "opencode-linux-x64" / "bin" / "opencode"
    return [str(program), "run", "--model", "tests/tests", PROMPT], environment


def claude(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    environment = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-test",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }
    program = PACKAGES / "claude" / "node_modules" / "@anthropic-ai" / "claude-code-linux-x64" / "claude"
    return [str(program), "--print", "--allowedTools", "Bash", "--", PROMPT], environment


AGENTS = {"codex": (codex, "responses"), "opencode": (opencode, "chat"), "claude": (claude, "messages")}


@pytest.fixture
def task() -> Task:
    return Task((random.randrange(10**5, 10**6), random.randrange(10**5, 10**6)))


@pytest.fixture
def asked(task: Task) -> Iterator[Upstream]:
    # Agents use parameters of their providers that the server's checks do not know.
    with serve(task.answer, checks=False) as upstream:
        yield upstream


def run(agent: str, url: str, home: Path, task: Task, upstream: Upstream) -> None:
    prepare, api = AGENTS[agent]
    if not (PACKAGES / agent / ".installed").exists():
        log = PACKAGES / agent / "npm.log"
        reason = log.read_text() if log.exists() else "run `make test-agents`"
        pytest.fail(f"{agent} is not installed: {reason}")
    command, environment = prepare(url, home)
    work = home / "work"
    work.mkdir()
    # A proxy without a listener: what is not local fails at once.
    environment |= {"PATH": os.environ["PATH"], "HOME": str(home), "NO_PROXY": "127.0.0.1,localhost"}
    environment |= {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        cwd=work,
        timeout=TIMEOUT,
    )
    said = f"{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, said
    made = work / "made.txt"
    assert made.exists(), said
    assert made.read_text().strip() == task.product
    assert any(task.product in output for output in task.outputs), task.outputs
    assert "The file is written." in done.stdout
    assert upstream.errors == []
    assert {request.api for request in upstream.requests} - {"count_tokens"} == {api}
    assert any(request.streamed for request in upstream.requests)


@pytest.mark.parametrize("agent", AGENTS)
def test_control(agent: str, task: Task, asked: Upstream, tmp_path: Path) -> None:
    run(agent, asked.url, tmp_path, task, asked)


@pytest.mark.parametrize("agent", AGENTS)
def test_gateway(agent: str, task: Task, asked: Upstream, tmp_path: Path) -> None:
    with gateway_before(asked) as gateway:
        run(agent, gateway.url, tmp_path, task, asked)
    assert not any("tools" in request.json for request in asked.requests)
