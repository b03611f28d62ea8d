"""What the tests of `wirecall bench live` share: a small catalogue, and runs of the command."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from server import Answer, Call, ErringModel, Request, Server, serve
from server.app import Script
from server.erring import Rule, mode_of

import wirecall
from wirecall._cli.commands import wirecall as command
from wirecall_bench.artifact import Cell, read
from wirecall_bench.budget import Usage

KEY = "sk-live-0987654321"
TOOLS = [
    {
        "name": "get_weather",
        "description": "The weather of a place.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Where"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
    {
        "name": "send_mail",
        "description": "Sends a mail.",
        "parameters": {
            "type": "object",
            "properties": {
                "to": {"type": "string"},
                "text": {"type": "string"},
                "copies": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["to", "text"],
        },
    },
    {
        "name": "set_light",
        "description": "Switches a light.",
        "parameters": {
            "type": "object",
            "properties": {"on": {"type": "boolean"}, "level": {"type": "number"}},
            "required": ["on"],
        },
    },
]
CALLS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("lima", "weather", "get_weather", {"city": "Lima"}),
    ("three days", "weather", "get_weather", {"city": "New York", "days": 3}),
    ("mail", "mail", "send_mail", {"to": "ann@example.org", "text": 'She said "yes".\nReally.'}),
    ("mail with copies", "mail", "send_mail", {"to": "a@b.org", "text": "Hi", "copies": ["c@d.org", "e f"]}),
    ("light on", "light", "set_light", {"on": True, "level": 0.5}),
    ("light off", "light", "set_light", {"on": False}),
]
CASES = [
    {"name": name, "group": group, "prompt": f"Please do this: {name}.", "tool": tool, "arguments": arguments}
    for name, group, tool, arguments in CALLS
]
CATALOGUE = {"name": "small", "tools": TOOLS, "cases": CASES}
KNOWN = {case["prompt"]: Call(case["tool"], case["arguments"]) for case in CASES}
CASE_OF = {case["prompt"]: case["name"] for case in CASES}
MODES = ("native", "wire")
# Where a key may be told, beside the artifact.
QUIET = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}


@contextmanager
def serving(rule: Rule | None = None, *, script: Script | None = None) -> Iterator[Server]:
    with serve(script or ErringModel(KNOWN, rule)) as server:
        yield server


class Bench:
    """The command against one server, with one artifact."""

    def __init__(self, server: Server, folder: Path, *options: str, models: str = "m") -> None:
        self.server = server
        self.path = folder / "live.jsonl"
        catalogue = folder / "catalogue.json"
        catalogue.write_text(json.dumps(CATALOGUE), encoding="utf-8")
        self.arguments = [
            *("bench", "live", "--base-url", server.openai_url, "--models", models),
            *("--catalogue", str(catalogue), "--output", str(self.path), *options),
        ]

    def run(self, *options: str, code: int = 0, env: dict[str, str] | None = None) -> Result:
        result = CliRunner().invoke(command, [*self.arguments, *options], env={**QUIET, **(env or {})})
        unexpected = result.exception if not isinstance(result.exception, SystemExit) else None
        assert result.exit_code == code, (result.output, unexpected)
        assert unexpected is None
        assert KEY not in result.output
        if self.path.exists():
            assert KEY not in self.path.read_text(encoding="utf-8")
        self.server.settle()
        assert not self.server.errors
        return result

    def start(self, *options: str) -> "subprocess.Popen[bytes]":
        """The same in a process of its own."""
        source = Path(wirecall.__file__).parents[1]
        return subprocess.Popen(
            [sys.executable, "-m", "wirecall", *self.arguments, *options],
            env={**os.environ, **QUIET, "PYTHONPATH": str(source)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    @property
    def cells(self) -> list[Cell]:
        return read(self.path).cells

    @property
    def answered(self) -> list[Request]:
        return [request for request in self.server.requests if isinstance(request.reply, Answer)]

    @property
    def paid(self) -> Usage:
        """What the server says that all its answers cost."""
        total = Usage()
        for request in self.answered:
            assert isinstance(request.reply, Answer)
            total += Usage(request.reply.usage.input, request.reply.usage.output)
        return total


def total(cells: list[Cell]) -> Usage:
    return sum((Usage.of(cell["usage"]) for cell in cells), Usage())


def case_of(request: Request) -> str:
    """The case that a request asks."""
    return next(name for prompt, name in CASE_OF.items() if prompt in request.body.decode())


def variant_of(request: Request) -> tuple[str, str]:
    """The model and the mode that a request is of."""
    body = request.json
    system = "".join(message["content"] for message in body["messages"] if message["role"] == "system")
    return body["model"], "native" if "tools" in body else mode_of(system)
