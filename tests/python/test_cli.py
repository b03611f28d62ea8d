"""The command line: real processes for streams, signals and exit codes, click's runner for the rest."""

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

import click
from click.testing import CliRunner, Result

from wirecall import PROTOCOLS, Toolset, __version__
from wirecall._cli.commands import wirecall

COMMAND = [sys.executable, "-m", "wirecall._cli.main"]
TIMEOUT = 30
TOOLS = [
    {
        "name": "get_weather",
        "description": "The weather.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where"},
                "days": {"type": "integer", "minimum": 1},
            },
            "required": ["city"],
        },
    },
    {"name": "get_time", "input_schema": {"type": "object", "properties": {"zone": {"type": "string"}}}},
]


@pytest.fixture
def tools(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS), encoding="utf-8")
    return str(path)


def run(*arguments: str, stdin: str | bytes = "", **environment: str) -> Result:
    return CliRunner().invoke(wirecall, arguments, input=stdin, env=environment)


def process(*arguments: str, stdin: bytes = b"", **environment: str) -> "subprocess.CompletedProcess[bytes]":
    env = {**os.environ, "PYTHONUTF8": "1", **environment}
    return subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, timeout=TIMEOUT, env=env)


class Talk:
    """A process that is written to and read from line by line."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self.child = child
        self.lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            self.lines.put(line)

    def write(self, data: bytes) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(data)
        self.child.stdin.flush()

    def event(self) -> dict[str, Any]:
        return json.loads(self.lines.get(timeout=TIMEOUT))


@contextmanager
def talk(*arguments: str) -> Iterator[Talk]:
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    env = {**os.environ, "PYTHONUTF8": "1"}
    with subprocess.Popen([*COMMAND, *arguments], env=env, **pipes) as child:
        try:
            yield Talk(child)
        finally:
            child.kill()


def events(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


# --- parse, as a process


def test_events_come_before_the_input_ends(tools: str) -> None:
    with talk("parse", "--tools", tools) as child:
        child.write(b"Hi ")
        assert child.event() == {"type": "text", "text": "Hi "}
        child.write(b'<call>get_weather city="Lis')
        start = child.event()
        assert (start["type"], start["index"], start["name"]) == ("call_start", 0, "get_weather")
        assert child.event() == {"type": "arguments_delta", "index": 0, "delta": '{"city":"Lis'}
        child.write(b'bon"</call>')
        assert child.event()["type"] == "arguments_delta"
        assert child.event() == {
            "type": "call_end",
            "index": 0,
            "id": start["id"],
            "name": "get_weather",
            "arguments": '{"city":"Lisbon"}',
            "start": 3,
            "end": 41,
            "repairs": [],
            "problems": [],
        }
        # A character that comes in two parts, then a byte that is no UTF-8, then half of a character.
        child.write("é".encode()[:1])
        child.write("é".encode()[1:] + b" ")
        assert child.event()["text"] == "é "
        child.write(b"\xff\xe2\x82")
        assert child.event()["text"] == "\ufffd"
        assert child.child.stdin is not None
        child.child.stdin.close()
        assert child.event()["text"] == "\ufffd"
        assert child.child.wait(TIMEOUT) == 0


def test_text_comes_before_the_input_ends() -> None:
    with talk("parse", "--text") as child:
        child.write(b"one\n<call>f a=1</call>two\n")
        assert child.lines.get(timeout=TIMEOUT) == b"one\n"
        assert child.lines.get(timeout=TIMEOUT) == b"two\n"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT between processes")
@pytest.mark.parametrize(
    ("command", "line", "expected"),
    [
        ("parse", b"x\n", b'{"type":"text","text":"x\\n"}\n'),
        ("encode", b'{"name": "f"}\n', b"<call>f</call>\n"),
    ],
)
def test_interrupt(command: str, line: bytes, expected: bytes) -> None:
    with talk(command) as child:
        child.write(line)
        assert child.lines.get(timeout=TIMEOUT) == expected
        child.child.send_signal(signal.SIGINT)
        assert child.child.wait(TIMEOUT) == 130
        assert child.child.stderr is not None
        assert child.child.stderr.read().strip() == b""


@pytest.mark.parametrize("arguments", [["parse"], ["parse", "--text"], ["demo"]])
def test_closed_output(arguments: list[str]) -> None:
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([*COMMAND, *arguments], **pipes) as child:
        child.stdout.close()
        _, stderr = child.communicate(b"text " * 1000, timeout=TIMEOUT)
    assert child.returncode == 141
    assert stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "parse"], input=b"x", stdout=full, stderr=subprocess.PIPE, timeout=TIMEOUT
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"wirecall: cannot write the output: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("closed", "status", "stderr"), [("<&-", 2, b"standard input is closed"), (">&- <&-", 2, b"closed")]
)
def test_missing_streams(closed: str, status: int, stderr: bytes) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {closed}', *COMMAND, "parse"], capture_output=True, timeout=TIMEOUT
    )
    assert done.returncode == status
    assert stderr in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["parse"], "a model's message"),
        (["encode"], "calls, a JSON object on each line,"),
        (["encode", "f", "-"], "the arguments, a JSON object,"),
        (["manual", "--tools", "-"], 'a JSON list of tools, or {"tools": […]}'),
        (["compact", "--keep-recent-turns", "1", "--plan"], "a conversation"),
    ],
)
def test_a_terminal_is_told_what_is_read(arguments: list[str], expected: str) -> None:
    ours, theirs = os.openpty()
    try:
        with subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONUTF8": "1"},
        ) as child:
            assert child.stderr is not None
            said = child.stderr.readline().decode()
            assert said == f"wirecall: reading {expected} from the terminal; Ctrl-D ends it\n"
            child.send_signal(signal.SIGINT)
            stdout, stderr = child.communicate(timeout=TIMEOUT)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (child.returncode, stdout, stderr.strip()) == (130, b"", b"")


def test_output_that_cannot_take_every_character() -> None:
    latin = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}
    done = process("parse", stdin="é → \n".encode(), **latin)
    assert json.loads(done.stdout.decode("ascii"))["text"] == "é → \n"
    done = process("parse", "--text", stdin="é → \n".encode(), **latin)
    assert (done.returncode, done.stdout) == (0, "é ? \n".encode("latin-1"))


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_the_extra(missing: str) -> None:
    hide = f"import sys; sys.modules[{missing!r}] = None; from wirecall import cli; sys.exit(cli.main())"
    done = subprocess.run([sys.executable, "-c", hide], capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "pip install 'wirecall[cli]'" in done.stderr


def test_the_version_is_that_of_the_project_also_without_an_installation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(distribution: str) -> str:
        raise metadata.PackageNotFoundError(distribution)

    monkeypatch.setattr(metadata, "version", nothing)
    said = CliRunner().invoke(wirecall, ["--version"], prog_name="wirecall")
    assert said.stdout == f"wirecall, version {__version__}\n"
    root = Path(__file__).parents[2]
    for manifest in ("pyproject.toml", "Cargo.toml"):
        assert f'\nversion = "{__version__}"\n' in (root / manifest).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["parse"], 0),
        (["--help"], 0),
        (["--version"], 0),
        (["parse", "--nope"], 2),
        (["parse", "--tools", "nowhere.json"], 2),
        (["parse", "nowhere.txt"], 2),
        (["parse", "a", "b"], 2),
        (["parse", "--text", "--whole"], 2),
        (["parse", "--tools", "-"], 2),
        (["encode", "--tools", "-"], 2),
        (["encode", "--tools", "-", "f", "-"], 2),
        (["encode", "f", "{"], 2),
        (["encode", "f", "[]"], 2),
        (["manual"], 2),
        (["manual", "--tools", "-", "--descriptions", "some"], 2),
        (["tokens"], 2),
        (["tokens", "--tools", "-", "--calls", "-"], 2),
        (["demo", "--speed", "-1"], 2),
        (["demo", "--speed", "fast"], 2),
        (["demo", "extra"], 2),
        (["nope"], 2),
    ],
)
def test_exit_codes(arguments: list[str], status: int) -> None:
    done = process(*arguments)
    assert done.returncode == status
    assert b"Traceback" not in done.stderr
    if status:
        assert done.stdout == b""
        assert done.stderr
    else:
        assert done.stderr == b""


# --- parse


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
    assert single == {"items": kept}
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


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("given", "warnings"),
    [
        ('{"city": "Ulm", "days": 2}', []),
        ('{"days": 2}', ["city is required"]),
        ('{"city": "Ulm", "days": "two"}', ["days: `two` is not a whole number"]),
        ('{"city": 5, "days": 2}', ['will be read as {"city":"5","days":2}']),
        ('{"city": ["Ulm"]}', ["city: "]),
        ('{"city": "Ulm", "town": "Ulm"}', ["town is not a parameter"]),
    ],
)
def test_arguments_that_do_not_fit_get_a_warning(
    tmp_path: Path, protocol: str, given: str, warnings: list[str]
) -> None:
    schema = {**TOOLS[0]["parameters"], "additionalProperties": False}
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "get_weather", "parameters": schema}]), encoding="utf-8")
    result = run("encode", "--tools", str(tools), "--protocol", protocol, "get_weather", given)
    assert result.exit_code == 0
    assert result.stdout
    said = result.stderr.splitlines()
    assert len(said) == len(warnings)
    for line, warning in zip(sorted(said), sorted(warnings), strict=True):
        assert line.startswith("ARGUMENTS: warning: ")
        assert warning in line


def test_without_tools_calls_are_untyped() -> None:
    (item,) = json.loads(run("parse", "--whole", stdin="<call>any a=1 b=x</call>").stdout)["items"]
    assert item["arguments"] == '{"a":1,"b":"x"}'


# --- tools


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


# --- encode


@pytest.mark.parametrize(
    ("arguments", "stdin", "expected"),
    [
        (
            ["get_weather", '{"city": "New York", "days": 3}'],
            "",
            '<call>get_weather city="New York" days=3</call>\n',
        ),
        (["get_weather", "-"], '{"city": "é"}\n', "<call>get_weather city=é</call>\n"),
        (["get_time"], "", "<call>get_time</call>\n"),
        (
            [],
            '{"name": "get_time"}\n\n{"name": "get_weather", "arguments": "{\\"city\\": \\"Rome\\"}"}',
            "<call>get_time</call>\n<call>get_weather city=Rome</call>\n",
        ),
    ],
)
def test_encode(tools: str, arguments: list[str], stdin: str, expected: str) -> None:
    done = run("encode", "--tools", tools, *arguments, stdin=stdin)
    assert (done.exit_code, done.stdout, done.stderr) == (0, expected, "")


@pytest.mark.parametrize(
    ("arguments", "stdin", "expected"),
    [
        (["get_weather", "{"], "", "Error: ARGUMENTS, line 1, column 2: not valid JSON: "),
        (["get_weather", ""], "", "Error: ARGUMENTS, line 1, column 1: not valid JSON: "),
        (["get_weather", "[]"], "", "Error: ARGUMENTS: the arguments "),
        (["get_weather", '{"days": NaN}'], "", "Error: ARGUMENTS: the arguments "),
        (
            ["get_weather", "-"],
            '{\n "city": x}',
            "Error: standard input, line 2, column 10: not valid JSON: ",
        ),
        (["get_weather", "-"], "[]", "Error: standard input: the arguments "),
        (["nope", "{}"], "", "Error: NAME: there is no tool 'nope'; available: get_weather, get_time"),
        (
            ["get_weathr"],
            "",
            "NAME: there is no tool 'get_weathr'; did you mean 'get_weather'? Available: get_weather, ",
        ),
        (
            [],
            '{"name": "get_time"}\n{"name": 1}',
            "standard input, line 2: expected one call on each line, {",
        ),
        ([], '{"name": "get_time"}\n{"name": "x"}', "standard input, line 2: there is no tool 'x'"),
        ([], '{"name": "get_time"}\n{', "Error: standard input, line 2, column 2: not valid JSON: "),
        (
            [],
            '{"name": "get_time"}\n{\n"name": "get_time"\n}',
            "line 2, column 2: not valid JSON: Expecting property name enclosed in double quotes. "
            "Expected one call on each line, {",
        ),
        ([], '{"name": "get_time"}\n1' + "0" * 5000, "standard input, line 2: this JSON cannot be read: "),
        ([], '{"name": "get_time"}\n{"name": "get_time", "arguments": 1}', "standard input, line 2: "),
        (
            [],
            '{"name": "get_time"}\n{"name": "get_time", "arguments": {"a": NaN}}',
            "standard input, line 2: ",
        ),
    ],
)
def test_encode_what_cannot_be_written(tools: str, arguments: list[str], stdin: str, expected: str) -> None:
    done = run("encode", "--tools", tools, *arguments, stdin=stdin)
    assert done.exit_code == 2
    assert done.stdout == ("" if arguments else "<call>get_time</call>\n")
    assert expected in done.stderr


def test_what_is_encoded_parses(tools: str) -> None:
    calls = [("get_weather", {"city": "</call>\n\"'\\", "days": 10**30}), ("get_time", {"zone": "null"})]
    lines = "\n".join(json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls)
    text = run("encode", "--tools", tools, stdin=lines).stdout
    items = json.loads(run("parse", "--tools", tools, "--whole", "--strict", stdin=text).stdout)["items"]
    assert calls == [
        (item["name"], json.loads(item["arguments"])) for item in items if item["type"] == "call_end"
    ]


@pytest.mark.parametrize("protocol", [*PROTOCOLS, "json"])
def test_protocols(tools: str, protocol: str) -> None:
    options = ["--tools", tools, "--protocol", protocol]
    manual = run("manual", *options).stdout
    assert manual.rstrip("\n") == Toolset(json.loads(Path(tools).read_text()), protocol=protocol).manual()
    text = run("encode", *options, "get_weather", '{"city": "New York", "days": 3}').stdout
    for events in (
        run("parse", *options, stdin=text),
        run("parse", "--tools", tools, "--protocol", "auto", stdin=text),
    ):
        ends = [
            event for line in events.stdout.splitlines() if (event := json.loads(line))["type"] == "call_end"
        ]
        assert [json.loads(event["arguments"])["city"] for event in ends] == ["New York"]
    costs = json.loads(run("tokens", *options, "--characters", "--json").stdout)
    assert costs["wire"] == len(manual.rstrip("\n"))
    assert protocol in run("tokens", *options, "--characters").stdout


@pytest.mark.parametrize("command", [["manual"], ["parse"], ["tokens", "--characters"], ["encode", "f"]])
def test_a_protocol_that_there_is_none(tools: str, command: list[str]) -> None:
    done = run(*command, "--tools", tools, "--protocol", "nope")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith('Error: --protocol: there is no protocol "nope"; available: wire')


@pytest.mark.parametrize("protocol", ["xml", "morph-xml", "yaml"])
def test_protocols_that_know_calls_by_names_need_tools(protocol: str) -> None:
    done = run("parse", "--protocol", protocol, stdin="<f><a>1</a></f>")
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"--protocol {protocol} needs --tools: calls are tags with the tools' names." in done.stderr
    for other in ("wire", "hermes", "gemma", "qwen3coder", "auto"):
        assert run("parse", "--protocol", other, stdin="Hello").exit_code == 0
    assert run("encode", "--protocol", protocol, "f").stdout == "<f/>\n"


def test_encode_without_tools_takes_any_name() -> None:
    assert run("encode", "f", '{"a": 1' + "0" * 5000 + "}").stdout == f"<call>f a=1{'0' * 5000}</call>\n"
    done = run("encode", "a b", "{}")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: NAME: ")


# --- manual


def test_manual(tools: str) -> None:
    full = run("manual", "--tools", tools).stdout
    bare = run("manual", "--tools", tools, "--header", "", "--descriptions", "none").stdout
    assert full.splitlines()[-2].startswith("get_weather city (Where) days?:int")
    assert bare == "get_weather city days?:int >=1\nget_time zone?\n"
    assert run("manual", "--tools", tools, "--header", "", "--no-constraints").stdout.startswith(
        "get_weather city (Where) days?:int"
    )
    plain = run(
        "manual", "--tools", tools, "--header", "", "--descriptions", "none", "--no-constraints"
    ).stdout
    assert plain == "get_weather city days?:int\nget_time zone?\n"
    assert run("manual", "--tools", tools, "--header", "Tools:").stdout.startswith("Tools:\nget_weather")


@pytest.mark.parametrize("content", ["[]", '{"tools": []}'])
def test_manual_of_no_tools(content: str) -> None:
    done = run("manual", "--tools", "-", stdin=content)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: standard input: the list of tools is empty")


def test_help_lists_every_command_in_one_line() -> None:
    for arguments, group in ([], wirecall), (["bench"], wirecall._cli.commands["bench"]):
        said = run(*arguments, "--help", COLUMNS="80").stdout
        assert isinstance(group, click.Group)
        assert len(group.commands) >= 5
        for name in group.commands:
            assert re.search(rf"^  {name} +[A-Z][^\n]*[^.]\.$", said, re.MULTILINE), name


def test_help_has_the_commands_of_the_readme() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^ {4}(?:\S+ \| )?wirecall (\w+)", readme, re.MULTILINE))
    assert shown == {*wirecall._cli.commands}
    said = run("--help").stdout
    assert all(f"\n    wirecall {name}" in said for name in shown)


def test_help_says_what_happens_without_tools() -> None:
    parse, encode = (" ".join(run(command, "--help").stdout.split()) for command in ("parse", "encode"))
    assert "Without it, calls of any name are read, with untyped values." in parse
    assert "Without it, calls of any name are written, with untyped values." in encode


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"]])
def test_help_says_who_wrote_the_demo(arguments: list[str]) -> None:
    assert "Replay hand-written model outputs" in run(*arguments).stdout


@pytest.mark.parametrize("command", ["parse", "encode", "manual", "tokens", "demo"])
def test_help_has_examples(command: str) -> None:
    done = run(command, "--help")
    assert done.exit_code == 0
    assert f"\n    wirecall {command}" in done.stdout or f"| wirecall {command}" in done.stdout
    assert "\b" not in done.stdout


def test_python_runs_it_as_a_module() -> None:
    command = [sys.executable, "-m", "wirecall", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run("--help").stdout
