"""The promises of a grammar, for schemas as SDKs and servers send them, and for odd ones."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_support import Case, Sampler, accepts
from law import count
from wirecall import Toolset

CALLS = max(4, count(1000, 100))
STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def members(required: str = "", /, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required.split()}


CAT = members("kind lives", kind={"const": "cat", "type": "string"}, lives=INTEGER)
DOG = members("kind name", kind={"const": "dog", "type": "string"}, name=STRING)
TREE = {
    "anyOf": [
        STRING,
        INTEGER,
        {"type": "array", "items": {"$ref": "#/$defs/T"}},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/T"}},
    ]
}
NAMES = {"__proto__": STRING, "a b": STRING, "a.b": STRING, "": INTEGER, "ünï": STRING, "a=b": STRING}
SCHEMAS: dict[str, dict[str, Any]] = {
    "optional of Pydantic": members(
        q={"anyOf": [STRING, {"type": "null"}], "default": None, "title": "Q"},
        n={"anyOf": [INTEGER, {"type": "null"}], "default": None},
    ),
    "type that contains itself": {
        "$defs": {"A": members("x", x=INTEGER, next={"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]})},
        **members("a", a={"$ref": "#/$defs/A"}),
    },
    "tree": {"$defs": {"T": TREE}, **members("t", t={"$ref": "#/$defs/T"})},
    "union with a tag": members("pet", pet={"oneOf": [CAT, DOG], "discriminator": {"propertyName": "kind"}}),
    "literals": members("e", e={"enum": ["a", 1, None, True, "1", "null", "true", 1.5, [1], {"a": 1}]}),
    "hard literals": members("e", e={"enum": ["a b", "", 'x"y', "a\nb", "</call>", "<", "'", " "]}),
    "too many literals": members(
        "e",
        e={"enum": [f"v{at}" for at in range(300)]},
        f={"anyOf": [{"const": f"k{at}"} for at in range(300)]},
    ),
    "constants": members("n c d f", n={"type": "null"}, c={"const": None}, d={"const": ""}, f={"const": 0}),
    "bounds": members(
        "i j k l",
        i={"type": "integer", "minimum": -9007199254740993, "maximum": 9223372036854775808},
        j={"type": "integer", "exclusiveMinimum": -1, "exclusiveMaximum": 1000001},
        k={"type": "integer", "minimum": 5, "exclusiveMinimum": True},
        l={"type": "integer", "minimum": 0.5, "maximum": 9.5},
    ),
    "numbers": members(
        "a b c", a={"type": "number", "minimum": 0}, b={"type": "number"}, c={"type": ["number", "string"]}
    ),
    "integers of Zod": members(
        "i", i={"type": "integer", "minimum": -9007199254740991, "maximum": 9007199254740991}
    ),
    "literals with markers": members(
        "a",
        a={"enum": ["</parameter>", "<parameter=x>", "</FUNCTION>", "x"]},
        b={"enum": [["</parameter>"], {"<function=f>": 1}]},
    ),
    "constant beside an enum": members(
        "a b", a={"const": "x", "enum": ["y", "x"]}, b={"const": 1, "enum": [1.0]}
    ),
    "literals beside members": members(
        a={"enum": [{"a": 1}, {"b": 2}], "required": ["a"]},
        b={"enum": [[1], ["x"]], "items": INTEGER},
        c={"oneOf": [{"const": 1}, {"const": 1.0}]},
        d={"properties": {"x": False}},
    ),
    "no arguments or none": {"enum": [{}, {"a": 1}]},
    "constant arguments": {"const": {"a": 1, "b": "x"}},
    "lengths": members(
        "a b c d",
        a={"type": "string", "minLength": 1, "maxLength": 1},
        b={"type": "string", "minLength": 64, "maxLength": 64},
        c={"type": "string", "minLength": 65},
        d={"type": "string", "maxLength": 0},
    ),
    "tuples": members(
        "t u v",
        t={"type": "array", "prefixItems": [STRING, INTEGER], "items": False},
        u={"type": "array", "items": [INTEGER, STRING], "additionalItems": {"type": "boolean"}},
        v={"type": "array", "items": {"type": "array", "items": STRING}, "minItems": 2, "maxItems": 3},
    ),
    "maps": members(
        "m n o",
        m={"type": "object", "additionalProperties": INTEGER},
        n={"type": "object"},
        o={"type": "object", "additionalProperties": False},
    ),
    "joined": members(
        "x y",
        x={"allOf": [members("a", a=INTEGER), members("b", b=STRING)]},
        y={"allOf": [INTEGER, {"minimum": 3}, {"maximum": 7}]},
    ),
    "nullable": members(
        "a b c", a={"type": "string", "nullable": True}, b={"type": ["string", "null"]}, c={"items": STRING}
    ),
    "required and not declared": {**members(a=INTEGER), "required": ["a", "b"]},
    "names": {"type": "object", "properties": NAMES, "required": ["__proto__", "a b", "", "a.b"]},
    "one of two": {**members(a=STRING, b=STRING), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "tuples that may be short": members(
        t={"type": "array", "prefixItems": [INTEGER, {"type": "integer", "minimum": 5, "maximum": 1}]}
    ),
    "a member that cannot be": members("a", a=INTEGER, c={"type": "array", "items": False, "minItems": 1}),
    "nothing": {},
    "any object": {"type": "object"},
    "no arguments": {"type": "object", "properties": {}, "additionalProperties": False},
    "object or null": {"type": ["object", "null"], "properties": {"a": INTEGER}},
    "object or string": {"anyOf": [members("a", a=INTEGER), STRING]},
    "map of integers": {"additionalProperties": INTEGER},
}
# Calls with keys that are no names in a tag, or with other arguments than an object, are not written in tags.
UNTAGGED = (
    *("names", "constant arguments", "no arguments or none", "object or null", "object or string"),
    "one of two",
)
# No arguments are made for these, for want of declared members, or for parts that nothing fits.
UNMADE = (
    *("nothing", "any object", "map of integers", "one of two", "object or string"),
    *("tuples that may be short", "a member that cannot be"),
)


# Of these, nothing is left open.
ENFORCED = ("integers of Zod", "literals with markers", "constant beside an enum")


class SchemaCase(Case):
    """A case with a given schema, and another tool."""

    def __init__(self, schema: dict[str, Any], protocol: str) -> None:
        self._given = [("f", schema), ("other", members("x", x=INTEGER))]
        super().__init__(1, protocol)

    def _tools(self) -> Any:
        return self._given


@pytest.mark.parametrize("protocol", ["wire", "hermes", "gemma", "qwen3coder"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_its_calls_are_read_and_those_written_are_allowed(sampler: Sampler, name: str, protocol: str) -> None:
    if protocol == "qwen3coder" and name in UNTAGGED:
        with pytest.raises(ValueError, match="there is no grammar of such calls"):
            Toolset([("f", SCHEMAS[name])], protocol=protocol).grammar("lark")
        return
    messages = 0 if name in UNMADE else 4
    tally = sampler.case(SchemaCase(SCHEMAS[name], protocol), CALLS, messages)
    assert not tally.broken, tally.broken[0]
    assert tally.calls


@pytest.mark.parametrize("name", ENFORCED)
def test_what_the_grammar_enforces_is_not_listed(name: str) -> None:
    for protocol in ("wire", "hermes", "qwen3coder"):
        grammar = Toolset([("f", SCHEMAS[name])], protocol=protocol).grammar("lark")
        assert grammar.unconstrained == ()


def _large(size: int) -> dict[str, Any]:
    return members(**{f"k{at}": INTEGER for at in range(size)})


@pytest.mark.parametrize("protocol", ["wire", "hermes", "qwen3coder"])
def test_a_large_object_or_tuple_can_be_written(sampler: Sampler, protocol: str) -> None:
    items = {"type": "array", "prefixItems": [{"const": at} for at in range(600)]}
    tools = Toolset([("f", _large(600)), ("g", members(a=_large(600), t=items))], protocol=protocol)
    matcher = sampler.engine.matcher("lark", tools.grammar("lark", tool_choice="required").text)

    def allowed(name: str, arguments: dict[str, Any]) -> bool:
        return accepts(matcher, sampler.vocabulary, tools.encode_message("", [(name, arguments)]))

    assert allowed("f", {"k0": 1, "k300": 2, "k599": 3})
    assert allowed("g", {"a": {"k598": 1, "k599": 2}, "t": [0, 1, 2]})
    assert allowed("g", {"t": list(range(600))})
    assert not allowed("g", {"t": [0, 2]})


def test_a_library_does_not_run_out_of_stack(sampler: Sampler) -> None:
    """It does if the rules of so many members are each in the one before."""
    for schema in (_large(3000), members(a=_large(3000))):
        for protocol in ("wire", "hermes"):
            sampler.engine.matcher("lark", Toolset([("f", schema)], protocol=protocol).grammar("lark").text)


# Types in which a text may begin as a value of another kind, and such texts.
MIXED: list[tuple[Any, list[str]]] = [
    ({"type": ["string", "null"]}, ["new york", "n", "none", "nulls", "null"]),
    ({"type": ["string", "boolean"]}, ["today", "truely", "f"]),
    ({"type": ["string", "integer"]}, ["1st", "-", "12 monkeys"]),
    ({"anyOf": [{"const": "nova"}, {"type": "null"}, {"type": "string"}]}, ["nova", "novae", "no"]),
    ({}, ["nothing", "true story", "1,5"]),
]


@pytest.mark.parametrize(("type", "texts"), MIXED, ids=lambda part: str(part)[:40])
def test_a_text_in_tags_may_begin_as_another_value(sampler: Sampler, type: Any, texts: list[str]) -> None:
    """Written by hand: no text of the encoder is compared with itself."""
    tools = Toolset([("f", members(c=type))], protocol="qwen3coder")
    matcher = sampler.engine.matcher("lark", tools.grammar("lark", tool_choice="required").text)
    for text in texts:
        call = f"<tool_call>\n<function=f>\n<parameter=c>\n{text}\n</parameter>\n</function>\n</tool_call>"
        assert accepts(matcher, sampler.vocabulary, call), text


@pytest.mark.parametrize("size", [20, 100])
def test_a_long_tuple_can_be_read(sampler: Sampler, size: int) -> None:
    tools = Toolset([("f", members("t", t={"type": "array", "prefixItems": [INTEGER] * size}))])
    matcher = sampler.engine.matcher("lark", tools.grammar("lark", tool_choice="required").text)
    for length in (0, 1, size - 1, size):
        assert accepts(matcher, sampler.vocabulary, tools.encode("f", {"t": [*range(length)]})), length
