"""What definitions and calls cost, and what happens without tiktoken or its vocabulary."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from wirecall import PROTOCOLS, ToolError, Toolset, tokens
from wirecall._tools.definitions import Definition

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
            "strict": True,
        },
    },
    {"name": "get_time", "inputSchema": {"type": "object", "properties": {"zone": {"type": "string"}}}},
]
CALLS: list[tuple[str, Any]] = [("get_weather", {"city": "São Paulo"}), ("get_time", '{ "zone": "UTC" }')]


def test_measure_counts_these_texts() -> None:
    seen: list[str] = []

    def count(text: str) -> int:
        seen.append(text)
        return len(seen)

    costs = tokens.measure(TOOLS, CALLS, count=count)
    texts = dict(enumerate(seen, start=1))
    manual = Toolset(TOOLS).manual()
    lines = manual.splitlines(keepends=True)

    assert [tool.name for tool in costs.tools] == ["get_weather", "get_time"]
    native = json.loads(texts[costs.native])
    assert native[0] == TOOLS[0]
    assert native[1] == {
        "type": "function",
        "function": {"name": "get_time", "parameters": TOOLS[1]["inputSchema"]},
    }
    assert [json.loads(texts[tool.native]) for tool in costs.tools] == native
    assert [texts[tool.wire] for tool in costs.tools] == [line.rstrip("\n") for line in lines[-2:]]
    assert texts[costs.header] == "".join(lines[:-2])
    assert texts[costs.wire] == manual

    first, second = costs.calls
    assert texts[first.arguments] == '{"city":"São Paulo"}'
    assert texts[first.named] == '{"name":"get_weather","arguments":{"city":"São Paulo"}}'
    assert (
        texts[first.envelope]
        == '{"type":"tool_use","id":"toolu_01ABCDEFG","name":"get_weather","input":{"city":"São Paulo"}}'
    )
    assert texts[first.wire] == '<call>get_weather city="São Paulo"</call>'
    assert texts[second.named] == '{"name":"get_time","arguments":{"zone":"UTC"}}'
    assert texts[second.wire] == "<call>get_time zone=UTC</call>"


def test_descriptions_change_the_wire_side_alone() -> None:
    full, none = (tokens.measure(TOOLS, count=len, descriptions=which) for which in ("full", "none"))
    assert full.native == none.native
    assert full.wire > none.wire


def test_mistakes_of_the_caller() -> None:
    with pytest.raises(ToolError):
        tokens.measure([1], count=len)
    with pytest.raises(ValueError, match="there is no tool 'nope'; available: get_weather, get_time"):
        tokens.measure(TOOLS, [("nope", {})], count=len)
    with pytest.raises(ValueError, match="not valid JSON"):
        tokens.measure(TOOLS, [("get_time", "{")], count=len)


def test_no_tools() -> None:
    costs = tokens.measure([], count=len)
    assert (costs.tools, costs.native) == ([], len("[]"))
    assert tokens.tables(costs, "characters").splitlines()[0] == "Definitions, in characters"


def test_native_definition_of_a_bare_tool() -> None:
    assert tokens.native_definition(Definition("f", None, True, None)) == {
        "type": "function",
        "function": {"name": "f", "parameters": True},
    }


def test_tables() -> None:
    assert tokens.tables(tokens.measure(TOOLS, CALLS, count=len), "characters").splitlines()[7:11] == [
        "Calls, in characters",
        "tool         arguments  name+arguments  tool_use  wire  saved",
        "get_weather         20              55        92    41    25%",
        "get_time            14              46        83    30    35%",
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_the_example_and_the_constraints_cost(protocol: str) -> None:
    bounded = {
        "name": "get_days",
        "parameters": {
            "type": "object",
            "properties": {"days": {"type": "integer", "minimum": 1, "maximum": 7}},
            "required": ["days"],
        },
    }
    costs = tokens.measure([*TOOLS, bounded], count=len, protocol=protocol)
    plain = tokens.measure([*TOOLS, bounded], count=len, protocol=protocol, constraints=False)
    examples = Toolset([*TOOLS, bounded], protocol=protocol).examples()
    assert costs.example == sum(len(example) + 1 for example in examples) > 0
    # Manuals of JSON Schema have them in the schema.
    assert costs.constraints == (0 if protocol in ("hermes", "gemma") else len(" 1..7"))
    assert (plain.constraints, plain.wire) == (0, costs.wire - costs.constraints)
    said = f"the example costs {costs.example} and the constraints cost {costs.constraints} characters"
    assert said in tokens.tables(costs, "characters")


# --- tiktoken


def test_tokenizer() -> None:
    count = tokens.cached_tokenizer()
    if count is None:
        pytest.skip("tiktoken's vocabulary is not in its cache")
    assert count("") == 0
    assert count("hello world") == 2
    assert count("<|endoftext|>") > 1  # text, never a command
    assert tokens.tokenizer()("hello world") == 2


def test_tiktoken_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790").touch()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(tokens.VocabularyError, match=r"pip install '\.\[tokens\]' in a clone"):
        tokens.tokenizer()
    assert tokens.cached_tokenizer() is None


def test_unknown_vocabulary() -> None:
    pytest.importorskip("tiktoken")
    with pytest.raises(tokens.VocabularyError, match=r"no vocabulary 'nope'; available: .*o200k_base"):
        tokens.tokenizer("nope")


def _no_network(monkeypatch: pytest.MonkeyPatch, directory: Path) -> list[str]:
    """tiktoken as on its first use, without a network."""
    load = pytest.importorskip("tiktoken.load")
    registry = pytest.importorskip("tiktoken.registry")
    asked: list[str] = []

    def read_file(address: str) -> bytes:
        asked.append(address)
        raise OSError("no route to host")

    monkeypatch.setattr(load, "read_file", read_file)
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(directory))
    return asked


def test_vocabulary_cannot_be_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = _no_network(monkeypatch, tmp_path)
    with pytest.raises(tokens.VocabularyError, match=r"no route to host.*TIKTOKEN_CACHE_DIR"):
        tokens.tokenizer()
    assert asked == [tokens._ADDRESS]


def test_cached_tokenizer_asks_no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = _no_network(monkeypatch, tmp_path)
    assert tokens.cached_tokenizer() is None
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # means: no cache
    assert tokens.cached_tokenizer() is None
    assert asked == []


# --- the command


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    lines = (json.dumps({"name": name, "arguments": arguments}) for name, arguments in CALLS)
    (tmp_path / "calls.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return {"tools": str(tmp_path / "tools.json"), "calls": str(tmp_path / "calls.jsonl")}


def _command(*arguments: str) -> Any:
    testing = pytest.importorskip("click.testing")
    pytest.importorskip("rich")
    from wirecall._cli.commands import wirecall

    return testing.CliRunner().invoke(wirecall, ["tokens", *arguments])


def test_command(paths: dict[str, str]) -> None:
    done = _command("--tools", paths["tools"], "--calls", paths["calls"], "--characters")
    assert done.exit_code == 0
    assert done.stdout == tokens.tables(tokens.measure(TOOLS, CALLS, count=len), "characters") + "\n"

    found = json.loads(
        _command("--tools", paths["tools"], "--calls", paths["calls"], "--characters", "--json").stdout
    )
    assert (found["unit"], found["encoding"]) == ("characters", None)
    assert [call["wire"] for call in found["calls"]] == [41, 30]


def test_command_with_tiktoken(paths: dict[str, str]) -> None:
    if tokens.cached_tokenizer() is None:
        pytest.skip("tiktoken's vocabulary is not in its cache")
    found = json.loads(_command("--tools", paths["tools"], "--json").stdout)
    assert (found["unit"], found["encoding"], found["calls"]) == ("tokens", "o200k_base", [])
    assert 0 < found["tools"][0]["wire"] < found["tools"][0]["native"]


def test_command_without_a_vocabulary(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, paths: dict[str, str]
) -> None:
    _no_network(monkeypatch, tmp_path)
    done = _command("--tools", paths["tools"])
    assert (done.exit_code, done.stdout) == (2, "")
    for part in ("o200k_base", "TIKTOKEN_CACHE_DIR", "--characters"):
        assert part in done.stderr


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ('{"name": "nope"}', "line 2: "),
        ("[]", "line 2: "),
        ('{"name": "get_time", "arguments": 1}', "line 2: "),
        ('{"name" "get_time"}', "line 2, column 9: "),
    ],
)
def test_command_names_the_bad_call(tmp_path: Path, paths: dict[str, str], line: str, place: str) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"name": "get_time"}\n' + line, encoding="utf-8")
    done = _command("--tools", paths["tools"], "--calls", str(bad), "--characters")
    assert done.exit_code == 2
    assert f"bad.jsonl, {place}" in done.stderr
