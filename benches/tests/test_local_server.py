"""The server of a local model is ready when its block begins, and gone when it ends, whatever happens."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from wirecall_bench.local_model import LocalModelError
from wirecall_bench.local_server import free_port, local_server, main, serving

# Like llama-server: status 503 while it loads.
FAKE = """
import http.server, sys, time
port, loads, ignores = int(sys.argv[1]), float(sys.argv[2]), "stubborn" in sys.argv
ready = time.monotonic() + loads
if ignores:
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if time.monotonic() > ready else 503)
        self.end_headers()
    def log_message(self, *arguments):
        pass
print("loading", flush=True)
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def fake(folder: Path, port: int, loads: float = 0.0, *more: str) -> list[str]:
    script = folder / "server.py"
    script.write_text(FAKE, encoding="utf-8")
    return [sys.executable, str(script), str(port), str(loads), *more]


def is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_server_runs_while_the_block_does(tmp_path: Path) -> None:
    port = free_port()
    with serving(fake(tmp_path, port, 0.3), port, "tiny") as server:
        assert urllib.request.urlopen(f"{server.url}/health", timeout=5).status == 200
        assert server.environment() == {
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "OPENAI_API_KEY": "none",
            "MODEL": "tiny",
        }
    assert not is_running(server.process_id)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_server_is_stopped_after_an_error(tmp_path: Path, error: type[BaseException]) -> None:
    port = free_port()
    with pytest.raises(error), serving(fake(tmp_path, port), port, "tiny") as server:
        raise error
    assert not is_running(server.process_id)


def test_a_server_that_ignores_its_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wirecall_bench.local_server._STOP_SECONDS", 0.2)
    port = free_port()
    with serving(fake(tmp_path, port, 0.0, "stubborn"), port, "tiny") as server:
        pass
    assert not is_running(server.process_id)


def test_a_server_that_ends_is_reported_with_its_log() -> None:
    command = [sys.executable, "-c", "print('no such model'); raise SystemExit(3)"]
    with (
        pytest.raises(LocalModelError, match=r"(?s)ended with status 3\. Its log ends with:\n  no such"),
        serving(command, free_port(), "tiny"),
    ):
        pass


def test_a_server_that_never_is_ready(tmp_path: Path) -> None:
    port = free_port()
    with (
        pytest.raises(LocalModelError, match=r"(?s)is not ready after 0\.5 s\..*loading"),
        serving(fake(tmp_path, port, 60), port, "tiny", timeout=0.5),
    ):
        pass


def test_a_program_that_is_missing() -> None:
    with (
        pytest.raises(LocalModelError, match="/no/server does not run: No such file"),
        serving(["/no/server"], free_port(), "tiny"),
    ):
        pass


def test_what_is_not_installed_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wirecall_bench.local_server.server_command", refuse)
    with pytest.raises(LocalModelError, match="Run `make model`"), local_server():
        pass


def refuse(*_: object, **__: object) -> list[str]:
    raise LocalModelError("llama-server does not exist. Run `make model`, which installs it.")


def patched(folder: Path) -> str:
    """A program that runs `main` with the fake server, and its arguments."""
    return (
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pathlib import Path\n"
        "import wirecall_bench.local_server as of\n"
        "from test_local_server import fake\n"
        f"of.server_command = lambda model, *, port, threads: fake(Path({str(folder)!r}), port)\n"
        "sys.exit(of.main(sys.argv[1:]))\n"
    )


def test_a_command_gets_the_server_s_url_and_its_exit_code_is_kept(tmp_path: Path) -> None:
    command = "import os; print(os.environ['OPENAI_BASE_URL'], os.environ['MODEL']); raise SystemExit(7)"
    done = subprocess.run(
        [sys.executable, "-c", patched(tmp_path), sys.executable, "-c", command],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 7, done.stderr
    assert done.stdout.startswith("http://127.0.0.1:")
    assert done.stdout.rstrip().endswith("/v1 SmolLM2-135M-Instruct")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_command_and_the_server(tmp_path: Path, number: signal.Signals) -> None:
    """The terminal sends Ctrl-C to the whole group of processes; SIGTERM is sent to one."""
    command = (
        "import os, time, urllib.parse; "
        "print(urllib.parse.urlsplit(os.environ['OPENAI_BASE_URL']).port, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", patched(tmp_path), sys.executable, "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        start = time.monotonic()
        (os.killpg if number is signal.SIGINT else os.kill)(process.pid, number)
        assert process.wait(30) == 130
    assert time.monotonic() - start < 25
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)


def test_there_must_be_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "there is no command to run" in capsys.readouterr().err
