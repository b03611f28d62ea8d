"""A server as a process of its own."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import requests

# Seconds until a server answers: it loads PyTorch.
START = 600
# Settings of other runs, and of the tests themselves.
_FOREIGN = ("VLLM_", "SGLANG_", "WIRECALL_")


def environment(**more: str) -> dict[str, str]:
    """The environment of a server without a network and without a GPU."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    return kept | {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "OMP_NUM_THREADS": "2"} | more


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running(command: Sequence[str], port: int, log: Path, **more: str) -> Iterator[str]:
    """A running server; gives its address.

    Raises:
        AssertionError: It does not start; the message has the end of its log.
    """
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment(**more),
            start_new_session=True,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + START
        while not _is_up(address):
            assert process.poll() is None, log.read_text()[-5000:]
            assert time.monotonic() < deadline, log.read_text()[-5000:]
            time.sleep(0.5)
        yield address
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def _is_up(address: str) -> bool:
    try:
        return requests.get(f"{address}/health", timeout=5).ok
    except requests.RequestException:
        return False
