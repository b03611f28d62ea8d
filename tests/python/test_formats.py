"""Formats as values: described, loaded, saved, changed, and used wherever a protocol's name is."""

import json
import pickle
import tomllib
from pathlib import Path
from random import Random
from typing import Any

import pytest

from neutral_suite import FIXTURES, parsed, row
from wirecall import FAMILIES, PROTOCOLS, Format, ToolError, Toolset, compact_tools
from wirecall._tools.formats.description import built_in
from wirecall.testing import check_format

EVERY = tuple(dict.fromkeys((*PROTOCOLS, *FAMILIES)))
WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
SECTION = "{content|\n}<|calls|>{calls}<|/calls|>"
# One of each reader, with markers that no built-in format has.
DESCRIPTIONS: dict[str, dict[str, Any]] = {
    "object": {"call": '<do>{"name": {name}, "arguments": {arguments}}</do>'},
    "object with other keys": {"call": '[[DO]]{"tool": {name}, "args": {arguments}}[[/DO]]'},
    "list": {
        "call": '{"name": {name}, "arguments": {arguments}}',
        "message": "{content|\n}<|calls|>[{calls|, }]<|/calls|>",
    },
    "name as key": {"call": "<do>{{name}: {arguments}}</do>"},
    "whole message": {"call": '{"name": {name}, "parameters": {arguments}}', "message": "{calls}"},
    "name before object": {"call": "<do>{name} {arguments}</do>"},
    "name on a line": {"call": "<|do|>{name}\n{arguments}<|/do|>", "special_tokens": True},
    "name and marker": {"call": "<|do|>{name}<|sep|>{arguments}<|/do|>", "message": SECTION, "section": True},
    "id": {"call": "<|do|>{name}<|id|>{id}<|sep|>{arguments}<|/do|>"},
    "count": {"call": "<|do|>functions.{name}:{count}<|sep|>{arguments}<|/do|>"},
    "fence": {"call": "<|do|>{name}\n```json\n{arguments}\n```<|/do|>"},
    "no closer": {"call": "<|do|>{name}<|sep|>{arguments}", "stops": ["<|end|>"]},
    "keys as text": {
        "call": "<do>{name}\n{args}</do>",
        "argument": "<key>{key}</key>\n<value>{value}</value>\n",
    },
    "attributes": {"call": '<do name="{name}">\n{args}</do>', "argument": '<a key="{key}">{value}</a>\n'},
    "names in tags": {"call": "<do={name}>\n{args}</do>", "argument": "<a={key}>\n{value}\n</a>\n"},
    "tags in tags": {
        "call": "<calls>\n<do={name}>\n{args}</do>\n</calls>",
        "argument": "<a={key}>\n{value}\n</a>\n",
    },
    "kinds": {
        "call": '<do name="{name}">\n{args}</do>',
        "argument": '<a key="{key}" string="{kind}">{value}</a>\n',
        "calls": {"kinds": ["true", *["false"] * 5]},
    },
    "nothing after it": {"call": "<|do|>{name}<|sep|>{arguments}"},
    "recipient": {
        "call": ">>>{name}\n{arguments}",
        "message": "{calls}",
        "parts": {"frame": "recipients", "mark": ">>>", "content": "all"},
        "stops": ["<|end|>"],
    },
    "elements around parts": {
        "call": '{"name": {name}, "arguments": {arguments}}',
        "message": "<calls>[{calls|, }]</calls>",
        "parts": {
            "frame": "elements",
            "content": [["<c>", "</c>"]],
            "calls": ["<calls>", "</calls>"],
            "tags": ["<c>", "<calls>"],
        },
    },
    "channels": {
        "call": "{arguments}",
        "message": "{content|<|e|><|s|>assistant}{calls|<|e|><|s|>assistant}<|e|>",
        "parts": {
            "frame": "channels",
            "start": "<|s|>",
            "channel": "<|c|>",
            "constrain": "<|t|>",
            "separator": "<|m|>",
            "ends": ["<|e|>"],
            "recipient": "to=",
            "reasoning": "thoughts",
            "content": ["answer"],
            "address": " to={name}<|c|>tools<|m|>",
        },
    },
    "Python": {"call": "{name}({kwargs})", "message": "{content|\n}<|calls|>[{calls|, }]<|/calls|>"},
    "Python, each in markers": {"call": "<do>{name}({kwargs})</do>"},
    "members": {"call": "<|do>call:{name}{members}<do|>", "calls": {"quote": "<'>"}},
    "nested elements": {
        "call": '#@<invoke name="{name}">{elements}#@</invoke>',
        "message": "{content|\n}#@<calls>\n{calls|\n}\n#@</calls>",
        "section": True,
    },
    "changed": {"like": "glm-4.7", "call": "<do>{name}{args}</do>", "stops": ["<|end|>"]},
    "reasoning": {
        "call": "<do>{name} {arguments}</do>",
        "reasoning": {"template": "<why>\n{reasoning}\n</why>\n", "call_ends": "always"},
        "starts_in_reasoning": True,
    },
    "around pairs": {"like": "wire", "call": "<do>{call}</do>"},
}


@pytest.mark.parametrize("name", EVERY)
def test_a_built_in_format_is_saved_and_loaded(name: str, tmp_path: Path) -> None:
    format = built_in(name)
    for file in ("format.toml", "format.json"):
        format.save(tmp_path / file)
        loaded = Format.load(tmp_path / file)
        assert (loaded, loaded.to_dict(), loaded.name) == (format, format.to_dict(), name)
    assert tomllib.loads(format.to_toml()) == format.to_dict()
    assert Format(**format.to_dict()) == format


@pytest.mark.parametrize("name", EVERY)
def test_a_loaded_format_does_the_same(name: str) -> None:
    """The core compares all data of both; here, what a user sees of it."""
    own, other = (Toolset([WEATHER], protocol=one) for one in (name, built_in(name)))
    call = own.encode("get_weather", {"city": "New York", "days": 3})
    assert other.encode("get_weather", {"city": "New York", "days": 3}) == call
    assert (other.protocol, other.manual()) == (own.protocol, own.manual())
    assert other.neutralise(call) == own.neutralise(call)
    assert other.encode_result("get_weather", "x") == own.encode_result("get_weather", "x")
    message = other.parse(f"So. {call}", in_reasoning=False)
    assert [call.args for call in message.calls] == [
        call.args for call in own.parse(f"So. {call}", in_reasoning=False).calls
    ]


def test_loaded_formats_read_the_neutral_suite_as_built_in_ones() -> None:
    for fixture in FIXTURES:
        name, tools = row(fixture), [tool["function"] for tool in fixture.tools]
        for pieces in ([fixture.raw_output], list(fixture.raw_output)):
            own, loaded = (
                parsed(fixture, Toolset(tools, protocol=one), pieces) for one in (name, built_in(name))
            )
            assert loaded == own, fixture.id


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_described_format_keeps_all_laws(name: str) -> None:
    format = Format(name=name, **DESCRIPTIONS[name])
    check_format(format, cases=10)
    assert Format(**format.to_dict()) == format
    assert pickle.loads(pickle.dumps(format)) == format


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_middleware_works_in_it(name: str) -> None:
    format = Format(name=name, **DESCRIPTIONS[name])
    tools = Toolset([WEATHER], protocol=format)
    written = tools.encode_message("", [("get_weather", {"city": "Rome"})])
    request = {
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": WEATHER}],
    }
    sent: dict[str, Any] = {}

    def model(given: Any) -> Any:
        sent.update(given)
        return {"choices": [{"message": {"role": "assistant", "content": written}, "finish_reason": "stop"}]}

    answer = compact_tools(protocol=format, in_reasoning=False).wrap_generate(model, request)
    [call] = answer["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"city": "Rome"}
    assert sent["messages"][0]["content"] == tools.manual()


KINDS: dict[str, Any] = {
    "call": '<do name="{name}">\n{args}</do>',
    "argument": '<a key="{key}" string="{kind}">{value}</a>\n',
}


@pytest.mark.parametrize(
    ("description", "match"),
    [
        ({}, "call is missing; write one call with its markers"),
        ({"cal": "<do>{name} {arguments}</do>"}, 'there is no field "cal"; did you mean "call"?'),
        ({"call": 5}, "call must be a string, not 5"),
        ({"call": "<do>{arguments}</do>"}, "call has no {name}"),
        ({"call": "<do>{name}</do>"}, "call has no hole for arguments"),
        ({"call": "<do>{name} {args} {id}</do>"}, "call has {id}; its holes are {name}, {args}, {index}"),
        ({"call": "<do>{name} {name} {arguments}</do>"}, "call has {name} twice"),
        ({"call": "<do>{name}{args}</do>"}, "argument has no {key}"),
        ({"call": "[do={name}]{args}[/do]", "argument": "[{key}]{value}[/]"}, "must begin with <"),
        (
            {"call": '<do name="{name}">{args}</do>', "argument": "<a k={key} s={kind}>{value}</a>"},
            "in quotes",
        ),
        ({"call": "do {name} {arguments}"}, 'the marker "do " must contain a symbol'),
        ({"call": "<{name} {arguments}>"}, 'the marker "<" must have at least two characters'),
        ({"call": "<do>{name} {arguments}<do>"}, "they cannot be told apart"),
        ({"call": "<do\\>{name} {arguments}</do>"}, "must not contain a backslash"),
        ({"call": f"<{'o' * 300}>{{name}} {{arguments}}</do>"}, "has 302 bytes; at most 256"),
        ({"call": '<do>{"name": {name}, {arguments}}</do>'}, "no key before {arguments}"),
        ({"call": "<do>{name} {arguments}</do>", "message": "x"}, "message has no {calls}"),
        ({"call": "<do>{name} {arguments}</do>", "section": True}, "section needs a marker on each side"),
        (
            {"call": "<do>{name} {arguments}</do>", "reasoning": "<do>{reasoning}</why>"},
            "is also a marker of calls",
        ),
        ({"call": "<do>{name} {arguments}</do>", "reasoning": "<why>"}, "reasoning must be a template with"),
        (
            {"call": "<do>{name} {arguments}</do>", "reasoning": {"call_ends": "never"}},
            "reasoning.template is missing",
        ),
        (
            {
                "call": "<do>{name} {arguments}</do>",
                "reasoning": {"template": "<a>{reasoning}</a>", "call_ends": "x"},
            },
            'reasoning.call_ends must be one of "never", "always", "declared", not "x"',
        ),
        ({"call": "<do>{name} {arguments}</do>", "stops": "<e>"}, "stops must be a list"),
        (
            {"call": "<do>{name} {arguments}</do>", "calls": {"opn": ["<x>"]}},
            '"calls.opn"; did you mean "open"?',
        ),
        ({"call": "<do>{name} {arguments}</do>", "calls": 3}, "calls must be a table, not 3"),
        (
            {"call": '{"name": {name}, "arguments": {arguments}}', "message": "<do>{calls|; }</do>"},
            'message has ";" between two calls',
        ),
        (
            {
                "call": '{"name": {name}, "arguments": {arguments}}',
                "message": "<calls>[{calls|, }]</calls>",
                "parts": {"frame": "elements", "content": [["<c>", ""]], "calls": ["<calls>", "</calls>"]},
            },
            "parts.content is missing or empty",
        ),
        ({"call": "{arguments}", "parts": {"frame": "channels"}}, "parts.start is missing or empty"),
        ({"call": "<do>{name} {arguments}</do>", "parts": {"frame": "rows"}}, "parts.frame must be one of"),
        ({"call": "<do>{name} {arguments}</do>", "spellings": 3}, "spellings must be a list"),
        ({"call": "<do>{name} {arguments}</do>", "version": 2}, "version is 2; this release reads version 1"),
        ({"like": "hermex"}, 'there is no protocol "hermex"; did you mean "hermes"?'),
        ({"like": "wire", "call": "<do>{call}</do>", "result": "x"}, "result has no {result}"),
        ({"like": "wire", "call": "<do>{call}</do>", "spellings": [{"call": "x"}]}, '"spellings"'),
        ({"call": "<do>{arguments}<n>{name}</do>"}, "call has {arguments} before {name}"),
        ({"call": "<do>{{name}} {arguments}</do>"}, "call has {{name}} with two braces"),
        ({"call": "<do>{id}{name}<s>{arguments}</do>"}, "no marker between {id} and {name}"),
        ({"call": "<do>{name} {arguments}}</do>"}, "must not begin with a bracket"),
        ({"call": "}<do>{name}({kwargs})</do>"}, "has a brace in its markers"),
        ({"call": "<do>{name} {arguments}</do>", "calls": {"ends": [""]}}, "ends calls, and is empty"),
        ({"call": "<do>{name} {arguments}</do>", "calls": {"ends": ["</"]}}, "the beginning of"),
        ({"call": "<do>{name} {arguments}</do>", "calls": {"prefix": "{arguments}"}}, "belongs to no hole"),
        ({"call": "<do>{name} {arguments}</do>", "result": "<r>"}, "result has no {content} or {json}"),
        ({"call": "<do>{name} {arguments}</do>", "result_mark": "<do>"}, "is also a marker of calls"),
        ({"call": "<do>{name} {arguments}</do>", "stops": ["</do>"]}, "is also a marker of calls"),
        ({"call": "<do>{name} {arguments}</do>", "stops": ["<e>", "[E]"]}, "begin with the same character"),
        ({"call": "<do>{name} {arguments}</do>", "answer": ["<x>", "<x>"]}, "cannot be told apart"),
        ({"call": "<do>{name} {arguments}</do>", "reasoning": "{reasoning}</think>"}, "no opening marker"),
        ({"call": "<do>{name} {arguments}</do>", "section": {"begin": "<do>", "end": "</do>"}}, "surround"),
        (
            {"call": "<do>{name} {arguments}</do>", "section": {"begin": "<a>", "end": "</a>"}},
            "around {calls}",
        ),
        (
            {"call": "<|do|>{name}<|with|>{arguments}", "message": "<|a|>{calls}<|b|>", "section": True},
            "calls in a section need a marker that closes",
        ),
        ({**KINDS, "calls": {"kinds": ["t"] * 6}}, "calls.kinds must list its values"),
        ({**KINDS, "calls": {"kinds": ["t"] * 5}}, "calls.kinds must be a list of six strings"),
        ({**KINDS, "calls": {"kinds": ["t"] + ["f"] * 5, "part_ends": ["<e>"]}}, "for messages of parts"),
        ({"like": "qwen3coder", "answer": ["<a>", ""]}, 'the marker "" must have'),
        ({"like": "qwen3coder", "stops": ["<e>", ""]}, 'the marker "" must have'),
        ({"like": "hermes", "reasoning": "{reasoning}\n"}, "no opening marker"),
        (
            {"like": "qwen3coder", "reasoning": "<tool_call>{reasoning}</tool_call>"},
            "is also a marker of calls",
        ),
        ({"like": "acme.toml"}, "is a file; pass Format.load"),
        ({"like": "wire", "stops": ["<e>"]}, 'there is no field "stops"'),
        ({"like": "glm-4.7", "call": "<do>{call}</do>"}, "the markers of a native format are fixed"),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else None,
)
def test_what_is_wrong_is_named(description: dict[str, Any], match: str) -> None:
    with pytest.raises(ToolError) as raised:
        Format.from_dict(description)
    assert match in str(raised.value)


def test_what_is_no_description() -> None:
    with pytest.raises(TypeError, match="there is no option 'stop'; did you mean 'stops'"):
        Format(call="<do>{name} {arguments}</do>", stop=["<e>"])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="call must be a str, not int"):
        Format(call=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a description must be a mapping, not str"):
        Format.from_dict("<do>")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="set is not a string, number, list or table"):
        Format(call="<do>{name} {arguments}</do>", stops=[{"<e>"}])  # type: ignore[list-item]
    circle: dict[str, Any] = {"call": "<do>{name} {arguments}</do>"}
    circle["calls"] = circle
    with pytest.raises(TypeError, match="the description is not JSON"):
        Format.from_dict(circle)


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("a.toml", "call = <do>", "a.toml is not TOML"),
        ("a.json", "{", "a.json is not JSON"),
        ("a.json", "[1]", "a.json: a description must be a table"),
        ("a.json", '{"call": "<do>{name} {arguments}</do>"}', "a.json: version is missing"),
        ("a.toml", 'version = 1\ncall = "<do>"', "a.toml: format: call has no {name}"),
        ("a.json", "[" * 10_000, "a.json is not JSON"),
        ("a.json", "[" * 100_000, "a.json has more than"),
        ("a.json", '{"version": NaN}', "a.json: "),
        ("a.toml", "version = 1979-05-27", "a.toml: the description is not JSON"),
        ("a.yaml", "", r"must end in \.toml or \.json"),
    ],
)
def test_a_file_that_is_no_format(name: str, text: str, match: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ToolError, match=match):
        Format.load(tmp_path / name)


@pytest.mark.parametrize("name", ["wire", "hermes", "xml", "yaml", "gemma", "glm-4.7"])
def test_a_format_like_another_one_is_described_by_it(name: str) -> None:
    format = Format(name="mine", like=name)
    assert Format(**format.to_dict()) == format
    assert pickle.loads(pickle.dumps(format)).name == "mine"


def test_a_bad_description_is_refused_as_often_as_it_is_given() -> None:
    for _ in range(3000):
        with pytest.raises(ToolError, match="there is no field"):
            Format.from_dict({"call": "<do>{name} {arguments}</do>", "x": ["y" * 1000] * 10})


def test_defaults_are_left_out() -> None:
    call = "<do>{name} {arguments}</do>"
    assert Format(call=call).to_dict() == {"version": 1, "name": "custom", "call": call}


def test_a_file_has_few_bytes_of_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("é" * 10_000, encoding="utf-8")
    with pytest.raises(ToolError, match=r"a\.json has more than 16384 bytes"):
        Format.load(path)
    path.write_bytes(b'{"call": "\xff"}')
    with pytest.raises(ToolError, match=r"a\.json is not UTF-8"):
        Format.load(path)


def test_a_file_names_its_format(tmp_path: Path) -> None:
    path = tmp_path / "acme.toml"
    path.write_text('version = 1\ncall = "<do>{name} {arguments}</do>"\n', encoding="utf-8")
    assert Format.load(path).name == "acme"
    assert repr(Format.load(path)) == "Format(name='acme', call='<do>{name} {arguments}</do>')"
    with pytest.raises(FileNotFoundError):
        Format.load(tmp_path / "none.toml")


HOSTILE: dict[str, dict[str, Any]] = {
    "a megabyte": {"call": f"<do>{{name}} {{arguments}}</do>{'x' * (1 << 20)}"},
    "ten megabytes": {"call": f"<do>{{name}} {{arguments}}</do>{'x' * (10 << 20)}"},
    "many stops": {"call": "<do>{name} {arguments}</do>", "stops": [f"<{at}>" for at in range(20_000)]},
    "deep": {"call": "<do>{name} {arguments}</do>", "calls": json.loads('{"a":' * 50 + "1" + "}" * 50)},
    "empty": {"call": "{name}{arguments}"},
    "a marker in a marker": {"call": "<<do>{name} {arguments}<<do>>"},
    "many spellings": {"call": "<do>{name} {arguments}</do>", "spellings": [{}] * 100},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_descriptions_are_refused(name: str) -> None:
    with pytest.raises(ToolError):
        Format.from_dict(HOSTILE[name])


PIECES = [
    "{name}", "{arguments}", "{args}", "{kwargs}", "{members}", "{elements}", "{key}", "{value}", "{kind}",
    "{id}",
    "{count}", "{call}", "{calls}", "{calls|", "{content|\n}", "{reasoning}", "{", "}", "[", "]", "(", ")",
    "<do>", "</do>",
    "<", ">", "</", '"', '="', "=", ":", " ", "\n", "a", "<|x|>", "```json\n", "```", "ä", "🙂",
    "functions.", "call:", "",
]  # fmt: skip


def test_no_description_panics() -> None:
    """Whatever templates say: an error, or a format that reads and writes."""
    random = Random(7)
    examples = list(DESCRIPTIONS.values())

    def mutated(value: Any) -> Any:
        """The same with pieces inserted into its texts, or cut out of them."""
        if isinstance(value, dict):
            return {key: mutated(one) for key, one in value.items()}
        if not isinstance(value, str) or random.random() < 0.5:
            return value
        at, end = sorted(random.choices(range(len(value) + 1), k=2))
        piece = "".join(random.choices(PIECES, k=random.choice([1, 1, 2])))
        return value[:at] + piece + value[end if random.random() < 0.2 else at :]

    made = 0
    for _ in range(3000):
        described = mutated(random.choice(examples))
        try:
            format = Format.from_dict(described)
            tools = Toolset([WEATHER], protocol=format)
            written = tools.encode("get_weather", {"city": "x"})
        # Such as a marker that is part of the tool's name.
        except ValueError:
            continue
        made += 1
        for text in (written, written[: len(written) // 2], *random.choices(PIECES, k=2)):
            tools.parse(text)
            tools.parse(tools.neutralise(text))
        assert Format(**format.to_dict()).to_dict() == format.to_dict(), described
    assert made > 500


@pytest.mark.parametrize("protocol", ["k-exaone-2", Format(like="qwen3coder", stops=["[END]"])])
def test_a_stop_with_another_first_character_is_found_in_pieces(protocol: str | Format) -> None:
    tools = Toolset([WEATHER], protocol=protocol)
    stop = "[END]" if isinstance(protocol, Format) else "[|endofturn|]"
    parser = tools.parser(in_reasoning=False)
    events = [event for piece in f"Hello.{stop}" for event in parser.feed(piece)]
    assert "".join(event.text for event in [*events, *parser.finish()] if event.type == "text") == "Hello."
    assert tools.parse(f"Hello.{stop}", in_reasoning=False).text == "Hello."
