"""XML read and written: values, repairs, schemas, limits, and mistakes of the caller."""

import inspect
import pickle
import re
import threading
from types import MappingProxyType
from typing import Any

import pytest

import wirecall
from markup_support import FILE, read
from wirecall import ToolError, XmlError, XmlParser, XmlWarning, format_xml, parse_xml

DIGIT = "the name of an element cannot begin with a digit"
ATTRIBUTE = 'an attribute must be written name="value", with & and < escaped'


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


def test_the_options_are_documented() -> None:
    for function in (parse_xml, format_xml, XmlParser):
        said = (inspect.getdoc(function) or "").partition("Args:")[2].partition("Raises:")[0]
        options = re.findall(r"^    (\w+): ", said, re.MULTILINE)
        assert options == [*inspect.signature(function).parameters]
    assert wirecall.parse_xml is parse_xml
