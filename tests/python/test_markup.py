"""XML read and written: the standard library as referee, laws over generated texts, hostile input."""

import inspect
import json
import pickle
import random
import re
import threading
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree

import pytest

import generate_values
import wirecall
from generate_values import exact
from law import count, seeded
from wirecall import ToolError, XmlError, XmlParser, XmlWarning, format_xml, parse_xml

CASES = count(10_000)
FEW = count(10_000, 4)
MIB = 1 << 20
DIGIT = "the name of an element cannot begin with a digit"
BLANKS = " \t\r\n"
ATTRIBUTE = 'an attribute must be written name="value", with & and < escaped'

FILE = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "mode": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "owner": {"type": "object", "properties": {"name": {"type": "string"}, "id": {"type": "integer"}}},
        "note": {"type": ["string", "null"]},
    },
}


def read(text: str, schema: Any = None, **options: Any) -> tuple[Any, list[str]]:
    warnings: list[XmlWarning] = []
    value = parse_xml(text, schema, warnings=warnings, **options)
    return value, [warning.reason for warning in warnings]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<a>1</a>", {"a": 1}),
        ("<a> x\n</a>", {"a": "x"}),
        ("<a/>", {"a": ""}),
        ("<a><b>1</b><b>x</b></a>", {"a": {"b": [1, "x"]}}),
        ("<a><item>1</item><item>2</item></a>", {"a": [1, 2]}),
        ("<a><item>1</item></a>", {"a": [1]}),
        ("<a id='7'>x</a>", {"a": {"@_id": 7, "#text": "x"}}),
        ("<a id='7' />", {"a": {"@_id": 7}}),
        ("<a>x<b>1</b>y</a>", {"a": {"b": 1, "#text": "xy"}}),
        (
            "<?xml version='1.0'?>\n<!DOCTYPE a [<!ENTITY x 'y>'>]>\n<a><!-- <b/> -->1<?pi <b/> ?></a>\n",
            {"a": 1},
        ),
        ("<a>&lt;&#66;&#x43;&gt; &amp;lt;</a>", {"a": "<BC> &lt;"}),
        ("<a><![CDATA[<b>&amp;</b>]]></a>", {"a": "<b>&amp;</b>"}),
        ('<a>[1, {"b": null}]</a>', {"a": [1, {"b": None}]}),
        ('<a>"5"</a>', {"a": "5"}),
        ("<a>007</a>", {"a": "007"}),
        ("<a>123456789012345678901234567890</a>", {"a": 123456789012345678901234567890}),
    ],
)
def test_reading(text: str, value: Any) -> None:
    assert read(text) == (value, [])


@pytest.mark.parametrize(
    ("text", "value", "warnings"),
    [
        ("<a><b>1</a>", {"a": {"b": 1}}, ["an element is not closed"]),
        ("<a><b>1", {"a": {"b": 1}}, ["an element is not closed"]),
        ("<a>1</b></a>", {"a": 1}, ["a closing tag has no opening tag"]),
        ("<a>x < y & z</a>", {"a": "x < y & z"}, ["< must be written &lt;", "& must be written &amp;"]),
        ("<a>&nbsp;</a>", {"a": "&nbsp;"}, ["& must be written &amp;"]),
        ("<a b=1 c>x</a>", {"a": {"@_b": 1, "@_c": "", "#text": "x"}}, [ATTRIBUTE] * 2),
        ("<a b='1' b='2'/>", {"a": {"@_b": 1}}, ["an attribute is given twice"]),
        ("<a>1</a><b>2</b>", {"a": 1, "b": 2}, ["there is more than one root element"]),
        ("Here: <a>1</a>!", {"a": 1}, ["there is text outside of the root element"]),
        ("5", 5, ["there is no element"]),
        ("<a><0>x</0><1>y</1></a>", {"a": ["x", "y"]}, [DIGIT] * 2),
        ("<a><0>x</0><2>y</2></a>", {"a": {"0": "x", "2": "y"}}, [DIGIT] * 2),
        ("<a>]]></a>", {"a": "]]>"}, ["]]> must be written ]]&gt;"]),
        ("<a><!-- -- -->1</a>", {"a": 1}, ["a comment contains --"]),
        ("<a>1", {"a": 1}, ["an element is not closed"]),
        ("<a><!-- x", {"a": ""}, ["an element is not closed"]),
    ],
)
def test_repairs(text: str, value: Any, warnings: list[str]) -> None:
    assert read(text) == (value, warnings)
    with pytest.raises(XmlError) as info:
        parse_xml(text, repair=False)
    assert info.value.reason == warnings[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # Strings are verbatim, at any depth; other values are not.
        ("<f><path> <b>x</b>\n &lt; </path><mode> 7 </mode></f>", {"path": " <b>x</b>\n < ", "mode": 7}),
        (
            "<f><owner><name>a <i>b</i></name><id>1</id></owner></f>",
            {"owner": {"name": "a <i>b</i>", "id": 1}},
        ),
        ("<f><path>a<![CDATA[</path>]]></path></f>", {"path": "a</path>"}),
        ("<f><path>5</path><note>null</note></f>", {"path": "5", "note": None}),
        ('<f><note>"null"</note></f>', {"note": "null"}),
        ("<f><tags>a</tags><tags>b, c</tags></f>", {"tags": ["a", "b, c"]}),
        ("<f><tags>a</tags></f>", {"tags": ["a"]}),
        ("<f><tags><item>a</item><item> b</item></tags></f>", {"tags": ["a", " b"]}),
        ("<f><tags/></f>", {"tags": []}),
        ('<f><owner>{"name": "a", "id": 2}</owner></f>', {"owner": {"name": "a", "id": 2}}),
        # The root may be the value, or its one member.
        ("<path>x</path>", {"path": "x"}),
        ("<f/>", {}),
    ],
)
def test_schemas(text: str, value: Any) -> None:
    assert read(text, FILE) == (value, [])
    assert read(text, FILE, repair=False) == (value, [])


def test_a_schema_that_is_no_object() -> None:
    assert parse_xml("<n>5</n>", {"type": "integer"}) == 5
    assert parse_xml(
        "<l><item>1</item><item>2</item></l>", {"type": "array", "items": {"type": "integer"}}
    ) == [1, 2]
    assert parse_xml("<s>a <b>c</b></s>", {"type": "string"}) == "a <b>c</b>"
    assert parse_xml(
        "<m><a>1</a><b>2</b></m>", {"type": "object", "additionalProperties": {"type": "string"}}
    ) == {
        "a": "1",
        "b": "2",
    }


def test_strings_that_are_never_closed_end_where_something_around_them_does() -> None:
    value, warnings = read("<f><path>/a<mode>7</mode><note>x</f>", FILE)
    assert value == {"path": "/a", "mode": 7, "note": "x"}
    assert warnings[0] == "an element is not closed"
    assert read("<f><owner><name>a <b>b</b></owner><mode>7</mode></f>", FILE)[0] == {
        "owner": {"name": "a <b>b</b>"},
        "mode": 7,
    }


def test_values_that_do_not_fit() -> None:
    assert read("<f><mode>much</mode></f>", FILE)[0] == {"mode": "much"}
    assert len(read("<f><mode>much</mode></f>", FILE)[1]) == 1
    assert read('<f><mode>"7"</mode></f>', FILE) == ({"mode": 7}, [])
    for text in ("<f><mode>much</mode></f>", '<f><mode>"7"</mode></f>', "<f><tags>a,b</tags></f>"):
        with pytest.raises(XmlError, match=r"mode|tags"):
            parse_xml(text, FILE, repair=False)
    with pytest.raises(XmlError, match="path is given twice"):
        parse_xml("<f><path>a</path><path>b</path></f>", FILE)
    assert parse_xml("<f><path>a</path><path>a</path></f>", FILE) == {"path": "a"}


def test_places() -> None:
    with pytest.raises(XmlError) as info:
        parse_xml("<a>\n  <b>é</b> &\n</a>", repair=False)
    assert (info.value.line, info.value.column) == (2, 12)
    assert str(info.value) == "line 2, column 12: & must be written &amp;"
    copy = pickle.loads(pickle.dumps(info.value))
    assert (type(copy), str(copy)) == (XmlError, str(info.value))
    warnings: list[XmlWarning] = []
    parse_xml("<a>\n<b>1</a>", warnings=warnings)
    assert warnings == [XmlWarning(line=2, column=5, reason="an element is not closed")]


def test_nothing_is_fetched_or_expanded() -> None:
    bomb = "<!DOCTYPE a [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'><!ENTITY f SYSTEM 'file:///etc/passwd'>]>"
    assert parse_xml(f"{bomb}<a>&b;&f;</a>") == {"a": "&b;&f;"}
    with pytest.raises(XmlError):
        parse_xml(f"{bomb}<a>&f;</a>", repair=False)


def test_limits() -> None:
    deep = "<a>" * 128 + "x" + "</a>" * 128
    assert parse_xml(deep, repair=False)
    for repair in (True, False):
        with pytest.raises(XmlError, match="more than 128 levels"):
            parse_xml(f"<a>{deep}</a>", repair=repair)
        with pytest.raises(XmlError, match="more than 20 bytes"):
            parse_xml("<a>" + "x" * 20 + "</a>", repair=repair, max_bytes=20)
    assert parse_xml("<a>" * 2 + "</a>" * 2, max_depth=2) == {"a": {"a": ""}}
    with pytest.raises(XmlError):
        parse_xml("<a>" * 3 + "</a>" * 3, max_depth=2)
    assert parse_xml("<a>" * 512 + "</a>" * 512, max_depth=10**9)
    with pytest.raises(XmlError, match="more than 512 levels"):
        parse_xml("<a>" * 513, max_depth=10**9)
    with pytest.raises(ValueError, match="max_depth is 0; it must be at least 1"):
        XmlParser(max_depth=0)


def test_mistakes_of_the_caller() -> None:
    with pytest.raises(ToolError) as info:
        parse_xml("<a/>", {"type": "nonsense"})
    assert info.value.pointer is not None
    parser = XmlParser()
    parser.feed("<a/>")
    assert parser.finish() == {"a": ""}
    for use in (parser.finish, parser.partial, lambda: parser.feed("x")):
        with pytest.raises(RuntimeError, match="finished"):
            use()
    with pytest.raises(TypeError):
        parse_xml(b"<a/>")  # type: ignore[arg-type]
    assert parse_xml("<a>\ud83d\ude00 \ud83d</a>") == {"a": "\U0001f600 \ufffd"}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"schema": int}, r"schema must be a JSON Schema \(a mapping\), not the class int"),
        ({"schema": "{}"}, r"schema must be a JSON Schema \(a mapping\), not str"),
        ({"schema": [1]}, r"schema must be a JSON Schema \(a mapping\), not list"),
        ({"warnings": ()}, "warnings must be a list, not tuple"),
        ({"warnings": True}, "warnings must be a list, not bool"),
    ],
)
def test_options_of_the_wrong_type(options: dict[str, Any], match: str) -> None:
    with pytest.raises(TypeError, match=match):
        parse_xml("<a>1</a>", **options)


def test_a_schema_of_any_mapping() -> None:
    schema = MappingProxyType({"type": "object", "properties": {"a": {"type": "string"}}})
    assert parse_xml("<a>1</a>", schema) == {"a": "1"}
    assert parse_xml("<a>1</a>", True) == {"a": 1}  # type: ignore[arg-type]


def test_an_error_stays() -> None:
    parser = XmlParser(repair=False)
    with pytest.raises(XmlError):
        parser.feed("<a>&x;")
    for text in ("</a>", ""):
        with pytest.raises(XmlError, match="line 1, column 4"):
            parser.feed(text)
    with pytest.raises(XmlError):
        parser.finish()


def test_one_parser_in_many_threads() -> None:
    parser = XmlParser()
    parser.feed("<a>")
    refused = []

    def feed() -> None:
        for _ in range(2000):
            try:
                parser.feed("x")
            except RuntimeError:
                refused.append(1)

    threads = [threading.Thread(target=feed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(parser.finish()["a"]) == 8000 - len(refused)


def test_partial_values() -> None:
    parser = XmlParser(FILE)
    seen = []
    for part in ("Text ", "<f><pa", "th>a &l", "t; b</pa", "th><mode>4", "2</mo", "de></f>"):
        parser.feed(part)
        seen.append(parser.partial())
    assert seen == [
        None,
        {},
        {"path": "a "},
        {"path": "a < b"},
        {"path": "a < b", "mode": 4},
        {"path": "a < b", "mode": 42},
        {"path": "a < b", "mode": 42},
    ]
    assert parser.finish() == seen[-1]


# The referee: what the standard library reads, by the rules of our trees.


def typed(text: str) -> Any:
    text = text.strip(BLANKS)
    number = re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", text)
    if not number and text not in ("true", "false", "null") and text[:1] not in ('"', "[", "{"):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def converted(element: ElementTree.Element) -> Any:
    texts = [element.text or "", *(child.tail or "" for child in element)]
    text = "".join(texts)
    members: dict[str, list[Any]] = {f"@_{name}": [typed(value)] for name, value in element.attrib.items()}
    for child in element:
        members.setdefault(child.tag, []).append(converted(child))
    if not members:
        return typed(text)
    if text.strip(BLANKS):
        members["#text"] = [typed(text)]
    if list(members) == ["item"]:
        return members["item"]
    return {name: values[0] if len(values) == 1 else values for name, values in members.items()}


NAMES = ("a", "b", "item", "path", "x-y", "_z", "u.v", "é", "a1")
PIECES = (
    "x", " ", "\n", "1", "-2.5", "true", "null", "&amp;", "&lt;", "&gt;", "&#65;", "&#x1F600;", "&quot;", "é",
    "日本", "<![CDATA[<b>&amp;]]>", "<![CDATA[]]>", "<!-- <a> & -->", "<?pi <a> ?>", "'", '"', ">", "=", "/",
    "(]",
)  # fmt: skip
VALUES = ("x", "1", "a b", "&lt;", "&#65;", ">", "é", "", "true", " a\t")


def element(rng: random.Random, depth: int) -> str:
    name = rng.choice(NAMES)
    space = rng.choice(("", "", " ", "\n"))
    attributes = ""
    for attribute in rng.sample(NAMES, rng.choice((0, 0, 0, 1, 2))):
        quote = rng.choice("\"'")
        attributes += f" {attribute}{space}={space}{quote}{rng.choice(VALUES)}{quote}"
    if rng.random() < 0.1:
        return f"<{name}{attributes}{space}/>"
    parts = [
        element(rng, depth - 1) if depth and rng.random() < 0.5 else rng.choice(PIECES)
        for _ in range(rng.choice((0, 1, 1, 2, 4)))
    ]
    return f"<{name}{attributes}{space}>{''.join(parts)}</{name}{space}>"


def document(rng: random.Random) -> str:
    before = rng.choice(("", "", "<?xml version='1.0'?>", "<!DOCTYPE a>", "<!-- x -->\n"))
    return before + element(rng, 4) + rng.choice(("", "\n", "<!-- y -->"))


@pytest.mark.laws
def test_well_formed_documents_are_read_as_the_standard_library_reads_them() -> None:
    rng = seeded(1)
    for _ in range(CASES):
        text = document(rng)
        root = ElementTree.fromstring(text)
        wanted = {root.tag: converted(root)}
        assert read(text) == (wanted, []), text
        assert parse_xml(text, repair=False) == wanted, text


def broken(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text) + 1)
        text = (
            text[:at]
            + rng.choice(("", "<", ">", "&", "</a>", "<a>", "/", "'", "<!--", "]]>", " ", "<b", "x"))
            + (text[at + rng.randrange(6) :])
        )
    return text


@pytest.mark.laws
def test_what_strict_takes_is_well_formed() -> None:
    rng = seeded(2)
    taken = 0
    for _ in range(CASES):
        # What is in an instruction, the declaration included, is ignored.
        text = broken(rng, element(rng, 4).replace("<?pi <a> ?>", ""))
        try:
            value = parse_xml(text, repair=False)
        except XmlError:
            continue
        root = ElementTree.fromstring(text)
        assert value == {root.tag: converted(root)}, text
        taken += 1
    assert taken > CASES / 50


@pytest.mark.laws
def test_repair_reads_everything_however_it_is_cut() -> None:
    rng = seeded(3)
    for _ in range(CASES):
        text = broken(rng, document(rng))
        schema = rng.choice((None, FILE, {"type": "object", "additionalProperties": {"type": "string"}}))
        repair = rng.random() < 0.7
        whole = outcome([text], schema, repair)
        assert outcome(list(text), schema, repair) == whole, text
        places = sorted(rng.randrange(len(text) + 1) for _ in range(3))
        chunks = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
        assert outcome(chunks, schema, repair) == whole, chunks
        if schema is None and repair:
            assert not isinstance(whole[0], XmlError), text


def outcome(chunks: list[str], schema: Any, repair: bool) -> tuple[Any, Any]:
    parser = XmlParser(schema, repair=repair)
    try:
        for chunk in chunks:
            parser.feed(chunk)
        value = parser.finish()
    except XmlError as error:
        return str(error), None
    return json.dumps(value), parser.warnings


@pytest.mark.laws
def test_what_is_written_is_read() -> None:
    rng = seeded(4)
    for _ in range(FEW):
        schema = generate_values.root_schema(rng)
        value = generate_values.arguments(rng, schema)
        if "root" in schema.get("properties", {}):
            continue
        text = format_xml(value, schema, root="root")
        for repair in (True, False):
            assert exact(parse_xml(text, schema, repair=repair)) == exact(value), text


@pytest.mark.laws
def test_what_is_written_without_a_schema_is_read() -> None:
    rng = seeded(5)
    for _ in range(FEW):
        value = generate_values.anything(rng)
        text = format_xml(value, root="root")
        assert exact(parse_xml(text, repair=False)) == exact({"root": value}), text
        if not re.search("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text):
            root = ElementTree.fromstring(text)
            if isinstance(value, str) and not value.startswith('"') and typed(value) == value != "":
                assert root.text == value or root.text == json.dumps(value, ensure_ascii=False), text


def test_writing() -> None:
    assert format_xml({"a": {"b": [1, 2], "c": "x & <y>", "d": [], "e": None}}) == (
        "<a>\n  <b>1</b>\n  <b>2</b>\n  <c>x &amp; &lt;y></c>\n  <d>[]</d>\n  <e>null</e>\n</a>"
    )
    assert format_xml(["a"], root="list") == '<list>["a"]</list>'
    assert format_xml("]]>\r]]", root="s") == "<s>]]&gt;&#13;]]</s>"
    assert format_xml({"tags": ["a"]}, FILE, root="f") == "<f>\n  <tags>a</tags>\n</f>"
    assert format_xml({"path": "x"}, FILE) == "<path>x</path>"
    for value, root in (
        ({"a": 1, "b": 2}, None),
        ([1], None),
        ({"a b": 1}, None),
        (1, "a b"),
        (1, "1"),
        (1, ""),
    ):
        with pytest.raises(ValueError, match=r"root|name"):
            format_xml(value, root=root)
    with pytest.raises(ValueError, match="member"):
        format_xml({"path": "x"}, FILE, root="path")
    with pytest.raises(TypeError):
        format_xml({"a": object()})


def hostile() -> Iterator[tuple[str, str, Any]]:
    strings = {"type": "object", "additionalProperties": {"type": "string"}}
    yield "brackets", "<" * MIB, None
    yield "ampersands", "&" * MIB, None
    yield "references", "&#" * (MIB // 2), None
    yield "digits", "&#" + "1" * MIB, None
    yield "closing tags", "</a>" * (MIB // 4), None
    yield "closing tags inside", "<a>" * 100 + "</b>" * (MIB // 4), None
    yield "openings", "<a" * (MIB // 2), None
    yield "open quotes", '<a b="' * (MIB // 6), None
    yield "both quotes", "<a b=\"<a c='" * (MIB // 12), None
    yield "comments", "<!--" * (MIB // 4), None
    yield "CDATA", "<![CDATA[" * (MIB // 9), None
    yield "types", "<!DOCTYPE" * (MIB // 9), None
    yield "instructions", "<?a" * (MIB // 3), None
    yield "attributes", "<a " + "b='1' " * (MIB // 6) + "/>", None
    yield "other attributes", "<a " + " ".join(f"b{i}='1'" for i in range(MIB // 12)) + "/>", None
    yield "siblings", "<r>" + "<a/>" * (MIB // 4) + "</r>", None
    yield "other siblings", "<r>" + "".join(f"<a{i}/>" for i in range(MIB // 10)) + "</r>", None
    yield "unclosed strings", "<r>" + "".join(f"<s{i}></t>" for i in range(MIB // 12)), strings
    yield "nearly closed", "<r><s>" + "</s" * (MIB // 3), strings
    yield "blanks in a tag", "<a" + " " * MIB, None
    yield "blanks that close", "<r><s></" + " " * MIB, strings
    yield "a long name", "<" + "a" * MIB, None
    yield (
        "a list",
        "<r>" + "<a>1,2</a>" * (MIB // 10) + "</r>",
        {"type": "array", "items": {"type": "integer"}},
    )


@pytest.mark.parametrize(("text", "schema"), [pytest.param(t, s, id=i) for i, t, s in hostile()])
def test_hostile_input_takes_linear_time(text: str, schema: Any) -> None:
    """What is quadratic would take minutes."""
    for repair in (True, False):
        value, _ = outcome([text[at : at + 64] for at in range(0, len(text), 64)], schema, repair)
        assert value


def test_unclosed_tags_are_too_deep_at_once() -> None:
    for repair in (True, False):
        with pytest.raises(XmlError, match="more than 128 levels"):
            parse_xml("<a>" * MIB, repair=repair)


def test_the_options_are_documented() -> None:
    for function in (parse_xml, format_xml, XmlParser):
        said = (inspect.getdoc(function) or "").partition("Args:")[2].partition("Raises:")[0]
        options = re.findall(r"^    (\w+): ", said, re.MULTILINE)
        assert options == [*inspect.signature(function).parameters]
    assert wirecall.parse_xml is parse_xml
