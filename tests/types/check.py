"""Runs mypy and basedpyright over the files beside this one: errors must be where a line says `# wrong`, and
nowhere else."""

import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FILES = [HERE / "right.py", HERE / "wrong.py"]
BIN = Path(sys.executable).parent

Places = set[tuple[str, int]]


def run(*command: object) -> str:
    done = subprocess.run([*map(str, command)], cwd=HERE, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def mypy() -> dict[tuple[str, int], str]:
    # Not the configuration of the project: its `files` are others.
    out = run(BIN / "mypy", "--config-file=", "--strict", "--python-version=3.11", *FILES)
    found = re.findall(r"^(?:.*/)?(\w+\.py):(\d+): error: (.*)$", out, re.MULTILINE)
    return {(name, int(line)): text for name, line, text in found}


def pyright() -> dict[tuple[str, int], str]:
    options = ("--level", "error", "--pythonpath", sys.executable, "--pythonversion", "3.11", "--outputjson")
    report = json.loads(run(BIN / "basedpyright", "--project", HERE / "pyrightconfig.json", *options))
    return {
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1): one["message"]
        for one in report["generalDiagnostics"]
    }


def expected() -> Places:
    return {
        (file.name, number)
        for file in FILES
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if line.endswith("# wrong")
    }


def main() -> None:
    wanted, failed = expected(), False
    for checker in (mypy, pyright):
        found = checker()
        for place in sorted(wanted - found.keys()):
            print(f"{checker.__name__}: {place[0]}:{place[1]} is accepted")
        for place in sorted(found.keys() - wanted):
            print(f"{checker.__name__}: {place[0]}:{place[1]}: {found[place]}")
        print(f"{checker.__name__}: {len(wanted & found.keys())} of {len(wanted)} wrong uses found")
        failed = failed or found.keys() != wanted
    sys.exit(failed)


if __name__ == "__main__":
    main()
