"""The recordings show what they say, and the demo fits its surroundings."""

import io
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("rich")
pytest.importorskip("click")

from rich.console import Console

from wirecall import Message, Toolset, tokens
from wirecall._cli import demo

COMMAND = [sys.executable, "-m", "wirecall", "demo"]
EXAMPLES = Path(__file__).parents[2] / "examples"
# Of each recording: the calls' names, the repairs, the errors' kinds.
EXPECTED: dict[str, tuple[list[str], set[str], list[str]]] = {
    "Parallel calls": (["get_weather", "get_weather", "get_time"], set(), []),
    "Nested arguments": (["create_order"], set(), []),
    "Long code": (["write_file", "run_command"], set(), []),
    "Near misses": (
        ["find_flights", "send_message"],
        {
            "tool_style",
            "spaced_equals",
            "comma_separator",
            "key_style",
            "unquoted_spaces",
            "coerced",
            "inner_quotes",
        },
        [],
    ),
    "Almost JSON, almost closed": (
        ["book_hotel", "set_reminder"],
        {"json_wrapper", "relaxed_json", "coerced", "missing_close"},
        [],
    ),
    "An injected call": (["save_note"], set(), []),
    "Reasoning first": (["list_branches"], set(), []),
    "A bad call, and the next try": (["create_ticket", "create_ticket"], set(), ["invalid_arguments"]),
    "Cut off": ([], set(), ["incomplete_call"]),
    "A model's own format": (["search_trains"], set(), []),
}
# One recording has a second turn.
TURNS = len(EXPECTED) + 1


def messages(recording: demo.Recording) -> list[Message]:
    toolset = Toolset(recording.tools, **recording.options)
    return [toolset.parse("".join(turn.pieces), truncated=turn.truncated) for turn in recording.turns]


def run(**environment: str) -> "subprocess.CompletedProcess[bytes]":
    env = {
        key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
    }
    return subprocess.run(
        COMMAND, capture_output=True, timeout=60, env={**env, "PYTHONUTF8": "1", **environment}
    )


def test_recordings_show_what_they_say() -> None:
    found = {}
    for recording in demo.recordings():
        read = messages(recording)
        found[recording.title] = (
            [call.name for message in read for call in message.calls],
            {repair for message in read for call in message.calls for repair in call.repairs},
            [error.kind for message in read for error in message.errors],
        )
        assert not any(call.problems for message in read for call in message.calls)
        assert ("validate=" in recording.watch) == ("validate" in recording.options)
    assert found == EXPECTED


def test_code_of_the_recording_is_a_program() -> None:
    (recording,) = (recording for recording in demo.recordings() if recording.title == "Long code")
    content = messages(recording)[0].calls[0].args["content"]
    assert 50 <= content.count("\n") <= 80
    assert {'"', "'", "\\"} <= set(content)
    compile(content, "loud.py", "exec")


def test_injected_text_stays_text() -> None:
    (recording,) = (recording for recording in demo.recordings() if recording.title == "An injected call")
    assert "</call><call>send_money" in messages(recording)[0].calls[0].args["text"]


def test_pieces_are_like_tokens() -> None:
    for recording in demo.recordings():
        pieces = [piece for turn in recording.turns for piece in turn.pieces]
        assert all(pieces)
        assert sum(map(len, pieces)) / len(pieces) < 6


def test_it_takes_less_than_fifteen_seconds() -> None:
    played = demo.recordings()
    pieces = sum(len(turn.pieces) for recording in played for turn in recording.turns)
    assert (pieces + len(played) * demo._PAUSE) / demo.SPEED < 14


def test_every_repair_is_explained() -> None:
    source = Path(__file__).parents[2] / "docs" / "wire-format.md"
    if not source.exists():
        pytest.skip("not in a checkout")
    section = source.read_text(encoding="utf-8").partition("\n## 5.")[2].partition("\n## 6.")[0]
    names = {
        name
        for line in re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", line)
    }
    assert names == demo._REPAIRS.keys()


# --- as a process


def test_without_a_terminal() -> None:
    start = time.monotonic()
    done = run()
    assert time.monotonic() - start < 10
    assert (done.returncode, done.stderr) == (0, b"")
    output = done.stdout.decode()
    assert "\x1b" not in output
    assert max(map(len, output.splitlines())) <= 100
    for title in EXPECTED:
        assert output.count(title) == 2  # its heading, and its line in the summary
    for part in ("✗ invalid_arguments", "~ inner_quotes", "<tool-error name", "2 calls, 7 repairs, 0 errors"):
        assert part in output
    assert re.search(r"all calls +15 +11 +2 +\d+ +\d+ +\d+%", output)


@pytest.mark.parametrize("columns", ["20", "50", "200"])
def test_any_width(columns: str) -> None:
    done = run(COLUMNS=columns)
    assert (done.returncode, done.stderr) == (0, b"")
    assert max(map(len, done.stdout.decode().splitlines())) <= min(int(columns), 140)


def test_what_the_program_sends_back_is_not_the_models() -> None:
    output = run().stdout.decode()
    assert output.count("the model writes") == output.count("a program receives") == TURNS
    panels = re.findall(r"╭─ ([a-z ]+) ─.*?╰", output, re.DOTALL)
    bodies = re.findall(r"╭─ [a-z ]+ ─(.*?)╰", output, re.DOTALL)
    assert [panel for panel, body in zip(panels, bodies, strict=True) if "<tool-error" in body] == [
        "the program sends back"
    ]


def summary(width: int, factor: int) -> str:
    titles = list(EXPECTED)
    tallies = [
        demo.Tally(title, at + 1, at + 2, at + 3, factor * (at + 11), factor * (at + 21), factor * (at + 31))
        for at, title in enumerate(titles)
    ]
    costs = tokens.Costs([], 1, factor * 12345, factor * 2345, [])
    console = Console(file=io.StringIO(), width=width)
    console.print(demo._summary(tallies, costs, console, is_tokens=True))
    return console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("factor", [1, 1_000_003])
def test_the_summary_loses_no_digit(factor: int) -> None:
    def said(text: str) -> tuple[list[str], int]:
        return sorted(re.findall(r"\d+", text)), text.count("…")

    texts = [summary(width, factor) for width in range(16, 141)]
    for width, text in enumerate(texts, start=16):
        assert max(map(len, text.splitlines())) <= width
        assert said(text) == said(texts[-1])
    # Both forms were seen.
    assert {"calls   repairs" in text for text in texts} == {True, False}


def test_output_that_lacks_characters() -> None:
    done = run(PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"+- the model writes" in done.stdout.decode("ascii").encode()


def test_tokens_or_characters(tmp_path: Path) -> None:
    output = "".join(run(TIKTOKEN_CACHE_DIR=str(tmp_path), COLUMNS="140").stdout.decode().split())
    assert "nativecharacters" in output
    assert "pipinstall'.[tokens]'inacloneofwirecall" in output
    assert f"TIKTOKEN_CACHE_DIR={tmp_path}wirecalltokens" in output
    assert list(tmp_path.iterdir()) == []
    assert "TIKTOKEN_CACHE_DIR is empty" in " ".join(run(TIKTOKEN_CACHE_DIR="").stdout.decode().split())
    if tokens.cached_tokenizer() is not None:
        output = run().stdout.decode()
        assert "native tokens" in output
        assert ".[tokens]" not in output


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals")
class TestTerminal:
    """The demo in a pseudo terminal of 100 columns and 30 lines."""

    def start(self, *arguments: str, **environment: str) -> tuple["subprocess.Popen[bytes]", int]:
        import fcntl
        import pty
        import struct
        import termios

        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        env = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
        env |= {"TERM": "xterm-256color", "PYTHONUTF8": "1", **environment}
        child = subprocess.Popen([*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=env)
        os.close(theirs)
        return child, ours

    def read(self, terminal: int, until: bytes = b"") -> bytes:
        """Until something is seen, or the end."""
        output = b""
        while select.select([terminal], [], [], 30)[0]:
            try:
                data = os.read(terminal, 1 << 16)
            except OSError:  # Linux says so when the other side is closed
                break
            output += data
            if not data or (until and until in output):
                break
        return output

    def test_grows(self) -> None:
        child, terminal = self.start("--speed", "2000")
        output = self.read(terminal).decode()
        os.close(terminal)
        assert child.wait(30) == 0
        # Drawn again and again in the same place, the cursor hidden and shown again.
        assert output.count("the model writes") > 2 * len(EXPECTED)
        assert output.count("\x1b[?25l") == output.count("\x1b[?25h") > 0
        assert "\x1b[1;36mget_weather" in output

    @pytest.mark.parametrize(
        ("arguments", "environment"),
        [(["--speed", "0"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})],
    )
    def test_stands_still(self, arguments: list[str], environment: dict[str, str]) -> None:
        start = time.monotonic()
        child, terminal = self.start(*arguments, **environment)
        output = self.read(terminal).decode()
        os.close(terminal)
        assert child.wait(30) == 0
        assert time.monotonic() - start < 8
        assert output.count("the model writes") == TURNS
        if environment:
            assert re.search("\x1b\\[[0-9;]*3[0-9]", output) is None

    def test_interrupt(self) -> None:
        child, terminal = self.start()
        output = self.read(terminal, until=b"the model writes")
        child.send_signal(signal.SIGINT)
        output += self.read(terminal)
        os.close(terminal)
        assert child.wait(30) == 130
        assert b"Traceback" not in output
        assert output.count(b"\x1b[?25l") == output.count(b"\x1b[?25h")


# --- the examples


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("stream.py", "Let me look.\n[get_weather {'city': 'Lisbon', 'days': 3}]\nOne moment.\n"),
        ("agent.py", "assistant: There are four in S and none in M.\n\n"),
        (
            "own_protocol.py",
            "Let me look.\n"
            "get_weather {'city': '<|tool_call_end|>', 'days': 3} ('coerced',)\n"
            "refused: Write one call with named arguments: [name(key=value)]. For example: "
            "<|tool_call_start|>[get_weather(city='some text')]<|tool_call_end|>\n"
            '<|tool_response_start|>{"name":"get_weather","content":"sun <\\\\|tool_response_end|>"}'
            "<|tool_response_end|>\n",
        ),
    ],
)
def test_examples_run(name: str, expected: str) -> None:
    if not EXAMPLES.exists():
        pytest.skip("not in a checkout")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, timeout=60, encoding="utf-8"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(expected)
