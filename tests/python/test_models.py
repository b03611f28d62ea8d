"""Which protocol is chosen by the name of a model: names and rows are from the documentation of engines."""

from pathlib import Path

import pytest

import wirecall
from support import EVERY
from wirecall import ToolError, Toolset
from wirecall._core import native_formats
from wirecall._tools.model_table import entries
from wirecall._tools.models import find_model, near_names, protocol_for

NAMES = Path(__file__).parents[1] / "models" / "names.tsv"
TOOLS = [
    {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
]
UNKNOWN = "-"


def documented() -> list[tuple[str, str]]:
    lines = NAMES.read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [(name, row) for name, row in pairs]


def chosen(name: str) -> str:
    try:
        return protocol_for(name)
    except ToolError:
        return UNKNOWN


def test_names_of_models() -> None:
    """No row is wrong, and all are found that the name alone can tell."""
    names = documented()
    assert len(names) == len(dict(names)) >= 500
    wrong = [
        (name, row, found)
        for name, row in names
        if (found := chosen(name)) not in ((UNKNOWN, row[1:]) if row.startswith("?") else (row,))
    ]
    assert wrong == []
    # The names are of most formats, not of a few.
    assert len({row.strip("?") for _, row in names}) > 50


RECIPES = Path(__file__).parents[3] / "shared" / "cases" / "models.tsv"


@pytest.mark.skipif(not RECIPES.is_file(), reason="the cases are not beside the repository")
def test_each_model_of_the_recipes_is_known_or_refused_with_a_reason() -> None:
    for line in RECIPES.read_text(encoding="utf-8").splitlines()[1:]:
        name, _, _ = line.split("\t")
        if chosen(name) == UNKNOWN:
            with pytest.raises(ToolError, match="does not tell the native format: "):
                protocol_for(name)


def test_every_native_format_has_models() -> None:
    assert [row["name"] for row in native_formats() if not row["models"]] == []


@pytest.mark.parametrize(
    "entry", [entry for entry in entries() if not entry.several], ids=lambda entry: entry.patterns
)
def test_no_entry_hides_another(entry: object) -> None:
    """The longest pattern decides: each one matches its own name first."""
    for pattern in entry.patterns.split():  # type: ignore[attr-defined]
        chat = "".join(f"-{word}" for word in entry.chat.split()[:1])  # type: ignore[attr-defined]
        for name in (pattern.replace("-*", "") + chat, pattern.replace("*", "70b-instruct-2507") + chat):
            found = find_model(name)
            assert found is not None
            assert found.pattern == pattern


@pytest.mark.parametrize("row", [row for row in EVERY if row not in wirecall.PROTOCOLS])
def test_the_name_of_a_format_is_not_read_as_another_one(row: str) -> None:
    assert chosen(row) in (row, UNKNOWN) or row in ("deepseek-r1-0528", "llama-json")


def test_an_unknown_name_is_an_error_that_says_how_to_choose() -> None:
    with pytest.raises(ToolError) as info:
        protocol_for("acme/qwen3-coder-sql-v2")
    message = str(info.value)
    assert "'acme/qwen3-coder-sql-v2'" in message
    for part in ("qwen3-coder", "protocol=", "wirecall protocols", "format_for", '"wire"'):
        assert part in message
    assert near_names("acme/qwen3-coder-sql-v2")[0] == "qwen3-coder"
    assert near_names("zzz") == []
    # The folder around a checkpoint says what it was made from.
    assert near_names("/runs/qwen3-coder-30b-sql/checkpoint-500")[0] == "qwen3-coder"


def test_models_without_a_format_are_told_apart() -> None:
    with pytest.raises(ToolError, match=r"served by an API only.*prompted protocol"):
        protocol_for("anthropic/claude-sonnet-4-5")
    with pytest.raises(ToolError, match=r"served by an API only"):
        protocol_for("kimi-k2-turbo-preview")
    with pytest.raises(ToolError, match=r"looks like a base model.*have the word 'instruct'"):
        protocol_for("meta-llama/Llama-3.1-8B")
    with pytest.raises(ToolError, match=r"looks like a base model.*'instruct' or 'think'"):
        protocol_for("allenai/Olmo-3-1025-7B")
    with pytest.raises(
        ToolError, match=r"does not tell the native format: it is the Instruct or the Thinking"
    ):
        protocol_for("qwen3-next:80b")
    with pytest.raises(ToolError, match=r"has no native format.*prompted protocol"):
        protocol_for("google/gemma-3-27b-it")


@pytest.mark.parametrize(
    "name", ["", " ", "/", "\\", "-", "...", "models--", "a" * 10**6, "qwen3-" * 200, "-4b" * 80]
)
def test_what_is_not_a_name(name: str) -> None:
    assert chosen(name) == UNKNOWN


def test_a_name_is_text() -> None:
    with pytest.raises(TypeError, match="model must be a str, not NoneType"):
        protocol_for(None)  # type: ignore[arg-type]


def test_a_toolset_for_a_model() -> None:
    tools = Toolset(TOOLS, model="Qwen/Qwen3-Coder-30B-A3B-Instruct")
    assert tools.protocol == "qwen3coder"
    assert Toolset(TOOLS).protocol == "wire"
    assert tools.encode("get_weather", {"city": "Rome"}).startswith("<tool_call>\n<function=get_weather>")
    text = Toolset(TOOLS, protocol="kimi-k2").encode("get_weather", {"city": "Rome"})
    assert Toolset(TOOLS, model="kimi-k2:1t-cloud").parse(text).calls[0].args == {"city": "Rome"}
    # The start state is the protocol's.
    assert Toolset(TOOLS, model="Qwen3-4B-Thinking-2507").parse("Hm.\n</think>\n\nYes.").reasoning == "Hm."


def test_a_toolset_has_a_model_or_a_protocol() -> None:
    for protocol in ("hermes", "wire"):
        with pytest.raises(
            ToolError, match=f"model='qwen3' selects the protocol; protocol='{protocol}' is given, too"
        ):
            Toolset(TOOLS, protocol=protocol, model="qwen3")
    with pytest.raises(ToolError, match="no native format is known"):
        Toolset(TOOLS, model="acme-1")
    with pytest.raises(TypeError, match="model must be a str"):
        Toolset(TOOLS, model=5)  # type: ignore[arg-type]
