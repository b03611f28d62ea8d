"""Builds a revision and this tree with the same flags, each in a folder of its own under target/against."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "target" / "against"


def git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def build(source: Path, name: str) -> Path:
    """The package of a source tree, with its extension."""
    target, package = FOLDER / name / "target", FOLDER / name / "package"
    command = ["cargo", "build", "--release", "--locked", "-p", "wirecall-py", "--target-dir", str(target)]
    print(f"building {name} (some minutes the first time) ...", file=sys.stderr, flush=True)
    env = {**os.environ, "PYO3_PYTHON": sys.executable}
    if sys.platform == "darwin":
        env["RUSTFLAGS"] = f"{env.get('RUSTFLAGS', '')} -C link-arg=-undefined -C link-arg=dynamic_lookup"
    subprocess.run([*command, "--quiet"], cwd=source, env=env, check=True)
    shutil.rmtree(package, ignore_errors=True)
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(source / "python", package, ignore=ignored)
    libraries = {"win32": ("_core.dll", "_core.pyd"), "darwin": ("lib_core.dylib", "_core.abi3.so")}
    made, wanted = libraries.get(sys.platform, ("lib_core.so", "_core.abi3.so"))
    shutil.copy2(target / "release" / made, package / "wirecall" / wanted)
    return package


def packages(base: str) -> tuple[Path, Path]:
    """The packages of a revision and of the working tree."""
    commit = git("rev-parse", "--verify", f"{base}^{{commit}}")
    source = FOLDER / commit[:12] / "source"
    if not source.exists():
        half = source.with_name("half")
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(parents=True)
        archive = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE
        ).stdout
        subprocess.run(["tar", "-x", "-C", str(half)], input=archive, check=True)
        half.rename(source)
    return build(source, commit[:12]), build(ROOT, "tree")


def environment(package: Path) -> dict[str, str]:
    """The variables with which a process imports that package."""
    return {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}


def check_imported(package: str) -> None:
    """End the process unless it has imported that package.

    Raises:
        SystemExit: It has another one.
    """
    import wirecall

    if not Path(wirecall.__file__).is_relative_to(package):
        raise SystemExit(f"{wirecall.__file__} is not in {package}")


class Worker:
    """A process that runs a script with `--serve PACKAGE`, and answers lines of JSON.

    Args:
        script: The script.
        package: What it imports; None: the installed package.
    """

    def __init__(self, script: str, package: Path | None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, script, "--serve", str(package or "")],
            env=environment(package) if package else None,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *request: Any) -> None:
        assert self.process.stdin is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)

    def answer(self) -> Any:
        """Wait for an answer.

        Raises:
            SystemExit: The process has ended.
        """
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a worker ended; its message is above")
        return json.loads(line)

    def close(self) -> None:
        self.process.communicate()
