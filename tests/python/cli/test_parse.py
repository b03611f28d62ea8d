"""`wirecall parse`, and the files of tools that all commands read."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import TOOLS, events, run

from wirecall import Toolset
from wirecall._tools.detection import SEARCHED


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("text", 0),
        ("", 0),
        ("<call>get_weather city=Rome</call>", 0),
        ("<call>get_weather city=Rome days=2.5</call>", 0),
        ("<call>nope a=1</call>", 1),
        ("<call>get_weather city=Rome", 1),
        ("<tool-result name", 1),
    ],
)
@pytest.mark.parametrize("how", [[], ["--text"], ["--whole"]])
def test_status_of_parse(tools: str, how: list[str], message: str, status: int) -> None:
    done = run("parse", "--tools", tools, *how, stdin=message)
    assert done.exit_code == status


def test_whole_has_what_events_have(tools: str, tmp_path: Path) -> None:
    message = tmp_path / "message.txt"
    message.write_text("é <call>get_weather city=Rome days=0.5</call>\n<call>nope</call>", encoding="utf-8")
    single = json.loads(run("parse", "--tools", tools, "--whole", str(message)).stdout)
    kept = [
        event
        for event in events(run("parse", "--tools", tools, str(message)).stdout)
        if event["type"] not in ("call_start", "arguments_delta")
    ]
    for item in (*single["items"], *kept):
        item.pop("id", None)
    assert single == {"items": kept, "framing": []}
    text, call, _, error = kept
    assert text == {"type": "text", "text": "é "}
    assert [problem["kind"] for problem in call["problems"]] == ["wrong_type"]
    assert error["kind"] == "unknown_tool"


def test_text_leaves_calls_out_and_reports_errors(tools: str) -> None:
    done = run("parse", "--tools", tools, "--text", stdin="a <call>get_time</call>b <call>nope</call>c")
    assert done.stdout == "a b c"
    assert done.stderr.startswith("characters 25 to 42: unknown_tool: There is no tool `nope`.")


@pytest.mark.parametrize(
    ("options", "message", "expected"),
    [
        ([], '<call>get_weather city=Rome days="2"</call>', "call_end"),
        (["--strict"], '<call>get_weather city=Rome days="2"</call>', "coerced"),
        ([], "<call>get_weather city=Rome days=0</call>", "call_end"),
        (["--validate"], "<call>get_weather city=Rome days=0</call>", "invalid_arguments"),
        ([], "<call>get_weather city=Rome", "incomplete_call"),
        (["--truncated"], "<call>get_weather city=Rome", "incomplete_call"),
        (["--complete"], "<call>get_weather city=Rome ", "call_end"),
        # A bare value that touches the end may be half of one.
        (["--complete"], "<call>get_weather city=Rome", "incomplete_call"),
        ([], "<call>get_time</call></think>", "call_end"),
        (["--in-reasoning"], "<call>get_time</call></think>", "text"),
        ([], "```\n<call>get_time</call>\n```", "call_end"),
        (["--code", "text"], "```\n<call>get_time</call>\n```", "text"),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_options_of_parse(tools: str, options: list[str], message: str, expected: str, whole: bool) -> None:
    done = run("parse", "--tools", tools, *options, *(["--whole"] if whole else []), stdin=message)
    found = json.loads(done.stdout)["items"] if whole else events(done.stdout)
    kinds = [event.get("kind", event["type"]) for event in found]
    assert expected in kinds
    if expected == "text":
        assert set(kinds) == {"text"}


@pytest.mark.parametrize("how", [(), ("--text",), ("--whole",)])
def test_a_message_in_another_format_gets_a_hint(tools: str, how: tuple[str, ...]) -> None:
    call = Toolset(TOOLS, protocol="hermes").encode("get_time", {"zone": "UTC"})
    result = run("parse", "--tools", tools, *how, stdin=call)
    assert result.exit_code == 0
    assert result.stderr.endswith("try --protocol hermes\n")
    read = run("parse", "--tools", tools, *how, "--protocol", "hermes", stdin=call)
    both = run("parse", "--tools", tools, *how, stdin=f"{call}<call>get_time</call>")
    prose = run("parse", "--tools", tools, *how, stdin="Nothing to call.")
    assert (read.stderr, both.stderr, prose.stderr) == ("", "", "")


def test_the_hint_needs_only_the_beginning_of_a_message(tools: str) -> None:
    call = Toolset(TOOLS, protocol="hermes").encode("get_time", {"zone": "UTC"})
    for prose, hint in (("x" * (SEARCHED - 500), "try --protocol hermes\n"), ("x" * SEARCHED, "")):
        assert run("parse", "--tools", tools, stdin=prose + call).stderr.endswith(hint)


def test_without_tools_calls_are_untyped() -> None:
    (item,) = json.loads(run("parse", "--whole", stdin="<call>any a=1 b=x</call>").stdout)["items"]
    assert item["arguments"] == '{"a":1,"b":"x"}'


@pytest.mark.parametrize("wrap", [lambda tools: tools, lambda tools: {"tools": tools}])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_tools_in_any_form(tmp_path: Path, wrap: Any, mark: str) -> None:
    path = tmp_path / "tools.json"
    path.write_text(mark + json.dumps(wrap(TOOLS)), encoding="utf-8")
    for done in (run("manual", "--tools", str(path)), run("manual", "--tools", "-", stdin=path.read_bytes())):
        assert done.exit_code == 0
        assert "get_weather city" in done.stdout


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            b'[\n  {"name" "a"}\n]',
            "line 2, column 11: not valid JSON: Expecting ':' delimiter. Expected a JSON list of tools",
        ),
        (b"", "tools.json is empty. Expected a JSON list"),
        (b"[" * 100_000, "tools.json: "),
        (b"[1" + b"0" * 10_000 + b"]", "tools.json: "),
        (b'["\xff"]', "tools.json: byte 2 is not valid UTF-8"),
        (b"{}", "tools.json: expected a JSON list of tools"),
        (b'{"name": "f", "parameters": {}}', "tools.json: expected a JSON list of tools"),
        (b"[1]", "tools.json: tools[0]: 1 is not a tool definition"),
        (b'[{"name": "a b", "parameters": {}}]', "tools.json: tool 'a b': a call cannot be written"),
        (
            b'[{"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "strin"}}}}]',
            "tools.json: tool 'f', at /properties/x/type: ",
        ),
    ],
)
@pytest.mark.parametrize("command", [["manual"], ["parse"], ["tokens", "--characters"], ["encode", "f"]])
def test_bad_tools(tmp_path: Path, command: list[str], content: bytes, expected: str) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(content)
    done = run(*command, "--tools", str(path))
    assert (done.exit_code, done.stdout) == (2, "")
    assert expected in done.stderr


@pytest.mark.parametrize("content", ['[{"role": "user", "content": "Hi"}]', '{"tools": [{"role": "user"}]}'])
def test_a_conversation_where_tools_are_expected(content: str) -> None:
    done = run("manual", "--tools", "-", stdin=content)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: standard input: this is a list of messages; expected a JSON list")
