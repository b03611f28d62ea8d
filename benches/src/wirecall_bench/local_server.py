"""llama-server on this machine, while a block or a command runs.

    python -m wirecall_bench.local_server COMMAND…

starts the server with the model that `make model` installed, runs the command with the variables of OpenAI's
SDK set to it (`OPENAI_BASE_URL`, `OPENAI_API_KEY`, `MODEL`), and stops the server, whatever happens. The exit
code is the command's.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, NoReturn

from wirecall_bench.local_model import (
    MODELS,
    SMOLLM2,
    LocalModelError,
    model_named,
    server_command,
)

# Loading a model of 100 MB takes a second on an idle machine.
START_SECONDS = 120.0
# Between two looks at /health.
_POLL_SECONDS = 0.1
# How long the server may take to stop before it is killed.
_STOP_SECONDS = 10.0
# Lines of the server's log that an error message repeats.
_LAST_LINES = 15


@dataclass(frozen=True)
class LocalServer:
    """A server that answers.

    Attributes:
        url: Without a path; /health and /completion are below it.
        model: The name that the server knows its model by.
    """

    url: str
    model: str
    process_id: int

    @property
    def base_url(self) -> str:
        """The base URL for OpenAI's SDK."""
        return f"{self.url}/v1"

    def environment(self) -> dict[str, str]:
        """The variables that select this server in OpenAI's SDK and in the examples. It needs no key."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": "none", "MODEL": self.model}


def free_port() -> int:
    """A port that no program on this machine used a moment ago."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def serving(
    command: Sequence[str], port: int, model: str, *, timeout: float = START_SECONDS
) -> Iterator[LocalServer]:
    """Run a server until the block ends.

    Args:
        command: Starts the server, on 127.0.0.1 and this port.
        timeout: Seconds until /health must answer.

    Raises:
        LocalModelError: The server does not start. The message has the end of its log.
    """
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        try:
            # In a session of its own, so that Ctrl-C reaches only this process, which then stops the server.
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise LocalModelError(f"{command[0]} does not run: {error.strerror or error}.") from error
        try:
            deadline = time.monotonic() + timeout
            while not _is_healthy(url):
                if process.poll() is not None:
                    raise LocalModelError(f"{command[0]} ended {_how(process)}. {_end_of(log)}")
                if time.monotonic() > deadline:
                    raise LocalModelError(f"{command[0]} is not ready after {timeout:g} s. {_end_of(log)}")
                time.sleep(_POLL_SECONDS)
            yield LocalServer(url, model, process.pid)
        finally:
            _stop(process)


@contextmanager
def local_server(model_name: str = SMOLLM2.name, *, threads: int = 1) -> Iterator[LocalServer]:
    """Serve a model that `make model` installed until the block ends.

    Raises:
        LocalModelError: It is not installed, or the server does not start.
    """
    model, port = model_named(model_name), free_port()
    with serving(server_command(model, port=port, threads=threads), port, model.name) as server:
        yield server


def run(command: Sequence[str], added: Mapping[str, str]) -> int:
    """Run a command with further environment variables, and return its exit code.

    Raises:
        LocalModelError: There is no such command.
        KeyboardInterrupt: This process was interrupted, and the command has ended.
    """
    try:
        process = subprocess.Popen(command, env={**os.environ, **added})
    except OSError as error:
        raise LocalModelError(f"{command[0]} does not run: {error.strerror or error}.") from error
    try:
        return process.wait()
    except BaseException as error:
        # Ctrl-C in a terminal has reached the command, too, which may be saving its results.
        if type(error) is not KeyboardInterrupt:
            process.terminate()
        process.wait()
        raise


class TerminatedError(KeyboardInterrupt):
    """SIGTERM was sent. It has not reached the command, as Ctrl-C has."""


def stop_on_sigterm() -> None:
    """From now on, SIGTERM raises an exception in the main thread, so that the server is stopped."""

    def terminate(number: int, frame: object) -> NoReturn:
        raise TerminatedError

    signal.signal(signal.SIGTERM, terminate)


def _is_healthy(url: str) -> bool:
    """Whether the server answers. While it loads the model, it answers with status 503."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    except BaseException:
        # A second Ctrl-C.
        process.kill()
        raise


def _how(process: "subprocess.Popen[bytes]") -> str:
    status = process.returncode
    return f"by signal {signal.Signals(-status).name}" if status < 0 else f"with status {status}"


def _end_of(log: IO[str]) -> str:
    log.seek(0)
    lines = log.read().splitlines()[-_LAST_LINES:]
    return (
        "\n".join(["Its log ends with:", *(f"  {line}" for line in lines)]) if lines else "Its log is empty."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="local_server", description="Run a command while llama-server runs, with OPENAI_BASE_URL set."
    )
    names = [model.name for model in MODELS]
    parser.add_argument("--model", choices=names, default=SMOLLM2.name, help=f"default: {SMOLLM2.name}")
    parser.add_argument("--threads", type=int, default=1, help="threads of the server (default: 1)")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    options = parser.parse_args(arguments)
    if not options.command:
        parser.error("there is no command to run")
    stop_on_sigterm()
    try:
        with local_server(options.model, threads=options.threads) as server:
            return run(options.command, server.environment())
    except LocalModelError as error:
        print(f"local_server: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
