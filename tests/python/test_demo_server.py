"""The demo server as a process, and what the examples say where they cannot run: one sentence."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from chat_support import conversation
from run_support import get_weather
from wirecall import Toolset

sys.path.append(str(Path(__file__).parents[1] / "clients"))  # as in the environments of the clients

from examples import EXAMPLES, ROOT, demo_server

SERVER = EXAMPLES / "demo_server.py"
PROGRAM = """
import sys
sys.modules["aiohttp"] = None
sys.path.insert(0, sys.argv.pop(1))
from demo_server import endpoint
with endpoint("gpt-4.1-mini", [], takes=["--chat"]) as model:
    print(model)
"""


def run(*command: str, python: Path | str = sys.executable, **environment: str) -> Any:
    return subprocess.run(
        [str(python), *command],
        capture_output=True,
        text=True,
        timeout=60,
        encoding="utf-8",
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    ("arguments", "key", "said"),
    [
        (["--demo"], "", "--demo needs aiohttp: pip install aiohttp"),
        ([], "", "OPENAI_API_KEY is not set. Set it, or run this with --demo, which needs no key."),
        (["--chat"], "x", None),
    ],
)
def test_what_an_example_needs(arguments: list[str], key: str, said: str | None) -> None:
    done = run("-c", PROGRAM, str(EXAMPLES), *arguments, OPENAI_API_KEY=key, MODEL="m")
    expected = (0, "m\n", "") if said is None else (1, "", f"{said}\n")
    assert (done.returncode, done.stdout, done.stderr) == expected


@pytest.mark.parametrize("arguments", [["--dmeo"], ["--demo", "demo"], ["--dem"]])
def test_example_with_an_unknown_argument_names_it(arguments: list[str]) -> None:
    done = run("-c", PROGRAM, str(EXAMPLES), *arguments, OPENAI_API_KEY="x")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "usage: -c [-h] [--demo] [--chat]",
        f"-c: error: unrecognized arguments: {arguments[-1]}",
    ]


# How the README runs the examples: the Python of each.
PYTHONS = {
    name: ROOT / python
    for python, name in re.findall(
        r"(\.venv-clients/\w+/bin/python) examples/(\w+\.py)",
        (EXAMPLES / "README.md").read_text(encoding="utf-8"),
    )
}
PROGRAMS = [path.name for path in sorted(EXAMPLES.glob("*.py")) if path.name != "arguments.py"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_of_an_example_says_what_it_does(name: str) -> None:
    python = PYTHONS.get(name, Path(sys.executable))
    if not python.exists():
        pytest.skip(f"{python.relative_to(ROOT)} is missing: make venv-clients")
    path = EXAMPLES / name
    about = path.read_text(encoding="utf-8").split('"""')[1].strip()
    done = run(str(path), "--help", python=python, OPENAI_API_KEY="", ANTHROPIC_API_KEY="")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {name} [-h]")
    assert about in done.stdout
    assert ("--demo" in done.stdout.replace(about, "")) == (name in PYTHONS)


# The server


def ask(url: str, *contents: str, **more: Any) -> str:
    """The answer to a system text and what followed it, in turn by the user and the model."""
    body = json.dumps({"model": "demo", "messages": conversation(*contents), **more}).encode()
    headers = {"authorization": "Bearer -", "content-type": "application/json"}
    request = urllib.request.Request(f"{url}/v1/chat/completions", body, headers)
    with urllib.request.urlopen(request) as answer:
        return str(json.load(answer)["choices"][0]["message"]["content"])


def send_mail(to: str, text: str) -> None:
    """Send an e-mail to somebody."""


def test_demo_server_answers_a_loop_over_text() -> None:
    tools = Toolset([send_mail, get_weather])
    with demo_server() as (url, process):
        said = [f"Be kind.\n\n{tools.manual()}", "How is the weather in New York for 3 days?"]
        said.append(ask(url, *said))
        message = tools.parse(said[-1])
        assert message.text.strip() == "I look it up with get_weather."
        assert [call.args for call in message.calls] == [{"city": "New York", "days": 3}]
        said.append("".join(tools.encode_result(call.name, tools.run(call)) for call in message.calls))
        said.append(ask(url, *said))
        assert said[-1] == "get_weather says: New York: 21 degrees for 3 days"
        [mail] = tools.parse(ask(url, *said, 'Send a mail to Ann: "I\'m late"')).calls
        assert (mail.name, mail.args) == ("send_mail", {"to": "I'm late", "text": "Ann"})
        assert ask(url, "Be kind.", "Hello!") == (
            'You said: "Hello!" I am a demo without a model, and see no tools in wire format.'
        )
        assert "wirecall.wrap(client)" in ask(url, "", "Hi", tools=tools.for_api("chat"))
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == ("", "")
        assert process.returncode == 130


def test_demo_server_refuses_json_that_is_nested_too_deeply() -> None:
    with demo_server() as (url, _):
        request = urllib.request.Request(f"{url}/v1/chat/completions", b'{"a":' + b"[" * 100_000)
        request.add_header("authorization", "Bearer -")
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(request)


def test_demo_server_with_verbose_shows_what_it_reads() -> None:
    with demo_server("--verbose") as (url, process):
        answer = ask(url, "Be kind.", "Hello!")
        process.send_signal(signal.SIGINT)
        shown, errors = process.communicate(timeout=30)
    assert '"content": "Be kind."' in shown
    assert f"-> {answer}\n" in shown
    assert errors == ""


def test_demo_server_on_a_taken_port_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run(str(SERVER), "--port", port)
    said = f"Port {port} is taken. Is the demo server running? Otherwise, use another --port.\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


@pytest.mark.parametrize(
    ("port", "status", "said"),
    [("65536", 1, "--port must be from 0 to 65535, not 65536\n"), ("x", 2, "invalid int value: 'x'\n")],
)
def test_demo_server_with_a_wrong_port_says_so(port: str, status: int, said: str) -> None:
    done = run(str(SERVER), "--port", port)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.endswith(said)
    assert "Traceback" not in done.stderr


def test_demo_server_without_aiohttp_says_what_to_install() -> None:
    program = (
        "import runpy, sys; sys.modules['aiohttp'] = None; sys.path.insert(0, sys.argv[1]);"
        "sys.argv = ['demo_server.py']; runpy.run_module('demo_server', run_name='__main__')"
    )
    done = run("-c", program, str(EXAMPLES))
    said = "The demo server needs aiohttp: pip install aiohttp\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)
