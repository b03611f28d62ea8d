"""`wirecall serve` as a process: what it says, how it ends, and how it reads its routes again."""

import asyncio
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientTimeout
from gateway_support import CALL, Seen, asking, event, running, scripted, streaming, whole

from wirecall._gateway import server
from wirecall._gateway.errors import ConfigError

PATH = "/v1/chat/completions"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")


class Process:
    """A gateway, and what it says."""

    def __init__(self, inner: "subprocess.Popen[str]") -> None:
        self.inner = inner
        self.said: list[str] = []

    def until(self, pattern: str) -> str:
        """The line that matches, as soon as it is there."""
        assert self.inner.stderr is not None
        for line in self.inner.stderr:
            self.said.append(line)
            if re.search(pattern, line):
                return line
        raise AssertionError(f"it ended without {pattern!r}: {''.join(self.said)}")

    @property
    def url(self) -> str:
        found = re.search(r"http://[\w.:]+", self.until("^wirecall serve: "))
        assert found is not None
        return found[0]

    def end(self, number: int) -> int:
        self.inner.send_signal(number)
        return self.inner.wait(20)


@contextmanager
def started(*arguments: str, **environment: str) -> Iterator[Process]:
    command = [sys.executable, "-m", "wirecall", "serve", "--port", "0", "--admin-port", "0", *arguments]
    env = {**os.environ, **environment}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as inner:
        try:
            yield Process(inner)
        finally:
            inner.kill()


def failed(*arguments: str, **environment: str) -> str:
    """What a gateway says that does not start."""
    command = [sys.executable, "-m", "wirecall", "serve", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


async def asked(url: str, body: Any, timeout: float = 30) -> tuple[int, bytes]:
    limit = ClientTimeout(total=timeout)
    async with ClientSession(timeout=limit) as session, session.post(url + PATH, json=body) as answer:
        return answer.status, await answer.read()


async def is_there(url: str) -> bool:
    """Whether the gateway accepts connections."""
    host, _, port = url.removeprefix("http://").partition(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port))
    except OSError:
        return False
    writer.close()
    return True


def test_what_the_demo_shows_can_be_typed() -> None:
    with started("--demo") as one:
        url = one.url
        command = shlex.split(one.until("^curl "))
        assert command[1] == url + PATH
        body = json.loads(command[command.index("-d") + 1])
        for given in (body, {**body, "stream": True}):
            status, answer = asyncio.run(asked(url, given))
            assert status == 200
            assert b'"get_weather"' in answer
            assert b"<call>" not in answer
        call_ = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
        more = [
            {"role": "assistant", "content": None, "tool_calls": [call_]},
            {"role": "tool", "tool_call_id": "c1", "content": "21 degrees"},
        ]
        status, answer = asyncio.run(asked(url, {**body, "messages": [*body["messages"], *more]}))
        assert b"It will be 21 degrees" in answer
        assert "model=demo; calls; tools called: get_weather" in one.until("POST")
        assert one.end(signal.SIGINT) == 0


@POSIX
@running
async def test_what_runs_is_finished_before_the_end() -> None:
    release = asyncio.Event()

    async def script(request: Any, seen: Seen) -> Any:
        response = await streaming(request)
        await response.write(event({"content": "Look. "}))
        await release.wait()
        await response.write(event({"content": CALL}) + event({}, "stop") + b"data: [DONE]\n\n")
        return response

    async with scripted(script) as (upstream, url):
        with started("--upstream", url) as one:
            base = await asyncio.to_thread(lambda: one.url)
            task = asyncio.create_task(asked(base, asking(stream=True)))
            while not upstream.running:
                await asyncio.sleep(0.01)
            one.inner.send_signal(signal.SIGTERM)
            await asyncio.to_thread(one.until, "ending")
            while await is_there(base):
                await asyncio.sleep(0.01)
            release.set()
            status, body = await task
            assert status == 200
            assert body.endswith(b"data: [DONE]\n\n")
            assert b"New York" in body
            assert await asyncio.to_thread(one.inner.wait, 20) == 0


@POSIX
@running
async def test_routes_are_read_again_and_bad_ones_are_not_taken(tmp_path: Path) -> None:
    async with scripted() as (_, url):
        config = tmp_path / "routes.toml"

        def write(model: str) -> None:
            config.write_text(f'[[route]]\nmodel = "{model}"\nupstream = "{url}"\n', encoding="utf-8")

        write("first")
        with started("--config", str(config)) as one:
            base = await asyncio.to_thread(lambda: one.url)
            assert (await asked(base, asking(model="first")))[0] == 200
            status, body = await asked(base, asking(model="second"))
            assert status == 404
            assert "no route serves the model 'second'" in json.loads(body)["error"]["message"]
            write("second")
            one.inner.send_signal(signal.SIGHUP)
            await asyncio.to_thread(one.until, "read the routes again: second")
            assert (await asked(base, asking(model="second")))[0] == 200
            assert (await asked(base, asking(model="first")))[0] == 404
            config.write_text("[[route]]\n", encoding="utf-8")
            one.inner.send_signal(signal.SIGHUP)
            line = await asyncio.to_thread(one.until, "the old routes stay")
            assert "route 1: it needs a model" in line
            assert (await asked(base, asking(model="second")))[0] == 200
            assert one.end(signal.SIGTERM) == 0


@running
async def test_the_format_of_a_model_is_taught_and_read() -> None:
    async def script(request: Any, seen: Seen) -> Any:
        assert "<tool_call>" in seen.json["messages"][0]["content"]
        return whole('<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>')

    async with scripted(script) as (_, url):
        for given in (["--model", "Qwen/Qwen3-8B"], ["--protocol", "hermes"]):
            with started("--upstream", url, *given) as one:
                base = await asyncio.to_thread(lambda: one.url)
                status, body = await asked(base, asking())
                assert status == 200
                assert b"tool_calls" in body
                assert one.end(signal.SIGTERM) == 0


@running
async def test_names_of_clients_cannot_write_lines_of_the_log() -> None:
    async with scripted() as (_, url):
        with started("--upstream", url) as one:
            base = await asyncio.to_thread(lambda: one.url)
            model = "m\n2026 forged: \x1b[31m \u202e \udcff"
            assert (await asked(base, asking(model=model)))[0] == 200
            line = await asyncio.to_thread(one.until, "POST")
            assert "m\\x0a2026 forged: \\x1b[31m \\u202e" in line
            one.end(signal.SIGTERM)


def test_options_come_from_the_environment() -> None:
    with started(WIRECALL_SERVE_UPSTREAM="http://127.0.0.1:9/v1", WIRECALL_SERVE_PROTOCOL="hermes") as one:
        assert "-> http://127.0.0.1:9/v1" in one.until("^wirecall serve")
        one.end(signal.SIGTERM)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--upstream"),
        (["--upstream", "localhost:11434"], "http://127.0.0.1:11434/v1"),
        (["--upstream", "http://127.0.0.1:9/v1", "--protocol", "herms"], "hermes"),
        (["--upstream", "http://127.0.0.1:9/v1", "--host", "0.0.0.0"], "WIRECALL_SERVE_KEYS"),
        (["--upstream", "http://127.0.0.1:9/v1", "--admin-host", "0.0.0.0"], "WIRECALL_SERVE_ADMIN_TOKEN"),
        (["--upstream", "http://127.0.0.1:9/v1", "--host", "192.0.2.1", "--open"], "cannot listen"),
        (["--upstream", "http://127.0.0.1:9/v1", "--allow-option", "debug"], "debug"),
        (["--upstream", "http://127.0.0.1:9/v1", "--allow-option", "on_eror"], "on_error"),
        (["--upstream", "http://127.0.0.1:9/v1", "--allow-path", "x"], "begin with /"),
        (["--config", "/nowhere/routes.toml"], "routes.toml"),
        (["--demo", "--upstream", "http://127.0.0.1:9/v1"], "--demo"),
        (["--port", "70000"], "70000"),
        (["--demo", "--protocol", "hermes", "--model", "Qwen/Qwen3-8B"], "cannot be combined"),
        (["--demo", "--model", "no-such-model"], "--model"),
    ],
)
def test_what_cannot_start_says_why(arguments: list[str], said: str) -> None:
    assert said in failed(*arguments)


def test_a_port_that_is_taken_is_said() -> None:
    with started("--demo") as one:
        port = one.url.rpartition(":")[2]
        assert "cannot listen" in failed("--demo", "--port", port, "--admin-port", "0")


def test_missing_packages_are_named(tmp_path: Path) -> None:
    (tmp_path / "aiohttp.py").write_text("raise ImportError('no', name='aiohttp')", encoding="utf-8")
    said = failed("--demo", PYTHONPATH=str(tmp_path))
    assert "aiohttp is not installed. Install the extra" in said
    assert "[serve]" in said


def test_without_signals_it_serves_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, whose event loops have no signals."""

    async def main() -> None:
        def refuse(*_: object) -> None:
            raise NotImplementedError

        monkeypatch.setattr(asyncio.get_running_loop(), "add_signal_handler", refuse)
        ready = asyncio.Event()
        async with scripted() as (_, url):
            settings = server.GatewaySettings(upstream=url, port=0, admin_port=0)
            found: list[str] = []

            def listening(*urls: str) -> None:
                found.extend(urls)
                ready.set()

            task = asyncio.create_task(server.serve(settings, listening))
            await ready.wait()
            assert (await asked(found[0], asking()))[0] == 200
            # What Ctrl-C does.
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


def test_a_parser_in_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "aiohttp.http_parser.HttpRequestParser", server.http_parser.HttpRequestParserPy, raising=True
    )
    settings = server.GatewaySettings(upstream="http://127.0.0.1:9/v1")
    with pytest.raises(ConfigError, match="C parser"):
        asyncio.run(server.serve(settings, lambda *_: None))
