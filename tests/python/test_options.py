"""The caller's mistakes: options that are none, names that cannot be written, schemas that cannot work."""

from typing import Any

import pytest

from wirecall import Protocol, ToolError, Toolset

FULL: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"protocol": "toml"}, r'there is no protocol "toml"; available: .*wire'),
        ({"protocol": "GLM-4.7"}, r'"GLM-4.7"; did you mean "glm-4.7"\? `wirecall protocols` lists all'),
        ({"protocol": "gpt_oss"}, r'did you mean "gpt-oss"\?'),
        ({"protocol": "glm"}, r'did you mean "glm-4.5" or "glm-4.7"\?'),
        ({"syntax": "yaml"}, r'syntax is "yaml"; it must be one of "wire", "json"'),
        (
            {"fallback_to_json": "always"},
            r'fallback_to_json is "always"; it must be one of "complex", "error"',
        ),
        ({"unknown_tools": "native"}, r'unknown_tools is "native"; it must be one of "auto", "error"'),
        ({"invalid_tools": "skip"}, r'invalid_tools is "skip"; it must be one of "error", "untyped"'),
        ({"unknown_tools": "text"}, r'unknown_tools="text" is for a toolset without tools'),
        ({"validate": "warn"}, r'validate is "warn"; it must be one of "report", "error"'),
        ({"code": "fence"}, r'code is "fence"; it must be one of "call", "text"'),
        ({"descriptions": "some"}, r'descriptions is "some"; it must be one of "full", "tools", "none"'),
        ({"delimiters": ("", "</c>")}, r'the delimiter ""'),
        ({"delimiters": ("< c>", "</c>")}, r"may not contain ' '"),
        ({"delimiters": ("<c>", '"/c"')}, r"may not contain '\"'"),
        ({"delimiters": ("<c=>", "</c>")}, r"may not contain '='"),
        ({"delimiters": ("[c]", "[/c]")}, r"may not contain '\['"),
        ({"delimiters": ("{c}", "{/c}")}, r"may not contain '\{'"),
        ({"delimiters": ("call", "<end>")}, r"needs a character other than letters and digits"),
        ({"delimiters": ("<c", "<call")}, r"is the beginning of the other"),
        ({"delimiters": ("<c>", "<c>")}, r"is the beginning of the other"),
        ({"reasoning": ("", "</think>")}, r"a reasoning tag is empty"),
        ({"reasoning": ("<think>", "")}, r"a reasoning tag is empty"),
        ({"limits": {"size": 5}}, "no limit 'size'; available: call_bytes, calls, depth, key_segments"),
        ({"limits": {"cals": 5}}, "no limit 'cals'; did you mean 'calls'"),
        ({"limits": {"depth": 0}}, r"the limit depth is 0; it must be a positive int"),
        ({"limits": {"calls": -1}}, r"the limit calls is -1; it must be a positive int"),
        ({"limits": {"calls": 2**70}}, r"the limit calls is 1180591620717411303424; it must be"),
        ({"limits": {"depth": 513}}, r"the limit depth is 513; it must be at most 512"),
    ],
    ids=str,
)
def test_options_that_are_none(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Toolset([("f", FULL)], **options)


@pytest.mark.parametrize(
    "options",
    [
        {"protocol": 5},
        {"protocol": Protocol},
        {"syntax": None},
        {"fallback_to_json": True},
        {"validate": False},
        {"unknown_tools": True},
        {"invalid_tools": None},
        {"code": False},
        {"descriptions": 1},
        {"constraints": "yes"},
        {"strict": "yes"},
        {"delimiters": "ab"},
        {"delimiters": ("<c>",)},
        {"reasoning": ("a", "b", "c")},
        {"delimiters": (b"<c>", b"</c>")},
        {"reasoning": 5},
        {"recover": "hermes"},
        {"recover": [5]},
        {"limits": 5},
        {"limits": {"depth": "5"}},
        {"limits": {"depth": True}},
        {"limits": {5: 5}},
        {"other": 1},
    ],
    ids=str,
)
def test_options_of_the_wrong_type(options: dict[str, Any]) -> None:
    [name] = options
    with pytest.raises(TypeError) as raised:
        Toolset([("f", FULL)], **options)
    # Where Python has notes on exceptions, they say which option it was.
    told = [str(raised.value), *getattr(raised.value, "__notes__", [name])]
    assert any(name in text for text in told)


def test_formats_to_recover_and_tags_that_cannot_work() -> None:
    with pytest.raises(TypeError, match="recover must list names of protocols, not int"):
        Toolset(recover=["hermes", 5])  # type: ignore[list-item]
    assert Toolset([("f", FULL)], recover=["hermes", "hermes"]).names == ("f",)
    with pytest.raises(
        TypeError, match=r"a pair of str or \(a str, a str, one of .*, not \('a', 'b', 'c'\)$"
    ):
        Toolset(reasoning=("a", "b", "c"))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a b", "a\n", "a<b", "a{", "a=b", 'a"', "it's", "n" * 129, "a\x00"])
def test_names_that_cannot_be_written(name: str) -> None:
    with pytest.raises(ToolError, match="a call cannot be written with this name") as raised:
        Toolset([("fine", FULL), (name, FULL)])
    assert raised.value.tool == name


def test_a_name_may_be_writable_only_with_other_delimiters() -> None:
    assert Toolset([("a|b", FULL)]).names == ("a|b",)
    with pytest.raises(ToolError, match="cannot be written"):
        Toolset([("a|b", FULL)], delimiters=("|call|", "|end|"))


@pytest.mark.parametrize("name", ["a", "n" * 128, "mcp:srv/get-it.v2", "\u65e5\u672c", "a>b", "[x]", "a,b"])
def test_names_that_can_be_written(name: str) -> None:
    tools = Toolset([(name, FULL)])
    assert tools.parse(tools.encode(name, {"a": "x"})).calls[0].name == name


A: dict[str, Any] = {"type": "object"}
BAD_SCHEMAS: list[tuple[Any, str, str]] = [
    ({"type": "strin"}, "/type", "type must be one of string, integer"),
    ({"type": 5}, "/type", "type must be one of"),
    ({"type": ["string", "int"]}, "/type", "type must be one of"),
    ({"properties": 5}, "/properties", "object"),
    ({"properties": {"a": {"type": "str"}}}, "/properties/a/type", "type must be one of"),
    ({"properties": {"a": 5}}, "/properties/a", "a schema must be an object, true or false"),
    ({"properties": {"a/b~c": {"type": "x"}}}, "/properties/a~1b~0c/type", "type must be one of"),
    ({"properties": {"a": {"items": 5}}}, "/properties/a/items", "a schema must be"),
    ({"properties": {"a": {"anyOf": []}}}, "/properties/a/anyOf", "non-empty"),
    ({"properties": {"a": {"enum": []}}}, "/properties/a/enum", "non-empty"),
    ({"properties": {"a": {"enum": "x"}}}, "/properties/a/enum", "list"),
    ({"required": "a"}, "/required", "list"),
    ({"required": [5]}, "/required", "list"),
    ({"additionalProperties": 5}, "/additionalProperties", "a schema must be"),
    ({"properties": {"a": {"$ref": 5}}}, "/properties/a/$ref", "string"),
    ({"properties": {"a": {"$ref": "#/$defs/no"}}}, "/properties/a/$ref", "points to nothing"),
    ({"properties": {"a": {"$ref": "http://x.org/s"}}}, "/properties/a/$ref", "is not fetched"),
    ({"properties": {"a": {"$ref": "https://x.org/s#/y"}}}, "/properties/a/$ref", "is not fetched"),
    ({"properties": {"a": {"$ref": "file:///schema.json"}}}, "/properties/a/$ref", "is not fetched"),
    ({"properties": {"a": {"$ref": "other.json"}}}, "/properties/a/$ref", "is not fetched"),
]


@pytest.mark.parametrize(("schema", "pointer", "match"), BAD_SCHEMAS, ids=lambda value: str(value)[:50])
@pytest.mark.parametrize("validate", ["report", "error"])
def test_schemas_that_cannot_work(schema: Any, pointer: str, match: str, validate: Any) -> None:
    with pytest.raises(ToolError, match=match) as raised:
        Toolset([("fine", FULL), ("bad", schema)], validate=validate)
    assert (raised.value.tool, raised.value.pointer) == ("bad", pointer)
    assert pointer in str(raised.value)
    assert "'bad'" in str(raised.value)


# Thirty definitions, each of which asks the next one twice.
DOUBLING: dict[str, Any] = {
    "properties": {"a": {"$ref": "#/$defs/0"}},
    "$defs": {str(at): {"anyOf": [{"$ref": f"#/$defs/{at + 1}"}] * 2} for at in range(30)} | {"30": {}},
}


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"properties": {"a": {"pattern": "["}}}, "/properties/a/pattern"),
        ({"properties": {"a": {"minimum": "x"}}}, "/properties/a/minimum"),
        ({"patternProperties": {"[": {}}}, "/patternProperties/["),
        ({"properties": {"a": {"pattern": "^(?!x)"}}}, "/properties/a/pattern"),
        ({"patternProperties": {"(a)\\1": {}}}, "/patternProperties/(a)\\1"),
        (
            {"properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"items": {"pattern": "(?<=x)"}}}},
            "/$defs/d/items/pattern",
        ),
        ({"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}]}}}, "/properties/a"),
        ({"properties": {"a": {"$id": "x", "$ref": "#"}}}, "/properties/a/$id"),
        ({"properties": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}, None),
        (DOUBLING, None),
    ],
    ids=str,
)
def test_schemas_that_cannot_be_validated(schema: Any, pointer: str | None) -> None:
    """Only who asks for validation needs these keywords to work. None: any of several places may be named."""
    Toolset([("bad", schema)])
    with pytest.raises(ToolError) as raised:
        Toolset([("bad", schema)], validate="error")
    assert raised.value.tool == "bad"
    assert raised.value.pointer == pointer or (pointer is None and raised.value.pointer)
    with pytest.raises(ToolError) as again:
        Toolset([{"name": "bad", "parameters": schema, "strict": True}])
    assert str(again.value) == str(raised.value)


NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"anyOf": [FULL, {"type": "object", "properties": {"b": {}}}]}, "union"),
        ({"$ref": "#/$defs/Node", "$defs": {"Node": NODE}}, "recursive"),
    ],
)
def test_fallback_error_names_the_reason(schema: Any, reason: str) -> None:
    with pytest.raises(ToolError, match=reason) as raised:
        Toolset([("f", schema)], fallback_to_json="error")
    assert raised.value.tool == "f"
    assert reason in (Toolset([("f", schema)]).plan("f").reason or "")
    assert Toolset([("f", FULL)], fallback_to_json="error").plan("f").encoding == "pairs"


def test_two_tools_of_one_name() -> None:
    with pytest.raises(ToolError, match="two tools have this name"):
        Toolset([("f", FULL), ("f", FULL)])


def test_deep_and_self_referring_schemas_work() -> None:
    deep: Any = {"type": "string"}
    for _ in range(60):
        deep = {"type": "object", "properties": {"a": deep}}
    assert Toolset([("f", deep)]).parse("<call>f a.a.a=x</call>").calls
    loop = {"properties": {"a": {"$ref": "#/properties/a"}}}
    assert Toolset([("f", loop)]).parse("<call>f a=5</call>").calls


@pytest.mark.parametrize("close", ["]]", "}}", "]", "}", "]>"])
def test_a_closing_delimiter_may_begin_with_a_bracket(close: str) -> None:
    tools = Toolset(
        [("save", {"properties": {"title": {"type": "string"}}})], protocol="hermes", delimiters=("[[", close)
    )
    for title in ("a", "a]]", 'say "}}"', ""):
        written = tools.encode("save", {"title": title})
        for text in (written, f"{written} and more {written}"):
            parser = tools.parser()
            events = [event for char in text for event in parser.feed(char)] + parser.finish()
            ends = [event.args for event in events if event.type == "call_end"]
            assert ends == [{"title": title}] * text.count("[[")
            assert [call.args for call in tools.parse(text).calls] == ends


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (
            lambda tools: tools.encode_result("f", "", index=-1),
            ValueError,
            "index is -1; it must be at least 0",
        ),
        (
            lambda tools: tools.encode_message("", calls_before=-1),
            ValueError,
            "calls_before is -1; it must be",
        ),
        (lambda tools: tools.encode_message("", "x"), TypeError, "calls must be a list of tuples, not str"),
        (lambda tools: tools.parse("", in_reasoning="no"), TypeError, "in_reasoning must be a bool or None"),
        (
            lambda tools: Toolset(in_reasoning=False),  # type: ignore[call-arg]
            TypeError,
            r"'in_reasoning' here: .*give it to parser\(\) or parse\(\)",
        ),
        (
            lambda tools: tools.parser().finish(truncated=1),
            TypeError,
            "truncated must be a bool or None, not int",
        ),
        (lambda tools: tools.encode("a b", {}, native=True), ValueError, "cannot be written with the name"),
    ],
)
def test_arguments_of_methods_are_named(call: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call(Toolset(protocol="harmony"))
