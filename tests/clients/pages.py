"""The code blocks of a Markdown page. Each one runs alone, in a new process and an empty folder.

The language of a fence says how its block is run, and words after it change that:

- `python`: as a program, or as a doctest if it has `>>>`;
- `sh`: with bash; its commands are `wirecall`, `echo`, `printf` or `cat`;
- `json`: parsed. `json NAME` is a file, which exists for every block of the page;
- `skip`: the block is not run. The paragraph before or after a block in Python says what it needs;
- `endpoint`: the environment variables of the SDKs name a server on this machine. Its model calls
  `get_weather` with the city Austin and 2 days, and then answers "It will be 21 degrees.";
- `demo`: `examples/demo_server.py` runs, but at another port than the block says.

A `text` block after "It prints:" is the output of the block before it. Blocks in `sh` have a `tools.json`
with `get_weather`, unless the page has its own.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from examples import ROOT, demo_server

FENCE = re.compile(
    r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```[ ]*$(?:\n\nIt prints:\n\n```text\n(?P<prints>.*?)^```[ ]*$)?",
    re.MULTILINE | re.DOTALL,
)
WORDS = {"python": {"skip", "endpoint", "demo"}, "sh": {"skip"}, "toml": set(), "rust": set(), "text": set()}
COMMANDS = {"wirecall", "echo", "printf", "cat"}
# Where the demo server runs, if nothing else is said.
DEMO = "http://127.0.0.1:8765"
DOCTEST = ("-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "-o", "ELLIPSIS")
WEATHER = {
    "name": "get_weather",
    "description": "Get the weather.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}


@dataclass(frozen=True)
class Block:
    page: str
    line: int  # of the fence
    language: str
    words: frozenset[str]
    code: str
    prints: str | None
    around: str  # the paragraphs before and after it
    files: tuple[tuple[str, str], ...]  # of the page

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def runs(self) -> bool:
        return self.language in ("python", "sh") and "skip" not in self.words


def blocks(path: Path) -> list[Block]:
    """All blocks of a page, in order."""
    text = path.read_text(encoding="utf-8")
    page = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    found, files = [], []
    for fence in FENCE.finditer(text):
        language, *words = fence["info"].split() or ["text"]
        line = text.count("\n", 0, fence.start()) + 1
        if language == "json":
            assert len(words) <= 1, f"{page}:{line}: json takes one word, the name of a file"
            files += [(name, fence["code"]) for name in words]
        else:
            assert set(words) <= WORDS.get(language, set()), f"{page}:{line}: unknown fence {fence['info']!r}"
        before = text[: fence.start()].rstrip().rpartition("\n\n")[2]
        after = text[fence.end() :].lstrip().partition("\n\n")[0]
        around = f"{before}\n\n{after}"
        found.append((line, language, frozenset(words), fence["code"], fence["prints"], around))
    return [Block(page, *rest, tuple(files)) for rest in found]


def cases(*paths: Path) -> list[object]:
    """The blocks of these pages that run, as parameters of a test."""
    return [pytest.param(block, id=str(block)) for path in paths for block in blocks(path) if block.runs]


def run(block: Block, folder: Path) -> None:
    """Runs a block in `folder`, which is empty. A failure names the page and the line."""
    here = folder / "here"
    here.mkdir()
    for name, content in block.files:
        (here / name).write_text(content, encoding="utf-8")
    # With the name and the line numbers of the page, so that a traceback names the line.
    script = folder / "page" / block.page
    script.parent.mkdir(parents=True)
    if block.language == "sh":
        command = [*shell(block), str(script), block.page]
        if not (here / "tools.json").exists():
            (here / "tools.json").write_text(json.dumps([WEATHER]), encoding="utf-8")
    else:
        strict = () if block.words & {"endpoint", "demo"} else ("-W", "error")
        command = [sys.executable, *strict, *(DOCTEST if ">>>" in block.code else ()), str(script)]
    with endpoint("endpoint" in block.words) as variables, demo("demo" in block.words) as address:
        code = block.code.replace(DEMO, address)
        assert (code != block.code) == (address != DEMO), f"{block} does not use {DEMO}"
        script.write_text("\n" * block.line + code, encoding="utf-8")
        done = subprocess.run(
            command,
            cwd=here,
            env=environment() | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )
    shown = f"{done.stdout}{done.stderr}"
    assert done.returncode == 0, f"{block} failed with status {done.returncode}:\n{shown}"
    if block.prints is not None:
        assert done.stdout == block.prints, f"{block} does not print what the page says, but:\n{shown}"


def shell(block: Block) -> list[str]:
    if others := {name for name in command_names(block.code) if name not in COMMANDS}:
        raise AssertionError(f"{block} runs {', '.join(sorted(others))}: write `sh skip`")
    bash = shutil.which("bash")
    if bash is None or sys.platform == "win32":
        pytest.skip("blocks in sh need bash")
    # A failure shows the line of each command. As root, bash does not take PS4 from the environment.
    return [bash, "-euo", "pipefail", "-c", 'PS4="+ $1:\\$LINENO: "; set -x; . "$0"']


def command_names(code: str) -> Iterator[str]:
    """The first word of each command."""
    for line in code.replace("\\\n", " ").splitlines():
        first = True
        for word in shlex.shlex(line, posix=True, punctuation_chars=True):
            if first:
                yield word
            first = word in ("|", ";", "&&", "||")


def environment() -> dict[str, str]:
    """This process's, without keys and addresses; `wirecall` is that of this interpreter."""
    kept = {key: value for key, value in os.environ.items() if not key.endswith(("_API_KEY", "_BASE_URL"))}
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    return kept | {"PATH": path, "PYTHONUTF8": "1"}


@contextlib.contextmanager
def endpoint(wanted: bool) -> Iterator[dict[str, str]]:
    """A server for one block, and the variables by which the SDKs find it."""
    if not wanted:
        yield {}
        return
    from server import Answer, Call, Step, TextModel, serve

    last = "It will be 21 degrees."
    model = TextModel([Step([Call("get_weather", {"city": "Austin", "days": 2})]), Step(text=last)])
    with serve(lambda request: model(request) if b"get_weather" in request.body else Answer(last)) as server:
        yield {
            "OPENAI_BASE_URL": server.openai_url,
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "none",
            # These would otherwise use the network: litellm downloads prices, openai-agents uploads traces.
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        }
        refused = [request.refused for request in server.requests if request.refused]
        assert server.requests, "the block sends no request"
        assert (refused, server.errors) == ([], []), f"the server refused it: {refused} {server.errors}"


@contextlib.contextmanager
def demo(wanted: bool) -> Iterator[str]:
    """The address of a demo server, at a free port."""
    if not wanted:
        yield DEMO
        return
    with demo_server() as (address, _):
        yield address


def check(block: Block) -> None:
    """Data is valid; a program that does not run has no undefined names, and the page says what it needs."""
    if block.language == "json":
        try:
            json.loads(block.code)
        except ValueError as error:
            raise AssertionError(f"{block} is not valid JSON: {error}") from error
    if block.language == "python" and "skip" in block.words:
        assert re.search(r"\b(?:needs?|not run)\b", block.around), f"{block}: say why it is not run"
        command = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "--select", "E9,F821", "-"]
        done = subprocess.run(command, input=block.code, capture_output=True, encoding="utf-8")
        assert done.returncode == 0, f"{block}:\n{done.stdout}{done.stderr}"
