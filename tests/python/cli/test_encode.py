"""`wirecall encode` and `wirecall manual`."""

import json
from pathlib import Path

import pytest
from cli_support import TOOLS, run

from support import EVERY
from wirecall import FAMILIES, Toolset


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


@pytest.mark.parametrize("protocol", EVERY)
@pytest.mark.parametrize(
    ("given", "warnings"),
    [
        ('{"city": "Ulm", "days": 2}', []),
        ('{"days": 2}', ["city is required"]),
        ('{"city": "Ulm", "days": "two"}', ["days: `two` is not a whole number"]),
        ('{"city": 5, "days": 2}', ['will be parsed as {"city":"5","days":2}']),
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


@pytest.mark.parametrize("protocol", [*EVERY, "json"])
def test_protocols(tools: str, protocol: str) -> None:
    options = ["--tools", tools, "--protocol", protocol]
    manual = run("manual", *options).stdout
    assert manual.rstrip("\n") == Toolset(json.loads(Path(tools).read_text()), protocol=protocol).manual()
    text = run("encode", *options, "get_weather", '{"city": "New York", "days": 3}').stdout
    ways = [run("parse", *options, "--not-in-reasoning", stdin=text)]
    # Native formats are only read if they are named.
    if protocol in ("wire", "hermes", "json", "gemma", "xml", "yaml", "qwen3coder"):
        ways.append(run("parse", "--tools", tools, "--protocol", "auto", stdin=text))
    for events in ways:
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
    for other in (*FAMILIES, "wire", "gemma", "auto"):
        assert run("parse", "--protocol", other, stdin="Hello").exit_code == 0
    assert run("encode", "--protocol", protocol, "f").stdout == "<f/>\n"


def test_encode_without_tools_takes_any_name() -> None:
    assert run("encode", "f", '{"a": 1' + "0" * 5000 + "}").stdout == f"<call>f a=1{'0' * 5000}</call>\n"
    done = run("encode", "a b", "{}")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: NAME: ")


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
