"""Whole messages: their items, laziness and equality; parse_many; segments; in_reasoning and limits."""

from typing import Any

import pytest

import wirecall
from wirecall import CallEnd, CallError, Message, Text, Toolset

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city"],
}
TOOLS = Toolset([("get", PARAMETERS)])
MIXED = 'a <call>get city="New York"</call> b <call>no</call><call>get days=x</call>\n<call>get city='


def told(message: Message) -> list[str]:
    return [item.text if isinstance(item, Text) else item.type for item in message.items]


def without_ids(message: Message) -> list[Any]:
    return [
        tuple(getattr(item, name) for name in item.__match_args__ if name != "id") for item in message.items
    ]


def test_items_are_in_order() -> None:
    message = TOOLS.parse(MIXED)
    assert told(message) == ["a ", "call_end", " b ", "call_error", "call_end", "\n", "call_error"]
    assert message.text == "a  b \n"
    assert message.calls == (message.items[1], message.items[4])
    assert message.errors == (message.items[3], message.items[6])
    assert all(isinstance(part, tuple) for part in (message.items, message.calls, message.errors))


def test_what_each_item_covers() -> None:
    message = TOOLS.parse(MIXED)
    found = "".join(
        item.text if isinstance(item, Text) else MIXED[item.start : item.end] for item in message.items
    )
    assert found == MIXED
    assert [MIXED[error.start : error.end] for error in message.errors] == [
        error.raw for error in message.errors
    ]


def test_an_empty_message() -> None:
    message = TOOLS.parse("")
    assert (message.items, message.calls, message.errors, message.text) == ((), (), (), "")
    assert repr(message) == "Message(items=())"


def test_items_are_made_once() -> None:
    message = TOOLS.parse(MIXED)
    assert message.items is message.items
    assert message.calls[0] is message.items[1]
    assert message.calls[0].id == message.calls[0].id
    assert repr(message) == f"Message(items={message.items!r})"


def test_ids_are_unique_over_messages() -> None:
    messages = TOOLS.parse_many([MIXED] * 100)
    ids = [
        item.id for message in messages for item in message.items if isinstance(item, (CallEnd, CallError))
    ]
    known = [id for id in ids if id is not None]
    assert len(known) == len(set(known)) == 300


def test_equality() -> None:
    assert TOOLS.parse("text") == TOOLS.parse("text")
    assert TOOLS.parse("text") != TOOLS.parse("texts")
    assert TOOLS.parse("text") != "text"
    message = TOOLS.parse(MIXED)
    assert message == message
    # Ids are random, and they count.
    assert message != TOOLS.parse(MIXED)
    assert without_ids(message) == without_ids(TOOLS.parse(MIXED))


def test_messages_cannot_be_hashed_or_made() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(TOOLS.parse("text"))
    with pytest.raises(TypeError):
        Message()


def test_the_same_as_a_stream() -> None:
    parser = TOOLS.parser()
    events = [*parser.feed(MIXED), *parser.finish()]
    ends = [event for event in events if isinstance(event, (CallEnd, CallError))]
    message = TOOLS.parse(MIXED)
    assert [(end.type, end.start, end.end) for end in ends] == [
        (item.type, item.start, item.end) for item in message.items if not isinstance(item, Text)
    ]


def test_truncated() -> None:
    for truncated, kind in [(None, "call_error"), (True, "call_error"), (False, "call_end")]:
        assert told(TOOLS.parse("<call>get city=x ", truncated=truncated)) == [kind]
        [message] = TOOLS.parse_many(["<call>get city=x "], truncated=truncated)
        assert told(message) == [kind]


def test_in_reasoning() -> None:
    text = "<call>get</call></think><call>get</call>"
    for message in [TOOLS.parse(text, in_reasoning=True), *TOOLS.parse_many([text], in_reasoning=True)]:
        assert told(message) == ["<call>get</call></think>", "call_end"]
    assert told(TOOLS.parse(text)) == ["call_end", "</think>", "call_end"]


def test_segments() -> None:
    assert TOOLS.segments(MIXED) == ['<call>get city="New York"</call>', "<call>get days=x</call>"]
    assert TOOLS.segments("<call>get</call>" * 3) == ["<call>get</call>"] * 3
    assert TOOLS.segments("\U0001f600<call>get city=\u00e9</call>\U0001f600") == [
        "<call>get city=\u00e9</call>"
    ]
    for text in ("", "text", "<call>no</call>", "<call>get city='</call>"):
        assert TOOLS.segments(text) == []


# parse_many ---------------------------------------------------------------------------------------


def test_parse_many_takes_any_iterable() -> None:
    texts = ["a", "<call>get city=x</call>", "", "\ud83d"]
    for given in (texts, tuple(texts), iter(texts), (text for text in texts), dict.fromkeys(texts)):
        assert [message.text for message in TOOLS.parse_many(given)] == ["a", "", "", "\ufffd"]
    assert TOOLS.parse_many([]) == []


@pytest.mark.parametrize(
    ("given", "options", "error", "match"),
    [
        ("text", {}, TypeError, "for one str use parse"),
        ([b"x"], {}, TypeError, "str"),
        (["a", None], {}, TypeError, "str"),
        (5, {}, TypeError, "iterable"),
        (["a"], {"threads": 0}, ValueError, "at least 1"),
        (["a"], {"threads": -1}, ValueError, "at least 1"),
        (["a"], {"threads": "x"}, TypeError, "integer"),
    ],
)
def test_parse_many_refuses(given: Any, options: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        TOOLS.parse_many(given, **options)


def test_an_iterable_that_raises() -> None:
    def texts() -> Any:
        yield "a"
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        TOOLS.parse_many(texts())


# Validation ---------------------------------------------------------------------------------------

FULL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "zip": {"type": "string", "pattern": "^[0-9]{5}$"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14, "multipleOf": 2},
        "ratio": {"type": "number", "exclusiveMinimum": 0},
        "mail": {"type": "string", "format": "email", "maxLength": 20},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 2},
        "o": {"type": "object", "maxProperties": 1, "propertyNames": {"pattern": "^x"}},
        "not": {"not": {"const": 5}},
    },
    "dependentRequired": {"zip": ["mail"]},
}


@pytest.mark.parametrize(
    "body",
    [
        "zip=1234 mail=a@b.c",
        "days=0",
        "days=16",
        "days=3",
        "ratio=0",
        "mail=abcdefghijklmnopqr@b.c",
        'tags=["a","a"]',
        'tags=["a"]',
        'o={"x":1,"xx":2}',
        'o={"y":1}',
        "not=5",
        "zip=12345",
        '{"zip":"1234","mail":"a@b.c"}',
    ],
)
def test_validation_takes_the_full_vocabulary(body: str) -> None:
    text = f"<call>f {body}</call>"
    [call] = Toolset([("f", FULL)]).parse(text).items
    assert isinstance(call, CallEnd)
    assert call.problems == ()
    strict_tool = {"name": "f", "parameters": FULL, "strict": True}
    for tools in (Toolset([("f", FULL)], validate="error"), Toolset([strict_tool])):
        [error] = tools.parse(text).items
        assert isinstance(error, CallError)
        assert (error.kind, error.name, error.raw) == ("invalid_arguments", "f", text)
        assert "<call>f" in error.message
        parser = tools.parser()
        events = [event for char in text for event in parser.feed(char)]
        assert [event.type for event in events if event.type.startswith("call")] == [
            "call_start",
            "call_error",
        ]


def test_validation_lets_valid_calls_pass() -> None:
    tools = Toolset([("f", FULL)], validate="error")
    [call] = tools.parse('<call>f zip=12345 mail=a@b.c days=2.0 ratio=0.1 tags=["a","b"] not=6</call>').items
    assert isinstance(call, CallEnd)
    assert call.args == {
        "zip": "12345",
        "mail": "a@b.c",
        "days": 2,
        "ratio": 0.1,
        "tags": ["a", "b"],
        "not": 6,
    }


def test_validation_names_a_place_as_a_key_would_be_written() -> None:
    """What looks like an index is one in an array, and a name in an object."""
    short = {"type": "string", "maxLength": 1}
    schema = {
        "type": "object",
        "properties": {
            "o": {"type": "object", "additionalProperties": {"type": "array", "items": short}},
            "l": {"type": "array", "items": {"type": "object", "additionalProperties": short}},
        },
    }
    tools = Toolset([("f", schema)], validate="error")
    [error] = tools.parse('<call>f {"o":{"0":["a","bb"]},"l":[{"1":"cc","~/":"dd"}]}</call>').items
    assert isinstance(error, CallError)
    places = [line.split(": `")[0] for line in error.message.splitlines()[:-1]]
    assert sorted(places) == ['l[0]."1"', "l[0].~/", 'o."0"[1]']


@pytest.mark.parametrize("depth", [127, 128, 200, 512])
def test_validation_and_encoding_go_as_deep_as_reading(depth: int) -> None:
    """The arguments themselves are one level."""
    tools = Toolset([("f", {"type": "object"})], validate="error", limits={"depth": depth})
    for inner, fits in ((depth - 1, True), (depth, False)):
        for syntax in ("x={}", '{{"x":{}}}'):
            [item] = tools.parse(f"<call>f {syntax.format('[' * inner + ']' * inner)}</call>").items
            assert isinstance(item, CallEnd) == fits
            if fits:
                assert isinstance(item, CallEnd)
                assert tools.parse(tools.encode("f", item.args)).calls[0].args == item.args
                assert tools.parse(tools.encode("f", item.arguments)).calls[0].args == item.args
        value: Any = 1
        for _ in range(inner):
            value = [value]
        if not fits:
            with pytest.raises(ValueError, match=f"more than {depth} levels"):
                tools.encode("f", {"x": value})
            with pytest.raises(ValueError, match="deep"):
                tools.encode("f", f'{{"x":{"[" * inner}{"]" * inner}}}')


def test_a_strict_tool_leaves_the_others_alone() -> None:
    tools = Toolset([{"name": "a", "parameters": PARAMETERS, "strict": True}, ("b", PARAMETERS)])
    assert told(tools.parse("<call>a days=0 city=x</call><call>b days=0 city=x</call>")) == [
        "call_error",
        "call_end",
    ]
    assert told(tools.parse("<call>a days=1 city=x</call>")) == ["call_end"]


# Types --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "syntax", ["<call>f a={}</call>", '<call>f a="{}"</call>', '<call>f {{"a":["{}",{}]}}</call>']
)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("listed", [False, True])
def test_a_long_enum_is_read_as_a_short_one(syntax: str, strict: bool, listed: bool) -> None:
    """Long ones are looked up, short ones looked through."""
    few = ["red", "Red", "BLUE", "true", "7", 7, True, "straße", "İ", "x y", None]
    more = [f"other {number}" for number in range(50)]
    for order in (few + more, more + few, few[:5] + more + few[5:]):
        short = {"enum": [value for value in order if value in few or value == more[0]]}
        both = []
        for enum in (short, {"enum": order}):
            field = {"type": "array", "items": enum} if listed or "[" in syntax else enum
            both.append(Toolset([("f", {"properties": {"a": field}})], strict=strict))
        for text in [
            "red",
            "RED",
            "Red",
            "blue",
            "True",
            "7",
            "7.0",
            "STRASSE",
            "i̇",
            "null",
            "NONE",
            "other 0",
            "no",
        ]:
            [one], [other] = (tools.parse(syntax.format(text, text)).items for tools in both)
            if isinstance(one, CallEnd):
                assert isinstance(other, CallEnd)
                assert (one.arguments, one.repairs) == (other.arguments, other.repairs)
                assert [p.kind for p in one.problems] == [p.kind for p in other.problems]
            else:
                assert isinstance(one, CallError)
                assert isinstance(other, CallError)
                assert (one.kind, one.start, one.end) == (other.kind, other.start, other.end)
            assert both[0].encode("f", {"a": text}) == both[1].encode("f", {"a": text})


# Limits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "text", "kinds"),
    [
        (
            {"call_bytes": 40},
            f"<call>get city={'x' * 50}</call> <call>get city=x</call>",
            ["too_large", " ", ""],
        ),
        ({"depth": 3}, "<call>get x=[[[[[1]]]]]</call> <call>get city=x</call>", ["too_deep", " ", ""]),
        ({"calls": 1}, "<call>get</call><call>get</call>", ["", "too_many_calls", "get</call>"]),
        ({"key_segments": 2}, "<call>get a.b.c=1</call>", ["too_deep"]),
    ],
)
def test_limits(limits: dict[str, int], text: str, kinds: list[str]) -> None:
    found = []
    for item in Toolset([("get", PARAMETERS)], limits=limits).parse(text).items:
        found.append(item.text if isinstance(item, Text) else getattr(item, "kind", ""))
    assert found == kinds
    defaults = Toolset([("get", PARAMETERS)]).parse(text)
    assert not defaults.errors


def test_a_large_call_does_not_cost_memory() -> None:
    tools = Toolset([("get", PARAMETERS)], limits={"call_bytes": 1000})
    parser = tools.parser()
    parser.feed('<call>get city="')
    raw = [event for _ in range(1000) for event in parser.feed("x" * 1000)]
    raw += parser.feed('"</call>.')
    [error] = [event for event in raw if isinstance(event, CallError)]
    assert error.kind == "too_large"
    assert error.end - error.start > 1_000_000
    assert len(error.raw) < 10_000


def test_a_toolset_says_its_names() -> None:
    assert repr(TOOLS) == "Toolset([get])"
    assert TOOLS.names == ("get",)
    assert wirecall.Toolset().names == ()
