"""Input that is not UTF-8: what came before it is printed, then its position, and nothing is replaced."""

import json
import random
from pathlib import Path

import pytest
from cli_support import TIMEOUT, events, process, run, talk

from wirecall import Toolset

CHARACTERS = "a\néü€→\U0001f600"
# Each is wrong at its first byte: no character begins with it, or its character is not complete.
INVALID = [b"\xff", b"\x80", b"\xc3 ", b"\xe2\x82x", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\xc0\xaf"]
ROUNDS = 12


def text_of(output: bytes) -> str:
    return "".join(event["text"] for event in events(output.decode()) if event["type"] == "text")


@pytest.mark.parametrize("invalid", INVALID, ids=bytes.hex)
@pytest.mark.parametrize("how", [[], ["--text"], ["--whole"]], ids=str)
def test_invalid_byte_after_text_prints_the_text_and_its_position(
    tmp_path: Path, how: list[str], invalid: bytes
) -> None:
    before = "é <call>f a=1</call> <ca"
    data = before.encode() + invalid
    path = tmp_path / "message.txt"
    path.write_bytes(data)
    for done in (process("parse", *how, stdin=data), process("parse", *how, str(path))):
        assert done.returncode == 2
        assert f": byte {len(before.encode())} is not valid UTF-8" in done.stderr.decode()
        assert done.stderr.count(b"\n") == 1
        shown = done.stdout.decode()
        assert "\ufffd" not in shown
        expected = Toolset().parse(before, truncated=True)
        if how == ["--text"]:
            assert shown == expected.text
        elif how == ["--whole"]:
            items = json.loads(shown)["items"]
            assert [item["type"] for item in items] == [item.type for item in expected.items]
        else:
            assert text_of(done.stdout) == expected.text
            assert [event["type"] for event in events(shown)].count("call_end") == 1


def test_invalid_byte_in_any_text_is_found_wherever_the_writes_end() -> None:
    for seed in range(ROUNDS):
        draw = random.Random(seed)
        before = "".join(draw.choices(CHARACTERS, k=draw.randrange(12)))
        data = before.encode() + draw.choice(INVALID) + b" more"
        cuts = sorted(draw.sample(range(len(data) + 1), min(4, len(data))))
        with talk("parse") as child:
            try:
                for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
                    child.write(data[start:end])
                stdin = child.child.stdin
                assert stdin is not None
                stdin.close()
            except BrokenPipeError:
                pass  # It ends at the byte, and reads no more.
            assert child.child.wait(TIMEOUT) == 2, seed
            assert child.child.stderr is not None
            said = child.child.stderr.read().decode()
            assert f"standard input: byte {len(before.encode())} is not valid UTF-8" in said, seed
            child.reader.join(TIMEOUT)
            shown = b"".join(child.lines.queue)
            assert text_of(shown) == before, seed


def test_valid_text_is_unchanged_wherever_the_writes_end() -> None:
    for seed in range(ROUNDS):
        draw = random.Random(seed)
        text = "".join(draw.choices(CHARACTERS, k=12))
        data = text.encode()
        with talk("parse") as child:
            for at in range(len(data)):
                child.write(data[at : at + 1])
            assert child.child.stdin is not None
            child.child.stdin.close()
            assert child.child.wait(TIMEOUT) == 0
            child.reader.join(TIMEOUT)
            assert text_of(b"".join(child.lines.queue)) == text


def test_invalid_byte_is_reported_before_the_input_ends() -> None:
    with talk("parse") as child:
        child.write(b"one \xff")
        assert child.event() == {"type": "text", "text": "one "}
        assert child.child.wait(TIMEOUT) == 2


def test_invalid_byte_makes_the_open_call_incomplete_also_with_complete() -> None:
    """The message was cut off, whatever the user says about its end."""
    for how in ([], ["--whole"]):
        done = run("parse", "--complete", *how, stdin=b"<call>f a=1 \xff")
        found = json.loads(done.stdout)["items"] if how else events(done.stdout)
        assert (done.exit_code, found[-1]["kind"]) == (2, "incomplete_call")


@pytest.mark.parametrize("command", [["encode"], ["tokens", "--characters", "--calls", "-"]])
def test_invalid_byte_in_a_call_names_its_line(tools: str, command: list[str]) -> None:
    lines = b'{"name": "get_time"}\n{"name": "get_time", "arguments": {"zone": "\xff"}}\n'
    done = run(*command, "--tools", tools, stdin=lines)
    assert done.exit_code == 2
    assert "standard input, line 2: byte 44 is not valid UTF-8" in done.stderr
    assert "\ufffd" not in done.stdout


def test_invalid_byte_after_a_byte_order_mark_is_counted_from_the_beginning() -> None:
    done = run("manual", "--tools", "-", stdin=b"\xef\xbb\xbf[\xff")
    assert done.exit_code == 2
    assert "standard input: byte 4 is not valid UTF-8" in done.stderr
