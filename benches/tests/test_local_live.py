"""`make live` without a model: what it runs, what it asks the server, and what it publishes."""

import json
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from wirecall_bench import local_live, local_model
from wirecall_bench.artifact import read
from wirecall_bench.catalogue import built_in
from wirecall_bench.commands import bench
from wirecall_bench.local_live import by_group, check_grammars, grammars, main, planned_runs
from wirecall_bench.local_model import GEMMA3, SMOLLM2, server_command
from wirecall_bench.local_server import LocalServer, free_port, serving
from wirecall_bench.manuals import MANUALS

# Like llama-server, but it refuses grammars in which a word occurs.
FAKE = """
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200, {})
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert body["n_predict"] == 1 and body["grammar"].startswith("root ::="), body
        refused = sys.argv[2] in body["grammar"]
        self.answer(400 if refused else 200, {"message": "Failed to parse grammar"} if refused else {})
    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *arguments):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
SERVER = LocalServer("http://127.0.0.1:1", "tiny", 0)


def fake(port: int, refused: str) -> list[str]:
    return [sys.executable, "-c", FAKE, str(port), refused]


def test_the_commands_are_valid(tmp_path: Path) -> None:
    reference = tmp_path / "reference.json"
    reference.write_text("{}", encoding="utf-8")
    runs = planned_runs(reference, 2, 2)
    assert [run.name for run in runs] == [
        *("reference", "built-in", "manuals-reference", "manuals-wire", "manuals", "manuals-constraints"),
    ]
    for run in runs:
        first, name, *arguments = run.arguments(SERVER, tmp_path)
        assert (first, name) == ("bench", "live")
        with bench.commands["live"].make_context("live", arguments, click.Context(bench)) as context:
            assert context.params["max_tokens"] == 4_000_000
            assert context.params["resume"] is False
    tried = {one for run in runs for one in run.ablations}
    assert tried == {f"manual={name}" for name in MANUALS}
    run.path(tmp_path).touch()
    assert "--resume" in run.arguments(SERVER, tmp_path)


def test_without_another_catalogue() -> None:
    assert [run.name for run in planned_runs(None, 2, 0)] == ["built-in"]


def test_all_grammars_are_sent_and_refused_ones_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    catalogue = built_in()
    titles = [title for title, _ in grammars(catalogue)]
    count = 2 * (3 + len(catalogue.tools) + 2 * len(by_group(catalogue)))
    assert len(titles) == len(set(titles)) == count
    port = free_port()
    with serving(fake(port, "define_word"), port, "tiny") as server:
        refused = check_grammars(server, [catalogue])
    said = capsys.readouterr().out.splitlines()
    assert 0 < refused < count
    assert said[-1] == f"built-in: llama-server takes {count - refused} of {count} grammars"
    assert "built-in: wire, all tools, define_word: HTTP 400" in " ".join(said)
    assert len(said) == refused + 1


def test_it_stops_after_the_grammars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        local_live, "server_command", lambda model, *, port, threads: fake(port, "no such word")
    )
    arguments = ["--output", str(tmp_path), "--only-grammars"]
    assert main(arguments) == 0
    monkeypatch.setattr(
        local_live, "server_command", lambda model, *, port, threads: fake(port, "define_word")
    )
    assert main(arguments) == 1


def test_it_runs_all_and_then_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    def wirecall(arguments: Any, server: Any = None) -> int:
        ran.append(list(arguments))
        return 0

    monkeypatch.setattr(
        local_live, "server_command", lambda model, *, port, threads: fake(port, "no such word")
    )
    monkeypatch.setattr(local_live, "_wirecall", wirecall)
    monkeypatch.setattr(local_live, "check_grammars", lambda server, found: 0)
    assert main(["--output", str(tmp_path)]) == 0
    assert [arguments[1] for arguments in ran] == ["live"] * 3 + ["report"]
    assert ran[-1][2:5] == [
        str(tmp_path / f"{name}.jsonl") for name in ("built-in", "manuals", "manuals-constraints")
    ]


def test_a_model_that_is_not_installed_says_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from wirecall_bench.local_model import LocalModelError

    def refuse(*_: object, **__: object) -> list[str]:
        raise LocalModelError("llama-server does not exist. Run `make model`, which installs it.")

    monkeypatch.setattr(local_live, "server_command", refuse)
    assert main(["--output", str(tmp_path)]) == 1
    assert "Run `make model`" in capsys.readouterr().err


def test_a_resumed_run_has_the_port_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "built-in.jsonl"
    header = {
        "schema": "wirecall._bench/1",
        "kind": "live",
        "run": {"options": {"base_url": "http://127.0.0.1:8123/v1"}},
    }
    path.write_text(json.dumps(header) + "\n", encoding="utf-8")
    assert read(path).options["base_url"].endswith(":8123/v1")
    assert local_live._port(iter([tmp_path / "none.jsonl", path])) == 8123
    assert local_live._port(iter([tmp_path / "none.jsonl"])) > 1023


def test_the_server_has_a_template_with_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "server_path", lambda folder: "server")
    monkeypatch.setattr(local_model, "model_path", lambda model, folder: model.file)
    assert SMOLLM2.template is not None
    assert server_command(SMOLLM2)[-2:] == ["--chat-template-file", str(SMOLLM2.template)]
    assert "--chat-template-file" not in server_command(GEMMA3)
    jinja2 = pytest.importorskip("jinja2")
    template = jinja2.Environment().from_string(SMOLLM2.template.read_text(encoding="utf-8"))
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    begin = "<|im_start|>system\nS"
    end = "<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n"
    assert template.render(messages=messages, add_generation_prompt=True) == begin + end
    told = template.render(messages=messages, tools=[{"name": "go"}], add_generation_prompt=True)
    assert told.startswith(begin + "\n\n# Tools")
    assert told.endswith(end)
    assert '{"name": "go"}' in told
