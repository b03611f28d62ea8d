"""`wirecall protocols`: the table, and the choice for a model."""

import json

import pytest
from cli_support import process, run, terminal_output

from wirecall import FAMILIES, PROTOCOLS
from wirecall._core import native_formats
from wirecall._tools.model_table import entries


def test_the_table_has_all_protocols() -> None:
    shown = run("protocols")
    assert shown.exit_code == 0
    listed = [json.loads(line) for line in run("protocols", "--json").output.splitlines()]
    rows = [row for row in listed if row["protocol"] is not None]
    assert {row["protocol"] for row in rows} == {*PROTOCOLS, *FAMILIES}
    for row in rows:
        assert row["protocol"] in shown.output
        assert bool(row["sources"]) == bool(row["models"])
    starts = {row["name"]: row["starts_in_reasoning"] for row in native_formats()}
    assert {row["protocol"]: row["begins_in"] == "reasoning" for row in rows if row["native"]} == starts
    assert "qwen3-coder" in next(row["models"] for row in rows if row["protocol"] == "qwen3coder")
    # By name, after those that a manual teaches.
    assert [row["protocol"] for row in rows] == [*PROTOCOLS, *sorted({*FAMILIES} - {*PROTOCOLS})]
    # The models that are known to have none, or not to be told apart.
    none = {name: row for row in listed if row["protocol"] is None for name in row["models"]}
    assert {"gemma-3", "llama-2", "deepseek-r1-latest"} <= set(none)
    assert none["gemma-3"]["reason"] == "no native format"
    for text in ("gemma-3", "docs/function-calling.md", "no native format"):
        assert text in shown.output


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


def test_listing_piped_or_on_a_terminal_fits_and_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    listed = [json.loads(line) for line in run("protocols", "--json").output.splitlines()]
    texts = {text for row in listed for text in (*row["sources"], ", ".join(row["models"])) if text}
    texts |= {name for row in listed if row["protocol"] for name in (row["protocol"], *row["aliases"])}
    texts |= {row["reason"] for row in listed if row["protocol"] is None}
    piped = process("protocols").stdout.decode()
    shown = {80: terminal_output(80, "protocols"), 132: terminal_output(132, "protocols"), 0: piped}
    for columns, output in shown.items():
        assert max(map(len, output.splitlines())) <= (columns or 80), columns
        joined = " ".join(output.split())
        assert [text for text in texts if text not in joined] == [], columns
        assert "…" not in output


def test_choice_for_any_model_fits_in_80_columns() -> None:
    names = [name for entry in entries() for name in entry.patterns.split() if "*" not in name]
    results = [run("protocols", "--model", name) for name in names]
    shown = [result.stdout for result in results if result.exit_code == 0]
    assert len(shown) > 50
    for output in shown:
        assert max(map(len, output.splitlines())) <= 80
