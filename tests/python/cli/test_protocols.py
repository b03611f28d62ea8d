"""`wirecall protocols`: the table, and the choice for a model."""

import json

from cli_support import run

from wirecall import FAMILIES, PROTOCOLS
from wirecall._core import native_formats


def test_the_table_has_all_protocols() -> None:
    shown = run("protocols")
    assert shown.exit_code == 0
    rows = [json.loads(line) for line in run("protocols", "--json").output.splitlines()]
    assert [row["protocol"] for row in rows] == list(dict.fromkeys((*PROTOCOLS, *FAMILIES)))
    for row in rows:
        assert row["protocol"] in shown.output
    starts = {row["name"]: row["starts_in_reasoning"] for row in native_formats()}
    assert {row["protocol"]: row["begins_in"] == "reasoning" for row in rows if row["native"]} == starts
    assert "qwen3-coder" in next(row["models"] for row in rows if row["protocol"] == "qwen3coder")


def test_why_a_protocol_was_chosen() -> None:
    result = run("protocols", "--model", "unsloth/Qwen3-4B-Thinking-2507-GGUF")
    assert result.exit_code == 0
    lines = dict(line.split(None, 1) for line in result.output.splitlines() if not line.startswith("begins"))
    assert lines["protocol"] == "qwen3-thinking"
    assert lines["pattern"] == "qwen3-*-thinking"
    assert "SGLang" in lines["source"]
    assert "begins in  reasoning" in result.output
    found = json.loads(run("protocols", "--model", "qwen3:8b", "--json").output)
    assert found["model"] == "qwen3:8b"
    assert (found["protocol"], found["begins_in"]) == ("hermes", "text")


def test_an_unknown_model() -> None:
    result = run("protocols", "--model", "acme/qwen3-\x1b[31mcoder")
    assert result.exit_code == 2
    assert "no native format is known" in result.output
    assert "\x1b" not in result.output
