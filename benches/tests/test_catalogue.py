"""Catalogues: the project's own is what it promises, and of a file that is none the place is said."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from measured import own, reference

from wirecall_bench.artifact import BenchError
from wirecall_bench.catalogue import Case, built_in, catalogues, load

GROUPS = [
    "flat",
    "mixed",
    "arrays",
    "nested",
    "lists of objects",
    "long text",
    "code",
    "unicode",
    "file editing",
    "sql",
    "calendar",
    "issue tracker",
    "mcp filesystem",
    "mcp git",
    "mcp browser",
    "mcp chat",
]
TOOL = {
    "name": "f",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
}
CASE = {"name": "one", "group": "g", "prompt": "Do it.", "tool": "f", "arguments": {"a": 1}}


# --- the project's own


def test_it_is_as_large_as_promised() -> None:
    assert len(own().tools) >= 40
    assert len(own().cases) >= 150
    counts = Counter(case.group for case in own().cases)
    assert list(counts) == GROUPS
    assert min(counts.values()) >= 8


def test_every_tool_is_called_and_every_case_is_somebodys_wish() -> None:
    assert {tool.name for tool in own().tools} == {case.tool for case in own().cases}
    prompts = [case.prompt for case in own().cases]
    assert all(len(prompt) >= 10 for prompt in prompts)
    assert len(set(prompts)) == len(prompts)
    assert all(tool.description for tool in own().tools)


def test_every_case_is_valid_by_its_schema() -> None:
    """Checked here again, by the one function of jsonschema that everybody knows."""
    schemas = {tool.name: tool.parameters for tool in own().tools}
    for case in own().cases:
        jsonschema.validate(case.arguments, schemas[case.tool])


def test_no_argument_is_one_that_the_schema_does_not_name() -> None:
    """Valid it would be; but no model is told of it."""
    properties = {tool.name: tool.parameters["properties"] for tool in own().tools}  # type: ignore[index]
    for case in own().cases:
        assert case.arguments.keys() <= properties[case.tool].keys(), case.name


def test_groups_hold_what_they_are_named_after() -> None:
    of = {group: [case for case in own().cases if case.group == group] for group in GROUPS}

    def texts(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    for case in of["flat"]:
        assert all(isinstance(value, (str, int, float)) for value in case.arguments.values())
    for case in of["arrays"]:
        assert any(isinstance(value, list) for value in case.arguments.values())
    nested = [case for case in of["nested"] if any(isinstance(v, dict) for v in case.arguments.values())]
    assert len(nested) >= 9
    for case in of["lists of objects"]:
        lists = [value for value in case.arguments.values() if isinstance(value, list)]
        assert any(isinstance(item, dict) for items in lists for item in items)
    for case in of["long text"]:
        assert max(len(str(value)) for value in case.arguments.values()) > 200
    for case in of["unicode"]:
        assert not texts(case.arguments).isascii()
    assert any("\\\\" in texts(case.arguments) for case in of["code"])
    assert any('\\"' in texts(case.arguments) for case in of["code"])


# --- files


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.json"


def write(path: Path, **members: Any) -> None:
    path.write_text(json.dumps({"tools": [TOOL], "cases": [CASE], **members}, indent=1), encoding="utf-8")


def test_a_file(path: Path) -> None:
    write(path)
    found = load(path)
    assert found.name == "mine"
    assert [tool.name for tool in found.tools] == ["f"]
    assert found.cases == [Case("one", "g", "Do it.", "f", {"a": 1})]
    write(path, name="theirs", cases=[{"tool": "f", "arguments": {"a": 2}}])
    found = load(path)
    assert found.name == "theirs"
    assert found.cases == [Case("case 1", "", "", "f", {"a": 2})]


def test_tools_of_every_form(path: Path) -> None:
    chat = {"type": "function", "function": {"name": "g", "parameters": TOOL["inputSchema"]}}
    write(path, tools=[TOOL, chat, {"name": "h", "input_schema": {"type": "object"}}])
    assert [tool.name for tool in load(path).tools] == ["f", "g", "h"]


def test_the_reference_catalogue() -> None:
    assert (len(reference().tools), len(reference().cases)) == (13, 19)


def test_several(path: Path) -> None:
    write(path)
    assert [catalogue.name for catalogue in catalogues(["built-in", str(path)])] == ["built-in", "mine"]
    with pytest.raises(BenchError, match="another catalogue is also named 'mine'"):
        catalogues([str(path), str(path)])


def lines(*cases: Any, tools: Any = (TOOL,)) -> str:
    """A catalogue with a line for each tool, from 2 on, and for each case, from 10 on."""
    text = '{"tools": [\n' + ",\n".join(map(json.dumps, tools))
    text += "\n" * (9 - 1 - text.count("\n")) + '], "cases": [\n'
    return text + ",\n".join(map(json.dumps, cases)) + "\n]}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"tools": [],\n "cases" []}', r"line 2, column 10: not valid JSON: .*Expected \{\"tools\""),
        ("[]", r"mine.json: this is not a catalogue. Expected \{\"tools\""),
        ('{"tools": []}', "mine.json: this is not a catalogue"),
        (lines(), '"cases" is empty'),
        ('{"tools": [], "cases": [], "name": 3}', '"name" must be a string that is not empty, not 3'),
        ('{"tools": [], "cases": [NaN]}', "NaN is not valid JSON"),
        ("[" * 100_000, "this JSON cannot be read"),
        (lines(CASE, tools=[TOOL, {"name": "x y", "schema": {}}]), "line 3: tool 2 cannot be used: .*'x y'"),
        (lines(CASE, tools=[TOOL, 3]), "line 3: tool 2 cannot be used"),
        (lines(CASE, tools=[TOOL, {"name": "g", "schema": {"type": "objekt"}}]), "line 3: tool 2 cannot be"),
        (lines(CASE, tools=[TOOL, TOOL]), "line 3: two tools are named 'f': rename or remove one"),
        (lines(CASE, 3), "line 11: case 2 is not an object. Expected"),
        (lines(CASE, {**CASE, "name": 3}), 'line 11: case 2 has 3 for "name", which must be a string'),
        (lines(CASE, {**CASE, "tool": "g"}), "line 11: case 2 calls the tool 'g', which is not in \"tools\""),
        (lines(CASE, {**CASE, "arguments": []}), 'line 11: case 2 has no object in "arguments"'),
        (
            lines(CASE, {**CASE, "arguments": "{}"}),
            'in "arguments"; it is a string: write the JSON object itself',
        ),
        (lines(CASE, CASE), "line 11: two cases are named 'one': rename one"),
        (lines({**CASE, "prompt": "\ud800"}), "line 10: case 1 contains half of a surrogate pair"),
        (
            lines(CASE, tools=[TOOL, {**TOOL, "description": "\ud800"}]),
            "line 3: tool 2 .* half of a surrogate",
        ),
        (lines(CASE, tools=[TOOL, {"name": "g", "schema": {"$schema": 3}}]), "line 3: tool 2 .*schema"),
        ('{"tools": [], "cases": [], "name": "\\ud800"}', '"name" must be a string that is not empty, not '),
        (
            lines(CASE, tools=[{"name": "f", "schema": {"type": "object", "allOf": [{"$ref": "#"}]}}]),
            "case 1 cannot be checked against the schema of f: its .ref form a circle",
        ),
        (
            lines({**CASE, "arguments": {"a": 0}}).replace(": 0", ": 1e999"),
            "case 1 cannot be used: NaN and infinities",
        ),
        (
            lines(CASE, {**CASE, "name": "two", "arguments": {"a": "1"}}),
            r"line 11: case 2 does not fit the schema of f: \$\.a: '1' is not of type 'integer'",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(path: Path, text: str, said: str) -> None:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BenchError, match=said) as info:
        load(path)
    assert str(info.value).startswith(str(path))


def test_files_that_cannot_be_read(path: Path) -> None:
    with pytest.raises(BenchError, match=r"mine\.json: No such file"):
        load(path)
    path.write_bytes(b'{"\xff')
    with pytest.raises(BenchError, match=r"mine\.json: byte 2 is not valid UTF-8"):
        load(path)


def test_a_schema_that_refers_to_another_place_is_not_fetched(path: Path) -> None:
    remote = {"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}}
    write(path, tools=[{"name": "f", "schema": remote}])
    with pytest.raises(BenchError, match=r"line 3: tool 1 cannot be used: .* is not fetched"):
        load(path)


def test_every_run_reads_the_same() -> None:
    assert built_in() == own()
