"""Each near miss of a kind of body is read in each format of the kind, or the reason why not is listed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from near_misses import ARGUMENTS, KINDS, NOT_READ, SAVED, TOOLS, Case, cases, is_read, put_into, reads
from official import TEMPLATES
from official_forms import FOLDER
from slips_support import Said, rendered
from wirecall import Toolset

STRING = {"type": "string"}
KEPT = {
    "name": "save",
    "parameters": {
        "type": "object",
        "properties": {
            "path": STRING,
            "body": STRING,
            "tags": {"type": "array", "items": STRING},
            "opt": {"type": "object", "properties": {"a": STRING}},
        },
    },
}
DELETED = {"name": "rm", "parameters": {"type": "object", "properties": {"path": STRING}}}


def objects_in_tags() -> list[Case]:
    return [case for case in cases() if case.miss == "a JSON object in place of the arguments"]


@cache
def official_cases() -> tuple[Case, ...]:
    """The same in what the official templates render, where that is another text."""
    known = {case.text for case in cases()}
    return tuple(case for case in all_official() if case.text not in known)


def all_official() -> Iterator[Case]:
    for official in TEMPLATES if FOLDER.is_dir() else ():
        text = rendered(official, Said("", [("save_file", ARGUMENTS)]))
        for format in official.rows:
            start = [start for start in (False, None, True) if reads(format, text, SAVED, start)]
            yield from put_into(format, text, start[0]) if start else ()


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.format}: {case.miss}")
def test_a_near_miss_is_read_or_listed(case: Case) -> None:
    assert is_read(case) == ((case.format, case.miss) not in NOT_READ)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="`make templates` fetches the official templates")
def test_a_near_miss_in_an_official_text_is_read_or_listed() -> None:
    assert len({case.format for case in official_cases()}) >= 20
    # A format may have another form here, which reads more.
    wrong = [
        case for case in official_cases() if not is_read(case) and (case.format, case.miss) not in NOT_READ
    ]
    assert not wrong


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.format}: {case.miss}")
def test_in_strict_mode_nothing_is_repaired(case: Case) -> None:
    tools = Toolset(TOOLS, protocol=case.format, strict=True)
    message = tools.parse(case.text, truncated=False, in_reasoning=False)
    assert not any(call.repairs for call in message.calls)


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.format}: {case.miss}")
def test_a_near_miss_is_read_alike_however_it_is_cut(case: Case) -> None:
    tools = Toolset(TOOLS, protocol=case.format)

    def read(parts: list[str]) -> list[dict[str, Any]]:
        parser = tools.parser(in_reasoning=case.in_reasoning)
        events = [event for part in parts for event in parser.feed(part)] + parser.finish(truncated=False)
        ends = [event for event in events if event.type in ("call_end", "call_error")]
        # Ids are new each time.
        return [{**event.to_dict(), "id": None} for event in ends]

    whole = read([case.text])
    assert read([*case.text]) == whole
    middle = len(case.text) // 2
    assert read([case.text[:middle], case.text[middle:]]) == whole


def test_what_is_listed_is_tried() -> None:
    assert set(NOT_READ) <= {(case.format, case.miss) for case in cases()}
    assert {(case.kind, case.miss) for case in cases()} == {
        (kind, miss.name) for kind, misses in KINDS.items() for miss in misses
    }


@pytest.mark.parametrize("name", ["save_file", "nope"])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("case", objects_in_tags(), ids=lambda case: case.format)
def test_a_call_in_an_object_in_tags_does_not_run(case: Case, strict: bool, name: str) -> None:
    """Whether or not the object is read: its tool may be unknown, or the mode strict."""
    tools = Toolset([*TOOLS, DELETED], protocol=case.format, strict=strict)
    quoted = json.dumps(tools.encode("rm", {"path": "x"}) * 2, ensure_ascii=False)
    text = case.text.replace('"a b"', quoted).replace("save_file", name)

    def read(parts: list[str]) -> list[tuple[str, str | None, int, int]]:
        parser = tools.parser(in_reasoning=False)
        events = [event for part in parts for event in parser.feed(part)] + parser.finish(truncated=False)
        ends = [event for event in events if event.type in ("call_end", "call_error")]
        return [(event.type, event.name, event.start, event.end) for event in ends]

    whole = read([text])
    assert [called for _, called, _, _ in whole] == [name]
    assert read([*text]) == whole


def hermes(arguments: str) -> str:
    return f'<tool_call>\n{{"name": "save", "arguments": {arguments}}}\n</tool_call>'


@pytest.mark.parametrize(
    ("format", "text"),
    [
        # A bracket is missing, and it is not certain which.
        (
            "apriel-1.5",
            '<tool_calls>[{"name": "save", "arguments": {"path": "a", "id": "0"}]</tool_calls>',
        ),
        ("hermes", hermes('{"path": "a", "opt": {"a": "x", "body": "b"}').replace("}\n<", "\n<")),
        # A colon is missing, or a comma in a list.
        ("hermes", hermes('{"path": "a", "body" "b"}')),
        ("hermes", hermes('{"path": "a", "tags": ["x" "y"]}')),
        # Only what precedes the object.
        ("mistral", '[TOOL_CALLS]save[ARGS]null{"path": "[TOOL_CALLS]rm[ARGS]{}"}'),
        # A bracket before a quote, and a call in the quotes.
        (
            "hunyuan-a13b",
            '<tool_calls>[{"name": "save", "arguments": {"body": ]"]</tool_calls>'
            "<tool_calls>[{'name': 'rm', 'arguments': {'path': 'z'}}]</tool_calls>\"}}]</tool_calls>",
        ),
        # A text between the tags of an argument, what is left of a tag, and tags in the wrong order.
        (
            "minicpm5",
            "<function name='save'><param name='path'>x</param> y<param name='body'>5</param></function>",
        ),
        ("glm-4.5", "<tool_call>save\n<arg_key>path</arg_key>\narg_value>a b</arg_value>\n</tool_call>"),
        ("glm-4.5", "<tool_call>save\n<arg_key>path</arg_key>\n[arg_value]a b</arg_value>\n</tool_call>"),
        ("glm-4.5", "<tool_call>save<arg_key>path<arg_value></arg_key>a b</arg_value></tool_call>"),
        ("glm-4.5", "<tool_call>save<arg_key>path</arg_key> a </arg_key> b</arg_value></tool_call>"),
        # A bracket is missing, and it is not certain which.
        ("gemma4", "<|tool_call>call:save{opt:{a:x,body:y}<tool_call|>"),
        ("gemma4", "<|tool_call>call:save(opt:{a:x,body:y)<tool_call|>"),
        ("olmo3", '<function_calls>save(path="a", body="b"]</function_calls>'),
        # A quote in a word: what follows is quoted.
        ("olmo3", "<function_calls>save(path\") rm(path='x')\")</function_calls>"),
        ("olmo3", "<function_calls>save(path=x\") rm(path='x')\")</function_calls>"),
        (
            "gemma4",
            '<|tool_call>call:save{"path""<tool_call|><|tool_call>call:rm{}<tool_call|>"}<tool_call|>',
        ),
        ("gemma4", '<|tool_call>call:save{path;"<tool_call|><|tool_call>call:rm{}<tool_call|>"}<tool_call|>'),
        (
            "gemma4",
            "<|tool_call>call:save{path:x'<tool_call|><|tool_call>call:rm{}<tool_call|>'}<tool_call|>",
        ),
        (
            "gemma4",
            '<|tool_call>```\ncall:savepath:<|"|><|tool_call>call:rm{}<tool_call|><|"|>}\n```<tool_call|>',
        ),
        # A call in a call that has failed.
        (
            "minimax-m2",
            '<minimax:tool_call>\n<invoke name="save">\n{path": "</invoke><invoke name=\'rm\'></invoke>"}\n'
            "</invoke>\n</minimax:tool_call>",
        ),
    ],
)
def test_what_is_ambiguous_is_an_error(format: str, text: str) -> None:
    message = Toolset([KEPT, DELETED], protocol=format).parse(text, truncated=False, in_reasoning=False)
    assert message.errors
    assert not message.calls


@pytest.mark.parametrize(
    ("format", "text", "args"),
    [
        # Whatever the key, and whatever closes the value before it.
        (
            "minicpm5",
            "<function name=\"save\"><param name='path'>x</param><param name='odd'>y</param></function>",
            {"path": "x", "odd": "y"},
        ),
        (
            "minicpm5",
            "<function name=\"save\"><param name='path'>x<param name='body'>y</param></function>",
            {"path": "x", "body": "y"},
        ),
        # A zero before digits is a part of a string.
        ("lfm2", "<|tool_call_start|>[save(body=00)]<|tool_call_end|>", {"body": "00"}),
    ],
)
def test_a_call_is_read_in_one_style(format: str, text: str, args: dict[str, str]) -> None:
    message = Toolset([KEPT], protocol=format).parse(text, truncated=False, in_reasoning=False)
    assert [call.args for call in message.calls] == [args]


def test_a_key_in_quotes_may_be_declared() -> None:
    quoted = {
        "name": "save",
        "parameters": {"type": "object", "properties": {"path": STRING, '"path"': STRING}},
    }
    for format in ("glm-4.5", "seed-oss", "minimax-m2"):
        tools = Toolset([quoted], protocol=format, strict=True)
        arguments = {"path": "a", '"path"': "b"}
        message = tools.parse(tools.encode("save", arguments), truncated=False, in_reasoning=False)
        assert [call.args for call in message.calls] == [arguments]


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("granite-20b-fc", '<function_call>{"":\\\\\\"}3'),
        ("functionary-v3.2", '>>>save\n{"path": "a"} >>rm\n{"path": "z"}'),
        ("functionary-v3.2", '>>>save\n{"path": "a"}*>>rm{'),
        # A key that is given twice is no missing bracket.
        ("glm-4.5", '<tool_call>save(path=a, path=("b"))</tool_call>'),
        ("glm-4.5", '<tool_call>save(path="a", path=("b"))</tool_call>'),
        ("longcat", '<longcat_tool_call>save("path": a, "path": ("b")}</longcat_tool_call>'),
    ],
)
def test_an_error_does_not_depend_on_where_the_text_is_cut(format: str, text: str) -> None:
    tools = Toolset([KEPT, DELETED], protocol=format)

    def read(parts: list[str]) -> list[dict[str, object]]:
        parser = tools.parser(in_reasoning=False)
        events = [event for part in parts for event in parser.feed(part)] + parser.finish()
        # Ids are new each time.
        ends = [event for event in events if event.type in ("call_end", "call_error")]
        return [{**event.to_dict(), "id": None} for event in ends]

    whole = read([text])
    assert all(read([text[:at], text[at:]]) == whole for at in range(1, len(text)))
    assert read([*text]) == whole
