"""`wirecall compact`: files in, files out, and what goes wrong."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click")

from click.testing import CliRunner, Result
from server import Answer, Failure, Request, Server, serve

from wirecall._cli.commands import wirecall
from wirecall.compaction._summary import OPENING

MESSAGES = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "caf\u00e9?"},
    {"role": "assistant", "content": "yes"},
    {"role": "tool", "tool_call_id": "nobody's", "content": "x"},
    {"role": "user", "content": "and?"},
]
SUMMARY = Answer(["<analysis>a</analysis><summary>They like caf\u00e9s.</summary>"])


def run(*arguments: str, stdin: str | bytes = "", **environment: str) -> Result:
    return CliRunner().invoke(wirecall, ["compact", *arguments], input=stdin, env=environment)


def ask(server: Server, *arguments: str, api: str = "openai", stdin: str = "") -> Result:
    pytest.importorskip(api)
    url = server.openai_url if api == "openai" else server.url
    return run(
        *arguments, "--model", "m", "--api", api, "--base-url", url, "--keep-recent-turns", "1", stdin=stdin
    )


def test_the_plan() -> None:
    result = run("--keep-recent-turns", "1", "--plan", "--estimate", stdin=json.dumps(MESSAGES))
    assert result.exit_code == 0
    assert result.stdout == (
        "format chat, estimated tokens\n"
        "part         tokens\n"
        "system            7  messages 1, turns 0\n"
        "summarise        11  messages 2, turns 2\n"
        "keep              6  messages 1, turns 1\n"
        "orphan_result at message 3: nobody's\n"
    )
    plan = ("--max-tokens", "1", "--max-summary-tokens", "9", "--plan", "--estimate", "--json")
    assert json.loads(run(*plan, stdin=json.dumps(MESSAGES)).stdout) == {
        "format": "chat",
        "unit": "estimated tokens",
        "system": {"messages": 1, "turns": 0, "tokens": 7},
        "to_summarize": {"messages": 2, "turns": 2, "tokens": 11},
        "to_keep": {"messages": 1, "turns": 1, "tokens": 6},
        "repairs": [{"kind": "orphan_result", "at": 3, "id": "nobody's", "name": None}],
    }


def test_a_plan_by_tokens_says_what_is_left_for_a_summary() -> None:
    """Else nobody knows why so few turns are kept."""
    given = ("--plan", "--estimate", "--max-tokens")
    text = json.dumps(MESSAGES)
    said = run(*given, "5", stdin=text).stdout
    assert said.endswith("\na summary     2,048  at most (--max-summary-tokens)\n")
    assert "nothing to summarise" not in said
    fits = run(*given, "5000", stdin=text).stdout
    assert "a summary" not in fits
    assert "\nnothing to summarise\n" in fits


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_a_list_stays_a_list(api: str) -> None:
    with serve([SUMMARY]) as server:
        result = ask(server, api=api, stdin=json.dumps(MESSAGES, indent=2, ensure_ascii=False) + "\n")
        [request] = server.requests
    assert result.exit_code == 0
    assert result.stderr == "2 turns summarised, 1 turn kept\n"
    assert result.stdout.startswith('[\n  {\n    "role": "system",')
    assert result.stdout.endswith("\n]\n")
    written = json.loads(result.stdout)
    assert [one["role"] for one in written] == ["system", "user", "user"]
    assert written[1]["content"].startswith(OPENING)
    assert written[1]["content"].endswith("\n\nThey like caf\u00e9s.")
    assert "caf\u00e9s" in result.stdout
    assert request.json["model"] == "m"
    assert request.json["messages"][0] == {"role": "user", "content": "caf\u00e9?"}


def test_a_request_stays_a_request() -> None:
    body = {"model": "x", "input": [{**one, "type": "message"} for one in (MESSAGES[1], *MESSAGES[1:3])]}
    with serve([SUMMARY]) as server:
        result = ask(server, stdin=json.dumps(body, separators=(",", ":")))
    written = json.loads(result.stdout)
    assert list(written) == ["model", "input"]
    assert [one["type"] for one in written["input"]] == ["message", "message"]
    assert '": ' not in result.stdout.partition('"input"')[0]
    assert not result.stdout.endswith("\n")


def test_kept_lines_stay_as_they_are(tmp_path: Path) -> None:
    odd = '{ "role" : "user", "content":"caf\\u00e9 1.50", "x": 1.50 }'
    lines = [*(json.dumps(one) for one in MESSAGES), "", odd]
    path = tmp_path / "history.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    path.chmod(0o640)
    with serve([SUMMARY]) as server:
        result = ask(server, str(path), "--output", str(path))
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    written = path.read_text(encoding="utf-8").split("\n")
    assert written[0] == lines[0]
    assert OPENING in written[1]
    assert written[2:] == [odd, ""]
    assert os.listdir(tmp_path) == ["history.jsonl"]
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("text", [json.dumps(MESSAGES[:2]), "\n\n".join(map(json.dumps, MESSAGES[:2])), "[]"])
def test_what_is_short_enough_is_written_as_it_is_and_asks_nobody(text: str) -> None:
    result = run("--keep-recent-turns", "9", "--model", "m", stdin=text, OPENAI_API_KEY="")
    assert (result.exit_code, result.stdout) == (0, text)
    assert result.stderr == "unchanged: no turn is old enough\n"


def test_an_empty_summary_leaves_it_as_it_is() -> None:
    with serve([Answer(["N/A"])]) as server:
        result = ask(server, stdin=json.dumps(MESSAGES))
    assert (result.exit_code, result.stdout) == (0, json.dumps(MESSAGES))
    assert result.stderr == "unchanged: m returned an empty summary\n"


@pytest.mark.parametrize(
    "answer", [Failure(400, message="no such model"), Answer(["half a"], finish="length")]
)
def test_what_fails_writes_nothing(tmp_path: Path, answer: Any) -> None:
    path = tmp_path / "history.json"
    path.write_text(json.dumps(MESSAGES), encoding="utf-8")
    with serve([answer]) as server:
        result = ask(server, str(path), "--output", str(path))
    assert result.exit_code != 0
    assert f"m at {server.openai_url}: " in result.stderr
    assert "no such model" in result.stderr or "cut off" in result.stderr
    assert path.read_text(encoding="utf-8") == json.dumps(MESSAGES)
    assert os.listdir(tmp_path) == ["history.json"]


def test_who_cannot_be_asked_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    asked = ("--keep-recent-turns", "1", "--model", "m", "--base-url", "http://127.0.0.1:1/v1")
    result = run(*asked, stdin=json.dumps(MESSAGES))
    assert result.exit_code != 0
    assert "m at http://127.0.0.1:1/v1: Connection error. " in result.stderr
    assert "refused" in result.stderr
    with serve([Failure(400, "No\x1b[2J more.")]) as server:
        result = ask(server, stdin=json.dumps(MESSAGES))
    assert result.exit_code != 0
    assert "\x1b" not in result.stderr
    assert "No\N{REPLACEMENT CHARACTER}[2J more." in result.stderr


def test_what_is_added_to_a_file_meanwhile_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(f"{json.dumps(message)}\n" for message in MESSAGES), encoding="utf-8")

    def adds(request: Request) -> Answer:
        with path.open("a", encoding="utf-8") as file:
            file.write('{"role": "user", "content": "new"}\n')
        return SUMMARY

    other = tmp_path / "other.jsonl"
    with serve(adds) as server:
        result = ask(server, str(path), "--output", str(path))
        assert result.exit_code != 0
        assert "changed in the meantime" in result.stderr
        assert path.read_text(encoding="utf-8").count("\n") == len(MESSAGES) + 1
        assert ask(server, str(path), "--output", str(other)).exit_code == 0
    assert OPENING in other.read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        arguments = ("--keep-recent-turns", "9", "--model", "m", "--output", str(pipe))
        assert run(*arguments, stdin=json.dumps(MESSAGES)).exit_code == 0
        assert os.read(reader, 9999).decode() == json.dumps(MESSAGES)
        assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    finally:
        os.close(reader)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(sys.platform == "win32", reason="no modes")
def test_nobody_reads_a_part_who_may_not_read_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.json"
    path.write_text("[]", encoding="utf-8")
    path.chmod(0o600)
    modes = []
    synced = os.fsync

    def fsync(descriptor: int) -> None:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        synced(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    arguments = ("--keep-recent-turns", "9", "--model", "m", "--output", str(path))
    assert run(*arguments, stdin=json.dumps(MESSAGES)).exit_code == 0
    assert modes == [0o600]


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with serve([SUMMARY]) as server:
        result = ask(server, "--output", str(tmp_path / "no" / "h.json"), stdin=json.dumps(MESSAGES))
    assert result.exit_code != 0
    assert "No such file" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "text", "said"),
    [
        ((), "[]", "--keep-recent-turns or --max-tokens is required"),
        (("--keep-recent-turns", "1"), "[]", "--model is required unless --plan is given"),
        (("--keep-recent-turns", "1", "--model", "m", "--json"), "[]", "--json needs --plan"),
        (("--keep-recent-turns", "-1", "--plan"), "[]", "-1"),
        (("--keep-recent-turns", "1", "--plan"), "[{]", "line 1, column 3: not valid JSON"),
        (("--keep-recent-turns", "1", "--plan"), "{}\n{", "line 2, column 2: not valid JSON"),
        (("--keep-recent-turns", "1", "--plan"), "", "standard input is empty. Expected a JSON list"),
        (("--keep-recent-turns", "1", "--plan"), " \n", "standard input is empty"),
        (
            ("--keep-recent-turns", "1", "--plan"),
            '[{"role": "user"}, {"name": "f", "input_schema": {}}]',
            "standard input: messages[1] is a tool definition; expected a JSON list of messages",
        ),
        (
            ("--keep-recent-turns", "1", "--plan"),
            '[{"type": "function", "function": {"name": "f"}}]',
            "messages[0] is a tool definition",
        ),
        (
            ("--keep-recent-turns", "1", "--plan"),
            '{"role": "user"}\n{"name": "f", "parameters": {}}',
            "messages[1] is a tool definition",
        ),
        (("--keep-recent-turns", "1", "--plan"), "[{}]", 'messages[0] has neither "role" nor "type"'),
        (("--keep-recent-turns", "1", "--plan"), '{\n"messages": [\n}', "line 3, column 1: not valid JSON"),
        (("--keep-recent-turns", "1", "--plan"), "7", "expected a JSON list of messages"),
        (("--keep-recent-turns", "1", "--plan"), '{"a": 1}', "expected a JSON list of messages"),
        (("--keep-recent-turns", "1", "--plan"), "[7]", "messages[0] must be a message"),
        (
            ("--keep-recent-turns", "1", "--plan"),
            '[{"role": "tool"}, {"type": "reasoning"}]',
            "messages[0] has the format chat, but messages[1] has the format responses",
        ),
        (("--keep-recent-turns", "1", "--plan", "no.json"), "", "no.json: No such file or directory"),
        (
            ("--keep-recent-turns", "0", "--model", "m"),
            json.dumps(MESSAGES),
            "the environment variable OPENAI_API_KEY is not set",
        ),
        (
            (
                "--keep-recent-turns",
                "0",
                "--model",
                "m",
                "--key-variable",
                "MY_KEY",
                "--base-url",
                "http://x",
            ),
            json.dumps(MESSAGES),
            "the environment variable MY_KEY is not set",
        ),
    ],
)
def test_what_cannot_work_says_why(arguments: tuple[str, ...], text: str, said: str) -> None:
    result = run(*arguments, stdin=text, OPENAI_API_KEY="")
    assert result.exit_code != 0
    assert said in result.stderr
    assert result.stdout == ""


def test_what_is_no_text_is_named() -> None:
    result = run("--keep-recent-turns", "1", "--plan", stdin=b"[\xff]")
    said = "standard input: byte 1 is not valid UTF-8 (0xff, invalid start byte). Convert the input"
    assert said in result.stderr


def test_an_sdk_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    result = run("--keep-recent-turns", "0", "--model", "m", "--api", "anthropic", stdin=json.dumps(MESSAGES))
    assert result.exit_code != 0
    assert "pip install '.[anthropic]' in a clone of wirecall" in result.stderr
