"""`make demo-live` against a scripted server: examples/agent_local.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from server import Answer, Request, serve
from server.answers import Reply

PROGRAM = Path(__file__).parents[2] / "examples" / "agent_local.py"
CALLS = {
    "grammar.": '<call>search_files word="grammar"</call>',
    "miles": "<call>convert_units value=26 from_unit=mile to_unit=kilometer</call>",
}


def script(request: Request) -> Reply:
    body = request.json
    if "grammar" not in body:
        return Answer("It is as the tool says.")
    assert body["grammar"].startswith("root ::=")
    asked = body["messages"][-1]["content"]
    return Answer(next(call for word, call in CALLS.items() if word in asked))


def run(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    others = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    return subprocess.run(
        [sys.executable, str(PROGRAM), *arguments],
        env={**others, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


def test_it_shows_what_the_model_saw_and_wrote_and_the_calls() -> None:
    with serve(script, grammars="llama.cpp") as server:
        done = run(OPENAI_BASE_URL=server.openai_url, PYTHONIOENCODING="utf-8")
        assert not server.errors
    assert (done.returncode, done.stderr) == (0, "")
    parts = done.stdout.split("QUESTION")[1:]
    for part, call, result in zip(
        parts, CALLS.values(), ("Lines with 'grammar': ", "26 mile = 41.8429 kilometer"), strict=True
    ):
        for title in (
            "WHAT THE MODEL SAW",
            "THE GRAMMAR",
            "WHAT IT WROTE",
            "WHAT CAME OUT",
            "RESULT",
            "ANSWER",
        ):
            assert f"\n{title}" in part
        assert f"WHAT IT WROTE\n  {call}\n" in part
        assert f"RESULT\n  {result}" in part
        assert "ANSWER\n  It is as the tool says.\n" in part


def test_a_question_can_be_given() -> None:
    with serve(script, grammars="llama.cpp") as server:
        done = run("How many kilometers are 5 miles?", OPENAI_BASE_URL=server.openai_url)
    assert done.stdout.count("QUESTION") == 1
    assert '"name": "convert_units"' in done.stdout


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "OPENAI_BASE_URL is not set. Set it to that of a llama-server, or run `make demo-live`."),
        (
            {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"},
            "No server answers at http://127.0.0.1:9/v1/. Run `make model` first, then `make demo-live`.",
        ),
    ],
)
def test_without_a_server(variables: dict[str, str], said: str) -> None:
    done = run(**variables)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == said
    assert "Traceback" not in done.stderr
