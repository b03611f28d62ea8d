"""The processes of a measurement: the upstream, and the gateways before it."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wirecall_bench.gateway.upstream import UpstreamCounts

# LiteLLM imports for half a minute on a slow machine.
_START_SECONDS = 120.0
_STOP_SECONDS = 30.0
_POLL_SECONDS = 0.05
_LAST_LINES = 15
_READY = re.compile(r"http://127\.0\.0\.1:(\d+).*\n")
# LiteLLM loads nothing from the network then.
_LITELLM_VARIABLES = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"}


class GatewayProcessError(Exception):
    """A process did not start or did not stop as it should."""


@dataclass(frozen=True)
class UpstreamProcess:
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def counts(self) -> UpstreamCounts:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(b"GET /counts HTTP/1.1\r\nconnection: close\r\n\r\n")
            answer = await reader.read()
        finally:
            writer.close()
        return UpstreamCounts(**json.loads(answer.partition(b"\r\n\r\n")[2]))

    async def idle(self, seconds: float = 20.0) -> bool:
        """Waits until no stream is open. False: some still are after this time."""
        until = time.monotonic() + seconds
        while (await self.counts()).live:
            if time.monotonic() > until:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True


@dataclass(frozen=True)
class GatewayProcess:
    """A gateway that answers, or the upstream in its place (then without a process)."""

    name: str
    port: int
    process_id: int | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def seconds(self) -> float:
        """The processor's time that it has used, with all of its threads."""
        assert self.process_id is not None
        # The clock of another process, as `clock_getcpuclockid` makes it: /proc has hundredths of seconds.
        return time.clock_gettime(~self.process_id << 3 | 2)

    def memory(self) -> int:
        """Its resident memory, in bytes."""
        assert self.process_id is not None
        with open(f"/proc/{self.process_id}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def upstream_process() -> Iterator[UpstreamProcess]:
    """Run the upstream until the block ends."""
    command = [sys.executable, "-m", "wirecall_bench.gateway.upstream"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.strip().isdigit():
            raise GatewayProcessError("the upstream does not start")
        yield UpstreamProcess(int(line))
        process.stdin.close()


@contextmanager
def wirecall_process(
    upstream: str, *, codec: bool = True, routes: str = "", command: Sequence[str] = ()
) -> Iterator[GatewayProcess]:
    """Run `wirecall serve` until the block ends.

    Args:
        upstream: The base URL.
        codec: False: requests and answers pass unchanged.
        routes: Other routes, which come first, as TOML.
        command: Runs wirecall; by default that of this interpreter.

    Raises:
        GatewayProcessError: It does not start, does not end with 0 after SIGTERM, or an exception is in its
            log.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.toml")
        native = "" if codec else "native = true\n"
        last = f'[[route]]\nname = "load"\nmodel = "*"\n{native}'
        config.write_text(f"{routes}\n{last}", encoding="utf-8")
        program = [*(command or (sys.executable, "-m", "wirecall")), "serve", "--upstream", upstream]
        program += ["--port", "0", "--admin-port", "0", "--config", str(config)]
        with _running(program, {}, ends_with=0) as (port, process_id):
            yield GatewayProcess("codec on" if codec else "codec off", port, process_id)


@contextmanager
def litellm_process(
    upstream: UpstreamProcess, program: Path, models: Sequence[str], port: int
) -> Iterator[GatewayProcess]:
    """Run the proxy of LiteLLM until the block ends.

    Args:
        program: The command `litellm` of an environment with `litellm[proxy]`.
        models: The names that it passes on.

    Raises:
        GatewayProcessError: It does not start.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.yaml")
        passed = [
            {
                "model_name": name,
                "litellm_params": {"model": f"openai/{name}", "api_base": upstream.url, "api_key": "none"},
            }
            for name in models
        ]
        general = {"dangerously_permit_weak_or_unset_master_key": True}
        # JSON is YAML.
        written = {"model_list": passed, "general_settings": general}
        config.write_text(json.dumps(written), encoding="utf-8")
        command = [str(program), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        with _running(command, _LITELLM_VARIABLES, port=port) as (_, process_id):
            yield GatewayProcess("LiteLLM", port, process_id)


@contextmanager
def _running(
    command: Sequence[str],
    variables: Mapping[str, str],
    *,
    port: int | None = None,
    ends_with: int | None = None,
) -> Iterator[tuple[int, int]]:
    """The port of a server and its process id, once it accepts connections.

    Args:
        port: None if it prints a URL with its port when it is ready.
        ends_with: Its exit code after SIGTERM; None for any.
    """
    with tempfile.NamedTemporaryFile() as file:
        # Read by its name: a descriptor that the process has, too, would share its position.
        log = Path(file.name)
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, **variables},
            start_new_session=True,
        )
        try:
            yield _port(process, log, port), process.pid
            process.send_signal(signal.SIGTERM)
            try:
                code = process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                raise GatewayProcessError(f"{command[0]} did not end after SIGTERM.{_end_of(log)}") from None
            if ends_with is not None and (
                code != ends_with or "Traceback" in log.read_text(errors="replace")
            ):
                raise GatewayProcessError(f"{command[0]} ended with {code}.{_end_of(log)}")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def _port(process: "subprocess.Popen[bytes]", log: Path, port: int | None) -> int:
    until = time.monotonic() + _START_SECONDS
    while True:
        if port is not None:
            if _is_open(port):
                return port
        elif (found := _READY.search(log.read_text(errors="replace"))) is not None:
            return int(found[1])
        if process.poll() is not None or time.monotonic() > until:
            raise GatewayProcessError(f"the server does not start.{_end_of(log)}")
        time.sleep(_POLL_SECONDS)


def _is_open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def _end_of(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
    return "\n".join([" Its last lines:", *lines]) if lines else ""
